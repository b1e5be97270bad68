"""The multivariate model as a PyMC model: its density against the closed form, and NUTS against its own sampler."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pytensor.compile.mode import Mode
from scipy.special import multigammaln

import bayesbias as bb
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.marginal_likelihood import (
    LEAN,
    REGRESSION,
    blocks_of,
    completed_distances,
    coordinates_of,
    lean_points,
    lean_posterior,
    list_statistics,
    regression_posterior,
)
from bayesbias.models.multivariate.prior_draws import draw_covariances, word_axes
from bayesbias.models.multivariate.pymc_density import _OF_RESIDUALS, _JointDensity, fitted_contrasts
from bayesbias.models.priors import parse_prior
from bayesbias.models.pymc_form import build_model
from bayesbias.models.spec import ModelSpec
from tests.models.agreement import worst_differences
from tests.models.dependent_words import forms, tables_of
from tests.models.made_lists import list_data
from tests.models.multivariate.test_prior_draws import PARAMETERS
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
                is_associated = "xy"[i % 2] == kind
                connection = "neutral" if kind == "neutral" else "associated" if is_associated else "different"
                shift = {"associated": -0.03, "different": 0.0, "neutral": 0.05}[connection]
                rows.append((f"p{i}", f"group {i % 2}", f"{kind}{number}", kind, connection, values[i] + shift))
    names = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection", "cosine_distance"]
    table = pd.DataFrame(rows, columns=names)
    return table[rng.random(len(table)) >= missing].reset_index(drop=True)


# --- the density ------------------------------------------------------------------------------------------


def some_points(pm_model: Any, count: int) -> list[dict[str, np.ndarray]]:
    """Return points that differ in means, coefficients and hyperparameters; weights and lost pairs are the same."""
    rng = np.random.default_rng(1)
    start = {name: np.asarray(value, dtype=float) for name, value in pm_model.initial_point().items()}
    fixed = {"attribute_weight_log__", "nu_log__", "missing_distance"} & set(start)
    start |= {name: start[name] + 0.1 * rng.standard_normal(start[name].shape) for name in sorted(fixed)}
    return [
        start
        | {
            name: value + (0.02 if value.ndim == 2 else 0.3) * rng.standard_normal(value.shape)
            for name, value in start.items()
            if name not in fixed
        }
        for _ in range(count)
    ]


def values_at(pm_model: Any, point: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the values of variables at a point of their transforms."""
    values = {}
    for name, value in point.items():
        if name.endswith("_standardised__"):
            variable = name.removesuffix("_standardised__")
            axes = pm_model.rvs_to_transforms[pm_model[variable]]
            values[variable] = axes.centre + axes.rows @ value @ axes.columns.T
        else:
            values[name.removesuffix("_log__")] = np.exp(value) if name.endswith("_log__") else value
    return values


def wide_log_prior(value: dict[str, np.ndarray]) -> float:
    """The log density of the priors that replace flat ones, Normal(1, 1) or Normal(0, 1), up to a constant."""
    lost = value.get("missing_distance", np.ones(1))
    squares = (
        ((lost - 1) ** 2).sum() + ((value["list_group_mean"] - 1) ** 2).sum() + (value["regression"][0] ** 2).sum()
    )
    return -0.5 * float(squares)


def closed_log_density(data: ModelData, spec: ModelSpec, value: dict[str, np.ndarray]) -> float:
    """log p(hyperparameters, data) in closed form, plus log p(means, coefficients | hyperparameters, data)."""
    sample = attribute_sample(data)
    words = sample.distances.shape[1]
    axes = coordinates_of(np.zeros((words, words)), sample.pattern_of, sample.covariates)
    distances = sample.distances.copy()
    distances[np.isnan(distances)] = value.get("missing_distance", np.zeros(0))
    weights = value.get("attribute_weight", np.ones(len(distances)))
    table = list_statistics(sample, distances[None], weights[None], axes)
    blocks, log_density = blocks_of(sample, spec.priors, axes), 0.0
    points = lean_points({name: values[None] for name, values in value.items() if name in LEAN}, axes)
    points.append(np.log([[*[float(value[name]) for name in REGRESSION], *value.get("list_scale", [])]]))
    for block, point in zip(blocks, points, strict=True):
        # Of the hyperparameters, not of their logarithms.
        log_density += float(block.log_density(point, stats=table)[0] - point.sum())
    for place, kind in enumerate(sample.list_kind):
        posterior = lean_posterior(points[kind], place, table, axes)
        deviation = value["list_group_mean"][place] * np.sqrt(axes.spreads) - table.centre[0, place]
        square = table.weight[0, place] * np.outer(deviation, deviation)
        log_density += matrix_t(square, posterior.scale[0], float(posterior.freedom[0]), 1)
    regression = regression_posterior(points[-1], table, axes)
    # The origin of x is that of the table which was completed by its averages: the intercept moves with it.
    theta, first = value["regression"].copy(), completed_origin(data)
    theta[0] += (table.origin[0] - first) @ theta[1 + len(sample.lists) :]
    deviation = theta - regression.mean[0]
    square = deviation.T @ regression.matrix[0] @ deviation
    log_density += matrix_t(square, regression.residual.scale[0], float(regression.residual.freedom[0]), len(theta))
    return log_density + 0.5 * axes.contrasts * float(np.linalg.slogdet(regression.matrix[0])[1])


def completed_origin(data: ModelData) -> np.ndarray:
    sample = attribute_sample(data)
    words = sample.distances.shape[1]
    axes = coordinates_of(np.zeros((words, words)), sample.pattern_of, sample.covariates)
    completed = completed_distances(sample)
    return list_statistics(sample, completed[None], np.ones((1, len(completed))), axes).origin[0]


def matrix_t(square: np.ndarray, scale: np.ndarray, freedom: float, rows: int) -> float:
    """The log density of rows around their mean, whose covariance is inverse-Wishart, up to their own scale."""
    size = len(scale)
    log_density = multigammaln((freedom + rows) / 2, size) - multigammaln(freedom / 2, size)
    log_density += 0.5 * freedom * np.linalg.slogdet(scale)[1]
    return float(log_density - 0.5 * (freedom + rows) * np.linalg.slogdet(scale + square)[1])


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("likelihood", ["normal", "student_t"])
def test_the_density_is_that_of_the_closed_form(missing: float, likelihood: str) -> None:
    compare_with_closed_form(model_data(simulated(missing=missing)), model(likelihood))


def compare_with_closed_form(data: ModelData, spec: ModelSpec) -> None:
    built = build_model(data, spec)
    density = built.compile_logp(jacobian=False, mode=PLAIN)
    points = some_points(built, 4)
    ours = np.array([float(density(point)) for point in points])
    values = [values_at(built, point) for point in points]
    theirs = np.array([closed_log_density(data, spec, value) + wide_log_prior(value) for value in values])
    np.testing.assert_allclose(ours - (ours - theirs)[0], theirs, rtol=1e-9, err_msg="equal up to one constant")


def dependent_words() -> ModelData:
    """Three clusters of three attribute words a list: each list is worth less than its words."""
    rng = np.random.default_rng(4)
    table = tables_of(forms(6, 3, rng, others=0.3), forms(6, 1, rng), rng)["1900"]
    data = model_data(table[table["connection"].isin(["associated", "different"])].reset_index(drop=True))
    assert (attribute_sample(data).list_worths < 8).all()
    return data


def rated_words() -> ModelData:
    data = model_data(simulated())
    return replace(data, covariates=np.array([[0.1], [0.4], [0.2], [0.9], [0.6]]), covariate_names=("share",))


def words_with_two_numbers() -> ModelData:
    data = rated_words()
    values = np.column_stack([data.covariates, [3.0, 1.0, 2.0, 2.0, 5.0]])
    return replace(data, covariates=values, covariate_names=("share", "prestige"))


@pytest.mark.parametrize("made", [dependent_words, rated_words, words_with_two_numbers])
@pytest.mark.parametrize("likelihood", ["normal", "student_t"])
def test_the_density_of_dependent_words_and_of_covariates_is_that_of_the_closed_form(
    made: Callable[[], ModelData], likelihood: str
) -> None:
    compare_with_closed_form(made(), model(likelihood))


def test_draws_of_pymc_are_those_of_the_models_own_simulation() -> None:
    """Half the products of differences of two words of a list estimate its covariance; `draw_covariances` draws it."""
    data, rng = list_data(), np.random.default_rng(3)
    sample = attribute_sample(data)
    density = _JointDensity(data, sample)
    hyper = {**PARAMETERS, "list_effect": np.array(0.3), "slope_sd": np.array(0.4)}
    names = (*(name for name in hyper if name not in ("connection_mean", "effect_sd")), "list_group_mean", "regression")
    first = np.array([np.flatnonzero(sample.list_of == place)[:2] for place in range(len(sample.lists))])
    centre, every = np.ones((len(sample.lists), density.axes.free)), np.arange(len(sample.lists))
    xi = centre * np.sqrt(density.axes.spreads)
    products, residuals, squares = [], [], []
    for _ in range(4000):
        coefficients = density.draw_coefficients(None, *(hyper[name] for name in _OF_RESIDUALS), rng=rng)
        squares.append(coefficients[1:] ** 2)
        given = hyper | {"list_group_mean": centre, "regression": coefficients}
        distances = np.zeros(sample.distances.shape)
        drawn = density.draw_distances(names, None, *(given[name] for name in names), rng=rng)
        distances[data.attribute, data.protected] = drawn
        difference = distances[first[:, 0]] - distances[first[:, 1]]
        products.append(0.5 * difference[:, :, None] * difference[:, None, :])
        within = fitted_contrasts(coefficients, every, xi - density.origin) @ density.axes.within.T
        residuals.append((distances - (xi @ density.axes.between.T + within)[sample.list_of]).mean(axis=1))
    covariances = draw_covariances(
        sample, {name: np.repeat(values[None], 4000, axis=0) for name, values in hyper.items()}, rng
    )
    errors = [np.var(draws, axis=0) / len(draws) for draws in (products, covariances, residuals, squares)]
    # The mean of E is that of its scale over its weight; eta has the variance kappa E, B has beta^2 / (sigma^2 J) E.
    words, lists = len(data.protected_words), len(sample.lists)
    variances = np.repeat([0.3 * 0.05**2, 0.4**2 / words], [lists, density.axes.free])
    assert (abs(np.mean(squares, axis=0) - variances[:, None]) < 4.5 * np.sqrt(errors[3])).all()
    assert (abs(np.mean(products, axis=0) - np.mean(covariances, axis=0)) < 4.5 * np.sqrt(errors[0] + errors[1])).all()
    assert (abs(np.mean(residuals, axis=0)) < 4.5 * np.sqrt(errors[2])).all()


# --- the samplers -----------------------------------------------------------------------------------------

# What both give: their own sampler has the covariances besides, which NUTS has integrated out.
POSITIVE = (
    *("word_sd", "effect_sd", "attribute_sd", "group_attribute_sd", "target_weight"),
    *("sigma", "residual_weight", "list_effect", "slope_sd", "list_scale", "nu"),
)
COMMON = ("connection_mean", "word_mean", "list_mean", *POSITIVE, "attribute_weight")


def comparable(fit: xr.DataTree) -> xr.DataTree:
    """Return the draws of a fit without dims' names, those of positive parameters as logarithms."""
    variables = {}
    for name in COMMON:
        if name in fit["posterior"]:
            values = fit["posterior"][name].to_numpy()
            values = np.log(values) if name in POSITIVE else values
            variables[name] = (("chain", "draw", *(f"{name}_{axis}" for axis in range(values.ndim - 2))), values)
    return xr.DataTree(children={"posterior": xr.DataTree(xr.Dataset(variables))})


@pytest.mark.truth
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("likelihood", ["normal", "student_t"])
def test_agrees_with_nuts_within_monte_carlo_error(missing: float, likelihood: str) -> None:
    table, spec = simulated(missing=missing), model(likelihood)
    settings: dict[str, Any] = {"draws": 3000, "tune": 1500, "progress": False}
    with warnings.catch_warnings(action="ignore"):
        ours = bb.fit(table, spec, random_seed=1, **settings)
        nuts = bb.fit(table, spec, sampler="nuts", random_seed=2, **settings)
    assert float(nuts["sample_stats"]["diverging"].mean()) < 0.01, "NUTS itself must be right"
    worst = worst_differences(comparable(ours), comparable(nuts))
    assert worst["mean"] < 4.5, worst
    assert worst["sd"] < 4.5, worst


def test_no_other_table_reaches_the_model() -> None:
    """Distances are data of the model, so that refits with other distances need no new compiling."""
    data = model_data(small(missing=0.1))
    built = build_model(data, model())
    np.testing.assert_array_equal(built["distance"].get_value(), data.distance)
    lists = ["list_group_mean", "regression", "missing_distance"]
    assert {v.name for v in built.free_RVs} == {*bb.load_model("multivariate").priors, *lists} - {"effect_sd"}


def test_every_array_has_labels() -> None:
    data = rated_words()
    built = build_model(data, model("student_t"))
    unnamed = {v.name for v in built.unobserved_RVs if v.ndim and v.name not in built.named_vars_to_dims}
    assert not unnamed
    assert list(built.coords["protected_axis"]) == ["group 0", "group 1", "share"]
    assert list(built.coords["regression_term"])[-3:] == ["slope on group 0", "slope on group 1", "slope on share"]
    between = word_axes(attribute_sample(data)).between
    first_group = data.protected_groups == "group 0"
    assert (between[first_group, 0] > 0).all()
    assert not between[~first_group, 0].any()


def test_lost_pairs_have_the_names_of_their_words() -> None:
    data = model_data(small(missing=0.1))
    table = pd.DataFrame({"protected": data.protected_words[data.protected]})
    table["attribute"] = data.attribute_words[data.attribute]
    kept = set(table["protected"] + " | " + table["attribute"])
    lost = build_model(data, model()).coords["lost_pair"]
    assert lost is not None
    assert len(lost) + len(kept) == len(data.protected_words) * len(data.attribute_words)
    assert not kept & set(lost)
