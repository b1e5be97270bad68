"""ALAR: the mean log asymmetry ratio of the pairs of a relation, with partial pooling over relations."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.asymmetry.ratios.pair_statistics import dyadic_variance, word_codes
from bayesbias.asymmetry.ratios.pooling import LENT, Means, draw_pooled
from bayesbias.asymmetry.sources.relations import chosen_relations
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_frame, check_probability, resolve_seed
from bayesbias.errors import MeasureError
from bayesbias.estimates.intervals import MOMENTS, estimates

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
        From `lar`, of pairs with a `relation` (`with_relations`). Pairs that are left out, and those that have no
        direction (`directed` is False), do not enter.
    relations
        Some of the relations, by name; None: all.
    pooled
        Draw the means towards each other as far as they are uncertain.
    draws
        Posterior draws.
    hdi_prob
        Probability inside the intervals.
    random_seed
        Seed of the draws.

    Returns
    -------
    pandas.DataFrame
        One row a relation, the largest first: `relation`, the number of `pairs` and of their `words`, the plain mean
        `observed` (the paper's ALAR), the posterior's `mean`, `sd`, `hdi_low`, `hdi_high` and
        `probability_of_direction`, and `share_forward`, the mean over pairs of the probability that LAR is above 0.

    Raises
    ------
    MeasureError
        If a relation is unknown, no pair has a direction, or there are fewer than two such pairs.

    Notes
    -----
    The pairs are taken for a sample of the relation's pairs. Those that share a word vary together, which makes the
    interval wider (see `bayesbias.asymmetry.ratios.pair_statistics`), as do the errors of the ratios. The standard deviation
    of the relations' means has a half-Normal prior with the scale of the pairs' own standard deviation. Natural
    logarithms; the paper's figures look like 100 times these. Of a pair that is listed in one direction alone, how far
    its ratio lies from 0 is the prior's more than the data's: see `share_forward` too.

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
    import pandas as pd
    import xarray as xr

    from bayesbias.estimates.estimate_frame import EstimateFrame

    seed = resolve_seed(random_seed)
    check_count("draws", draws, least=100, most=1_000_000)
    check_probability("hdi_prob", hdi_prob)
    frame = usable(ratios)
    if "directed" in frame:
        frame = frame[frame["directed"].astype(bool)]
    if len(frame) < 2:
        raise MeasureError(f"Of {len(ratios):,} pairs {len(frame)} have a direction and a number: two are needed.")
    names = chosen_relations(frame, relations)
    parts = [frame[frame["relation"] == name] for name in names]
    found = _means(parts)
    rng = np.random.default_rng(seed)
    scale = max(float(frame["lar"].std(ddof=0)), 1e-9)
    blocks = [slice(None)] if pooled else [slice(at, at + 1) for at in range(len(names))]
    drawn = np.concatenate(
        [
            draw_pooled(Means(found.values[at], found.variances[at], found.freedom[at]), draws, scale, rng)
            for at in blocks
        ],
        axis=1,
    )
    array = xr.DataArray(drawn[np.newaxis], dims=("chain", "draw", "row")).assign_coords(row=np.arange(len(names)))
    numbers = estimates(array, hdi_prob=hdi_prob, independent=draws)[list(MOMENTS)]
    above = (drawn > 0).mean(axis=0)
    labels = {
        "relation": names,
        "pairs": [len(part) for part in parts],
        "words": [len({*part["a"], *part["b"]}) for part in parts],
        "observed": found.values,
    }
    return EstimateFrame(pd.DataFrame(labels)).assign(
        **{name: numbers[name] for name in MOMENTS},
        probability_of_direction=np.maximum(above, 1 - above),
        share_forward=[float(forward_probability(part).mean()) for part in parts],
    )


def _means(parts: "list[pd.DataFrame]") -> Means:
    """Return means of relations and their variances: pooled for small relations, wider where pairs share words."""
    values = [part["lar"].to_numpy(dtype=np.float64) for part in parts]
    counts = np.array([len(each) for each in values])
    squares = np.array([((each - each.mean()) ** 2).sum() for each in values])
    freedom = counts - 1
    spare = int(freedom.sum())
    common = squares.sum() / spare if spare else np.var(np.concatenate(values))
    spread = (squares + LENT * common) / (freedom + LENT)
    # The errors of posterior means are no part of how these vary.
    noise = np.array([float(np.mean(part["sd"].to_numpy(dtype=np.float64) ** 2)) for part in parts])
    effects = np.array([_design_effect(part, each, common) for part, each in zip(parts, values, strict=True)])
    means = np.array([each.mean() for each in values])
    return Means(means, (np.maximum(spread, 1e-300) * effects + noise) / counts, freedom + LENT)


def _design_effect(part: "pd.DataFrame", values: Floats, common: float) -> float:
    """Return how many times the variance of a mean is that of as many pairs without shared words: at least 1."""
    influences = values - values.mean()
    squares = float(influences @ influences) + LENT * common
    if squares == 0:
        return 1.0
    shared = dyadic_variance(influences, *word_codes(part["a"].tolist(), part["b"].tolist()))
    return max(1.0, (shared + LENT * common) / squares)


_LARGEST = 1e6  # of log ratios


def usable(ratios: "pd.DataFrame", name: str = "ratios") -> "pd.DataFrame":
    """Return the rows of a frame of `lar` that have numbers; raise `MeasureError` if it is none, or has none."""
    check_frame(name, ratios, "a frame from bb.asymmetry.lar")
    if lacking := [column for column in _NEEDED if column not in ratios.columns]:
        raise MeasureError(f"{name} lacks the columns {', '.join(lacking)}. Make it with bb.asymmetry.lar.")
    frame = ratios[ratios["left_out"] == ""].reset_index(drop=True)
    if frame.empty:
        reasons = ratios["left_out"].value_counts()
        why = f": {reasons.index[0]} ({reasons.iloc[0]:,} pairs)" if len(reasons) else ""
        raise MeasureError(f"No pair of {name} has a number{why}.")
    columns = ["lar", "sd", "probability_of_direction"]
    if texts := [column for column in columns if frame[column].dtype.kind not in "fiu"]:
        raise MeasureError(f"The column {texts[0]} of {name} holds {frame[texts[0]].dtype}. Give numbers.")
    numbers = frame[columns].to_numpy(dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise MeasureError(f"{name} has numbers that are not finite. Say in left_out why, or leave these rows out.")
    ratio, sd, certain = numbers.T
    if (abs(ratio) > _LARGEST).any() or (sd < 0).any() or (sd > _LARGEST).any() or (abs(certain - 0.5) > 0.5).any():
        raise MeasureError(
            f"{name} has an LAR or sd beyond {_LARGEST:g}, a negative sd, or a probability outside 0 to 1. Make it by "
            "bb.asymmetry.lar."
        )
    labels = [column for column in ("a", "b", "relation") if column in frame]
    if (twice := frame.duplicated(labels)).any():
        raise MeasureError(f"{name} has {' - '.join(frame.loc[twice, labels].iloc[0])} twice. Keep each pair once.")
    return frame


def forward_probability(frame: "pd.DataFrame") -> NDArray[np.floating]:
    """Return the probability that LAR is above 0: half where LAR is 0 without error."""
    certain = frame["probability_of_direction"].to_numpy(dtype=np.float64)
    ratio = frame["lar"].to_numpy(dtype=np.float64)
    found: Floats = np.where(ratio > 0, certain, np.where(ratio < 0, 1 - certain, 0.5))
    return found
