"""Tables at the edge of what can be fitted: right answers, checked by brute force, or an error that says why."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import psutil
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import FitError, NotEnoughMemoryError, SamplerWarning
from bayesbias.models import sampling
from bayesbias.models.data import ModelData, model_data
from tests.models.tables import small

PRIOR = (1.0, 0.3)


def _one_row_of_a_connection() -> pd.DataFrame:
    table = small(4, 2)
    return table.drop(table[table["connection"] == "human"].index[1:])


def _words_without_rows() -> pd.DataFrame:
    table = small(4, 2)
    return table[~(table["protected_word"].isin(["p0", "p2"]) & (table["connection"] == "neutral"))]


TABLES = {
    "one protected word": small(1, 3),
    "one protected word, one row a cell": small(1, 1, controls=False),
    "one row a cell": small(5, 1, controls=False),
    "words without rows in a connection": _words_without_rows(),
    "a connection with one row": _one_row_of_a_connection(),
    "words without any spread": small(3, 2).assign(cosine_distance=lambda t: [0.8, 1.0] * (len(t) // 2)),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_exact_sampler_is_right_at_the_extremes(name: str) -> None:
    """All scales on a fine grid, each point's density and locations from one dense Normal distribution."""
    table = TABLES[name]
    fit = bb.fit(table, "hierarchical", random_seed=3, draws=10_000, chains=4)
    assert bb.models.fit_attribute(fit, "sampler") == "exact"
    posterior = fit["posterior"].to_dataset()
    for connection in posterior["connection"].values:
        data = model_data(table[table["connection"] == connection])
        expected = _by_quadrature(data)
        drawn = posterior.sel(connection=connection)
        moments = {
            "log word_sd": np.log(drawn["word_sd"]),
            "log sigma": np.log(drawn["sigma"]),
            "connection_mean": drawn["connection_mean"],
            **{f"word_mean {word}": drawn["word_mean"].sel(protected_word=word) for word in data.protected_words},
        }
        for parameter, (mean, sd) in expected.items():
            draws = moments[parameter].to_numpy().ravel()
            error = sd / np.sqrt(len(draws))
            assert abs(draws.mean() - mean) < 5 * error, (connection, parameter)
            # The standard error of a standard deviation, by the fourth moment.
            kurtosis = stats.kurtosis(draws, fisher=False)
            assert abs(draws.std() / sd - 1) < 5 * np.sqrt((kurtosis - 1) / 4 / len(draws)), (connection, parameter)


def test_a_word_without_rows_is_drawn_from_its_group() -> None:
    fit = bb.fit(_words_without_rows(), "hierarchical", random_seed=3, draws=10_000)
    posterior = fit["posterior"].to_dataset().sel(connection="neutral")
    offset = (
        (posterior["word_mean"].sel(protected_word="p0") - posterior["connection_mean"]) / posterior["word_sd"]
    ).values
    assert stats.kstest(offset.ravel(), "norm").pvalue > 0.001


@pytest.mark.parametrize("model", ["hierarchical", "no_pooling", "crossed"])
def test_equal_distances_end_before_sampling(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_sample", lambda *_: pytest.fail("it sampled"))
    equal = small(4, 2).assign(cosine_distance=0.7)
    with pytest.raises(FitError, match=r"\d+ .*'associated' .*0\.7"):
        bb.fit(equal, model)


def test_cells_whose_rows_are_all_equal_have_no_posterior() -> None:
    """Where word means differ but the rows of a word do not, sigma has no proper posterior."""
    table = small(4, 3)
    by_cell = table.groupby(["protected_word", "connection"])["cosine_distance"].transform("mean")
    with pytest.raises(FitError, match="'associated'"):
        bb.fit(table.assign(cosine_distance=by_cell), "hierarchical", random_seed=1)


@pytest.mark.parametrize(
    ("words", "attributes"), [(1, 4), (3, 2), pytest.param(4, 4, marks=[pytest.mark.slow, pytest.mark.truth])]
)
def test_the_collapsed_sampler_is_right_for_a_handful_of_rows(words: int, attributes: int) -> None:
    """One connection only, so that the three scales can be summed on a grid."""
    table = small(words, attributes, seed=4)
    table = table[table["connection"] == "neutral"].drop(index=table.index[table["connection"] == "neutral"][0])
    fit = bb.fit(table, "crossed", sampler="collapsed", random_seed=3, draws=2_500)
    expected = _by_quadrature(model_data(table), crossed=True)
    drawn = fit["posterior"].to_dataset().sel(connection="neutral")
    moments = {
        "log word_sd": np.log(drawn["word_sd"]),
        "log sigma": np.log(drawn["sigma"]),
        "log attribute_sd": np.log(drawn["attribute_sd"]),
        "connection_mean": drawn["connection_mean"],
    }
    for parameter, draws in moments.items():
        mean, sd = expected[parameter]
        assert abs(float(draws.mean()) - mean) < 6 * sd / np.sqrt(draws.size), parameter
        assert float(draws.std()) == pytest.approx(sd, rel=0.08), parameter


def test_rows_missing_at_random_fall_back_to_nuts_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """NUTS is called, and stopped: `test_collapsed.py` lets it draw."""
    table = small(12, 20, missing=0.1, seed=2)
    with pytest.raises(FitError, match="60 "):
        bb.fit(table, "crossed", sampler="collapsed", random_seed=1)

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nutpie.compile_pymc_model", stopped)
    with pytest.warns(SamplerWarning, match="NUTS"), pytest.raises(KeyboardInterrupt):
        bb.fit(table, "crossed", random_seed=1)


def _many_attributes(attributes: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    words = 8
    protected, attribute = np.repeat(np.arange(words), attributes), np.tile(np.arange(attributes), words)
    controls = np.where(attribute % 4 == 2, "human", "neutral")
    names = np.where(attribute % 4 < 2, np.where((attribute + protected) % 2, "different", "associated"), controls)
    distance = 0.9 + 0.03 * rng.normal(size=words)[protected] + rng.normal(0, 0.05, attributes)[attribute]
    distance += rng.normal(0, 0.08, words * attributes)
    return pd.DataFrame(
        {
            "protected_word": pd.Categorical.from_codes(protected, [f"p{number}" for number in range(words)]),
            "protected_group": pd.Categorical.from_codes(protected % 2, ["even", "odd"]),
            "attribute_word": pd.Categorical.from_codes(attribute, [f"a{number}" for number in range(attributes)]),
            "attribute_group": pd.Categorical.from_codes(attribute % 4, ["even", "odd", "human", "neutral"]),
            "connection": names,
            "cosine_distance": distance,
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("attributes", [10_000, pytest.param(50_000, marks=pytest.mark.truth)])
def test_many_thousand_attribute_words(attributes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = _many_attributes(attributes)
    fit = bb.fit(table, "crossed", random_seed=1, draws=250, chains=4)
    assert bb.models.fit_attribute(fit, "sampler") == "collapsed"
    assert fit["posterior"]["attribute_effect"].shape == (4, 250, attributes)
    assert float(fit["posterior"]["attribute_sd"].mean()) == pytest.approx(0.05, abs=0.002)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=attributes * 20_000))
    with pytest.raises(NotEnoughMemoryError, match="draws"):
        bb.fit(table, "crossed", random_seed=1, draws=250, chains=4)


def _by_quadrature(data: ModelData, *, crossed: bool = False) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of each parameter of a table of one connection, from its density on a grid."""
    names = ["log word_sd", "log sigma", "log attribute_sd"][: 3 if crossed else 2]
    limits = [(-16.0, 2.5), (-11.0, 2.5), (-16.0, 2.5)][: len(names)]
    for nodes in (31, 31, 45 if crossed else 150):
        grids = [np.linspace(low, high, nodes) for low, high in limits]
        points = np.array(list(itertools.product(*grids)))
        log = np.concatenate([_log_posterior(data, part) for part in np.array_split(points, len(points) // 500 + 1)])
        inside = points[log > log.max() - 18]
        limits = [
            (max(low, values.min() - step), min(high, values.max() + step))
            for (low, high), values, step in zip(limits, inside.T, [grid[1] - grid[0] for grid in grids], strict=True)
        ]
    weight = np.exp(log - log.max())
    points, weight = points[weight > 1e-8], weight[weight > 1e-8] / weight.sum()
    result = {}
    for name, values in zip(names, points.T, strict=True):
        mean = weight @ values
        result[name] = (float(mean), float(np.sqrt(weight @ (values - mean) ** 2)))
    parts = [_conditional(data, part) for part in np.array_split(points, len(points) // 500 + 1)]
    mean, variance = (np.concatenate(part) for part in zip(*parts, strict=True))
    locations = ["connection_mean", *(f"word_mean {word}" for word in data.protected_words)]
    for name, values, spread in zip(locations, mean.T, variance.T, strict=True):
        center = weight @ values
        result[name] = (float(center), float(np.sqrt(weight @ (spread + (values - center) ** 2))))
    return result


def _covariance(data: ModelData, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return covariances of the distances, between (mu, m) and the distances, and variances of (mu, m)."""
    variance = np.exp(2 * points)[:, :, None, None]
    same_word = np.eye(len(data.protected_words))[data.protected]
    same_attribute = np.eye(len(data.attribute_words))[data.attribute]
    rows = PRIOR[1] ** 2 + variance[:, 0] * (same_word @ same_word.T) + variance[:, 1] * np.eye(len(data.distance))
    if points.shape[1] == 3:
        rows = rows + variance[:, 2] * (same_attribute @ same_attribute.T)
    group = np.zeros((1, len(data.distance)))
    across = PRIOR[1] ** 2 + variance[:, 0] * np.vstack([group, same_word.T])
    own_variance = PRIOR[1] ** 2 + variance[:, 0, :, 0] * np.array([0.0, *np.ones(len(data.protected_words))])
    return rows, across, own_variance


def _log_posterior(data: ModelData, points: np.ndarray) -> np.ndarray:
    lower = np.linalg.cholesky(_covariance(data, points)[0])
    white = np.linalg.solve(lower, (data.distance - PRIOR[0])[:, None])[..., 0]
    log_root = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
    prior = (stats.expon(scale=0.5).logpdf(np.exp(points)) + points).sum(axis=1)
    return -log_root - 0.5 * (white**2).sum(axis=1) + prior


def _conditional(data: ModelData, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows, across, own_variance = _covariance(data, points)
    weights = np.linalg.solve(rows, np.swapaxes(across, 1, 2))
    mean = PRIOR[0] + (np.swapaxes(weights, 1, 2) @ (data.distance - PRIOR[0])[:, None])[..., 0]
    return mean, own_variance - (across * np.swapaxes(weights, 1, 2)).sum(axis=2)
