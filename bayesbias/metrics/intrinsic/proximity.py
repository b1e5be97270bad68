"""GIPE: how many of a word's neighbours are near to it for the sake of gender alone."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import HDI_PROB, check_count, check_number, resolve_seed
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.geometry import unit_rows
from bayesbias.metrics.directions.direct_bias import GENDER_PAIRS, gender_direction
from bayesbias.metrics.directions.neighbours import nearest_neighbours
from bayesbias.metrics.embedding_scores.result import EmbeddingScore, embedding_score
from bayesbias.metrics.embedding_scores.statistics import Quantity
from bayesbias.metrics.intrinsic.biased_words import load_both, projections, vocabulary_of

_BLOCK = 256  # words whose neighbours are compared at a time


def indirect_bias(cosine: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
    """Return by which share of their similarity two words are similar for the sake of a direction.

    beta(w, v) = (w.v - w'.v' / (norm(w') norm(v'))) / w.v, with w' and v' the vectors without the direction (Bolukbasi
    et al. 2016, section 5.3).

    Parameters
    ----------
    cosine
        Cosine similarity of the two words, w.v, not 0.
    first, second
        Cosine of each with the direction. Of a word that lies along it nothing is left: its beta is 1.

    Examples
    --------
    >>> indirect_bias([0.64, 0.3], [0.8, 0.0], [0.8, 0.0]).round(12)  # all of it, nothing
    array([1., 0.])
    """
    both, w, v = (np.asarray(each, dtype=np.float64) for each in (cosine, first, second))
    lengths = np.sqrt(np.clip((1 - w**2) * (1 - v**2), 0.0, None))
    shape = np.broadcast_shapes(both.shape, lengths.shape)
    without = np.divide(both - w * v, lengths, out=np.zeros(shape), where=lengths > 1e-9)
    beta: Floats = np.asarray((both - without) / both)
    return beta


def gipe(
    embedding: EmbeddingLike,
    words: Sequence[str] | None = None,
    *,
    reference: EmbeddingLike | None = None,
    neighbours: int = 100,
    threshold: float = 0.03,
    pairs: Sequence[tuple[str, str]] = GENDER_PAIRS[:9],
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
) -> EmbeddingScore:
    """Measure the share of neighbours that are near for the sake of a direction (GIPE).

    Parameters
    ----------
    embedding
        See `bayesbias.metrics`. Neighbours are sought among all its words.
    words
        The words whose neighbours are judged; None: all that `neutral_words` finds.
    reference
        The embedding before debiasing, in which the indirect bias of two words is taken; None: `embedding` itself.
    neighbours
        How many nearest neighbours of each word.
    threshold
        A neighbour is illicit if its indirect bias is above this: 0.03 to 0.05 in the papers.
    pairs
        The pairs that the direction is made of (see `gender_direction`); by default nine, those of Bolukbasi et al.
        without names, as in the published code.
    random_seed
        Seed of the interval's draws.
    hdi_prob
        Probability inside the interval.

    Returns
    -------
    EmbeddingScore
        `gipe`, from 0 to 1: the mean of the words' shares of illicit neighbours, each with a weight. The items are the
        words: `eta`, this share, and `gamma`, the weight: 1 and the share of the words that have it as a neighbour to
        which it is an illicit one.

    Raises
    ------
    MeasureError
        If there are fewer words than neighbours, or no direction.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some of the words or pairs, or the reference some of the embedding's words, which can
        then be no neighbours.

    Notes
    -----
    The interval is about the words, each with its share and its weight as they are. Neighbours are those of the
    embedding, the indirect bias that of the reference, as in the authors' code. That code gives a word that is nobody's
    neighbour the weight 0; their equation, which is followed here, gives it 1. A neighbour at a right angle in the
    reference has no indirect bias and counts as licit.

    References
    ----------
    Vaibhav Kumar, Tenzin Singhay Bhotia, Vaibhav Kumar and Tanmoy Chakraborty (2020). Nurse is closer to woman than
    surgeon? Mitigating gender-biased proximities in word embeddings. TACL 8, 486-503: the gender-based illicit
    proximity estimate.

    Examples
    --------
    >>> path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> score = bb.metrics.gipe(path, neighbours=20, pairs=[("she", "he"), ("woman", "man")], random_seed=1)
    >>> bool(0 < score.value < 1), list(score.items.columns)
    (True, ['item', 'part', 'eta', 'gamma'])
    """
    seed = resolve_seed(random_seed)
    count = check_count("neighbours", neighbours)
    limit = check_number("threshold", threshold, low=-1, high=1)
    source, judge = load_both(embedding, reference)
    direction = gender_direction(judge, pairs)
    vocabulary, of_judge = _common(source, judge)
    asked, lost = vocabulary_of(source, words)
    row_of = {source.words[row]: place for place, row in enumerate(vocabulary)}
    kept = [word for word in asked if source.match(word) in row_of]
    gone = [*lost, *(word for word in asked if source.match(word) not in row_of)]
    if len(kept) < 2:
        raise MeasureError(f"{len(kept)} of the words are left, but at least two are needed. Add words.")
    if gone:
        warn_user(f"{len(gone):,} of the words are lost: {name_some(gone)}.", LostWordsWarning)
    targets = np.array([row_of[str(source.match(word))] for word in kept])
    near = nearest_neighbours(source.vectors[vocabulary[targets]], source.vectors[vocabulary], count, own=targets)
    illicit = _illicit(judge, of_judge, direction.vector, targets, near, limit)
    incoming = np.bincount(near.ravel(), minlength=len(vocabulary))[targets]
    of_them = np.bincount(near[illicit], minlength=len(vocabulary))[targets]
    items = {"item": kept, "eta": illicit.mean(axis=1), "gamma": 1 + of_them / np.maximum(incoming, 1)}
    return embedding_score(
        "gipe",
        source.name,
        pd.DataFrame(items),
        [Quantity("gipe", "weighted_mean", ("eta", "gamma"))],
        conventions=(
            f"{count} neighbours, indirect bias above {limit:g} in the reference along the direction of "
            f"{len(direction.pairs)} pairs; a word that is no neighbour has the weight 1"
        ),
        random_seed=seed,
        hdi_prob=hdi_prob,
        lost={"words": gone},
    )


def _common(source: Embedding, judge: Embedding) -> tuple[Integers, Integers]:
    """Return the rows of the words that both embeddings have, in either."""
    found = judge.lookup(source.words)
    if found.lost:
        warn_user(
            f"The embedding {judge.name!r} lacks {len(found.lost):,} of the {len(source):,} words of {source.name!r}: "
            f"{name_some(found.lost)}. They can be no neighbours.",
            LostWordsWarning,
        )
    row_of = {word: row for row, word in enumerate(judge.words)}
    rows = [row for row, word in enumerate(source.words) if word in found.found]
    return np.array(rows), np.array([row_of[found.found[source.words[row]]] for row in rows])


def _illicit(
    judge: Embedding, rows: Integers, direction: Floats, targets: Integers, near: Integers, limit: float
) -> np.ndarray:
    """Return which neighbours have an indirect bias above a limit, of shape (words, neighbours)."""
    along = projections(judge, [judge.words[row] for row in rows], direction)
    illicit = np.zeros(near.shape, dtype=bool)
    for start in range(0, len(targets), _BLOCK):
        mine, others = targets[start : start + _BLOCK], near[start : start + _BLOCK]
        asked, found = np.unique(np.concatenate([mine, others.ravel()]), return_inverse=True)
        units = unit_rows(judge.vectors[rows[asked]])
        mine_here, others_here = found[: len(mine)], found[len(mine) :].reshape(others.shape)
        cosine = np.einsum("id,ikd->ik", units[mine_here], units[others_here], optimize=True)
        apart = np.abs(cosine) > 1e-9
        beta = indirect_bias(np.where(apart, cosine, 1.0), along[mine][:, np.newaxis], along[others])
        illicit[start : start + _BLOCK] = apart & (beta > limit)
    return illicit
