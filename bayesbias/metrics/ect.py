"""ECT: the embedding coherence test of Dev and Phillips (2019)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.errors import MeasureError
from bayesbias.metrics.result import MeasureResult
from bayesbias.metrics.rnd import Lists, compare_groups, cosine_to, lengths_of_vectors


def rank_correlation(first: ArrayLike, second: ArrayLike) -> float:
    """Return Spearman's rank correlation; tied values share the mean of their ranks.

    Raises
    ------
    MeasureError
        If there are fewer than three values, or all values of one list are equal.

    Examples
    --------
    >>> round(rank_correlation([0.1, 0.3, 0.2, 0.4], [0.2, 0.4, 0.3, 0.3]), 4)
    0.6325
    """
    from scipy.stats import rankdata

    a, b = rankdata(np.asarray(first)), rankdata(np.asarray(second))
    if len(a) < 3:
        raise MeasureError(f"There are {len(a)} attribute words. A rank correlation needs at least three: add words.")
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        raise MeasureError("All attribute words are equally similar to a group, so there are no ranks to correlate.")
    return float(np.corrcoef(a, b)[0, 1])


def ect(
    embedding: Any,
    study: Lists,
    *,
    targets: tuple[str, str] | None = None,
    attributes: Sequence[str] | str | None = None,
    normalize: bool = False,
) -> MeasureResult:
    """Correlate the similarities of attribute words to the mean vectors of two groups.

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    study
        A `Study`, the name of a bundled one, the path of a TOML file, or lists by name: two groups, then one
        list or more of attribute words.
    targets
        The protected groups X and Y; may be left out where the study has exactly two.
    attributes
        The attribute groups (or control lists) whose words are compared, all together; by default every
        attribute group, without the controls.
    normalize
        Whether every word's vector is scaled to length 1 before the groups are averaged. Dev and Phillips do not.

    Returns
    -------
    MeasureResult
        `ect` (the headline number): Spearman's correlation, between -1 and 1, of the attribute words' cosine
        similarities to the mean of X with those to the mean of Y; 1 says that both groups rank the words alike.
        `words` holds both similarities of each word.

    Raises
    ------
    MeasureError
        If the groups are not determined, a list has fewer than two words left, there are fewer than three attribute
        words, or all of them are equally similar to a group.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words.

    References
    ----------
    Sunipa Dev and Jeff Phillips (2019). Attenuating bias in word vectors. AISTATS 2019, PMLR 89, 879-887: the
    embedding coherence test.

    Examples
    --------
    >>> result = ect(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), "weat7")
    >>> -1 <= result.ect <= 1
    True
    """
    compared = compare_groups(embedding, study, targets, attributes, normalize=normalize)
    words = compared.attribute_words
    vectors = np.concatenate([compared.vectors[name] for name in compared.attributes])
    for column, group in zip(("similarity_x", "similarity_y"), compared.targets, strict=True):
        words[column] = cosine_to(vectors, compared.vectors[group].mean(axis=0))
    correlation = rank_correlation(words["similarity_x"], words["similarity_y"])
    x, y = compared.targets
    return MeasureResult(
        measure="ect",
        value=correlation,
        statistics={"ect": correlation},
        words=words,
        lost_words=compared.lost,
        conventions=(
            f"Spearman's rank correlation, ties sharing their mean rank, of cosine similarities to the means of X = "
            f"{x} and Y = {y}; {lengths_of_vectors(normalize)} before averaging"
        ),
        study=compared.study,
        embedding=compared.embedding,
    )
