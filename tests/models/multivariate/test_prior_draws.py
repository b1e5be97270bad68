"""Draws of means, covariances and vectors of the multivariate model from its priors."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.models.data import ModelData
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.prior_draws import (
    draw_covariances,
    draw_means_and_covariances,
    draw_vectors,
    root_of,
    row_sds,
)
from tests.models.made_lists import list_data

PARAMETERS = {
    "connection_mean": np.array([0.8, 0.9, 1.0]),
    "effect_sd": np.array([0.05, 0.02, 0.03]),
    "attribute_sd": np.array([0.06, 0.03]),
    "group_attribute_sd": np.array([0.02, 0.01]),
    "target_weight": np.array([40.0, 30.0]),
    "residual_weight": np.array(6.0),
    "slope_sd": np.array(0.0),
    "sigma": np.array(0.05),
    "list_scale": np.array([1.5]),
}


def repeated(draws: int) -> dict[str, np.ndarray]:
    """Return the same parameters for so many draws."""
    return {name: np.repeat(values[None], draws, axis=0) for name, values in PARAMETERS.items()}


@pytest.fixture(scope="module")
def data() -> ModelData:
    return list_data()


def test_a_root_of_a_singular_matrix() -> None:
    rng = np.random.default_rng(1)
    factor = rng.standard_normal((5, 2))
    root = root_of(factor @ factor.T)
    np.testing.assert_allclose(root @ root.T, factor @ factor.T, atol=1e-12)


def test_covariances_have_the_means_of_inverse_wishart_matrices(data: ModelData) -> None:
    """Without slopes the parts inside and between groups are independent; E(IW(freedom, S)) = S / (freedom - p - 1)."""
    sample = attribute_sample(data)
    rng = np.random.default_rng(2)
    drawn = draw_covariances(sample, repeated(2000), rng)
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    np.testing.assert_allclose(drawn, np.swapaxes(drawn, -1, -2), atol=1e-12)
    assert np.linalg.eigvalsh(drawn[::100]).min() > 0
    group_of = np.unique(data.protected_groups, return_inverse=True)[1]
    same = (group_of[:, None] == group_of).astype(float)
    within = np.eye(6) - same / 3  # the projection on differences of words of a group
    for place, kind in enumerate(sample.list_kind):
        sd, group_sd = PARAMETERS["attribute_sd"][kind], PARAMETERS["group_attribute_sd"][kind]
        weight, scale = PARAMETERS["target_weight"][kind], [1.5, 1.0][kind]
        between = (sd**2 + group_sd**2 * same) * weight / (weight + 2 + 1 - 2 - 1)
        strength = 6 * 6.0
        inside = scale**2 * 0.05**2 * within * strength / (strength + 4 + 1 - 4 - 1)
        assert (np.abs(drawn[:, place].mean(axis=0) - between - inside) < 5 * error[place]).all(), place


def test_lists_with_the_same_connection_have_the_same_mean(data: ModelData) -> None:
    rng = np.random.default_rng(3)
    sample = attribute_sample(data)
    drawn = draw_means_and_covariances(data, repeated(3000), rng=rng)
    means = drawn["word_mean"]
    error = means.std(axis=0) / np.sqrt(len(means))
    assert (np.abs(means.mean(axis=0) - PARAMETERS["connection_mean"]) < 4.5 * error).all()
    ratio = means.var(axis=0).mean(axis=0) / (drawn["word_sd"] ** 2).mean(axis=0)
    assert np.abs(ratio - 1).max() < 0.1
    lists = {name: place for place, name in enumerate(sample.lists)}
    neutral = next(place for name, place in lists.items() if sample.list_kind[place] == sample.list_kind.max())
    np.testing.assert_allclose(drawn["list_mean"][:, neutral], means[:, :, 2])


@pytest.mark.parametrize("model", ["multivariate", "multivariate_robust"])
def test_vectors_have_the_covariance_of_their_list(data: ModelData, model: str) -> None:
    """A Student t vector with nu degrees of freedom has nu / (nu - 2) times the covariance."""
    rng = np.random.default_rng(4)
    sample, nu = attribute_sample(data), 8.0
    covariance = draw_covariances(sample, repeated(1), rng)[0]
    parameters = {"residual_covariance": covariance, "nu": np.array(nu)}
    spec = bb.load_model(model)
    drawn = np.stack([draw_vectors(data, spec, parameters, rng=rng) for _ in range(4000)])
    factor = nu / (nu - 2) if model.endswith("robust") else 1.0
    sds = row_sds(data, covariance)
    np.testing.assert_allclose(drawn.std(axis=0), sds * np.sqrt(factor), rtol=0.1)
    first = np.flatnonzero(data.attribute == 0)
    expected = covariance[sample.list_of[0]] * factor
    order = data.protected[first]
    np.testing.assert_allclose(np.cov(drawn[:, first].T), expected[np.ix_(order, order)], atol=0.08 * expected.max())
    other = np.flatnonzero(data.attribute == 1)
    correlations = np.corrcoef(drawn[:, first].T, drawn[:, other].T)[: len(first), len(first) :]
    assert np.abs(correlations).max() < 0.08, "attribute words are independent"
