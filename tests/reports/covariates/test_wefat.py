"""The statistic of WEFAT beside that of the measure of single words, and its correlations beside SciPy's."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.base.statements import rows_of
from bayesbias.models.multivariate.attribute_sample import observed_list_means
from bayesbias.reports.covariates.slopes import design_of, leans_of, rows_with_covariates
from bayesbias.reports.covariates.wefat import association_statistics, statistic_correlations
from tests.reports.covariates.made import made_fit

LISTS = {
    "jobs": ["nurse", "engineer", "librarian", "doctor", "teacher", "lawyer", "soldier", "secretary"],
    "female": ["she", "her", "woman", "girl", "mother", "sister"],
    "male": ["he", "his", "man", "boy", "father"],
}


def test_the_statistic_is_that_of_the_measure_of_single_words() -> None:
    path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    letters = {word: len(word) for word in LISTS["jobs"]}
    fit = bb.fit(
        bb.distance_table(path, LISTS), covariates={"letters": letters}, draws=50, random_seed=1, progress=False
    )
    effect = bb.covariate_effect(fit, ("female", "male"))
    measured = bb.metrics.normalized_association_score(path, LISTS).scores.set_index("word")["score"]
    statistics = effect.words.set_index("protected_word")["wefat"]
    np.testing.assert_allclose(statistics, measured[statistics.index], atol=1e-6)
    links = effect.effects.set_index("quantity")["wefat_correlation"]
    expected = stats.pearsonr(measured[list(letters)], list(letters.values())).statistic
    np.testing.assert_allclose(links["correlation"], expected, atol=1e-6)
    assert links[["slope", "residual sd"]].isna().all()
    (statement,) = (item for part in effect.parts for item in part.statements if item.kind == "wefat")
    assert statement.numbers["correlation"] == pytest.approx(expected, abs=1e-6)


def test_the_sign_is_opposite_to_that_of_leans() -> None:
    effect = bb.covariate_effect(made_fit())
    (link, _) = (row for row in rows_of(effect.effects) if row["quantity"] == "correlation")
    assert link["observed"] < 0 < link["wefat_correlation"]
    assert (np.sign(effect.words["wefat"]) == -np.sign(effect.words["observed"])).all()


def test_lost_pairs_are_left_out() -> None:
    fit = made_fit()
    leans = leans_of(fit, rows_with_covariates(fit)[0], None)
    distances = leans.sample.distances.copy()
    distances[[0, 7], [2, 2]] = np.nan
    sample = replace(leans.sample, distances=distances)
    plain = observed_list_means(sample)
    lossy = replace(leans, sample=sample, observed=plain[0] - plain[1])
    near, far = (1 - distances[sample.list_of == side, 2] for side in (0, 1))
    near, far = near[np.isfinite(near)], far[np.isfinite(far)]
    assert (len(near), len(far)) == (4, 4)
    expected = (near.mean() - far.mean()) / np.std([*near, *far], ddof=1)
    assert association_statistics(lossy)[2] == pytest.approx(expected)


def test_within_groups_it_is_the_correlation_around_the_means_of_groups() -> None:
    rng = np.random.default_rng(1)
    group_of, values, statistics = np.repeat([0, 1], 6), rng.standard_normal(12), rng.standard_normal(12)
    design = design_of(values[:, None], group_of)
    centred = [column - np.repeat([column[:6].mean(), column[6:].mean()], 6) for column in (values, statistics)]
    expected = stats.pearsonr(*centred).statistic
    np.testing.assert_allclose(statistic_correlations(statistics + group_of, design), expected)


def test_without_any_scatter_there_is_no_correlation() -> None:
    design = design_of(np.arange(4.0)[:, None], np.zeros(4, dtype=int))
    assert np.isnan(statistic_correlations(np.ones(4), design)).all()
    assert np.isnan(statistic_correlations(np.array([np.nan, 1.0, 2.0, 3.0]), design)).all()
