"""What a model answers for each pair of sentences, and how far that is from the right answer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_frame
from bayesbias.errors import MeasureError, name_some

LABELS = ("neutral", "entailment", "contradiction")
"""The answers, in the order of a model's columns."""

PAIR = ("premise", "hypothesis", "word", "group", "verb", "object")
_TOLERANCE = 1e-3  # of the sum of probabilities: half precision rounds them so


def score(test_set: pd.DataFrame, model: Callable[[Sequence[str], Sequence[str]], Any]) -> pd.DataFrame:
    """Ask a model for the probabilities of "neutral", "entailment" and "contradiction" of each pair.

    Parameters
    ----------
    test_set
        From `bb.nli.test_set`, or some of its rows.
    model
        Takes two lists, of premises and of hypotheses, and returns an array of shape (pairs, 3): the probabilities of
        neutral, entailment and contradiction, in this order. It gets all pairs at once, and batches them itself.

    Returns
    -------
    pandas.DataFrame
        The rows of `test_set` with the columns `neutral`, `entailment` and `contradiction`.

    Raises
    ------
    MeasureError
        If the frame lacks a column, or the model's answer is not of this shape, or not probabilities.

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
    found = checked_probabilities(model(premises, hypotheses), len(premises), premises, hypotheses)
    return test_set.assign(**dict(zip(LABELS, found.T, strict=True)))


def checked_probabilities(answer: Any, pairs: int, premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
    """Return a model's answer if it is probabilities of three labels for so many pairs."""
    order = ", ".join(LABELS)
    if np.iscomplexobj(answer):
        raise MeasureError(f"The model's answer is complex. Return real numbers of shape (pairs, 3): {order}.")
    if isinstance(answer, pd.DataFrame) and not answer.columns.equals(pd.RangeIndex(len(LABELS))):
        # By the names of its columns, whatever their order.
        if sorted(map(str, answer.columns)) != sorted(LABELS):
            named = name_some(map(str, answer.columns))
            raise MeasureError(f"The model's answer has the columns {named}. Name them {order}.")
        answer = answer[list(LABELS)]
    try:
        found = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise MeasureError(
            f"The model's answer is no array of numbers ({fault}). Return (pairs, 3): {order}."
        ) from fault
    if found.shape != (pairs, len(LABELS)):
        raise MeasureError(
            f"The model's answer has the shape {found.shape}, and ({pairs}, 3) is needed: a row a pair, with the "
            f"probabilities of {order}."
        )
    wrong = ~np.isfinite(found).all(axis=1) | (found < 0).any(axis=1) | (abs(found.sum(axis=1) - 1) > _TOLERANCE)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise MeasureError(
            f"Of {pairs:,} pairs, {int(wrong.sum()):,} have no probabilities that are finite, at least 0 and of sum 1. "
            f"The first is {found[at].tolist()} for {premises[at]!r} -> {hypotheses[at]!r}. Logits need a softmax."
        )
    return found


def error(scores: pd.DataFrame) -> pd.DataFrame:
    """Return how far a model is from the right answer: E, overall, by group and by word.

    E is the mean over pairs of the Euclidean distance of (neutral, entailment, contradiction) to (1, 0, 0).

    Parameters
    ----------
    scores
        From `bb.nli.score`.

    Returns
    -------
    pandas.DataFrame
        One row overall, one a group, one a word: `level` (``"overall"``, ``"protected_group"``, ``"word"``), `group`,
        `word`, the number of `pairs`, the means of `neutral`, `entailment` and `contradiction`, and `error`, from 0 to
        the square root of 2.

    Raises
    ------
    MeasureError
        If the frame is not one of scores.

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
    found = pd.concat([overall, rows("protected_group", ["group"]), rows("word", ["group", "word"])], ignore_index=True)
    found[["group", "word"]] = found[["group", "word"]].astype(object).fillna("").astype(str)
    return found[["level", "group", "word", "pairs", *columns]]


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
        In the order of `LABELS`.
    words, groups
        Of the first axis.
    premises
        One row a premise, with `premise`, `verb`, `object` and, where there is one, `subject`.
    """

    probabilities: Floats
    words: list[str]
    groups: list[str]
    premises: pd.DataFrame


def crossed(scores: pd.DataFrame) -> Crossed:
    """Return scores as an array; raise `MeasureError` unless each word has each premise once."""
    frame = checked_scores(scores)
    words = frame["word"].drop_duplicates().astype(str).tolist()
    known = [name for name in ("premise", "verb", "object", "subject") if name in frame]
    place = frame.groupby([frame[name].astype(str) for name in known[:3]], sort=False).ngroup().to_numpy()
    of_word = frame["word"].astype(str).map({word: code for code, word in enumerate(words)}).to_numpy()
    count = int(place.max()) + 1
    cells = np.bincount(of_word * count + place, minlength=len(words) * count).reshape(len(words), count)
    if (cells != 1).any():
        lacking = [word for word, row in zip(words, cells, strict=True) if (row != 1).any()]
        raise MeasureError(
            f"Not every word has every premise once: {name_some(lacking)}. Leave out whole words or whole premises, so "
            "that words are compared on the same sentences."
        )
    order = np.lexsort((place, of_word))
    premises = frame.iloc[order[:count]][known].astype(str).reset_index(drop=True)
    probabilities = frame[list(LABELS)].to_numpy()[order].reshape(len(words), count, len(LABELS))
    groups = frame["group"].astype(str).to_numpy()[order[::count]].tolist()
    return Crossed(probabilities, words, groups, premises)


def scored(table: Crossed, name: str) -> Floats:
    """Return one score of each word in each premise: ``"error"``, or the probability of a label."""
    if name == "error":
        return distances_to_neutral(table.probabilities)
    found: Floats = table.probabilities[..., LABELS.index(name)]
    return found


def two_groups(groups: Iterable[str], asked: Any) -> tuple[str, str]:
    """Return the two groups that are compared: those asked for, or the two that there are."""
    known = list(dict.fromkeys(groups))
    if asked is None:
        if len(known) == 1:
            raise MeasureError(f"The scores have one group ({known[0]}). Give the words of two, to compare them.")
        if len(known) != 2:
            raise MeasureError(
                f"The scores have {len(known)} groups ({name_some(known)}). Say which two to compare: "
                f"groups=({', '.join(map(repr, known[:2]))})."
            )
        return known[0], known[1]
    chosen = list(asked) if isinstance(asked, tuple | list) else []
    if len(chosen) != 2 or chosen[0] == chosen[1] or not all(name in known for name in chosen):
        raise MeasureError(f"groups={asked!r}: give two of {name_some(known)}.")
    return chosen[0], chosen[1]


def checked_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of scores if it has the columns, and probabilities in them."""
    _check_columns(scores, (*PAIR, *LABELS), "scores", "bb.nli.score")
    for name in LABELS:
        if scores[name].dtype.kind not in "fiu":
            raise MeasureError(f"The column {name} holds {scores[name].dtype}. Give probabilities.")
    for name in PAIR:
        if scores[name].isna().any():
            at = int(np.argmax(scores[name].isna()))
            raise MeasureError(f"The column {name} is empty in row {at}. Give each pair its {name}, or leave it out.")
    answer = scores[list(LABELS)].to_numpy(np.float64, na_value=np.nan)
    checked_probabilities(answer, len(scores), scores["premise"].tolist(), scores["hypothesis"].tolist())
    words = scores[["word", "group"]].astype(str).drop_duplicates()["word"]
    if words.duplicated().any():
        raise MeasureError(f"The word {words[words.duplicated()].iloc[0]!r} is in two groups. Keep it in one.")
    return scores.assign(**dict(zip(LABELS, answer.T, strict=True)))


def _check_columns(frame: Any, columns: Sequence[str], name: str, source: str) -> None:
    check_frame(name, frame, f"a frame from {source}")
    if lacking := [column for column in columns if column not in frame.columns]:
        raise MeasureError(f"{name} lacks the columns {', '.join(lacking)}. Make it with {source}.")
    if frame.empty:
        raise MeasureError(f"{name} has no rows. Make it with {source}.")
