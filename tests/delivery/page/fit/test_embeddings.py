"""The section on other embeddings: its tables, and what explains them."""

import pytest

import bayesbias as bb
from bayesbias.delivery.page.blocks import Bullets, Figure, Heading, Paragraph, Section, Table
from bayesbias.delivery.page.fit.embeddings import embeddings_section
from bayesbias.reports.fit_report import FitReport
from tests.delivery.page.pages import small_table
from tests.reports.embedding_tables import QUICK, before_table, changed_table


def section(*, same: bool = False, names: tuple[str, ...] = ("new",)) -> Section:
    table = before_table()
    others = {name: table if same else changed_table(table, seed=place) for place, name in enumerate(names)}
    compared = bb.compare_embeddings({"old": table, **others}, "hierarchical", **QUICK)
    fit = bb.fit(small_table(), "hierarchical", draws=100, chains=2, random_seed=1, progress=False)
    return embeddings_section(FitReport(fit, small_table(), compared, None, 0.89, 1))


@pytest.mark.parametrize("names", [("new",), ("new", "newer")])
def test_tables_are_explained_right_under_them_and_once(names: tuple[str, ...]) -> None:
    blocks = list(section(names=names).blocks)
    places = [place for place, block in enumerate(blocks) if block == Heading("How to read it")]
    assert len(places) == 1
    assert isinstance(blocks[places[0] - 1], Table)
    assert not any(isinstance(block, (Table, Figure)) for block in blocks[places[0] :])
    legend = blocks[places[0] + 1]
    assert isinstance(legend, Bullets)
    assert "The difference is the number to read." in legend.entries[0]
    others = ["settled in the other embedding only", "reversed", "settled in neither"]
    words = [entry.split(":")[0] for entry in legend.entries[1:]]
    assert words == ["not settled", "narrower", "wider", "settled in 'old' only", *others]
    assert sum("What it does not show" in str(block) for block in blocks) == 1
    figures = [block for block in blocks if isinstance(block, Figure)]
    assert len(figures) == len(names)
    assert all("Differences, " in block.caption and "gap in old" in block.caption for block in figures)


def test_where_nothing_differs_nothing_is_explained() -> None:
    unchanged = section(same=True)
    assert Heading("How to read it") not in unchanged.blocks
    paragraphs = [block.text for block in unchanged.blocks if isinstance(block, Paragraph)]
    assert any(text.endswith("Are they the same file?") for text in paragraphs)
    assert unchanged.headlines[0].startswith("Nothing differs")
