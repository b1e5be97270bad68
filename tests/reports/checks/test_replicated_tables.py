"""Replicated tables of a fit whose draws are known, against plain loops."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.models.densities import densities
from bayesbias.models.fits import fitted_rows
from bayesbias.models.likelihood import Densities
from bayesbias.reports.checks import replicated_tables as module
from bayesbias.reports.checks.replicated_tables import ALL, JOINT, STATISTICS, noise, replicate, replicated_distances
from tests.models.tables import small


@pytest.fixture(scope="module")
def posterior() -> Densities:
    fit = bb.fit(small(5, 4, missing=0.2), "hierarchical", draws=150, chains=2, random_seed=1, progress=False)
    return densities(fit, fitted_rows(fit))


def test_noise_is_spread_evenly(posterior: Densities) -> None:
    drawn = noise(posterior, np.arange(300), 3, np.random.default_rng(1))
    assert drawn.shape == (300, 3)
    for column in drawn.T:
        np.testing.assert_allclose(np.sort(stats.norm.cdf(column)), (np.arange(300) + 0.5) / 300)
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.2


def test_each_replicate_is_of_its_own_draw_and_rows_are_in_the_order_asked_for(posterior: Densities) -> None:
    rows = len(posterior.data.distance)
    quiet = Densities(**{**vars(posterior), "sigma": posterior.sigma * 0})
    order = np.arange(rows)[::-1]
    (made,) = replicated_distances(quiet, order, 5, np.random.default_rng(1))
    data = posterior.data
    for distances, draw in zip(made, np.linspace(0, 299, 5).astype(int), strict=True):
        expected = posterior.word_mean[data.protected, data.connection, draw]
        np.testing.assert_allclose(distances, expected[order])


def test_frames_hold_what_was_replicated(posterior: Densities) -> None:
    statistics, histograms, replicates = replicate(posterior, np.random.default_rng(2))
    assert replicates == 300
    data = posterior.data
    by_name = statistics.set_index(["connection", "statistic"])
    assert set(statistics.loc[statistics["connection"] != JOINT, "statistic"]) == set(STATISTICS)
    assert set(statistics.loc[statistics["connection"] == JOINT, "statistic"]) & set(STATISTICS) == set()
    for place, name in enumerate((ALL, *data.connections)):
        values = data.distance if name == ALL else data.distance[data.connection == place - 1]
        assert by_name.loc[(name, "mean"), "observed"] == pytest.approx(values.mean())
        assert by_name.loc[(name, "kurtosis"), "observed"] == pytest.approx(stats.kurtosis(values))
        bins = histograms[histograms["connection"] == name]
        width = np.diff(bins["distance"]).mean()
        edges = np.append(bins["distance"] - width / 2, bins["distance"].iloc[-1] + width / 2)
        np.testing.assert_allclose(bins["observed"], np.histogram(values, edges)[0] / len(values) / width)
    assert (statistics["low"] <= statistics["high"]).all()
    assert statistics["p_value"].between(0, 1).all()
    assert (statistics["p_value_se"] > 0).all()
    again = replicate(posterior, np.random.default_rng(2))
    pd.testing.assert_frame_equal(again[0], statistics)


def test_a_statistic_that_is_the_same_in_every_table_is_not_extreme() -> None:
    """With one attribute word a list, distances of words cannot be correlated within a list."""
    rows = [
        (f"w{group}{word}", f"g{group}", f"a{side}", f"l{side}", "associated" if side == group else "different")
        for group in (0, 1)
        for word in (0, 1)
        for side in (0, 1)
    ]
    names = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection"]
    distances = np.random.default_rng(1).uniform(0.8, 1.0, len(rows))
    table = pd.DataFrame(rows, columns=names).assign(cosine_distance=distances)
    fit = bb.fit(table, "hierarchical", draws=100, chains=2, random_seed=1, progress=False)
    statistics, _, _ = replicate(densities(fit, fitted_rows(fit)), np.random.default_rng(1))
    constant = statistics[(statistics["low"] == statistics["high"]) & (statistics["observed"] == statistics["low"])]
    assert len(constant)
    assert (constant["p_value"] == 0.5).all()


def test_tables_that_are_taken_in_pieces_have_the_same_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    data = model_data(small())
    order = np.arange(len(data.distance))
    distances = data.distance + 0.1 * np.random.default_rng(1).standard_normal((7, len(order)))
    whole = module.JointStatistics(data, order)(distances)
    monkeypatch.setattr(module, "_PRODUCTS_A_BLOCK", 1)
    parts = module.JointStatistics(data, order)(distances)
    assert parts.keys() == whole.keys()
    for name, values in whole.items():
        np.testing.assert_allclose(parts[name], values, rtol=1e-9)


def test_many_words_are_not_all_held_at_once() -> None:
    """The products of 1,000 words with each other, of 20 tables, are 160 MB, and were held three times."""
    words, attributes = 1000, 3
    data = model_data(small(words=words, attributes=attributes))
    order = np.arange(len(data.distance))
    distances = data.distance + 0.1 * np.random.default_rng(1).standard_normal((20, len(order)))
    statistics = module.JointStatistics(data, order)
    tracemalloc.start()
    values = statistics(distances)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(values["largest residual correlation"]) == 20
    assert peak < 200e6
