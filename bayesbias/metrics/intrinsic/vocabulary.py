"""Bias of a whole vocabulary along directions: direct bias, and MIDB."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_flag, check_type, is_number, resolve_seed
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike, Lookup
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.geometry import RANK_TOLERANCE, unit_rows, weighted_directions
from bayesbias.metrics.directions.direct_bias import Direction, as_direction
from bayesbias.metrics.directions.direction_posterior import DirectionPosterior, direction_posterior
from bayesbias.metrics.embedding_scores.drawn_directions import DrawnDirections
from bayesbias.metrics.embedding_scores.result import EmbeddingScore, embedding_score
from bayesbias.metrics.embedding_scores.statistics import DRAWS, Quantity
from bayesbias.metrics.intrinsic.biased_words import PAIR, axis, projections, vocabulary_of
from bayesbias.metrics.intrinsic.drawn_names import NAME_DRAWS, drawn_weighted_directions
from bayesbias.metrics.look_up import as_embedding, checked_pairs, checked_words


def vocabulary_direct_bias(
    embedding: EmbeddingLike,
    words: Sequence[str] | None = None,
    *,
    reference: EmbeddingLike | None = None,
    pair: tuple[str, str] = PAIR,
    pairs: Sequence[tuple[str, str]] | None = None,
    direction: ArrayLike | Direction | None = None,
    c: float = 1.0,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
) -> EmbeddingScore:
    """Measure how far the words of a vocabulary lie along a direction, with an interval.

    It is `direct_bias` of a whole vocabulary, whose words are a sample of those that should be neutral.

    Parameters
    ----------
    embedding
        See `bayesbias.metrics`.
    words
        The words that should be neutral; None: all that `neutral_words` finds. The words of `pair` are left out.
    reference
        The embedding whose direction is taken: that before debiasing, since many methods make the two words of `pair`
        alike. None: `embedding` itself.
    pair
        The two words whose difference is the direction, from the second to the first. One pair says nothing of how
        pairs vary: the interval is then about the words alone.
    pairs
        Several pairs instead, such as `bayesbias.metrics.directions.direct_bias.GENDER_PAIRS`: their `direction_posterior` in the
        reference, with the same seed. The spread of the direction is in the interval.
    direction
        A direction to use instead: a `Direction`, or a vector of any length. The spread of what
        `bb.metrics.direction_posterior` returned is in the interval.
    c
        How strict the measure is, above 0: the smaller, the more a slight overlap counts.
    random_seed
        Seed of the intervals' draws.
    hdi_prob
        Probability inside the intervals.

    Returns
    -------
    EmbeddingScore
        `direct_bias`, the mean of abs(cos(w, g)) ** c, from 0 to 1; and `mean_cosine`, the signed mean, positive
        towards the first word. The items are the words.

    Raises
    ------
    MeasureError
        If fewer than two words are left, `c` is not above 0, there is no direction, or both pairs and a direction.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some of the words, or of the pairs.

    Notes
    -----
    Each draw of the interval is of one draw of the words' weights and one of the direction (`DirectionPosterior.draws`,
    in their order), so that `paired_change` counts the change along the same draw of the direction. The value is along
    the direction of all pairs with equal weights, which is no mean of the draws: of pairs that disagree it can lie
    outside the interval. Both are about the direction that these pairs give. Along that of endless pairs words would
    look more biased, and the interval does not hold that: see `bb.metrics.direction_posterior`. The farther off
    the direction of few pairs lies, the less.

    References
    ----------
    Bolukbasi et al. (2016), section 5.2, DirectBias_c. Dawkins (2021), appendix B: DB over V_t, with she - he.

    Examples
    --------
    >>> vectors = {"she": [1.0, 0.0], "he": [-1.0, 0.0], "nurse": [0.6, 0.8], "clerk": [0.0, 1.0]}
    >>> score = bb.metrics.vocabulary_direct_bias(vectors, random_seed=1)
    >>> round(score.value, 3), list(score.items["item"])
    (0.3, ['nurse', 'clerk'])
    """
    seed = resolve_seed(random_seed)
    if not is_number(c) or c <= 0:
        raise MeasureError(f"c={c!r}: give a number above 0; 1 is usual.")
    (pair,) = checked_pairs([pair])
    if pairs is not None and direction is not None:
        raise MeasureError("Give pairs, or a direction, but not both.")
    source = as_embedding(embedding)
    without: Sequence[str] = ()
    if direction is None:
        before = source if reference is None else as_embedding(reference)
        where = "the embedding itself" if reference is None else "the reference"
        if before.dimensions != source.dimensions:
            raise MeasureError(
                f"{source.name!r} has {source.dimensions} dimensions and the reference {before.name!r} has "
                f"{before.dimensions}, so that its direction is not one of these vectors. Give none, or a direction."
            )
        if pairs is None:
            without, vector, how = pair, axis(before, pair), f"{pair[0]} - {pair[1]} of {where}"
        else:
            direction = direction_posterior(before, pairs, hdi_prob=hdi_prob, random_seed=seed)
            without = [word for each in direction.pairs for word in each]
            vector, how = direction.vector, f"main direction of {len(direction.pairs)} pairs of {where}"
    else:
        given = direction.vector if isinstance(direction, Direction) else as_direction(direction, source.dimensions)
        vector, how = given / np.linalg.norm(given), "direction as given"
    kept, lost = _words(source, words, without)
    cosines = np.clip(projections(source, kept, vector), -1.0, 1.0)
    along = None
    if isinstance(direction, DirectionPosterior):
        how += f", in {len(direction.draws)} draws of seed {direction.random_seed}"
        along = _along(source, kept, direction.draws)
    return embedding_score(
        "vocabulary_direct_bias",
        source.name,
        pd.DataFrame({"item": kept, "bias": np.abs(cosines) ** c, "cosine": cosines}),
        [Quantity("direct_bias", "mean", ("bias",), power=float(c)), Quantity("mean_cosine", "mean", ("cosine",))],
        conventions=f"mean of abs(cosine) to the power c = {c:g}; {how}",
        random_seed=seed,
        hdi_prob=hdi_prob,
        lost={"words": lost},
        along=along,
    )


def midb(
    embedding: EmbeddingLike,
    names: tuple[Sequence[str], Sequence[str]],
    words: Sequence[str] | None = None,
    *,
    components: int = 4,
    centred: bool = False,
    normalize: bool = False,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
) -> EmbeddingScore:
    """Measure the information-weighted bias of a vocabulary along several directions (MIDB).

    The directions are the first principal components of all differences between a name of the first list and one of the
    second, and the weight of each is its share of their squares (`bayesbias.geometry.weighted_directions`).

    Parameters
    ----------
    embedding
        See `bayesbias.metrics`.
    names
        Two lists, such as female and male first names.
    words
        The words that should be neutral; None: all that `neutral_words` finds. The names are left out.
    components
        How many directions.
    centred
        Take the mean difference of the lists away before the components are found.
    normalize
        Whether vectors, of words and of names, are scaled to length 1 first.
    random_seed
        Seed of the intervals' draws.
    hdi_prob
        Probability inside the intervals.

    Returns
    -------
    EmbeddingScore
        `midb`, the mean over the words of sum_i a_i <g_i, x>, positive towards the first list; and `mean_absolute`, the
        mean of its absolute values. The items are the words.

    Raises
    ------
    MeasureError
        If fewer than two words, or no name of a list, are left, a name is in both lists, or the names span too few
        directions.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some of the names or words.

    Notes
    -----
    The paper does not say whether the differences are centred. Centred, the directions do not hold the difference
    between the lists, only the spread within them; so it is not done unless asked for.

    Words and names both stand for others that could have been chosen: each draw of the interval is of weights of the
    words, of the first names and of the second names, all of the Bayesian bootstrap, and the directions and their
    shares are made anew of the names' weights. In `paired_change` the weights are the same before and after. The value
    is that of equal weights, which is no mean of the draws, and can lie outside the interval.

    References
    ----------
    Dawkins (2021), equation 3.

    Examples
    --------
    >>> vectors = {"Amy": [3.0, 1.0], "Lisa": [3.0, -1.0], "John": [1.0, 0.0], "nurse": [0.6, 0.8], "clerk": [0.0, 1.0]}
    >>> round(bb.metrics.midb(vectors, (["Amy", "Lisa"], ["John"]), components=1, random_seed=1).value, 3)
    0.24
    """
    seed = resolve_seed(random_seed)
    scaled = check_flag("normalize", normalize)
    count = check_count("components", components)
    lists = check_type("names", names, (tuple, list), "two lists of names")
    if len(lists) != 2:
        raise MeasureError(f"names holds {len(lists)} lists. Give two, such as female and male first names.")
    first, second = (checked_words("A list of names", each) for each in lists)
    if both := set(first) & set(second):
        raise MeasureError(f"{min(both)!r} is in both lists of names. Keep it in one.")
    source = as_embedding(embedding)
    looked_up = [source.lookup(dict.fromkeys(each)) for each in (first, second)]
    if absent := [name for each in looked_up for name in each.lost]:
        if not all(each.found for each in looked_up):
            raise MeasureError(
                f"The embedding {source.name!r} has no name of one of the lists: it lacks {name_some(absent)} (the "
                f"case rule is {source.case_text!r})."
            )
        warn_user(f"The embedding {source.name!r} lacks {len(absent)} names: {name_some(absent)}.", LostWordsWarning)
    female, male = (
        unit_rows(found) if scaled else found.astype(np.float64)
        for found in (source.stored(dict.fromkeys(each.found.values())) for each in looked_up)
    )
    directions, weights = weighted_directions(female, male, components=count, centred=centred)
    drawn = drawn_weighted_directions(female, male, _name_weights(looked_up, seed), count, centred=centred)
    kept, lost = _words(source, words, [*first, *second])
    bias = projections(source, kept, weights @ directions, scaled=scaled)
    return embedding_score(
        "midb",
        source.name,
        pd.DataFrame({"item": kept, "bias": bias, "absolute": np.abs(bias)}),
        [Quantity("midb", "mean", ("bias",)), Quantity("mean_absolute", "mean", ("absolute",), power=1.0)],
        conventions=(
            f"{count} components of the differences of {len(first)} and {len(second)} names, "
            f"{'centred' if centred else 'uncentred'}; vectors {'of length 1' if scaled else 'as stored'}"
        ),
        random_seed=seed,
        hdi_prob=hdi_prob,
        lost={"words": lost},
        along=_along(source, kept, drawn, scaled=scaled),
    )


def _along(source: Embedding, words: Sequence[str], directions: Floats, *, scaled: bool = True) -> DrawnDirections:
    """Return words in the space of directions, of shape (draws, dimensions); those of too few draws come again."""
    _, sizes, axes = np.linalg.svd(directions, full_matrices=False)
    axes = axes[sizes > RANK_TOLERANCE * sizes[0]]
    coordinates = projections(source, words, axes.T, scaled=scaled)
    draws = np.resize(directions @ axes.T, (DRAWS, len(axes)))
    return DrawnDirections(coordinates.astype(np.float32), draws.astype(np.float32))


def _name_weights(lists: Sequence[Lookup], seed: int) -> tuple[Floats, Floats]:
    """Return draws of the names' weights, of shapes (draws, names): a name's do not depend on which others are lost.

    A vector that several names share has one weight.
    """
    random = np.random.default_rng([seed, 1])
    weights = []
    for each in lists:
        asked = [*each.found, *each.lost]
        drawn = dict(zip(sorted(asked), random.standard_exponential((len(asked), NAME_DRAWS)), strict=True))
        forms = {form: name for name, form in reversed(each.found.items())}
        weights.append(np.stack([drawn[forms[form]] for form in dict.fromkeys(each.found.values())], axis=1))
    return weights[0], weights[1]


def _words(source: Embedding, words: Sequence[str] | None, without: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the words of a vocabulary without some, and those that the embedding lacks, of which it warns."""
    found, lost = vocabulary_of(source, words)
    forms = set(source.lookup(without).found.values())
    kept = [word for word in found if source.match(word) not in forms]
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks {len(lost):,} of the words: {name_some(lost)}. The score is about "
            f"the {len(kept):,} others; it names the lost ones (lost).",
            LostWordsWarning,
        )
    if len(kept) < 2:
        raise MeasureError(f"{len(kept)} of the words are left, but at least two are needed. Add words.")
    return kept, lost
