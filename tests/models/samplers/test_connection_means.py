"""The posterior of the connection means without drawing locations, against draws of everything."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.samplers import collapsed, connection_means
from bayesbias.models.samplers.collapsed import collapse, propose, sample_collapsed
from bayesbias.models.samplers.connection_means import connection_mean_posterior
from tests.models import dense
from tests.models.tables import small, with_gaps


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
