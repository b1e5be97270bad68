"""Calibration in short. The long version is validation/calibration/."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import arviz as az
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.delivery.plots.style import COLORS
from bayesbias.models.data import ModelData
from bayesbias.models.numerics.proposals import KHAT_MAX
from bayesbias.models.samplers.collapsed import _LEAST_EFFECTIVE
from bayesbias.models.scales import DISTANCE_ERROR
from bayesbias.models.simulate import draw_parameters, given_parameters
from tests.validation.numbers import prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "calibration"
# A false alarm in a test of one quantity, so that about 70 of them give one in 1 run of 14,000 with fresh seeds.
LEVEL = 1e-6


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Keep linear algebra to one thread: the matrices are small, and threads that wait for each other take longer."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("calibration", "simulations")


@pytest.fixture(scope="module")
def data(script: ModuleType) -> ModelData:
    return script.small_data()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "sampler", "draws", "replicates"),
    [
        ("hierarchical", "exact", 99, 100),
        ("no_pooling", "exact", 99, 100),
        ("crossed_per_list", "collapsed", 500, 20),
        ("multivariate", "conjugate", 300, 20),
        *(
            pytest.param(model, sampler, draws, replicates, marks=pytest.mark.truth)
            for model, sampler, draws, replicates in (
                ("hierarchical", "exact", 99, 200),
                ("no_pooling", "exact", 99, 200),
                ("crossed", "collapsed", 1000, 60),
                ("crossed_per_list", "collapsed", 1000, 60),
            )
        ),
    ],
)
def test_ranks_are_uniform(
    model: str, sampler: str, draws: int, replicates: int, script: ModuleType, data: ModelData
) -> None:
    sample = script.sampler_of(model, sampler, draws, 99, data)
    ranks, given_up = script.simulated_ranks(model, sample, data, replicates=replicates, seed=7)
    assert given_up <= 0.05 * replicates
    # With so few replicates 20 bins hold too little for a chi-square: 4 hold 5 or more each.
    for name in ranks:
        counts = np.bincount(ranks[name] * 4 // 100, minlength=4)
        assert stats.chisquare(counts).pvalue > LEVEL, (name, counts)


@pytest.mark.slow
def test_a_wrong_posterior_is_noticed(script: ModuleType, data: ModelData) -> None:
    # Half as wide as it should be, as attribute effects that are left out would make it.
    right = script.sampler_of("hierarchical", "exact", 99, 99, data)

    def too_narrow(rows: ModelData, seed: int) -> dict[str, np.ndarray]:
        return {name: (draws + draws.mean(axis=0)) / 2 for name, draws in right(rows, seed).items()}

    ranks, _ = script.simulated_ranks("hierarchical", too_narrow, data, replicates=200, seed=7)
    counts = np.bincount(ranks["connection_mean[human]"] * 4 // 100, minlength=4)
    assert stats.chisquare(counts).pvalue < LEVEL


def test_the_interval_is_that_of_arviz(script: ModuleType) -> None:
    draws = np.random.default_rng(1).gamma(2.0, size=1000)
    np.testing.assert_allclose(script.shortest_interval(draws), az.hdi(draws, prob=0.89), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("replicates", [15, pytest.param(100, marks=pytest.mark.truth)])
def test_crossed_covers_and_hierarchical_does_not(replicates: int, script: ModuleType, data: ModelData) -> None:
    spec = bb.load_model("crossed")
    given = given_parameters(data, spec, {"attribute_sd": 0.2, "word_sd": 0.05, "sigma": 0.1, "connection_mean": 0.9})
    frame, _ = script.coverage(
        data, lambda _, rng: draw_parameters(data, spec, rng=rng, given=given), replicates=replicates, seed=3
    )
    share = frame.set_index(["model", "quantity"])["coverage"]
    # Fewer than in all but 1 of 1,000 runs of a model whose intervals hold what they claim (binomial).
    least = stats.binom(replicates, 0.89).ppf(0.001) / replicates
    assert share["hierarchical", "connection_mean[neutral]"] < least
    assert share["crossed", "connection_mean[neutral]"] >= least
    assert set(frame["data_sets"]) == {replicates}


def test_the_figures_can_be_drawn(script: ModuleType, tmp_path: Path) -> None:
    calibrate = load_script("calibration", "calibrate")
    rng = np.random.default_rng(1)
    names = [f"{name}[{place}]" for name in ("connection_mean", "word_sd", "sigma") for place in COLORS]
    names += ["attribute_sd", *(f"associated - {place}" for place in list(COLORS)[1:])]
    ranks = pd.DataFrame({name: rng.integers(100, size=200) for name in names})
    script.uniformity(script.rank_counts(ranks, 99)).to_csv(tmp_path / "ranks_crossed_collapsed.csv", index=False)
    calibrate.draw_figures(tmp_path)
    assert (tmp_path / "ranks_crossed_collapsed.png").stat().st_size > 10_000


def test_the_kept_results_reject_nothing() -> None:
    kept = sorted(KEPT.glob("ranks_*.csv"))
    assert kept
    values = pd.concat([pd.read_csv(path) for path in kept])
    assert values["p_value"].min() > 0.05 / len(values)


def test_the_kept_intervals_of_crossed_hold_what_they_claim() -> None:
    kept = pd.concat([pd.read_csv(path) for path in sorted(KEPT.glob("coverage_prior*.csv"))])
    crossed = kept[kept["model"] == "crossed"].assign(held=lambda rows: rows["coverage"] * rows["data_sets"])
    # Two chances in 10,000 for one of them; the first run's lowest is three standard errors below: see its README.
    assert crossed["z"].abs().max() < 3.7
    pooled = crossed.groupby("quantity")[["held", "data_sets"]].sum()
    share = pooled["held"] / pooled["data_sets"]
    assert (share - 0.89).abs().max() < 3.7 * np.sqrt(0.89 * 0.11 / pooled["data_sets"].min())


COVERAGE = {
    name: pd.read_csv(KEPT / f"coverage_{name}.csv").set_index(["model", "quantity"])
    for name in ("prior", "prior_again", "prior_large", "posterior")
}
RUNS = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))


def test_the_results_are_those_of_the_tables(tmp_path: Path) -> None:
    for path in [*KEPT.glob("*.csv"), KEPT / "run.json"]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    load_script("calibration", "calibrate").write_results(tmp_path)
    assert (tmp_path / "results.md").read_text(encoding="utf-8") == (KEPT / "results.md").read_text(encoding="utf-8")


def test_the_text_shows_the_coverage_of_the_tables() -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    columns = [("prior_large", "hierarchical"), ("prior_large", "crossed"), ("prior", "crossed")]
    columns += [("prior_again", "crossed"), ("posterior", "hierarchical"), ("posterior", "crossed")]
    quantities = COVERAGE["prior"].loc["crossed"].index
    assert len(quantities) == 7
    for quantity in quantities:
        cells = (f"{COVERAGE[name].loc[(model, quantity), 'coverage']:.3f}" for name, model in columns)
        assert f"| {quantity} | {' | '.join(cells)} |" in text


def numbers_of_ranks(script: ModuleType) -> list[str]:
    """Return what the text says of the ranks, from the settings and run.json."""
    design, (kept, kept_of_nuts) = script.small_design(), (99, 19)
    ranked = load_script("calibration", "calibrate").RANKED
    assert {(run.sampler == "nutpie", run.kept) for run in ranked} == {(False, kept), (True, kept_of_nuts)}
    (nuts,) = (run for run in ranked if run.sampler == "nutpie")
    sizes = design.groupby("attribute_group")["attribute_word"].nunique()
    runs = [RUNS[run.name] for run in ranked]
    (replicates,) = {run["replicates"] for run in runs}
    given_up = RUNS[nuts.name]["given_up"]
    assert sum(run["given_up"] for run in runs) == given_up
    return [
        f"{design['protected_word'].nunique()} protected words in {design['protected_group'].nunique()} groups, "
        f"{sizes['first']} + {sizes['second']} stereotypes, {sizes['human']} human and "
        f"{sizes['neutral']} neutral words",
        f"Ranks among {kept} draws ({kept_of_nuts}, thinned from {nuts.draws:,} or more, for NUTS) fall in "
        f"{script.BINS} bins; the test is a chi-square with {script.BINS - 1} degrees",
        f"k-hat above {KHAT_MAX}; for NUTS, fewer than {script._LEAST_ESS} effective draws even in a chain "
        f"{4**script._MOST_LONGER} times",
        f"ranked on {replicates:,} data sets each, and so was NUTS ({replicates - given_up} of them; {given_up} "
        "it gave up)",
        f"ranked on {replicates:,} data sets with control words and on {replicates:,} without",
        "no quantity is rejected at 0.01 after correction",
        f"the error of a distance ({DISTANCE_ERROR})",
        f"variances far below {DISTANCE_ERROR}^2",
    ]


def numbers_of_coverage(script: ModuleType) -> list[str]:
    """Return what the text says of the intervals of both models."""
    runs = {name: run for name, run in RUNS.items() if name.startswith("coverage_")}
    assert sum(run["given_up"] for run in runs.values()) == 1
    error = {name: table["monte_carlo_se"].max() for name, table in COVERAGE.items()}
    replicates = {name: runs[f"coverage_{name}"]["replicates"] for name in COVERAGE}
    assert replicates["prior"] == replicates["prior_again"]
    first, again, large, real = (table.loc["crossed"] for table in COVERAGE.values())
    lowest = first["coverage"].idxmin()
    assert first["z"].abs().max() < 3 > again["z"].abs().max()
    assert first.loc[lowest, "z"] == pytest.approx(-3, abs=0.1)
    means = {name: 100 * COVERAGE[name].loc["hierarchical", "coverage"] for name in ("posterior", "prior_large")}
    neutral, human, different, associated = (
        means["posterior"][f"connection_mean[{kind}]"] for kind in ("neutral", "human", "different", "associated")
    )
    contrasts = means["posterior"][["associated - neutral", "associated - human"]]
    of_means = means["prior_large"][means["prior_large"].index.str.startswith("connection_mean")]
    return [
        f"each data set is fitted by both models ({script.COVERAGE_DRAWS:,} draws)",
        f"one data set in {sum(run['replicates'] for run in runs.values()):,} was given up",
        f"two of {replicates['prior']:,} data sets (Monte Carlo standard error {error['prior']:.3f})",
        "three standard errors below 0.89",
        f"a third of {replicates['prior_large']:,} ({error['prior_large']:.4f})",
        f"With the posterior of WEAT 7, {replicates['posterior']:,} data sets",
        f"`crossed` holds 0.89 within {large['z'].abs().max():.1f} standard errors for all seven quantities in the "
        "large run",
        f"({first.loc[lowest, 'coverage']:.3f}) is not confirmed: the large run has "
        f"{large.loc[lowest, 'coverage']:.3f}",
        f"`crossed` holds {real['coverage'].min():.2f} to {real['coverage'].max():.2f}, on the safe side",
        f"its 89 % interval of the neutral mean is really one of {neutral:.0f} %",
        f"different means are of {human:.0f} to {different:.0f} %",
        f"that of the associated mean of {associated:.0f} %",
        # 0.865 is 86 % by Python's rounding to even.
        f"{contrasts.min():.0f} to {contrasts.max():.0f} % for associated minus neutral and human",
        f"{of_means.min():.0f} to {of_means.max():.0f} % for means",
        f"The shortest interval of {script.COVERAGE_DRAWS:,} independent Normal draws holds 0.887 and not 0.890",
        "(0.883 with 1,000 draws)",
    ]


def test_the_text_says_the_numbers_of_the_tables_and_no_others(script: ModuleType) -> None:
    """From the ranks on: what is above describes the samplers by formulas."""
    text = prose(KEPT / "README.md")
    results = text[text.index("## Simulation-based calibration") : text.index("## References")]
    assert unexplained(results, [*numbers_of_ranks(script), *numbers_of_coverage(script)]) == []


def test_the_text_names_the_limits_of_the_samplers() -> None:
    text = prose(KEPT / "README.md")
    assert f"stays above {KHAT_MAX}, or fewer than {_LEAST_EFFECTIVE} effective points" in text


@pytest.mark.parametrize(("draws", "held"), [(4000, 0.887), (1000, 0.883)])
def test_what_the_shortest_interval_of_normal_draws_holds(script: ModuleType, draws: int, held: float) -> None:
    rng = np.random.default_rng(1)
    ends = np.array([script.shortest_interval(rng.standard_normal(draws)) for _ in range(1000)])
    assert (stats.norm.cdf(ends[:, 1]) - stats.norm.cdf(ends[:, 0])).mean() == pytest.approx(held, abs=0.0008)
