"""Direct bias of Bolukbasi et al. (2016)."""

import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.checks import is_number
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError
from bayesbias.metrics.directions.direction import GENDER_PAIRS, Direction, as_direction, gender_direction
from bayesbias.metrics.directions.direction_posterior import DirectionPosterior
from bayesbias.metrics.look_up import checked_pairs, checked_words, find_lists
from bayesbias.metrics.measure_entry import Measure
from bayesbias.metrics.result import MeasureResult, score_frame
from bayesbias.metrics.shared_parameters import shared_parameters
from bayesbias.studies.study import Study, StudyLike, load_study


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
    pair_words = () if direction is not None else [word for pair in checked_pairs(pairs) for word in pair]
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
