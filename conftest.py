"""What tests and doctests share: the developers' reference data, a small table, and a fit of it."""

import gc
import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import settings

import bayesbias as bb

# The same inputs at every run of `make test`; `make fuzz` asks for others.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("other_inputs", derandomize=False)
settings.load_profile("repeatable")

_SHORT = ("report", "write", "plot_changes", "compare_embeddings", "plot_check")
_EXTRAS = ("docx", "safetensors", "torch", "transformers")
# Functions of `bayesbias.nli` whose examples need them.
_EXAMPLES_OF_EXTRAS = (
    "comparisons.debias_and_compare",
    "comparisons.train_and_compare",
    "model_files.load",
    "training.train",
)
SHARED = Path(__file__).resolve().parents[1] / "shared"

# Workers side by side (pytest-xdist) must not write the same files of compiled code: a folder each.
if "PYTEST_XDIST_WORKER" in os.environ:
    flags = [os.environ.get("PYTENSOR_FLAGS", ""), f"base_compiledir=~/.pytensor/{os.environ['PYTEST_XDIST_WORKER']}"]
    os.environ["PYTENSOR_FLAGS"] = ",".join(filter(None, flags))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave `truth` to those who ask for it by name; skip what needs things that are absent, saying why.

    What takes long comes first, so that no worker is left with it when the others are done.
    """
    if "truth" not in config.option.markexpr:
        long = [item for item in items if "truth" in item.keywords]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
    items.sort(key=lambda item: "slow" not in item.keywords)
    missing = [name for name in _EXTRAS if find_spec(name) is None]
    for item in items:
        if item.name.removeprefix("bayesbias.nli.") in _EXAMPLES_OF_EXTRAS:
            item.add_marker("extras")
        if "extras" in item.keywords and missing:
            item.add_marker(pytest.mark.skip(reason=f"{', '.join(missing)} not installed: make test-extras"))
        if "gensim" in item.keywords and find_spec("gensim") is None:
            item.add_marker(pytest.mark.skip(reason="gensim needs Python < 3.14"))
        if "shared" in item.keywords and not SHARED.is_dir():
            item.add_marker(pytest.mark.skip(reason="the developers' reference data is not here"))


def pytest_collection_finish() -> None:
    """Keep what was imported out of garbage collection, which would look at all of it again and again."""
    gc.freeze()


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


@pytest.fixture(scope="session")
def short_table() -> pd.DataFrame:
    """Return the table of `table` with few of its control words: 832 of 2,832 pairs."""
    table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    has_row = table["connection"].isin(["associated", "different"])
    for connection, count in (("human", 12), ("neutral", 24)):
        words = table.loc[table["connection"] == connection, "attribute_word"].drop_duplicates().head(count)
        has_row |= (table["connection"] == connection) & table["attribute_word"].isin(words)
    short = table[has_row].reset_index(drop=True)
    short.attrs = table.attrs
    return short


@pytest.fixture(scope="session")
def short_fit(short_table: pd.DataFrame) -> xr.DataTree:
    """Return a fit of the paper's model to `short_table`, for what reads every draw of every pair."""
    return bb.fit(short_table, "hierarchical", draws=1500, chains=2, random_seed=3, progress=False)


@pytest.fixture
def quick_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out of pages the two sections that fit models many times; the tests of the page have them."""
    from bayesbias.delivery.page import fit as report
    from bayesbias.delivery.page import fit_sections as robustness

    long = (robustness.comparison_section, robustness.sensitivity_section)
    parts = {part: tuple(one for one in sections if one not in long) for part, sections in report.PARTS.items()}
    monkeypatch.setattr(report, "PARTS", parts)


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let changes of contrasts take a quarter of their usual draws, where no test reads their last digits."""
    for function in (bb.trend, bb.compare_embeddings, bb.debias_report):
        monkeypatch.setitem(function.__kwdefaults__, "draws", 250)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let this process, and those that it starts, answer the signals that shells have background jobs ignore."""
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler)}
    if hasattr(signal, "SIGHUP"):
        before[signal.SIGHUP] = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def _names_in_doctests(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    """Give the docstrings' examples `bb`, `np`, `pd`, a `table` and a `fit` of it."""
    if not isinstance(request.node, pytest.DoctestItem):
        return
    doctest_namespace.update(bb=bb, np=np, pd=pd)
    request.getfixturevalue("few_draws")
    if request.node.name.endswith(("fit_report.report", "writing.write")):
        request.getfixturevalue("quick_page")
    source = "".join(example.source for example in request.node.dtest.examples)
    # Pages, and figures whose examples show no number, take longer with more pairs.
    short = "short_" if request.node.name.endswith(_SHORT) else ""
    for name in ("table", "fit"):
        if name in source:
            doctest_namespace[name] = request.getfixturevalue(f"{short}{name}")
