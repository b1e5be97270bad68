"""The posterior of a direction that is estimated from a few pairs of words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_probability, resolve_seed
from bayesbias.base.statements import Facts
from bayesbias.embeddings.embedding import EmbeddingLike, unit_rows
from bayesbias.errors import MeasureError
from bayesbias.metrics.directions.direction import GENDER_PAIRS, Direction, gender_direction
from bayesbias.metrics.look_up import as_embedding, checked_pairs, checked_words
from bayesbias.metrics.shared_parameters import shared_parameters

if TYPE_CHECKING:
    import pandas as pd

_BLOCK = 500  # draws whose matrices are held at once


@dataclass(frozen=True, eq=False, repr=False)
class DirectionPosterior(Direction):
    """Direction in which pairs of words differ, with draws of its posterior.

    Parameters
    ----------
    vector, explained, pairs, lost_words
        Fields of `bb.metrics.Direction`, for the direction of all pairs with equal weights.
    draws
        Unit vectors of shape (draws, dimensions), each turned to the side of `vector`.
    random_seed
        Seed of the draws.
    hdi_prob
        Probability inside the intervals.
    """

    draws: Floats = field(repr=False)
    random_seed: int
    hdi_prob: float

    @property
    def _facts(self) -> Facts:
        angle = self.angle.iloc[0]
        shown = f"{angle['mean']:.1f} ({angle['hdi_low']:.1f} to {angle['hdi_high']:.1f})"
        return {**super()._facts, "draws": len(self.draws), "angle_in_degrees": shown}

    @property
    def angles(self) -> Floats:
        """Angles between the draws and the direction of all pairs, in degrees, of shape (draws,)."""
        degrees: Floats = np.degrees(np.arccos(np.clip(self.draws @ self.vector, -1.0, 1.0)))
        return degrees

    @property
    def angle(self) -> "pd.DataFrame":
        """Mean, sd and interval of `angles`, in degrees: one row with `mean`, `sd`, `hdi_low` and `hdi_high`."""
        return _estimates(self.angles[:, np.newaxis], ["angle"], "quantity", self.hdi_prob)

    def cosines(self, embedding: EmbeddingLike, words: Iterable[str]) -> Floats:
        """Return the draws of words' cosines with the direction, of shape (draws, words).

        Parameters
        ----------
        embedding
            Embedding from which the direction comes, or one whose vectors are comparable.
        words
            Words of the embedding.

        Raises
        ------
        LostWordsError
            If the embedding lacks a word.
        MeasureError
            If the vectors have another number of dimensions.
        """
        requested_words = checked_words("words", list(words))
        source = as_embedding(embedding, requested_words)
        if source.dimensions != len(self.vector):
            raise MeasureError(
                f"The direction has {len(self.vector)} dimensions, and the vectors of {source.name!r} have "
                f"{source.dimensions}. Give the embedding from which the direction comes."
            )
        cosines_of_draws: Floats = self.draws @ unit_rows(source, requested_words).T
        return cosines_of_draws

    def spread(self, name: str, units: Floats, c: float) -> dict[str, float]:
        """Return the sd and the interval, named after `name`, of the mean of abs(cosine) ** c of unit vectors."""
        bias = [(np.abs(np.clip(block @ units.T, -1, 1)) ** c).mean(axis=1) for block in self._blocks()]
        row = _estimates(np.concatenate(bias)[:, np.newaxis], [name], "quantity", self.hdi_prob).iloc[0]
        return {f"{name}_{column}": float(row[column]) for column in ("sd", "hdi_low", "hdi_high")}

    def _blocks(self) -> list[Floats]:
        return np.array_split(self.draws, -(-len(self.draws) // _BLOCK))

    def words(self, embedding: EmbeddingLike, words: Iterable[str]) -> "pd.DataFrame":
        """Return the mean, sd and interval of words' cosines with the direction, one row per word.

        The arguments and errors are those of `cosines`.
        """
        requested_words = list(words)
        return _estimates(self.cosines(embedding, requested_words), requested_words, "word", self.hdi_prob)


@shared_parameters()
def direction_posterior(
    embedding: EmbeddingLike,
    pairs: Sequence[tuple[str, str]] = GENDER_PAIRS,
    *,
    draws: int = 2000,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> DirectionPosterior:
    """Return the posterior of the direction in which pairs of words differ most.

    It is the Bayesian bootstrap over pairs: each draw weights the pairs by a flat Dirichlet distribution, and the
    direction is the first uncentred principal component of the weighted differences.

    Parameters
    ----------
    pairs
        Pairs of words. Default: the ten of Bolukbasi et al. A pair of which the embedding lacks a word is left out.
    draws
        Number of draws.

    Raises
    ------
    MeasureError
        If fewer than two pairs are left, the words of a pair have the same vector, or no direction stands out.

    Warns
    -----
    LostWordsWarning
        If pairs are left out.

    Notes
    -----
    The pairs are treated as a random sample of all pairs that could have been chosen, and the vectors as fixed: the
    spread does not include what another training run would change (see `bb.compare_trainings`).

    The draws are centred on the direction of these pairs, which differs from that of infinitely many pairs by about the
    mean of `angle` (in simulations with at least ten pairs; with four pairs, by a third more). Whichever way it
    differs, words look less biased: with infinitely many pairs a mean cosine would be larger, by about 1 over the
    cosine of that angle (10 % at 25 degrees). No interval of draws accounts for this.

    References
    ----------
    Donald B. Rubin (1981). The Bayesian bootstrap. Annals of Statistics 9, 130-134. The direction is that of
    Bolukbasi et al. (2016), section 5.1.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> pairs = [("she", "he"), ("woman", "man"), ("girl", "boy"), ("mother", "father"), ("daughter", "son")]
    >>> posterior = bb.metrics.direction_posterior(vectors, pairs, random_seed=1)
    >>> posterior.draws.shape, bool(15 < posterior.angle["mean"].item() < 30)
    ((2000, 100), True)
    """
    seed = resolve_seed(random_seed)
    count, prob = check_count("draws", draws, least=2), check_probability("hdi_prob", hdi_prob)
    pairs = checked_pairs(pairs)
    source = as_embedding(embedding, (word for pair in pairs for word in pair))
    direction = gender_direction(source, pairs)
    if len(direction.pairs) < 2:
        raise MeasureError("Found 1 pair, which says nothing about how pairs vary. Give at least 2.")
    first, second = zip(*direction.pairs, strict=True)
    differences = unit_rows(source, first) - unit_rows(source, second)
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(differences)), size=count)
    return DirectionPosterior(
        vector=direction.vector,
        explained=direction.explained,
        pairs=direction.pairs,
        lost_words=direction.lost_words,
        draws=weighted_directions_of(differences, weights, direction.vector),
        random_seed=seed,
        hdi_prob=prob,
    )


def weighted_directions_of(differences: Floats, weights: Floats, side: Floats) -> Floats:
    """Return the first uncentred principal component of weighted differences for each draw of weights.

    Parameters
    ----------
    differences
        Differences of pairs, of shape (pairs, dimensions).
    weights
        Weights of the pairs, of shape (draws, pairs).
    side
        Vector to whose side all components are turned.

    >>> weights = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> weighted_directions_of(np.array([[1.0, 0.0], [0.0, -1.0]]), weights, np.ones(2)) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    axes = np.linalg.svd(differences, full_matrices=False)[2]
    rows = differences @ axes.T
    directions = np.empty((len(weights), differences.shape[1]))
    for start in range(0, len(weights), _BLOCK):
        block = weights[start : start + _BLOCK]
        spread = np.matmul(rows.T * block[:, np.newaxis, :], rows)
        directions[start : start + _BLOCK] = np.linalg.eigh(spread)[1][:, :, -1] @ axes
    directions *= np.where(directions @ side < 0, -1.0, 1.0)[:, np.newaxis]
    return directions


def _estimates(values: Floats, labels: Sequence[str], dim: str, hdi_prob: float) -> "pd.DataFrame":
    """Return the mean, sd and interval of independent draws of shape (draws, labels)."""
    import xarray as xr

    from bayesbias.estimates.intervals import MOMENTS, estimates

    draws = xr.DataArray(values[np.newaxis], dims=("chain", "draw", dim), coords={dim: list(labels)})
    return estimates(draws, hdi_prob=hdi_prob, independent=len(values))[[dim, *MOMENTS]]
