"""Vectors that are means over contexts, and how far the contexts let them, and their cosines, be off."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import resolve_seed
from bayesbias.base.statements import Facts
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.readers.npz import sound_zip
from bayesbias.embeddings.rows import open_bytes, readable
from bayesbias.errors import EmbeddingError

if TYPE_CHECKING:
    import pandas as pd

GROUPS = 20
"""Into so many groups the contexts of a word are put, at most: each is left out in turn."""
_ARRAYS = ("deviations", "contexts", "pieces")  # with a row a word
_BLOCK = 1 << 24  # numbers that are worked on at a time


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ContextualEmbedding(Embedding):
    """An embedding whose vectors are means over contexts, with their spread: what `contextual_embedding` returns.

    It is an `Embedding` in all else, so that whatever takes one takes it. `distance_table` gives each pair the error of
    its cosine, and `write_embedding` keeps the spread in an .npz file.

    Parameters
    ----------
    words, vectors, name, case
        As of `Embedding`.
    deviations
        Array of shape (words, groups, dimensions): what leaving out a group of contexts does to a vector, scaled so
        that the squares of a word's deviations, summed over groups, are the variances of its vector (jackknife).
    contexts
        Of how many contexts each vector is the mean, shape (words,).
    pieces
        Into how many pieces the model split each word, shape (words,); its vector is their mean.
    paired
        Whether all words stand in the same contexts, as in templates: then their errors hang together.
    left_out
        Words that have no vector, each with the reason.
    """

    deviations: NDArray[np.float32]
    contexts: NDArray[np.int64]
    pieces: NDArray[np.int64]
    paired: bool
    left_out: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = (len(self), self.dimensions)
        given = np.shape(self.deviations)
        if len(given) != 3 or (given[0], given[2]) != shape or not np.isfinite(np.asarray(self.deviations)).all():
            raise EmbeddingError(
                f"The deviations of {self.name!r} have the shape {given}. Give finite numbers of the shape (words, "
                f"groups, dimensions), with {shape[0]} words and {shape[1]} dimensions."
            )
        for name in ("contexts", "pieces"):
            counts = np.asarray(getattr(self, name))
            if counts.shape != shape[:1] or counts.dtype.kind != "i" or (counts < 1).any():
                raise EmbeddingError(f"{name} of {self.name!r} must be a whole number of at least 1 for each word.")

    @property
    def _facts(self) -> Facts:
        return {**super()._facts, "contexts": int(self.contexts.sum()), "left_out": len(self.left_out)}

    def spread(self) -> "pd.DataFrame":
        """Return of each word how far its contexts let its vector be off.

        Returns
        -------
        pandas.DataFrame
            `word`, `contexts`, `pieces` (of the model), `relative_error`: the standard error of the vector, the root of
            the sum of its coordinates' variances, as a share of the vector's length. Words that are left out are in the
            field `left_out`.
        """
        import pandas as pd

        errors = np.sqrt(np.einsum("wgd,wgd->w", self.deviations, self.deviations, dtype=np.float64))
        lengths = np.linalg.norm(self.vectors.astype(np.float64), axis=1)
        return pd.DataFrame(
            {
                "word": self.words,
                "contexts": self.contexts,
                "pieces": self.pieces,
                "relative_error": errors / lengths,
            }
        )

    def cosine_errors(self, words: Iterable[str], other_words: Iterable[str]) -> Floats:
        """Return the standard errors of the cosine similarities of words to others.

        Parameters
        ----------
        words, other_words
            Words of the embedding.

        Returns
        -------
        numpy.ndarray
            Shape (words, other words), in units of cosine similarity (or distance: it is the same).

        Raises
        ------
        LostWordsError
            If a word is absent.
        """
        sides = []
        for each in (words, other_words):
            given = list(each)
            vectors = self.matrix(given).astype(np.float64)
            rows = [self._index[form] for word in given if (form := self.match(word)) is not None]
            sides.append((vectors, self.deviations[rows]))
        return cosine_errors(*sides[0], *sides[1], paired=self.paired)

    def redrawn(self, *, random_seed: int | None = None) -> Embedding:
        """Return vectors that as many other contexts might have given: each moved by a draw of its error.

        Fits of the tables of several such embeddings differ by what contexts leave open, and `bb.compare_seeds` says
        how large that is beside what the choice of words leaves open. The errors of a word's pairs are one error, that
        of its vector, which `cosine_sd` of each pair alone cannot say.

        Parameters
        ----------
        random_seed
            Of the draw; other seeds give other vectors. If it is left out, one is drawn; the name says it.

        Returns
        -------
        Embedding
            Of the same words.

        Notes
        -----
        A Normal draw with the covariance that the deviations have; in templates, which all words share, the words are
        moved together. It comes on top of the error that the vectors have: its size is what is told by it, not a mean.
        """
        seed = resolve_seed(random_seed)
        rng = np.random.default_rng(seed)
        groups = self.deviations.shape[1]
        noise = rng.standard_normal((1 if self.paired else len(self), groups)).astype(np.float32)
        moved = np.einsum("wgd,wg->wd", self.deviations, np.broadcast_to(noise, (len(self), groups)))
        return Embedding(self.words, self.vectors + moved, f"{self.name}, redrawn {seed}", self.case)

    def keeping(self, words: Iterable[str]) -> "ContextualEmbedding":
        """Return the embedding of some of its words, in their order, written as they are here."""
        rows = [self._index[word] for word in words]
        arrays = {each: getattr(self, each)[rows] for each in ("vectors", "deviations", "contexts", "pieces")}
        return replace(self, words=tuple(self.words[row] for row in rows), **arrays)


def spread_arrays(embedding: Embedding) -> dict[str, NDArray[Any]]:
    """Return what an .npz file of an embedding holds beside words and vectors: nothing unless it has a spread."""
    if not isinstance(embedding, ContextualEmbedding):
        return {}
    arrays: dict[str, NDArray[Any]] = {name: getattr(embedding, name) for name in _ARRAYS}
    left_out = np.asarray(embedding.left_out or np.empty((0, 2)), dtype=str)
    return {**arrays, "paired": np.asarray(embedding.paired), "left_out": left_out}


def with_spread(embedding: Embedding, path: Path) -> Embedding:
    """Return an embedding with the spread that its .npz file holds; as it is if the file holds none.

    Raises
    ------
    EmbeddingError
        If what the file holds does not fit the words.
    InputFileError
        If the file is damaged.
    """
    with readable(path), open_bytes(path) as stream, sound_zip(path), np.load(stream) as arrays:
        if "deviations" not in arrays:
            return embedding
        found = {name: arrays[name] for name in ("words", *_ARRAYS, "paired", "left_out") if name in arrays}
    if lacking := [name for name in (*_ARRAYS, "paired", "left_out") if name not in found]:
        raise EmbeddingError(f"{path} has deviations and no array {lacking[0]!r}. Write it again with write_embedding.")
    places = {word: row for row, word in enumerate(found["words"].tolist())}
    rows = [places[word] for word in embedding.words]
    if any(found[name].ndim < 1 or len(found[name]) != len(places) for name in _ARRAYS):
        raise EmbeddingError(f"{path}: its spread is of other words than its vectors. Write it again.")
    if found["paired"].shape or found["left_out"].shape[1:] != (2,):
        raise EmbeddingError(f"{path}: what it says of its contexts is damaged. Write it again.")
    return ContextualEmbedding(
        words=embedding.words,
        vectors=embedding.vectors,
        name=embedding.name,
        case=embedding.case,
        **{name: found[name][rows] for name in _ARRAYS},
        paired=bool(found["paired"]),
        left_out=tuple((str(word), str(reason)) for word, reason in found["left_out"]),
    )


def jackknife(vectors: NDArray[np.floating]) -> tuple[Floats, Floats]:
    """Return the mean of vectors and what leaving out a group of them does to it, scaled to the mean's error.

    Parameters
    ----------
    vectors
        Shape (contexts, dimensions), in an order that has no meaning; at least 2.

    Returns
    -------
    tuple of numpy.ndarray
        The mean, and deviations of shape (`GROUPS`, dimensions): rows beyond the number of contexts are 0. Their
        squares sum to the variance of the mean.

    Examples
    --------
    >>> mean, deviations = jackknife(np.array([[1.0], [2.0], [6.0]]))
    >>> mean, np.isclose((deviations**2).sum(), np.var([1, 2, 6], ddof=1) / 3)
    (array([3.]), np.True_)
    """
    count = len(vectors)
    groups = min(GROUPS, count)
    group = np.arange(count) % groups
    sums = np.zeros((groups, vectors.shape[1]))
    np.add.at(sums, group, vectors.astype(np.float64))
    whole = sums.sum(axis=0)
    without = (whole - sums) / (count - np.bincount(group))[:, None]
    deviations = np.zeros((GROUPS, vectors.shape[1]))
    deviations[:groups] = np.sqrt((groups - 1) / groups) * (without - without.mean(axis=0))
    return whole / count, deviations


def cosine_errors(
    vectors: Floats,
    deviations: NDArray[np.floating],
    other_vectors: Floats,
    other_deviations: NDArray[np.floating],
    *,
    paired: bool,
) -> Floats:
    """Return the standard errors of the cosines of vectors to others (delta method).

    Parameters
    ----------
    vectors, other_vectors
        Shape (words, dimensions), (other words, dimensions).
    deviations, other_deviations
        Of these, shape (words, groups, dimensions).
    paired
        Whether a group is the same contexts for all words: then what it does to both vectors is summed first.

    Returns
    -------
    numpy.ndarray
        Shape (words, other words).

    Examples
    --------
    >>> vectors, deviations = np.array([[2.0, 0.0]]), np.array([[[0.3, 0.2]]])
    >>> cosine_errors(vectors, deviations, np.array([[0.0, 1.0]]), np.zeros((1, 1, 2)), paired=False)
    array([[0.1]])
    """
    lengths, other_lengths = (np.linalg.norm(each, axis=1) for each in (vectors, other_vectors))
    units, other_units = vectors / lengths[:, None], other_vectors / other_lengths[:, None]
    cosines = units @ other_units.T
    found = np.empty(cosines.shape)
    along_other = np.einsum("qgd,qd->qg", other_deviations, other_units)
    size = max(1, _BLOCK // max(1, deviations.shape[1] * len(other_vectors)))
    for start in range(0, len(vectors), size):
        rows = slice(start, start + size)
        cosine = cosines[rows][:, :, None]
        along = np.einsum("pgd,pd->pg", deviations[rows], units[rows])
        mine = np.einsum("pgd,qd->pqg", deviations[rows], other_units, optimize=True) - cosine * along[:, None]
        mine /= lengths[rows][:, None, None]
        theirs = np.einsum("qgd,pd->pqg", other_deviations, units[rows], optimize=True) - cosine * along_other[None]
        theirs /= other_lengths[None, :, None]
        variances = (mine + theirs) ** 2 if paired else mine**2 + theirs**2
        found[rows] = np.sqrt(variances.sum(axis=2))
    return found
