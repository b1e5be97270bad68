"""Repulsion, attraction, neutralization: move each word away from neighbours that only bias made its neighbours."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import check_count, check_number, with_progress
from bayesbias.base.statements import Described, Facts
from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words
from bayesbias.debias.linear.linear_map import debiased_name
from bayesbias.debias.subspace import bias_subspace, chosen_rows, unit_rows, whole_embedding
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import ArgumentError, MeasureError

_SIMILARITIES = 10_000_000  # that are held at once, when neighbours are looked for
_REPELLED = 6_000  # neighbours of the words that are moved at once: they stay in the processor's cache


@dataclass(frozen=True)
class RAN:
    """Repulsion-attraction-neutralization of Kumar et al.

    Parameters
    ----------
    repulsion, attraction, neutralization
        Weights of the three terms: 1/8, 6/8 and 1/8 in the source's code.
    threshold
        Indirect bias from which on a neighbour is repelled, 0.05 in the source.
    neighbours
        How many nearest neighbours are looked at, 100 in the source.
    steps, rate
        Of Adam, the optimizer: 300 steps of 0.01 in the source.

    Raises
    ------
    ArgumentError
        If a number is out of its range, or all weights are 0.

    Notes
    -----
    **What it needs.** Definitional sets; words that mean what is removed (`specific`), which stay as they are; the
    whole vocabulary, among which each word's neighbours are looked for; and time, that grows with its square.

    **What it changes.** Every other word is moved on its own: away from neighbours that it has through the bias
    direction, towards where it was, and towards no projection on the direction; then it gets length 1.

    **What it cannot do.** Make the projection 0: it is one of three aims. Neighbours are those of before; which it has
    afterwards is not looked at.

    References
    ----------
    Kumar, Bhotia, Kumar and Chakraborty (2020), Nurse is closer to woman than surgeon? Mitigating gender-biased
    proximities in word embeddings, TACL 8, 486-503, arXiv:2006.01938, section 4: equations of F_r, F_a and F_n. As in
    the code, F_n is the size of the inner product with the direction, not of the cosine; unlike in the code, which
    gives F_n the weight of F_a and looks among 200 neighbours, it has its own, and they are 100. Indirect bias:
    Bolukbasi et al. (2016), section 5.3.

    Examples
    --------
    >>> vectors = {"he": [1, 0.2, 0.1], "she": [-1, 0.2, 0.1], "nurse": [-0.6, 1.0, 0.1], "nun": [-0.6, 0.1, 1.0]}
    >>> fitted = bb.debias.RAN(repulsion=0).fit(vectors, [["he", "she"]])
    >>> fitted.transform(vectors)["nurse"].round(1)
    array([-0.5,  0.9,  0.1])
    """

    repulsion: float = 1 / 8
    attraction: float = 6 / 8
    neutralization: float = 1 / 8
    threshold: float = 0.05
    neighbours: int = 100
    steps: int = 300
    rate: float = 0.01

    def __post_init__(self) -> None:
        for name in ("repulsion", "attraction", "neutralization"):
            check_number(name, getattr(self, name), low=0, high=inf)
        if not any(self.weights):
            raise ArgumentError("repulsion, attraction and neutralization are all 0. Give at least one above 0.")
        check_number("threshold", self.threshold, low=-inf, high=inf)
        check_number("rate", self.rate, low=0, high=inf, above=True)
        check_count("neighbours", self.neighbours)
        check_count("steps", self.steps)

    @property
    def weights(self) -> tuple[float, float, float]:
        """Those of repulsion, attraction and neutralization."""
        return self.repulsion, self.attraction, self.neutralization

    def fit(
        self, embedding: EmbeddingLike, sets: str | os.PathLike[str] | DebiasWords | Sets, *, name: str | None = None
    ) -> "FittedRAN":
        """Find the bias direction.

        Parameters
        ----------
        embedding
            Its vectors are brought to unit length.
        sets
            Definitional sets: a name of `list_debias_words`, a path, `DebiasWords`, or a list such as
            ``[["he", "she"], ["man", "woman"]]``.
        name
            What is removed; it becomes part of the debiased embedding's name. Default: that of `sets`.

        Raises
        ------
        MeasureError
            If there is no bias direction.

        Warns
        -----
        LostWordsWarning
            If sets are left out because the embedding lacks a word.
        """
        words = as_debias_words(sets, name=name)
        return FittedRAN(words, self, bias_subspace(embedding, words, components=1).directions[0])


@dataclass(frozen=True, eq=False, repr=False)
class FittedRAN(Described):
    """A bias direction, ready to repel along.

    Parameters
    ----------
    sets
        The words.
    method
        The settings.
    direction : array, shape (dimensions,)
        Of length 1.
    """

    sets: DebiasWords
    method: RAN
    direction: Floats

    @property
    def _facts(self) -> Facts:
        return {"sets": self.sets.name, "weights": self.method.weights, "dimensions": len(self.direction)}

    def transform(
        self,
        embedding: EmbeddingLike,
        *,
        target: Iterable[str] | None = None,
        ignore: Iterable[str] | None = None,
        progress: bool = True,
    ) -> Embedding:
        """Return an embedding of moved words; the given one is not touched.

        Parameters
        ----------
        embedding
            The embedding that was fitted, or more or fewer words of the same vectors; neighbours are looked for in it.
        target
            Words to move. None (default): all.
        ignore
            Words that are not moved. None (default): the definitional and specific words of the sets.
        progress
            Whether to show a bar.

        Returns
        -------
        Embedding
            The same words, number type and case rule. Moved vectors have unit length, the others are the very same
            numbers. Its name says what was done.

        Raises
        ------
        LostWordsError
            If the embedding lacks a target word.
        MeasureError
            If the number of dimensions differs, or a word has two vectors of one direction with the bias direction.

        Warns
        -----
        LostWordsWarning
            If words to ignore are absent.
        """
        embedding = whole_embedding(embedding, dimensions=len(self.direction))
        known = [*self.sets.specific, *(word for each in self.sets.definitional for word in each)]
        _, chosen = chosen_rows(embedding, target, ignore, known)
        rows = np.flatnonzero(chosen)
        units = unit_rows(embedding.vectors).astype(np.float32)
        vectors = embedding.vectors.copy()
        repelled = self._repelled(units, rows)
        order = sorted(range(len(rows)), key=lambda place: len(repelled[place]))
        for block in with_progress(_blocks(order, repelled), "Words", progress=progress):
            vectors[rows[block]] = self._moved(embedding, units, rows[block], [repelled[place] for place in block])
        return Embedding(embedding.words, vectors, name=debiased_name(embedding, "ran", self.sets), case=embedding.case)

    def _repelled(self, units: Floats, rows: Integers) -> list[Integers]:
        """Return, for each word, its near neighbours with more indirect bias than the threshold."""
        along = units @ self.direction.astype(np.float32)
        across = np.sqrt(np.maximum(1 - along**2, 1e-12))
        count = min(self.method.neighbours, len(units) - 1)
        found: list[Integers] = []
        if not count:
            return [np.empty(0, dtype=int) for _ in rows]
        step = max(1, _SIMILARITIES // len(units))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            similar = units[block] @ units.T
            similar[np.arange(len(block)), block] = -np.inf
            nearest = np.argpartition(similar, -count, axis=1)[:, -count:]
            inner = np.take_along_axis(similar, nearest, axis=1)
            rest = (inner - along[block, None] * along[nearest]) / (across[block, None] * across[nearest])
            with np.errstate(divide="ignore", invalid="ignore"):
                biased = (inner - rest) / inner > self.method.threshold
            found += [neighbours[chosen] for neighbours, chosen in zip(nearest, biased, strict=True)]
        return found

    def _moved(self, embedding: Embedding, units: Floats, rows: Integers, repelled: list[Integers]) -> Floats:
        most = max(map(len, repelled))
        places, weight = np.zeros((len(rows), most), dtype=int), np.zeros((len(rows), most), dtype=np.float32)
        for row, neighbours in enumerate(repelled):
            places[row, : len(neighbours)] = neighbours
            weight[row, : len(neighbours)] = 1 / max(len(neighbours), 1)
        found = descend(
            units[rows], units[places], weight, self.direction.astype(np.float32),
            self.method.weights, self.method.steps, self.method.rate,
        )  # fmt: skip
        length = np.linalg.norm(found, axis=1, keepdims=True)
        if length.min() < 1e-6:
            word = embedding.words[rows[int(np.argmin(length))]]
            raise MeasureError(f"Nothing is left of the vector of {word!r}. Put it into `ignore`.")
        moved: Floats = found / length
        return moved


def _blocks(order: list[int], repelled: list[Integers]) -> list[list[int]]:
    """Return words in blocks of about as many neighbours; they come in the order of how many they have."""
    blocks: list[list[int]] = []
    for place in order:
        if not blocks or (len(blocks[-1]) + 1) * (len(repelled[place]) + 1) > _REPELLED:
            blocks.append([])
        blocks[-1].append(place)
    return blocks


def objective(
    moved: Floats,
    words: Floats,
    neighbours: Floats,
    share: Floats,
    direction: Floats,
    weights: tuple[float, float, float],
) -> tuple[Floats, Floats]:
    """Return each word's objective and its gradient.

    Parameters
    ----------
    moved, words
        Vectors where they are and, of length 1, where they were; of shape (words, dimensions).
    neighbours
        Those repelled, of length 1, of shape (words, neighbours, dimensions).
    share
        The weight of each in the mean, 0 where there is none, of shape (words, neighbours).
    direction
        The bias direction.
    weights
        Of repulsion, attraction and neutralization.

    References
    ----------
    Kumar et al. (2020), section 4: ``F_r`` the mean of abs(cos(x, n)), ``F_a = abs(cos(x, w) - 1) / 2``, and
    ``F_n = abs(<x, g>)``.
    """
    repulsion, attraction, neutralization = weights
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    unit = moved / length
    near = np.matmul(neighbours, unit[:, :, None])[:, :, 0]
    own = np.einsum("ij,ij->i", words, unit)[:, None]
    along = (moved @ direction)[:, None]
    pull = share * np.sign(near)
    value = repulsion * (share * np.abs(near)).sum(axis=1) + attraction * np.abs(own[:, 0] - 1) / 2
    value = value + neutralization * np.abs(along[:, 0])
    slope = repulsion * (np.matmul(pull[:, None, :], neighbours)[:, 0] - (pull * near).sum(axis=1)[:, None] * unit)
    slope = (slope + attraction * np.sign(own - 1) / 2 * (words - own * unit)) / length
    return value, slope + neutralization * np.sign(along) * direction


def descend(
    words: Floats,
    neighbours: Floats,
    share: Floats,
    direction: Floats,
    weights: tuple[float, float, float],
    steps: int,
    rate: float,
) -> Floats:
    """Return where Adam takes each word from its own place; the arguments are those of `objective`.

    References
    ----------
    Kingma and Ba (2015), Adam: a method for stochastic optimization, algorithm 1, with its usual constants.
    """
    moved = words.copy()
    mean, square = np.zeros_like(moved), np.zeros_like(moved)
    for step in range(1, steps + 1):
        _, slope = objective(moved, words, neighbours, share, direction, weights)
        mean += 0.1 * (slope - mean)
        square += 0.001 * (slope * slope - square)
        size = np.sqrt(square / np.float32(1 - 0.999**step)) + np.float32(1e-8)
        moved -= np.float32(rate / (1 - 0.9**step)) * mean / size
    return moved
