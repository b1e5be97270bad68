"""Priors in the unit of a table: the bundled ones follow it, a user's own are in it already."""

import pytest

import bayesbias as bb
from bayesbias.errors import ModelError
from bayesbias.models.priors import parse_prior
from bayesbias.models.scales import Scale
from bayesbias.models.units import in_unit, model_in_distances, scaled_prior

SCALE = Scale(8.0, 20.0)


@pytest.mark.parametrize(
    "text",
    ["Exponential(rate=10)", "HalfNormal(sigma=0.2)", "HalfStudentT(nu=2, sigma=0.1)", "Gamma(alpha=2, beta=20)",
     "InverseGamma(alpha=3, beta=0.2)", "LogNormal(mu=-3, sigma=1)"],
)  # fmt: skip
def test_quantiles_of_scales_are_multiplied(text: str) -> None:
    prior = parse_prior(text)
    scaled = scaled_prior(prior, SCALE, is_mean=False)
    shares = [0.1, 0.5, 0.9]
    assert scaled.quantile(shares).tolist() == pytest.approx((20 * prior.quantile(shares)).tolist())


def test_quantiles_of_means_are_moved() -> None:
    prior = parse_prior("StudentT(nu=4, mu=1, sigma=0.3)")
    scaled = scaled_prior(prior, SCALE, is_mean=True)
    assert scaled.quantile([0.1, 0.5]).tolist() == pytest.approx(
        SCALE.from_distances(prior.quantile([0.1, 0.5])).tolist()
    )


def test_priors_of_a_user_stay_and_the_others_follow() -> None:
    spec = in_unit(bb.load_model("crossed", priors={"sigma": "HalfNormal(3)"}), SCALE)
    assert str(spec.priors["sigma"]) == "HalfNormal(sigma=3)"
    assert str(spec.priors["attribute_sd"]) == "Exponential(rate=0.1)"
    assert str(spec.priors["connection_mean"]) == "Normal(mu=8, sigma=6)"
    assert model_in_distances(spec, SCALE).priors["sigma"].parameters["sigma"] == pytest.approx(0.15)


def test_a_prior_is_judged_in_the_unit_of_the_table() -> None:
    spec = bb.load_model("hierarchical", priors={"connection_mean": "Normal(600, 100)"})
    written = in_unit(spec, Scale(650.0, 2000.0)).priors
    assert str(written["connection_mean"]) == "Normal(mu=600, sigma=100)"
    assert str(written["sigma"]) == "Exponential(rate=0.001)"
    with pytest.raises(ModelError, match=r"Normal\(mu=600, sigma=100\): less than 0.001"):
        in_unit(spec, Scale())
