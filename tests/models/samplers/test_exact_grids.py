"""Tables on which a grid is easily put in the wrong place, against brute-force sums with a marginal of their own."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.models.data import ModelData
from bayesbias.models.samplers.exact import cell_statistics, sample_exact
from tests.models.made import made

LOG_TAU = np.linspace(-38, 2.5, 4051)


def log_joint(data: ModelData, g: int, tau: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Density of the distances of a connection, times the prior of log tau, by the matrix determinant lemma."""
    cells = cell_statistics(data)
    has = cells.count[:, g] > 0
    n, r = cells.count[has, g], cells.mean[has, g] - 1.0
    (rows_each,) = np.unique(n)  # every word of a made connection has as many rows
    w = 1 / (tau**2 + sigma**2 / rows_each)
    one, two, three = len(n) * w, w * r.sum(), w * (r * r).sum()
    value = 0.5 * len(n) * np.log(w) - (n.sum() - len(n)) * np.log(sigma) - cells.within[g] / (2 * sigma**2)
    value += -0.5 * np.log1p(0.09 * one) - 0.5 * three + 0.5 * two**2 / (1 / 0.09 + one)
    return np.asarray(value + np.log(tau) - 2 * tau)


@pytest.mark.parametrize(("words", "rows"), [(300, 1), (300, 2), (1000, 3)])
def test_many_words_with_few_rows(words: int, rows: int) -> None:
    """The posterior of the two scales is then a thin ridge, which for one row a word bends by a right angle."""
    data = made([words], [rows], [0.02], [0.1], seed=words)
    a = np.linspace(-14, 0, 1401)
    s = np.linspace(-14, 0, 3501)  # four steps an sd where there are most rows
    values = np.array([log_joint(data, 0, np.full(len(s), np.exp(one)), np.exp(s)) + s - 2 * np.exp(s) for one in a])
    weight = np.exp(values - values.max())
    weight /= weight.sum()
    drawn, _ = sample_exact(data, bb.load_model("hierarchical"), draws=8000, rng=np.random.default_rng(1))
    for grid, axis, name in ((a, 1, "word_sd"), (s, 0, "sigma")):
        along = weight.sum(axis=axis)
        mean = along @ grid
        sd = np.sqrt(along @ np.square(grid - mean))
        log_draws = np.log(drawn[name][:, 0])
        kurtosis = along @ ((grid - mean) / sd) ** 4
        assert abs(log_draws.mean() - mean) < 4.5 * sd / np.sqrt(8000), name
        assert abs(log_draws.std() / sd - 1) < 5 * np.sqrt((kurtosis - 1) / 4 / 8000), name


@pytest.mark.parametrize(
    "prior",
    [
        "Gamma(0.3, 1)",
        "Exponential(0.1)",
        "HalfStudentT(3, 0.5)",
        "HalfStudentT(1, 0.5)",
        "LogNormal(-2, 1.5)",
        "InverseGamma(1, 0.05)",
    ],
)
def test_priors_with_long_tails_are_followed(prior: str, table) -> None:
    """With one protected word only the prior determines `word_sd`, apart from one shared mean."""
    one = table[table["protected_word"] == "math"]
    fit = bb.fit(one, "hierarchical", priors={"word_sd": prior}, random_seed=1, draws=5000)
    assert bb.models.fit_attribute(fit, "sampler") == "exact"
    assert bb.models.fit_attribute(fit, "convergence_problems") == []
    spec = bb.load_model("hierarchical", priors={"word_sd": prior})
    prior = spec.priors["word_sd"]
    drawn = np.log(fit["posterior"]["word_sd"].sel(connection="neutral").to_numpy().ravel())
    # The density by quadrature: the word's mean has the prior of the group mean, made wider by word_sd.
    rows = one[one["connection"] == "neutral"]["cosine_distance"].to_numpy()
    log_tau = np.linspace(-120, 60, 40_001)
    tau = np.exp(log_tau)
    variance = 0.09 + tau**2 + rows.var() / len(rows)
    log = prior.log_density(tau) + log_tau - 0.5 * np.log(variance) - 0.5 * (rows.mean() - 1) ** 2 / variance
    cumulative = np.cumsum(np.exp(log - log.max()))
    cumulative /= cumulative[-1]
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        below = (drawn < np.interp(share, cumulative, log_tau)).mean()
        assert abs(below - share) < 4.5 * np.sqrt(share * (1 - share) / len(drawn))
