"""Double-hard debiasing: remove a direction of word frequency first, then debias hard."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import check_count
from bayesbias.base.statements import Facts
from bayesbias.debias.by_word.hard import FittedHardDebias, HardDebias
from bayesbias.debias.debias_words import DebiasWords
from bayesbias.debias.method import FittedMethod, Method, Words, chosen_rows, row_blocks
from bayesbias.debias.subspace import bias_subspace, neutral_word_bias
from bayesbias.embeddings.embedding import Embedding

if TYPE_CHECKING:
    import pandas as pd

_LEAST = 5  # biased words per side


@dataclass(frozen=True, eq=False, repr=False)
class FittedDoubleHardDebias(FittedMethod):
    """A principal component to remove, and then a bias subspace.

    Parameters
    ----------
    sets
        The word lists.
    mean : array, shape (dimensions,)
        Mean of the vocabulary's vectors.
    component : array, shape (dimensions,)
        The principal component that is removed.
    candidates : pd.DataFrame
        One row per candidate: `component`, its number, and `accuracy`, the share of the most biased words whose side
        two clusters show after its removal, from 0.5 to 1.
    hard
        The second step.

    Notes
    -----
    By default no word is ignored: specific words lose the component, but are not neutralized. Vectors of ignored words
    and of words that are not targets are no longer comparable with those of changed words.
    """

    _label = "double_hard-debiased ({sets.name})"

    sets: DebiasWords
    mean: Floats
    component: Floats
    candidates: "pd.DataFrame"
    hard: FittedHardDebias

    @property
    def _facts(self) -> Facts:
        accuracy = self.candidates["accuracy"].to_numpy()
        return {"sets": self.sets.name, "component": int(accuracy.argmin()) + 1, "accuracy": float(accuracy.min())}

    @property
    def _dimensions(self) -> int:
        return len(self.mean)

    def _debiased(self, source: Embedding, target: Words, ignore: Words) -> Embedding:
        _, chosen = chosen_rows(source, target, ignore)
        after = self.hard.transform(_without_component(source, self.mean, self.component)).vectors
        return self._with_vectors(source, after if chosen.all() else np.where(chosen[:, None], after, source.vectors))


@dataclass(frozen=True)
class DoubleHardDebias(Method[FittedDoubleHardDebias]):
    """Double-hard debiasing of Wang et al.

    Parameters
    ----------
    candidates
        Number of the vocabulary's first principal components to try, 20 in the source; at most the number of
        dimensions.
    words
        Number of the most biased words of each side that judge the components, 1,000 in the source; at most a quarter
        of the neutral words.

    Raises
    ------
    ArgumentError
        If `candidates` or `words` is not a whole number of at least 1.
    MeasureError
        In `fit`: if there is no bias direction, or fewer than 20 words are neutral.

    Notes
    -----
    **What it needs.** What hard debiasing needs, and the whole vocabulary, whose principal components are used: a
    selected vocabulary has other components than one of frequent and rare words.

    **What it changes.** Every word loses the vocabulary's mean and its part in one principal component, the one without
    which two clusters separate the most biased words of the two sides least; the rest is hard debiasing. Vectors are
    not scaled before.

    **What it cannot do.** Ensure that the component is one of frequency, or that other clusterings find nothing. Where
    "she" and "he" become nearly equal, measures along she - he lose their meaning.

    References
    ----------
    Wang, Lin, Rajani, McCann, Ordonez and Xiong (2020), Double-hard debias: tailoring word embeddings for gender bias
    mitigation, ACL 2020, 5443-5453, arXiv:2005.00965, algorithm 1. The source starts k-means at random; here it starts
    at the means of the two sides.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> fitted = bb.debias.DoubleHardDebias(candidates=3).fit(bb.load_embedding(vectors), [["he", "she"]])
    >>> list(fitted.candidates["component"]), fitted.component.shape
    ([1, 2, 3], (100,))
    """

    name = "double_hard"

    candidates: int = 20
    words: int = 1000

    def __post_init__(self) -> None:
        check_count("candidates", self.candidates)
        check_count("words", self.words)

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedDoubleHardDebias:
        import pandas as pd

        rows, bias, count = neutral_word_bias(source, words, classes=4, words=self.words, least=_LEAST)
        order = rows[np.argsort(bias, kind="stable")]
        most_biased, sides = np.concatenate([order[:count], order[-count:]]), np.repeat([0, 1], count)
        mean, components = vocabulary_components(source.vectors, self.candidates)
        pairs = bias_subspace(source, words, components=1).sets
        paired_words = tuple(dict.fromkeys(word for pair in pairs for word in pair))
        pair_sets = DebiasWords(words.name, pairs)
        candidates = []
        for number, component in enumerate(components, start=1):
            paired = Embedding(paired_words, without_component(source.stored(paired_words), mean, component))
            direction = bias_subspace(paired, pair_sets, components=1).directions[0]
            left = without_component(source.vectors[most_biased], mean, component)
            accuracy = clustering_accuracy(left - np.outer(left @ direction, direction), sides)
            candidates.append({"component": number, "accuracy": accuracy})
        frame = pd.DataFrame(candidates)
        component = components[int(frame["accuracy"].to_numpy().argmin())]
        hard = HardDebias().fit(_without_component(source, mean, component), words)
        return FittedDoubleHardDebias(words, mean, component, frame, hard)


def vocabulary_components(vectors: Floats, count: int) -> tuple[Floats, Floats]:
    """Return the mean of rows and their first principal components, computed in blocks."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    spread = np.zeros((len(mean), len(mean)))
    for rows in row_blocks(np.arange(len(vectors))):
        block = vectors[rows[0] : rows[-1] + 1] - mean
        spread += block.T @ block
    return mean, np.linalg.eigh(spread)[1][:, ::-1].T[:count]


def without_component(vectors: Floats, mean: Floats, component: Floats) -> Floats:
    """Return vectors minus a mean and minus their own part in a component: the source's step 1.

    >>> without_component(np.array([[3.0, 2.0]]), np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    array([[0., 1.]])
    """
    left: Floats = vectors - mean - np.outer(vectors @ component, component)
    return left


def clustering_accuracy(vectors: Floats, sides: Integers) -> float:
    """Return how well two clusters match two sides, from 0.5 to 1; k-means starts at the sides' means."""
    from scipy.cluster.vq import kmeans2

    start = np.stack([vectors[sides == side].mean(axis=0) for side in (0, 1)])
    _, clusters = kmeans2(vectors, start, minit="matrix", iter=100)
    share = float((clusters == sides).mean())
    return max(share, 1 - share)


def _without_component(embedding: Embedding, mean: Floats, component: Floats) -> Embedding:
    vectors = np.empty_like(embedding.vectors)
    for rows in row_blocks(np.arange(len(vectors))):
        block = slice(rows[0], rows[-1] + 1)
        vectors[block] = without_component(embedding.vectors[block], mean, component)
    return Embedding(embedding.words, vectors, name=embedding.name, case=embedding.case)
