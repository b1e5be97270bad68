"""Tables and statements as Markdown."""

from bayesbias.delivery.markdown import table_lines
from bayesbias.delivery.page.blocks import Table


def test_cells_stay_in_their_cells() -> None:
    lines = table_lines(Table("Words", ("Word", "Mean"), (("a|b\nc", "0.1"),), (True, False)))
    assert lines == ["Words", "", "| Word | Mean |", "| --- | ---: |", "| a\\|b c | 0.1 |", ""]
