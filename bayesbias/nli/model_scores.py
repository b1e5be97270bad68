"""Scores of answers to pairs of sentences: distances from the right answer and between groups, and accuracy."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count, check_frame, check_probability, resolve_seed
from bayesbias.base.number_text import counted
from bayesbias.base.statements import Described, Facts
from bayesbias.errors import MeasureError, name_some
from bayesbias.estimates.intervals import share_interval
from bayesbias.metrics.significance import MOST_PARTITIONS, drawn_members, group_members

if TYPE_CHECKING:
    import pandas as pd


LABELS = ("neutral", "entailment", "contradiction")
"""Labels in the order of a model's columns."""

PAIR = ("premise", "hypothesis", "word", "group", "verb", "object")
_TOLERANCE = 1e-3  # for the sum of probabilities: the rounding error of half precision
_TIE = 1e-12  # distances that differ by less are equal up to rounding
_BLOCK = 1 << 15  # partitions in memory at once


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

    - `probabilities` (array, shape (words, premises, 3)): probabilities in the order of `LABELS`.
    - `words`, `groups`: labels of the first axis.
    - `premises`: one row per premise, with `premise`, `verb`, `object` and, if there is one, `subject`.
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


def compared_groups(groups: Iterable[str], chosen_groups: Any) -> tuple[str, str]:
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
        return compared_groups(names, None) if len(names) < 3 else tuple(names)
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


@dataclass(frozen=True, eq=False, repr=False)
class Accuracy(Described):
    """How often a model's most probable label is the right one.

    Parameters
    ----------
    accuracy
        Share of the pairs whose most probable label is the right one.
    hdi_low, hdi_high, hdi_prob
        Highest density interval of the accuracy on pairs like these, and its probability. The prior is flat, and pairs
        are treated as independent.
    pairs
        Number of pairs.
    largest_label
        Share of the most frequent label: the accuracy of a model that always answers it.
    counts
        Number of pairs by right label (rows) and the model's label (columns).
    """

    accuracy: float
    hdi_low: float
    hdi_high: float
    hdi_prob: float
    pairs: int
    largest_label: float
    counts: "pd.DataFrame"

    @property
    def _facts(self) -> Facts:
        return {
            "accuracy": f"{self.accuracy:.3f}",
            f"{self.hdi_prob:.0%} HPDI": f"{self.hdi_low:.3f} to {self.hdi_high:.3f}",
            "pairs": f"{self.pairs:,}",
            "largest_label": f"{self.largest_label:.3f}",
        }


def accuracy(answers: Floats, labels: Sequence[str], *, hdi_prob: float) -> Accuracy:
    """Return the accuracy of (pairs, 3) probabilities: how often the largest is that of the right label.

    >>> accuracy(np.eye(3)[[0, 0, 1]], ["neutral", "neutral", "contradiction"], hdi_prob=0.89)
    Accuracy(accuracy='0.667', 89% HPDI='0.297 to 0.928', pairs='3', largest_label='0.667')
    """
    import pandas as pd

    check_probability("hdi_prob", hdi_prob)
    right = np.array([LABELS.index(label) for label in labels])
    answered = answers.argmax(axis=1)
    counts = np.zeros((len(LABELS), len(LABELS)), dtype=int)
    np.add.at(counts, (right, answered), 1)
    hits = int(np.trace(counts))
    low, high = share_interval(hits, len(right), hdi_prob)
    names = [pd.Index(LABELS, name=name) for name in ("right", "answered")]
    frame = pd.DataFrame(counts, index=names[0], columns=names[1])
    return Accuracy(
        hits / len(right), low, high, hdi_prob, len(right), float(counts.sum(axis=1).max() / len(right)), frame
    )


@dataclass(frozen=True, eq=False, repr=False)
class GroupDistance(Described):
    """Distance of the mean answers for groups.

    Parameters
    ----------
    groups
        Names of the groups.
    distance
        d of the paper's tables: the Euclidean distance of the two groups' mean probabilities. For more groups, the mean
        of the distances of all pairs of groups.
    equation_2
        Result of the paper's equation 2 as printed: d / 4 for groups of equal size. NaN for more than two groups.
    means
        Mean probabilities, one row per group.
    pairs
        Distance of every two groups: `first`, `second`, `distance`, and its own `p_value`, which is not corrected for
        the number of pairs.
    p_value, mcse
        Share of the partitions of the words whose distance is at least d, and its Monte Carlo standard error (0 if all
        partitions were counted).
    partitions, exact
        Number of partitions counted, and whether these are all.
    random_seed
        Seed of the partitions.
    """

    groups: tuple[str, ...]
    distance: float
    equation_2: float
    means: "pd.DataFrame"
    pairs: "pd.DataFrame"
    p_value: float
    mcse: float
    partitions: int
    exact: bool
    random_seed: int

    @property
    def _facts(self) -> Facts:
        how = "all" if self.exact else "random"
        return {
            "groups": " and ".join(self.groups),
            "distance": f"{self.distance:.4f}",
            "p_value": f"{self.p_value:.4f}",
            "partitions": f"{self.partitions:,} ({how})",
        }


def distance(
    scores: pd.DataFrame,
    *,
    groups: Sequence[str] | None = None,
    samples: int = 10_000,
    random_seed: int | None = None,
) -> GroupDistance:
    """Return the distance of the mean answers for groups, with a permutation test over partitions of the words.

    Parameters
    ----------
    scores
        From `bb.nli.score`. Leave out words to compare the others: the paper's table 1 has nouns and pronouns apart,
        ``scores[scores["kind"] == "pronoun"]``.
    groups
        The groups, two or more, such as three genders. By default all.
    samples
        Number of partitions to draw if there are more than a million, or more than two groups; otherwise all are
        counted.
    random_seed
        Seed of the partitions. If None, a seed is drawn and recorded in the result.

    Raises
    ------
    MeasureError
        If there are fewer than two groups, one has no words, or a word lacks a premise.

    Notes
    -----
    The paper's tables contain the distance of the means; its equation 2 divides the difference of the sums by twice the
    number of pairs of both groups, which gives a fourth of it. The p-value counts partitions with a distance of at
    least d, including the observed one; the paper counts those with a larger distance. The words are the units: the
    thousands of pairs of a word do not make the p-value small. The paper has two groups; for several, the measure here
    is the mean distance of all pairs of groups, which is d for two.

    References
    ----------
    Dawkins (2021), equation 2, tables 1, 2 and 4.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit")
    >>> def model(premises, hypotheses):
    ...     entailed = np.array([0.9 if text.startswith("He ") else 0.1 for text in hypotheses])
    ...     return np.column_stack([1 - entailed, entailed, np.zeros(len(entailed))])
    >>> bb.nli.distance(bb.nli.score(pairs, model), random_seed=1)
    GroupDistance(groups='male and female', distance='0.2828', p_value='1.0000', partitions='70 (all)')
    """
    seed = resolve_seed(random_seed)
    check_count("samples", samples)
    table = crossed(scores)
    names = several_groups(table.groups, groups)
    of_words = table.probabilities.mean(axis=1)
    sides = [of_words[[group == name for group in table.groups]] for name in names]
    tests = {pair: permutation_test(*(sides[n] for n in pair), samples=samples, seed=seed) for pair in _pairs(names)}
    rows = [
        (names[i], names[j], float(distance_of_means(sides[i], sides[j])), tested[0])
        for (i, j), tested in tests.items()
    ]
    pairs = pd.DataFrame(rows, columns=["first", "second", "distance", "p_value"])
    sums = np.linalg.norm(sides[0].sum(axis=0) - sides[1].sum(axis=0))
    p_value, mcse, partitions, exact = (
        tests[0, 1] if len(names) == 2 else permutation_test_of_groups(sides, samples=samples, seed=seed)
    )
    return GroupDistance(
        groups=names,
        distance=float(pairs["distance"].mean()),
        equation_2=float(sums / (2 * sum(map(len, sides)))) if len(names) == 2 else nan,
        means=pd.DataFrame([side.mean(axis=0) for side in sides], index=list(names), columns=list(LABELS)),
        pairs=pairs,
        p_value=p_value,
        mcse=mcse,
        partitions=partitions,
        exact=exact,
        random_seed=seed,
    )


def distance_of_means(first: Floats, second: Floats) -> Floats:
    """Return the Euclidean distance of the means of two groups of words, of shape (words, labels) each.

    >>> float(distance_of_means(np.array([[1.0, 0, 0], [0, 1, 0]]), np.array([[0.5, 0.5, 0]])))
    0.0
    """
    distances: Floats = np.linalg.norm(first.mean(axis=-2) - second.mean(axis=-2), axis=-1)
    return distances


def _pairs(groups: Sequence[object]) -> list[tuple[int, int]]:
    return list(combinations(range(len(groups)), 2))


def permutation_test_of_groups(groups: Sequence[Floats], *, samples: int, seed: int) -> tuple[float, float, int, bool]:
    """Return the same as `permutation_test` for the mean distance of all pairs of groups, over random partitions.

    >>> groups = [np.array([[1.0], [1.1]]), np.array([[5.0], [5.1]]), np.array([[9.0], [9.1]])]
    >>> p_value, mcse, partitions, exact = permutation_test_of_groups(groups, samples=2000, seed=1)
    >>> round(p_value, 2), partitions, exact  # 6 of the 90 partitions are these pairs
    (0.07, 2000, False)
    """
    values = np.concatenate(groups)
    ends = np.cumsum([len(group) for group in groups])

    def statistic(permuted: Floats) -> Floats:
        sides = np.split(permuted, ends[:-1], axis=-2)
        distances: Floats = np.mean([distance_of_means(sides[i], sides[j]) for i, j in _pairs(groups)], axis=0)
        return distances

    least = float(statistic(values)) - _TIE * max(1.0, float(np.abs(values).max()))
    random = np.random.default_rng(seed)
    step = max(1, _BLOCK // len(values))
    reached = 0
    for start in range(0, samples, step):
        rows = np.tile(np.arange(len(values)), (min(step, samples - start), 1))
        reached += int(np.count_nonzero(statistic(values[random.permuted(rows, axis=1)]) >= least))
    p = (1 + reached) / (1 + samples)
    return p, float(np.sqrt(p * (1 - p) / samples)), samples, False


def permutation_test(first: Floats, second: Floats, *, samples: int, seed: int) -> tuple[float, float, int, bool]:
    """Return the p-value, its Monte Carlo standard error, the number of partitions, and whether these are all.

    With one word per group there is only one partition, apart from the names of the groups, and the p-value is 1.

    >>> permutation_test(np.array([[3.0], [4.0]]), np.array([[1.0], [2.0]]), samples=100, seed=1)
    (0.333..., 0.0, 6, True)
    """
    if 0 in (len(first), len(second)):
        raise MeasureError("A group has no words. Give two groups of words.")
    values = np.concatenate([first, second])
    size, total = len(first), len(values)
    values = values - values.mean(axis=0)
    # The difference of the means is the centred sum of the first group times this.
    scale = total / (size * (total - size))
    least = float(np.linalg.norm(values[:size].sum(axis=0))) * scale
    tolerance = _TIE * max(1.0, float(np.abs(values).max()))
    number = comb(total, size)
    exact = number <= MOST_PARTITIONS
    # With groups of equal size, a partition and its complement have the same distance: half of them are enough.
    halved = 2 * size == total
    blocks = [group_members(size, total, halved=halved)] if exact else drawn_members(size, total, samples, seed)
    counted = reached = 0
    for members in blocks:
        for start in range(0, len(members), _BLOCK):
            part = members[start : start + _BLOCK]
            sums = values[part].sum(axis=1)
            reached += int(np.count_nonzero(np.linalg.norm(sums, axis=1) * scale >= least - tolerance))
            counted += len(part)
    if exact:
        return reached / counted, 0.0, number, True
    p = (1 + reached) / (1 + counted)
    return p, float(np.sqrt(p * (1 - p) / counted)), counted, False
