"""The gender direction of Bolukbasi et al. (2016) and others from pairs of words: direct bias, and a posterior."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import ROUNDING, Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_probability, is_number, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import EmbeddingLike, unit_rows_of
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.metrics.look_up import as_embedding, checked_base_pairs, checked_words, find_lists
from bayesbias.metrics.measure_entry import Measure, shared_parameters
from bayesbias.metrics.measure_result import MeasureResult, score_frame
from bayesbias.studies.study import Study, StudyLike, load_study

if TYPE_CHECKING:
    import pandas as pd


GENDER_PAIRS = (
    ("woman", "man"), ("girl", "boy"), ("she", "he"), ("mother", "father"), ("daughter", "son"),
    ("gal", "guy"), ("female", "male"), ("her", "his"), ("herself", "himself"), ("Mary", "John"),
)  # fmt: skip
"""The ten definitional pairs of Bolukbasi et al. (2016)."""
_BLOCK = 500  # draws whose matrices are held at once


@dataclass(frozen=True, eq=False, repr=False)
class Direction(Described):
    """Direction in which pairs of words differ.

    Parameters
    ----------
    vector
        Unit vector of shape (dimensions,) that points from the second words of the pairs to the first.
    explained
        Shares of the pairs' squared differences along this and each further principal direction, largest first.
    pairs
        Pairs that determine the direction.
    lost_words
        Words of other pairs that the embedding lacks.
    """

    vector: Floats = field(repr=False)
    explained: Floats
    pairs: tuple[tuple[str, str], ...]
    lost_words: tuple[str, ...]

    @property
    def _facts(self) -> Facts:
        return {
            "dimensions": len(self.vector),
            "explained": float(self.explained[0]),
            "pairs": self.pairs,
            "lost_words": self.lost_words,
        }


@shared_parameters()
def gender_direction(embedding: EmbeddingLike, pairs: Sequence[tuple[str, str]] = GENDER_PAIRS) -> Direction:
    """Return the direction in which the words of pairs differ most.

    It is the first right singular vector of the stacked differences between the unit vectors of each pair, uncentred.
    Up to the sign, this is the first component of the published code, which subtracts each pair's mean from both of
    its words and runs a PCA: the mean of those rows is already zero.

    Parameters
    ----------
    pairs
        Pairs of words. Default: the ten of Bolukbasi et al. A pair of which the embedding lacks a word is left out.

    Raises
    ------
    MeasureError
        If there is no pair left, the words of a pair have the same vector, or no direction stands out.

    References
    ----------
    Tolga Bolukbasi, Kai-Wei Chang, James Zou, Venkatesh Saligrama and Adam Kalai (2016). Man is to computer
    programmer as woman is to homemaker? Debiasing word embeddings. NIPS 29, section 5.1.

    Examples
    --------
    >>> vectors = {"she": [1.0, 1.0, 0.0], "he": [-1.0, 1.0, 0.0], "her": [2.0, 0.0, 1.0], "his": [-2.0, 0.0, 1.0]}
    >>> direction = gender_direction(vectors, [("she", "he"), ("her", "his")])
    >>> np.abs(direction.vector).round(3), direction.explained.round(3)
    (array([1., 0., 0.]), array([1., 0.]))
    """
    pairs = checked_base_pairs(pairs)
    source = as_embedding(embedding, (word for pair in pairs for word in pair))
    lost = source.lookup(word for pair in pairs for word in pair).lost
    available_pairs = tuple(pair for pair in pairs if not set(pair) & set(lost))
    if not available_pairs:
        raise MeasureError(
            f"The embedding {source.name!r} lacks {name_some(lost)}, so no pair is left. Give pairs of words that it "
            f"has, or change the case rule, which is {source.case_text!r}."
        )
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks {name_some(lost)}: the direction uses {len(available_pairs)} of the "
            f"{counted(len(pairs), 'pair')}.",
            LostWordsWarning,
        )
    differences = unit_rows_of(source, [a for a, _ in available_pairs]) - unit_rows_of(
        source, [b for _, b in available_pairs]
    )
    for pair, length in zip(available_pairs, np.linalg.norm(differences, axis=1), strict=True):
        if length < ROUNDING:
            raise MeasureError(f"The words of the pair {pair[0]!r}, {pair[1]!r} have the same direction. Leave it out.")
    _, sizes, directions = np.linalg.svd(differences, full_matrices=False)
    if len(sizes) > 1 and sizes[0] - sizes[1] < 1e-9 * sizes[0]:
        raise MeasureError(
            f"The pairs {name_some(available_pairs)} differ equally in two directions, so none is the main one. Add "
            "pairs."
        )
    vector = directions[0]
    if (differences @ vector).sum() < 0:
        vector = -vector
    return Direction(vector=vector, explained=sizes**2 / (sizes**2).sum(), pairs=available_pairs, lost_words=lost)


def as_direction(direction: ArrayLike, dimensions: int) -> Floats:
    """Return a direction given as an array, or raise `MeasureError` if it is not one of so many dimensions."""
    try:
        vector = np.asarray(direction, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeasureError(f"direction={direction!r}: give a vector of {dimensions} numbers.") from error
    if vector.shape != (dimensions,) or not np.isfinite(vector).all() or not vector.any():
        raise MeasureError(
            f"The direction has the shape {vector.shape}. Give a vector of {dimensions} finite numbers, not all zero."
        )
    return vector


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
        cosines_of_draws: Floats = self.draws @ unit_rows_of(source, requested_words).T
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
        Number of independent draws, in all.

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
    pairs = checked_base_pairs(pairs)
    source = as_embedding(embedding, (word for pair in pairs for word in pair))
    direction = gender_direction(source, pairs)
    if len(direction.pairs) < 2:
        raise MeasureError("Found 1 pair, which says nothing about how pairs vary. Give at least 2.")
    first, second = zip(*direction.pairs, strict=True)
    differences = unit_rows_of(source, first) - unit_rows_of(source, second)
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

    - `differences`: differences of pairs, of shape (pairs, dimensions).
    - `weights`: weights of the pairs, of shape (draws, pairs).
    - `side`: vector to whose side all components are turned.

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


@shared_parameters()
def direct_bias(
    embedding: EmbeddingLike,
    words: Sequence[str] | StudyLike,
    *,
    pairs: Sequence[tuple[str, str]] = GENDER_PAIRS,
    direction: ArrayLike | Direction | None = None,
    c: float = 1.0,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Return the direct bias of words that should be neutral: how far they lie along a direction.

    Parameters
    ----------
    words
        Words that should be neutral, or a study: the words of its attribute lists.
    pairs
        Pairs of words that determine the direction (see `gender_direction`).
    direction
        Direction to use instead of `pairs`: a `Direction`, or a vector of any length. A
        `bb.metrics.DirectionPosterior` adds an interval for the uncertainty that comes from the choice of pairs.
    c
        Strictness, above 0. The smaller it is, the more a slight overlap counts.

    Returns
    -------
    MeasureResult
        `direct_bias` (the headline number), the mean of abs(cos(w, g)) ** c, between 0 and 1; `mean_cosine`, the
        signed mean, positive towards the first words of the pairs; `explained`, the direction's share of the pairs'
        squared differences, if it comes from pairs; with a `bb.metrics.DirectionPosterior`, `direct_bias_sd`,
        `direct_bias_hdi_low` and `direct_bias_hdi_high` over its draws. The scores are the words' cosines with the
        direction.

    Raises
    ------
    MeasureError
        If fewer than two words are left, `c` is not above 0, or there is no direction.

    References
    ----------
    Bolukbasi et al. (2016), section 5.2, DirectBias_c; Dobrzeniecka and Urbaniak (2024), equation
    directBias_c(N, gd).

    Examples
    --------
    >>> vectors = {"she": [1.0, 0.0], "he": [-1.0, 0.0], "nurse": [0.6, 0.8], "clerk": [0.0, 1.0]}
    >>> result = direct_bias(vectors, ["nurse", "clerk"], pairs=[("she", "he")])
    >>> round(result.direct_bias, 3)
    0.3
    """
    if not is_number(c) or c <= 0:
        raise MeasureError(f"c={c!r}: give a number above 0; 1 is usual.")
    if isinstance(words, Study | str | os.PathLike | Mapping):
        study = load_study(words)
        name, lists, named = study.name, dict(study.attributes), {}
    else:
        name, lists, named = "a list of words", {"words": checked_words("words", words)}, {"attribute_group": ""}
    pair_words = () if direction is not None else [word for pair in checked_base_pairs(pairs) for word in pair]
    embedded_lists = find_lists(embedding, lists, max_lost=max_lost, others=pair_words)
    source, lost = embedded_lists.source, dict(embedded_lists.lost)
    direction = gender_direction(source, pairs) if direction is None else direction
    extra: dict[str, float] = {}
    if isinstance(direction, Direction):
        vector = direction.vector
        convention = f"main direction of {len(direction.pairs)} uncentred pair differences of unit vectors"
        extra = {"explained": float(direction.explained[0])}
        lost |= {"pairs": direction.lost_words} if direction.lost_words else {}
        if vector.shape != (source.dimensions,):
            raise MeasureError(
                f"The direction has {len(vector)} dimensions, and the vectors of {source.name!r} have "
                f"{source.dimensions}. Give a direction of this embedding."
            )
        if isinstance(direction, DirectionPosterior):
            extra |= direction.spread("direct_bias", np.concatenate(list(embedded_lists.units.values())), c)
            convention += f"; interval over {len(direction.draws)} draws of the direction"
    else:
        vector, convention = as_direction(direction, source.dimensions), "direction as given"
    vector = vector / np.linalg.norm(vector)
    cosines = np.clip(np.concatenate([units @ vector for units in embedded_lists.units.values()]), -1.0, 1.0)
    bias = np.abs(cosines) ** c
    return MeasureResult(
        measure="direct_bias",
        statistics={"direct_bias": float(bias.mean()), "mean_cosine": float(cosines.mean())} | extra,
        scores=score_frame(cosines, **embedded_lists.labels(lists, "attribute_group") | named),
        lost_words=lost,
        question="How far do these words lie along the direction?",
        conventions=f"mean of abs(cosine) to the power c = {c:g}; {convention}",
        study=name,
        embedding=source.name,
    )


DIRECT_BIAS = Measure(
    "direct_bias", "direct bias", "mean of |cos(w, g)|^c over words w, g the main direction of the pairs", "0 to 1",
    "pairs (10 are bundled), words that should be neutral: those of the attribute groups",
    "Bolukbasi et al. (2016), section 5.2", "c = 1; uncentred differences of unit vectors",
    "to show that debiasing worked: hard debiasing makes it 0 by construction, while words keep their "
    "neighbours (Gonen and Goldberg 2019)",
    direct_bias,
    sign="large: words lie along the direction; the mean cosine is positive towards the first words of the pairs",
)  # fmt: skip
