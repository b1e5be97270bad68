"""Posteriors of measures: against the measures themselves, loops over draws, and tables with known parameters."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError, ReportError
from bayesbias.metrics.associations.mac import mac
from bayesbias.metrics.associations.mean_vectors import ect
from bayesbias.metrics.associations.weat import weat
from bayesbias.metrics.similarities import Similarities
from bayesbias.metrics.subspaces.mean_cosine import weat_score
from bayesbias.models.data import model_data
from bayesbias.models.fits import finish_fit
from bayesbias.models.spec import load_model
from bayesbias.reports.measures import measure_posterior as measure_draws
from bayesbias.reports.measures.measure_posterior import (
    WORDS,
    dataset_of_values,
    measure_posterior,
    summary_of_values,
    summary_of_words,
)
from tests.models.dependent_words import SAMPLE, forms, tables_of, without_links

VECTORS = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
WEAT7 = ("math", "arts"), ("male", "female")


def quick_fit(table: pd.DataFrame, model: str = "crossed_per_list", draws: int = 400) -> xr.DataTree:
    return bb.fit(table, model, draws=draws, chains=2, random_seed=1, progress=False)


@pytest.fixture(scope="module")
def table(short_table: pd.DataFrame) -> pd.DataFrame:
    return short_table


@pytest.fixture(scope="module")
def crossed(table: pd.DataFrame) -> xr.DataTree:
    return quick_fit(table, draws=1000)


@pytest.fixture(scope="module")
def religion() -> xr.DataTree:
    return quick_fit(bb.distance_table(VECTORS, small_religion()))


def small_religion() -> bb.Study:
    """Three groups of unequal length, three attribute groups, no control words."""
    return bb.Study(
        name="small",
        protected={"jews": ["judaism", "jew", "torah"], "christians": ["bible", "church"], "arts": ["poetry", "art"]},
        attributes={"male": ["he", "him", "son"], "female": ["she", "her"], "work": ["office", "salary", "career"]},
        associated=[("jews", "male"), ("christians", "female"), ("arts", "work")],
        human="none",
        neutral="none",
    )


def known_fit(
    table: pd.DataFrame, *, associated: float, different: float, sigma: float, draws: int = 500
) -> xr.DataTree:
    """A fit whose draws are all the same: the parameters are known."""
    data = model_data(table)
    means = np.array([associated, different, 1.0, 1.0])[: len(data.connections)]
    shape = 1, draws
    coords = {
        "chain": [0],
        "draw": np.arange(draws),
        "connection": list(data.connections),
        "protected_word": data.protected_words,
    }
    by_connection = ("chain", "draw", "connection")
    posterior = xr.Dataset(
        {
            "connection_mean": (by_connection, np.tile(means, (*shape, 1))),
            "word_sd": (by_connection, np.full((*shape, len(means)), 0.01)),
            "sigma": (by_connection, np.full((*shape, len(means)), sigma)),
            "word_mean": (
                ("chain", "draw", "protected_word", "connection"),
                np.tile(means, (*shape, len(data.protected_words), 1)),
            ),
        },
        coords=coords,
    )
    sample_stats = xr.Dataset({"diverging": (("chain", "draw"), np.zeros(shape, dtype=bool))})
    settings = {"sampler": "exact", "draws": draws, "tune": 0, "chains": 1, "random_seed": 1}
    return finish_fit(posterior, sample_stats, data, load_model("hierarchical"), table, settings=settings)


def similarities(fit: xr.DataTree, draw: int, words: tuple[str, ...], attributes: tuple[str, ...]) -> np.ndarray:
    """The noise-free similarities of one draw of the first chain, pair by pair, by name."""
    posterior = fit["posterior"].to_dataset().isel(chain=0, draw=draw)
    table = bb.models.fitted_table(fit).set_index(["protected_word", "attribute_word"])["connection"]
    values = np.empty((len(words), len(attributes)))
    for i, word in enumerate(words):
        for j, attribute in enumerate(attributes):
            mean = posterior["word_mean"].sel(protected_word=word, connection=table[word, attribute])
            effect = (
                posterior["attribute_effect"].sel(attribute_word=attribute) if "attribute_effect" in posterior else 0
            )
            values[i, j] = 1 - float(mean) - float(effect)
    return values


def brute_effect_size(similarity: np.ndarray, x: int, a: int) -> float:
    s = [row[:a].mean() - row[a:].mean() for row in similarity]
    return float((np.mean(s[:x]) - np.mean(s[x:])) / np.std(s, ddof=1))


def test_observed_is_the_published_value(crossed: xr.DataTree) -> None:
    """0.97 in Caliskan's supplement for word2vec, with n - 1."""
    row = measure_posterior(crossed, random_seed=1).summary.iloc[0]
    assert row["statistic"] == "effect_size"
    assert row["observed"] == pytest.approx(0.9664, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("weat", {}),
        ("weat", {"statistic": "mean", "ddof": 0}),
        ("weat_score", {}),
        ("weat_score", {"estimator": "paired"}),
        ("mac", {}),
        ("ect", {}),
    ],
)
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")  # of control words
def test_observed_equals_the_measure_itself(name: str, options: dict[str, Any]) -> None:
    measures = {"weat": weat, "weat_score": weat_score, "mac": mac, "ect": ect}
    extra = {"normalize": True} if name == "ect" else {}
    expected = measures[name](VECTORS, "weat7", **options, **extra)  # type: ignore[operator]
    posterior = measure_posterior(quick_fit(bb.distance_table(VECTORS, "weat7")), name, random_seed=1, **options)
    for row in posterior.summary.to_dict("records"):
        assert row["observed"] == pytest.approx(expected.statistics[row["statistic"]], abs=1e-12), row["statistic"]
    assert posterior.summary["statistic"].iloc[0] == next(iter(expected.statistics))
    if name == "weat":
        assert posterior.words["protected_word"].tolist() == expected.scores["word"].tolist()
        np.testing.assert_allclose(posterior.words["observed"], expected.scores["score"], atol=1e-12)
    assert ("give words of a list the same mean" in str(posterior).replace("\n", " ")) == (name == "ect")
    if name == "mac":
        assert posterior.words["attribute_group"].tolist() == expected.scores["attribute_group"].tolist()
        np.testing.assert_allclose(posterior.words["observed"], expected.scores["score"], atol=1e-12)


def test_observed_of_many_groups(religion: xr.DataTree) -> None:
    observed = measure_posterior(religion, "mac", random_seed=1).summary.set_index("statistic")["observed"]
    for name, value in mac(VECTORS, small_religion()).statistics.items():
        assert observed[name] == pytest.approx(value, abs=1e-12), name
    names = ("male", "female")
    here = {"targets": ("jews", "christians"), "statistic": "mean"}
    one = measure_posterior(religion, "weat", random_seed=1, **here)
    other = measure_posterior(religion, "weat", random_seed=1, attributes=names, **here)
    assert one.summary.equals(other.summary)
    expected = weat(VECTORS, small_religion(), **here)  # type: ignore[arg-type]
    assert one.summary["observed"].iloc[0] == pytest.approx(expected.effect_size, abs=1e-12)


@pytest.mark.parametrize("model", ["crossed_per_list", "crossed", "hierarchical", "no_pooling"])
def test_expected_by_brute_force(table: pd.DataFrame, model: str) -> None:
    fit = quick_fit(table, model, draws=200)
    study = bb.load_study("weat7")
    posterior = measure_posterior(fit, random_seed=1)
    words = (*study.protected["math"], *study.protected["arts"])
    attributes = (*study.attributes["male"], *study.attributes["female"])
    for draw in (0, 7, 199):
        similarity = similarities(fit, draw, words, attributes)
        size = float(posterior.draws["expected"].sel(chain=0, draw=draw, statistic="effect_size"))
        assert size == pytest.approx(brute_effect_size(similarity, 8, 8))


def test_estimates_are_those_of_the_draws(crossed: xr.DataTree) -> None:
    posterior = measure_posterior(crossed, hdi_prob=0.5, random_seed=1)
    row = posterior.summary.iloc[1]
    draws = np.sort(posterior.draws["expected"].sel(statistic="test_statistic").to_numpy().ravel())
    assert row["mean"] == pytest.approx(draws.mean())
    inside = ((draws >= row["hdi_low"]) & (draws <= row["hdi_high"])).mean()
    assert inside == pytest.approx(0.5, abs=0.01)
    repeated, null = (
        posterior.draws[name].sel(statistic="test_statistic").to_numpy().ravel() for name in ("repeated", "null")
    )
    assert np.quantile(repeated, [0.25, 0.75]) == pytest.approx([row["repeated_low"], row["repeated_high"]])
    assert np.quantile(null, [0.025, 0.975]) == pytest.approx([row["null_low"], row["null_high"]])
    assert row["beyond_null"] == np.mean((repeated < row["null_low"]) | (repeated > row["null_high"]))
    tail = np.mean(null >= row["observed"])
    assert row["null_share"] == pytest.approx(2 * min(tail, 1 - tail))
    assert len(null) >= 10_000


def test_null_and_repeated_of_known_parameters(table: pd.DataFrame) -> None:
    """s(w, A, B) is Normal with variance sigma^2 (1/8 + 1/8); the test statistic has 16 of them."""
    fit = known_fit(table, associated=0.90, different=0.95, sigma=0.08, draws=10_000)
    summary = measure_posterior(fit, random_seed=1).summary.set_index("statistic")
    sd = 0.08 * np.sqrt(0.25 * 16)
    row = summary.loc["test_statistic"]
    assert row["mean"] == pytest.approx(16 * 0.05)
    assert row["null_low"] == pytest.approx(-1.96 * sd, abs=4 * row["null_se"])
    assert row["null_high"] == pytest.approx(1.96 * sd, abs=4 * row["null_se"])
    # Of a Normal quantile: sqrt(0.025 * 0.975 / n) over the density there.
    assert row["null_se"] == pytest.approx(np.sqrt(0.025 * 0.975 / 10_000) / stats.norm.pdf(1.96) * sd, rel=0.3)
    half = stats.norm.isf(0.055) * sd
    assert [row["repeated_low"], row["repeated_high"]] == pytest.approx([0.8 - half, 0.8 + half], abs=0.02)
    beyond = stats.norm.sf(1.96 - 0.8 / sd) + stats.norm.cdf(-1.96 - 0.8 / sd)
    assert row["beyond_null"] == pytest.approx(beyond, abs=0.01)
    # Without noise the words of a group are alike, and the effect size is at its bound.
    assert summary.loc["effect_size", "mean"] == pytest.approx(2 * np.sqrt(15 / 16))


def test_share_of_the_null_is_uniform_where_nothing_is_associated(table: pd.DataFrame) -> None:
    """Tables without association, their effect sizes by a loop: the share must be uniform (Kolmogorov-Smirnov)."""
    fit = known_fit(table, associated=0.95, different=0.9501, sigma=0.08, draws=10_000)
    null = measure_posterior(fit, random_seed=1).draws["null"].sel(statistic="effect_size").to_numpy()
    rng = np.random.default_rng(2)
    sizes = [brute_effect_size(0.05 + 0.08 * rng.standard_normal((16, 16)), 8, 8) for _ in range(1000)]
    shares = [2 * min(np.mean(null >= size), np.mean(null <= size)) for size in sizes]
    assert stats.kstest(shares, "uniform").pvalue > 0.01
    # A null with half the effect size would fail.
    wrong = [2 * min(np.mean(null / 2 >= size), np.mean(null / 2 <= size)) for size in sizes]
    assert stats.kstest(wrong, "uniform").pvalue < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("samples", [12, pytest.param(100, marks=pytest.mark.truth)])
def test_share_of_the_null_is_uniform_for_fits_of_tables_without_association(samples: int, table: pd.DataFrame) -> None:
    parameters = {"connection_mean": 0.95, "word_sd": 1e-4, "sigma": 0.06, "attribute_sd": 0.02}
    stereotypes = table[table["connection"].isin(["associated", "different"])]
    shares = []
    for seed in range(samples):
        made = bb.models.simulate_table(stereotypes, "crossed_per_list", parameters=parameters, random_seed=seed)
        summary = measure_posterior(quick_fit(made, draws=300), random_seed=seed).summary
        shares.append(summary["null_share"].to_numpy())
    for column in np.transpose(shares):
        assert stats.kstest(column, "uniform").pvalue > 0.001


def test_effect_size_without_noise_grows_where_words_are_pooled(table: pd.DataFrame) -> None:
    """What the docstring warns of, on tables whose word means are alike: large with, two-sided without association."""
    parameters = {"word_sd": 0.002, "sigma": 0.08, "attribute_sd": 0.02}
    there = bb.models.simulate_table(
        table, parameters={**parameters, "connection_mean": [0.92, 0.95, 1, 1]}, random_seed=1
    )
    row = measure_posterior(quick_fit(there), random_seed=1).summary.iloc[0]
    assert row["mean"] - row["observed"] > 2 * row["sd"] / np.sqrt(row["ess_bulk"])
    assert row["hdi_high"] > 1.7
    nothing = bb.models.simulate_table(
        table, parameters={**parameters, "connection_mean": [0.95, 0.95, 1, 1]}, random_seed=2
    )
    posterior = measure_posterior(quick_fit(nothing), random_seed=1)
    row = posterior.summary.iloc[0]
    assert row["null_low"] < row["observed"] < row["null_high"]
    assert row["sd"] > 0.5
    bounded = np.abs(posterior.draws["expected"].sel(statistic="effect_size"))
    assert float(bounded.max()) <= 2 * np.sqrt(15 / 16)


def test_effect_size_without_noise_shrinks_where_associations_are_hardly_pooled(crossed: xr.DataTree) -> None:
    """WEAT 7 in Google News: 0.97 observed, 0.85 expected; the linear statistic stays."""
    posterior = measure_posterior(crossed, random_seed=1)
    size, statistic = posterior.summary.to_dict("records")
    assert size["mean"] == pytest.approx(0.85, abs=0.03)
    assert abs(statistic["mean"] - statistic["observed"]) < 0.1 * statistic["sd"]
    spread = posterior.draws["expected"].sel(statistic="test_statistic") / (
        8 * posterior.draws["expected"].sel(statistic="effect_size")
    )
    assert float(spread.mean()) > statistic["observed"] / (8 * size["observed"])


@pytest.mark.slow
def test_effect_size_in_weat_7_is_that_of_the_docstring() -> None:
    """One model hardly pools associations; the default pools them as far as the attribute words show."""
    whole = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    row = measure_posterior(bb.fit(whole, "hierarchical", random_seed=1), random_seed=1).summary.iloc[0]
    assert row["mean"] == pytest.approx(0.83, abs=0.02)
    row = measure_posterior(bb.fit(whole, random_seed=1, progress=False), random_seed=1).summary.iloc[0]
    assert row["mean"] == pytest.approx(0.98, abs=0.03)
    assert row["hdi_low"] == pytest.approx(-0.27, abs=0.08)
    assert row["hdi_high"] == pytest.approx(1.88, abs=0.08)


def test_null_of_mac_is_centered_on_what_was_observed(crossed: xr.DataTree) -> None:
    posterior = measure_posterior(crossed, "mac", random_seed=1)
    rows = posterior.summary.set_index("statistic")
    assert rows.loc["mac", "null_share"] > 0.9
    assert rows.loc["mac_associated", "null_mean"] == pytest.approx(rows.loc["mac_different", "null_mean"], abs=1e-3)
    # Attribute effects are drawn anew in the null: it is wider than a repetition with the same words.
    assert rows.loc["mac", "null_high"] - rows.loc["mac", "null_low"] > 1.5 * (
        rows.loc["mac", "repeated_high"] - rows.loc["mac", "repeated_low"]
    )
    assert "MAC averages" in str(posterior)


def test_components_add_up(crossed: xr.DataTree) -> None:
    draws = measure_posterior(crossed, "weat_score", random_seed=1).draws
    for name in ("expected", "repeated", "null", "observed"):
        part = {str(statistic): draws[name].sel(statistic=statistic) for statistic in draws["statistic"].to_numpy()}
        np.testing.assert_allclose(part["score"], part["a_c"] + part["b_d"] - part["b_c"] - part["a_d"], atol=1e-12)


def test_blocks_are_no_part_of_the_result(crossed: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = measure_posterior(crossed, "mac", random_seed=1)
    monkeypatch.setattr(measure_draws, "_NUMBERS_A_BLOCK", 256 * 37)
    blocks = measure_posterior(crossed, "mac", random_seed=1)
    xr.testing.assert_allclose(whole.draws, blocks.draws, rtol=1e-12)


def test_seed_repeats_and_is_recorded(crossed: xr.DataTree) -> None:
    first, second, third = (measure_posterior(crossed, random_seed=seed) for seed in (3, 3, 4))
    assert first.summary.equals(second.summary)
    assert not first.summary["null_low"].equals(third.summary["null_low"])
    drawn = measure_posterior(crossed)
    assert drawn.summary.equals(measure_posterior(crossed, random_seed=drawn.random_seed).summary)


def test_words_are_as_the_statistics_say(crossed: xr.DataTree) -> None:
    posterior = measure_posterior(crossed, "weat", statistic="mean", random_seed=1)
    words, statistics = posterior.words, posterior.summary.set_index("statistic")
    groups = words.groupby("protected_group", sort=False)["mean"].mean()
    assert groups["math"] - groups["arts"] == pytest.approx(statistics.loc["test_statistic", "mean"])
    assert ((words["null_low"] < 0) & (words["null_high"] > 0)).all()
    assert list(words.columns[:2]) == ["protected_word", "protected_group"]


def test_print(crossed: xr.DataTree) -> None:
    text = " ".join(str(measure_posterior(crossed, random_seed=1)).split())
    assert "math, arts by male, female" in text
    assert "effect_size: observed 0.966. " in text
    assert "read strength from the test statistic" in text
    assert "±" in text


def test_lost_words_are_said(crossed: xr.DataTree) -> None:
    lost = measure_posterior(crossed, "weat", attributes=("male", "human"), random_seed=1)
    assert "blogger" in lost.lost_words["human"]
    assert "Lost words: blogger" in str(lost)
    assert not measure_posterior(crossed, "weat", random_seed=1).lost_words


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"measure": "waet"}, ReportError, r"waet.*did you mean 'weat'"),
        ({"measure": "canonical_subspace"}, ReportError, "canonical_subspace"),
        ({"dof": 0}, ReportError, r"no option 'dof'.*did you mean 'ddof'"),
        ({"measure": "mac", "targets": ("math", "arts")}, MeasureError, "targets"),
        ({"targets": ("math", "art")}, MeasureError, r"'art'.*did you mean 'arts'"),
        ({"attributes": ("human", "neutral")}, ReportError, "associated and different"),
        ({"statistic": "median"}, ArgumentError, "statistic=.* sum, mean"),
        ({"measure": "weat_score", "estimator": "centroid"}, ArgumentError, "estimator=.* grand_mean, paired"),
        ({"ddof": 2}, MeasureError, "ddof=2"),
        ({"hdi_prob": 2}, ArgumentError, "hdi_prob=2"),
    ],
)
def test_mistakes(crossed: xr.DataTree, arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        measure_posterior(crossed, random_seed=1, **arguments)


def test_a_pair_that_the_fit_lacks(table: pd.DataFrame) -> None:
    with pytest.raises(ReportError, match=r"256 pairs .* 1: math - male"):
        measure_posterior(quick_fit(table.iloc[1:]), random_seed=1)


def test_lists_of_unequal_length(religion: xr.DataTree) -> None:
    sums, means = (
        measure_posterior(religion, "weat", targets=("jews", "christians"), statistic=name, random_seed=1).summary
        for name in ("sum", "mean")
    )
    assert sums.loc[0, "observed"] == means.loc[0, "observed"]  # the effect size is one of means
    assert sums.loc[1, "observed"] != means.loc[1, "observed"]


def test_many_groups_must_be_named(religion: xr.DataTree) -> None:
    for name in ("weat", "weat_score", "ect"):
        with pytest.raises(MeasureError, match=r"Name two of them \(targets\)"):
            measure_posterior(religion, name)


def test_paired_lists_that_lost_words(table: pd.DataFrame) -> None:
    shorter = table[~table["protected_word"].isin(["math"])].copy()
    shorter.attrs["bayesbias"] = {
        **table.attrs["bayesbias"],
        "lost_words": [{"word": "math", "role": "protected", "list": "math", "reason": "a test"}],
    }
    fit = quick_fit(shorter)
    with pytest.raises(ReportError, match="estimator='grand_mean'"):
        measure_posterior(fit, "weat_score", estimator="paired")


def test_words_that_depend_on_each_other_widen_all_intervals_of_a_measure() -> None:
    """Real vectors, lists of forms of words: expected, repeated and null values."""
    (made,) = tables_of(forms(8, 4, np.random.default_rng(1), 0.5), SAMPLE[100:112]).values()
    widths = []
    for of_words in (made, without_links(made)):
        fit = bb.fit(of_words, draws=1000, chains=2, random_seed=1, progress=False)
        row = measure_posterior(fit, "weat", random_seed=1).summary.iloc[0]
        names = ("hdi", "repeated", "null")
        widths.append([row[f"{name}_high"] - row[f"{name}_low"] for name in names])
    dependent, independent = widths
    assert (np.array(dependent[1:]) > 1.02 * np.array(independent[1:])).all()
    assert dependent[0] > independent[0]


RNG = np.random.default_rng(1)
PARTS = (
    {"effect_size": np.array(1.5)},
    {"effect_size": RNG.normal(1.4, 0.2, 2000)},
    {"effect_size": RNG.normal(1.4, 0.4, 2000)},
    {"effect_size": RNG.normal(0, 1, 10_000)},
)


def test_a_row_has_the_moments_and_tails_of_the_draws() -> None:
    draws = dataset_of_values(PARTS, (4, 500))
    assert draws["expected"].dims == ("chain", "draw", "statistic")
    np.testing.assert_array_equal(draws["expected"][1, :, 0], PARTS[1]["effect_size"][500:1000])
    row = summary_of_values(draws, 0.89, None).iloc[0]
    _, expected, repeated, null = (part["effect_size"] for part in PARTS)
    assert (row["observed"], row["mean"]) == (1.5, pytest.approx(expected.mean()))
    assert [row["repeated_low"], row["repeated_high"]] == pytest.approx(np.quantile(repeated, [0.055, 0.945]))
    low, high = np.quantile(null, [0.025, 0.975])
    assert [row["null_low"], row["null_high"]] == pytest.approx([low, high])
    assert row["beyond_null"] == pytest.approx(((repeated < low) | (repeated > high)).mean(), abs=1e-3)
    assert row["null_share"] == pytest.approx(2 * (null >= 1.5).mean(), abs=1e-3)
    # The error of a quantile q of a Normal sample is sqrt(q (1 - q) / n) / density: here 0.0267 at either end.
    assert row["null_se"] == pytest.approx(0.0267, rel=0.25)


def test_words_have_rows_of_their_own() -> None:
    values = np.array([[0.1, 0.2], [0.3, 0.4]])
    observed = Similarities(values, {"x": ["a"], "y": ["b"]}, {"s": ["c"], "t": ["d"]}, (("x", "s"), ("y", "t")))
    assert summary_of_words(observed, PARTS, (4, 500), 0.89, None).empty
    flat = np.array([5.0, 6.0])
    sizes = (None, 2000, 2000, 10_000)
    parts = tuple({WORDS: flat if n is None else flat + RNG.normal(0, 0.1, (n, 2))} for n in sizes)
    frame = summary_of_words(observed, parts, (4, 500), 0.89, None)
    assert frame[["protected_word", "protected_group", "observed"]].to_numpy().tolist() == [
        ["a", "x", 5.0],
        ["b", "y", 6.0],
    ]
    assert frame["mean"].tolist() == pytest.approx(flat, abs=5 * 0.1 / np.sqrt(2000))
