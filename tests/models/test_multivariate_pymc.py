"""The multivariate model as a PyMC model: its density against SciPy, and NUTS against the Gibbs sampler."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pytensor.compile.mode import Mode
from scipy import stats
from scipy.special import multigammaln

import bayesbias as bb
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.priors import parse_prior
from bayesbias.models.pymc_model import build_model
from bayesbias.models.samplers.multivariate import attribute_sample, sample_multivariate
from bayesbias.models.spec import ModelSpec
from bayesbias.models.word_effects import effects_basis
from tests.models.agreement import worst_differences
from tests.models.tables import small

# Without compiling, which takes longer than the few evaluations here.
PLAIN = Mode(linker="py", optimizer="fast_compile")


def model(likelihood: str = "normal") -> ModelSpec:
    spec = bb.load_model("multivariate")
    if likelihood == "normal":
        return spec
    priors = {**spec.priors, "nu": parse_prior("Gamma(2, 0.1)")}
    return replace(spec, switches={**spec.switches, "likelihood": likelihood}, priors=priors)


def simulated(*, missing: float = 0.0, seed: int = 1) -> pd.DataFrame:
    """Five protected words in two groups, 4 + 4 stereotypes and 10 neutral words that covary between words."""
    rng = np.random.default_rng(seed)
    words = 5
    member = np.eye(2)[np.arange(words) % 2]
    covariance = 0.04**2 + 0.02**2 * member @ member.T + 0.04**2 * np.eye(words)
    level = 0.9 + 0.03 * rng.standard_normal(words)
    rows = []
    for kind, count in (("x", 4), ("y", 4), ("neutral", 10)):
        for number in range(count):
            values = level + rng.multivariate_normal(np.zeros(words), covariance)
            for i in range(words):
                own = "xy"[i % 2] == kind
                connection = "neutral" if kind == "neutral" else "associated" if own else "different"
                shift = {"associated": -0.03, "different": 0.0, "neutral": 0.05}[connection]
                rows.append((f"p{i}", f"group {i % 2}", f"{kind}{number}", kind, connection, values[i] + shift))
    names = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection", "cosine_distance"]
    table = pd.DataFrame(rows, columns=names)
    return table[rng.random(len(table)) >= missing].reset_index(drop=True)


# --- the density ------------------------------------------------------------------------------------------


def some_point(pm_model: Any, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    point = {name: np.asarray(value, dtype=float) for name, value in pm_model.initial_point().items()}
    return {name: value + 0.2 * rng.standard_normal(value.shape) for name, value in point.items()}


def plain_log_density(data: ModelData, likelihood: str, point: dict[str, np.ndarray]) -> float:
    """The joint density of the model's variables, Sigma integrated out, with SciPy and whole matrices."""
    sample, basis = attribute_sample(data), effects_basis(data.connections)
    size, (n, words) = len(basis), sample.distances.shape
    value = {name.removesuffix("_log__"): np.exp(v) if name.endswith("_log__") else v for name, v in point.items()}
    found = stats.norm(1, 0.3).logpdf(value["connection_mean"]).sum()
    found += stats.norm.logpdf(value["effect_offset"]).sum()
    found += stats.invgamma(0.5, scale=100).logpdf(value["effect_scale"]).sum()
    found += stats.chi2(2 + size - 1 - np.arange(size)).logpdf(value["effect_root_square"]).sum()
    found += stats.norm.logpdf(value["effect_root_below"]).sum()
    for name in ("attribute_sd", "group_attribute_sd", "sigma"):
        found += stats.expon(scale=0.1).logpdf(value[name])
    found += stats.lognorm(1.5).logpdf(value["target_weight"])
    found += stats.lognorm(0.5).logpdf(value["list_scale"]).sum()
    root = np.diag(np.sqrt(value["effect_root_square"]))
    root[np.tril_indices(size, -1)] = value["effect_root_below"]
    root = np.diag(np.sqrt(value["effect_scale"] / 4)) @ root
    effects = np.linalg.solve(root.T, value["effect_offset"].T).T
    word_mean = value["connection_mean"] + effects @ basis.T
    member = np.eye(2)[sample.group_of]
    target = value["attribute_sd"] ** 2 * np.ones((words, words)) + value["sigma"] ** 2 * np.eye(words)
    target = target + value["group_attribute_sd"] ** 2 * member @ member.T
    weights = np.ones(n)
    if likelihood == "student_t":
        nu, weights = value["nu"], value["attribute_weight"]
        found += stats.gamma(2, scale=10).logpdf(nu)
        found += stats.gamma(nu / 2, scale=2 / nu).logpdf(weights).sum()
    distances = sample.distances.copy()
    distances[np.isnan(distances)] = value.get("missing_distance", np.zeros(0))
    spread = np.append(value["list_scale"], 1.0)[sample.list_kind[sample.list_of]] / np.sqrt(weights)
    expected = word_mean[np.arange(words), sample.list_connection[sample.list_of]]
    rest = (distances - expected) / spread[:, None]
    square = rest.T @ rest + 0.001**2 * (1 / spread**2).sum() * np.eye(words)
    strength = words * value["target_weight"]
    freedom, scale = words + 1 + strength, strength * target
    found += multigammaln((freedom + n) / 2, words) - multigammaln(freedom / 2, words)
    found += 0.5 * freedom * np.linalg.slogdet(scale)[1]
    found -= 0.5 * (freedom + n) * np.linalg.slogdet(scale + square)[1]
    return float(found - words * np.log(spread).sum())


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("likelihood", ["normal", "student_t"])
def test_the_density_is_that_of_the_model_with_the_covariance_integrated_out(missing: float, likelihood: str) -> None:
    data = model_data(simulated(missing=missing))
    built = build_model(data, model(likelihood))
    density = built.compile_logp(jacobian=False, mode=PLAIN)
    points = [some_point(built, seed) for seed in range(4)]
    ours = np.array([float(density(point)) for point in points])
    theirs = np.array([plain_log_density(data, likelihood, point) for point in points])
    np.testing.assert_allclose(ours - theirs, (ours - theirs)[0], atol=1e-7, err_msg="equal up to one constant")


def test_effects_have_huang_and_wands_prior() -> None:
    """Property 2 of Huang and Wand (2013): sds are half-t; property 4: with nu = 2, correlations are uniform."""
    import pymc as pm

    built = build_model(model_data(simulated()), model())
    sds, covariance = pm.draw([built["effect_sd"], built["word_covariance"]], draws=2000, random_seed=1, mode=PLAIN)
    inverse = np.linalg.inv(effects_basis(("associated", "different", "neutral")))
    between = inverse @ covariance @ inverse.T
    for k in range(3):
        assert stats.kstest(sds[:, k], lambda x: 2 * stats.t.cdf(x / 0.1, 2) - 1).pvalue > 1e-5
        np.testing.assert_allclose(np.sqrt(between[:, k, k]), sds[:, k], rtol=1e-6)
        for other in range(k):
            correlation = between[:, k, other] / (sds[:, k] * sds[:, other])
            assert stats.kstest(correlation, "uniform", args=(-1, 2)).pvalue > 1e-5


# --- the samplers -----------------------------------------------------------------------------------------

# What both give: the Gibbs sampler has the residual covariance besides, which NUTS has integrated out.
COMMON = (
    "connection_mean",
    "word_mean",
    "effect_sd",
    "word_sd",
    "word_covariance",
    "attribute_sd",
    "group_attribute_sd",
    "sigma",
    "target_weight",
    "list_scale",
    "nu",
    "attribute_weight",
)
# Heavy tails have no Monte Carlo error to count with: they are compared on the logarithm.
POSITIVE = ("effect_sd", "word_sd", "attribute_sd", "group_attribute_sd", "sigma", "target_weight", "list_scale", "nu")


def comparable(draws: dict[str, np.ndarray]) -> xr.DataTree:
    """Return draws without dims' names; variances and covariances as logarithms of sds and as correlations."""
    found = {}
    for name in COMMON:
        if name not in draws:
            continue
        values = draws[name]
        if name == "word_covariance":
            sd = np.sqrt(np.diagonal(values, axis1=-2, axis2=-1))
            values = (values / (sd[..., :, None] * sd[..., None, :]))[..., *np.tril_indices(sd.shape[-1], -1)]
        elif name in POSITIVE:
            values = np.log(values)
        dims = ("chain", "draw", *(f"{name}_{at}" for at in range(values.ndim - 2)))
        found[name] = (dims, values)
    return xr.DataTree(children={"posterior": xr.DataTree(xr.Dataset(found))})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "likelihood", "draws"),
    [
        (0.2, "student_t", 250),
        *[
            pytest.param(missing, likelihood, 3000, marks=pytest.mark.truth)
            for missing in (0.0, 0.2)
            for likelihood in ("normal", "student_t")
        ],
    ],
)
def test_agrees_with_nuts_within_monte_carlo_error(missing: float, likelihood: str, draws: int) -> None:
    import nutpie
    import pytensor

    data, spec = model_data(simulated(missing=missing)), model(likelihood)
    ours = sample_multivariate(attribute_sample(data), spec, draws=2 * draws, tune=1000, chains=4, seed=1, thin=4)
    with pytensor.config.change_flags(numba__fastmath=False), warnings.catch_warnings(action="ignore"):
        compiled = nutpie.compile_pymc_model(build_model(data, spec), freeze_model=False)
        nuts = nutpie.sample(
            compiled, draws=draws, tune=max(draws // 2, 500), chains=4, seed=2, progress_bar=False, target_accept=0.97
        )
    diverging = float(nuts["sample_stats"]["diverging"].mean())
    assert diverging < 0.005, "NUTS itself must be right"
    theirs = {name: values.to_numpy() for name, values in nuts["posterior"].to_dataset().items()}
    worst = worst_differences(comparable(ours), comparable({name: theirs[name] for name in ours if name in theirs}))
    assert worst["mean"] < 4.5, worst
    assert worst["sd"] < 4.5, worst


def test_no_other_table_reaches_the_model() -> None:
    """Distances are data of the model, so that refits with other distances need no new compiling."""
    data = model_data(small(missing=0.1))
    built = build_model(data, model())
    np.testing.assert_array_equal(built["distance"].get_value(), data.distance)
    assert sorted(v.name for v in built.free_RVs) == sorted(
        [
            "connection_mean", "effect_offset", "effect_scale", "effect_root_square", "effect_root_below",
            "attribute_sd", "group_attribute_sd", "sigma", "target_weight", "list_scale", "missing_distance",
        ]
    )  # fmt: skip
