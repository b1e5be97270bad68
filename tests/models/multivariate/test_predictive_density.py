"""Densities of whole attribute words and of single pairs, against SciPy's multivariate Normal and t."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias.errors import NotEnoughMemoryError
from bayesbias.models.coordinates import posterior_with_covariances
from bayesbias.models.data import ModelData, model_data, subset
from bayesbias.models.densities import densities
from bayesbias.models.likelihood import PairGrid
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.predictive_density import (
    VectorDensities,
    left_out_words,
    vector_densities,
    vector_densities_of,
)
from tests.models.made_lists import list_data
from tests.models.tables import small
from tests.models.test_list_tables import TABLES

DRAWS = 3
# The distances are known to within a thousandth: its square times the trace of the precision is added to the square.
ERROR = 1e-6


def made(lost: float = 0.0, *, student_t: bool = False) -> tuple[ModelData, VectorDensities]:
    """Return a table of five words, and densities under three draws that are made up."""
    data = list_data(groups=(2, 3), attributes=3, controls=4, lost=lost, seed=3)
    sample, rng = attribute_sample(data), np.random.default_rng(2)
    words, lists = len(data.protected_words), len(sample.lists)
    drawn = {
        "residual_covariance": stats.invwishart(20, np.eye(words)).rvs((DRAWS, lists), random_state=rng),
        "list_mean": rng.normal(1, 0.1, (DRAWS, lists, words)),
        "word_mean": rng.normal(1, 0.1, (DRAWS, words, len(data.connections))),
    }
    drawn |= {"nu": np.array([3.0, 5.0, 40.0])} if student_t else {}
    return data, vector_densities_of(drawn, data, sample)


def log_density(computed: VectorDensities, word: int, rows: np.ndarray, draw: int) -> float:
    """Return SciPy's log density of some rows of an attribute word at a draw."""
    data, place = computed.data, computed.sample.list_of[word]
    words = data.protected[rows]
    mean, covariance = computed.list_mean[words, place, draw], computed.covariance[place, draw][np.ix_(words, words)]
    if computed.nu is None:
        return float(stats.multivariate_normal(mean, covariance).logpdf(data.distance[rows]))
    return float(stats.multivariate_t(mean, covariance, computed.nu[draw]).logpdf(data.distance[rows]))


@pytest.mark.parametrize("lost", [0.0, 0.15])
@pytest.mark.parametrize("student_t", [False, True])
def test_a_whole_word_has_the_density_of_scipy(lost: float, student_t: bool) -> None:
    data, computed = made(lost, student_t=student_t)
    ours = computed.of_words(range(1, len(data.attribute_words)))
    for word in range(1, len(data.attribute_words)):
        rows = np.flatnonzero(data.attribute == word)
        words, place = data.protected[rows], computed.sample.list_of[word]
        for draw in range(DRAWS):
            precision = np.linalg.inv(computed.covariance[place, draw][np.ix_(words, words)])
            residual = data.distance[rows] - computed.list_mean[words, place, draw]
            square, added = residual @ precision @ residual, ERROR * np.trace(precision)
            lower = added / 2
            if computed.nu is not None:
                nu = computed.nu[draw]
                lower = (nu + len(rows)) / 2 * np.log((nu + square + added) / (nu + square))
            expected = log_density(computed, word, rows, draw) - lower
            assert ours[word - 1, draw] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("lost", [0.0, 0.15])
@pytest.mark.parametrize("student_t", [False, True])
def test_a_pair_has_the_density_given_the_other_pairs(lost: float, student_t: bool) -> None:
    """p(pair | others) = p(all) / p(others), with both from SciPy."""
    data, computed = made(lost, student_t=student_t)
    if lost and student_t:  # `row_nu` is that of a whole attribute word
        whole = np.bincount(data.attribute)[data.attribute] == len(data.protected_words)
        chosen = np.flatnonzero(whole)
    else:
        chosen = np.arange(len(data.distance))
    ours = computed.of_rows(chosen)
    for row, values in zip(chosen[::4], ours[::4], strict=True):
        word = int(data.attribute[row])
        rows = np.flatnonzero(data.attribute == word)
        others = rows[rows != row]
        expected = [
            log_density(computed, word, rows, draw) - log_density(computed, word, others, draw) for draw in range(DRAWS)
        ]
        np.testing.assert_allclose(values, expected, atol=1e-8)


@pytest.mark.parametrize("student_t", [False, True])
def test_new_attribute_words_vary_as_their_list_and_independently(student_t: bool) -> None:
    data, computed = made(student_t=student_t)
    draw, count = 2, 40_000
    pairs = PairGrid(np.array([4, 0, 2]), np.array([0, 1, 5]), np.zeros((3, 3), dtype=int))
    noise = computed.noise(pairs, np.full(count, draw), np.random.default_rng(1))
    wider = 1.0 if computed.nu is None else computed.nu[draw] / (computed.nu[draw] - 2)
    expected = np.zeros((9, 9))
    for column, attribute in enumerate(pairs.attribute):
        covariance = computed.covariance[computed.sample.list_of[attribute], draw]
        expected[column::3, column::3] = wider * covariance[np.ix_(pairs.protected, pairs.protected)]
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((np.cov(noise.reshape(count, 9).T) - expected) / scale).max() < 5 * np.sqrt(2 / count)
    rows = np.array([7, 3])
    means = computed.replicate(np.full(4000, draw), rows, np.random.default_rng(2)).mean(axis=0)
    lists = computed.sample.list_of[data.attribute[rows]]
    sds = np.sqrt(wider * computed.covariance[lists, draw, data.protected[rows], data.protected[rows]])
    assert (np.abs(means - computed.list_mean[data.protected[rows], lists, draw]) < 4.5 * sds / np.sqrt(4000)).all()


def test_words_are_those_of_the_fit_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in another order, without a word and a list, have the densities of the same rows in the whole table."""
    table = small()
    fit = bb.fit(table, draws=20, chains=2, random_seed=1, progress=False)
    data = model_data(table)
    keep = (data.protected != 1) & (data.connection != data.connections.index("human"))
    part = subset(data, keep)
    whole, fewer = (vector_densities(posterior_with_covariances(fit), rows) for rows in (data, part))
    names = {str(name): place for place, name in enumerate(data.attribute_words)}
    place = [names[str(name)] for name in part.attribute_words]
    words = [data.protected_words.tolist().index(name) for name in part.protected_words]
    lists = whole.sample.list_of[place]
    np.testing.assert_array_equal(
        fewer.list_mean[:, fewer.sample.list_of], whole.list_mean[np.array(words)[:, None], lists]
    )
    np.testing.assert_array_equal(
        fewer.covariance[fewer.sample.list_of],
        whole.covariance[lists][..., np.array(words)[:, None], words],
    )
    with pytest.raises(NotEnoughMemoryError, match=r"no covariance of its distances.*Fit the table again"):
        vector_densities(fit["posterior"].to_dataset(), data)
    monkeypatch.setattr("bayesbias.models.multivariate.predictive_density.MOST_COVARIANCE_NUMBERS", 99)
    with pytest.raises(NotEnoughMemoryError, match=r"4 lists and 5 words make 100\. Fit fewer words"):
        vector_densities(fit["posterior"].to_dataset(), data)


# Standard errors of the draws whose densities are averaged.
ERRORS = 4.0


def with_an_odd_word(name: str) -> pd.DataFrame:
    """Return a table whose first attribute word is far nearer to the first group than all others are."""
    rows = TABLES[name].reset_index(drop=True)
    odd = (rows["attribute_word"] == rows["attribute_word"].iloc[0]) & (
        rows["protected_group"] == rows["protected_group"].iloc[0]
    )
    return rows.assign(cosine_distance=(rows["cosine_distance"] - 0.5 * odd).clip(lower=0.0))


def fit_of(rows: pd.DataFrame, seed: int, draws: int) -> xr.DataTree:
    return bb.fit(rows, draws=draws, random_seed=seed, progress=False)


@pytest.mark.parametrize("name", ["two groups", "three groups", "two lists a group", "no controls"])
def test_the_density_of_a_word_is_that_of_a_fit_without_it(name: str) -> None:
    rows = with_an_odd_word(name)
    data = model_data(rows)
    words = left_out_words(fit_of(rows, 1, 1000), data)
    assert words is not None
    moved = []
    for word in (0, len(data.attribute_words) - 1):
        log_density, khat = words.log_density(word)
        assert khat < 0.7
        refit = fit_of(rows[rows["attribute_word"] != data.attribute_words[word]], 2, 4000)
        of_draws = densities(refit, data, effects=False).of_words([word])[0]
        weight = np.exp(of_draws - of_draws.max())
        error = weight.std() / weight.mean() / np.sqrt(len(weight))
        assert error < 0.1
        assert abs(log_density - np.log(weight.mean()) - of_draws.max()) < ERRORS * np.hypot(error, 0.03)
        moved.append(of_draws.mean() - densities(fit_of(rows, 3, 500), data).of_words([word]).mean())
    # The odd word matters: the fit with it expects it, that without it does not.
    assert moved[0] < min(-2.0, moved[1])


def test_a_word_that_is_alone_in_its_list_has_none() -> None:
    rows = TABLES["a list of one word"]
    data = model_data(rows)
    words = left_out_words(fit_of(rows, 1, 100), data)
    assert words is not None
    alone = int(np.flatnonzero(np.bincount(words.sample.list_of)[words.sample.list_of] == 1)[0])
    assert np.isnan(words.log_density(alone)).all()
    assert np.isfinite(words.log_density(alone + 1)).all()


@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
def test_other_models_and_lost_pairs_have_none() -> None:
    rows = TABLES["two groups"].reset_index(drop=True)
    other = bb.fit(rows, "crossed_per_list", draws=100, random_seed=1, progress=False)
    assert left_out_words(other, model_data(rows)) is None
    lost = rows.iloc[1:].reset_index(drop=True)
    assert left_out_words(fit_of(lost, 1, 50), model_data(lost)) is None
