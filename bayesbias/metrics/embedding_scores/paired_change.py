"""The change of a score from one embedding to another, on the same items."""

import numpy as np
import pandas as pd

from bayesbias.base.checks import HDI_PROB, check_probability, check_type, resolve_seed
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.metrics.embedding_scores.drawn_directions import DrawnDirections, posterior_along
from bayesbias.metrics.embedding_scores.result import (
    LABELS,
    EmbeddingScore,
    columns_of,
    labels_of,
    of_part,
    rows_of_quantity,
)
from bayesbias.metrics.embedding_scores.statistics import posterior, shortest_interval, value_of


def paired_change(
    before: EmbeddingScore,
    after: EmbeddingScore,
    *,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
) -> "pd.DataFrame":
    """Return by how much a score changed from one embedding to another, with the interval of the change itself.

    Both scores are made of the same items, which are easy or hard in both embeddings. The interval of the change is
    therefore another, and mostly a much shorter, one than that of either score.

    Parameters
    ----------
    before, after
        Scores of the same measure with the same settings. Scores over splits, and those along directions that are
        drawn, need the same seed.
    random_seed
        Seed of the draws.
    hdi_prob
        Probability inside the interval.

    Returns
    -------
    pandas.DataFrame
        One row a quantity, the headline first: `quantity`; `before`, `after` and `change`, on the items that both
        have; `hdi_low` and `hdi_high` of the change; `probability_of_increase`, the posterior probability that the
        change is above 0 (one half where nothing changed); the number of `items`.

    Raises
    ------
    MeasureError
        If the scores are not of the same measure with the same settings, or fewer than two items are in both.

    Warns
    -----
    LostWordsWarning
        If only one of the two has some of the items, which are left out.

    Notes
    -----
    Draws from the posterior of the change: the Bayesian bootstrap of the items for rank correlations, means and
    v-measures; a Dirichlet posterior of the outcomes before and after for shares of items that are right; and a t
    distribution with the corrected variance for means over splits. Of a direction that is drawn, each draw is of the
    same pairs or names before and after.

    References
    ----------
    Donald B. Rubin (1981). The Bayesian bootstrap. Annals of Statistics 9, 130-134. Claude Nadeau and Yoshua Bengio
    (2003). Inference for the generalization error. Machine Learning 52, 239-281, equation 15 (corrected resampled t).
    Art B. Owen and Dean Eckles (2012). Bootstrapping data arrays of arbitrary order. Annals of Applied Statistics 6,
    895-927: weights of labels that items share.

    Examples
    --------
    >>> folder = bb.bundled("data", "vectors")
    >>> scores = [
    ...     bb.metrics.vocabulary_direct_bias(folder / f"wikipedia2018_skipgram_seed{seed}.npz", random_seed=1)
    ...     for seed in (1, 2)
    ... ]
    >>> change = bb.metrics.paired_change(*scores, random_seed=1)
    >>> change[["quantity", "before", "after", "change"]].round(3)
          quantity  before  after  change
    0  direct_bias   0.077  0.075  -0.002
    1  mean_cosine   0.004 -0.003  -0.007
    """
    seed = resolve_seed(random_seed)
    check_probability("hdi_prob", hdi_prob)
    for name, score in (("before", before), ("after", after)):
        check_type(name, score, EmbeddingScore, "a score of an embedding, such as bb.metrics.word_similarity returns")
    _raise_unless_alike(before, after)
    first, second = _common_items(before, after)
    along = [_along(score, items) for score, items in ((before, first), (after, second))]
    rows = []
    for quantity in before.quantities:
        if quantity not in after.quantities or of_part(quantity, first).sum() < 2:
            continue  # a part of which hardly an item is left, which has been warned of
        chosen = [rows_of_quantity(quantity, items) for items in (first, second)]
        columns = [columns_of(quantity, items) for items in chosen]
        values = [value_of(quantity, each) for each in columns]
        random = np.random.default_rng(seed)
        if along[0] is None:
            draws = posterior(quantity, columns[0], columns[1], random, labels=labels_of(quantity, chosen[0]))
        else:
            draws = posterior_along(quantity, along[0], along[1], random)
        low, high = shortest_interval(draws, hdi_prob)
        above = float((draws > 0).mean() + (draws == 0).mean() / 2)
        rows.append((quantity.name, *values, values[1] - values[0], low, high, above, len(chosen[0])))
    columns_of_frame = (
        "quantity",
        "before",
        "after",
        "change",
        "hdi_low",
        "hdi_high",
        "probability_of_increase",
        "items",
    )
    return pd.DataFrame(rows, columns=list(columns_of_frame))


def _raise_unless_alike(before: EmbeddingScore, after: EmbeddingScore) -> None:
    if before.measure != after.measure:
        raise MeasureError(f"The scores are of {before.measure} and of {after.measure}. Give two of one measure.")
    if before.conventions != after.conventions:
        raise MeasureError(
            f"The two scores of {before.measure} are made in different ways: {before.conventions!r} and "
            f"{after.conventions!r}. Make both with the same settings."
        )
    if before.along is not None and before.random_seed != after.random_seed:
        raise MeasureError(
            f"The directions of the two scores of {before.measure} are drawn with the seeds {before.random_seed} and "
            f"{after.random_seed}. Make both with the same random_seed, so that the draws are of the same pairs."
        )


def _along(score: EmbeddingScore, items: pd.DataFrame) -> DrawnDirections | None:
    """Return the draws of a score's direction with some of its items."""
    if score.along is None:
        return None
    own = score.items.set_index(list(LABELS)).index
    return score.along.of(own.get_indexer(pd.MultiIndex.from_frame(items[list(LABELS)])))


def _common_items(before: EmbeddingScore, after: EmbeddingScore) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the items that both scores have, in the order of the first, and warn of the others."""
    first, second = (score.items.set_index(list(LABELS)) for score in (before, after))
    common = first.index.intersection(second.index, sort=False)
    if len(common) < 2:
        raise MeasureError(
            f"The two scores of {before.measure} have {len(common)} items in common: the first has "
            f"{name_some(before.items['item'], 3)}, the second {name_some(after.items['item'], 3)}. Make both of the "
            "same words or file, with the same reference and, over splits, the same random_seed."
        )
    if lost := [str(label[0]) for index in (first.index, second.index) for label in index.difference(common)]:
        warn_user(
            f"Left {len(lost):,} items out that only one of {before.embedding!r} and {after.embedding!r} has: "
            f"{name_some(lost)}. The change of {before.measure} is about the {len(common):,} that both have.",
            LostWordsWarning,
        )
    first, second = first.loc[common], second.loc[common]
    if "human" in first and (differs := (first["human"] != second["human"]).to_numpy()).any():
        at = int(np.argmax(differs))
        raise MeasureError(
            f"People's scores differ between the two scores of {before.measure}: {common[at][0]!r} has "
            f"{first['human'].iloc[at]:g} and {second['human'].iloc[at]:g}. Make both of the same file."
        )
    return first.reset_index(), second.reset_index()
