"""`alar`: mean log asymmetry ratios of the pairs of relations, partially pooled over relations."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.asymmetry.ratios.pair_statistics import dyadic_variance, word_codes
from bayesbias.asymmetry.ratios.pooling import PRIOR_PAIRS, Means, draw_pooled
from bayesbias.asymmetry.sources.conditional_sources import COUNT_RATIO
from bayesbias.asymmetry.sources.relations import chosen_relations
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_frame, check_probability, resolve_seed
from bayesbias.base.number_text import counted, digits_text
from bayesbias.errors import MeasureError
from bayesbias.estimates.intervals import estimate_frame

if TYPE_CHECKING:
    import pandas as pd

_NEEDED = ("a", "b", "lar", "sd", "probability_of_direction", "left_out")


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
        Number of posterior draws.
    hdi_prob
        Probability inside the intervals.
    random_seed
        Seed of the draws.

    Returns
    -------
    pandas.DataFrame
        One row per relation, the largest first: `relation`, the number of `pairs` and of their `words`; `mean_lar`, the
        plain mean of the LARs, which are posterior means in norms; `mean_from_counts`, that of the log ratios of shares
        of answers, the paper's ALAR (missing without counts, and if a pair is listed in only one direction); the
        posterior `mean`, `sd`, `hdi_low`, `hdi_high` and `probability_of_direction`; and `share_forward`, the mean over
        pairs of the probability that LAR is above 0.

    Raises
    ------
    MeasureError
        If a relation is unknown, or fewer than two pairs have a direction.

    Notes
    -----
    The pairs are treated as a sample of the relation's pairs. Pairs that share a word vary together, which widens the
    interval (see `ratios.pair_statistics`), as do the errors of the ratios. The standard deviation of the
    relations' means has a half-Normal prior whose scale is the standard deviation of the pairs. Logarithms are natural;
    the paper's figures appear to be 100 times these. For a pair that is listed in one direction only, the size of the
    ratio depends more on the prior than on the data: see also `share_forward`.

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
    names = chosen_relations(frame, relations)
    parts = [frame[frame["relation"] == name] for name in names]
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
    return estimate_frame(
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


_LARGEST = 1e6  # largest log ratio


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
