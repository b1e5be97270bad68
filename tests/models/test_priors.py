"""Priors written as text."""

import numpy as np
import pytest
from scipy import stats

from bayesbias.errors import ModelError
from bayesbias.models.priors import DISTRIBUTIONS, Prior, parse_prior


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("Normal(1, 0.3)", {"mu": 1.0, "sigma": 0.3}),
        ("Normal(sigma=0.3, mu=1)", {"sigma": 0.3, "mu": 1.0}),
        (" Exponential( rate = 2 ) ", {"rate": 2.0}),
        ("StudentT(4, mu=-1e-2, sigma=2)", {"nu": 4.0, "mu": -0.01, "sigma": 2.0}),
    ],
)
def test_positions_and_names(text: str, parameters: dict[str, float]) -> None:
    prior = parse_prior(text)
    assert prior.parameters == parameters
    assert parse_prior(str(prior)) == prior
    assert parse_prior(prior) is prior


def test_one_prior_has_one_text_and_a_text_gives_back_the_very_number() -> None:
    assert str(parse_prior("Normal(sigma=0.3, mu=1)")) == str(parse_prior("Normal(1, 0.3)"))
    assert parse_prior(str(parse_prior("Normal(1, 0.30000001)"))).parameters["sigma"] == 0.30000001


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Normal(1, -0.3)", "sigma=-0.3"),
        ("Normal(nan, 1)", "mu=nan"),
        ("Exponential(0)", "rate=0"),
        ("Norml(1, 1)", "'Normal'"),
        ("Cauchy(0, 1)", "Cauchy.* Normal, StudentT"),
        ("Normal(1)", "sigma"),
        ("Normal(1, 2, 3)", "2 parameters"),
        ("Normal(1, sigm=2)", "'sigma'"),
        ("Normal(1, mu=2)", "mu twice"),
        ("Normal(one, 2)", "'one'"),
        ("Normal", "'Normal' "),
        (0.3, r"0\.3 "),
    ],
)
def test_faults_are_explained(text: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        parse_prior(text)


# SciPy's parameterisations are the independent source of what each name and parameter means.
SCIPY = {
    "Normal(1, 0.3)": stats.norm(1, 0.3),
    "StudentT(4, 1, 0.3)": stats.t(4, 1, 0.3),
    "Exponential(2)": stats.expon(scale=1 / 2),
    "HalfNormal(0.2)": stats.halfnorm(scale=0.2),
    "Gamma(2, 0.1)": stats.gamma(2, scale=1 / 0.1),
    "InverseGamma(3, 2)": stats.invgamma(3, scale=2),
    "LogNormal(-1, 0.5)": stats.lognorm(0.5, scale=np.exp(-1)),
}


@pytest.mark.parametrize("text", SCIPY)
def test_densities_are_those_of_scipy(text: str) -> None:
    import pymc as pm

    with pm.Model():
        variable = parse_prior(text).variable("x")
    points = np.array([0.2, 0.7, 1.3])
    np.testing.assert_allclose(pm.logp(variable, points).eval(), SCIPY[text].logpdf(points), rtol=1e-6)


@pytest.mark.parametrize("text", SCIPY)
def test_probabilities_and_quantiles_are_those_of_scipy(text: str) -> None:
    prior, expected = parse_prior(text), SCIPY[text]
    points, shares = np.array([-0.5, 0.0, 0.2, 0.7, 1.3]), np.array([0.1, 0.5, 0.9])
    if text.startswith("Half"):  # of both halves
        expected = stats.norm(0, 0.2)
    np.testing.assert_allclose(prior.cdf(points), expected.cdf(points), rtol=1e-12)
    np.testing.assert_allclose(prior.quantile(shares), expected.ppf(shares), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(prior.log_density(points[2:]), SCIPY[text].logpdf(points[2:]), rtol=1e-12)


@pytest.mark.parametrize("text", [*SCIPY, "HalfStudentT(3, 0.2)"])
def test_draws_are_those_of_scipy(text: str) -> None:
    """By the test of Kolmogorov and Smirnov: a factor of 1.02 on the scale would fail."""
    half = stats.t(3, 0, 0.2)
    cdf = SCIPY[text].cdf if text in SCIPY else lambda values: 2 * half.cdf(values) - 1
    draws = parse_prior(text).draw((200, 500), np.random.default_rng(1))
    assert stats.kstest(draws.ravel(), cdf).pvalue > 0.01
    assert stats.kstest(1.02 * draws.ravel(), cdf).pvalue < 0.01


def test_half_student_t_density_is_twice_that_of_student_t() -> None:
    import pymc as pm

    with pm.Model():
        variable = parse_prior("HalfStudentT(3, 0.2)").variable("x")
    points = np.array([0.2, 0.7])
    expected = np.log(2) + stats.t(3, 0, 0.2).logpdf(points)
    np.testing.assert_allclose(pm.logp(variable, points).eval(), expected, rtol=1e-6)


def test_every_distribution_is_tested() -> None:
    tested = {text.split("(")[0] for text in SCIPY} | {"HalfStudentT"}
    assert tested == set(DISTRIBUTIONS)
    assert Prior("HalfNormal", {"sigma": 1.0}).positive
    assert not Prior("Normal", {"mu": 0.0, "sigma": 1.0}).positive


@pytest.mark.parametrize("text", ["Normal(mu=0, sigma=1e-300)", "HalfNormal(sigma=1e-320)", "Exponential(1e200)"])
def test_parameters_that_cannot_be_squared_are_refused_before_a_sampler_fails(text: str) -> None:
    with pytest.raises(ModelError, match="squared"):
        parse_prior(text)


@pytest.mark.parametrize(("prior", "is_a_point"), [("Gamma(1e10, 1e11)", True), ("Gamma(1e6, 1e7)", False)])
def test_a_prior_that_is_a_point_is_no_prior(prior: str, is_a_point: bool) -> None:
    fault = parse_prior(prior).reach_fault(0, 2)
    assert (fault is not None and "it is a point" in fault) == is_a_point
