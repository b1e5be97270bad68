"""Tables in LaTeX: every row is there, and no word is a command."""

import re
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.delivery.latex import escaped, latex_table
from bayesbias.delivery.page.blocks import Table
from tests.delivery.results import RESULTS, result_of


@pytest.mark.parametrize("name", RESULTS)
def test_every_row_has_the_cells_of_its_header(name: str, tmp_path: Path) -> None:
    result = result_of(name)
    text = bb.write(result, tmp_path / "table.tex").read_text(encoding="utf-8")
    tables = [table for table in result.contents.tables.values() if len(table.frame)]
    parts = re.split(r"\\begin\{(?:table|longtable)\}", text)[1:]
    assert len(parts) == len(tables)
    for part, table in zip(parts, tables, strict=True):
        assert escaped(table.caption) in part
        body = part.split("\\toprule\n")[1].split("\\bottomrule")[0].replace("\\midrule\n", "").splitlines()
        body = [line for line in body if line != "\\endhead"]
        alignment = re.search(r"\{([lr]+)\}", part)[1]  # type: ignore[index]
        assert {line.replace("\\&", "").count("&") + 1 for line in body} == {len(alignment)}
        assert all(line.endswith(r" \\") for line in body)


def test_a_table_longer_than_a_page_is_a_longtable_with_all_rows() -> None:
    rows = tuple((f"word {number}", f"-0.{number}") for number in range(100))
    text = latex_table(Table("Many", ("Word", "Mean"), rows, (True, False)))
    assert "\\begin{longtable}{lr}\n\\caption{Many} \\\\" in text
    assert text.count("$-$0.") == 100
    assert "tabular" not in text


def test_no_character_is_a_command() -> None:
    assert escaped("[v2]|*best*") == r"{[}v2]\textbar{}{*}best{*}", "no option of the line break before it"
    assert escaped(r"a_b & 5 % \x {y} <z>") == (r"a\_b \& 5 \% \textbackslash{}x \{y\} \textless{}z\textgreater{}")
