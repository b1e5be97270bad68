"""Posterior predictive checks against SciPy, refits without a pair, and data that the model made or could not make."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias.base.statements import Statement, rows_of
from bayesbias.errors import ArgumentError, FitError, ReportError
from bayesbias.models.densities import densities
from bayesbias.models.fits import fitted_rows
from bayesbias.reports.checks import posterior_check
from bayesbias.reports.checks.posterior_check import check_posterior, posterior_problems
from bayesbias.reports.checks.replicated_tables import STATISTICS, replicated_distances
from tests.models.tables import small
from tests.reports.made import made_fit

TRUE = {"connection_mean": [0.85, 0.9, 0.95, 0.95], "word_sd": 0.04, "sigma": [0.1, 0.08, 0.07, 0.09]}


def quick_fit(table: pd.DataFrame, model: str = "hierarchical", seed: int = 1) -> xr.DataTree:
    return bb.fit(table, model, draws=1000, random_seed=seed, progress=False)


@pytest.fixture(scope="module")
def check(short_fit: xr.DataTree) -> posterior_check.PosteriorCheck:
    return check_posterior(short_fit, random_seed=1)


def draws_of(fit: xr.DataTree, pair: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    posterior = fit["posterior"].to_dataset()
    where = {"connection": pair["connection"]}
    mean = posterior["word_mean"].sel(protected_word=pair["protected_word"], **where)
    sigma = posterior["sigma"].sel(where)
    if "attribute_effect" in posterior:
        mean = mean + posterior["attribute_effect"].sel(attribute_word=pair["attribute_word"])
    return mean.to_numpy().ravel(), sigma.to_numpy().ravel()


@pytest.mark.parametrize("model", ["hierarchical", "no_pooling", "crossed_per_list"])
def test_intervals_are_those_of_the_mixture_of_all_draws(model: str) -> None:
    fit = quick_fit(small(6, 4, missing=0.2), model)
    pairs = check_posterior(fit, random_seed=1).pairs
    for place in (0, 40, len(pairs) - 1):
        mean, sigma = draws_of(fit, pairs.loc[place])
        for column, share in (("low_89", 0.055), ("low_50", 0.25), ("high_50", 0.75), ("high_89", 0.945)):
            below = stats.norm.cdf(pairs.loc[place, column], mean, sigma).mean()
            # 1,000 of the draws were used, each with its own probability.
            error = stats.norm.cdf(pairs.loc[place, column], mean, sigma).std() / np.sqrt(1000)
            assert below == pytest.approx(share, abs=4 * error)
        assert pairs.loc[place, "mean"] == pytest.approx(mean.mean(), abs=4 * mean.std() / np.sqrt(1000))


def test_central_intervals_are_the_highest_density_ones(
    short_fit: xr.DataTree, check: posterior_check.PosteriorCheck
) -> None:
    pair = check.pairs.loc[500]
    mean, sigma = draws_of(short_fit, pair)
    rng = np.random.default_rng(5)
    many = rng.normal(np.tile(mean, 200), np.tile(sigma, 200))
    low, high = az.hdi(many, prob=0.89)
    assert [pair["low_89"], pair["high_89"]] == pytest.approx([low, high], abs=0.005)
    # Word means are well known here, so that thinned draws leave hardly any Monte Carlo error.
    for column, share in (("low_89", 0.055), ("low_50", 0.25), ("high_50", 0.75), ("high_89", 0.945)):
        assert stats.norm.cdf(pair[column], mean, sigma).mean() == pytest.approx(share, abs=0.002)


def test_loo_pit_is_that_of_a_fit_without_the_pair() -> None:
    table = small(6, 6, seed=3)
    pairs = check_posterior(quick_fit(table), random_seed=1).pairs
    for place in (0, 7, 30):
        assert pairs.loc[place, "pareto_k"] < 0.7
        refit = quick_fit(table.drop(index=place), seed=2)
        mean, sigma = draws_of(refit, pairs.loc[place])
        exact = stats.norm.cdf(table.loc[place, "cosine_distance"], mean, sigma).mean()
        assert pairs.loc[place, "loo_pit"] == pytest.approx(exact, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["hierarchical", "crossed"])
def test_a_true_model_covers_what_it_says_and_has_no_problem(short_table: pd.DataFrame, model: str) -> None:
    """The chance of a false alarm of one of the bounds: below 0.001 each; the seed is fixed."""
    parameters = TRUE | ({"attribute_sd": 0.05} if model == "crossed" else {})
    simulated = bb.models.simulate_table(short_table, model, parameters=parameters, random_seed=4)
    check = check_posterior(quick_fit(simulated, model), random_seed=1)
    assert check.problems == ()
    assert check.summary[-1].kind == "no problem"
    for row in check.coverage.to_dict("records"):
        assert abs(row["loo_inside_89"] - 0.89) < 3.3 * row["se_89"]
        assert abs(row["loo_inside_50"] - 0.50) < 3.3 * row["se_50"]
        assert row["pit_distance"] < 1.95 / np.sqrt(row["pairs"])  # Kolmogorov: 0.1 %
    neutral = check.coverage.set_index("connection").loc["neutral"]
    pit = check.pairs.loc[check.pairs["connection"] == "neutral", "loo_pit"]
    assert neutral["pit_distance"] == pytest.approx(stats.kstest(pit, "uniform").statistic)


def test_coverage_is_counted_over_the_pairs(check: posterior_check.PosteriorCheck) -> None:
    pairs = check.pairs
    for row in check.coverage.to_dict("records"):
        here = pairs if row["connection"] == "all" else pairs[pairs["connection"] == row["connection"]]
        for share in ("89", "50"):
            inside = (here["cosine_distance"] >= here[f"low_{share}"]) & (
                here["cosine_distance"] <= here[f"high_{share}"]
            )
            assert row[f"inside_{share}"] == pytest.approx(inside.mean())
        assert row["pairs"] == len(here)


def test_statistics_of_the_observed_are_those_of_scipy(
    short_table: pd.DataFrame, check: posterior_check.PosteriorCheck
) -> None:
    observed = check.statistics.set_index(["connection", "statistic"])["observed"]
    for name in ("all", "associated", "neutral"):
        rows = short_table if name == "all" else short_table[short_table["connection"] == name]
        values = rows["cosine_distance"]
        expected = {
            "mean": values.mean(),
            "sd": values.std(),
            "skewness": stats.skew(values),
            "kurtosis": stats.kurtosis(values),
            "smallest": values.min(),
            "largest": values.max(),
        }
        if name != "all":
            expected["sd of attribute words"] = rows.groupby("attribute_word")["cosine_distance"].mean().std()
        assert observed[name].to_dict() == pytest.approx(expected)


@pytest.mark.slow
def test_replicated_statistics_are_those_of_tables_made_one_by_one(
    short_fit: xr.DataTree, check: posterior_check.PosteriorCheck
) -> None:
    rng = np.random.default_rng(7)
    data = short_fit["constant_data"].to_dataset()
    protected, connection, attribute = (
        data[f"{name}_index"].to_numpy().astype(int) for name in ("protected", "connection", "attribute")
    )
    posterior = short_fit["posterior"].to_dataset().stack(sample=("chain", "draw"))
    means = posterior["word_mean"].transpose("sample", "protected_word", "connection").to_numpy()
    sigmas = posterior["sigma"].transpose("sample", "connection").to_numpy()
    here = connection == list(data["connection"].values).index("human")
    made = []
    for draw in range(0, 3000, 2):
        values = rng.normal(means[draw, protected, connection], sigmas[draw, connection])[here]
        words = pd.Series(values).groupby(attribute[here]).mean()
        made.append((values.mean(), values.std(ddof=1), stats.skew(values), values.min(), words.std()))
    expected = np.quantile(np.array(made), [0.055, 0.945], axis=0)
    width = expected[1] - expected[0]
    human = check.statistics.query("connection == 'human'").set_index("statistic")
    human = human.loc[["mean", "sd", "skewness", "smallest", "sd of attribute words"]]
    assert (np.abs(human["low"] - expected[0]) < 0.1 * width).all()
    assert (np.abs(human["high"] - expected[1]) < 0.1 * width).all()
    larger = (np.array(made)[:, 2] > human.loc["skewness", "observed"]).mean()
    assert abs(human.loc["skewness", "p_value"] - larger) < 5 * human.loc["skewness", "p_value_se"]


def test_replicates_have_the_means_and_scales_of_the_predictions() -> None:
    fit = quick_fit(small(5, 4, missing=0.2), "crossed")
    posterior = densities(fit, fitted_rows(fit))
    order = np.arange(len(posterior.data.distance))[::-1]
    made = np.concatenate(list(replicated_distances(posterior, order, 4000, np.random.default_rng(1))))
    mean, sigma = posterior.predicted(order)
    spread = np.sqrt(mean.var(axis=1) + (sigma**2).mean(axis=1))
    assert np.abs((made.mean(axis=0) - mean.mean(axis=1)) / spread).max() < 4.5 / np.sqrt(4000)
    assert made.std(axis=0) == pytest.approx(spread, rel=0.08)


def test_densities_integrate_to_one(check: posterior_check.PosteriorCheck) -> None:
    for _, density in check.densities.groupby("connection"):
        width = np.diff(density["distance"]).mean()
        assert density["observed"].sum() * width == pytest.approx(1)
        assert density["replicated"].sum() * width == pytest.approx(1, abs=0.01)
        assert (density["low"] <= density["high"]).all()


@pytest.mark.slow
def test_it_says_where_a_normal_likelihood_fails(short_table: pd.DataFrame) -> None:
    """Neutral distances are left-skewed, all others Normal."""
    made = bb.models.simulate_table(short_table, "hierarchical", parameters=TRUE, random_seed=4)
    neutral = (made["connection"] == "neutral").to_numpy()
    rng = np.random.default_rng(1)
    made.loc[neutral, "cosine_distance"] = 1.1 - rng.gamma(2, 0.08, neutral.sum())
    made["cosine_similarity"] = 1 - made["cosine_distance"]
    problems = check_posterior(quick_fit(made), random_seed=1).problems
    of_statistics = [problem.numbers for problem in problems if problem.kind == "statistics"]
    by_connection = {numbers["connection"]: numbers for numbers in of_statistics}
    failed = by_connection["neutral"]
    assert set(by_connection) <= {"neutral", "all"}, "all pairs hold the neutral ones"
    skewness = {row["statistic"]: row for row in failed["statistics"]}["skewness"]
    assert skewness["observed"] < skewness["low"]
    (advice,) = [problem.numbers for problem in problems if problem.numbers.get("model") == "multivariate_robust"]
    assert "neutral" in advice["connections"]
    assert not {"human", "associated", "different"} & set(advice["connections"])


@pytest.mark.slow
def test_it_says_that_attribute_words_differ(short_table: pd.DataFrame) -> None:
    made = bb.models.simulate_table(short_table, "crossed", parameters=TRUE | {"attribute_sd": 0.08}, random_seed=4)
    tried = {
        model: {
            problem.numbers.get("model") for problem in check_posterior(quick_fit(made, model), random_seed=1).problems
        }
        for model in ("hierarchical", "crossed")
    }
    assert "multivariate" in tried["hierarchical"]
    assert "multivariate" not in tried["crossed"]


def with_nu(fit: xr.DataTree, nu: float) -> xr.DataTree:
    """Return a fit of the default model as if its attribute words were Student t."""
    changed = fit.copy(deep=True)
    posterior = changed["posterior"].to_dataset()
    posterior["nu"] = (("chain", "draw"), np.full((posterior.sizes["chain"], posterior.sizes["draw"]), nu))
    changed["posterior"] = xr.DataTree(posterior)
    model = json.loads(changed.attrs["model"])
    model["switches"]["likelihood"] = "student_t"
    changed.attrs["model"] = json.dumps(model)
    return changed


@pytest.mark.slow
def test_a_student_t_likelihood(short_table: pd.DataFrame) -> None:
    """Given its other pairs, a pair is Student t with as many degrees of freedom more as it has other pairs."""
    normal = quick_fit(short_table, "multivariate")
    robust = with_nu(normal, 4.0)
    check, plain = check_posterior(robust, random_seed=1), check_posterior(normal, random_seed=1)
    pair, freedom = check.pairs.loc[100], 4.0 + short_table["protected_word"].nunique() - 1
    mean, scale = (values[0] for values in densities(robust, fitted_rows(robust)).predicted(np.array([100])))
    for column, share in (("low_89", 0.055), ("high_50", 0.75)):
        assert stats.t.cdf(pair[column], freedom, mean, scale).mean() == pytest.approx(share, abs=0.003)
    student = stats.t(freedom, mean, scale)
    left_out = np.average(student.cdf(pair["cosine_distance"]), weights=1 / student.pdf(pair["cosine_distance"]))
    assert pair["loo_pit"] == pytest.approx(left_out, abs=0.02)
    # Replicated attribute words are Student t: their distances vary sqrt(2) times as much, and have outliers.
    for statistic, least in (("sd", 1.3), ("kurtosis", 3.0)):
        wider, narrower = (
            one.statistics.set_index(["connection", "statistic"]).loc[("neutral", statistic), "high"]
            for one in (check, plain)
        )
        assert wider > least * narrower, statistic


def test_the_seed_repeats_and_a_bad_one_is_refused(
    short_fit: xr.DataTree, check: posterior_check.PosteriorCheck
) -> None:
    again = check_posterior(short_fit, random_seed=1)
    for name in ("pairs", "coverage", "statistics", "densities"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(check, name))
    other = check_posterior(short_fit)
    assert other.random_seed != 1
    assert not other.pairs["low_89"].equals(check.pairs["low_89"])
    with pytest.raises(ArgumentError, match="random_seed"):
        check_posterior(short_fit, random_seed=-1)


def test_of_a_large_table_some_pairs_are_drawn(
    short_fit: xr.DataTree, check: posterior_check.PosteriorCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posterior_check, "MOST_PAIRS", 400)
    monkeypatch.setattr("bayesbias.models.likelihood._BLOCK", 50_000)
    some = check_posterior(short_fit, random_seed=1)
    assert len(some.pairs) == 400
    assert some.summary[0].numbers == {"pairs": 400, "total_pairs": 832}
    assert some.summary[0].text.endswith("400 of 832 pairs, drawn at random.")
    whole = check.pairs.set_index(["protected_word", "attribute_word"])
    drawn = some.pairs.set_index(["protected_word", "attribute_word"])
    assert drawn.index.is_unique
    assert np.allclose(drawn["loo_pit"], whole.loc[drawn.index, "loo_pit"])
    observed = [one.statistics["observed"] for one in (some, check)]
    pd.testing.assert_series_equal(*observed)  # test statistics are of all rows


def test_small_tables(short_table: pd.DataFrame) -> None:
    one = short_table[short_table["connection"] == "human"]
    report = check_posterior(quick_fit(one), random_seed=1)
    assert report.coverage["connection"].tolist() == ["all", "human"]
    twenty = short_table.groupby("connection", observed=True).head(5)
    report = check_posterior(quick_fit(twenty), random_seed=1)
    assert report.coverage["pairs"].tolist() == [20, 5, 5, 5, 5]
    frames = (report.coverage, report.statistics, report.densities, report.pairs.drop(columns="pareto_k"))
    assert not any(frame.isna().any(axis=None) for frame in frames)
    with pytest.raises(ReportError, match="40 draws"):
        check_posterior(bb.fit(one, "hierarchical", draws=10, random_seed=1, progress=False))
    with pytest.raises(FitError, match=r"bb\.fit returns"):
        check_posterior(short_table)  # type: ignore[arg-type]


def test_a_word_without_rows_and_a_connection_of_one_pair() -> None:
    table = small(4, 3)
    lone = table[table["connection"] == "associated"].index[1:]
    table = table.drop(
        index=[*lone, *table[(table["protected_word"] == "p1") & (table["connection"] == "human")].index]
    )
    report = check_posterior(quick_fit(table), random_seed=1)
    kinds = report.statistics.query("connection == 'associated'")["statistic"].tolist()
    assert kinds == ["mean", "smallest", "largest"]
    assert not report.statistics.isna().any(axis=None)


def test_an_unconverged_fit_says_so(short_fit: xr.DataTree) -> None:
    doubtful = short_fit.copy(deep=True)
    doubtful.attrs["convergence_problems"] = '["R-hat is high."]'
    report = check_posterior(doubtful, random_seed=1)
    assert not report.converged
    assert report.problems[0].kind == "convergence"
    assert report.problems[0].numbers == {"problems": ["R-hat is high."]}


@pytest.mark.truth
@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    ("model", "outer", "inner"),
    [("hierarchical", 0.912, 0.557), ("crossed", 0.914, 0.577)],
)
def test_coverage_on_the_papers_table(model: str, outer: float, inner: float, shared: Path) -> None:
    """The paper says 90 % and 55 % for its model; our measured figures."""
    table = bb.read_table(shared / "data/published/tables/religion_google.csv.gz")
    report = check_posterior(quick_fit(table, model), random_seed=1)
    every = report.coverage.iloc[0]
    assert [every["inside_89"], every["inside_50"]] == pytest.approx([outer, inner], abs=0.006)
    failed = {
        problem.numbers["connection"]: problem.numbers for problem in report.problems if problem.kind == "statistics"
    }
    rows = {row["statistic"]: row for row in failed["neutral"]["statistics"]}
    assert rows["skewness"]["observed"] < rows["skewness"]["low"]
    assert rows["kurtosis"]["observed"] > rows["kurtosis"]["high"]


def test_intervals_are_nested(check: posterior_check.PosteriorCheck) -> None:
    columns = ["low_89", "low_50", "mean", "high_50", "high_89"]
    assert all((check.pairs[a] < check.pairs[b]).all() for a, b in pairwise(columns))


def test_weights_without_a_shape_are_not_trusted() -> None:
    """Draws that were not made for these distances, so that a few of them have all the weight."""
    report = check_posterior(made_fit(draws=50), random_seed=1)
    assert report.pairs["loo_pit"].between(0, 1).all()
    assert report.coverage.loc[0, "k_high"] == len(report.pairs)
    assert "influential pairs" in {problem.kind for problem in report.problems}
    only_influential = replace(
        report, problems=tuple(one for one in report.problems if one.kind == "influential pairs")
    )
    assert str(only_influential).startswith("The model describes these distances")


def test_text_notebook_and_json_are_renderings_of_the_fields(check: posterior_check.PosteriorCheck) -> None:
    fields = json.loads(json.dumps(check.to_dict()))
    assert [problem.to_dict() for problem in check.problems] == fields["parts"][-1]["statements"] != []
    assert fields["tables"]["coverage"] == check.coverage.to_dict("records")
    assert (check.random_seed, check.summary[1].numbers) == (1, fields["tables"]["coverage"][0])
    assert "\n\nPROBLEMS\n\n- " in str(check)
    assert "<h4>Problems</h4>" in check._repr_html_()


CONNECTIONS = ("all", "human", "neutral")
NORMAL = {"attribute_effects": "none", "likelihood": "normal"}


def problems(
    failed: dict[str, float] | None = None,
    *,
    switches: dict[str, str] = NORMAL,
    convergence: tuple[str, ...] = (),
    **columns: Any,
) -> dict[str, list[Statement]]:
    """Return by kind the problems of frames whose only faults are p-values of neutral words and the given columns."""
    coverage = pd.DataFrame({"connection": CONNECTIONS, "pairs": [400, 200, 200], "loo_inside_89": 0.89})
    coverage = coverage.assign(loo_inside_50=0.5, se_89=0.02, se_50=0.03, k_high=0).assign(**columns)
    statistics = pd.DataFrame(
        {
            "connection": connection,
            "statistic": name,
            "observed": 1.0,
            "low": 0.5,
            "high": 1.5,
            "p_value": 0.4,
            "p_value_se": 0.0001,
        }
        for connection in CONNECTIONS
        for name in STATISTICS
    )
    for name, p_value in (failed or {}).items():
        failing = (statistics["statistic"] == name) & (statistics["connection"] == "neutral")
        statistics.loc[failing, "p_value"] = p_value
    by_kind: dict[str, list[Statement]] = {}
    for statement in posterior_problems(coverage, statistics, {"switches": switches}, list(convergence)):
        by_kind.setdefault(statement.kind, []).append(statement)
    return by_kind


def test_nothing_is_said_of_a_model_that_fits() -> None:
    assert problems() == {}


def test_draws_that_did_not_converge_come_first() -> None:
    by_kind = problems({"mean": 0.0}, convergence=("R-hat is high.", "few draws"))
    assert list(by_kind) == ["convergence", "statistics", "chance"]
    assert by_kind["convergence"][0].numbers == {"problems": ["R-hat is high.", "few draws"]}


def test_statistics_that_fail_are_one_statement_a_connection() -> None:
    by_kind = problems({"skewness": 1.0, "largest": 0.0014, "sd": 0.002})
    (failed,) = by_kind["statistics"]
    assert failed.numbers["connection"] == "neutral"
    assert [row["statistic"] for row in failed.numbers["statistics"]] == ["skewness", "largest"]
    assert failed.numbers["statistics"][1] == {
        "connection": "neutral", "statistic": "largest", "observed": 1.0, "low": 0.5, "high": 1.5, "p_value": 0.0014,
        "p_value_se": 0.0001,
    }  # fmt: skip
    assert failed.text.startswith("neutral: ")
    assert "more left-skewed (skewness 1, replicated 0.5 to 1.5)" in failed.text
    assert "higher at the high end (largest 1, replicated 0.5 to 1.5)" in failed.text
    (chance,) = by_kind["chance"]
    assert chance.numbers == {"judged": 21, "probability": pytest.approx(1 - (1 - 2 * 0.0015) ** 21)}
    assert (
        "Another seed could flag or clear largest of neutral (p = 0.0014): less than three Monte Carlo errors from"
        in chance.text
    )


def test_coverage_is_that_of_pairs_that_were_not_seen() -> None:
    shares = np.array([0.89, 0.96, 0.94])
    more = problems(loo_inside_89=shares, se_89=[0.02, 0.02, 0.02], inside_89=0.5)["coverage"]
    assert [(statement.numbers["connection"], statement.numbers["interval"]) for statement in more] == [("human", 0.89)]
    assert more[0].text.startswith("human: 96.0% ")
    assert "89% interval" in more[0].text
    assert " more than " in more[0].text
    fewer = problems(loo_inside_50=[0.4, 0.5, 0.5])["coverage"]
    assert [(statement.numbers["connection"], statement.numbers["interval"]) for statement in fewer] == [("all", 0.5)]
    assert fewer[0].text.startswith("all pairs: 40.0%")
    # A share of few pairs is uncertain: three of its standard errors are allowed.
    assert problems(loo_inside_89=shares, se_89=0.03) == {}


def test_pairs_that_weigh_much_are_a_problem_where_they_are_many() -> None:
    assert problems(k_high=[4, 4, 0]) == {}
    (statement,) = problems(k_high=[5, 5, 0])["influential pairs"]
    assert (statement.numbers["k_high"], statement.numbers["pairs"]) == (5, 400)


@pytest.mark.parametrize(
    ("failed", "effects", "likelihood", "advised"),
    [
        ({"sd of attribute words": 0.0}, "none", "normal", ["multivariate"]),
        ({"sd of attribute words": 0.0}, "per_list", "normal", []),
        ({"kurtosis": 0.0}, "none", "normal", ["multivariate_robust"]),
        ({"smallest": 0.0, "skewness": 1.0}, "per_list", "normal", ["multivariate_robust"]),
        ({"kurtosis": 0.0}, "covariance", "normal", ["multivariate_robust"]),
        ({"skewness": 0.0, "mean": 0.0}, "covariance", "student_t", [None, None]),
        ({"kurtosis": 0.0}, "covariance", "student_t", []),
        ({"mean": 0.0}, "none", "normal", []),
    ],
)
def test_advice_is_a_model_of_another_shape(
    failed: dict[str, float], effects: str, likelihood: str, advised: list[str | None]
) -> None:
    switches = {"attribute_effects": effects, "likelihood": likelihood}
    advice = problems(failed, switches=switches).get("advice", [])
    assert [statement.numbers.get("model") for statement in advice] == advised
    assert all(statement.numbers["connections"] == ["neutral"] for statement in advice)


def test_numbers_are_the_rows_of_the_frames() -> None:
    frame = pd.DataFrame({"connection": ["human"], "pairs": [3]})
    assert rows_of(frame) == [{"connection": "human", "pairs": 3}]


def test_what_is_no_misfit_names_the_most_extreme_statistic_and_how_often_chance_gives_it() -> None:
    """A p of 0.996 beside "no problem" needs the number of statistics: one of 20 is as extreme in 15 % of checks."""
    check = check_posterior(made_fit(draws=100), random_seed=1, progress=False)
    rows = pd.DataFrame(
        {"connection": "human", "statistic": [f"statistic {place}" for place in range(20)], "p_value": 0.4}
    )
    rows.loc[7, "p_value"], rows["p_value_se"] = 0.996, 0.0001
    text = str(replace(check, statistics=rows, problems=()).summary[-1])
    assert "of 20 statistics, none is a misfit (p below 0.0015 or above 0.9985)" in text
    assert "The most extreme is the statistic 7 of human, with p = 0.9960" in text
    assert f"in about {100 * (1 - (1 - 0.008) ** 20):.1f}% of such checks" in text
    assert "Another seed" not in text
    rows["p_value_se"] = 0.001  # 0.996 lies within three of these of 0.9985
    text = str(replace(check, statistics=rows, problems=()).summary[-1])
    assert "Another seed could flag or clear statistic 7 of human (p = 0.9960): less than three Monte Carlo" in text


def test_a_statistic_of_all_pairs_is_judged_beside_those_of_connections() -> None:
    """A page said of 34 statistics that none was a misfit, above a table with p = 1 for all pairs."""
    names = ["all", "human", "neutral"]
    rows = pd.DataFrame({"connection": names, "statistic": "kurtosis", "p_value": [1.0, 0.5, 0.98]})
    assert posterior_check.judged_statistics(rows)["connection"].tolist() == names
    assert posterior_check.judged_statistics(rows[:2])["connection"].tolist() == ["human"], "all pairs are these"
