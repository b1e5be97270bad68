"""Tables and statements as Markdown."""

import re
import sys
from pathlib import Path

import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.base.statements import Statement, StatementList, markdown_text
from bayesbias.delivery.documents import (
    _part_lines,
    escaped,
    latex_methods,
    latex_prose,
    latex_table,
    markdown,
    table_lines,
    typeset,
)
from bayesbias.delivery.page.blocks import Table
from bayesbias.delivery.page.sections import table_block
from bayesbias.errors import OutputError
from bayesbias.reports.methods import methods_and_references
from tests.delivery.results import RESULTS, result_of


def test_cells_stay_in_their_cells() -> None:
    rows = (("a|b\nc", "0.1"), ("<unk>", "0.2"), ("*x*", "0.3"))
    lines = table_lines(Table("Words", ("Word", "Mean"), rows, (True, False)))
    assert lines[:5] == ["Words", "", "| Word | Mean |", "| --- | ---: |", "| a\\|b c | 0.1 |"]
    assert lines[5:] == ["| &lt;unk&gt; | 0.2 |", "| \\*x\\* | 0.3 |", ""]


def test_words_in_sentences_are_no_tags(fit: xr.DataTree) -> None:
    report = bb.report(fit, title="<script>alert(1)</script>")
    text = markdown(report)
    assert "<script>" not in text
    assert text.startswith("# &lt;script&gt;")
    lines = _part_lines(StatementList("Words", (Statement("words", "<unk> moved, as `trend` says."),)))
    assert lines[0] == "- &lt;unk&gt; moved, as `trend` says.", "code stays"


@pytest.mark.parametrize("name", RESULTS)
def test_every_row_has_the_cells_of_its_header(name: str, tmp_path: Path) -> None:
    result = result_of(name)
    text = bb.write(result, tmp_path / "table.tex", full=True).read_text(encoding="utf-8")
    tables = [table for table in result.contents.tables.values() if table.on_page and len(table.frame)]
    parts = re.split(r"\\begin\{(?:table|longtable)\}", text)[1:]
    assert len(parts) == len(tables)
    for part, table in zip(parts, tables, strict=True):
        assert typeset(table.caption) in part
        body = part.split("\\toprule\n")[1].split("\\bottomrule")[0].replace("\\midrule\n", "").splitlines()
        body = [line for line in body if line != "\\endhead"]
        alignment = re.search(r"\{([lr]+)\}", part)[1]  # type: ignore[index]
        assert {line.replace("\\&", "").count("&") + 1 for line in body} == {len(alignment)}
        assert all(line.endswith(r" \\") for line in body)


def test_latex_has_the_tables_that_a_page_shows_unfolded(tmp_path: Path) -> None:
    text = bb.write(result_of("embeddings"), tmp_path / "paper.tex").read_text(encoding="utf-8")
    assert re.findall(r"\\label\{(.*?)\}", text) == ["tab:paper-groups-changed", "tab:paper-words-changed"]


def test_a_table_longer_than_a_page_is_a_longtable_with_all_rows() -> None:
    rows = tuple((f"word {number}", f"-0.{number}") for number in range(100))
    text = latex_table(Table("Many", ("Word", "Mean"), rows, (True, False)), "many")
    assert "\\begin{longtable}{lr}\n\\caption{Many}\\label{tab:many} \\\\" in text
    assert text.count("$-$0.") == 100
    assert "tabular" not in text


def test_prose_for_a_paper_has_no_commands_but_its_own(fit: xr.DataTree) -> None:
    """Signs that Markdown escapes are not escaped twice, and none is a command of LaTeX."""
    signs = r"a_b 5% #1 $x$ {y} ~z ^u <v> w&v *s* `code`"
    assert latex_prose(markdown_text(signs)) == typeset(signs)
    text = latex_prose(bb.methods(fit).partition("\n\n```")[0])
    assert text.count("\n\n") == 6
    assert {r"\texttt", r"\%", r"\_"} <= set(commands := re.findall(r"\\(?:[a-z]+|.)", text))
    assert set(commands) <= {r"\texttt", *(command for sign in "%_&^~<" for command in escaped(sign).split("{}"))}
    assert not re.search(r"(?<!\\)[%_&#~^]|[*`]{2}", text)
    assert r"\texttt{word\_sd}" in text


def test_no_character_is_a_command() -> None:
    assert escaped("[v2]|*best*") == r"{[}v2]\textbar{}{*}best{*}", "no option of the line break before it"
    assert escaped(r"a_b & 5 % \x {y} <z>") == (r"a\_b \& 5 \% \textbackslash{}x \{y\} \textless{}z\textgreater{}")


@pytest.mark.extras
@pytest.mark.parametrize("name", RESULTS)
def test_every_statement_and_every_cell_is_there(name: str, tmp_path: Path) -> None:
    import docx

    result = result_of(name)
    document = docx.Document(str(bb.write(result, tmp_path / "result.docx")))
    contents, paragraphs = result.contents, [paragraph.text for paragraph in document.paragraphs]
    texts = [statement.text for part in contents.parts for statement in part.statements]
    texts += [statement.text for statement in (*contents.answers, *contents.limits)]
    tables = [table for section in contents.sections for table in section.tables]
    assert len(tables) == sum(len(table.frame) > 0 for table in contents.tables.values())
    for text in (contents.title, contents.answer, contents.estimate, *texts, *(table.caption for table in tables)):
        assert not text or text in paragraphs
    assert len(document.tables) == len(tables)
    for drawn, table in zip(document.tables, tables, strict=True):
        block = table_block(table)
        assert [tuple(cell.text for cell in row.cells) for row in drawn.rows] == [block.header, *block.rows]


def test_the_error_names_the_extra_before_any_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(OutputError, match=r"bayesbias\[docx\]"):
        bb.write("no result", tmp_path / "result.docx")
    assert not list(tmp_path.iterdir())


def test_methods_in_latex_cite_the_entries_by_their_keys(fit: xr.DataTree) -> None:
    prose, cited, items = methods_and_references(fit)
    text = latex_methods(prose, cited, items)
    assert text.count(r"\begin{longtable}") == 2
    assert text.count(r" \\") == len(items) + 4, "a row for each item, and two captions and headers"
    assert r"\citet{dobrzeniecka2024}" in text
    assert "Dobrzeniecka and Urbaniak (2024)" not in text
    assert text.endswith(rf"\nocite{{{','.join(cited.keys)}}}")
