"""Evocation data as a source: what is known of few people, and of pairs that are listed in one direction alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal, norm

import bayesbias as bb
from bayesbias.asymmetry.log_ratios import LOWEST
from bayesbias.asymmetry.norms_source import (
    DEPENDENCES,
    LEAST_PAIRS,
    LEAST_SHARE,
    USUAL,
    PowerLawPrior,
    estimate_prior,
)
from bayesbias.errors import ArgumentError, MeasureError
from tests.asymmetry.made import made_norms


def table(*rows: tuple[Any, ...]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["cue", "response", "count", "participants"])


def test_ratios_of_many_people_are_those_of_shares() -> None:
    source = bb.asymmetry.evocation(
        table(("guitar", "music", 30_000, 146_000), ("music", "guitar", 3_000, 150_000)), name="many"
    )
    row = bb.asymmetry.lar(source, [("guitar", "music")]).loc[0]
    assert row["lar"] == pytest.approx(np.log(30 / 146) - np.log(3 / 150), abs=0.01)
    assert row["log_b_given_a"] == pytest.approx(np.log(30 / 146), abs=0.01)
    assert row["hdi_high"] - row["hdi_low"] < 0.1
    assert row["left_out"] == ""


def test_an_lar_turned_round_is_its_negative() -> None:
    source = bb.asymmetry.evocation(made_norms())
    pairs = source.pairs(seen="either").head(50)
    ahead = bb.asymmetry.lar(source, pairs)
    back = bb.asymmetry.lar(source, pairs.rename(columns={"a": "b", "b": "a"}))
    np.testing.assert_allclose(ahead["lar"], -back["lar"])
    # The density is flat at an interval's ends: of an even grid of tails another may be the shortest.
    np.testing.assert_allclose(ahead["hdi_low"], -back["hdi_high"], atol=0.15)
    np.testing.assert_allclose(ahead["probability_of_direction"], back["probability_of_direction"], atol=1e-4)


def test_a_cue_with_two_participants_says_little() -> None:
    few = bb.asymmetry.evocation(table(("a", "b", 1, 2), ("b", "a", 1, 200)))
    many = bb.asymmetry.evocation(table(("a", "b", 100, 200), ("b", "a", 1, 200)))
    widths = [(frame["hdi_high"] - frame["hdi_low"])[0] for frame in (_one_pair(few), _one_pair(many))]
    assert widths[0] > 1.3 * widths[1]
    assert 0.5 < _one_pair(few)["probability_of_direction"][0] < _one_pair(many)["probability_of_direction"][0]


def _one_pair(source: Any) -> pd.DataFrame:
    return bb.asymmetry.lar(source, [("a", "b")])


def test_a_pair_that_is_listed_in_one_direction_has_a_wide_interval() -> None:
    both = bb.asymmetry.evocation(table(("a", "b", 30, 150), ("b", "a", 3, 150)))
    one = bb.asymmetry.evocation(table(("a", "b", 30, 150), ("b", "c", 3, 150)))
    twice = bb.asymmetry.evocation(table(("a", "b", 30, 150), ("b", "c", 3, 150)), least_count=2)
    widths = [(frame["hdi_high"] - frame["hdi_low"])[0] for frame in map(_one_pair, (both, one, twice))]
    assert widths[0] < widths[1]
    assert _one_pair(one)["lar"][0] > _one_pair(twice)["lar"][0] > _one_pair(both)["lar"][0]
    assert one.pairs(seen="either")[["forward", "backward"]].values.tolist() == [[30, 0]]
    with pytest.raises(MeasureError, match="pairs"):
        bb.asymmetry.lar(one, one.pairs())


def test_words_that_are_no_cues_are_left_out_with_the_reason() -> None:
    source = bb.asymmetry.evocation(table(("a", "b", 30, 150), ("b", "a", 3, 150)), name="toy")
    frame = bb.asymmetry.lar(source, [("a", "x"), ("a", "b"), ("y", "x")])
    assert frame["left_out"].tolist() == [
        "'x' is not a cue of toy",
        "",
        "'y' is not a cue of toy; 'x' is not a cue of toy",
    ]
    assert frame["lar"].isna().tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (table(("a", "b", 1, 10)).drop(columns="count"), "columns count"),
        (table(), "rows"),
        (table(("a", "b", 1.5, 10)), r"Row 0 .* 1\.5 as count"),
        (table(("a", "b", 0, 10), ("b", "a", -1, 10)), "2 faults"),
        (table(("a", "b", 1, None)), "participants: .* 1 to 1,000,000"),
        (table((None, "b", 1, 10)), "None as cue"),
        (table(("a", "b", 1, 10), ("a", "b", 2, 10)), "a -> b .*row 1"),
        (table(("a", "b", 1, 10), ("a", "c", 2, 11)), "'a' .*10 participants .* 11 "),
        (table(("a", "b", 6, 10), ("a", "c", 5, 10)), "'a' .* 11 answers.* 10 participants"),
        (table(("a", "b", True, True)).astype({"count": bool}), "True as count"),
    ],
)
def test_tables_that_are_none(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        bb.asymmetry.evocation(frame)


def test_a_least_count_that_the_table_breaks() -> None:
    with pytest.raises(MeasureError, match=r"least_count=2.* 1"):
        bb.asymmetry.evocation(table(("a", "b", 1, 10)), least_count=2)
    with pytest.raises(ArgumentError, match="least_count=3"):
        bb.asymmetry.evocation(table(("a", "b", 3, 10)), least_count=3)


@pytest.mark.shared
def test_the_norms_of_south_florida_and_their_counts_of_both_directions(
    shared: Path, south_florida: bb.asymmetry.Evocation
) -> None:
    """8,383 pairs go both ways; the prior predicts the counts that are listed within two hundredths."""
    from bayesbias.asymmetry.log_ratios import grid, log_likelihood

    frame = bb.asymmetry.read_evocation(shared / "data" / "evocation" / "usf_free_association.csv.gz")
    assert (len(frame), len(south_florida.cues), len(south_florida.pairs())) == (72_155, 5_017, 8_383)
    pairs = south_florida.pairs(seen="either")
    counts = np.concatenate([pairs["forward"], pairs["backward"]])
    logs = grid(150)
    mass = south_florida.prior.weights(logs)
    n = np.array([2, 3, 5, 10, 20])
    expected = np.exp(log_likelihood(logs, n, np.full(5, 150), 1)) @ mass
    expected /= 1 - np.exp(log_likelihood(logs, np.array([0]), np.array([150]), 2))[0] @ mass
    np.testing.assert_allclose(expected, [(counts == k).mean() / (counts > 0).mean() for k in n], atol=0.02)


@pytest.mark.shared
def test_a_guitar_evokes_music_more_than_music_a_guitar(south_florida: bb.asymmetry.Evocation) -> None:
    """30 of 146 people answer guitar with music, 3 of 148 music with guitar."""
    row = bb.asymmetry.lar(south_florida, [("guitar", "music")]).loc[0]
    assert row["hdi_low"] > 1
    assert row["probability_of_direction"] > 0.999


def counts_of(logs: list[np.ndarray], least: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return counts of 120 to 170 people and these numbers, for log probabilities of both directions."""
    p = np.exp(np.stack(logs, axis=1))
    people = rng.integers(120, 170, size=p.shape)
    counts = rng.binomial(people, p)
    counts[counts < least] = 0
    return counts, people


@pytest.mark.parametrize("least", [1, 2])
@pytest.mark.parametrize("dependence", [0.0, 0.6])
def test_the_prior_that_made_the_counts_is_found_though_most_pairs_are_not_listed(
    least: int, dependence: float
) -> None:
    """Normal quantiles with a correlation that is none of the prior's own."""
    rng = np.random.default_rng(3)
    prior = PowerLawPrior(centre=0.004, decay=0.8, end=2.0)
    logs = np.linspace(LOWEST, -1e-3, 20_000)
    first, second = rng.standard_normal((2, 60_000))
    second = dependence * first + np.sqrt(1 - dependence**2) * second
    drawn = [np.interp(norm.cdf(side), np.cumsum(prior.weights(logs)), logs) for side in (first, second)]
    counts, people = counts_of(drawn, least, rng)
    listed = counts.max(axis=1) > 0
    assert 0.2 < listed.mean() < 0.9
    estimated = estimate_prior(counts[listed], people[listed], least)
    assert estimated.pairs == listed.sum()
    assert estimated.decay == pytest.approx(0.8, rel=0.15)
    assert estimated.dependence == pytest.approx(dependence, abs=0.1)
    assert min(estimated.shares) >= LEAST_SHARE


def test_levels_are_a_gaussian_copula() -> None:
    """Masses of quadrants of SciPy's bivariate Normal distribution."""
    prior = PowerLawPrior(centre=0.001, decay=0.6, end=1.0, shares=(0.0, 0.0, 1.0, 0.0))
    logs = np.linspace(LOWEST, -0.001, 4000)
    masses, shares = prior.levels(logs)
    below = np.cumsum(prior.weights(logs))
    normal = multivariate_normal(cov=np.array([[1.0, DEPENDENCES[2]], [DEPENDENCES[2], 1.0]]))
    for first, second in ((0.5, 0.5), (0.9, 0.9), (0.99, 0.99), (0.2, 0.95)):
        ends = np.searchsorted(below, [first, second])
        cumulated = [masses[:, : end + 1].sum(axis=1) for end in ends]
        expected = normal.cdf(norm.ppf(below[ends]))
        assert (shares * cumulated[0] * cumulated[1]).sum() == pytest.approx(expected, abs=0.004)


def test_few_pairs_take_the_usual_prior() -> None:
    counts = np.ones((LEAST_PAIRS - 1, 2), dtype=int)
    assert estimate_prior(counts, counts * 100, 1) == USUAL


def test_the_prior_is_a_power_law_above_its_centre_and_jeffreys_below() -> None:
    prior = PowerLawPrior(centre=0.01, decay=0.7, end=0.0)
    logs = np.log(np.array([0.0005, 0.005, 0.02, 0.2]))
    density = prior.log_density(logs)
    assert density[1] - density[0] == pytest.approx(np.log(10) / 2)  # that of log p is the root of p
    assert density[3] - density[2] == pytest.approx(-0.7 * np.log(10))
    assert prior.weights(np.linspace(LOWEST, -0.01, 500)).sum() == pytest.approx(1)
