"""The section on covariates: without any, and with one."""

from types import SimpleNamespace
from typing import Any

from bayesbias.delivery.page.blocks import Figure, Table
from bayesbias.delivery.page.fit.covariates import covariates_section
from tests.reports.covariates.made import made_fit
from tests.reports.made import made_fit as bare_fit


def page(fit: object) -> Any:
    return SimpleNamespace(fit=fit, hdi_prob=0.89)


def test_without_covariates_a_line_names_command_and_function() -> None:
    section = covariates_section(page(bare_fit(draws=50)))
    assert not section.blocks
    (line,) = section.headlines
    assert "bayesbias covariate TABLE" in line
    assert "bb.fit(table, covariates=...)" in line


def test_with_a_covariate_its_slope_is_shown() -> None:
    section = covariates_section(page(made_fit()))
    assert {Figure, Table} <= {type(block) for block in section.blocks}
    assert "slope of near - far" in section.headlines[0]
