"""The gender direction and direct bias of Bolukbasi et al. (2016)."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import is_number
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import EmbeddingLike, unit_rows
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.metrics.look_up import as_embedding, checked_pairs, checked_words, find_lists
from bayesbias.metrics.result import MeasureResult, score_frame
from bayesbias.metrics.shared_parameters import shared_parameters
from bayesbias.studies.study import Study, StudyLike, load_study

GENDER_PAIRS = (
    ("woman", "man"), ("girl", "boy"), ("she", "he"), ("mother", "father"), ("daughter", "son"),
    ("gal", "guy"), ("female", "male"), ("her", "his"), ("herself", "himself"), ("Mary", "John"),
)  # fmt: skip
"""The ten definitional pairs of Bolukbasi et al. (2016)."""


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
    pairs = checked_pairs(pairs)
    source = as_embedding(embedding, (word for pair in pairs for word in pair))
    lost = source.lookup(word for pair in pairs for word in pair).lost
    found_pairs = tuple(pair for pair in pairs if not set(pair) & set(lost))
    if not found_pairs:
        raise MeasureError(
            f"The embedding {source.name!r} lacks {name_some(lost)}, so no pair is left. Give pairs of words that it "
            f"has, or change the case rule, which is {source.case_text!r}."
        )
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks {name_some(lost)}: the direction uses {len(found_pairs)} of the "
            f"{len(pairs)} pairs.",
            LostWordsWarning,
        )
    differences = unit_rows(source, [a for a, _ in found_pairs]) - unit_rows(source, [b for _, b in found_pairs])
    for pair, length in zip(found_pairs, np.linalg.norm(differences, axis=1), strict=True):
        if length < 1e-12:
            raise MeasureError(f"The words of the pair {pair[0]!r}, {pair[1]!r} have the same direction. Leave it out.")
    _, sizes, directions = np.linalg.svd(differences, full_matrices=False)
    if len(sizes) > 1 and sizes[0] - sizes[1] < 1e-9 * sizes[0]:
        raise MeasureError(
            f"The pairs {name_some(found_pairs)} differ equally in two directions, so none is the main one. Add pairs."
        )
    vector = directions[0]
    if (differences @ vector).sum() < 0:
        vector = -vector
    return Direction(vector=vector, explained=sizes**2 / (sizes**2).sum(), pairs=found_pairs, lost_words=lost)


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
    from bayesbias.metrics.directions.direction_posterior import DirectionPosterior  # a subclass of `Direction`

    pair_words = () if direction is not None else [word for pair in checked_pairs(pairs) for word in pair]
    found_lists = find_lists(embedding, lists, max_lost=max_lost, others=pair_words)
    source, lost = found_lists.source, dict(found_lists.lost)
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
            extra |= direction.spread("direct_bias", np.concatenate(list(found_lists.units.values())), c)
            convention += f"; interval over {len(direction.draws)} draws of the direction"
    else:
        vector, convention = as_direction(direction, source.dimensions), "direction as given"
    vector = vector / np.linalg.norm(vector)
    cosines = np.clip(np.concatenate([units @ vector for units in found_lists.units.values()]), -1.0, 1.0)
    bias = np.abs(cosines) ** c
    return MeasureResult(
        measure="direct_bias",
        statistics={"direct_bias": float(bias.mean()), "mean_cosine": float(cosines.mean())} | extra,
        scores=score_frame(cosines, **found_lists.labels(lists, "attribute_group") | named),
        lost_words=lost,
        conventions=f"mean of abs(cosine) to the power c = {c:g}; {convention}",
        study=name,
        embedding=source.name,
    )


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
