"""What a trend says and shows."""

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.changes.change_contents import lacking_rows
from bayesbias.changes.result import (
    Estimation,
    Pairing,
    change_rows,
    contrast_rows,
    distance_rows,
    estimate_rows,
)
from bayesbias.changes.trend import line_rows
from bayesbias.models.periods.contrast_draws import ContrastDraws, OverallContrasts, PeriodSample, WordContrasts
from bayesbias.models.periods.period_line import LineDraws
from tests.changes.test_trend import SHARES, tables


def test_slopes_are_said_and_shown_where_there_are_some() -> None:
    moved = bb.trend(tables(), word_covariates={"share": SHARES}, walk=True, random_seed=1, progress=False)
    text = " ".join(str(moved).split())
    shift = "words lie nearer to near words"
    assert text.startswith(f"SLOPES - In 1990, with a larger 'share', {shift}: slope -0.")
    assert "The lean" not in moved.contents.answer
    assert moved.contents.answer.startswith(f"With a larger 'share', {shift} in ")
    assert moved.contents.estimate.startswith("Slope for one unit of 'share', in units of cosine distance: -0.")
    title = "Does the lean of words towards near or far words follow 'share', and did that change?"
    assert moved.contents.title == title
    assert "associated words are those of the list near" in moved.contents.about
    assert "HC2" in moved.parts[-1].statements[0].text
    assert list(moved.contents.figures) == ["slopes", "trend", "change_1"]
    assert moved.contents.sections[0].title == "Slopes"
    assert len(moved.contents.tables["slopes"].frame) == 3
    assert "bb.trend(PERIODS, word_covariates=WORD_COVARIATES, walk=True, random_seed=1)" in moved.contents.code


def test_without_covariates_of_words_there_are_none() -> None:
    moved = bb.trend(tables(), draws=100, random_seed=1, progress=False)
    assert moved.slopes.empty
    assert set(moved.contents.figures) == {"trend", "change_1"}
    assert "slopes" not in moved.contents.tables
    assert "slope on" not in str(moved)
    assert "bb.trend(PERIODS, draws=100, random_seed=1)" in moved.contents.code
    losing = bb.trend(tables(), max_lost=0.5, draws=100, random_seed=1, progress=False)
    assert "bb.trend(PERIODS, max_lost=0.5, draws=100, random_seed=1)" in losing.contents.code


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


def overall_contrasts(sd: float) -> OverallContrasts:
    """Return contrasts whose draws have this sd."""
    plain = np.array([-0.2, -0.15, -0.1])
    return OverallContrasts(plain, np.zeros((DRAWS, 3)), 9.0, np.full(DRAWS, 0.5), around(np.zeros(3), sd))


OBSERVED_GROUPS = np.array([[-0.3, -0.1], [-0.2, -0.1], [-0.1, -0.1]])
OBSERVED_WORDS = np.array([[-0.4, -0.2, -0.1], [-0.3, -0.1, -0.1], [-0.2, 0.0, -0.12]])
DRAWN = ContrastDraws(
    word_contrasts=WordContrasts(
        np.array([0, 1, 2]),
        OBSERVED_WORDS,
        around(np.zeros((3, 3))),
        np.full(3, 9.0),
        9.0,
        np.full(DRAWS, 0.5),
        np.eye(3),
    ),
    population=overall_contrasts(0.2),
    these_words=overall_contrasts(0.01),
    groups=around(OBSERVED_GROUPS),
    words=around(np.nan_to_num(OBSERVED_WORDS)),
    observed_groups=OBSERVED_GROUPS,
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


THESE_WORDS = Estimation(draws=100, seed=1, hdi_prob=0.89, scope="these_words")
PAIRING = Pairing(SAMPLE, np.arange(3.0), np.array([[0, 1], [0, 2], [1, 2]]), np.array([[0, 2]]))


def contrast(condition: str, mean: float, group: str = "", word: str = "") -> dict[str, object]:
    """Return a contrast that is settled if it is not 0."""
    ends = {"hdi_low": mean - 0.02, "hdi_high": mean + 0.02}
    labels = {"condition": condition, "protected_group": group, "protected_word": word}
    return labels | {"mean": mean, **ends, "borderline": False}


def test_contrasts_of_all_conditions_are_one_frame() -> None:
    frames = {name: pd.DataFrame([{"contrast": "a - b", "mean": mean}]) for name, mean in (("x", 0.1), ("y", 0.2))}
    assert contrast_rows(frames).to_numpy().tolist() == [["x", "a - b", 0.1], ["y", "a - b", 0.2]]
    assert contrast_rows({}).empty


def test_changes_are_of_all_words_of_groups_and_of_words() -> None:
    contrasts = pd.DataFrame(
        [contrast("1900", -0.2), contrast("1910", -0.15), contrast("1920", 0.0), contrast("1900", -0.3, "men")]
    )
    frame = change_rows(DRAWN, PAIRING, contrasts, THESE_WORDS)
    labels = frame[["first", "second", "protected_group", "protected_word"]].to_numpy().tolist()
    assert labels == [
        ["1900", "1910", "", ""],
        ["1900", "1920", "", ""],
        ["1910", "1920", "", ""],
        ["1900", "1920", "men", ""],
        ["1900", "1920", "women", ""],
        ["1900", "1920", "", "he"],
        ["1900", "1920", "", "man"],
        ["1910", "1920", "", "she"],
    ]
    np.testing.assert_allclose(frame["observed"], [0.05, 0.1, 0.05, 0.2, 0.0, 0.2, 0.2, -0.02], atol=1e-12)
    np.testing.assert_allclose(frame["mean"][:5], frame["observed"][:5], atol=1e-12)
    gone = "smaller, no longer settled"
    assert frame["reading"][:5].tolist() == ["smaller", gone, gone, gone, "not settled"]
    wide = change_rows(DRAWN, PAIRING, contrasts, Estimation(draws=100, seed=1, hdi_prob=0.89))
    assert (wide["sd"][:3] > 5 * frame["sd"][:3]).all()


def test_words_that_lack_one_of_several_pairs_have_no_change_there() -> None:
    pairs = np.array([[0, 1], [0, 2]])
    pairing = Pairing(SAMPLE, np.arange(3.0), pairs, pairs)
    frame = change_rows(DRAWN, pairing, pd.DataFrame([contrast("1900", -0.2)]), THESE_WORDS)
    assert set(frame["protected_word"]) == {"", "he", "man"}


def test_distances_have_no_groups_and_no_reading() -> None:
    frame = distance_rows(DRAWN, PAIRING, THESE_WORDS)
    assert frame["protected_word"].tolist() == ["", "he", "man", "she"]
    assert not {"protected_group", "reading"} & set(frame)


def test_the_sd_of_periods_has_no_plain_value_and_is_not_settled() -> None:
    period_sd, plain = np.abs(around(0.02)[:, 0]), np.array([0.11, 0.0])
    line = LineDraws(around([0.1, 0.0]), period_sd, plain)
    frame = line_rows(line, ["line", "wealth"], "sd of periods", 0.89, 1.0)
    assert frame["parameter"].tolist() == ["line", "wealth", "sd of periods"]
    assert frame["settled"].tolist() == [True, False, False]
    assert frame["observed"].isna().tolist() == [False, False, True]
    assert frame["mean"].tolist() == [0.11, 0.0, np.median(period_sd)]


def test_words_that_some_or_all_periods_lack() -> None:
    lists = {"he": "men", "man": "men", "she": "women", "work": "career", "home": "family"}
    protected, attributes = (dict(list(lists.items())[:3]), dict(list(lists.items())[3:]))
    rows = [
        {"protected_word": word, "protected_group": group, "attribute_word": other, "attribute_group": name}
        for word, group in protected.items()
        for other, name in attributes.items()
    ]
    table = pd.DataFrame(rows)
    tables = {
        "1900": table[table["protected_word"] != "she"],
        "1910": table[table["attribute_word"] != "home"],
        "1920": table,
    }
    lost = {"1900": {"lost_words": [{"word": "hers", "role": "protected", "list": "women"}]}}
    frame = lacking_rows(tables, lost)
    assert frame.to_numpy().tolist() == [
        ["she", "protected", "women", 2, "1900", "not in the table"],
        ["home", "attribute", "family", 2, "1910", "not in the table"],
        ["hers", "protected", "women", 0, "all", "not in the table"],
    ]
