"""What a word's vectors say of it over seeds: stability, nearest neighbour, norm, and how often it occurs."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike, check_words
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import EmbeddingError, LostWordsError, ReportError, name_some
from bayesbias.metrics.directions.neighbours import nearest_neighbours

if TYPE_CHECKING:
    import pandas as pd


def word_features(
    embeddings: Mapping[Hashable, EmbeddingLike],
    *,
    counts: Mapping[str, int] | None = None,
    words: Iterable[str] | None = None,
) -> "pd.DataFrame":
    """Describe words by what may drive the reliability of their scores.

    Parameters
    ----------
    embeddings
        Embeddings by seed, two at least, of one algorithm and corpus.
    counts
        How often each word occurs in the corpus, if known.
    words
        Which to describe; None: all that every embedding has. Neighbours are sought among all of them.

    Returns
    -------
    pandas.DataFrame
        One row a word, with columns `word`; `stability`, the mean over pairs of seeds of the cosine of the word's two
        vectors after the rotation that brings one embedding nearest to the other (from -1 to 1);
        `neighbour_similarity`, the cosine with its nearest neighbour, and `norm`, its length, both means over seeds;
        and with `counts` `log_frequency` (natural) and `log_frequency_squared`, of log frequency less its mean, so that
        the two say different things.

    Raises
    ------
    EmbeddingError, LostWordsError, ReportError
        If there is one embedding only, they have other dimensions or too few words in common, a word is lost, or a
        count is missing or not positive.

    Notes
    -----
    Of the orthogonal Q the one that makes the Frobenius norm of W1 - W2 Q smallest (Schoenemann 1966), then
    stability(w) = mean of cos(w1, w2 Q), as Du, Fang and Nguyen (2021, appendix F) do.

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
    places = {word: at for at, word in enumerate(shared)}
    rows = np.array([places[word] for word in wanted])
    vectors = [np.asarray(each.stored(shared), dtype=np.float64) for each in loaded.values()]
    norms = np.stack([np.linalg.norm(each, axis=1) for each in vectors])
    features: dict[str, Any] = {
        "word": wanted,
        "stability": _stability(vectors, norms)[rows],
        "neighbour_similarity": np.mean([_nearest(each, rows) for each in vectors], axis=0),
        "norm": norms.mean(axis=0)[rows],
    }
    if counts is not None:
        features["log_frequency"] = logs = _logs(counts, wanted)
        features["log_frequency_squared"] = (logs - logs.mean()) ** 2
    return pd.DataFrame(features)


def _loaded(embeddings: Any) -> dict[Hashable, Embedding]:
    if not isinstance(embeddings, Mapping):
        raise ReportError(f"Give embeddings by seed, such as {{1: first, 2: second}}; this is a {type(embeddings)}.")
    if len(embeddings) < 2:
        raise ReportError(f"{len(embeddings)} embedding: stability takes two seeds at least. Train more seeds.")
    loaded = {name: each if isinstance(each, Embedding) else load_embedding(each) for name, each in embeddings.items()}
    dimensions = {name: each.dimensions for name, each in loaded.items()}
    if len(set(dimensions.values())) > 1:
        said = ", ".join(f"{name!r} has {count}" for name, count in dimensions.items())
        raise EmbeddingError(f"The embeddings have other dimensions: {said}. Train all with the same settings.")
    return loaded


def _words_of(loaded: Mapping[Hashable, Embedding], words: Iterable[str] | None) -> tuple[list[str], list[str]]:
    """Return the words that all have, in the order of the first, and those to describe."""
    first, *others = loaded.values()
    shared = [word for word in first.words if all(word in each for each in others)]
    if len(shared) <= first.dimensions and len(shared) < 3:
        raise EmbeddingError(f"The embeddings have {len(shared)} words in common. Train all on the same corpus.")
    if words is None:
        return shared, shared
    wanted, known = check_words(words), set(shared)
    if lost := [word for word in wanted if word not in known]:
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
    nearest = nearest_neighbours(unit[rows], unit, k=1, own=rows)[:, 0]
    similarity: Floats = np.einsum("ij,ij->i", unit[rows], unit[nearest])
    return similarity


def _logs(counts: Any, words: list[str]) -> Floats:
    if not isinstance(counts, Mapping):
        raise ReportError(f"counts: give a mapping of words to how often they occur, not a {type(counts).__name__}.")
    bad = [word for word in words if not counts.get(word, 0) > 0]
    if bad:
        raise ReportError(
            f"counts lacks {len(bad)} of {len(words)} words, or says 0 of them: {name_some(map(repr, bad), 5)}. "
            "Count the words of the corpus that the vectors were trained on, or name fewer words."
        )
    return np.log(np.array([float(counts[word]) for word in words]))
