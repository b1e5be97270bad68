"""Gender direction and direct bias of Bolukbasi et al. (2016)."""

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
from bayesbias.studies.study import Study, StudyLike, load_study

GENDER_PAIRS = (
    ("woman", "man"), ("girl", "boy"), ("she", "he"), ("mother", "father"), ("daughter", "son"),
    ("gal", "guy"), ("female", "male"), ("her", "his"), ("herself", "himself"), ("Mary", "John"),
)  # fmt: skip
"""The ten definitional pairs of Bolukbasi et al. (2016)."""


@dataclass(frozen=True, eq=False, repr=False)
class Direction(Described):
    """A direction that pairs of words differ in.

    Parameters
    ----------
    vector
        Of length 1, of shape (dimensions,); it points from the second words of the pairs to the first.
    explained
        Share of the pairs' squared differences along this direction and along each one after it, largest first.
    pairs
        The pairs it was made of.
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


def gender_direction(embedding: EmbeddingLike, pairs: Sequence[tuple[str, str]] = GENDER_PAIRS) -> Direction:
    """Return the direction in which the words of pairs differ most.

    It is the first right singular vector of the stacked differences between the unit vectors of each pair,
    uncentred. This equals, up to the sign, the first component of the published code, which subtracts each pair's
    mean from both its words and runs a PCA: the mean of those rows is zero already.

    Parameters
    ----------
    embedding
        See `bayesbias.metrics`.
    pairs
        Pairs of words; by default the ten of Bolukbasi et al. A pair that lost a word is left out.

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
    kept = tuple(pair for pair in pairs if not set(pair) & set(lost))
    if not kept:
        raise MeasureError(
            f"The embedding {source.name!r} lacks {name_some(lost)}, so no pair is left. Give pairs of words that it "
            f"has (the case rule is {source.case_text!r})."
        )
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks {name_some(lost)}: the direction is made of {len(kept)} of the "
            f"{len(pairs)} pairs.",
            LostWordsWarning,
        )
    differences = unit_rows(source, [a for a, _ in kept]) - unit_rows(source, [b for _, b in kept])
    for pair, length in zip(kept, np.linalg.norm(differences, axis=1), strict=True):
        if length < 1e-12:
            raise MeasureError(f"The pair {pair[0]!r}, {pair[1]!r} has twice the same direction. Leave it out.")
    _, sizes, directions = np.linalg.svd(differences, full_matrices=False)
    if len(sizes) > 1 and sizes[0] - sizes[1] < 1e-9 * sizes[0]:
        raise MeasureError(f"The pairs {name_some(kept)} differ in two directions equally, so none stands out.")
    vector = directions[0]
    if (differences @ vector).sum() < 0:
        vector = -vector
    return Direction(vector=vector, explained=sizes**2 / (sizes**2).sum(), pairs=kept, lost_words=lost)


def direct_bias(
    embedding: EmbeddingLike,
    words: Sequence[str] | StudyLike,
    *,
    pairs: Sequence[tuple[str, str]] = GENDER_PAIRS,
    direction: ArrayLike | Direction | None = None,
    c: float = 1.0,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Measure how far words that should be neutral lie along a direction.

    Parameters
    ----------
    embedding, max_lost
        See `bayesbias.metrics`.
    words
        The words that should be neutral, or a study: the words of its attribute groups.
    pairs
        The pairs that the direction is made of (see `gender_direction`).
    direction
        A direction to use instead of `pairs`: a `Direction`, or a vector of any length. What `bb.metrics.direction_posterior`
        returned gives an interval, too: how sure the measure is, as far as the choice of pairs goes.
    c
        How strict the measure is, above 0: the smaller, the more a slight overlap counts.

    Returns
    -------
    MeasureResult
        `direct_bias` (the headline number): the mean of abs(cos(w, g)) ** c, between 0 and 1; `mean_cosine`, the
        signed mean, positive towards the first words of the pairs; `explained`, the direction's share of the pairs'
        squared differences, where it was made of pairs; of a `bb.metrics.DirectionPosterior`, the draws' `direct_bias_sd` and
        their interval, `direct_bias_hdi_low` and `direct_bias_hdi_high`. The scores are the words' cosines with the
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
    from bayesbias.metrics.directions.direction_posterior import DirectionPosterior  # which is made of `Direction`

    given = () if direction is not None else [word for pair in checked_pairs(pairs) for word in pair]
    found = find_lists(embedding, lists, max_lost=max_lost, others=given)
    lost = dict(found.lost)
    made = gender_direction(found.source, pairs) if direction is None else direction
    if isinstance(made, Direction):
        vector, how = made.vector, f"main direction of {len(made.pairs)} uncentred pair differences of unit vectors"
        extra = {"explained": float(made.explained[0])}
        lost |= {"pairs": made.lost_words} if made.lost_words else {}
        if made.vector.shape != (found.source.dimensions,):
            raise MeasureError(
                f"The direction has {len(made.vector)} dimensions, and the vectors of {found.source.name!r} have "
                f"{found.source.dimensions}. Give a direction of this embedding."
            )
        if isinstance(made, DirectionPosterior):
            extra |= made.spread("direct_bias", np.concatenate(list(found.units.values())), c)
            how += f"; interval over {len(made.draws)} draws of the direction"
    else:
        vector, how, extra = as_direction(made, found.source.dimensions), "direction as given", {}
    vector = vector / np.linalg.norm(vector)
    cosines = np.clip(np.concatenate([units @ vector for units in found.units.values()]), -1.0, 1.0)
    bias = np.abs(cosines) ** c
    return MeasureResult(
        measure="direct_bias",
        statistics={"direct_bias": float(bias.mean()), "mean_cosine": float(cosines.mean())} | extra,
        scores=score_frame(cosines, **found.labels(lists, "attribute_group") | named),
        lost_words=lost,
        conventions=f"mean of abs(cosine) to the power c = {c:g}; {how}",
        study=name,
        embedding=found.source.name,
    )


def as_direction(direction: ArrayLike, dimensions: int) -> Floats:
    """Return a direction that was given as an array; raise `MeasureError` if it is none of so many dimensions."""
    try:
        vector = np.asarray(direction, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeasureError(f"direction={direction!r}: give a vector of {dimensions} numbers.") from error
    if vector.shape != (dimensions,) or not np.isfinite(vector).all() or not vector.any():
        raise MeasureError(
            f"The direction has the shape {vector.shape}. Give a vector of {dimensions} finite numbers, not all zero."
        )
    return vector
