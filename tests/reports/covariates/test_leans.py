"""Leans of words against plain averages of the table, with lost pairs and with several lists."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ReportError
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.reports.covariates.leans import leans_of, plain_list_means, rows_with_covariates
from tests.reports.covariates.made import made_fit, made_table
from tests.reports.made import made_fit as bare_fit


def test_leans_are_differences_of_plain_averages() -> None:
    fit = made_fit()
    rows, values = rows_with_covariates(fit)
    leans = leans_of(fit, rows, None)
    means = made_table().groupby(["protected_word", "attribute_group"])["cosine_distance"].mean().unstack()
    means = means.loc[rows.protected_words]
    np.testing.assert_allclose(leans.observed, means["near"] - means["far"])
    assert leans.name == "near - far"
    assert values.shape == (9, 1)
    errors = leans.draws.std(axis=0) / np.sqrt(len(leans.draws))
    word_means = fit["posterior"]["word_mean"].mean(("chain", "draw"))
    gaps = word_means.sel(connection="associated") - word_means.sel(connection="different")
    assert (np.abs(leans.draws.mean(axis=0) - gaps.to_numpy()) < errors).all()


@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")  # few draws of chains
def test_lost_pairs_leave_the_other_averages() -> None:
    table = made_table().drop(index=0)
    fit = bb.fit(table, covariates="share", draws=20, chains=1, random_seed=1, progress=False)
    rows, _ = rows_with_covariates(fit)
    leans = leans_of(fit, rows, ("far", "near"))
    means = table.groupby(["protected_word", "attribute_group"])["cosine_distance"].mean().unstack()
    means = means.loc[rows.protected_words]
    np.testing.assert_allclose(leans.observed, means["far"] - means["near"])
    assert np.isfinite(plain_list_means(attribute_sample(rows))).all()


def test_groups_with_other_lists_have_the_names_of_connections() -> None:
    table = made_table()
    swapped = table["protected_word"].isin(["<b>w0", "<b>w1", "<b>w2"])
    other = {"associated": "different", "different": "associated"}
    table["connection"] = table["connection"].where(~swapped, table["connection"].map(other))
    table["protected_group"] = np.where(swapped, "one", "two")
    fit = bb.fit(table, covariates="share", draws=20, chains=1, random_seed=1, progress=False)
    rows, _ = rows_with_covariates(fit)
    leans = leans_of(fit, rows, None)
    assert leans.name == "associated - different"
    plain = leans_of(fit, rows, ("near", "far")).observed
    np.testing.assert_allclose(leans.observed, np.where(np.arange(9) < 3, -plain, plain))


def test_fits_without_two_sides_or_covariates_are_refused() -> None:
    with pytest.raises(ReportError, match="no covariates"):
        rows_with_covariates(bare_fit(draws=20))
    table = pd.concat([made_table(), made_table(seed=2).assign(attribute_group="human", connection="human")])
    table["attribute_word"] += table["attribute_group"]
    table = table[table["connection"] != "different"]
    fit = bb.fit(table, covariates="share", draws=20, chains=1, random_seed=1, progress=False)
    rows, _ = rows_with_covariates(fit)
    with pytest.raises(ReportError, match="no different pairs"):
        leans_of(fit, rows, None)
    assert leans_of(fit, rows, ("near", "human")).name == "near - human"
