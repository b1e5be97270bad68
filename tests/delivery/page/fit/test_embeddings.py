"""The section on other embeddings: its tables, and what explains them."""

import pytest

import bayesbias as bb
from bayesbias.delivery.page.blocks import Bullets, Figure, Heading, Section
from bayesbias.delivery.page.fit.embeddings import embeddings_section
from bayesbias.reports.changes.statements import explanations
from bayesbias.reports.fit_report import FitReport
from tests.delivery.page.pages import small_table
from tests.reports.changed_tables import QUICK, before_table, changed_table


def section(*, same: bool = False, names: tuple[str, ...] = ("new",)) -> Section:
    table = before_table()
    others = {name: table if same else changed_table(table, seed=place) for place, name in enumerate(names)}
    compared = bb.compare_embeddings({"old": table, **others}, **QUICK)
    fit = bb.fit(small_table(), "hierarchical", draws=100, chains=2, random_seed=1, progress=False)
    return embeddings_section(FitReport(fit, small_table(), compared, None, 0.89, 1))


@pytest.mark.parametrize("names", [("new",), ("new", "newer")])
def test_tables_are_explained_once(names: tuple[str, ...]) -> None:
    blocks = list(section(names=names).blocks)
    places = [place for place, block in enumerate(blocks) if block == Heading("How to read it")]
    assert len(places) == 1
    assert blocks[places[0] + 1] == Bullets(tuple(str(statement) for statement in explanations()))
    assert sum("What it does not show" in str(block) for block in blocks) == 1
    figures = [block for block in blocks if isinstance(block, Figure)]
    assert len(figures) == len(names)
    assert all(f"from old to {name}: " in block.alt for name, block in zip(names, figures, strict=True))
    assert all("Changes from old to " in block.caption and "gap in old" in block.caption for block in figures)


def test_where_nothing_differs_the_answer_says_so() -> None:
    unchanged = section(same=True)
    assert unchanged.headlines[0].startswith("The gap associated - different, from old to new: the same in both.")
