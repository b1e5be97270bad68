"""`cam_difference`: how much more one source agrees with people than another, on the same pairs."""

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from bayesbias.asymmetry.ratios.agreement import joined, relation_rows
from bayesbias.asymmetry.ratios.pair_statistics import (
    Codes,
    dyadic_variance,
    effective_words,
    spearman_influences,
    word_codes,
)
from bayesbias.base.checks import HDI_PROB, check_probability
from bayesbias.errors import MeasureError


def cam_difference(
    truth: pd.DataFrame,
    first: pd.DataFrame,
    second: pd.DataFrame,
    *,
    relations: object = None,
    hdi_prob: float = HDI_PROB,
) -> pd.DataFrame:
    """Return the difference of two sources' correlations on asymmetry (CAM) with people, on the pairs that all have.

    Parameters
    ----------
    truth
        From `lar` of evocation data.
    first, second
        From `lar` of the two sources. Pairs that one of the three lacks are not used.
    relations
        Names of the relations of `truth` to use; None uses all.
    hdi_prob
        Probability inside the intervals.

    Returns
    -------
    pandas.DataFrame
        One row per relation with at least ten pairs, then ``SA`` and ``SR`` as in `cam`: `relation`, `pairs`,
        `cam_first`, `cam_second`, their `difference` (first minus second), `sd`, `hdi_low`, `hdi_high`,
        `probability_of_direction`.

    Raises
    ------
    MeasureError
        If the three have fewer than ten pairs in common, or the LARs of one do not vary.

    Notes
    -----
    Both correlations are of the same pairs and the same people, so their errors are correlated, and the interval of the
    difference is narrower than those of two separate CAMs suggest. It is Student's t from the difference of the
    influences of each pair, with the effective number of words minus 1 degrees of freedom, as in `cam`.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 9, for the common pairs. The interval is ours.

    Examples
    --------
    >>> vectors = [bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2, 3)]
    >>> study = bb.load_study("weat7")
    >>> pairs = [(a, b) for a in study.protected_words[:8] for b in study.attribute_words[:8]]
    >>> frames = [bb.asymmetry.lar(bb.asymmetry.static(path), pairs) for path in vectors]
    >>> bb.asymmetry.cam_difference(*frames)[["relation", "pairs", "difference"]].round(3).values.tolist()
    [['all pairs', 64, -0.002]]
    """
    check_probability("hdi_prob", hdi_prob)
    with_first = joined(truth, first).rename(columns={"lar_2": "lar_1", "sd_2": "sd_1"})
    frame = joined(with_first, second)
    for name, column in (("truth", "lar"), ("first", "lar_1"), ("second", "lar_2")):
        if frame[column].nunique() < 2:
            raise MeasureError(f"The LARs of {name} are all {frame[column].iloc[0]:g}. Give sources whose LARs differ.")
    codes = word_codes(frame["a"].tolist(), frame["b"].tolist())
    return pd.DataFrame(
        [_row(frame, codes, groups, name, hdi_prob) for name, groups in relation_rows(frame, relations)]
    )


def _row(
    frame: pd.DataFrame, codes: tuple[Codes, Codes], groups: list[tuple[str, Codes]], name: str, hdi_prob: float
) -> dict[str, object]:
    """Return one row: the mean over groups of pairs, weighted by their sizes."""
    total = sum(len(places) for _, places in groups)
    correlations = np.zeros(2)
    influences = []
    for _, places in groups:
        people, *sources = (frame[column].to_numpy(dtype=np.float64)[places] for column in ("lar", "lar_1", "lar_2"))
        (one, of_one), (other, of_other) = (spearman_influences(people, source) for source in sources)
        correlations += len(places) / total * np.array([one, other])
        influences.append((of_one - of_other) / total)
    rows = np.concatenate([places for _, places in groups])
    sides = codes[0][rows], codes[1][rows]
    freedom = max(effective_words(*sides) - 1, 1.0)
    variance = dyadic_variance(np.concatenate(influences), *sides) * (freedom + 1) / freedom
    sd = float(np.sqrt(variance))
    difference = float(correlations[0] - correlations[1])
    half = float(stdtrit(freedom, (1 + hdi_prob) / 2)) * sd
    return {
        "relation": name,
        "pairs": total,
        "cam_first": correlations[0],
        "cam_second": correlations[1],
        "difference": difference,
        "sd": sd,
        "hdi_low": difference - half,
        "hdi_high": difference + half,
        "probability_of_direction": float(stdtr(freedom, abs(difference) / sd))
        if sd
        else 0.5 + 0.5 * (difference != 0),
    }
