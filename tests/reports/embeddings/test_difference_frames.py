"""Differences of gaps: their readings, and the mean of words like these."""

import itertools
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias.models.periods.period_sample import period_sample
from bayesbias.reports.embeddings.difference_frames import (
    DifferenceDraws,
    difference_frames,
    joint_gap_frame,
    mean_of_words_like_these,
    reading_of,
    word_effect,
)
from tests.cells import pets
from tests.models.dependent_words import SAMPLE, forms, tables_of, without_links


def test_a_reading_is_the_one_whose_line_in_the_legend_holds() -> None:
    """Of every combination of signs and settled intervals, the name is the one whose line in the legend holds."""

    def interval(mean: float, settled: bool) -> tuple[float, float, float]:
        return mean, mean - (0.01 if settled else 1), mean + (0.01 if settled else 1)

    for baseline, other, difference in itertools.product((-0.4, -0.2, 0.2, 0.4), (-0.3, -0.1, 0.1, 0.3), (-0.1, 0.1)):
        for settled in itertools.product((True, False), repeat=3):
            row: dict[Hashable, Any] = {"direction": "farther"}
            for name, mean, sure in zip(
                ("baseline", "other", "hdi"), (baseline, other, difference), settled, strict=True
            ):
                row[f"{name}_gap"], row[f"{name}_low"], row[f"{name}_high"] = interval(mean, sure)
            row["mean"], away = row["hdi_gap"], baseline * difference > 0
            held = {
                "not settled": not settled[2],
                "neither": settled == (False, False, True),
                "other only": settled == (False, True, True),
                "reversed": settled == (True, True, True) and baseline * other < 0,
                "narrower": settled == (True, True, True) and baseline * other > 0 and not away,
                "baseline only": settled == (True, False, True) and not away,
                "wider": settled[0] and settled[2] and away,
            }
            held["wider"] = held["wider"] and not held["reversed"]
            assert [name for name, holds in held.items() if holds] == [reading_of(row)]


def test_plain_averages_weigh_lists_and_groups_equally_as_estimates_do() -> None:
    """One word is compared with a list of two words and a list of one."""
    columns = ["protected_word", "protected_group", "attribute_group", "baseline", "other"]
    rows = [
        ("she", "women", "work", 1.0, 0.5),
        ("she", "women", "work", 1.0, 0.5),
        ("she", "women", "home", 0.4, 0.4),
        ("he", "men", "work", 0.2, 0.2),
        ("man", "men", "work", 0.4, 0.6),
    ]
    frame = pd.DataFrame(rows, columns=columns).assign(connection="associated")
    frame["difference"] = frame["other"] - frame["baseline"]
    words = ["he", "man", "she"]
    draws = xr.DataArray(
        np.random.default_rng(1).normal(0, 0.01, (2, 50, 3, 1)),
        {"protected_word": words, "connection": ["associated"]},
        ("chain", "draw", "protected_word", "connection"),
    )
    drawn = DifferenceDraws(draws.mean("protected_word"), draws)
    overall, by_word = difference_frames(frame, drawn, 0.89, None)
    assert overall[["average_baseline", "average_other"]].iloc[0].tolist() == pytest.approx([0.5, 0.425])
    assert overall["pairs"].tolist() == [5]
    she = by_word.set_index("protected_word").loc["she"]
    assert she[["average_baseline", "average_other"]].tolist() == pytest.approx([0.7, 0.45])


@pytest.mark.slow
def test_the_difference_of_a_gap_where_words_lean_against_each_other() -> None:
    """No mean difference of the gap, but a word that moves nearer to one list moves away from the other."""
    rng = np.random.default_rng(1)
    covers = []
    for _ in range(400):
        nearer = rng.normal(0, 0.02, 16)
        gaps = 2 * nearer + rng.normal(0, 0.002, (4, 250, 16))
        word_gaps = xr.DataArray(gaps, dims=("chain", "draw", "protected_word"))
        drawn = np.sort(mean_of_words_like_these(word_gaps, rng).to_numpy().ravel())
        covers.append(drawn[55] < 0 < drawn[-56])
    # 89 % of the intervals hold the true mean, 0; 400 samples tell that within 1.6 points.
    assert np.mean(covers) == pytest.approx(0.89, abs=3 * 0.016)


def test_joint_changes_of_gaps_are_those_of_a_trend_of_two_periods() -> None:
    tables = {name: bb.distance_table(pets.embedding(seed), pets.study()) for name, seed in (("old", 1), ("new", 2))}
    frame = joint_gap_frame(period_sample(tables), 0.89, (-0.1, 0.1), draws=500, chains=4, seed=3)
    assert frame is not None
    moved = bb.trend(tables, rope=0.1, draws=2000, random_seed=3, progress=False)
    change, expected = frame.loc[0], moved.changes.loc[0]
    assert change["mean"] == pytest.approx(expected["mean"], abs=5 * expected["sd"] / np.sqrt(2000))
    names = [
        "sd",
        "hdi_low",
        "hdi_high",
        "probability_of_direction",
        "probability_in_rope",
        "ess_bulk",
        "r_hat",
    ]
    np.testing.assert_allclose(change[names].astype(float), expected[names].astype(float))
    words = frame.iloc[1:].set_index("protected_word")["mean"]
    np.testing.assert_allclose(words[moved.words["protected_word"]], moved.words["mean"])
    overall = joint_gap_frame(period_sample(tables), 0.89, (-0.1, 0.1), draws=500, chains=4, seed=3, each_word=False)
    pd.testing.assert_frame_equal(overall, frame.iloc[:1])
    unchanged = period_sample({"old": tables["old"], "new": tables["old"]})
    same = joint_gap_frame(unchanged, 0.89, None, draws=50, chains=4, seed=3)
    assert same is not None
    assert set(same["direction"]) == {"equal"}
    alike = {name: table.assign(connection="different") for name, table in tables.items()}
    assert joint_gap_frame(period_sample(alike), 0.89, None, draws=50, chains=4, seed=3) is None


@pytest.mark.slow
def test_changes_of_words_hold_what_removing_a_direction_did() -> None:
    """The truth is the plain mean over 400 attribute words a list; tables have 5 of each and 5 words a group."""
    rng = np.random.default_rng(2)
    scale = np.r_[0.3, np.full(19, 1.0)]
    sides = np.repeat([1.0, -1.0], 5), np.repeat([1.0, -1.0], 400)

    def unit(vectors: np.ndarray) -> np.ndarray:
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    covers = []
    for number in range(60):
        words, attributes = (scale * rng.standard_normal((len(side), 20)) for side in sides)
        words[:, 0], attributes[:, 0] = words[:, 0] + 0.8 * sides[0], attributes[:, 0] + 0.8 * sides[1]
        chosen = np.r_[0:5, 400:405]
        gaps, tables = [], {}
        for name, keep in (("old", 1.0), ("new", 0.0)):
            factor = np.r_[keep, np.ones(19)]
            distances = 1 - unit(words * factor) @ unit(attributes * factor).T
            gaps.append(sides[0] * (distances[:, :400].mean(axis=1) - distances[:, 400:].mean(axis=1)))
            tables[name] = pd.DataFrame(
                {
                    "protected_word": f"p{word}",
                    "protected_group": f"g{word // 5}",
                    "attribute_word": f"a{place}",
                    "attribute_group": f"l{place // 400}",
                    "connection": "associated" if word // 5 == place // 400 else "different",
                    "cosine_distance": distances[word, place],
                }
                for word in range(10)
                for place in chosen
            )
        frame = joint_gap_frame(period_sample(tables), 0.89, None, draws=100, chains=4, seed=number)
        assert frame is not None
        change = gaps[1] - gaps[0]
        rows = frame.iloc[1:].set_index("protected_word").loc[[f"p{word}" for word in range(10)]]
        covers.append(((rows["hdi_low"] < change) & (change < rows["hdi_high"])).mean())
    # 89 % intervals; the words of a table move together, so the error is that of 60 tables.
    assert np.mean(covers) > 0.89 - 3 * np.std(covers) / np.sqrt(60)


def test_the_mean_gap_of_dependent_words_is_that_of_the_words_that_they_are_worth() -> None:
    rng = np.random.default_rng(1)
    tables = tables_of(SAMPLE[:40], forms(6, 4, rng), rng, periods=2)
    effect = word_effect(tables.values())
    assert effect > 1.5
    assert word_effect([without_links(table) for table in tables.values()]) == 1
    word_gaps = xr.DataArray(np.tile(rng.normal(0, 0.02, 24), (4, 5000, 1)), dims=("chain", "draw", "protected_word"))
    drawn, plain = (np.quantile(mean_of_words_like_these(word_gaps, rng, of), [0.055, 0.945]) for of in (effect, 1.0))
    wider = np.sqrt(effect * 23 / (24 - effect)) * stats.t(24 / effect - 1).ppf(0.945) / stats.t(23).ppf(0.945)
    assert np.ptp(drawn) / np.ptp(plain) == pytest.approx(wider, rel=0.04)
