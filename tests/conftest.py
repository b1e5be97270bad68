"""A fit of hostile words, what a page of it is made from, and a language model that nothing trained."""

from pathlib import Path

import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.reports.fit_report import FitReport
from tests.asymmetry.toy_language import tiny_bert
from tests.delivery.page.pages import TITLE, fit_page, small_table


@pytest.fixture(scope="session")
def fitted() -> xr.DataTree:
    return bb.fit(small_table(), "crossed", draws=200, chains=2, random_seed=4, progress=False)


@pytest.fixture(scope="session")
def given(fitted: xr.DataTree) -> FitReport:
    return FitReport(fitted, small_table(), None, (-0.02, 0.02), 0.89, 4)


@pytest.fixture(scope="session")
def page_file(fitted: xr.DataTree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fit_page(fitted, tmp_path_factory.mktemp("page") / "page.html", rope=0.02, title=TITLE)


@pytest.fixture(scope="session")
def controls_only() -> FitReport:
    table = small_table(("neutral",))
    fit = bb.fit(table, "hierarchical", draws=100, chains=2, random_seed=1, progress=False)
    return FitReport(fit, table, None, None, 0.89, 1)


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small model with weights that nothing trained, far from 0."""
    folder = tmp_path_factory.mktemp("untrained") / "bert"
    model, _ = tiny_bert(folder, initializer_range=0.5)
    model.save_pretrained(folder)
    return folder
