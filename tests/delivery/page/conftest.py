"""A fit of hostile words, and what a page of it is made from."""

from pathlib import Path

import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.delivery.page.page_input import PageInput
from tests.delivery.page.pages import TITLE, small_table


@pytest.fixture(scope="session")
def fitted() -> xr.DataTree:
    return bb.fit(small_table(), "crossed", draws=200, chains=2, random_seed=4, progress=False)


@pytest.fixture(scope="session")
def given(fitted: xr.DataTree) -> PageInput:
    return PageInput(fitted, small_table(), None, 0.02, 0.89, 4)


@pytest.fixture(scope="session")
def page_file(fitted: xr.DataTree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bb.write_report(fitted, tmp_path_factory.mktemp("page") / "page.html", rope=0.02, title=TITLE)


@pytest.fixture(scope="session")
def controls_only() -> PageInput:
    table = small_table(("neutral",))
    fit = bb.fit(table, "hierarchical", draws=100, chains=2, random_seed=1, progress=False)
    return PageInput(fit, table, None, None, 0.89, 1)
