"""RND and ECT, which compare attribute words with the mean vectors of two groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_choice, check_flag
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError
from bayesbias.metrics.look_up import find_lists, two_groups
from bayesbias.metrics.measure_entry import GROUPS_AND_LISTS, TWO_GROUPS, Measure, below_one, shared_parameters
from bayesbias.metrics.measure_result import MeasureResult, score_frame
from bayesbias.metrics.similarities import Similarities, SimilarityMeasure, Statistics
from bayesbias.studies.study import StudyLike


def distance_difference(
    words: ArrayLike, first: ArrayLike, second: ArrayLike, *, distance: Literal["norm", "cosine"] = "norm"
) -> Floats:
    """Return d(w, mean of first) - d(w, mean of second) of each word, of shape (words,).

    A positive difference means that the word is nearer to the second group. `words` have shape (words, dimensions), the
    groups (n, dimensions) and (m, dimensions). ``"norm"`` is the Euclidean distance; ``"cosine"`` is 1 - cosine
    similarity, for which no vector and no mean may be zero. Garg, Schiebinger, Jurafsky and Zou (2018), the terms of
    the relative norm distance.

    >>> distance_difference([[0.0, 3.0]], first=[[4.0, 0.0]], second=[[0.0, 1.0], [0.0, 3.0]])
    array([4.])
    """
    w, x, y = (np.asarray(vectors, dtype=np.float64) for vectors in (words, first, second))
    means = x.mean(axis=0), y.mean(axis=0)
    if distance == "cosine":
        distances = [1.0 - _cosine_to(w, mean) for mean in means]
    else:
        distances = [np.linalg.norm(w - mean, axis=1) for mean in means]
    difference: Floats = distances[0] - distances[1]
    return difference


@shared_parameters(TWO_GROUPS)
def rnd(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    targets: tuple[str, str] | None = None,
    attributes: Sequence[str] | str | None = None,
    distance: Literal["norm", "cosine"] = "norm",
    normalize: bool = True,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Return the relative norm distance: how much nearer attribute words are to the mean vector of one of two groups.

    X and Y are the target groups.

    Parameters
    ----------
    distance
        ``"norm"``, the Euclidean distance, or ``"cosine"``, 1 - cosine similarity.
    normalize
        Whether every word's vector is first scaled to length 1, as by Garg et al. Other packages do not by default.

    Returns
    -------
    MeasureResult
        `rnd` (the headline number), the mean over the attribute words of their distance to the mean of X minus their
        distance to the mean of Y, positive if they are nearer to Y; `rnd_sum`, the published sum; for several
        attribute lists, the mean over each as `rnd_` followed by its name. The scores are the differences of the
        attribute words.

    Raises
    ------
    MeasureError
        If the groups are not determined or have fewer than two words left.

    References
    ----------
    Nikhil Garg, Londa Schiebinger, Dan Jurafsky and James Zou (2018). Word embeddings quantify 100 years of gender
    and ethnic stereotypes. PNAS 115(16), E3635-E3644: the relative norm distance.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> result = rnd(vectors, "weat7", attributes="male")
    >>> round(result.rnd, 4), round(result.rnd_sum, 4), len(result.scores)
    (0.058, 0.4643, 8)
    """
    check_choice("distance", distance, ("norm", "cosine"))
    compared = _compare(embedding, study, targets, attributes, normalize, max_lost)
    x, y = compared.groups
    difference = distance_difference(compared.words, *compared.groups.values(), distance=distance)
    scores = score_frame(difference, **compared.labels)
    statistics = {"rnd": float(difference.mean()), "rnd_sum": float(difference.sum())}
    groups = np.asarray(compared.labels["attribute_group"])
    names = dict.fromkeys(groups.tolist())
    if len(names) > 1:
        statistics |= {f"rnd_{name}": float(difference[groups == name].mean()) for name in names}
    kind = "Euclidean distance" if distance == "norm" else "1 - cosine similarity"
    return MeasureResult(
        measure="rnd",
        statistics=statistics,
        scores=scores,
        question=f"Are the attribute words nearer to {x} or to {y}?",
        meaning=f"the attribute words are nearer to {x if statistics['rnd'] < 0 else y} than to "
        f"{y if statistics['rnd'] < 0 else x}",
        conventions=(
            f"mean over words of {kind} to the mean of X = {x} minus that to the mean of Y = {y}, so positive is "
            f"nearer to {y}; {lengths_of_vectors(normalize)}"
        ),
        **compared.names,
    )


def rank_correlation(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return Spearman's rank correlation over the last axis, with the mean rank for tied values.

    Both arrays have the same shape (..., n), with n at least 3. If all values of one are equal, a `MeasureError` is
    raised.

    >>> round(float(rank_correlation([0.1, 0.3, 0.2, 0.4], [0.2, 0.4, 0.3, 0.3])), 4)
    0.6325
    """
    from scipy.stats import rankdata

    ranks = [rankdata(np.asarray(values), axis=-1) for values in (first, second)]
    count = ranks[0].shape[-1]
    if count < 3:
        raise MeasureError(f"Found {count} words, but a rank correlation needs at least 3. Add words.")
    x, y = (rank - rank.mean(axis=-1, keepdims=True) for rank in ranks)
    covariance, *variances = ((a * b).sum(axis=-1) * (1 / (count - 1)) for a, b in ((x, y), (x, x), (y, y)))
    if not all(np.all(variance > 0) for variance in variances):
        raise MeasureError("All values of one variable are equal, so the rank correlation is not defined.")
    correlation: Floats = np.clip(covariance / np.sqrt(variances[0]) / np.sqrt(variances[1]), -1.0, 1.0)
    return correlation


def ect_statistics(similarities: Similarities) -> Statistics:
    """Return ECT of unit vectors, of shape (...).

    The cosine to a mean of unit vectors is the mean cosine times a factor that does not change ranks.
    """
    x, y = (part.mean(axis=-2) for part in similarities.by_group(similarities.values, axis=-2))
    return {"ect": rank_correlation(x, y)}


@shared_parameters(TWO_GROUPS)
def ect(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    targets: tuple[str, str] | None = None,
    attributes: Sequence[str] | str | None = None,
    normalize: bool = False,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Return the embedding coherence test: the rank correlation of attribute words' similarities to two groups' means.

    X and Y are the target groups.

    Parameters
    ----------
    normalize
        Whether every word's vector is scaled to length 1 before the groups are averaged. Dev and Phillips do not scale.

    Returns
    -------
    MeasureResult
        `ect` (the headline number), Spearman's correlation, between -1 and 1, of the attribute words' cosine
        similarities to the mean of X with those to the mean of Y: 1 if both groups rank the words alike. The scores
        are the similarities of each attribute word to the mean of each group.

    Raises
    ------
    MeasureError
        If the groups are not determined, a list has fewer than two words left, there are fewer than three attribute
        words, or all of them are equally similar to a group.

    References
    ----------
    Sunipa Dev and Jeff Phillips (2019). Attenuating bias in word vectors. AISTATS 2019, PMLR 89, 879-887: the
    embedding coherence test.

    Examples
    --------
    >>> result = ect(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), "weat7")
    >>> round(result.ect, 4)
    0.5059
    """
    compared = _compare(embedding, study, targets, attributes, normalize, max_lost)
    profiles = [_cosine_to(compared.words, group.mean(axis=0)) for group in compared.groups.values()]
    x, y = compared.groups
    labels = {name: np.repeat(values, 2) for name, values in compared.labels.items()}
    return MeasureResult(
        measure="ect",
        statistics={"ect": float(rank_correlation(*profiles))},
        scores=score_frame(np.stack(profiles, axis=1), group=[x, y] * len(compared.words), **labels),
        question=f"Do {x} and {y} rank the attribute words alike?",
        conventions=(
            f"Spearman's rank correlation, ties sharing their mean rank, of cosine similarities to the means of X = "
            f"{x} and Y = {y}; {lengths_of_vectors(normalize)} before averaging"
        ),
        **compared.names,
    )


def lengths_of_vectors(normalize: bool) -> str:
    """Return a phrase for the lengths of vectors, as conventions name them."""
    return "vectors of length 1" if normalize else "vectors as long as they are"


@dataclass(frozen=True, eq=False)
class _Comparison:
    """Vectors of two groups and of attribute words, the words' labels, and the fields that name them in a result."""

    groups: Mapping[str, Floats]
    words: Floats
    labels: Mapping[str, Sequence[str]]
    names: Mapping[str, Any]


def _compare(
    embedding: EmbeddingLike, study: StudyLike, targets: Any, attributes: Any, normalize: bool, max_lost: float
) -> _Comparison:
    lists = two_groups(study, targets, attributes)
    scaled = check_flag("normalize", normalize)
    embedded_lists = find_lists(embedding, lists.by_name, max_lost=max_lost)
    vectors = embedded_lists.units if scaled else embedded_lists.vectors
    return _Comparison(
        groups={group: vectors[group] for group in lists.protected},
        words=np.concatenate([vectors[name] for name in lists.attributes]),
        labels=embedded_lists.labels(lists.attributes, "attribute_group"),
        names=embedded_lists.names(lists.study),
    )


def _cosine_to(words: Floats, vector: Floats) -> Floats:
    lengths = np.linalg.norm(words, axis=1) * np.linalg.norm(vector)
    # The mean of opposed vectors may be zero except for rounding.
    if not np.all(lengths > 1e-12 * np.linalg.norm(words, axis=1) ** 2):
        raise MeasureError("A word's vector or the mean of a group is zero, so it has no direction.")
    similarity: Floats = np.clip(words @ vector / lengths, -1.0, 1.0)
    return similarity


RND = Measure(
    "rnd", "Relative Norm Distance", "mean over words a of |a - mean X| - |a - mean Y|", "-2 to 2",
    GROUPS_AND_LISTS, "Garg et al. (2018)",
    "unit vectors; mean, not sum, over words (rnd_sum: the sum, as published)",
    "with groups whose words scatter differently: the mean of words that are close together is longer, and so "
    "farther from a word unrelated to both; distance=\"cosine\" ignores lengths",
    rnd, sign="positive: attribute words nearer to Y",
)  # fmt: skip

ECT = Measure(
    "ect", "Embedding Coherence Test", "Spearman's rho of cos(a, mean X) and cos(a, mean Y) over words a",
    "-1 to 1", GROUPS_AND_LISTS, "Dev and Phillips (2019)",
    "vectors as stored (normalize=False). The posterior is that with normalize=True",
    "to find a shift that all attribute words share: if each is nearer to the first group by the same amount, "
    "it is still 1",
    ect, sign="near 1: both groups rank the attribute words alike", units={"ect": "ECT (rank correlation)"},
    of_similarities=SimilarityMeasure(
        two_groups, ect_statistics, same_as=(("normalize", True),),
        caution="ECT ranks attribute words. Models without effects of attribute words, all but the crossed ones, give "
        "words of a list the same mean, so the expected value only says which list is nearer: compare the observed and "
        "the repeated value with the null.",
    ),
    strength=below_one,
)  # fmt: skip
