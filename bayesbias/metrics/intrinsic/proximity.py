"""GIPE: the share of a word's neighbours whose similarity to it is due to gender."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from bayesbias.base.arrays import ROUNDING, Floats, Integers
from bayesbias.base.checks import HDI_PROB, check_count, check_number, resolve_seed
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.geometry import unit_rows
from bayesbias.metrics.directions.direction import GENDER_PAIRS, gender_direction
from bayesbias.metrics.directions.neighbours import nearest_neighbours
from bayesbias.metrics.intrinsic.clustering import load_both, projections, unique_words
from bayesbias.metrics.intrinsic.name_directions import NameLists, midb_directions
from bayesbias.metrics.measure_entry import DAWKINS, NEUTRAL_WORDS, Measure, shared_parameters
from bayesbias.metrics.measure_result import Items, MeasureResult, result_of_items
from bayesbias.metrics.quantities import Quantity

_BLOCK = 256  # words per block


def indirect_bias(cosine: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
    """Return the share of the similarity of two words that is due to a direction.

    beta(w, v) = (w.v - w'.v' / (norm(w') norm(v'))) / w.v, where w' and v' are the vectors without their components
    along the direction (Bolukbasi et al. 2016, section 5.3).

    Parameters
    ----------
    cosine
        Cosine similarity of the two words, w.v, not 0.
    first, second
        Cosine of each word with the direction. If a word lies along it, nothing is left and beta is 1.

    Examples
    --------
    >>> indirect_bias([0.64, 0.3], [0.8, 0.0], [0.8, 0.0]).round(12)  # all of it, nothing
    array([1., 0.])
    """
    w, v = (np.asarray(cosines, dtype=np.float64)[..., np.newaxis] for cosines in (first, second))
    return indirect_bias_of_directions(cosine, w, v, np.ones(1))


def indirect_bias_of_directions(cosine: ArrayLike, first: Floats, second: Floats, weights: Floats) -> Floats:
    """Return the share of the similarity of two words that is due to orthonormal directions, removed by weights.

    - `cosine`: cosine similarity of the two words, w.v, not 0.
    - `first`, `second`: cosines of each word with the directions, of shape (..., directions).
    - `weights`: share of each direction that is removed, a_i: w' = w - sum_i a_i <g_i, w> g_i.

    >>> indirect_bias_of_directions([0.64], np.array([[0.8]]), np.array([[0.8]]), np.array([0.5])).round(3)
    array([0.519])
    """
    both = np.asarray(cosine, dtype=np.float64)
    lost = weights * (2 - weights)  # of the squared length, and of the inner product, along each direction
    lengths = np.sqrt(np.clip((1 - first**2 @ lost) * (1 - second**2 @ lost), 0.0, None))
    left = both - (first * second) @ lost
    shape = np.broadcast_shapes(both.shape, lengths.shape)
    without = np.divide(left, lengths, out=np.zeros(shape), where=lengths > 1e-9)
    beta: Floats = np.asarray((both - without) / both)
    return beta


@shared_parameters()
def gipe(
    embedding: EmbeddingLike,
    words: Sequence[str] | None = None,
    *,
    reference: EmbeddingLike | None = None,
    neighbours: int = 100,
    threshold: float = 0.03,
    pairs: Sequence[tuple[str, str]] = GENDER_PAIRS[:9],
    names: NameLists | None = None,
    components: int = 4,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
    progress: bool = True,
) -> MeasureResult:
    """Return the gender-based illicit proximity estimate: the share of neighbours that are near because of a direction.

    Parameters
    ----------
    words
        Words whose neighbours, among all words of the embedding, are judged. None: all that `neutral_words` finds.
    reference
        Embedding before debiasing, in which the indirect bias of two words is computed. None: `embedding` itself.
    neighbours
        Number of nearest neighbours of each word.
    threshold
        Indirect bias above which a neighbour is illicit: 0.03 to 0.05 in the papers.
    pairs
        Pairs of words that determine the direction (see `gender_direction`). Default: the nine of Bolukbasi et al. that
        are not names, as in the published code.
    names
        Two lists of names: indirect bias is then what the weighted directions of the names in the reference
        (`bb.metrics.midb`, vectors of length 1) add to a similarity: w' = w - sum_i a_i <g_i, w> g_i, as by
        `bb.debias.MISP`, in place of the direction of `pairs`; Dawkins (2021) suggests it.
    components
        With `names`, the number of directions.

    Returns
    -------
    MeasureResult
        `gipe`, from 0 to 1: the weighted mean of the words' shares of illicit neighbours. The items are the words, with
        this share, `eta`, and the weight, `gamma`: 1 plus, among the words that have it as a neighbour, the share for
        which it is an illicit one.

    Raises
    ------
    MeasureError
        If there are fewer words than neighbours, or no direction.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some of the words or pairs, or the reference some of the embedding's words, which then
        cannot be neighbours.

    Notes
    -----
    The interval treats the words as a sample, with fixed shares and weights. Neighbours are those of the embedding, and
    indirect bias is that of the reference, as in the authors' code. That code gives a weight of 0 to a word that is not
    a neighbour of any other; their equation, which is used here, gives it 1. A neighbour at a right angle in the
    reference has no indirect bias and is not illicit.

    References
    ----------
    Vaibhav Kumar, Tenzin Singhay Bhotia, Vaibhav Kumar and Tanmoy Chakraborty (2020). Nurse is closer to woman than
    surgeon? Mitigating gender-biased proximities in word embeddings. TACL 8, 486-503: the gender-based illicit
    proximity estimate.

    Examples
    --------
    >>> path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> score = bb.metrics.gipe(path, neighbours=20, pairs=[("she", "he"), ("woman", "man")], random_seed=1)
    >>> bool(0 < score.value < 1), list(score.scores.columns)
    (True, ['item', 'part', 'eta', 'gamma'])
    """
    seed = resolve_seed(random_seed)
    count = check_count("neighbours", neighbours)
    limit = check_number("threshold", threshold, low=-1, high=1)
    source, judge = load_both(embedding, reference)
    if names is None:
        direction = gender_direction(judge, pairs)
        directions: Floats = direction.vector[np.newaxis]
        weights: Floats = np.ones(1)
        direction_text = f"the direction of {counted(len(direction.pairs), 'pair')}"
    else:
        directions, weights, direction_text = midb_directions(judge, names, check_count("components", components))
    vocabulary, judge_rows = _common(source, judge)
    requested_words, lost = unique_words(source, words)
    row_of = {source.words[row]: place for place, row in enumerate(vocabulary)}
    embedded_words = [word for word in requested_words if source.match(word) in row_of]
    lost_words = [*lost, *(word for word in requested_words if source.match(word) not in row_of)]
    if len(embedded_words) < 2:
        raise MeasureError(f"{len(embedded_words)} of the words are left, but at least 2 are needed. Add words.")
    if lost_words:
        warn_user(
            f"The embedding {source.name!r} or the reference lacks {len(lost_words):,} of the words: "
            f"{name_some(lost_words)}. The score is that of the others.",
            LostWordsWarning,
        )
    targets = np.array([row_of[str(source.match(word))] for word in embedded_words])
    near = nearest_neighbours(
        source.vectors[vocabulary[targets]], source.vectors[vocabulary], count, target_rows=targets, progress=progress
    )
    illicit = _illicit(judge, judge_rows, (directions, weights), targets, near, limit)
    incoming = np.bincount(near.ravel(), minlength=len(vocabulary))[targets]
    illicit_incoming = np.bincount(near[illicit], minlength=len(vocabulary))[targets]
    items = {
        "item": embedded_words,
        "eta": illicit.mean(axis=1),
        "gamma": 1 + illicit_incoming / np.maximum(incoming, 1),
    }
    return result_of_items(
        "gipe",
        source.name,
        Items(pd.DataFrame(items), {"words": lost_words}),
        [Quantity("gipe", "weighted_mean", ("eta", "gamma"))],
        question=f"Are words of {source.name} neighbours through the direction alone?",
        conventions=(
            f"{count} neighbours, indirect bias above {limit:g} in the reference along "
            f"{direction_text}; a word that is no neighbour has the weight 1"
        ),
        random_seed=seed,
        hdi_prob=hdi_prob,
    )


def _common(source: Embedding, judge: Embedding) -> tuple[Integers, Integers]:
    """Return the rows, in each of two embeddings, of the words that both have."""
    lookup = judge.lookup(source.words)
    if lookup.lost:
        warn_user(
            f"The embedding {judge.name!r} lacks {len(lookup.lost):,} of the {len(source):,} words of {source.name!r}: "
            f"{name_some(lookup.lost)}. They cannot be neighbours.",
            LostWordsWarning,
        )
    row_of = {word: row for row, word in enumerate(judge.words)}
    rows = [row for row, word in enumerate(source.words) if word in lookup.matches]
    return np.array(rows), np.array([row_of[lookup.matches[source.words[row]]] for row in rows])


def _illicit(
    judge: Embedding, rows: Integers, removed: tuple[Floats, Floats], targets: Integers, near: Integers, limit: float
) -> np.ndarray:
    """Return whether each neighbour has an indirect bias above a limit, of shape (words, neighbours)."""
    directions, weights = removed
    along = projections(judge, [judge.words[row] for row in rows], directions.T)
    illicit = np.zeros(near.shape, dtype=bool)
    for start in range(0, len(targets), _BLOCK):
        block_targets, block_neighbours = targets[start : start + _BLOCK], near[start : start + _BLOCK]
        distinct_rows, positions = np.unique(
            np.concatenate([block_targets, block_neighbours.ravel()]), return_inverse=True
        )
        units = unit_rows(judge.vectors[rows[distinct_rows]])
        own_positions, neighbour_positions = np.split(positions, [len(block_targets)])
        neighbour_units = units[neighbour_positions.reshape(block_neighbours.shape)]
        cosine = np.einsum("id,ikd->ik", units[own_positions], neighbour_units, optimize=True)
        not_orthogonal = np.abs(cosine) > ROUNDING
        beta = indirect_bias_of_directions(
            np.where(not_orthogonal, cosine, 1.0), along[block_targets][:, np.newaxis], along[block_neighbours], weights
        )
        illicit[start : start + _BLOCK] = not_orthogonal & (beta > limit)
    return illicit


MOST_WORDS = 100_000
"""Number of words above which `bayesbias intrinsic` leaves GIPE out by default: its time grows with their square."""

GIPE = Measure(
    "gipe", "gender-based illicit proximity estimate",
    "weighted mean over words of the share of neighbours whose indirect bias is above a threshold", "0 to 1",
    NEUTRAL_WORDS, f"Kumar et al. (2020); {DAWKINS}",
    "100 neighbours, threshold 0.03, indirect bias in the reference along the direction of nine pairs",
    "without a whole vocabulary: the nearest words of a study are not those of the language; without a "
    "reference, on debiased vectors: along a direction that is gone nothing is illicit",
    gipe, about="bias", better="lower",
)  # fmt: skip
