"""The sections on the sampler, the predictions and the priors: what they say is what the checks return."""

import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.delivery.page.blocks import Bullets, Figure, Notice, Paragraph, Section, Table
from bayesbias.delivery.page.fit.checks import PRIOR_SAMPLES, predictions_section, priors_section, sampler_section
from bayesbias.reports.fit_report import FitReport
from tests.delivery.page.pages import small_table


@pytest.fixture(scope="module")
def fitted() -> xr.DataTree:
    return bb.fit(small_table(), "hierarchical", draws=100, chains=2, random_seed=1, progress=False)


def page_of(fitted: xr.DataTree) -> FitReport:
    return FitReport(fitted, small_table(), None, None, 0.89, 1)


def of_kind(section: Section, kind: type) -> list:
    return [block for block in section.blocks if isinstance(block, kind)]


def test_the_sampler(fitted: xr.DataTree) -> None:
    section = sampler_section(page_of(fitted))
    assert "200 draws (100 in each of 2 chains)" in section.headlines[0]
    doubtful = fitted.copy(deep=True)
    doubtful.attrs["convergence_problems"] = '["R-hat is high."]'
    section = sampler_section(page_of(doubtful))
    assert len(of_kind(section, Notice)) == 1
    assert of_kind(section, Bullets)[0].entries == ("R-hat is high.",)


@pytest.mark.parametrize("doubtful", [False, True])
def test_problems_of_the_predictions_are_those_of_the_check(fitted: xr.DataTree, doubtful: bool) -> None:
    fit = fitted.copy(deep=True)
    if doubtful:
        fit.attrs["convergence_problems"] = '["R-hat is high."]'
    problems = bb.check_posterior(fit, random_seed=1).problems
    assert bool(problems) or not doubtful
    section = predictions_section(page_of(fit))
    shown = [entry for bullets in of_kind(section, Bullets) for entry in bullets.entries]
    assert shown == [problem.text for problem in problems]
    assert section.headlines[0].endswith("found faults, listed there." if problems else "found no fault.")
    assert len(of_kind(section, Figure)) == 1
    assert [table.caption.split(" ")[0] for table in of_kind(section, Table)] == ["Shares", "Statistics"]


def test_problems_of_the_priors_are_those_of_the_check(fitted: xr.DataTree) -> None:
    check = bb.check_prior(small_table(), "hierarchical", samples=PRIOR_SAMPLES, random_seed=1)
    section = priors_section(page_of(fitted))
    assert of_kind(section, Bullets)[0].entries == tuple(problem.text for problem in check.problems)
    assert f"samples {PRIOR_SAMPLES}; random seed 1." in of_kind(section, Paragraph)[-1].text
