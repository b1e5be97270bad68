"""The sections on the sampler, the predictions and the priors: what they say is what the checks return."""

import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.delivery.page.blocks import Bullets, Figure, Notice, Paragraph, Section, Table
from bayesbias.delivery.page.fit.checks import predictions, priors, sampler
from bayesbias.delivery.page.page_input import PageInput
from tests.delivery.page.pages import small_table


@pytest.fixture(scope="module")
def fitted() -> xr.DataTree:
    return bb.fit(small_table(), "hierarchical", draws=100, chains=2, random_seed=1, progress=False)


def page_of(fitted: xr.DataTree) -> PageInput:
    return PageInput(fitted, small_table(), None, None, 0.89, 1)


def of_kind(section: Section, kind: type) -> list:
    return [block for block in section.blocks if isinstance(block, kind)]


def test_the_sampler(fitted: xr.DataTree) -> None:
    found = sampler(page_of(fitted))
    assert "drew 200 times (100 in each of 2 chains)" in of_kind(found, Paragraph)[0].text
    doubtful = fitted.copy(deep=True)
    doubtful.attrs["convergence_problems"] = '["R-hat is high."]'
    found = sampler(page_of(doubtful))
    assert len(of_kind(found, Notice)) == 1
    assert of_kind(found, Bullets)[0].entries == ("R-hat is high.",)


@pytest.mark.parametrize("doubtful", [False, True])
def test_problems_of_the_predictions_are_those_of_the_check(fitted: xr.DataTree, doubtful: bool) -> None:
    fit = fitted.copy(deep=True)
    if doubtful:
        fit.attrs["convergence_problems"] = '["R-hat is high."]'
    problems = bb.check_posterior(fit, random_seed=1).problems
    assert bool(problems) or not doubtful
    found = predictions(page_of(fit))
    shown = [entry for bullets in of_kind(found, Bullets) for entry in bullets.entries]
    assert shown == [problem.text for problem in problems]
    assert found.headlines[0].endswith("found faults, and says which." if problems else "found no fault.")
    assert len(of_kind(found, Figure)) == 1
    assert len(of_kind(found, Table)) == 2


def test_problems_of_the_priors_are_those_of_the_check(fitted: xr.DataTree) -> None:
    check = bb.check_prior(small_table(), "hierarchical", random_seed=1)
    found = priors(page_of(fitted))
    assert of_kind(found, Bullets)[0].entries == tuple(problem.text for problem in check.problems)
    assert of_kind(found, Paragraph)[-1].text == "bb.check_prior with 4,000 samples, seed 1."
