"""Blocks of hyperparameters: Metropolis steps, completed tables, and the priors in their densities."""

from dataclasses import replace

import numpy as np
from scipy import stats

import bayesbias as bb
from bayesbias.models.multivariate.list_blocks import (
    LEAN,
    REGRESSION,
    blocks_of,
    completed_distances,
    metropolis,
    metropolis_root,
)
from bayesbias.models.multivariate.list_model import coordinates_of, list_statistics
from tests.models.made_lists import list_sample


def test_metropolis_steps_keep_a_normal_distribution_and_reach_it() -> None:
    rng = np.random.default_rng(1)
    covariance = np.array([[1.0, 0.6], [0.6, 2.0]])
    exact = stats.multivariate_normal([1.0, -1.0], covariance)
    step = metropolis_root(exact.rvs(5000, random_state=rng))
    np.testing.assert_allclose(step @ step.T, 2.4**2 / 2 * covariance, rtol=0.1)
    points = metropolis(np.full((8000, 2), 3.0), exact.logpdf, step, rng, steps=60)
    assert np.abs(points.mean(axis=0) - [1.0, -1.0]).max() < 4.5 * np.sqrt(2 / 8000)
    np.testing.assert_allclose(np.cov(points.T), covariance, atol=0.12)


def test_lost_distances_of_an_additive_table_are_completed() -> None:
    """Distances that are sums of effects of list and word, and of the attribute word, are known without their pair."""
    sample, _ = list_sample()
    rng = np.random.default_rng(2)
    words, attributes = sample.distances.shape[1], sample.distances.shape[0]
    additive = rng.normal(size=(len(sample.lists), words))[sample.list_of] + rng.normal(size=(attributes, 1))
    lost = additive.copy()
    lost[[0, 5, 9], [1, 2, 0]] = np.nan
    completed = completed_distances(replace(sample, distances=lost))
    np.testing.assert_allclose(completed, additive, atol=0.01)
    assert (completed_distances(replace(sample, distances=additive)) == additive).all()


def test_blocks_are_those_of_the_kinds_of_lists_and_of_the_words() -> None:
    sample, _ = list_sample()
    axes = coordinates_of(sample.distances, sample.pattern_of)
    blocks = blocks_of(sample, bb.load_model("multivariate").priors, axes)
    assert [block.names for block in blocks] == [LEAN, LEAN, (*REGRESSION, "list_scale")]
    single, _ = list_sample(groups=(4,), controls=0)
    axes = coordinates_of(np.eye(4), single.pattern_of)
    (lean, *_) = blocks_of(single, bb.load_model("multivariate").priors, axes)
    assert "group_attribute_sd" not in lean.names, "one group has no spread of groups"


def test_what_is_too_far_away_has_no_density() -> None:
    sample, _ = list_sample()
    axes = coordinates_of(sample.distances, sample.pattern_of)
    stats_of_table = list_statistics(sample, sample.distances[None], np.ones((1, len(sample.distances))), axes)
    for block in blocks_of(sample, bb.load_model("multivariate").priors, axes):
        near, far = np.full((1, len(block.names)), -2.0), np.full((1, len(block.names)), -2.0)
        far[0, 0] = 15.0
        assert block.log_density(near, stats_of_table)[0] > -1e5
        assert block.log_density(far, stats_of_table)[0] == -1e6
