"""Frames of a trend, from draws whose means and ends are known."""

import numpy as np
import pytest

from bayesbias.models.periods.contrast_draws import ContrastDraws, OverallGaps
from bayesbias.models.periods.gap_draws import GapEstimate
from bayesbias.models.periods.period_line import LineDraws
from bayesbias.models.periods.period_sample import PeriodSample
from bayesbias.reports.periods.trend_frames import (
    change_rows,
    estimate_rows,
    gap_rows,
    lacking_rows,
    line_rows,
    word_rows,
)

DRAWS = 400
PERIODS = ("1900", "1910", "1920")
# Three words in two groups; the last word lacks the first period, and the last attribute word the second.
PROTECTED = np.array([[True, True, True], [True, True, True], [False, True, True]])
ATTRIBUTES = np.array([[True, True, True], [True, False, True]])
SAMPLE = PeriodSample(
    periods=PERIODS,
    distances=np.zeros((3, 2, 3)),
    protected_present=PROTECTED,
    attribute_present=ATTRIBUTES,
    protected_words=("he", "man", "she"),
    attribute_words=("work", "home"),
    group_of=np.array([0, 0, 1]),
    groups=("men", "women"),
    list_of=np.array([0, 1]),
    lists=("career", "family"),
    connections=("associated", "different"),
    connection_weights=np.zeros((3, 2, 2)),
    compared=np.ones(3, dtype=bool),
)


def around(centre: float | list[float] | np.ndarray, sd: float = 0.01) -> np.ndarray:
    """Return draws whose mean is `centre` exactly."""
    centres = np.atleast_1d(np.asarray(centre, dtype=float))
    noise = np.random.default_rng(1).standard_normal((DRAWS, *centres.shape))
    return centres + sd * (noise - noise.mean(axis=0))


def overall_gaps(sd: float) -> OverallGaps:
    """Return gaps whose draws have this sd."""
    plain = np.array([-0.2, -0.15, -0.1])
    return OverallGaps(plain, np.zeros((DRAWS, 3)), 9.0, np.full(DRAWS, 0.5), around(np.zeros(3), sd))


PLAIN_GROUPS = np.array([[-0.3, -0.1], [-0.2, -0.1], [-0.1, -0.1]])
PLAIN_WORDS = np.array([[-0.4, -0.2, np.nan], [-0.3, -0.1, -0.1], [-0.2, 0.0, -0.12]])
DRAWN = ContrastDraws(
    estimate=GapEstimate(
        np.array([0, 1, 2]), PLAIN_WORDS, around(np.zeros((3, 3))), np.full(3, 9.0), 9.0, np.full(DRAWS, 0.5), np.eye(3)
    ),
    population=overall_gaps(0.2),
    these_words=overall_gaps(0.01),
    groups=around(PLAIN_GROUPS),
    words=around(np.nan_to_num(PLAIN_WORDS)),
    plain_groups=PLAIN_GROUPS,
    group_places=np.array([0, 1]),
)


def test_estimates_have_the_means_and_sds_of_their_draws_and_a_direction() -> None:
    draws = np.column_stack([around(0.5)[:, 0], np.full(DRAWS, 0.25), 1e-8 * around(0.5)[:, 0]])
    frame = estimate_rows(draws, {"name": ["spread", "constant", "rounding"]}, 0.89)
    assert frame["name"].tolist() == ["spread", "constant", "rounding"]
    np.testing.assert_allclose(frame["mean"], [0.5, 0.25, 0], atol=1e-7)
    np.testing.assert_allclose(frame["sd"], draws.std(axis=0, ddof=1), atol=1e-6)
    assert frame["direction"].tolist() == ["farther", "farther", "equal"]
    assert frame["ess_bulk"].isna().tolist() == [False, True, True]
    assert "direction" not in estimate_rows(draws, {"name": ["a", "b", "c"]}, 0.89, directions=False)


def test_gaps_are_of_all_words_then_of_each_group_and_count_the_words_of_a_period() -> None:
    frame = gap_rows(DRAWN, SAMPLE, "these_words", 0.89, None)
    assert frame["period"].tolist() == [*PERIODS] * 3
    assert frame["protected_group"].tolist() == [""] * 3 + ["men"] * 3 + ["women"] * 3
    assert frame["words"].tolist() == [2, 3, 3, 2, 2, 2, 0, 1, 1]
    np.testing.assert_allclose(frame["observed"][:3], [-0.2, -0.15, -0.1])
    np.testing.assert_allclose(frame["mean"][3:6], PLAIN_GROUPS[:, 0])
    wider = gap_rows(DRAWN, SAMPLE, "population", 0.89, None)
    assert (wider["sd"][:3] > 5 * frame["sd"][:3]).all()


def test_changes_are_of_all_pairs_of_periods_and_of_groups_from_first_to_last() -> None:
    gaps = gap_rows(DRAWN, SAMPLE, "these_words", 0.89, None)
    frame = change_rows(DRAWN, SAMPLE, gaps, "these_words", 0.89, None)
    assert frame[["first", "second"]].to_numpy().tolist() == [
        ["1900", "1910"],
        ["1900", "1920"],
        ["1910", "1920"],
        ["1900", "1920"],
        ["1900", "1920"],
    ]
    np.testing.assert_allclose(frame["observed"], [0.05, 0.1, 0.05, 0.2, 0.0], atol=1e-12)
    np.testing.assert_allclose(frame["mean"], frame["observed"], atol=1e-12)
    assert frame["reading"].tolist() == ["narrower", "narrower", "narrower", "narrower", "not settled"]


def test_a_word_changes_between_the_first_and_the_last_period_that_it_has() -> None:
    frame = word_rows(DRAWN, SAMPLE, 0.89).set_index("protected_word")
    assert frame.loc["she", ["first", "second"]].tolist() == ["1910", "1920"]
    assert frame.loc["she", "observed"] == pytest.approx(-0.02)
    assert frame.loc["he", "observed"] == pytest.approx(0.2)
    assert frame.index[-1] == "she"


def test_the_sd_of_periods_has_no_plain_value_and_is_not_settled() -> None:
    period_sd, plain = np.abs(around(0.02)[:, 0]), np.array([0.11, 0.0])
    line = LineDraws(around([0.1, 0.0]), period_sd, plain)
    frame = line_rows(line, ["line", "wealth"], "sd of periods", 0.89)
    assert frame["parameter"].tolist() == ["line", "wealth", "sd of periods"]
    assert frame["settled"].tolist() == [True, False, False]
    assert frame["observed"].isna().tolist() == [False, False, True]
    assert frame["mean"].tolist() == [0.11, 0.0, np.median(period_sd)]


def test_words_that_some_or_all_periods_lack() -> None:
    list_of = {"he": "men", "man": "men", "she": "women", "work": "career", "home": "family"}
    lost = {"1900": {"lost_words": [{"word": "hers", "role": "protected", "list": "women"}]}}
    frame = lacking_rows(SAMPLE, lost, list_of)
    assert frame.to_numpy().tolist() == [
        ["she", "protected", "women", 2, "1900"],
        ["home", "attribute", "family", 2, "1910"],
        ["hers", "protected", "women", 0, "all periods"],
    ]
