"""Leans of words: differences of draws of means, and of plain averages by hand."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ReportError
from bayesbias.models.fitted.fit_source import fitted_rows
from bayesbias.reports.covariates.leans import leans_of, rows_with_covariates

WORDS = ("nurse", "pilot", "clerk", "baker", "judge")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Five words of one group, associated with the first of two lists."""
    rng = np.random.default_rng(4)
    rows = [
        (word, "jobs", f"{name}{number}", name, connection, 0.9 + 0.05 * rng.standard_normal())
        for word in WORDS
        for name, connection in (("female", "associated"), ("male", "different"))
        for number in range(5)
    ]
    names = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection", "cosine_distance"]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture(scope="module")
def fitted(table: pd.DataFrame) -> xr.DataTree:
    share = {"share": dict(zip(WORDS, (0.9, 0.1, 0.7, 0.4, 0.3), strict=True))}
    return bb.fit(table, covariates=share, draws=200, chains=2, random_seed=1, progress=False)


def plain_lean(table: pd.DataFrame, word: str) -> float:
    means = table[table["protected_word"] == word].groupby("attribute_group")["cosine_distance"].mean()
    return float(means["female"] - means["male"])


@pytest.mark.parametrize("lists", [None, ("female", "male")])
def test_leans_are_differences_of_means(
    fitted: xr.DataTree, table: pd.DataFrame, lists: tuple[str, str] | None
) -> None:
    rows = fitted_rows(fitted)
    leans = leans_of(fitted, rows, lists)
    assert leans.name == "female - male"
    np.testing.assert_allclose(leans.observed, [plain_lean(table, word) for word in rows.protected_words])
    means = fitted["posterior"]["word_mean"].transpose("chain", "draw", "protected_word", "connection")
    apart = means.sel(connection="associated") - means.sel(connection="different")
    np.testing.assert_allclose(leans.draws, apart.to_numpy().reshape(-1, len(WORDS)), atol=1e-12)


def test_the_other_order_of_lists_changes_the_sign(fitted: xr.DataTree) -> None:
    rows = fitted_rows(fitted)
    first, second = (leans_of(fitted, rows, lists) for lists in (("female", "male"), ("male", "female")))
    np.testing.assert_allclose(first.draws, -second.draws)


def test_what_has_no_lean_is_refused(fitted: xr.DataTree, table: pd.DataFrame) -> None:
    rows = fitted_rows(fitted)
    with pytest.raises(ReportError, match=r"'mail'.*'male'"):
        leans_of(fitted, rows, ("female", "mail"))
    with pytest.raises(ReportError, match="twice"):
        leans_of(fitted, rows, ("male", "male"))
    assert rows_with_covariates(fitted)[1].shape == (len(WORDS), 1)
    with pytest.raises(ReportError, match="no covariates"):
        rows_with_covariates(bb.fit(table, draws=200, chains=2, random_seed=1, progress=False))
