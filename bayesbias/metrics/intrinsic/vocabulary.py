"""Bias of a whole vocabulary along directions: direct bias and MIDB."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_flag, is_number, resolve_seed
from bayesbias.base.machine import check_memory
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike, Lookup
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.geometry import RANK_TOLERANCE, weighted_directions
from bayesbias.metrics.directions.direction import Direction, DirectionPosterior, as_direction, direction_posterior
from bayesbias.metrics.intrinsic.clustering import PAIR, axis, lengths, projections, unique_words
from bayesbias.metrics.intrinsic.name_directions import NAME_DRAWS, drawn_weighted_directions, find_names
from bayesbias.metrics.look_up import as_embedding, checked_base_pairs
from bayesbias.metrics.measure_entry import DAWKINS, NEUTRAL_WORDS, Measure, shared_parameters
from bayesbias.metrics.measure_result import Items, MeasureResult, result_of_items
from bayesbias.metrics.quantities import DRAWS, DrawnDirections, Quantity

NAMES_OF_MEAN_ABSOLUTE = 400
"""Smallest number of names of a list with which the mean of absolute biases is given; fewer make it too large."""


@shared_parameters()
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
) -> MeasureResult:
    """Return the direct bias of a vocabulary: how far its words lie along a direction, with an interval.

    It is `direct_bias` of words that are a sample of those that should be neutral.

    Parameters
    ----------
    words
        Words that should be neutral. None: all that `neutral_words` finds. The words of `pair` or `pairs` are left out.
    reference
        Embedding from which the direction comes: that before debiasing, since many methods make the two words of `pair`
        alike. None: `embedding` itself.
    pair
        Two words whose difference is the direction, from the second to the first. One pair says nothing about how pairs
        vary, so the interval then covers the choice of words only.
    pairs
        Several pairs to use instead, such as `bayesbias.metrics.GENDER_PAIRS`: the direction is their
        `direction_posterior` in the reference, with the same seed, and the interval includes its spread.
    direction
        Direction to use instead: a `Direction`, or a vector of any length. The interval includes the spread of a
        `bb.metrics.DirectionPosterior`.
    c
        Strictness, above 0. The smaller it is, the more a slight overlap counts.

    Returns
    -------
    MeasureResult
        `direct_bias`, the mean of abs(cos(w, g)) ** c, from 0 to 1; and `mean_cosine`, the signed mean, positive
        towards the first word. The items are the words.

    Raises
    ------
    MeasureError
        If fewer than two words are left, `c` is not above 0, there is no direction, or pairs and a direction are given.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some of the words, or of the pairs.

    Notes
    -----
    The direction of `pair` is the difference of its vectors of length 1. That of the vectors as stored is another one,
    which can be given as `direction`: along she - he the direct bias of 13,601 words of Google News is 0.0552 with the
    first and 0.0503 with the second. The paper does not say which it used.

    Each draw of the interval combines a draw of the words' weights with a draw of the direction
    (`DirectionPosterior.draws`, in order), so that `paired_change` takes the change along the same draw of the
    direction. The value is the median of the draws; `observed` is that along the direction of all pairs with equal
    weights, which can lie outside the interval if pairs disagree. Value and interval refer to these pairs. Along
    the direction of infinitely many pairs words would look more biased, the more so the farther the direction of few
    pairs lies from it; the interval does not account for this (see `bb.metrics.direction_posterior`).

    References
    ----------
    Bolukbasi et al. (2016), section 5.2, DirectBias_c. Dawkins (2021), appendix B: DB over V_t, with she - he.

    Examples
    --------
    >>> vectors = {"she": [1.0, 0.0], "he": [-1.0, 0.0], "nurse": [0.6, 0.8], "clerk": [0.0, 1.0]}
    >>> score = bb.metrics.vocabulary_direct_bias(vectors, random_seed=1)
    >>> round(score.value, 3), list(score.scores["item"])
    (0.3, ['nurse', 'clerk'])
    """
    seed = resolve_seed(random_seed)
    if not is_number(c) or c <= 0:
        raise MeasureError(f"c={c!r}: give a number above 0; 1 is usual.")
    (pair,) = checked_base_pairs([pair])
    if pairs is not None and direction is not None:
        raise MeasureError("Found both pairs and direction. Give one of them.")
    source = as_embedding(embedding)
    excluded: Sequence[str] = ()
    if direction is None:
        direction_source = source if reference is None else as_embedding(reference)
        source_text = "the embedding itself" if reference is None else "the reference"
        if direction_source.dimensions != source.dimensions:
            raise MeasureError(
                f"The embedding {source.name!r} has {source.dimensions} dimensions, and the reference "
                f"{direction_source.name!r} has {direction_source.dimensions}. Give another reference, or a direction."
            )
        if pairs is None:
            excluded, vector, convention = (
                pair,
                axis(direction_source, pair),
                f"{pair[0]} - {pair[1]} of {source_text}, unit vectors",
            )
        else:
            direction = direction_posterior(direction_source, pairs, hdi_prob=hdi_prob, random_seed=seed)
            excluded = [word for direction_pair in direction.pairs for word in direction_pair]
            vector, convention = (
                direction.vector,
                f"main direction of {counted(len(direction.pairs), 'pair')} of {source_text}",
            )
    else:
        vector = direction.vector if isinstance(direction, Direction) else as_direction(direction, source.dimensions)
        vector, convention = vector / np.linalg.norm(vector), "direction as given"
    embedded_words, lost = _words(source, words, set(source.lookup(excluded).matches.values()))
    cosines = np.clip(projections(source, embedded_words, vector), -1.0, 1.0)
    along = None
    if isinstance(direction, DirectionPosterior):
        convention += f", in {len(direction.draws)} draws of seed {direction.random_seed}"
        along = _along(source, embedded_words, direction.draws)
    return result_of_items(
        "vocabulary_direct_bias",
        source.name,
        Items(
            pd.DataFrame({"item": embedded_words, "bias": np.abs(cosines) ** c, "cosine": cosines}),
            {"words": lost},
            along,
        ),
        [Quantity("direct_bias", "mean", ("bias",), power=float(c)), Quantity("mean_cosine", "mean", ("cosine",))],
        question=f"How far do words of {source.name} lie along the direction?",
        conventions=f"mean of abs(cosine) to the power c = {c:g}; {convention}",
        random_seed=seed,
        hdi_prob=hdi_prob,
    )


@shared_parameters()
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
) -> MeasureResult:
    """Return the multi-dimensional information-weighted direct bias of a vocabulary (MIDB).

    The directions are the first principal components of all differences between a name of the first list and a name of
    the second, each weighted by its share of the squared differences (`bayesbias.geometry.weighted_directions`).

    Parameters
    ----------
    names
        Two lists of names, such as female and male first names. They are looked up as for `bb.debias.MISP`, by
        `bb.embeddings.names_in`.
    words
        Words that should be neutral. None: all that `neutral_words` finds. The names are left out.
    components
        Number of directions.
    centred
        Whether the mean difference of the lists is subtracted before the components are computed.
    normalize
        Whether the vectors of words and names are first scaled to length 1, without which embeddings whose vectors
        differ in length cannot be compared.

    Returns
    -------
    MeasureResult
        `midb`, the mean over the words of sum_i a_i <g_i, x>, positive towards the first list; and, with at least 400
        names of each list, `mean_absolute`, the mean of the absolute values. The items are the words, with the `length`
        of their vectors unless these are scaled.

    Raises
    ------
    MeasureError
        If fewer than two words, or two names of a list, are left, a name is in both lists, or the names span too few
        dimensions.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some of the names or words.

    Notes
    -----
    The paper does not say whether the differences are centred. The directions of centred differences hold only the
    spread within the lists, not the difference between them, so the default is not to centre.

    Words and names are both treated as samples: each draw of the interval weights the words, the first names and the
    second names by the Bayesian bootstrap, and computes the directions and their shares from the weighted names. In
    `paired_change` the weights are the same before and after. The value is the median of the draws, and `observed` that
    of equal weights. On simulated names whose population is known (50 or 100 dimensions, three shapes of covariance)
    the 89 % interval of `midb` held the population's value in 72 % of cases with 5 names a list, 83 to 93 % with 10,
    and 84 to 94 % with 20 to 400 (Monte Carlo error 3 %); the median was nearer to it than the value of equal weights.

    `mean_absolute` is too large if names are few, since the error of the directions adds to every absolute value. With
    10 names a list its draws exceeded the population's value by 40 to 148 % and its interval held it in 0 to 47 % of
    cases; with 100 by 1 to 11 % and in 67 to 97 %; with 400 by 0 to 1 % and in 84 to 95 %. No correction of several
    tried was good for all covariances, so it is left out if the embedding has fewer than 400 names of a list; the
    items have the absolute values along the directions of the given names (`absolute`).

    References
    ----------
    Dawkins (2021), equation 3.

    Examples
    --------
    >>> vectors = {"Amy": [3.0, 1.0], "Lisa": [3.0, -1.0], "John": [1.0, 0.2], "Paul": [1.0, -0.2]}
    >>> vectors |= {"nurse": [0.6, 0.8], "clerk": [0.0, 1.0]}
    >>> round(bb.metrics.midb(vectors, (["Amy", "Lisa"], ["John", "Paul"]), components=1, random_seed=1).value, 2)
    0.24
    """
    seed = resolve_seed(random_seed)
    scaled = check_flag("normalize", normalize)
    count = check_count("components", components)
    source = as_embedding(embedding)
    available_names = find_names(source, names)
    female, male = available_names.vectors(source, scaled=scaled)
    directions, weights = weighted_directions(female, male, components=count, centred=centred)
    drawn_directions = drawn_weighted_directions(
        female, male, _name_weights(available_names.lookups, seed), count, centred=centred
    )
    embedded_words, lost = _words(source, words, {name for stored in available_names.stored for name in stored})
    bias = projections(source, embedded_words, weights @ directions, scaled=scaled)
    items = pd.DataFrame({"item": embedded_words, "bias": bias, "absolute": np.abs(bias)})
    quantities = [Quantity("midb", "mean", ("bias",))]
    if min(map(len, available_names.stored)) >= NAMES_OF_MEAN_ABSOLUTE:
        quantities.append(Quantity("mean_absolute", "mean", ("absolute",), power=1.0))
    return result_of_items(
        "midb",
        source.name,
        Items(
            items if scaled else items.assign(length=lengths(source, embedded_words)),
            {"words": lost},
            _along(source, embedded_words, drawn_directions, scaled=scaled),
        ),
        quantities,
        question=f"How far do words of {source.name} lie along the directions between lists of names?",
        conventions=(
            f"{count} components of the differences of {available_names.counts} names, "
            f"{'centred' if centred else 'uncentred'}; vectors {'of length 1' if scaled else 'as stored'}"
        ),
        random_seed=seed,
        hdi_prob=hdi_prob,
    )


def _along(source: Embedding, words: Sequence[str], directions: Floats, *, scaled: bool = True) -> DrawnDirections:
    """Return words in the space that directions, of shape (draws, dimensions), span; draws repeat up to `DRAWS`."""
    _, sizes, axes = np.linalg.svd(directions, full_matrices=False)
    axes = axes[sizes > RANK_TOLERANCE * sizes[0]]
    coordinates = projections(source, words, axes.T, scaled=scaled)
    draws = np.resize(directions @ axes.T, (DRAWS, len(axes)))
    return DrawnDirections(coordinates.astype(np.float32), draws.astype(np.float32))


def _name_weights(lists: Sequence[Lookup], seed: int) -> tuple[Floats, Floats]:
    """Return draws of the names' weights, of shapes (draws, names).

    The weights of a name do not depend on which other names are lost. Names that share a vector share a weight.
    """
    random = np.random.default_rng([seed, 1])
    weights = []
    for lookup in lists:
        first_names = {form: name for name, form in reversed(lookup.matches.items())}
        place_of = {first_names[form]: place for place, form in enumerate(dict.fromkeys(lookup.matches.values()))}
        needed = 8 * NAME_DRAWS * len(place_of)
        check_memory(needed, f"Weights of {len(place_of):,} names in {NAME_DRAWS:,} draws", "Give fewer names.")
        list_weights = np.empty((NAME_DRAWS, len(place_of)))
        for name in sorted([*lookup.matches, *lookup.lost]):
            drawn = random.standard_exponential(NAME_DRAWS)  # for lost names too, but only those of others are kept
            if name in place_of:
                list_weights[:, place_of[name]] = drawn
        weights.append(list_weights)
    return weights[0], weights[1]


def _words(source: Embedding, words: Sequence[str] | None, excluded: set[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return words of a vocabulary but those of excluded forms, and words that the embedding lacks, with a warning."""
    available_words, lost = unique_words(source, words)
    embedded_words = [word for word in available_words if source.match(word) not in excluded]
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks {len(lost):,} of the words: {name_some(lost)}. The score is that of "
            f"the {len(embedded_words):,} others; it lists the lost ones (lost_words).",
            LostWordsWarning,
        )
    if len(embedded_words) < 2:
        raise MeasureError(f"{len(embedded_words)} of the words are left, but at least 2 are needed. Add words.")
    return embedded_words, lost


VOCABULARY_DIRECT_BIAS = Measure(
    "vocabulary_direct_bias", "direct bias of a vocabulary", "mean over words of abs(cos(w, g)) ** c, g = she - he",
    "0 to 1", NEUTRAL_WORDS, f"Bolukbasi et al. (2016), DirectBias_c; {DAWKINS}, DB",
    "g is of the reference, or of the embedding itself, from unit vectors, unless a direction is given; c = 1; "
    "of several pairs, or a posterior of the direction, the interval has its spread",
    "without a reference where she and he were made alike; to say that a bias is gone: it ignores all other "
    "directions",
    vocabulary_direct_bias, about="bias", better="lower",
)  # fmt: skip

MIDB = Measure(
    "midb", "multi-dimensional information-weighted direct bias",
    "mean over words of sum_i a_i <g_i, x>: g_i principal components of all differences between two lists of "
    "names, a_i their shares",
    "unbounded", f"two lists of names; {NEUTRAL_WORDS}", "Dawkins (2021), equation 3",
    "4 components, uncentred, vectors as stored; positive towards the first list; names are drawn as words are",
    "without normalize=True, to compare embeddings whose vectors differ in length; to say that words have no "
    "bias: those of both signs cancel",
    midb, about="bias", better="nearer to 0",
)  # fmt: skip
