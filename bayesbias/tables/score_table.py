"""Build a table from item-level numbers that people bring: log probabilities, ratings, reaction times, choices."""

from typing import Literal

import numpy as np
import pandas as pd

from bayesbias.base.checks import check_choice, check_flag, check_type, is_text, shown
from bayesbias.base.lost_words import MAX_LOST, check_max_lost
from bayesbias.base.number_text import counted
from bayesbias.errors import ArgumentError, TableError, did_you_mean, name_some
from bayesbias.studies.study import StudyLike, load_study
from bayesbias.tables.codes import to_numbers
from bayesbias.tables.measures import KEY as MEASURE
from bayesbias.tables.measures import Measure, measure_faults
from bayesbias.tables.schema import FrameLike, as_frame, with_provenance
from bayesbias.tables.study_pairs import StudyPairs, judge_lost, lost_entries

_WORDS = ("protected_word", "attribute_word")
SCORE = Measure("score").column


def score_table(
    frame: FrameLike,
    study: StudyLike,
    *,
    value: str,
    lower: Literal["nearer", "farther"],
    unit: str = "",
    trials: str | None = None,
    controls: bool = False,
    max_lost: float = MAX_LOST,
    source: str = "",
) -> pd.DataFrame:
    """Return a table of item-level scores of the pairs of a study, such as ratings or log probabilities.

    Parameters
    ----------
    frame
        A frame of pandas, polars or Arrow with the columns ``protected_word`` and ``attribute_word``, one row for each
        pair, and a column of numbers. Rows of other words are left out.
    study
        A `Study`, the name of a bundled one, or the path of a TOML file.
    value
        Name of the column of numbers, which names the measure in reports: "log_probability" becomes "log probability".
    lower
        What a lower number means for the two words of a pair: ``"nearer"`` (a distance, a reaction time, a surprisal)
        or ``"farther"`` (a rating of similarity, a log probability). In the second case the table holds the numbers
        with the opposite sign, since lower is nearer in all tables.
    unit
        Unit of the numbers, such as ``"ms"``. Empty (default): none.
    trials
        Name of a column with the number of trials of each pair, if `value` counts choices in them. The table then holds
        empirical logits, log((k + 1/2) / (n - k + 1/2)), and their standard errors in `score_sd`.
    controls
        Whether the human and neutral control words of the study have scores too.
    max_lost
        Largest share of a list's words that may have no score at all, from 0 to 1; control words have no limit.
    source
        What gave the numbers, such as the name of a model or an experiment, for reports.

    Returns
    -------
    pandas.DataFrame
        One row per pair with a number, in the order of the study, with the columns of a distance table but `score` in
        place of the two cosines. Pairs without a number are left out: they are lost pairs.

    Raises
    ------
    ArgumentError
        If an argument is not valid.
    TableError
        If a column is missing, a value is no finite number, a pair occurs twice, or a count exceeds its trials.
    LostWordsError
        If a list has no word with a score, or a group lost more than `max_lost`.

    Warns
    -----
    LostWordsWarning
        If some words have no score.

    References
    ----------
    Empirical logits and their variance: Cox and Snell (1989), Analysis of Binary Data, section 2.1.6.

    Examples
    --------
    >>> study = bb.Study(
    ...     name="pets", protected={"cats": ["cat"], "dogs": ["dog"]},
    ...     attributes={"quiet": ["purr"], "loud": ["bark"]},
    ...     associated=[("cats", "quiet"), ("dogs", "loud")], human="none", neutral="none",
    ... )
    >>> ratings = pd.DataFrame({
    ...     "protected_word": ["cat", "cat", "dog", "dog"], "attribute_word": ["purr", "bark", "purr", "bark"],
    ...     "similarity": [6.5, 2.0, 1.5, 6.0],
    ... })
    >>> table = bb.score_table(ratings, study, value="similarity", unit="points", lower="farther")
    >>> table[["protected_word", "attribute_word", "connection", "score"]]
      protected_word attribute_word  connection  score
    0            cat           purr  associated   -6.5
    1            cat           bark   different   -2.0
    2            dog           purr   different   -1.5
    3            dog           bark  associated   -6.0
    """
    check_choice("lower", lower, ("nearer", "farther"))
    for argument, text in (("value", value), ("unit", unit), ("source", source)):
        if not is_text(text) or (argument == "value" and not text.strip()):
            raise ArgumentError(f"{argument}={shown(text)}: give a text.")
    max_lost, loaded = check_max_lost(max_lost), load_study(study)
    if not check_flag("controls", controls):
        loaded = loaded.without_controls()
    scores = check_type("frame", as_frame(frame), pd.DataFrame, "a frame with a row for each pair")
    columns = [*_WORDS, value, *([] if trials is None else [trials])]
    for name in columns:
        if name not in scores:
            names = [str(column) for column in scores.columns]
            raise TableError(
                f"The scores have no column {name!r}{did_you_mean(name, names)}; they have {name_some(names)}."
            )
    scores = scores.assign(**{name: scores[name].map(str) for name in _WORDS}).reset_index(drop=True)
    wanted = scores["protected_word"].isin({word for words in loaded.protected.values() for word in words})
    wanted &= scores["attribute_word"].isin({word for words in loaded.attribute_lists.values() for word in words})
    scores = scores[wanted & scores[value].notna()]
    numbers, sds = _numbers(scores, value, trials)
    _check_pairs(scores)
    present = {*scores["protected_word"], *scores["attribute_word"]}
    pairs = StudyPairs.from_words(loaded, present)
    named = "The table of scores"
    pairs.raise_if_a_list_is_empty(named, "Add scores of its words, or leave this list out of the study.")
    reasons = {word: "it has no score" for word in loaded.words if word not in present}
    lost = lost_entries(loaded, reasons)
    judge_lost(loaded, lost, named, hint="", max_lost=max_lost)
    pairs.check_memory()
    sign = 1.0 if lower == "nearer" else -1.0
    keys = pd.MultiIndex.from_frame(scores[list(_WORDS)])
    by_pair = pd.DataFrame({SCORE: sign * numbers}, index=keys)
    if sds is not None:
        by_pair["score_sd"] = sds
    table = pairs.frame({}).join(by_pair, on=list(_WORDS), how="inner").reset_index(drop=True)
    named_measure = (
        value.replace("_", " ").strip() if trials is None else f"log odds of {value.replace('_', ' ').strip()}"
    )
    measure = Measure(("" if sign > 0 else "minus ") + named_measure, unit, SCORE)
    if faults := list(measure_faults(measure.record())):
        raise ArgumentError(f"value={shown(value)}, unit={shown(unit)}: {faults[0]}. Give shorter texts.")
    record = {
        "embedding": {"name": source or "scores of one's own"},
        **pairs.facts,
        MEASURE: measure.record(),
        "lost_words": lost,
        "max_lost": max_lost,
        "duplicates": {"policy": "drop", "dropped": 0, "same_vectors": 0},
    }
    return with_provenance(table, record)


def _numbers(scores: pd.DataFrame, value: str, trials: str | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the numbers of rows, and their standard errors if they are empirical logits of counts."""
    numbers = _finite(scores, value)
    if trials is None:
        return numbers, None
    totals = _finite(scores, trials)
    wrong = (numbers < 0) | (numbers > totals) | (numbers % 1 != 0) | (totals % 1 != 0) | (totals < 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise TableError(
            f"{_pair(scores, row)} has {numbers[row]:g} of {totals[row]:g} in {value!r} and {trials!r}. Give counts, "
            "from 0 to the number of trials, which is at least 1."
        )
    chosen, others = numbers + 0.5, totals - numbers + 0.5
    return np.log(chosen / others), np.sqrt(1 / chosen + 1 / others)


def _finite(scores: pd.DataFrame, column: str) -> np.ndarray:
    numbers = to_numbers(scores[column]).to_numpy(dtype=np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        cell = str(scores[column].iloc[row])
        raise TableError(
            f"{column!r} of {_pair(scores, row)} is {cell!r:.60}, no finite number. Correct it, or leave the cell "
            "empty: the pair is then lost."
        )
    return numbers


def _check_pairs(scores: pd.DataFrame) -> None:
    repeated = scores.duplicated(list(_WORDS)).to_numpy()
    if repeated.any():
        raise TableError(
            f"{counted(int(repeated.sum()), 'row repeats', 'rows repeat')} a pair, such as "
            f"{_pair(scores, int(np.argmax(repeated)))}. Give one row for each pair, such as the mean over templates "
            "or raters."
        )


def _pair(scores: pd.DataFrame, row: int) -> str:
    protected, attribute = scores[list(_WORDS)].iloc[row]
    return f"{protected!r} with {attribute!r}"
