"""Word documents: every statement and every cell is there, and without python-docx the error names the extra."""

import sys
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.delivery.markdown import statement_lists
from bayesbias.delivery.page.sections import table_block
from bayesbias.errors import OutputError
from tests.delivery.results import RESULTS, result_of


@pytest.mark.extras
@pytest.mark.parametrize("name", RESULTS)
def test_every_statement_and_every_cell_is_there(name: str, tmp_path: Path) -> None:
    import docx

    result = result_of(name)
    document = docx.Document(str(bb.write(result, tmp_path / "result.docx")))
    contents, paragraphs = result.contents, [paragraph.text for paragraph in document.paragraphs]
    texts = [statement.text for part in statement_lists(contents) for statement in part.statements]
    tables = [table for table in contents.tables.values() if len(table.frame)]
    for text in (contents.title, *texts, *(table.caption for table in tables)):
        assert text in paragraphs
    assert len(document.tables) == len(tables)
    for drawn, table in zip(document.tables, tables, strict=True):
        block = table_block(table)
        assert [tuple(cell.text for cell in row.cells) for row in drawn.rows] == [block.header, *block.rows]


def test_the_error_names_the_extra_before_any_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(OutputError, match=r"bayesbias\[docx\]"):
        bb.write("no result", tmp_path / "result.docx")
    assert not list(tmp_path.iterdir())
