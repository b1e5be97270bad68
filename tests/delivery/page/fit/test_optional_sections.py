"""Sections that a fit has if it is asked: without an answer, and with one whose numbers are known."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.base.statements import Statement
from bayesbias.delivery.page.blocks import Bullets, Figure, Heading, Paragraph, Section, Table
from bayesbias.delivery.page.fit.optional_sections import covariates_section, embeddings_section, random_lists_section
from bayesbias.reports.changes.statements import explanations
from bayesbias.reports.fit_report import FitReport
from bayesbias.reports.robustness.random_list_check import RandomListCheck
from tests.delivery.page.pages import small_table
from tests.reports.changed_tables import QUICK, before_table, changed_table
from tests.reports.covariates.made import made_fit
from tests.reports.made import made_fit as bare_fit


def page_with_fit(fit: object) -> Any:
    return SimpleNamespace(fit=fit, hdi_prob=0.89)


def test_without_covariates_a_line_names_command_and_function() -> None:
    section = covariates_section(page_with_fit(bare_fit(draws=50)))
    assert not section.blocks
    (line,) = section.headlines
    assert "bayesbias covariate TABLE" in line
    assert "bb.fit(table, covariates=...)" in line


def test_with_a_covariate_its_slope_is_shown() -> None:
    section = covariates_section(page_with_fit(made_fit()))
    assert {Figure, Table} <= {type(block) for block in section.blocks}
    assert "slope of near - far" in section.headlines[0]


def embeddings_of(*, same: bool = False, names: tuple[str, ...] = ("new",)) -> Section:
    table = before_table()
    others = {name: table if same else changed_table(table, seed=place) for place, name in enumerate(names)}
    compared = bb.compare_embeddings({"old": table, **others}, **QUICK)
    fit = bb.fit(small_table(), "hierarchical", draws=100, chains=2, random_seed=1, progress=False)
    return embeddings_section(FitReport(fit, small_table(), compared, None, 0.89, 1))


@pytest.mark.parametrize("names", [("new",), ("new", "newer")])
def test_tables_are_explained_once(names: tuple[str, ...]) -> None:
    blocks = list(embeddings_of(names=names).blocks)
    places = [place for place, block in enumerate(blocks) if block == Heading("How to read it")]
    assert len(places) == 1
    assert blocks[places[0] + 1] == Bullets(tuple(str(statement) for statement in explanations()))
    assert sum("What it does not show" in str(block) for block in blocks) == 1
    figures = [block for block in blocks if isinstance(block, Figure)]
    assert len(figures) == len(names)
    assert all(f"from old to {name}: " in block.alt for name, block in zip(names, figures, strict=True))
    assert all("Changes from old to " in block.caption and "gap in old" in block.caption for block in figures)


def test_where_nothing_differs_the_answer_says_so() -> None:
    unchanged = embeddings_of(same=True)
    assert unchanged.headlines[0].startswith("The gap associated - different, from old to new: the same in both.")


def page_with_claims(claims: object) -> Any:
    return SimpleNamespace(claims=claims, facts={"study": "weat7"})


def checked() -> RandomListCheck:
    """Return a check of 1,500 samples: the model claims 120 of them, a test 300."""
    model = {
        **{"method": "model", "rule": "89% interval", "nominal": 0.11, "samples": 1500, "claims": 0.08},
        **{"claims_se": 0.007, "quantity": "posterior mean", "sd": 0.02, "low": -0.03, "high": 0.03},
        **{"study_value": -0.05, "study_claims": True, "share_as_extreme": 0.01, "share_as_extreme_se": 0.003},
        **{"posterior_sd": 0.021, "error": 0.02, "error_se": 0.001},
    }
    weat = model | {"method": "weat", "rule": "p < 0.05", "nominal": 0.05, "claims": 0.2, "quantity": "effect size"}
    return RandomListCheck(
        methods=pd.DataFrame([model, weat]),
        gaps=pd.DataFrame({"sample": [1, 2], "method": "model", "value": [0.01, 0.02], "claims": False}),
        drawn={"words": 16, "vocabulary": 400, "match": None, "window": 50},
        problems=(Statement("claims", "WEAT claims too often."),),
        model="model",
        study="weat7",
        embedding="vectors",
        samples=1500,
        not_fitted=0,
        hdi_prob=0.89,
        random_seed=1,
    )


def test_without_a_check_a_line_names_command_and_function() -> None:
    section = random_lists_section(page_with_claims(None))
    assert not section.blocks
    (line,) = section.headlines
    assert "bayesbias random-lists VECTORS --study weat7" in line
    assert "bb.check_random_lists(" in line


def test_a_check_is_shown_with_its_rates() -> None:
    check = checked()
    section = random_lists_section(page_with_claims(check))
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    assert "1,500 sets" in table.caption
    assert [row[:2] for row in table.rows] == [("model", "89% interval"), ("weat", "p < 0.05")]
    places = [table.header.index(name) for name in ("Nominal rate", "Claims")]
    shares = [[float(row[place].rstrip(" %")) for place in places] for row in table.rows]
    assert shares == [[11, 8], [5, 20]]
    about, model, *tests = map(str, check.summary)
    assert section.blocks[0] == Paragraph(about)
    assert Bullets((model, *tests)) in section.blocks
    assert list(section.headlines) == [model, "Beware: WEAT claims too often."]
