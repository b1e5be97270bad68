"""Vectors that are means over contexts, with the standard errors of the vectors and their cosines."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import resolve_seed
from bayesbias.base.files.stored_arrays import read_arrays
from bayesbias.base.statements import Facts
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import EmbeddingError, LostWordsError, name_some

if TYPE_CHECKING:
    import pandas as pd

GROUPS = 20
"""Largest number of jackknife groups of a word's contexts."""
_ARRAYS = ("deviations", "contexts", "pieces")  # with one row per word
_DEVIATIONS = {"deviations": ("f", 3)}
_BESIDE = {
    "contexts": ("i", 1),
    "pieces": ("i", 1),
    "paired": ("b", 0),
    "left_out": ("U", 2),
    "words": ("U", 1),
}
_BLOCK = 1 << 24  # numbers in memory at a time
_LEAST_SHARE = 0.1  # of a squared length; near 0, cosines have no bound


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ContextualEmbedding(Embedding):
    """An embedding whose vectors are means over contexts, with their spread, from `contextual_embedding`.

    It can be used like any `Embedding`. `distance_table` corrects the cosines (`cosines`) and adds their standard
    errors, and `write_embedding` stores the spread in an .npz file.

    Parameters
    ----------
    words, vectors, name, case, phrases, steps, vocabulary_sample, left_out
        See `Embedding`.
    deviations
        Array of shape (words, groups, dimensions): change of a vector when a group of contexts is left out, scaled so
        that the squared deviations of a word, summed over groups, are the variances of its vector (jackknife).
    contexts
        Number of contexts of each word, shape (words,).
    pieces
        Number of pieces into which the model split each word, shape (words,); the vector is their mean.
    paired
        Whether a group holds the same contexts for all words that have it, as with templates, so that their errors are
        correlated.
    """

    deviations: NDArray[np.float32]
    contexts: NDArray[np.int64]
    pieces: NDArray[np.int64]
    paired: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = (len(self), self.dimensions)
        stored = np.shape(self.deviations)
        if len(stored) != 3 or (stored[0], stored[2]) != shape or not np.isfinite(np.asarray(self.deviations)).all():
            raise EmbeddingError(
                f"The deviations of {self.name!r} have the shape {stored}. Give finite numbers of the shape (words, "
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
        """Return the relative standard error of each word's vector over its contexts.

        Returns
        -------
        pandas.DataFrame
            `word`, `contexts`, `pieces` (of the model), `relative_error`: the standard error of the vector (the root of
            the sum of its coordinates' variances) as a share of the vector's length. The field `left_out` has the words
            that are left out.
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

    def why_lost(self, word: str) -> str:
        """Return why a word has no usable vector: too little of it is common to its contexts, or as in `Embedding`.

        >>> embedding = ContextualEmbedding(
        ...     words=("bank",), vectors=[[1.0, 0.0]], deviations=[[[0.7, 0.0], [0.0, 0.7]]], contexts=np.array([2]),
        ...     pieces=np.array([1]), paired=False,
        ... )
        >>> embedding.why_lost("bank")
        'the vectors of its contexts have too little in common (0.02 of the squared length of their mean)'
        """
        form = self.match(word)
        if form is None or form in self.usable_words:
            return super().why_lost(word)
        share = self._shares[self._index[form]]
        return (
            "the vectors of its contexts have too little in common "
            f"({max(share, 0):.2f} of the squared length of their mean)"
        )

    @cached_property
    def usable_words(self) -> frozenset[str]:
        """The stored words whose contexts have at least a tenth of their mean's squared length in common."""
        return frozenset(word for word, share in zip(self.words, self._shares, strict=True) if share >= _LEAST_SHARE)

    @cached_property
    def _shares(self) -> Floats:
        """The squared lengths that different contexts of a word have in common, as shares of those of the means."""
        vectors = self.vectors.astype(np.float64)
        shares: Floats = squared_lengths(vectors, self.deviations) / np.einsum("wd,wd->w", vectors, vectors)
        return shares

    def cosines(self, words: Iterable[str], other_words: Iterable[str]) -> Floats:
        """Return the cosine similarities between words and other words, as if each had any number of contexts.

        Parameters
        ----------
        words, other_words
            Words of the embedding.

        Returns
        -------
        numpy.ndarray
            Shape (words, other words). They are estimates, and can lie above 1 or below -1: cut off, the mean of many
            would be too small.

        Raises
        ------
        LostWordsError
            If a word is absent, or less than a tenth of its mean's squared length is common to its contexts.

        Notes
        -----
        A mean over few contexts is longer than what they have in common, so that its cosines are too small. Here inner
        products and squared lengths are means over pairs of *different* contexts: those of the mean vectors minus the
        covariance of the means, which the deviations have. With templates this leaves out the pairs of two words in
        the same sentence, too, which make all cosines more alike; contexts of two words from a corpus are different.

        Examples
        --------
        A toy in place of an encoder: the numbers of "i", "u" and "A". The cosine of the mean vectors is 0.52.

        >>> def toy(texts):
        ...     return [[text.count("i"), text.count("u"), text.count("A")] for text in texts]
        >>> embedding = bb.encode(toy, ["king", "queen"], ["A WORD.", "This WORD."], name="toy")
        >>> embedding.cosines(["king"], ["queen"]).round(2)
        array([[0.35]])
        """
        return cosines_of(*self._of_usable(words), *self._of_usable(other_words), paired=self.paired)

    def cosine_errors(self, words: Iterable[str], other_words: Iterable[str]) -> Floats:
        """Return the standard errors of the cosine similarities between words and other words (`cosines`).

        Parameters
        ----------
        words, other_words
            Words of the embedding.

        Returns
        -------
        numpy.ndarray
            Shape (words, other words), in units of cosine similarity or distance.

        Raises
        ------
        LostWordsError
            As in `cosines`.
        """
        return cosine_errors(*self._of_usable(words), *self._of_usable(other_words), paired=self.paired)

    def _of_usable(self, words: Iterable[str]) -> tuple[Floats, NDArray[np.float32]]:
        wanted = list(words)
        arrays = self.with_deviations(wanted)
        if lost := [word for word in wanted if self.match(word) not in self.usable_words]:
            raise LostWordsError(
                f"The embedding {self.name!r} has no usable vector of {name_some(map(repr, lost))}: "
                f"{self.why_lost(lost[0])}. Give more sentences, or other words."
            )
        return arrays

    def with_deviations(self, words: Iterable[str]) -> tuple[Floats, NDArray[np.float32]]:
        """Return the vectors of words, and their deviations: shapes (words, dimensions), (words, groups, dimensions).

        Raises
        ------
        LostWordsError
            If a word is absent.
        """
        wanted = list(words)
        vectors = self.matrix(wanted).astype(np.float64)
        rows = [self._index[form] for word in wanted if (form := self.match(word)) is not None]
        return vectors, self.deviations[rows]

    def redrawn(self, *, random_seed: int | None = None) -> Embedding:
        """Return an embedding whose vectors are each moved by a draw of their errors over contexts.

        What is computed of several such embeddings differs by the uncertainty about contexts, such as a measure without
        `context_sd` (see `bb.contrasts`). All pairs of a word share the error of its vector, which `cosine_sd` of
        single pairs cannot show.

        Parameters
        ----------
        random_seed
            Seed of the draw, which enters the name; drawn if None.

        Returns
        -------
        Embedding
            Embedding of the same words.

        Notes
        -----
        The draw is Normal with the covariance of the deviations; words with shared contexts (templates) are moved
        together. It comes on top of the vectors' own errors, so that it shows the size of these errors, not a mean:
        distances of redrawn vectors are not corrected for the number of contexts.
        """
        seed = resolve_seed(random_seed)
        rng = np.random.default_rng(seed)
        groups = self.deviations.shape[1]
        noise = rng.standard_normal((1 if self.paired else len(self), groups)).astype(np.float32)
        moved = np.einsum("wgd,wg->wd", self.deviations, np.broadcast_to(noise, (len(self), groups)))
        return Embedding(
            self.words,
            self.vectors + moved,
            f"{self.name}, redrawn {seed}",
            self.case,
            vocabulary_sample=self.vocabulary_sample,
        )

    def keeping(self, words: Iterable[str]) -> "ContextualEmbedding":
        """Return the embedding of some of the stored words, in their order."""
        rows = [self._index[word] for word in words]
        arrays = {name: getattr(self, name)[rows] for name in ("vectors", *_ARRAYS)}
        return replace(self, words=tuple(self.words[row] for row in rows), **arrays)


def spread_arrays(embedding: Embedding) -> dict[str, NDArray[Any]]:
    """Return the arrays of an embedding's spread for an .npz file; none if it has no spread."""
    if not isinstance(embedding, ContextualEmbedding):
        return {}
    arrays: dict[str, NDArray[Any]] = {name: getattr(embedding, name) for name in _ARRAYS}
    left_out = np.asarray(embedding.left_out or np.empty((0, 2)), dtype=str)
    return {**arrays, "paired": np.asarray(embedding.paired), "left_out": left_out}


def with_spread(embedding: Embedding, path: Path) -> Embedding:
    """Return an embedding with the spread in its .npz file, or as it is if the file has none.

    Raises `EmbeddingError` if the spread does not match the words. Raises `InputFileError` if the file is damaged.
    """
    stored: dict[str, Any] = read_arrays(path, _DEVIATIONS)
    if not stored:
        return embedding
    stored |= read_arrays(path, _BESIDE)
    if lacking := [name for name in _BESIDE if name not in stored]:
        raise EmbeddingError(f"{path} has deviations and no array {lacking[0]!r}. Write it again with write_embedding.")
    places = {word: row for row, word in enumerate(stored["words"].tolist())}
    rows = [places[word] for word in embedding.words]
    if any(len(stored[name]) != len(places) for name in _ARRAYS):
        raise EmbeddingError(f"{path}: its spread is of other words than its vectors. Write it again.")
    if stored["left_out"].shape[1:] != (2,):
        raise EmbeddingError(f"{path}: its description of contexts is damaged. Write it again.")
    return ContextualEmbedding(
        words=embedding.words,
        vectors=embedding.vectors,
        name=embedding.name,
        case=embedding.case,
        **{name: stored[name][rows] for name in _ARRAYS},
        paired=bool(stored["paired"]),
        left_out=tuple((str(word), str(reason)) for word, reason in stored["left_out"]),
    )


def jackknife(
    vectors: NDArray[np.floating], group: NDArray[np.int64] | None = None, groups: int = GROUPS
) -> tuple[Floats, Floats]:
    """Return the mean of vectors, and its scaled changes when groups of vectors are left out.

    The squared changes, of shape (groups, dimensions), sum to the variance of the mean; those of groups without a
    context are 0.

    - `vectors`: array of shape (contexts, dimensions), at least 2 contexts, in random order.
    - `group`: number of each context's group, shape (contexts,). If it is None (default), or one for all: the contexts
      take turns.

    >>> mean, deviations = jackknife(np.array([[1.0], [2.0], [6.0]]))
    >>> mean, np.isclose((deviations**2).sum(), np.var([1, 2, 6], ddof=1) / 3)
    (array([3.]), np.True_)
    """
    count = len(vectors)
    if group is None or len(set(group.tolist())) < 2:
        group = np.arange(count) % min(groups, count)
    present, places, sizes = np.unique(group, return_inverse=True, return_counts=True)
    sums = np.zeros((len(present), vectors.shape[1]))
    np.add.at(sums, places, vectors.astype(np.float64))
    mean = sums.sum(axis=0) / count
    deviations = np.zeros((groups, vectors.shape[1]))
    # The pseudovalue of a group is its mean; the weights hold for groups of any sizes (Busing, Meijer and Leeden 1999).
    deviations[present] = (mean - sums / sizes[:, None]) / np.sqrt(len(present) * (count / sizes - 1))[:, None]
    return mean, deviations


def squared_lengths(vectors: Floats, deviations: NDArray[np.floating]) -> Floats:
    """Return the squared lengths of vectors minus their variances: means over pairs of different contexts.

    >>> mean, deviations = jackknife(np.array([[2.0, 1.0], [4.0, 0.0], [6.0, 2.0]]))
    >>> squared_lengths(mean[None], deviations[None]).round(3), np.mean([2 * 4 + 0, 2 * 6 + 2, 4 * 6 + 0]).round(3)
    (array([15.333]), np.float64(15.333))
    """
    lengths: Floats = np.einsum("wd,wd->w", vectors, vectors) - np.einsum(
        "wgd,wgd->w", deviations, deviations, dtype=np.float64
    )
    return lengths


def cosines_of(
    vectors: Floats,
    deviations: NDArray[np.floating],
    other_vectors: Floats,
    other_deviations: NDArray[np.floating],
    *,
    paired: bool,
) -> Floats:
    """Return the cosines, shape (words, other words), of inner products and lengths over different contexts.

    Squared lengths (`squared_lengths`) must be above 0. If contexts are `paired`, the covariances of the means of both
    words are subtracted from their inner product.
    """
    products: Floats = vectors @ other_vectors.T
    if paired:
        products = products - _shared_covariances(deviations, other_deviations)
    lengths, other_lengths = (
        np.sqrt(squared_lengths(*rows)) for rows in ((vectors, deviations), (other_vectors, other_deviations))
    )
    cosines: Floats = products / (lengths[:, None] * other_lengths)
    return cosines


def _shared_covariances(deviations: NDArray[np.floating], other_deviations: NDArray[np.floating]) -> Floats:
    """Return the traces of the covariances of means of words with means of other words, over contexts that they share.

    Of two words with a and b groups, c of them in common, the expected sum of products of deviations is the covariance
    times (ab - a - b + c) / sqrt(a (a - 1) b (b - 1)): 1 if all are in common, about a half for c = 1 of a = b = 2.
    """
    rows, other_rows = (
        changes.reshape(len(changes), -1).astype(np.float64) for changes in (deviations, other_deviations)
    )
    present, other_present = (changes.any(axis=2).astype(np.float64) for changes in (deviations, other_deviations))
    counts, other_counts, common = present.sum(axis=1)[:, None], other_present.sum(axis=1), present @ other_present.T
    sizes = np.sqrt(counts * (counts - 1) * other_counts * (other_counts - 1))
    expected = np.maximum(counts * other_counts - counts - other_counts + common, 1)  # 1 or more of any in common
    traces: Floats = (rows @ other_rows.T) * sizes / expected
    return traces


def cosine_errors(
    vectors: Floats,
    deviations: NDArray[np.floating],
    other_vectors: Floats,
    other_deviations: NDArray[np.floating],
    *,
    paired: bool,
) -> Floats:
    """Return the standard errors, shape (words, other words), of the cosines between vectors and other vectors.

    They come from the delta method. Vectors have shapes (words, dimensions) and (other words, dimensions), their
    deviations (words, groups, dimensions). If a group has the same contexts for all words (`paired`), its effects on
    both vectors are summed before squaring.

    >>> vectors, deviations = np.array([[2.0, 0.0]]), np.array([[[0.3, 0.2]]])
    >>> cosine_errors(vectors, deviations, np.array([[0.0, 1.0]]), np.zeros((1, 1, 2)), paired=False).round(3)
    array([[0.102]])
    """
    errors = np.empty((len(vectors), len(other_vectors)))
    size = max(1, _BLOCK // max(1, deviations.shape[1] * len(other_vectors)))
    for start in range(0, len(vectors), size):
        rows = slice(start, start + size)
        mine, theirs = cosine_effects(vectors[rows], deviations[rows], other_vectors, other_deviations, paired=paired)
        variances = (mine + theirs) ** 2 if paired else mine**2 + theirs**2
        errors[rows] = np.sqrt(variances.sum(axis=2))
    return errors


def cosine_effects(
    vectors: Floats,
    deviations: NDArray[np.floating],
    other_vectors: Floats,
    other_deviations: NDArray[np.floating],
    *,
    paired: bool,
) -> tuple[Floats, Floats]:
    """Return what the deviations of either side do to each cosine (`cosines_of`), to first order.

    Both results have shape (words, other words, groups), in units of cosine similarity. Vectors that are multiplied by
    deviations are the plain means: their own noise stands for the variance that a product of two noises has.
    """
    cosines = cosines_of(vectors, deviations, other_vectors, other_deviations, paired=paired)[:, :, None]
    lengths, other_lengths = (
        np.sqrt(squared_lengths(*rows)) for rows in ((vectors, deviations), (other_vectors, other_deviations))
    )
    units, other_units = vectors / lengths[:, None], other_vectors / other_lengths[:, None]
    along, along_other = (
        np.einsum("wgd,wd->wg", changes, directions)
        for changes, directions in ((deviations, units), (other_deviations, other_units))
    )
    mine = np.einsum("pgd,qd->pqg", deviations, other_units, optimize=True) - cosines * along[:, None]
    theirs = np.einsum("qgd,pd->pqg", other_deviations, units, optimize=True) - cosines * along_other[None]
    return mine / lengths[:, None, None], theirs / other_lengths[None, :, None]
