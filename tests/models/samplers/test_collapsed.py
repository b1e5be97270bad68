"""The collapsed sampler, against the model written out densely and against NUTS."""

import tracemalloc
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import FitError, ModelError, NotEnoughMemoryError, SamplerWarning
from bayesbias.models import sampling
from bayesbias.models.coordinates import bytes_of_draws
from bayesbias.models.data import ModelData, attribute_lists, model_data
from bayesbias.models.numerics.contrast_estimate import AttributePatterns, find_patterns
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.samplers import collapsed
from bayesbias.models.samplers import collapsed as connection_means
from bayesbias.models.samplers.collapsed import (
    collapse,
    connection_mean_posterior,
    draw_locations,
    log_marginal,
    propose,
    sample_collapsed,
    why_not_collapsed,
)
from tests.models import dense
from tests.models.agreement import worst_differences
from tests.models.tables import small, with_gaps

PRIOR = (1.0, 0.3)
CROSSED = ("crossed", "crossed_per_list")


def theta_parts(theta: np.ndarray, data: ModelData, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    tau, sigma, omega = np.exp(theta[:4]), np.exp(theta[4:8]), np.exp(theta[8:])
    lists = attribute_lists(data) if name == "crossed_per_list" else np.zeros(len(data.attribute_words), dtype=int)
    return tau, sigma, omega[lists]


def some_theta(name: str, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(-2.8, 0.4, 8 + (3 if name == "crossed_per_list" else 1))


def of_many_words(words: int, attributes: int) -> ModelData:
    """Return a table of so many protected and attribute words, the latter of four connections."""
    rng, connections = np.random.default_rng(1), ("associated", "different", "human", "neutral")
    protected, attribute = np.divmod(np.arange(words * attributes), attributes)
    spread = rng.normal(size=words)[protected] + rng.normal(size=attributes)[attribute]
    return ModelData(
        distance=0.8 + 0.05 * (spread + rng.normal(size=len(spread))),
        protected=protected,
        connection=attribute % len(connections),
        attribute=attribute,
        protected_words=np.array([f"p{number}" for number in range(words)]),
        protected_groups=np.array([f"g{number % 2}" for number in range(words)]),
        attribute_words=np.array([f"a{number}" for number in range(attributes)]),
        connections=connections,
        table_hash="",
    )


def test_the_memory_that_is_counted_is_that_of_the_draws_of_many_words() -> None:
    words, attributes, draws, spec = 2_400, 20, 200, bb.load_model("crossed")
    density = collapse(of_many_words(words, attributes), spec)
    tracemalloc.start()
    sample_collapsed(density, draws=draws, rng=np.random.default_rng(1))
    needed = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert needed / 2 < bytes_of_draws(spec, draws, words, 4, attributes) < 2 * needed


def test_points_in_blocks_have_the_density_of_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    density = collapse(with_gaps(1), bb.load_model("crossed"))
    theta = np.stack([some_theta("crossed", np.random.default_rng(seed)) for seed in range(7)])
    whole = density.log_density(theta)
    monkeypatch.setattr(collapsed, "_MOST_NUMBERS", 3 * len(density.patterns.mean))
    blocks, log_marginal = [], collapsed.log_marginal

    def counted(patterns: AttributePatterns, block: np.ndarray, *rest: float, **settings: Any) -> np.ndarray:
        blocks.append(len(block))
        return log_marginal(patterns, block, *rest, **settings)

    monkeypatch.setattr(collapsed, "log_marginal", counted)
    assert density.log_density(theta) == pytest.approx(whole, rel=1e-12)
    assert sum(blocks) == 7
    assert max(blocks) < 2 * 3


def test_patterns_that_do_not_fit_into_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data, spec = with_gaps(1), bb.load_model("crossed")
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 100)
    with pytest.raises(NotEnoughMemoryError, match="protected words"):
        collapse(data, spec)


@pytest.mark.parametrize("name", CROSSED)
def test_marginal_density_is_that_of_the_dense_normal(name: str) -> None:
    data, spec = with_gaps(1), bb.load_model(name)
    patterns = find_patterns(data, spec)
    rng = np.random.default_rng(0)
    theta = np.stack([some_theta(name, rng) for _ in range(5)])
    ours = log_marginal(patterns, theta, PRIOR[1])
    plain = [dense.log_density(data, *theta_parts(point, data, name), PRIOR) for point in theta]
    np.testing.assert_allclose(ours - plain, (ours - plain)[0], atol=1e-8, err_msg="equal up to one constant")


@pytest.mark.parametrize("name", CROSSED)
def test_locations_have_the_conditional_of_the_dense_normal(name: str) -> None:
    data, spec, draws = with_gaps(2), bb.load_model(name), 40_000
    theta = some_theta(name, np.random.default_rng(1))
    mu, m, b = draw_locations(
        find_patterns(data, spec), np.tile(theta, (draws, 1)), PRIOR[1], rng=np.random.default_rng(2)
    )
    drawn = np.hstack([mu, m, b])
    mean, covariance = dense.locations(data, *theta_parts(theta, data, name), PRIOR)
    sd = np.sqrt(np.diag(covariance))
    assert (np.abs(drawn.mean(axis=0) - mean) / sd).max() < 4.5 / np.sqrt(draws)
    np.testing.assert_allclose(
        np.cov(drawn.T) / np.outer(sd, sd), covariance / np.outer(sd, sd), atol=5.5 / np.sqrt(draws)
    )


def table_with_a_gap() -> pd.DataFrame:
    table = small(words=6, attributes=4, seed=5)
    return table[~((table["protected_word"] == "p1") & (table["connection"] == "human"))]


@pytest.mark.truth
@pytest.mark.slow
@pytest.mark.parametrize("name", CROSSED)
@pytest.mark.parametrize("gaps", [False, True])
def test_agrees_with_nuts_within_monte_carlo_error(name: str, gaps: bool) -> None:
    """In short: the dense normal above, and the ranks of `tests/validation/test_calibration.py`."""
    table = table_with_a_gap() if gaps else small(words=6, attributes=4, seed=5)
    fast_fit = bb.fit(table, name, sampler="collapsed", draws=5000, random_seed=1)
    with warnings.catch_warnings(action="ignore"):
        nuts_fit = bb.fit(table, name, sampler="nuts", draws=5000, tune=1000, random_seed=2)
    worst = worst_differences(fast_fit, nuts_fit)
    assert worst["mean"] < 4
    assert worst["sd"] < 4.5


@pytest.mark.parametrize(
    ("model", "priors", "term"),
    [
        ("hierarchical", {}, "attribute_effects = 'none'"),
        ("multivariate_robust", {}, "pooling = 'regression'"),
        ("crossed", {"connection_mean": "StudentT(4, 1, 0.3)"}, r"connection_mean = StudentT\(nu=4"),
    ],
)
def test_a_model_that_is_not_crossed_and_normal_is_refused_and_the_term_named(
    model: str, priors: dict, term: str
) -> None:
    with pytest.raises(ModelError, match=term):
        bb.fit(small(), model, sampler="collapsed", priors=priors)


def test_every_model_has_the_sampler_that_fits_it() -> None:
    assert {name for name in bb.list_models() if why_not_collapsed(bb.load_model(name)) is None} == set(CROSSED)


def test_what_it_says_of_its_own_error_is_kept() -> None:
    fit = bb.fit(small(), "crossed", random_seed=1)
    stats = fit["sample_stats"].to_dataset()
    assert bb.models.fit_attribute(fit, "sampler") == "collapsed"
    assert float(stats["pareto_khat"]) < 0.7
    assert 0 < float(stats["importance_efficiency"]) <= 1
    again = bb.fit(small(), "crossed", random_seed=1)
    assert fit["posterior"].to_dataset().equals(again["posterior"].to_dataset())


def test_weights_that_cannot_be_trusted_lead_to_nuts_or_to_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collapsed, "KHAT_MAX", -10.0)
    with pytest.raises(FitError, match="Pareto k-hat"):
        bb.fit(small(), "crossed", sampler="collapsed")

    class NutsError(Exception):
        pass

    def nuts(*_: object) -> None:
        raise NutsError

    monkeypatch.setattr(sampling, "_nuts", nuts)
    with pytest.warns(SamplerWarning, match="NUTS"), pytest.raises(NutsError):
        bb.fit(small(), "crossed_per_list", random_seed=1)


def test_a_word_in_two_kinds_of_lists_has_no_one_scale() -> None:
    table = small()
    first = table["protected_word"] == "p0"
    table.loc[first & (table["attribute_word"] == "human0"), "attribute_word"] = "neutral0_"
    table.loc[~first & (table["attribute_word"] == "neutral0"), "attribute_word"] = "neutral0_"
    with pytest.raises(FitError, match="'neutral0_'"):
        bb.fit(table, "crossed_per_list")
    assert collapse(model_data(table), bb.load_model("crossed")).lists == 1


@pytest.mark.parametrize("name", ["crossed", "crossed_per_list"])
def test_moments_are_those_of_the_draws(name: str) -> None:
    reduced = collapse(model_data(small(10, 10, seed=1)), bb.load_model(name))
    weighted = connection_mean_posterior(reduced, draws=4000, rng=np.random.default_rng(1))
    assert weighted.khat < 0.7
    assert 0 < weighted.efficiency <= 1
    assert weighted.weights.sum() == pytest.approx(1)
    mean = weighted.weights @ weighted.mean
    spread = weighted.mean - mean
    covariance = (
        np.einsum("t,tgh->gh", weighted.weights, weighted.covariance) + (spread * weighted.weights[:, None]).T @ spread
    )
    drawn, error = sample_collapsed(reduced, draws=20_000, rng=np.random.default_rng(2))
    sd = np.sqrt(np.diag(covariance))
    effective = min(float(error["importance_ess"]), 20_000, weighted.efficiency * 4000)
    assert (np.abs(drawn["connection_mean"].mean(axis=0) - mean) / sd).max() < 5 / np.sqrt(effective)
    assert (np.abs(drawn["connection_mean"].std(axis=0) / sd - 1)).max() < 8 / np.sqrt(effective)


def test_each_normal_is_that_of_the_dense_model() -> None:
    data = with_gaps(2)
    reduced = collapse(data, bb.load_model("crossed"))
    proposal = propose(reduced)
    weighted = connection_mean_posterior(reduced, proposal, draws=200, rng=np.random.default_rng(3))
    for point, theta in enumerate(proposal.draw(200, np.random.default_rng(3))[:5]):
        tau, sigma, omega = np.exp(theta[:4]), np.exp(theta[4:8]), np.exp(theta[8:])
        attribute_sd = np.repeat(omega, len(data.attribute_words))
        mean, covariance = dense.locations(data, tau, sigma, attribute_sd, (1.0, 0.3))
        np.testing.assert_allclose(weighted.mean[point], 1.0 + mean[:4], atol=1e-8)
        np.testing.assert_allclose(weighted.covariance[point], covariance[:4, :4], atol=1e-10)


def test_a_singular_matrix_is_a_failed_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    def singular(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError

    reduced = collapse(with_gaps(2), bb.load_model("crossed"))
    monkeypatch.setattr(connection_means, "Reduced", singular)
    with pytest.raises(SamplerFailedError, match="scales"):
        connection_mean_posterior(reduced, draws=10, rng=np.random.default_rng(1))
    monkeypatch.setattr(collapsed, "fit_proposal", singular)
    with pytest.raises(SamplerFailedError, match="scales"):
        sample_collapsed(reduced, draws=10, rng=np.random.default_rng(1))
