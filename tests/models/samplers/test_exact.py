"""The exact sampler, against the model written out densely, against quadrature and against NUTS."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ModelError, NotEnoughMemoryError
from bayesbias.models.data import model_data
from bayesbias.models.samplers.exact import cell_statistics, log_marginal, sample_exact, why_not_exact
from tests.models import dense
from tests.models.agreement import worst_differences
from tests.models.tables import small

PRIOR = (1.0, 0.3)


def _quiet() -> warnings.catch_warnings:
    """Let convergence and lost words pass: other tests are about them."""
    return warnings.catch_warnings(action="ignore")


CONJUGATE = ("hierarchical", "no_pooling")


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_marginal_density_is_that_of_the_dense_normal(missing: float) -> None:
    data, spec = model_data(small(missing=missing, seed=1)), bb.load_model("hierarchical")
    cells = cell_statistics(data)
    rng = np.random.default_rng(0)
    differences = []
    for _ in range(4):
        tau, sigma = np.exp(rng.normal(-3, 0.5, 4)), np.exp(rng.normal(-2.5, 0.3, 4))
        ours = sum(float(log_marginal(cells, g, spec)(tau[g : g + 1], sigma[g : g + 1])[0]) for g in range(4))
        differences.append(ours - dense.log_density(data, tau, sigma, np.zeros(len(data.attribute_words)), PRIOR))
    np.testing.assert_allclose(differences, differences[0], atol=1e-8, err_msg="equal up to one constant")


def test_locations_have_the_conditional_of_the_dense_normal() -> None:
    """Priors that pin the scales leave the locations, whose conditional is Normal."""
    data = model_data(small(missing=0.5, seed=2))
    pinned = {"word_sd": "LogNormal(-3, 0.000001)", "sigma": "LogNormal(-2.5, 0.000001)"}
    draws = 40_000
    posterior, _ = sample_exact(
        data, bb.load_model("hierarchical", priors=pinned), draws=draws, rng=np.random.default_rng(5)
    )
    mean, covariance = dense.locations(
        data, np.full(4, np.exp(-3)), np.full(4, np.exp(-2.5)), np.zeros(len(data.attribute_words)), PRIOR
    )
    words = posterior["word_mean"].reshape(draws, -1)
    drawn = np.hstack([posterior["connection_mean"], words]) - PRIOR[0]
    size = drawn.shape[1]
    sd = np.sqrt(np.diag(covariance)[:size])
    assert (np.abs(drawn.mean(axis=0) - mean[:size]) / sd).max() < 4.5 / np.sqrt(draws)
    correlations = np.cov(drawn.T) / np.outer(sd, sd)
    np.testing.assert_allclose(correlations, covariance[:size, :size] / np.outer(sd, sd), atol=5 / np.sqrt(draws))


@pytest.mark.truth
@pytest.mark.slow
@pytest.mark.parametrize("name", CONJUGATE)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_agrees_with_nuts_within_monte_carlo_error(name: str, missing: float) -> None:
    """In short, of one model: `tests/models/test_sampling.py`."""
    table = small(words=6, attributes=4, missing=missing, seed=3)
    exact = bb.fit(table, name, sampler="exact", draws=5000, random_seed=1)
    with _quiet():
        nuts = bb.fit(table, name, sampler="nuts", draws=5000, tune=1000, random_seed=2)
    worst = worst_differences(exact, nuts)
    assert worst["mean"] < 4
    assert worst["sd"] < 4.5


@pytest.mark.shared
@pytest.mark.parametrize(
    "name",
    ["religion_google", *(pytest.param(name, marks=pytest.mark.truth) for name in ("gender_reddit", "weat7_glove"))],
)
def test_agrees_with_the_published_posteriors(name: str, shared: Path) -> None:
    """14,000 draws by the authors, of a centred parameterisation, are the independent source."""
    with _quiet():
        table = bb.read_table(shared / "data" / "published" / "tables" / f"{name}.csv.gz")
    ours = bb.summary(bb.fit(table, "hierarchical", sampler="exact", draws=3000, random_seed=1))
    published = pd.read_csv(shared / "data" / "published" / "posteriors" / f"{name}.csv", keep_default_na=False)
    published["connection"] = published["connection"].replace({"none": "neutral"})
    published["parameter"] = published["parameter"].replace({"group_mean": "connection_mean"})
    both = published.astype({"mean": float, "sd": float}).merge(
        ours, on=["parameter", "connection", "protected_word"], suffixes=("_published", ""), validate="one_to_one"
    )
    assert len(both) == len(ours)
    assert ((both["mean"] - both["mean_published"]).abs() / both["sd_published"]).max() <= 0.15
    assert (both["sd"] / both["sd_published"]).between(0.9, 1.1).all()


@pytest.mark.parametrize(
    ("model", "priors", "term"),
    [
        ("crossed", {}, "attribute_effects = 'one'"),
        ("hierarchical", {"connection_mean": "StudentT(4, 1, 0.3)"}, r"connection_mean = StudentT\(nu=4"),
    ],
)
def test_a_model_that_is_not_conjugate_is_refused_and_the_term_named(model: str, priors: dict, term: str) -> None:
    with pytest.raises(ModelError, match=term):
        bb.fit(small(), model, sampler="exact", priors=priors)


def test_every_model_has_the_sampler_that_fits_it() -> None:
    assert {name for name in bb.list_models() if why_not_exact(bb.load_model(name)) is None} == set(CONJUGATE)


def test_what_it_says_of_its_own_error_is_kept() -> None:
    fit = bb.fit(small(), "hierarchical", random_seed=1)
    stats = fit["sample_stats"].to_dataset()
    assert bb.models.fit_attribute(fit, "sampler") == "exact"
    assert stats["grid_acceptance"].dims == ("connection",)
    assert float(stats["edge_mass"].max()) < 1e-4
    assert float(stats["envelope_excess"].max()) < 0.01
    assert bb.models.fit_attribute(fit, "convergence_problems") == []


def test_other_priors_of_the_scales_are_used() -> None:
    table = small(seed=4)
    narrow = bb.summary(bb.fit(table, "hierarchical", random_seed=1, priors={"word_sd": "HalfNormal(0.001)"}))
    wide = bb.summary(bb.fit(table, "hierarchical", random_seed=1, priors={"word_sd": "HalfStudentT(3, 2)"}))
    assert narrow.query("parameter == 'word_sd'")["mean"].max() < 0.002
    assert wide.query("parameter == 'word_sd'")["mean"].min() > 0.002


def test_too_many_draws_for_the_memory_are_refused() -> None:
    with pytest.raises(NotEnoughMemoryError, match="GB"):
        bb.fit(small(), "hierarchical", draws=10**9)
