"""Moments of the connection means given the covariances, against draws."""

from dataclasses import replace

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.posterior_draws import sample_list_means
from bayesbias.models.multivariate.refits import connection_moments
from tests import third_group
from tests.models.made_lists import list_sample

PRIORS = bb.load_model("multivariate").priors


@pytest.mark.parametrize("groups", [(3, 3), (2, 4, 3), (4,)])
def test_moments_are_those_of_the_draws(groups: tuple[int, ...]) -> None:
    sample, connections = list_sample(groups=groups)
    if len(groups) == 1:
        connections = tuple(name for name in connections if name != "different")
        assert sample.connection_weights.shape[1] == 3
        return
    moments = connection_moments(sample, connections, draws=4000, seed=1, priors=PRIORS)
    assert moments is not None
    mean, covariance = moments
    draws = sample_list_means(sample, connections, draws=8000, seed=2, priors=PRIORS).posterior["connection_mean"]
    for other in range(1, len(connections)):
        drawn = draws[:, 0] - draws[:, other]
        error = drawn.std() / np.sqrt(4000)
        assert abs(mean[0] - mean[other] - drawn.mean()) < 4 * error
        variance = covariance[:, 0, 0] + covariance[:, other, other] - 2 * covariance[:, 0, other]
        low, high = np.quantile(drawn, (0.055, 0.945))
        assert np.sqrt(variance.mean()) == pytest.approx(drawn.std(), rel=0.15)
        assert 1.2 < (high - low) / (2 * np.median(np.sqrt(variance))) < 2.2


def test_words_of_a_group_with_different_lists_have_no_such_moments() -> None:
    sample, connections = list_sample()
    patterns = sample.pattern_of.copy()
    patterns[0] = patterns.max() + 1
    other = replace(sample, pattern_of=patterns)
    assert connection_moments(other, connections, draws=500, seed=1, priors=PRIORS) is None


@pytest.mark.parametrize("third", ["none", "both"])
def test_moments_and_the_fit_average_over_the_same_groups(third: str) -> None:
    data, priors = model_data(third_group.table(third)), bb.load_model("multivariate").priors
    sample, settings = attribute_sample(data), {"draws": 2000, "seed": 1, "priors": priors}
    mean, covariance = connection_moments(sample, data.connections, **settings)
    drawn = sample_list_means(sample, data.connections, **settings).posterior["connection_mean"]
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - mean) < 4 * error).all()
    np.testing.assert_allclose(drawn.std(axis=0), np.sqrt(np.diag(covariance.mean(axis=0))), rtol=0.1)
