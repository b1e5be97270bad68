"""Tables in LaTeX: every row is there, and no word is a command."""

from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.delivery.latex import escaped
from tests.delivery.results import RESULTS, result_of


@pytest.mark.parametrize("name", RESULTS)
def test_every_row_has_the_cells_of_its_header(name: str, tmp_path: Path) -> None:
    result = result_of(name)
    text = bb.write(result, tmp_path / "table.tex").read_text(encoding="utf-8")
    tables = [table for table in result.contents.tables.values() if len(table.frame)]
    parts = text.split("\\begin{table}")[1:]
    assert len(parts) == len(tables)
    for part, table in zip(parts, tables, strict=True):
        assert escaped(table.caption) in part
        body = part.split("\\toprule\n")[1].split("\\bottomrule")[0].replace("\\midrule\n", "").splitlines()
        alignment = part.split("\\begin{tabular}{")[1].split("}")[0]
        assert {line.replace("\\&", "").count("&") + 1 for line in body} == {len(alignment)}
        assert all(line.endswith(r" \\") for line in body)


def test_no_character_is_a_command() -> None:
    assert escaped(r"a_b & 5 % \x {y} <z>") == (r"a\_b \& 5 \% \textbackslash{}x \{y\} \textless{}z\textgreater{}")
