"""`word_features`: stability of words' vectors over seeds, nearest neighbours, norms and frequencies."""

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike, check_words
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import EmbeddingError, LostWordsError, ReportError, name_some
from bayesbias.metrics.directions.neighbours import nearest_neighbours
from bayesbias.reliability.word_properties import properties_of

if TYPE_CHECKING:
    import pandas as pd


def word_features(
    embeddings: Mapping[Hashable, EmbeddingLike],
    *,
    counts: Mapping[str, int] | None = None,
    words: Iterable[str] | None = None,
    properties: "str | os.PathLike[str] | pd.DataFrame | None" = None,
) -> "pd.DataFrame":
    """Return features of words that may drive the reliability of their scores.

    Parameters
    ----------
    embeddings
        Embeddings by seed, at least two, of one algorithm and corpus.
    counts
        Number of occurrences of each word in the corpus, if known.
    words
        Words to describe. None uses all words that every embedding has; neighbours are always sought among these.
    properties
        Properties of words that do not depend on the corpus: ``"wordnet"``, the path of a CSV file, or a frame with a
        column `word` (see `load_word_properties`).

    Returns
    -------
    pandas.DataFrame
        One row per word, with columns `word`; `stability`, the mean over pairs of seeds of the cosine of the word's two
        vectors after the rotation that best aligns the embeddings (from -1 to 1); `neighbour_similarity`, the cosine
        with its nearest neighbour, and `norm`, its length, both averaged over seeds; and with `counts`, `log_frequency`
        (natural) and `log_frequency_squared`, the square of the centred log frequency. With `properties`, their
        columns, with the natural logarithm `log_senses` in place of `senses`; missing values stay missing.

    Raises
    ------
    EmbeddingError, LostWordsError, ReportError
        If there is only one embedding, they differ in dimensions or have too few words in common, a word is lost, or a
        count is missing or not positive.

    Notes
    -----
    Q is the orthogonal matrix that minimises the Frobenius norm of W1 - W2 Q (Schoenemann 1966), and stability(w) is
    the mean of cos(w1, w2 Q), as in Du, Fang and Nguyen (2021, appendix F).

    Examples
    --------
    >>> first = {"cat": [1.0, 0.0], "dog": [0.8, 0.6], "car": [0.0, 1.0]}
    >>> turned = {"cat": [0.0, 1.0], "dog": [-0.6, 0.8], "car": [-1.0, 0.0]}
    >>> bb.reliability.word_features({1: first, 2: turned}).round(2)
      word  stability  neighbour_similarity  norm
    0  cat        1.0                   0.8   1.0
    1  dog        1.0                   0.8   1.0
    2  car        1.0                   0.6   1.0
    """
    import pandas as pd

    loaded = _loaded(embeddings)
    shared, wanted = _words_of(loaded, words)
    places = {word: position for position, word in enumerate(shared)}
    rows = np.array([places[word] for word in wanted])
    vectors = [np.asarray(matrix.stored(shared), dtype=np.float64) for matrix in loaded.values()]
    norms = np.stack([np.linalg.norm(matrix, axis=1) for matrix in vectors])
    features: dict[str, Any] = {
        "word": wanted,
        "stability": _stability(vectors, norms)[rows],
        "neighbour_similarity": np.mean([_nearest(matrix, rows) for matrix in vectors], axis=0),
        "norm": norms.mean(axis=0)[rows],
    }
    if counts is not None:
        features["log_frequency"] = logs = _logs(counts, wanted)
        features["log_frequency_squared"] = (logs - logs.mean()) ** 2
    if properties is not None:
        features |= properties_of(wanted, properties)
    return pd.DataFrame(features)


def _loaded(embeddings: Any) -> dict[Hashable, Embedding]:
    if not isinstance(embeddings, Mapping):
        raise ReportError(f"embeddings is a {type(embeddings).__name__}. Give a mapping: {{1: first, 2: second}}.")
    if len(embeddings) < 2:
        raise ReportError(f"Stability needs embeddings of at least 2 seeds, not {len(embeddings)}. Train more seeds.")
    loaded = {
        name: embedding if isinstance(embedding, Embedding) else load_embedding(embedding)
        for name, embedding in embeddings.items()
    }
    dimensions = {name: embedding.dimensions for name, embedding in loaded.items()}
    if len(set(dimensions.values())) > 1:
        described = ", ".join(f"{name!r} has {count}" for name, count in dimensions.items())
        raise EmbeddingError(f"The embeddings differ in dimensions: {described}. Train all with the same settings.")
    return loaded


def _words_of(loaded: Mapping[Hashable, Embedding], words: Iterable[str] | None) -> tuple[list[str], list[str]]:
    """Return the words that all embeddings have, in the order of the first, and the words to describe."""
    first, *others = loaded.values()
    shared = [word for word in first.words if all(word in embedding for embedding in others)]
    if len(shared) <= first.dimensions and len(shared) < 3:
        raise EmbeddingError(
            f"The embeddings have {counted(len(shared), 'word')} in common. Train all on the same corpus."
        )
    if words is None:
        return shared, shared
    wanted, in_common = check_words(words), set(shared)
    if lost := [word for word in wanted if word not in in_common]:
        raise LostWordsError(f"Not all embeddings have {name_some(map(repr, lost), 5)}. Leave these words out.")
    return shared, list(wanted)


def _stability(vectors: Sequence[Floats], norms: Floats) -> Floats:
    """Return the mean over pairs of embeddings of each word's cosine after the best rotation."""
    from scipy.linalg import svd

    pairs = list(combinations(range(len(vectors)), 2))
    total = np.zeros(len(vectors[0]))
    for one, other in pairs:
        left, _, right = svd(vectors[other].T @ vectors[one])
        turned = vectors[other] @ (left @ right)
        total += np.einsum("ij,ij->i", vectors[one], turned) / (norms[one] * norms[other])
    return total / len(pairs)


def _nearest(vectors: Floats, rows: Any) -> Floats:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    nearest = nearest_neighbours(unit[rows], unit, k=1, own_rows=rows)[:, 0]
    similarity: Floats = np.einsum("ij,ij->i", unit[rows], unit[nearest])
    return similarity


def _logs(counts: Any, words: list[str]) -> Floats:
    if not isinstance(counts, Mapping):
        raise ReportError(f"counts is a {type(counts).__name__}. Give a mapping of words to numbers of occurrences.")
    bad = [word for word in words if not counts.get(word, 0) > 0]
    if bad:
        raise ReportError(
            f"counts lacks {len(bad)} of {counted(len(words), 'word')}, or has 0 for them: "
            f"{name_some(map(repr, bad), 5)}. Count the words of the corpus that the vectors were trained on, or give "
            "fewer words."
        )
    return np.log(np.array([float(counts[word]) for word in words]))
