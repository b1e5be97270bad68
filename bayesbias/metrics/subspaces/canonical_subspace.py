"""The canonical subspace metric of Kindel (2023): what all the words of two lists have in common."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesbias.errors import MeasureError
from bayesbias.geometry import canonical_congruences, canonical_subspace_similarity, rank, row_space, unit_vectors
from bayesbias.metrics.look_up import as_embedding, word_sets
from bayesbias.metrics.result import MeasureResult
from bayesbias.metrics.subspaces.association_lists import COMPONENTS, four_lists, score_result
from bayesbias.studies import Study

Floats = NDArray[np.floating[Any]]


def canonical_subspace(
    embedding: Any,
    study: Study | str | os.PathLike[str] | Mapping[str, Sequence[str]],
    *,
    scaled: bool = True,
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
) -> MeasureResult:
    """Score four word lists by the canonical subspace metric: WEAT_CCA.

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    study
        A `Study`, the name of a bundled one, the path of a TOML file, or four lists by name: A, B, C, D.
    scaled
        Divide each similarity by the geometric mean of the two ranks, so that it lies between 0 and 1, as in
        Kindel's Table 1; otherwise it grows with the length of the lists.
    targets, attributes
        The protected groups A and B and the attribute groups C and D, as in `weat`.

    Returns
    -------
    MeasureResult
        `score` (the headline number): (A:C + B:D) - (B:C + A:D); its components `a_c`, `a_d`, `b_d`, `b_c`. `words`
        holds the similarity of each single word of A and B to C and to D (the squared cosine of its angle to the
        space that they span); the components are not their means.

    Raises
    ------
    MeasureError
        If the lists are not determined, or one has no word left.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words.

    References
    ----------
    Alexander T. Kindel (2023). Geometrically consistent estimation of multidimensional word associations in text
    corpora: Sim_CCA;k and Table 1.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> result = canonical_subspace(vectors, "weat7")
    >>> result.score == result.a_c + result.b_d - (result.b_c + result.a_d)
    True
    """
    return score_result(
        four_lists(embedding, study, targets, attributes),
        "canonical_subspace",
        "sum of squared canonical congruences, uncentred"
        + (", over the geometric mean of the ranks" if scaled else ", not scaled"),
        partial(canonical_subspace_similarity, scaled=scaled),
        word_similarities,
    )


def word_similarities(A: ArrayLike, B: ArrayLike) -> Floats:
    """Return the canonical subspace similarity of each single word of A to the list B.

    Parameters
    ----------
    A, B
        Vectors of shapes (..., words of A, dimensions) and (..., words of B, dimensions).

    Returns
    -------
    array
        Squared cosines of the angles between the words and the space of B, of shape (..., words of A).

    References
    ----------
    Kindel (2023), Sim_CCA;k of a list of one word with a list.

    Examples
    --------
    >>> word_similarities([[3, 0, 4], [0, 2, 0]], [[1, 0, 0], [1, 1, 0]]).round(12)
    array([0.36, 1.  ])
    """
    inside = unit_vectors(A) @ row_space(B).swapaxes(-1, -2)
    squares: Floats = np.minimum(np.square(inside).sum(axis=-1), 1.0)
    return squares


def subspace_similarity(embedding: Any, lists: Mapping[str, Sequence[str]]) -> MeasureResult:
    """Measure how much two lists of words have in common.

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    lists
        Two lists by name.

    Returns
    -------
    MeasureResult
        `similarity` (the headline number), between 0 and the smaller rank; `scaled`, between 0 and 1; `rank_a` and
        `rank_b`; and `congruence_1` ..., the cosines of the principal angles from the largest on. `words` holds the
        similarity of each single word to the other list.

    Raises
    ------
    MeasureError
        If there are not two lists, or one has no word left.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words.

    References
    ----------
    Kindel (2023), Sim_CCA;k and canonical congruences.

    Examples
    --------
    >>> vectors = {"he": [1.0, 0.0, 0.0], "him": [0.0, 1.0, 0.0], "nice": [3.0, 0.0, 4.0]}
    >>> result = subspace_similarity(vectors, {"male": ["he", "him"], "pleasant": ["nice"]})
    >>> round(result.similarity, 12), round(result.congruence_1, 12), int(result.rank_a)
    (0.36, 0.6, 2)
    """
    if len(lists) != 2:
        raise MeasureError(f"Found {len(lists)} word lists. Give two by name.")
    source = as_embedding(embedding, [word for words in lists.values() for word in words])
    sets = word_sets(source, lists, least=1)
    a, b = sets.units.values()
    ranks = int(rank(a)), int(rank(b))
    similarity = float(canonical_subspace_similarity(a, b))
    congruences = canonical_congruences(a, b)[: min(ranks)]
    statistics = {
        "similarity": similarity,
        "scaled": float(canonical_subspace_similarity(a, b, scaled=True)),
        "rank_a": float(ranks[0]),
        "rank_b": float(ranks[1]),
    } | {f"congruence_{at}": float(value) for at, value in enumerate(congruences, start=1)}
    return MeasureResult(
        measure="subspace_similarity",
        value=similarity,
        statistics=statistics,
        words=pd.DataFrame(
            {
                "word": [word for words in sets.words.values() for word in words],
                "group": [name for name, words in sets.words.items() for _ in words],
                "similarity": np.concatenate([word_similarities(a, b), word_similarities(b, a)]),
            }
        ),
        lost_words=sets.lost,
        conventions=(
            f"A = {', B = '.join(lists)}; sum of squared canonical congruences, uncentred; "
            "scaled: over the geometric mean of the ranks"
        ),
        study=" and ".join(lists),
        embedding=sets.embedding,
    )


def congruences(
    embedding: Any,
    study: Study | str | os.PathLike[str] | Mapping[str, Sequence[str]],
    *,
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
) -> pd.DataFrame:
    """Return the canonical congruences of the four comparisons of an association test.

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    study
        A `Study`, the name of a bundled one, the path of a TOML file, or four lists by name: A, B, C, D.
    targets, attributes
        The protected groups A and B and the attribute groups C and D, as in `weat`.

    Returns
    -------
    DataFrame
        One row a congruence: `component` (such as ``"a_c"``), `first` and `second` (the lists), `index` (from 1) and
        `congruence` (cosine of the principal angle, largest first), as many as the smaller rank.

    References
    ----------
    Kindel (2023), Figure 3.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> frame = congruences(vectors, "weat7")
    >>> len(frame), list(frame.columns)
    (32, ['component', 'first', 'second', 'index', 'congruence'])
    """
    lists = four_lists(embedding, study, targets, attributes)
    a, b, c, d = lists.names
    rows = []
    for component, (first, second), pair in zip(COMPONENTS, ((a, c), (a, d), (b, d), (b, c)), lists.pairs, strict=True):
        values = canonical_congruences(*pair)[: min(int(rank(vectors)) for vectors in pair)]
        rows += [(component, first, second, at, float(value)) for at, value in enumerate(values, start=1)]
    return pd.DataFrame(rows, columns=["component", "first", "second", "index", "congruence"])
