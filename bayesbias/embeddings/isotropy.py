"""What all vectors of an embedding share: their mean, and their first principal components, to measure and remove."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import EmbeddingError
from bayesbias.geometry import unit_rows

if TYPE_CHECKING:
    import pandas as pd

_MOST_WORDS = 2_000  # whose pairs are measured
_NOTHING = 1e-5  # a remainder below this share of a vector's length may be rounding error


def without_common_part(
    embedding: EmbeddingLike,
    components: int = 0,
    *,
    reference: EmbeddingLike | None = None,
) -> Embedding:
    """Return an embedding without the mean of its vectors, and without their first principal components.

    Parameters
    ----------
    embedding
        Embedding to change.
    components
        Number of principal components to remove after the mean. 0 (default): none, which is mean-centring. Mu and
        Viswanath take about one in a hundred dimensions.
    reference
        Embedding whose words give the mean and the components; None (default): `embedding` itself. If an encoder gave
        vectors only to the words of a study, the mean is that of these lists: give vectors of many other words.

    Returns
    -------
    Embedding
        The same words; its name and `steps` say what was removed. A `ContextualEmbedding` keeps its spread: that of the
        mean is subtracted where all words have the same templates, and components count as exact.

    Raises
    ------
    EmbeddingError
        If the reference has other dimensions, no more words than components, or nothing is left of a vector.
    ArgumentError
        If `components` is not a whole number of at least 0.

    References
    ----------
    Mu and Viswanath (2018), All-but-the-top: simple and effective postprocessing for word representations, ICLR,
    algorithm 1.

    Examples
    --------
    >>> vectors = {"cat": [1.0, 3.0], "dog": [3.0, 3.0], "car": [2.0, 0.0]}
    >>> centred = bb.embeddings.without_common_part(vectors)
    >>> centred["cat"], centred.steps
    (array([-1.,  1.]), ('centred on 3 words',))
    """
    source = embedding if isinstance(embedding, Embedding) else load_embedding(embedding)
    count = check_count("components", components, least=0)
    others = source if reference is None else load_embedding(reference)
    if others.dimensions != source.dimensions or len(others) <= count:
        raise EmbeddingError(
            f"reference has {len(others):,} words of {others.dimensions} dimensions. Give vectors of "
            f"{source.dimensions} dimensions, and more words than components ({count})."
        )
    mean = others.vectors.mean(axis=0, dtype=np.float64)
    directions = _top(others.vectors - mean, count)
    centred = source.vectors - mean
    vectors = (centred - centred @ directions.T @ directions).astype(source.vectors.dtype)
    sample = source.vocabulary_sample
    if sample is not None:
        sample = sample - mean
        sample = (sample - sample @ directions.T @ directions).astype(source.vectors.dtype)
    if (gone := np.linalg.norm(vectors, axis=1) <= _NOTHING * np.linalg.norm(source.vectors, axis=1)).any():
        word = source.words[int(np.argmax(gone))]
        raise EmbeddingError(
            f"Nothing is left of the vector of {word!r}. Remove fewer components, or give a reference."
        )
    step = f"centred on {len(others):,} words" + (f" of {others.name}" if reference is not None else "")
    step += f", without {counted(count, 'principal component')}" if count else ""
    steps = (*source.steps, step)
    changed = replace(source, vectors=vectors, name=f"{source.name}, {step}", steps=steps, vocabulary_sample=sample)
    if not isinstance(changed, ContextualEmbedding):
        return changed
    deviations = changed.deviations.astype(np.float64)
    if changed.paired and reference is None:
        deviations = deviations - deviations.mean(axis=0)
    deviations -= deviations @ directions.T @ directions
    return replace(changed, deviations=deviations.astype(np.float32))


def common_part(embedding: EmbeddingLike) -> "pd.DataFrame":
    """Return how far the cosines of an embedding's words spread, and what its vectors share.

    Parameters
    ----------
    embedding
        Embedding of at least two words.

    Returns
    -------
    pandas.DataFrame
        One row: `embedding`, `words`, `mean_cosine` and `sd_cosine` over all pairs of (at most 2,000) words;
        `mean_share` and `component_share`: shares of the squared length of the vectors, scaled to length 1, that lie
        along their mean and then along their first principal component.

    Raises
    ------
    EmbeddingError
        If there is one word only.

    Notes
    -----
    Where vectors share a large part, all cosines are large and differ little, so contrasts are small: an encoder whose
    cosines have half the standard deviation has half the contrast for the same order of words.

    Examples
    --------
    >>> bb.embeddings.common_part({"cat": [1.0, 0.0], "dog": [0.6, 0.8]}).round(2)
       embedding  words  mean_cosine  sd_cosine  mean_share  component_share
    0  embedding      2          0.6        0.0         0.8              0.2
    """
    import pandas as pd

    source = embedding if isinstance(embedding, Embedding) else load_embedding(embedding)
    if len(source) < 2:
        raise EmbeddingError(f"{source.name!r} has one word. Give two or more.")
    rows = np.unique(np.linspace(0, len(source) - 1, min(len(source), _MOST_WORDS)).astype(np.int64))
    units = unit_rows(source.vectors[rows])
    cosines = (units @ units.T)[np.triu_indices(len(units), 1)]
    mean = units.mean(axis=0)
    (direction,) = _top(units - mean, 1)
    first = float(((units - mean) @ direction) ** 2 @ np.ones(len(units)) / len(units))
    return pd.DataFrame(
        {
            "embedding": [source.name],
            "words": [len(rows)],
            "mean_cosine": [cosines.mean()],
            "sd_cosine": [cosines.std()],
            "mean_share": [float(mean @ mean)],
            "component_share": [first],
        }
    )


def _top(centred: Floats, count: int) -> Floats:
    """Return the first principal directions of centred rows, shape (count, dimensions)."""
    _, axes = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
    return np.asarray(axes[:, ::-1][:, :count].T)
