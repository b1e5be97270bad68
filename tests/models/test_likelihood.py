"""Log densities against SciPy's, and importance weights against ArviZ's."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.models.densities import densities
from bayesbias.models.likelihood import Densities, psis_loo
from tests.models.tables import crossed_table


@pytest.fixture(scope="module")
def small() -> pd.DataFrame:
    return crossed_table(0.06)


@pytest.mark.parametrize("rows", [1, 2, 5, 15])
def test_student_integral_is_scipys(rows: int) -> None:
    rng = np.random.default_rng(rows)
    data = model_data(crossed_table(0.05, words=rows, attributes=2, seed=rows))
    connections, draws = len(data.connections), 6
    sigma = rng.uniform(0.02, 0.1, (connections, draws))
    omega, nu = rng.uniform(0.02, 0.2, draws), np.array([1.5, 2.5, 4, 6, 20, 100])
    mean = rng.normal(0.85, 0.1, (rows, connections, draws))
    sd = np.broadcast_to(omega, (len(data.attribute_words), draws))
    computed = Densities(data, mean, sigma, attribute_sd=sd, nu=nu).of_words(0, len(data.attribute_words))
    for word, draw in ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)):
        mine = data.attribute == word
        word_mean = mean[data.protected[mine], data.connection[mine], draw]
        scale = sigma[data.connection[mine], draw]
        student = stats.t(nu[draw], word_mean, scale)

        b = np.linspace(-10 * omega[draw], 10 * omega[draw], 20_001)
        joint = np.exp(student.logpdf(data.distance[mine] - b[:, None]).sum(axis=1)) * stats.norm.pdf(b, 0, omega[draw])
        exact = integrate.simpson(joint, x=b)
        assert computed[word, draw] == pytest.approx(np.log(exact), abs=0.01)


def test_student_rows_are_scipys(small: pd.DataFrame) -> None:
    data = model_data(small)
    nu = np.array([3.0, 8.0])
    mean = np.full((5, 4, 2), 0.8)
    computed = Densities(data, mean, np.full((4, 2), 0.05), nu=nu)
    expected = stats.t(nu, 0.8, 0.05).logpdf(data.distance[:, None])
    np.testing.assert_allclose(computed.of_rows(np.arange(len(small))), expected)
    words = pd.DataFrame(expected).groupby(data.attribute).sum().to_numpy()
    np.testing.assert_allclose(computed.of_words(0, len(words)), words)


@pytest.mark.parametrize("draws", [100, 4000])
@pytest.mark.parametrize("efficiency", [1.0, 0.6])
def test_psis_is_arvizs(draws: int, efficiency: float) -> None:
    from arviz_stats.base.array import array_stats

    rng = np.random.default_rng(2)
    spread = rng.uniform(0.1, 2, (60, 1))
    log_density = -spread * rng.standard_normal((60, draws)) ** 2 + spread * rng.standard_normal((60, draws))
    elpd, khat = psis_loo(log_density, relative_efficiency=efficiency)
    theirs = array_stats.loo(log_density, chain_axis=None, r_eff=efficiency)
    np.testing.assert_allclose(elpd, theirs[0], rtol=1e-9)
    np.testing.assert_allclose(khat, theirs[1], atol=1e-9)


def test_duplicates_that_were_kept(small: pd.DataFrame) -> None:
    data = model_data(small)
    twice = replace(
        data,
        **{name: np.tile(getattr(data, name), 2) for name in ("distance", "protected", "connection", "attribute")},
    )
    fitted = bb.fit(small, "hierarchical", draws=10, random_seed=1)
    once, both = (densities(fitted, rows).of_words(0, 24) for rows in (data, twice))
    np.testing.assert_allclose(both, 2 * once)
