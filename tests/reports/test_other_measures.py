"""Reports of tables of other measures: a table times c has the answer times c, in its own words."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.tables.measures import SURPRISAL
from tests.reports.covariates.made import made_table
from tests.tables.scored import OF_COSINES, page_text, scored, texts

ESTIMATES = ["observed", "mean", "sd", "hdi_low", "hdi_high"]
FACTOR = 300.0
LESS_LIKELY = re.compile(f"{OF_COSINES.pattern}|nearer|farther", re.IGNORECASE)


def covariate_fit(factor: float = 1.0, shift: float = 0.0, **settings: Any) -> xr.DataTree:
    table = scored(made_table(), factor, shift, **settings)
    return bb.fit(table, covariates="share", draws=250, random_seed=1, progress=False)


@pytest.fixture(scope="module")
def effect() -> bb.reports.CovariateEffect:
    return bb.covariate_effect(covariate_fit(FACTOR, -20.0))


def test_slopes_follow_the_unit(effect: bb.reports.CovariateEffect) -> None:
    first = bb.covariate_effect(covariate_fit())
    is_correlation = (effect.effects["quantity"] == "correlation").to_numpy()[:, None]
    factors = np.where(is_correlation, 1.0, FACTOR)
    np.testing.assert_allclose(effect.effects[ESTIMATES] / factors, first.effects[ESTIMATES], rtol=1e-5)
    np.testing.assert_allclose(effect.words[ESTIMATES] / FACTOR, first.words[ESTIMATES], rtol=1e-4)


def test_slopes_speak_the_measure(effect: bb.reports.CovariateEffect, tmp_path: Path) -> None:
    for text in (texts(effect), page_text(effect, tmp_path)):
        assert not OF_COSINES.findall(text)
    assert " points, from 9 words; 89% interval in brackets." in effect.contents.estimate
    assert bb.plots.plot_covariate(effect).axes[0].get_ylabel() == (
        "Lean: rating (points)\nof near minus of far words (below 0: nearer to near)"
    )


def test_slopes_of_surprisals_are_about_likelier_words(tmp_path: Path) -> None:
    effect = bb.covariate_effect(covariate_fit(FACTOR, measure=SURPRISAL))
    claim = "With a larger 'share', near words are likelier with a word, relative to far words."
    assert str(effect).startswith(claim)
    assert effect.contents.title == "Does the lean of words towards near or far words follow 'share'?"
    assert "Below 0, near words are likelier with a word." in texts(effect)
    for text in (texts(effect), page_text(effect, tmp_path)):
        assert not LESS_LIKELY.findall(text)


def small_scores(factor: float = 1.0, shift: float = 0.0, **settings: Any) -> pd.DataFrame:
    """Return scores of WEAT 7 with four words of each attribute list."""
    table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    table = table[table["connection"].isin(["associated", "different"])]
    lists = table.groupby("attribute_group", observed=True)["attribute_word"].unique()
    words = {word for of_list in lists for word in of_list[:4]}
    return scored(table[table["attribute_word"].isin(words)].reset_index(drop=True), factor, shift, **settings)


@pytest.mark.parametrize(
    ("model", "leave_out"),
    [("multivariate", "attribute_word"), ("multivariate", "prior"), ("crossed", "protected_word"),
     ("crossed", "prior"), ("hierarchical", "list")],
)  # fmt: skip
def test_shifts_follow_the_unit(model: str, leave_out: str) -> None:
    first, second = (
        bb.sensitivity(table, model, leave_out=leave_out, draws=250, random_seed=1, progress=False)
        for table in (small_scores(), small_scores(FACTOR, -20.0))
    )
    numbers = ["mean", "hdi_low", "hdi_high", "shift"]
    assert len(first.shifts) > 1
    if leave_out != "prior":  # priors are written in the unit of the table
        assert first.shifts["left_out"].tolist() == second.shifts["left_out"].tolist()
    np.testing.assert_allclose(second.shifts[numbers] / FACTOR, first.shifts[numbers], rtol=1e-4, atol=1e-7)
    assert second.shifts["shift_in_sd"].tolist() == pytest.approx(first.shifts["shift_in_sd"].tolist(), abs=1e-5)
    assert second.monte_carlo_error == pytest.approx(FACTOR * first.monte_carlo_error, rel=1e-3)


def test_the_contrast_with_everything_is_that_of_the_fit() -> None:
    table = small_scores(FACTOR, -20.0)
    changes = bb.sensitivity(table, leave_out="list", draws=500, random_seed=1, progress=False)
    fitted = bb.contrasts(bb.fit(table, draws=500, random_seed=1, progress=False))
    assert changes.contrasts["mean"][0] == pytest.approx(fitted["mean"][0], abs=0.1 * fitted["sd"][0])
    assert changes.contrasts["sd"][0] == pytest.approx(fitted["sd"][0], rel=0.1)


def test_shifts_speak_the_measure(tmp_path: Path) -> None:
    for table, words in ((small_scores(), OF_COSINES), (small_scores(measure=SURPRISAL), LESS_LIKELY)):
        changes = bb.sensitivity(table, leave_out="protected_word", draws=250, random_seed=1, progress=False)
        for text in (texts(changes), page_text(changes, tmp_path)):
            assert not words.findall(text)


def test_models_are_compared_in_any_unit(tmp_path: Path) -> None:
    first, second = (
        bb.compare_models(table, ("hierarchical", "crossed", "multivariate"), draws=250, random_seed=1, progress=False)
        for table in (small_scores(), small_scores(FACTOR, -20.0, measure=SURPRISAL))
    )
    same = ["model", "reading", "words_refitted", "pairs_k_high"]
    assert first.models[same].to_numpy().tolist() == second.models[same].to_numpy().tolist()
    differences = ["words_diff", "words_diff_se", "pairs_diff", "p_loo"]
    np.testing.assert_allclose(second.models[differences], first.models[differences], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(second.contrasts["mean"] / FACTOR, first.contrasts["mean"], rtol=1e-4)
    # A density in a unit that is so many times smaller is so many times smaller.
    words = second.models["elpd_words"] + len(small_scores()) * np.log(FACTOR)
    np.testing.assert_allclose(words, first.models["elpd_words"], rtol=1e-4)
    for text in (texts(second), page_text(second, tmp_path)):
        assert not LESS_LIKELY.findall(text)
