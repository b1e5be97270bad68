"""A multivariate posterior without an attribute word: by weights, by sweeps without it, and by a whole fit."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.models.data import ModelData, model_data, subset
from bayesbias.models.likelihood import densities, log_mean
from bayesbias.models.quick import QuickRefits
from bayesbias.models.reweighted_sweeps import density_without
from bayesbias.models.spec import load_model
from bayesbias.models.vector_likelihood import vector_densities_of
from tests.models.tables import small

DRAWS = 2000


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return small(6, 6)


@pytest.fixture(scope="module")
def data(table: pd.DataFrame) -> ModelData:
    return model_data(table)


def test_densities_of_words_are_those_of_scipy_with_the_error_of_a_distance(data: ModelData) -> None:
    rng, words = np.random.default_rng(1), len(data.protected_words)
    root = rng.standard_normal((3, words, words + 2))
    drawn = {
        "word_mean": rng.normal(0.9, 0.05, (3, words, 4)),
        "residual_covariance": 0.01 * root @ root.transpose(0, 2, 1),
        "list_scale": rng.gamma(5, 0.2, (3, 2)),
    }
    found = vector_densities_of(drawn, data).of_words(0, len(data.attribute_words))
    kinds = ["stereotype", "stereotype", "human", "neutral"]
    for word in (0, 8, 20):
        rows = data.attribute == word
        connection, protected = data.connection[rows], data.protected[rows]
        kind = ["stereotype", "human", "neutral"].index(kinds[connection[0]])
        for draw in range(3):
            scale = np.append(drawn["list_scale"][draw], 1.0)[kind]
            covariance = scale**2 * drawn["residual_covariance"][draw][np.ix_(protected, protected)]
            mean = drawn["word_mean"][draw][protected, connection]
            expected = stats.multivariate_normal(mean, covariance).logpdf(data.distance[rows])
            expected -= 0.001**2 * np.trace(np.linalg.inv(covariance)) / 2
            assert found[word, draw] == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
def test_a_density_without_a_word_is_that_of_a_fit_without_it(table: pd.DataFrame, data: ModelData) -> None:
    """Also where the words of the rest appear in another order: rows are shuffled."""
    shuffled = table.sample(frac=1, random_state=3).reset_index(drop=True)
    shuffled.attrs = table.attrs
    other, spec = model_data(shuffled), load_model("multivariate")
    for name in data.attribute_words[[0, 13]].tolist():
        place = other.attribute_words.tolist().index(name)
        fitted = bb.fit(table[table["attribute_word"] != name], "multivariate", random_seed=2, progress=False)
        own = data.attribute_words.tolist().index(name)
        theirs = densities(fitted, data, effects=False).of_words(own, own + 1)[0]
        weight = np.exp(theirs - theirs.max())
        # Draws are not independent: half of them count, of the sweeps a quarter.
        error = weight.std() / weight.mean() * np.sqrt(2 / len(weight) + 4 / DRAWS)
        ours = density_without(other, place, spec, draws=DRAWS, seed=1)
        assert ours == pytest.approx(float(log_mean(theirs)), abs=4 * error)


def test_a_word_that_alone_tells_something_cannot_be_left_out(data: ModelData) -> None:
    names = np.array(data.connections)[data.connection]
    keep = (names != "neutral") | (data.attribute == data.attribute[names == "neutral"][0])
    alone = subset(data, keep)
    word = int(alone.attribute[np.array(alone.connections)[alone.connection] == "neutral"][0])
    assert np.isnan(density_without(alone, word, load_model("multivariate"), draws=20, seed=1))


@pytest.mark.slow
def test_weights_leave_out_a_word_as_a_posterior_drawn_anew_does(data: ModelData) -> None:
    spec = load_model("multivariate")
    refits = QuickRefits(data, "associated", draws=DRAWS, seed=1)
    keep = data.attribute != 3
    weighted = refits.estimates(keep, spec, 0.89)["associated - different"]
    anew = QuickRefits(subset(data, keep), "associated", draws=DRAWS, seed=2)
    drawn = anew.estimates(np.ones(keep.sum(), dtype=bool), spec, 0.89)["associated - different"]
    whole = refits.estimates(np.ones(len(keep), dtype=bool), spec, 0.89)["associated - different"]
    assert weighted.mean == pytest.approx(drawn.mean, abs=0.15 * drawn.sd)
    assert weighted.sd == pytest.approx(drawn.sd, rel=0.15)
    assert weighted.mean != whole.mean
