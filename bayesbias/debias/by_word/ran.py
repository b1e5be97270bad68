"""Repulsion, attraction, neutralization: move each word away from neighbours that only bias made its neighbours."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import override

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import check_count, check_number
from bayesbias.base.progress import with_progress
from bayesbias.base.statements import Facts
from bayesbias.debias.by_word.gender_preserving import Adam
from bayesbias.debias.debias_words import DebiasWords
from bayesbias.debias.method import FittedMethod, Method, chosen_rows, documented_like, whole_embedding
from bayesbias.debias.subspace import bias_subspace
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import ArgumentError, MeasureError
from bayesbias.geometry import unit_rows

_SIMILARITIES = 10_000_000  # held at once in the search for neighbours
_REPELLED = 6_000  # neighbours of the words that are moved at once: they stay in the processor's cache


@dataclass(frozen=True)
class RAN(Method["FittedRAN"]):
    """Repulsion-attraction-neutralization of Kumar et al.

    Parameters
    ----------
    repulsion, attraction, neutralization
        Weights of the three terms: 1/8, 6/8 and 1/8 in the source's code.
    threshold
        Indirect bias above which a neighbour is repelled, 0.05 in the source.
    neighbours
        Number of nearest neighbours to check, 100 in the source.
    steps, rate
        Steps and learning rate of Adam, the optimizer: 300 steps of 0.01 in the source.

    Raises
    ------
    ArgumentError
        If a number is out of its range, or all weights are 0.

    Notes
    -----
    **What it needs.** Definitional sets; words whose meaning includes the bias (`specific`), which stay as they are;
    the whole vocabulary, in which each word's neighbours are searched. Time grows with the square of the vocabulary.

    **What it changes.** Every other word is moved on its own: away from neighbours that it has through the bias
    direction, towards where it was, and towards no projection on the direction; then it is scaled to length 1.

    **What it cannot do.** Make the projection 0: it is one of three aims. Neighbours are those before debiasing; which
    neighbours a word has afterwards is not checked.

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

    name = "ran"

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
        """Weights of repulsion, attraction and neutralization."""
        return self.repulsion, self.attraction, self.neutralization

    def _fit(self, source: Embedding, words: DebiasWords) -> "FittedRAN":
        return FittedRAN(words, self, bias_subspace(source, words, components=1).directions[0])


@dataclass(frozen=True, eq=False, repr=False)
class FittedRAN(FittedMethod):
    """A bias direction along which neighbours are repelled; neighbours are searched in the embedding to transform.

    Parameters
    ----------
    sets
        The word lists; definitional and specific words stay as they are.
    method
        The settings.
    direction : array, shape (dimensions,)
        Bias direction, of length 1.
    """

    _label = "ran-debiased ({sets.name})"

    sets: DebiasWords
    method: RAN
    direction: Floats

    @property
    def _facts(self) -> Facts:
        return {"sets": self.sets.name, "weights": self.method.weights, "dimensions": len(self.direction)}

    @override
    @documented_like(FittedMethod.transform, progress="Whether to show a progress bar.")
    def transform(
        self,
        embedding: EmbeddingLike,
        *,
        target: Iterable[str] | None = None,
        ignore: Iterable[str] | None = None,
        progress: bool = True,
    ) -> Embedding:
        source = whole_embedding(embedding, dimensions=len(self.direction))
        _, chosen = chosen_rows(source, target, ignore, self.sets.non_neutral)
        rows = np.flatnonzero(chosen)
        units = unit_rows(source.vectors).astype(np.float32)
        vectors = source.vectors.copy()
        repelled = self._repelled(units, rows)
        order = sorted(range(len(rows)), key=lambda position: len(repelled[position]))
        for block in with_progress(_blocks(order, repelled), "Words", progress=progress):
            neighbours = [repelled[position] for position in block]
            vectors[rows[block]] = self._moved_from(source, units, rows[block], neighbours)
        return self._with_vectors(source, vectors)

    def _repelled(self, units: Floats, rows: Integers) -> list[Integers]:
        """Return, for each word, its near neighbours with more indirect bias than the threshold."""
        along = units @ self.direction.astype(np.float32)
        across = np.sqrt(np.maximum(1 - along**2, 1e-12))
        count = min(self.method.neighbours, len(units) - 1)
        repelled: list[Integers] = []
        if not count:
            return [np.empty(0, dtype=int) for _ in rows]
        step = max(1, _SIMILARITIES // len(units))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            similar = units[block] @ units.T
            similar[np.arange(len(block)), block] = -np.inf
            nearest = np.argpartition(similar, -count, axis=1)[:, -count:]
            inner = np.take_along_axis(similar, nearest, axis=1)
            neutral = (inner - along[block, None] * along[nearest]) / (across[block, None] * across[nearest])
            with np.errstate(divide="ignore", invalid="ignore"):
                biased = (inner - neutral) / inner > self.method.threshold
            repelled += [neighbours[chosen] for neighbours, chosen in zip(nearest, biased, strict=True)]
        return repelled

    def _moved_from(self, embedding: Embedding, units: Floats, rows: Integers, repelled: list[Integers]) -> Floats:
        most = max(map(len, repelled))
        places, share = np.zeros((len(rows), most), dtype=int), np.zeros((len(rows), most), dtype=np.float32)
        for row, neighbours in enumerate(repelled):
            places[row, : len(neighbours)] = neighbours
            share[row, : len(neighbours)] = 1 / max(len(neighbours), 1)
        after = descend(
            units[rows], units[places], share, self.direction.astype(np.float32),
            self.method.weights, self.method.steps, self.method.rate,
        )  # fmt: skip
        length = np.linalg.norm(after, axis=1, keepdims=True)
        if length.min() < 1e-6:
            word = embedding.words[rows[int(np.argmin(length))]]
            raise MeasureError(f"Nothing is left of the vector of {word!r}. Put it into `ignore`.")
        moved: Floats = after / length
        return moved


def _blocks(order: list[int], repelled: list[Integers]) -> list[list[int]]:
    """Return words, which are in the order of their numbers of neighbours, in blocks of about as many neighbours."""
    blocks: list[list[int]] = []
    for position in order:
        if not blocks or (len(blocks[-1]) + 1) * (len(repelled[position]) + 1) > _REPELLED:
            blocks.append([])
        blocks[-1].append(position)
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

    - `moved`, `words`: current vectors, and original ones of length 1; of shape (words, dimensions).
    - `neighbours`: repelled neighbours, of length 1 and shape (words, neighbours, dimensions).
    - `share`: weight of each neighbour in the mean, 0 for padding; of shape (words, neighbours).
    - `weights`: weights of repulsion, attraction and neutralization.

    Kumar et al. (2020), section 4: ``F_r`` the mean of abs(cos(x, n)), ``F_a = abs(cos(x, w) - 1) / 2``, and
    ``F_n = abs(<x, g>)``.
    """
    repulsion, attraction, neutralization = weights
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    unit = moved / length
    near = np.matmul(neighbours, unit[:, :, None])[:, :, 0]
    original = np.einsum("ij,ij->i", words, unit)[:, None]
    along = (moved @ direction)[:, None]
    pull = share * np.sign(near)
    value = repulsion * (share * np.abs(near)).sum(axis=1) + attraction * np.abs(original[:, 0] - 1) / 2
    value = value + neutralization * np.abs(along[:, 0])
    slope = repulsion * (np.matmul(pull[:, None, :], neighbours)[:, 0] - (pull * near).sum(axis=1)[:, None] * unit)
    slope = (slope + attraction * np.sign(original - 1) / 2 * (words - original * unit)) / length
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
    """Return the words after steps of Adam from their original vectors; other arguments are those of `objective`."""
    moved, adam = {"words": words.copy()}, Adam(rate)
    for _ in range(steps):
        slope = objective(moved["words"], words, neighbours, share, direction, weights)[1]
        adam.update(moved, {"words": slope})
    return moved["words"]
