"""Regressions: against least squares, closed forms written out here, SciPy's densities, and PyMC's NUTS."""

import numpy as np
import pytest
import xarray as xr
from scipy import special, stats

from bayesbias.cosine_regressions.designs import (
    InnerProductDesign,
    binary_design,
    bivariate_design,
    overlapping_design,
)
from bayesbias.cosine_regressions.linear_model import (
    PRIORS,
    LinearPrior,
    WordEffects,
    _Conjugate,
    distortion_slopes,
    find_prior,
    global_shares,
    linear_draws,
    regression_draws,
)
from bayesbias.errors import ArgumentError, MeasureError, ModelError
from tests.cosine_regressions.test_designs import ROWS, SIDE, least_squares, made


def line(rows: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(rows), rng.normal(size=(rows, 2))])
    return x, x @ [0.1, 0.05, -0.02] + rng.normal(0, 0.05, rows)


def design() -> InnerProductDesign:
    return binary_design(*made(2, ROWS, 5), SIDE)


def test_flat_prior_gives_the_t_distributions_of_least_squares() -> None:
    x, y = line()
    drawn = linear_draws(y, x, prior="flat", draws=20_000, rng=np.random.default_rng(1))
    estimate = least_squares(x, y)
    df = len(y) - x.shape[1]
    error = np.sqrt(((y - x @ estimate) ** 2).sum() / df * np.diag(np.linalg.inv(x.T @ x)))
    for column in range(x.shape[1]):
        assert (
            stats.kstest((drawn.coefficients[:, column] - estimate[column]) / error[column], stats.t(df).cdf).pvalue
            > 0.001
        )
    scaled = ((y - x @ estimate) ** 2).sum() / drawn.sigma**2
    assert stats.kstest(scaled, stats.chi2(df).cdf).pvalue > 0.001


def test_conjugate_prior_gives_the_textbook_posterior() -> None:
    """Mean and scale of the multivariate t, by the normal equations."""
    x, y = line()
    prior = LinearPrior(coefficient_sd=2.0, sigma=0.1, rows=3.0)
    drawn = linear_draws(y, x, prior=prior, draws=20_000, rng=np.random.default_rng(2))
    precision = x.T @ x + np.eye(3) / 4
    mean = np.linalg.solve(precision, x.T @ y)
    df = 3 + len(y)
    square = (3 * 0.1**2 + y @ y - mean @ precision @ mean) / df
    error = np.sqrt(square * np.diag(np.linalg.inv(precision)))
    for column in range(3):
        assert (
            stats.kstest((drawn.coefficients[:, column] - mean[column]) / error[column], stats.t(df).cdf).pvalue > 0.001
        )
    assert stats.kstest(df * square / drawn.sigma**2, stats.chi2(df).cdf).pvalue > 0.001


def test_density_of_word_effects_is_that_of_scipys_multivariate_t() -> None:
    """Marginally y is multivariate t: rows prior, location 0, shape s^2 (V + k^2 X X')."""
    x, y = line()
    prior = LinearPrior(coefficient_sd=2.0, sigma=0.1, rows=3.0)
    words, by = np.arange(len(y)) % 7, np.linspace(-1, 1, len(y))
    model = _Conjugate(y, x, [WordEffects(words), WordEffects(words // 2, by)], prior)
    points = np.log([[0.5, 1.5], [2.0, 0.2], [0.01, 0.01]])
    expected = []
    for first, second in np.exp(points):
        z = np.eye(7)[words]
        w = np.eye(4)[words // 2] * by[:, None]
        shape = np.eye(len(y)) + first**2 * z @ z.T + second**2 * w @ w.T + 4 * x @ x.T
        marginal = stats.multivariate_t(np.zeros(len(y)), 0.1**2 * shape, df=3).logpdf(y)
        prior_density = sum(stats.halfcauchy.logpdf(value) + np.log(value) for value in (first, second))
        expected.append(marginal + prior_density)
    got = model.log_densities(points)
    np.testing.assert_allclose(got - got[0], np.array(expected) - expected[0], atol=1e-8)


def test_word_effects_widen_what_differs_between_words() -> None:
    """Forty words of ten rows each, in two groups: the error of the difference is that of twenty words a group."""
    rng = np.random.default_rng(5)
    words = np.repeat(np.arange(40), 10)
    group = words % 2
    effects = rng.normal(0, 0.1, 40)
    y = 0.2 * group + effects[words] + rng.normal(0, 0.05, 400)
    x = np.column_stack([np.ones(400), group])
    plain = linear_draws(y, x, prior="flat", rng=np.random.default_rng(1))
    honest = linear_draws(y, x, prior="flat", effects=[WordEffects(words)], rng=np.random.default_rng(1))
    means = np.array([y[words == word].mean() for word in range(40)])
    error = np.sqrt(sum(means[group].var(ddof=1) / 20 for group in (slice(0, None, 2), slice(1, None, 2))))
    assert honest.coefficients[:, 1].std() == pytest.approx(error, rel=0.1)
    assert plain.coefficients[:, 1].std() < 0.45 * error
    assert honest.word_sd.mean() == pytest.approx(0.1, rel=0.25)


def test_word_effects_agree_with_sums_over_their_scale() -> None:
    """The scale of the word effects on a grid; at each point y is multivariate t and the coefficients are t."""
    x, y = line(60)
    words = np.arange(60) % 12
    y = y + np.random.default_rng(3).normal(0, 0.05, 12)[words]
    prior = PRIORS["weak"]
    square = prior.rows * prior.sigma**2
    kappas = np.exp(np.linspace(-9, 5, 1000))
    log, means, variances, scales = [], [], [], []
    for kappa in kappas:
        shape = np.eye(60) + kappa**2 * np.equal.outer(words, words)
        full = prior.sigma**2 * (shape + prior.coefficient_sd**2 * x @ x.T)
        density = stats.multivariate_t(np.zeros(60), full, df=prior.rows).logpdf(y)
        log.append(density + stats.halfcauchy.logpdf(kappa) + np.log(kappa))
        inverse = np.linalg.inv(shape)
        covariance = np.linalg.inv(x.T @ inverse @ x + np.eye(3) / prior.coefficient_sd**2)
        mean = covariance @ x.T @ inverse @ y
        quadratic = square + y @ inverse @ y - mean @ np.linalg.solve(covariance, mean)
        df = prior.rows + 60
        means.append(mean)
        variances.append(quadratic / (df - 2) * np.diag(covariance))
        # E sigma of an inverse gamma variance.
        scales.append(np.sqrt(quadratic / 2) * np.exp(special.gammaln((df - 1) / 2) - special.gammaln(df / 2)))
    weight = np.exp(np.array(log) - max(log))
    weight /= weight.sum()
    assert weight[[0, -1]].max() < 1e-5
    ours = linear_draws(y, x, effects=[WordEffects(words)], draws=8000, rng=np.random.default_rng(1))
    mean = weight @ np.array(means)
    sd = np.sqrt(weight @ (np.array(variances) + (np.array(means) - mean) ** 2))
    error = np.sqrt(4 / 8000)  # four draws share the scale of the word effects
    assert (np.abs(ours.coefficients.mean(axis=0) - mean) < 4 * sd * error).all()
    np.testing.assert_allclose(ours.coefficients.std(axis=0), sd, rtol=4 * error)
    assert abs(ours.sigma.mean() - weight @ scales) < 4 * ours.sigma.std() * error
    expected = weight @ (kappas * scales)
    assert abs(ours.word_sd.mean() - expected) < 4 * ours.word_sd.std() * error


@pytest.mark.truth
@pytest.mark.slow
def test_agrees_with_nuts() -> None:
    """The same model with its word effects in PyMC; means within four Monte Carlo standard errors."""
    import arviz as az
    import pymc as pm

    x, y = line(60)
    words = np.arange(60) % 12
    y = y + np.random.default_rng(3).normal(0, 0.05, 12)[words]
    prior = PRIORS["weak"]
    with pm.Model():
        variance = pm.InverseGamma("variance", alpha=prior.rows / 2, beta=prior.rows * prior.sigma**2 / 2)
        sigma = pm.Deterministic("sigma", variance**0.5)
        kappa = pm.HalfCauchy("kappa", beta=1)
        unit = pm.Normal("unit", shape=12)
        beta = pm.Normal("beta", shape=3)
        location = x @ (prior.coefficient_sd * sigma * beta) + kappa * sigma * unit[words]
        pm.Deterministic("coefficient", prior.coefficient_sd * sigma * beta)
        pm.Deterministic("word_sd", kappa * sigma)
        pm.Normal("y", location, sigma, observed=y)
        fitted = pm.sample(
            2000, tune=2000, chains=2, cores=1, random_seed=1, progressbar=False, target_accept=0.95
        )  # fmt: skip
    ours = linear_draws(y, x, effects=[WordEffects(words)], draws=8000, rng=np.random.default_rng(1))
    posterior = fitted["posterior"].dataset
    for name, got in (("coefficient", ours.coefficients), ("sigma", ours.sigma), ("word_sd", ours.word_sd[:, 0])):
        theirs, error = posterior[name].mean(("chain", "draw")).to_numpy(), az.mcse(posterior[[name]])[name].to_numpy()
        # Four draws share the scales of the word effects.
        error = np.hypot(error, got.std(axis=0) / np.sqrt(len(got) / 4))
        assert (np.abs(got.mean(axis=0) - theirs) < 4 * error).all(), name
        np.testing.assert_allclose(got.std(axis=0), posterior[name].std(("chain", "draw")).to_numpy(), rtol=0.1)


def test_three_regressions_of_a_design() -> None:
    made_up = design()
    drawn = regression_draws(made_up, prior="flat", draws=2000, random_seed=1)
    models = {
        "inner_product": (made_up.columns, made_up.pairs.inner),
        "corrected_ratio": (made_up.ratio_columns, made_up.pairs.cosine),
        "constrained": (made_up.ratio_columns[:, made_up.constrained_columns], made_up.pairs.cosine),
    }
    for name, (columns, outcome) in models.items():
        error = np.asarray(drawn[name].std(("chain", "draw"))) / np.sqrt(8000)
        difference = np.asarray(drawn[name].mean(("chain", "draw"))) - least_squares(columns, outcome)
        assert (np.abs(difference) < 4 * error).all(), name


def test_seed_repeats_the_draws() -> None:
    settings = {"draws": 50, "chains": 2, "effects": [WordEffects(np.arange(ROWS) % 5)]}
    first = regression_draws(design(), random_seed=3, **settings)
    xr.testing.assert_identical(first, regression_draws(design(), random_seed=3, **settings))
    assert not np.array_equal(
        first["constrained"], regression_draws(design(), random_seed=4, **settings)["constrained"]
    )


def test_printed_decomposition_with_the_names_of_the_ratio_model() -> None:
    """alpha_1* by np.cov as printed; exact once beta_1, beta_2, beta_3 are the coefficients of X, 1/LNW and X/LNW."""
    made_up = design()
    beta = dict(zip(made_up.symbols, least_squares(made_up.ratio_columns, made_up.pairs.cosine), strict=True))
    cosine, lnw = made_up.pairs.cosine, made_up.pairs.lnw
    variance = np.var(SIDE, ddof=1)
    slopes = [np.cov(SIDE, column)[0, 1] / variance for column in (1 / lnw, SIDE / lnw)]
    alpha = cosine[SIDE == 1].mean() - cosine[SIDE == 0].mean()
    assert beta["beta_3"] + beta["beta_0"] * slopes[0] + beta["beta_1"] * slopes[1] == pytest.approx(alpha)
    assert beta["beta_1"] + beta["beta_2"] * slopes[0] + beta["beta_3"] * slopes[1] != pytest.approx(alpha, abs=1e-3)
    got = dict(zip(made_up.symbols, distortion_slopes(made_up), strict=True))
    expected = {"beta_0": slopes[0], "beta_1": slopes[1], "beta_2": 0.0, "beta_3": 1.0}
    assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", ["overlapping", "bivariate"])
def test_decomposition_is_exact_for_every_design(kind: str) -> None:
    vectors = made(4, ROWS, 5)
    built = overlapping_design(*vectors[:2], SIDE) if kind == "overlapping" else bivariate_design(*vectors)
    coefficients = least_squares(built.ratio_columns, built.pairs.cosine)
    alpha = least_squares(built.ratio_columns[:, built.constrained_columns], built.pairs.cosine)
    assert distortion_slopes(built) @ coefficients == pytest.approx(alpha[1])


def test_local_similarity() -> None:
    """cos = sim_local + delta, and the corrected ratio model's beta_2 is the mean of sim_local on side 0."""
    made_up = design()
    beta = least_squares(made_up.ratio_columns, made_up.pairs.cosine)
    named = dict(zip(made_up.symbols, beta, strict=True))
    delta = global_shares(made_up) @ beta
    lnw, inner = made_up.pairs.lnw, made_up.pairs.inner
    local = (inner - (named["beta_0"] + named["beta_1"] * SIDE)) / lnw
    np.testing.assert_allclose(local + delta, made_up.pairs.cosine)
    assert local[SIDE == 0].mean() == pytest.approx(named["beta_2"])
    assert local[SIDE == 1].mean() == pytest.approx(named["beta_2"] + named["beta_3"])


def test_local_similarity_needs_a_comparison() -> None:
    with pytest.raises(MeasureError, match="bivariate"):
        global_shares(bivariate_design(*made(4, ROWS, 5)))


def test_priors() -> None:
    assert find_prior("flat").coefficient_sd == np.inf
    with pytest.raises(ArgumentError, match="'weak'"):
        find_prior("week")
    with pytest.raises(ModelError, match="LinearPrior"):
        LinearPrior(coefficient_sd=1.0, sigma=-1.0, rows=1.0)
    with pytest.raises(ModelError, match="LinearPrior"):
        LinearPrior(coefficient_sd=np.nan, sigma=1.0, rows=1.0)


def test_nothing_to_estimate() -> None:
    x, _ = line()
    with pytest.raises(MeasureError, match="outcome"):
        linear_draws(x @ [1.0, 2.0, 3.0], x, prior="flat", rng=np.random.default_rng(1))
    with pytest.raises(MeasureError, match=r"rows.*coefficients"):
        linear_draws(np.ones(3), np.ones((3, 3)), rng=np.random.default_rng(1))
    with pytest.raises(MeasureError, match="30 rows"):
        linear_draws(np.ones(30), x, effects=[WordEffects(np.arange(29))], rng=np.random.default_rng(1))
