"""Prior predictive checks against closed forms and plain simulation."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from threadpoolctl import threadpool_info, threadpool_limits

import bayesbias as bb
import bayesbias.reports.checks.prior_check as module
from bayesbias.base.statements import rows_of
from bayesbias.errors import ArgumentError, FitError, ModelError, NotEnoughMemoryError
from bayesbias.models.spec import list_models
from bayesbias.reports.checks.prior_check import PriorCheck, check_prior
from tests.models.tables import small

NO_SCATTER = {"word_sd": "Exponential(1e5)", "sigma": "Exponential(1e5)"}


@pytest.fixture(scope="module")
def check(table: pd.DataFrame) -> PriorCheck:
    return check_prior(table, "hierarchical", random_seed=1)


def test_mass_outside_without_scatter_is_that_of_the_connection_mean(table: pd.DataFrame) -> None:
    prior_check = check_prior(
        table, "hierarchical", priors=NO_SCATTER | {"connection_mean": "Normal(0.8, 0.7)"}, random_seed=1
    )
    below, above = stats.norm.cdf(0, 0.8, 0.7), stats.norm.sf(2, 0.8, 0.7)
    for row in prior_check.distances.to_dict("records"):
        assert abs(row["outside"] - below - above) < 4 * row["outside_se"]
        assert row["below_0"] == pytest.approx(below, abs=0.03)
        assert row["above_2"] == pytest.approx(above, abs=0.02)
        assert row["low"] == pytest.approx(stats.norm.ppf(0.055, 0.8, 0.7), abs=0.1)
        assert row["median"] == pytest.approx(0.8, abs=0.06)
    by_connection = prior_check.distances.set_index("connection")
    # All four connections together know four times as much as one.
    assert by_connection.loc["all", "outside_se"] < 0.8 * by_connection.loc["human", "outside_se"]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["hierarchical", "no_pooling", "crossed"])
def test_mass_outside_is_that_of_plain_simulation(table: pd.DataFrame, model: str) -> None:
    rng, count = np.random.default_rng(2), 400_000
    distance = rng.normal(1, 0.3, count)
    if model != "no_pooling":
        distance += rng.exponential(0.5, count) * rng.standard_normal(count)
    if model == "crossed":
        distance += rng.exponential(0.5, count) * rng.standard_normal(count)
    distance += rng.exponential(0.5, count) * rng.standard_normal(count)
    outside = ((distance < 0) | (distance > 2)).mean()
    prior_check = check_prior(table, model, samples=2000 if model == "no_pooling" else 4000, random_seed=1)
    for row in prior_check.distances.to_dict("records"):
        assert abs(row["outside"] - outside) < 4 * row["outside_se"] + 0.003
        assert row["low"] == pytest.approx(np.quantile(distance, 0.055), abs=0.12)
        assert row["high"] == pytest.approx(np.quantile(distance, 0.945), abs=0.12)
        inside = ((distance >= row["smallest"]) & (distance <= row["largest"])).mean()
        assert row["inside_observed"] == pytest.approx(inside, abs=0.03)


def test_parameters_are_those_of_the_priors(table: pd.DataFrame, check: PriorCheck) -> None:
    frame = check.parameters.set_index(["parameter", "connection"])
    mean = frame.loc[("connection_mean", "human")]
    assert abs(mean["mean"] - 1) < 4 * mean["mean_se"]
    assert mean["low"] == pytest.approx(stats.norm.ppf(0.055, 1, 0.3), abs=0.05)
    contrast = frame.loc[("contrast", "associated - human")]
    assert contrast["sd"] == pytest.approx(0.3 * np.sqrt(2), rel=0.05)
    observed = table.groupby("connection", observed=True)["cosine_distance"].mean()
    assert contrast["observed"] == pytest.approx(observed["associated"] - observed["human"])
    assert mean["observed"] == pytest.approx(observed["human"])
    assert frame.loc[("sigma", "neutral"), "high"] == pytest.approx(stats.expon.ppf(0.945, scale=0.5), abs=0.15)
    assert frame.loc[("sigma", "neutral")].isna().to_dict()["observed"]


def test_without_pooling_a_connection_mean_is_an_average_over_all_words() -> None:
    """More words than the pairs that are simulated can hold."""
    parameters = check_prior(small(60, 1), "no_pooling", samples=2000, random_seed=1).parameters
    means = parameters[parameters["parameter"] == "connection_mean"]
    assert len(means) == 4
    assert means["sd"].to_numpy() == pytest.approx(0.3 / np.sqrt(60), rel=0.07)


@pytest.mark.parametrize("model", list_models())
def test_every_model(model: str) -> None:
    prior_check = check_prior(small(4, 3), model, samples=200, random_seed=1)
    numbers = prior_check.distances.select_dtypes("number")
    assert np.isfinite(numbers.to_numpy()).all()
    labels = prior_check.parameters.query("parameter == 'attribute_sd'")["connection"].tolist()
    assert labels == {
        "crossed_per_list": ["stereotype", "human", "neutral"],
        "crossed": [""],
        "multivariate": ["stereotype", "human", "neutral"],
        "multivariate_robust": ["stereotype", "human", "neutral"],
    }.get(model, [])
    assert repr(model) in prior_check.summary[0].text


def test_what_it_says(check: PriorCheck, table: pd.DataFrame) -> None:
    assert [problem.kind for problem in check.problems] == ["impossible distances"]
    assert check.problems[0].numbers == rows_of(check.distances)[0]
    assert [statement.kind for statement in check.summary] == [
        "about",
        "distances",
        "impossible distances",
        *["contrast"] * 3,
    ]
    fields = json.loads(json.dumps(check.to_dict()))
    assert fields["parts"][-1]["statements"] == [problem.to_dict() for problem in check.problems]
    assert (fields["settings"]["Samples"], check.priors["connection_mean"]) == ("4000", "Normal(mu=1, sigma=0.3)")
    assert "\n\nWHAT TO KNOW ABOUT THESE PRIORS\n\n- " in str(check)
    assert check._repr_html_().count("<p>") == 7
    tight = {"word_sd": "Exponential(10)", "sigma": "Exponential(10)", "connection_mean": "Normal(1, 0.2)"}
    assert check_prior(table, "hierarchical", priors=tight, random_seed=1).problems == ()
    wrong = check_prior(table, "hierarchical", priors={**tight, "connection_mean": "Normal(0.3, 0.05)"}, random_seed=1)
    disagreeing = [problem.numbers["connection"] for problem in wrong.problems if problem.kind == "disagreement"]
    assert disagreeing == [*wrong.distances["connection"][1:]]
    assert wrong.problems[-1].kind == "observed range"


def test_densities_are_histograms(check: PriorCheck, table: pd.DataFrame) -> None:
    densities = check.densities.query("connection == 'human'")
    human = table.loc[table["connection"] == "human", "cosine_distance"]
    counts, _ = np.histogram(human, np.linspace(-1, 3, 81))
    assert densities["observed"].to_numpy() == pytest.approx(counts / len(human) / 0.05)
    assert densities["prior"].sum() * 0.05 == pytest.approx(1, abs=0.1)
    assert densities["prior"].sum() * 0.05 < 1  # some of it lies beyond


def test_one_connection_and_few_rows(table: pd.DataFrame) -> None:
    prior_check = check_prior(table[table["connection"] == "neutral"].head(20), "hierarchical", random_seed=1)
    assert prior_check.distances["connection"].tolist() == ["all", "neutral"]
    assert "contrast" not in set(prior_check.parameters["parameter"])


def test_seeds_and_errors(table: pd.DataFrame, check: PriorCheck) -> None:
    again = check_prior(table, "hierarchical", random_seed=1)
    for name in ("distances", "parameters", "densities"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(check, name))
    with pytest.raises(ArgumentError, match="samples=50"):
        check_prior(table, samples=50)
    with pytest.raises(ArgumentError, match="random_seed"):
        check_prior(table, random_seed=-1)
    with pytest.raises(ModelError, match="sigm"):
        check_prior(table, priors={"sigm": "Exponential(2)"})
    with pytest.raises(FitError, match="DataFrame"):
        check_prior("table.csv")  # type: ignore[arg-type]


def test_small_matrices_are_not_spread_over_threads(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a multivariate model, two threads of linear algebra took ten times as long as one."""
    threads: set[int] = set()
    moments = module.row_moments

    def watched(*arguments: Any, **options: Any) -> Any:
        threads.update(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return moments(*arguments, **options)

    monkeypatch.setattr(module, "row_moments", watched)
    with threadpool_limits(2, "blas"):
        check_prior(table, samples=100, random_seed=1)
        assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {2}
    assert threads == {1}


def test_more_samples_than_fit_are_refused_before_they_are_drawn(table: pd.DataFrame) -> None:
    with pytest.raises(NotEnoughMemoryError, match="1,000,000,000 draws"):
        check_prior(table, samples=10**9, random_seed=1)


def test_what_is_observed_is_what_contrasts_compare(table: pd.DataFrame) -> None:
    """Groups and lists of different sizes weigh the same, as in the contrasts of a fit."""
    unequal = table[
        ~table["protected_word"].isin(["art", "dance", "drama"]) & ~table["attribute_word"].isin(["he", "him", "boy"])
    ]
    frame = check_prior(unequal, "hierarchical", samples=200, random_seed=1).parameters
    contrasts = bb.contrasts(bb.fit(unequal, "hierarchical", draws=100, random_seed=1, progress=False))
    observed = frame[frame["parameter"] == "contrast"].set_index("connection")["observed"]
    assert observed.to_dict() == pytest.approx(contrasts.set_index("contrast")["observed"].to_dict())
    pairs = unequal.groupby("connection", observed=True)["cosine_distance"].mean()
    assert abs(observed["associated - different"] - (pairs["associated"] - pairs["different"])) > 1e-4


def test_a_flat_prior_is_not_criticised_for_its_stand_in(table: pd.DataFrame) -> None:
    near = table.assign(cosine_distance=table["cosine_distance"] * 0.2)
    near = near.drop(columns="cosine_similarity", errors="ignore")
    kinds = {problem.kind: problem for problem in check_prior(near, samples=200, random_seed=1).problems}
    assert "flat prior" in kinds
    assert "Normal(" in kinds["flat prior"].text
    assert "disagreement" not in kinds
    pooled = {problem.kind for problem in check_prior(near, "hierarchical", samples=200, random_seed=1).problems}
    assert "disagreement" in pooled
    assert "flat prior" not in pooled
