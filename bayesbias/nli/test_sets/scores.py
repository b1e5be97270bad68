"""`score` and `error`: a model's answers to pairs of sentences, and their distance from the correct answer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_frame
from bayesbias.base.number_text import counted
from bayesbias.errors import MeasureError, name_some

LABELS = ("neutral", "entailment", "contradiction")
"""Labels in the order of a model's columns."""

PAIR = ("premise", "hypothesis", "word", "group", "verb", "object")
_TOLERANCE = 1e-3  # for the sum of probabilities: the rounding error of half precision


def score(test_set: pd.DataFrame, model: Callable[[Sequence[str], Sequence[str]], Any]) -> pd.DataFrame:
    """Return a model's probabilities of "neutral", "entailment" and "contradiction" for each pair.

    Parameters
    ----------
    test_set
        From `bb.nli.test_set`, or some of its rows.
    model
        Function of two lists, of premises and of hypotheses, that returns an array of shape (pairs, 3): the
        probabilities of neutral, entailment and contradiction, in this order. It is called once with all pairs.

    Returns
    -------
    pandas.DataFrame
        The rows of `test_set` with the columns `neutral`, `entailment` and `contradiction`.

    Raises
    ------
    MeasureError
        If the frame lacks a column, or the model returns another shape or values that are not probabilities.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit")
    >>> def model(premises, hypotheses):
    ...     entailed = np.array([0.9 if text.startswith("He ") else 0.1 for text in hypotheses])
    ...     return np.column_stack([1 - entailed, entailed, np.zeros(len(entailed))])
    >>> scores = bb.nli.score(pairs, model)
    >>> scores.loc[[15_743], ["word", "neutral", "entailment", "contradiction"]]
          word  neutral  entailment  contradiction
    15743  She      0.9         0.1            0.0
    """
    _check_columns(test_set, PAIR, "test_set", "bb.nli.test_set")
    if not callable(model):
        raise MeasureError(
            f"The model is {type(model).__name__}. Give a function of premises and hypotheses that returns their "
            "probabilities."
        )
    premises, hypotheses = (test_set[name].tolist() for name in ("premise", "hypothesis"))
    probabilities = checked_probabilities(model(premises, hypotheses), len(premises), premises, hypotheses)
    return test_set.assign(**dict(zip(LABELS, probabilities.T, strict=True)))


def checked_probabilities(answer: Any, pairs: int, premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
    """Return a model's answer as an array; raise `MeasureError` unless it is probabilities of shape (pairs, 3)."""
    order = ", ".join(LABELS)
    if np.iscomplexobj(answer):
        raise MeasureError(f"The model's answer is complex. Return real numbers of shape (pairs, 3): {order}.")
    if isinstance(answer, pd.DataFrame) and not answer.columns.equals(pd.RangeIndex(len(LABELS))):
        # Columns with names may be in any order.
        if sorted(map(str, answer.columns)) != sorted(LABELS):
            named = name_some(map(str, answer.columns))
            raise MeasureError(f"The model's answer has the columns {named}. Name them {order}.")
        answer = answer[list(LABELS)]
    try:
        probabilities = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise MeasureError(
            f"The model's answer is not an array of numbers ({fault}). Return shape (pairs, 3): {order}."
        ) from fault
    if probabilities.shape != (pairs, len(LABELS)):
        raise MeasureError(
            f"The model's answer has the shape {probabilities.shape} instead of ({pairs}, 3): one row per pair, with "
            f"the probabilities of {order}."
        )
    wrong = (
        ~np.isfinite(probabilities).all(axis=1)
        | (probabilities < 0).any(axis=1)
        | (abs(probabilities.sum(axis=1) - 1) > _TOLERANCE)
    )
    if wrong.any():
        first_wrong = int(np.argmax(wrong))
        raise MeasureError(
            f"For {int(wrong.sum()):,} of {pairs:,} pairs, the answer is not probabilities: finite, at least 0 and of "
            f"sum 1. The first is {probabilities[first_wrong].tolist()} for {premises[first_wrong]!r} -> "
            f"{hypotheses[first_wrong]!r}. Logits need a softmax."
        )
    return probabilities


def neutral_error(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a model's mean distance from the correct answer, E: overall, by group and by word.

    E is the mean over pairs of the Euclidean distance of (neutral, entailment, contradiction) to (1, 0, 0).

    Parameters
    ----------
    scores
        From `bb.nli.score`.

    Returns
    -------
    pandas.DataFrame
        One row overall, one per group and one per word: `level` (``"overall"``, ``"protected_group"``, ``"word"``),
        `group`, `word`, the number of `pairs`, the means of `neutral`, `entailment` and `contradiction`, and `error`,
        from 0 to the square root of 2.

    Raises
    ------
    MeasureError
        If `scores` is not a frame of scores.

    References
    ----------
    Dawkins (2021), equation 1.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit")
    >>> sure = bb.nli.score(pairs, lambda premises, hypotheses: np.tile([0.7, 0.2, 0.1], (len(premises), 1)))
    >>> bb.nli.neutral_error(sure).loc[0, ["pairs", "neutral", "error"]].round(4).tolist()
    [15744.0, 0.7, 0.3742]
    """
    frame = checked_scores(scores)
    columns = [*LABELS, "error"]
    frame = frame[["word", "group", *LABELS]].assign(error=distances_to_neutral(frame[list(LABELS)].to_numpy()))

    def rows(level: str, by: list[str]) -> pd.DataFrame:
        grouped = frame.groupby(by, sort=False, observed=True)
        means = grouped[columns].mean()
        means.insert(0, "pairs", grouped.size())
        return means.reset_index().assign(level=level)

    overall = frame[columns].mean().to_frame().T.assign(level="overall", pairs=len(frame))
    table = pd.concat([overall, rows("protected_group", ["group"]), rows("word", ["group", "word"])], ignore_index=True)
    table[["group", "word"]] = table[["group", "word"]].astype(object).fillna("").astype(str)
    return table[["level", "group", "word", "pairs", *columns]]


def distances_to_neutral(probabilities: Floats) -> Floats:
    """Return the Euclidean distance of (..., 3) probabilities to (1, 0, 0).

    >>> distances_to_neutral(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    array([0.        , 1.4142...])
    """
    distances: Floats = np.linalg.norm(probabilities - np.array([1.0, 0.0, 0.0]), axis=-1)
    return distances


@dataclass(frozen=True, eq=False)
class Crossed:
    """Scores of a test set as an array: every word with every premise.

    Parameters
    ----------
    probabilities : array, shape (words, premises, 3)
        Probabilities in the order of `LABELS`.
    words, groups
        Labels of the first axis.
    premises
        One row per premise, with `premise`, `verb`, `object` and, if there is one, `subject`.
    """

    probabilities: Floats
    words: list[str]
    groups: list[str]
    premises: pd.DataFrame


def crossed(scores: pd.DataFrame) -> Crossed:
    """Return scores as an array; raise `MeasureError` unless every word has every premise once."""
    frame = checked_scores(scores)
    words = frame["word"].drop_duplicates().astype(str).tolist()
    columns = [name for name in ("premise", "verb", "object", "subject") if name in frame]
    place = frame.groupby([frame[name].astype(str) for name in columns[:3]], sort=False).ngroup().to_numpy()
    of_word = frame["word"].astype(str).map({word: code for code, word in enumerate(words)}).to_numpy()
    count = int(place.max()) + 1
    cells = np.bincount(of_word * count + place, minlength=len(words) * count).reshape(len(words), count)
    if (cells != 1).any():
        lacking = [word for word, row in zip(words, cells, strict=True) if (row != 1).any()]
        raise MeasureError(
            f"These words lack a premise, or have one more than once: {name_some(lacking)}. Leave out only whole words "
            "or whole premises, so that words are compared on the same sentences."
        )
    order = np.lexsort((place, of_word))
    premises = frame.iloc[order[:count]][columns].astype(str).reset_index(drop=True)
    probabilities = frame[list(LABELS)].to_numpy()[order].reshape(len(words), count, len(LABELS))
    groups = frame["group"].astype(str).to_numpy()[order[::count]].tolist()
    return Crossed(probabilities, words, groups, premises)


def scored(table: Crossed, name: str) -> Floats:
    """Return one score of each word with each premise: ``"error"``, or the probability of a label."""
    if name == "error":
        return distances_to_neutral(table.probabilities)
    column: Floats = table.probabilities[..., LABELS.index(name)]
    return column


def two_groups(groups: Iterable[str], chosen_groups: Any) -> tuple[str, str]:
    """Return the two groups to compare: the chosen ones, or the only two; else raise `MeasureError`."""
    names = list(dict.fromkeys(groups))
    if chosen_groups is None:
        if len(names) == 1:
            raise MeasureError(f"The scores have only one group ({names[0]}). Give scores of the words of two groups.")
        if len(names) != 2:
            raise MeasureError(
                f"The scores have {counted(len(names), 'group')} ({name_some(names)}). Choose two: "
                f"groups=({', '.join(map(repr, names[:2]))})."
            )
        return names[0], names[1]
    chosen = list(chosen_groups) if isinstance(chosen_groups, tuple | list) else []
    if len(chosen) != 2 or chosen[0] == chosen[1] or not all(name in names for name in chosen):
        raise MeasureError(f"groups={chosen_groups!r}: give two of {name_some(names)}.")
    return chosen[0], chosen[1]


def several_groups(groups: Iterable[str], chosen_groups: Any) -> tuple[str, ...]:
    """Return the groups to compare: the chosen ones, or all; raise `MeasureError` if they are fewer than two."""
    names = list(dict.fromkeys(groups))
    if chosen_groups is None:
        return two_groups(names, None) if len(names) < 3 else tuple(names)
    chosen = list(chosen_groups) if isinstance(chosen_groups, tuple | list) else []
    if len(chosen) < 2 or len(set(chosen)) < len(chosen) or not all(name in names for name in chosen):
        raise MeasureError(f"groups={chosen_groups!r}: give two or more of {name_some(names)}.")
    return tuple(chosen)


def checked_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of scores; raise `MeasureError` unless it has all columns, with probabilities."""
    _check_columns(scores, (*PAIR, *LABELS), "scores", "bb.nli.score")
    for name in LABELS:
        if scores[name].dtype.kind not in "fiu":
            raise MeasureError(f"The column {name} holds {scores[name].dtype}. Give probabilities.")
    for name in PAIR:
        if scores[name].isna().any():
            row = int(np.argmax(scores[name].isna()))
            raise MeasureError(f"The column {name} is empty in row {row}. Give each pair its {name}, or leave it out.")
    answer = scores[list(LABELS)].to_numpy(np.float64, na_value=np.nan)
    checked_probabilities(answer, len(scores), scores["premise"].tolist(), scores["hypothesis"].tolist())
    words = scores[["word", "group"]].astype(str).drop_duplicates()["word"]
    if words.duplicated().any():
        raise MeasureError(f"The word {words[words.duplicated()].iloc[0]!r} is in two groups. Put it in one.")
    return scores.assign(**dict(zip(LABELS, answer.T, strict=True)))


def _check_columns(frame: Any, columns: Sequence[str], name: str, source: str) -> None:
    check_frame(name, frame, f"a frame from {source}")
    if lacking := [column for column in columns if column not in frame.columns]:
        raise MeasureError(f"{name} lacks the columns {', '.join(lacking)}. Make it with {source}.")
    if frame.empty:
        raise MeasureError(f"{name} has no rows. Make it with {source}.")
