"""Double-hard debiasing: take a direction of word frequency away first, then debias hard."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import check_count
from bayesbias.base.statements import Described, Facts
from bayesbias.debias.by_word.hard import FittedHardDebias, HardDebias
from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words, spelled
from bayesbias.debias.linear.linear_map import debiased_name
from bayesbias.debias.subspace import bias_subspace, chosen_rows, row_blocks, unit_rows, whole_embedding
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError

if TYPE_CHECKING:
    import pandas as pd

_LEAST = 5  # biased words a side


@dataclass(frozen=True)
class DoubleHardDebias:
    """Double-hard debiasing of Wang et al.

    Parameters
    ----------
    candidates
        How many of the vocabulary's first principal components are tried, 20 in the source; at most as many as there
        are dimensions.
    words
        How many of the most biased words of each side judge them, 1,000 in the source; at most a quarter of those that
        are left.

    Raises
    ------
    ArgumentError
        If `candidates` or `words` is not a whole number of at least 1.

    Notes
    -----
    **What it needs.** What hard debiasing needs, and the whole vocabulary, whose principal components are taken: a
    vocabulary of chosen words has others than one of frequent and rare words.

    **What it changes.** Every word loses the vocabulary's mean and its part in one principal component, the one without
    which the most biased words fall least into two clusters by side; then all is as in hard debiasing.

    **What it cannot do.** Ensure that the component is one of frequency, or that other clusterings find nothing. Where
    "she" and "he" become nearly equal, measures along she - he say nothing any more.

    References
    ----------
    Wang, Lin, Rajani, McCann, Ordonez and Xiong (2020), Double-hard debias: tailoring word embeddings for gender bias
    mitigation, ACL 2020, 5443-5453, arXiv:2005.00965, algorithm 1. The source starts k-means at random; here it starts
    at the means of the two sides.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> fitted = bb.debias.DoubleHardDebias(candidates=3).fit(bb.load_embedding(vectors), [["he", "she"]])
    >>> list(fitted.tried["component"]), fitted.component.shape
    ([1, 2, 3], (100,))
    """

    candidates: int = 20
    words: int = 1000

    def __post_init__(self) -> None:
        check_count("candidates", self.candidates)
        check_count("words", self.words)

    def fit(
        self, embedding: EmbeddingLike, sets: str | os.PathLike[str] | DebiasWords | Sets, *, name: str | None = None
    ) -> "FittedDoubleHardDebias":
        """Choose a component, and find the bias subspace without it.

        Parameters
        ----------
        embedding
            An embedding with all its words, taken as they are.
        sets
            Definitional sets: a name of `list_debias_words`, a path, `DebiasWords`, or a list such as
            ``[["he", "she"], ["man", "woman"]]``.
        name
            What is removed; it becomes part of the debiased embedding's name. Default: that of `sets`.

        Raises
        ------
        MeasureError
            If there is no bias direction, or fewer than 20 words are left beside those of the sets.

        Warns
        -----
        LostWordsWarning
            If sets are left out because the embedding lacks a word.
        """
        import pandas as pd

        words, embedding = as_debias_words(sets, name=name), whole_embedding(embedding)
        judges, sides = self._most_biased(embedding, words)
        mean, components = vocabulary_components(embedding.vectors, self.candidates)
        pairs = bias_subspace(embedding, words, components=1).sets
        paired = tuple(dict.fromkeys(word for each in pairs for word in each))
        own = DebiasWords(words.name, pairs)
        tried = []
        for number, component in enumerate(components, start=1):
            few = Embedding(paired, without(embedding.stored(paired), mean, component))
            direction = bias_subspace(few, own, components=1).directions[0]
            left = without(embedding.vectors[judges], mean, component)
            share = clustering_accuracy(left - np.outer(left @ direction, direction), sides)
            tried.append({"component": number, "accuracy": share})
        frame = pd.DataFrame(tried)
        component = components[int(frame["accuracy"].to_numpy().argmin())]
        hard = HardDebias().fit(_changed(embedding, mean, component), words)
        return FittedDoubleHardDebias(words, mean, component, frame, hard)

    def _most_biased(self, embedding: Embedding, words: DebiasWords) -> tuple[Integers, Integers]:
        """Return the rows of the most biased words, and which side each is on."""
        known = set(spelled([*words.specific, *(word for each in words.definitional for word in each)]))
        rows = np.array([row for row, word in enumerate(embedding.words) if word not in known], dtype=int)
        count = min(self.words, len(rows) // 4)
        if count < _LEAST:
            raise MeasureError(
                f"The embedding {embedding.name!r} has {len(rows)} words that are not of the sets of {words.name!r} "
                f"themselves (words={self.words}), but {4 * _LEAST} are needed. Load more of its words."
            )
        direction = bias_subspace(embedding, words, components=1).directions[0]
        order = rows[np.argsort(unit_rows(embedding.vectors[rows]) @ direction, kind="stable")]
        return np.concatenate([order[:count], order[-count:]]), np.repeat([0, 1], count)


@dataclass(frozen=True, eq=False, repr=False)
class FittedDoubleHardDebias(Described):
    """A component to take away, and a bias subspace to be removed then.

    Parameters
    ----------
    sets
        The words.
    mean : array, shape (dimensions,)
        The vocabulary's.
    component : array, shape (dimensions,)
        The principal component that is taken away.
    tried : pd.DataFrame
        One row a candidate: `component`, its number, and `accuracy`, with which two clusters match the two sides of the
        most biased words without it, from 0.5 to 1.
    hard
        The second step.
    """

    sets: DebiasWords
    mean: Floats
    component: Floats
    tried: "pd.DataFrame"
    hard: FittedHardDebias

    @property
    def _facts(self) -> Facts:
        accuracy = self.tried["accuracy"].to_numpy()
        return {"sets": self.sets.name, "component": int(accuracy.argmin()) + 1, "accuracy": float(accuracy.min())}

    def transform(
        self, embedding: EmbeddingLike, *, target: Iterable[str] | None = None, ignore: Iterable[str] | None = None
    ) -> Embedding:
        """Return a debiased embedding; the given one is not touched.

        Parameters
        ----------
        embedding
            The embedding that was fitted, or more or fewer words of the same vectors.
        target
            Words to change. None (default): all. The others keep their vectors, which are then no longer comparable
            with those of changed words.
        ignore
            Words that keep their vectors. None (default): none; specific words lose the component, but are not
            neutralized.

        Returns
        -------
        Embedding
            The same words, number type and case rule. Its name says what was done.

        Raises
        ------
        LostWordsError
            If the embedding lacks a target word.
        MeasureError
            As `FittedHardDebias.transform`.

        Warns
        -----
        LostWordsWarning
            As `FittedHardDebias.transform`.
        """
        embedding = whole_embedding(embedding, dimensions=len(self.mean))
        spared = None if ignore is None or isinstance(ignore, str) else list(ignore)
        _targets, chosen = chosen_rows(embedding, target, ignore if spared is None else spared)
        after = self.hard.transform(_changed(embedding, self.mean, self.component))
        vectors = after.vectors if chosen.all() else np.where(chosen[:, None], after.vectors, embedding.vectors)
        name = debiased_name(embedding, "double_hard", self.sets)
        return Embedding(embedding.words, vectors, name=name, case=embedding.case)


def vocabulary_components(vectors: Floats, count: int) -> tuple[Floats, Floats]:
    """Return the mean of rows and their first principal components, made in blocks."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    spread = np.zeros((len(mean), len(mean)))
    for rows in row_blocks(np.arange(len(vectors))):
        block = vectors[rows[0] : rows[-1] + 1] - mean
        spread += block.T @ block
    return mean, np.linalg.eigh(spread)[1][:, ::-1].T[:count]


def without(vectors: Floats, mean: Floats, component: Floats) -> Floats:
    """Return vectors without a mean, and without their part (before that) in a component: the source's step 1.

    >>> without(np.array([[3.0, 2.0]]), np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    array([[0., 1.]])
    """
    left: Floats = vectors - mean - np.outer(vectors @ component, component)
    return left


def clustering_accuracy(vectors: Floats, sides: Integers) -> float:
    """Return how well two clusters match two sides, from 0.5 to 1; k-means starts at the sides' means."""
    from scipy.cluster.vq import kmeans2

    start = np.stack([vectors[sides == side].mean(axis=0) for side in (0, 1)])
    _, found = kmeans2(vectors, start, minit="matrix", iter=100)
    share = float((found == sides).mean())
    return max(share, 1 - share)


def _changed(embedding: Embedding, mean: Floats, component: Floats) -> Embedding:
    vectors = np.empty_like(embedding.vectors)
    for rows in row_blocks(np.arange(len(vectors))):
        block = slice(rows[0], rows[-1] + 1)
        vectors[block] = without(embedding.vectors[block], mean, component)
    return Embedding(embedding.words, vectors, name=embedding.name, case=embedding.case)
