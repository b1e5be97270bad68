"""`with_relations` and `alar`: the relations of pairs, and the mean log asymmetry ratio of each, partially pooled."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias.asymmetry.vector_source import COUNT_RATIO, PAIR, checked_cue_pairs
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import (
    HDI_PROB,
    check_count,
    check_frame,
    check_probability,
    check_type,
    is_text,
    resolve_seed,
    shown,
)
from bayesbias.base.number_text import counted, digits_text
from bayesbias.errors import ArgumentError, MeasureError, did_you_mean, name_some
from bayesbias.estimates.frames import frame_of_draws
from bayesbias.estimates.intervals import common_mean, draw_nodes

if TYPE_CHECKING:
    import pandas as pd


Codes = NDArray[np.integer]
PRIOR_PAIRS = 4.0
"""Number of pairs as which the pooled variance counts in the variance of each relation."""
_GRID = 200
_WIDEST = 3.0  # upper end of the grid of omega, in standard deviations of its prior
RELATION_COLUMNS = ("head", "relation", "tail")
REST = "RelatedTo"
"""Relation of pairs that are not listed, as in ConceptNet."""
_NEEDED = ("a", "b", "lar", "sd", "probability_of_direction", "left_out")
_LARGEST = 1e6  # largest log ratio


def dyadic_variance(influences: Floats, first: Codes, second: Codes, correlations: Floats | None = None) -> float:
    """Return the variance of a sum of influences of pairs (first, second) of words.

    Two pairs that share a word are not independent: a salient word shifts all of its pairs in one direction. The
    variance of a statistic is the sum of the products of the influences of all pairs that have a word in common, as for
    dyads (Aronow, Samii and Assenova 2015), but at least that of independent pairs. Pairs of words that depend on each
    other, such as synonyms, count likewise, as far as the words correlate.

    - `influences` (array, shape (pairs,)): influences of the pairs, which sum to about 0.
    - `first`, `second` (arrays of int, shape (pairs,)): codes of the words of each pair.
    - `correlations` (array, shape (words, words)): correlations of dependent words; None if words are independent.

    >>> errors = np.array([0.5, 0.5, -1.0])
    >>> dyadic_variance(errors, np.array([0, 2, 4]), np.array([1, 3, 5]))
    1.5
    >>> dyadic_variance(errors, np.array([0, 0, 4]), np.array([1, 3, 5]))
    2.0
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    dyads = np.unique(np.stack([low, high]), axis=1, return_inverse=True)[1].reshape(-1)
    of_dyads = np.bincount(dyads, influences)
    words = int(max(first.max(), second.max())) + 1
    of_words = np.bincount(first, influences, words) + np.bincount(second, influences, words)
    independent = float(of_dyads @ of_dyads)
    squares = float(of_words @ of_words)
    if correlations is not None:
        squares = max(float(of_words @ correlations @ of_words), squares)
    return max(squares - independent, independent)


def kish_words(first: Codes, second: Codes) -> float:
    """Return Kish's effective number of words, given the words of each pair.

    >>> kish_words(np.array([0, 2]), np.array([1, 3]))
    4.0
    >>> round(kish_words(np.array([0, 0, 0]), np.array([1, 2, 3])), 6)
    3.0
    """
    pairs = np.bincount(np.concatenate([first, second])).astype(np.float64)
    return float(pairs.sum() ** 2 / (pairs @ pairs))


def spearman_influences(x: Floats, y: Floats) -> tuple[float, Floats]:
    """Return Spearman's correlation of two columns, and each pair's influence on it (Croux and Dehon 2010).

    >>> value, influences = spearman_influences(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]))
    >>> round(value, 3), bool(abs(influences.sum()) < 1e-12)
    (0.8, True)
    """
    u, v = shares_below(x) - 0.5, shares_below(y) - 0.5
    spread = np.sqrt(np.mean(u**2) * np.mean(v**2))
    if spread == 0:
        return 0.0, np.zeros(len(x))
    # Influence by the pair's own ranks, and by its effect on the ranks of others.
    raw = u * v + mean_above(x, v) + mean_above(y, u)
    value = float(np.mean(u * v) / spread)
    return value, (raw - raw.mean()) / spread


def shares_below(values: Floats) -> Floats:
    """Return the share of smaller values for each value; ties count half.

    >>> shares_below(np.array([3.0, 1.0, 3.0, 2.0]))
    array([0.75 , 0.125, 0.75 , 0.375])
    """
    ordered = np.sort(values)
    low, high = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    shares: Floats = (low + high) / (2 * len(values))
    return shares


def mean_above(values: Floats, weights: Floats) -> Floats:
    """Return for each value the sum of the weights of greater values, ties half, over the number of values."""
    order = np.argsort(values, kind="stable")
    ordered, sums = values[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    low, high = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    above: Floats = (sums[-1] - (sums[low] + sums[high]) / 2) / len(values)
    return above


def reliability_influences(values: Floats, errors: Floats) -> tuple[float, Floats]:
    """Return the reliability of posterior means, and each pair's influence on it.

    It is their variance over that of the true values, which is the sum of theirs and of the mean squared error.

    >>> value, _ = reliability_influences(np.array([-2.0, 0.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    >>> round(value, 3)
    0.727
    """
    squares = (values - values.mean()) ** 2
    variance, noise = float(squares.mean()), float(np.mean(errors**2))
    if variance == 0:
        return 0.0, np.zeros(len(values))
    influences = (noise * (squares - variance) - variance * (errors**2 - noise)) / (variance + noise) ** 2
    return variance / (variance + noise), influences


def word_codes(first: list[str], second: list[str]) -> tuple[Codes, Codes]:
    """Return the words of pairs as codes.

    >>> [codes.tolist() for codes in word_codes(["a", "b"], ["b", "c"])]
    [[0, 1], [1, 2]]
    """
    codes = {word: code for code, word in enumerate(dict.fromkeys([*first, *second]))}
    one, other = (np.array([codes[word] for word in side], dtype=np.intp) for side in (first, second))
    return one, other


@dataclass(frozen=True, eq=False)
class Means:
    """Means of relations and their errors.

    - `values` (array, shape (relations,)): means over pairs.
    - `variances` (array, shape (relations,)): variances of the means, including the effect of shared words.
    - `freedom` (array, shape (relations,)): degrees of freedom of these variances.
    """

    values: Floats
    variances: Floats
    freedom: Floats


def draw_pooled(means: Means, draws: int, scale: float, rng: np.random.Generator) -> Floats:
    """Return draws of theta, of shape (draws, relations); a single relation is not pooled.

        mean_r ~ Normal(theta_r, v_r),   theta_r ~ Normal(mu, omega^2),   omega ~ HalfNormal(scale),   mu flat.

    v_r = s_r^2 / n_r times the design effect of shared words. s_r^2 has the posterior of a variance, to which the
    pooled variance contributes as `PRIOR_PAIRS` additional pairs. mu and theta are integrated out, so that the draws of
    omega, and given these the draws of mu and theta, are independent.

    >>> means = Means(np.array([1.0, -1.0, 0.2]), np.array([0.01, 0.01, 4.0]), np.array([50.0, 50.0, 50.0]))
    >>> pooled = draw_pooled(means, 4000, 1.0, np.random.default_rng(1))
    >>> pooled.mean(axis=0).round(1).tolist(), bool(pooled[:, 2].std() < 2)
    ([1.0, -1.0, 0.1], True)
    """
    relations = len(means.values)
    variances = means.variances * means.freedom / rng.chisquare(means.freedom, (draws, relations))
    if relations == 1:
        drawn: Floats = means.values + np.sqrt(variances) * rng.standard_normal((draws, 1))
        return drawn
    # Denser near 0, where all relations are alike; the weight of a point is its spacing.
    steps = (np.arange(_GRID) + 0.5) / _GRID
    omegas = steps**2 * _WIDEST * scale
    logs = np.empty((draws, _GRID))
    for column, omega in enumerate(omegas):
        logs[:, column] = common_mean(means.values, variances + omega**2)[2] - (omega / scale) ** 2 / 2
        logs[:, column] += np.log(steps[column])
    square = omegas[draw_nodes(logs, rng), np.newaxis] ** 2
    centre, precision, _ = common_mean(means.values, variances + square)
    mu = centre + rng.standard_normal(draws) / np.sqrt(precision)
    shrinkage = square / (variances + square)
    centres = mu[:, np.newaxis] + shrinkage * (means.values - mu[:, np.newaxis])
    theta: Floats = centres + np.sqrt(shrinkage * variances) * rng.standard_normal((draws, relations))
    return theta


def with_relations(pairs: Any, relations: pd.DataFrame, *, unlisted: str | None = REST) -> pd.DataFrame:
    """Return pairs of words with their relations, each in the order of its relation.

    Parameters
    ----------
    pairs
        Pairs (a, b), or a frame with the columns `a` and `b`, in any order; other columns are kept.
    relations
        From `read_relations`: `head`, `relation`, `tail`.
    unlisted
        Relation of pairs that `relations` does not list, as in the paper. None leaves them out.

    Returns
    -------
    pandas.DataFrame
        One row for each pair and relation: `a` (the head), `b` (the tail), `relation`, `directed`, and the other
        columns of `pairs`, where `forward` and `backward` (from `Evocation.pairs`) follow the order of the pair. A pair
        with several relations has several rows. A pair that a relation lists in both orders
        has one row in the given order and no direction (`directed` is False), like the pairs of `unlisted`: their mean
        LAR would depend on an arbitrary order.

    Raises
    ------
    MeasureError
        If a frame is invalid, or no pair has a relation.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), section 5.

    Examples
    --------
    >>> relations = pd.DataFrame({"head": ["ellipse"], "relation": ["IsA"], "tail": ["shape"]})
    >>> bb.asymmetry.with_relations([("shape", "ellipse"), ("shape", "circle")], relations)
             a        b   relation  directed
    0  ellipse    shape        IsA      True
    1    shape   circle  RelatedTo     False
    """
    frame = checked_cue_pairs(pairs)
    listed = checked_relations(relations)
    if unlisted is not None and not is_text(unlisted):
        raise ArgumentError(f"unlisted={shown(unlisted)}: give the name of a relation, or None.")
    frame = frame.drop(columns=[name for name in ("relation", "directed") if name in frame])
    frame = frame.assign(_row=range(len(frame)))
    same = listed.rename(columns={"head": "a", "tail": "b"}).assign(_turned=False)
    turned = listed.rename(columns={"head": "b", "tail": "a"}).assign(_turned=True)
    joined = frame.merge(pd.concat([same, turned]), on=list(PAIR), how="left")
    if joined["relation"].isna().all():
        raise MeasureError(
            f"None of the {len(frame):,} pairs has a relation, for example not {frame['a'][0]} - {frame['b'][0]}. Give "
            "relations of words of the same language and case."
        )
    both = joined.duplicated(["_row", "relation"], keep=False) & joined["relation"].notna()
    joined = joined[~(both & joined["_turned"].eq(True))]
    joined = joined.assign(directed=~both[joined.index] & joined["relation"].notna())
    turn = joined["_turned"].eq(True)
    heads, tails = joined["a"].where(~turn, joined["b"]), joined["b"].where(~turn, joined["a"])
    joined = joined.assign(a=heads, b=tails)
    joined = joined[joined["relation"].notna()] if unlisted is None else joined.fillna({"relation": unlisted})
    for name in (name for name in frame.columns if name.startswith("forward")):
        if (opposite := name.replace("forward", "backward", 1)) in frame:
            ahead, back = joined[name], joined[opposite]
            joined = joined.assign(**{name: ahead.where(~turn, back), opposite: back.where(~turn, ahead)})
    others = [name for name in frame.columns if name not in {*PAIR, "_row"}]
    return joined[[*PAIR, "relation", "directed", *others]].reset_index(drop=True)


def chosen_relations(frame: pd.DataFrame, relations: Any) -> list[str]:
    """Return the chosen relations, by default all, the largest first; raise `MeasureError` if one is unknown."""
    if "relation" not in frame:
        raise MeasureError("The pairs have no column relation. Add it with bb.asymmetry.with_relations.")
    names = list(frame["relation"].value_counts().index)
    if relations is None:
        return names
    chosen = [relations] if isinstance(relations, str) else list(relations)
    for name in chosen:
        if name not in names:
            raise MeasureError(
                f"There is no relation {name!r}{did_you_mean(str(name), names)}. Choose from {name_some(names, 40)}."
            )
    return list(dict.fromkeys(chosen))


def relation_places(frame: pd.DataFrame, relations: Any) -> list[tuple[str, NDArray[np.intp]]]:
    """Return the chosen relations, as `chosen_relations`, each with the positions of its pairs."""
    names = chosen_relations(frame, relations)
    # Comparing the column with each name takes quadratic time.
    places = frame.groupby("relation", sort=False).indices
    return [(name, np.asarray(places[name], dtype=np.intp)) for name in names]


def checked_relations(relations: Any) -> pd.DataFrame:
    """Return the columns of relations, each tuple once; raise `MeasureError` if they are invalid."""
    check_type(
        "relations", relations, pd.DataFrame, "a frame with head, relation and tail (bb.asymmetry.read_relations)"
    )
    if lacking := [name for name in RELATION_COLUMNS if name not in relations.columns]:
        raise MeasureError(f"The relations lack the columns {', '.join(lacking)}. Give head, relation and tail.")
    frame = pd.DataFrame(relations)[list(RELATION_COLUMNS)].drop_duplicates().reset_index(drop=True)
    if frame.empty:
        raise MeasureError("The relations have no rows. Give head, relation and tail.")
    for name in RELATION_COLUMNS:
        for row, word in enumerate(frame[name].tolist()):
            if not isinstance(word, str) or not word:
                raise MeasureError(f"Row {row} of the relations has {shown(word)} as {name}. Give text.")
    return frame


def alar(
    ratios: "pd.DataFrame",
    *,
    relations: Any = None,
    pooled: bool = True,
    draws: int = 4000,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> "pd.DataFrame":
    """Return the mean log asymmetry ratio (ALAR) of each relation's pairs, with its uncertainty.

    Parameters
    ----------
    ratios
        From `lar`, for pairs with a `relation` (`with_relations`). Pairs that are left out, and those without a
        direction (`directed` is False), are not used.
    relations
        Names of the relations to use; None uses all.
    pooled
        Whether to shrink the means towards each other according to their uncertainty.
    draws
        Number of independent posterior draws, in all.
    hdi_prob
        Probability inside the intervals.
    random_seed
        Seed of the draws.

    Returns
    -------
    pandas.DataFrame
        One row per relation, the largest first:

        - `relation`, the number of `pairs` and of their `words`;
        - `mean_lar`: the plain mean of the LARs, which are posterior means in norms;
        - `mean_from_counts`: that of the log ratios of shares of answers, the paper's ALAR (missing without counts, and
          if a pair is listed in only one direction);
        - the posterior `mean`, `sd`, `hdi_low`, `hdi_high` and `probability_of_direction`;
        - `share_forward`: the mean over pairs of the probability that LAR is above 0.

    Raises
    ------
    MeasureError
        If a relation is unknown, or fewer than two pairs have a direction.

    Notes
    -----
    The pairs are treated as a sample of the relation's pairs. Pairs that share a word vary together, which widens the
    interval (see `dyadic_variance`), as do the errors of the ratios. The standard deviation of the relations' means has
    a half-Normal prior whose scale is the standard deviation of the pairs. Logarithms are natural; the paper's figures
    appear to be 100 times these. For a pair that is listed in one direction only, the size of the ratio depends more on
    the prior than on the data: see also `share_forward`.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 2 and table 1.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> pairs = pd.DataFrame({"a": ["he", "man", "art"], "b": ["she", "woman", "poetry"],
    ...                       "relation": ["Antonym", "Antonym", "HasA"]})
    >>> ratios = bb.asymmetry.lar(bb.asymmetry.static(vectors), pairs)
    >>> bb.asymmetry.alar(ratios, random_seed=1)[["relation", "pairs"]].values.tolist()
    [['Antonym', 2], ['HasA', 1]]
    """
    seed = resolve_seed(random_seed)
    check_count("draws", draws, least=100, most=1_000_000)
    check_probability("hdi_prob", hdi_prob)
    frame = usable(ratios)
    if "directed" in frame:
        frame = frame[frame["directed"].astype(bool)]
    if len(frame) < 2:
        raise MeasureError(
            f"Of {counted(len(ratios), 'pair')}, {len(frame)} have a direction and a number; at least 2 are needed."
        )
    parts_of = {name: frame.iloc[rows] for name, rows in relation_places(frame, relations)}
    names, parts = list(parts_of), list(parts_of.values())
    means = _means(parts)
    rng = np.random.default_rng(seed)
    scale = max(float(frame["lar"].std(ddof=0)), 1e-9)
    blocks = [slice(None)] if pooled else [slice(block, block + 1) for block in range(len(names))]
    drawn = np.concatenate(
        [
            draw_pooled(Means(means.values[block], means.variances[block], means.freedom[block]), draws, scale, rng)
            for block in blocks
        ],
        axis=1,
    )
    above = (drawn > 0).mean(axis=0)
    labels: dict[str, Any] = {
        "relation": names,
        "pairs": [len(part) for part in parts],
        "words": [len({*part["a"], *part["b"]}) for part in parts],
        "mean_lar": means.values,
        "mean_from_counts": [_mean_from_counts(part) for part in parts],
    }
    return frame_of_draws(
        drawn,
        labels,
        hdi_prob,
        probability_of_direction=np.maximum(above, 1 - above),
        share_forward=[float(forward_probability(part).mean()) for part in parts],
    )


def _means(parts: "list[pd.DataFrame]") -> Means:
    """Return the means of relations and their variances, which are larger where pairs share words."""
    values = [part["lar"].to_numpy(dtype=np.float64) for part in parts]
    counts = np.array([len(lars) for lars in values])
    squares = np.array([((lars - lars.mean()) ** 2).sum() for lars in values])
    freedom = counts - 1
    spare = int(freedom.sum())
    common = squares.sum() / spare if spare else np.var(np.concatenate(values))
    spread = (squares + PRIOR_PAIRS * common) / (freedom + PRIOR_PAIRS)
    # The variance of posterior means does not include their errors.
    noise = np.array([float(np.mean(part["sd"].to_numpy(dtype=np.float64) ** 2)) for part in parts])
    effects = np.array([_design_effect(part, lars, common) for part, lars in zip(parts, values, strict=True)])
    means = np.array([lars.mean() for lars in values])
    return Means(means, (np.maximum(spread, 1e-300) * effects + noise) / counts, freedom + PRIOR_PAIRS)


def _mean_from_counts(part: "pd.DataFrame") -> float:
    """Return the mean of log ratios of shares of answers, or NaN if a pair has none."""
    return float(part[COUNT_RATIO].mean(skipna=False)) if COUNT_RATIO in part else np.nan


def _design_effect(part: "pd.DataFrame", values: Floats, common: float) -> float:
    """Return the variance of a mean over that of as many pairs without shared words: at least 1."""
    influences = values - values.mean()
    squares = float(influences @ influences) + PRIOR_PAIRS * common
    if squares == 0:
        return 1.0
    shared = dyadic_variance(influences, *word_codes(part["a"].tolist(), part["b"].tolist()))
    return max(1.0, (shared + PRIOR_PAIRS * common) / squares)


def usable(ratios: "pd.DataFrame", name: str = "ratios") -> "pd.DataFrame":
    """Return the rows of a frame of `lar` that have numbers; raise `MeasureError` if there are none."""
    check_frame(name, ratios, "a frame from bb.asymmetry.lar")
    if lacking := [column for column in _NEEDED if column not in ratios.columns]:
        raise MeasureError(f"{name} lacks the columns {', '.join(lacking)}. Make it with bb.asymmetry.lar.")
    frame = ratios[ratios["left_out"] == ""].reset_index(drop=True)
    if frame.empty:
        reasons = ratios["left_out"].value_counts()
        why = f": {reasons.index[0]} ({counted(reasons.iloc[0], 'pair')})" if len(reasons) else ""
        raise MeasureError(f"No pair of {name} has a number{why}. Give pairs of words that the source has.")
    columns = ["lar", "sd", "probability_of_direction"]
    if texts := [column for column in columns if frame[column].dtype.kind not in "fiu"]:
        raise MeasureError(f"The column {texts[0]} of {name} holds {frame[texts[0]].dtype}. Give numbers.")
    numbers = frame[columns].to_numpy(dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise MeasureError(f"{name} has numbers that are not finite. Give a reason in left_out, or drop these rows.")
    ratio, sd, certain = numbers.T
    if (abs(ratio) > _LARGEST).any() or (sd < 0).any() or (sd > _LARGEST).any() or (abs(certain - 0.5) > 0.5).any():
        raise MeasureError(
            f"{name} has an LAR or sd beyond {_LARGEST:g}, a negative sd, or a probability outside 0 to 1. Make it "
            "with bb.asymmetry.lar."
        )
    labels = [column for column in ("a", "b", "relation") if column in frame]
    if (repeated := frame.duplicated(labels)).any():
        raise MeasureError(f"{name} has {' - '.join(frame.loc[repeated, labels].iloc[0])} twice. Keep each pair once.")
    return frame


def ratio_text(mean: float) -> str:
    """Return how much more the first word evokes the second than the reverse, by a mean log asymmetry ratio.

    >>> ratio_text(-1.35), ratio_text(0.0001)
    ('0.259 times as much as', 'as much as')
    """
    times = digits_text(float(np.exp(mean)))
    return "as much as" if times == "1" else f"{times} times as much as"


def forward_probability(frame: "pd.DataFrame") -> NDArray[np.floating]:
    """Return the probability that LAR is above 0: one half if LAR is 0 without error."""
    certain = frame["probability_of_direction"].to_numpy(dtype=np.float64)
    ratio = frame["lar"].to_numpy(dtype=np.float64)
    forward: Floats = np.where(ratio > 0, certain, np.where(ratio < 0, 1 - certain, 0.5))
    return forward
