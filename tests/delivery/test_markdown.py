"""Tables and statements as Markdown."""

import xarray as xr

import bayesbias as bb
from bayesbias.base.statements import Statement, StatementList
from bayesbias.delivery.markdown import _part_lines, markdown, table_lines
from bayesbias.delivery.page.blocks import Table


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
    assert lines[2] == "- &lt;unk&gt; moved, as `trend` says.", "code stays"
