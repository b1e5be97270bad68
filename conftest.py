"""What tests and doctests share: the developers' reference data, a small table, and a fit of it."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb

SHARED = Path(__file__).resolve().parents[1] / "shared"

# Workers side by side (pytest-xdist) must not write the same files of compiled code: a folder each.
if "PYTEST_XDIST_WORKER" in os.environ:
    flags = [os.environ.get("PYTENSOR_FLAGS", ""), f"base_compiledir=~/.pytensor/{os.environ['PYTEST_XDIST_WORKER']}"]
    os.environ["PYTENSOR_FLAGS"] = ",".join(filter(None, flags))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked `shared`, saying why, where the reference data is absent."""
    if SHARED.is_dir():
        return
    for item in items:
        if "shared" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="the developers' reference data is not here"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference data that only the developers have."""
    return SHARED


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    """Return a real table: WEAT 7 in Google News."""
    return bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))


@pytest.fixture(scope="session")
def fit(table: pd.DataFrame) -> xr.DataTree:
    """Return a short but converged fit of the paper's model to `table`."""
    return bb.fit(table, "hierarchical", draws=3000, chains=2, random_seed=3, progress=False)


@pytest.fixture(autouse=True)
def _names_in_doctests(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    """Give the docstrings' examples `bb`, `np`, `pd`, a `table` and a `fit` of it."""
    if not isinstance(request.node, pytest.DoctestItem):
        return
    doctest_namespace.update(bb=bb, np=np, pd=pd)
    source = "".join(example.source for example in request.node.dtest.examples)
    for name in ("table", "fit"):
        if f"{name}" in source:
            doctest_namespace[name] = request.getfixturevalue(name)
