"""What a posterior predictive check found wrong, in plain English."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.errors import name_some
from bayesbias.reports.checks.replicated_tables import ALL

if TYPE_CHECKING:
    import pandas as pd

# A replicated value that is less likely than this, on either side, tells against the model.
_TAIL = 0.0015
# Single pairs that weigh much are no fault of a model; this share of all of them is one of the check.
_HIGH_SHARE = 0.01
# Shares of pairs inside an interval: so many standard errors, and so many points, away from what it promises.
_ERRORS, _POINTS = 3.0, 0.03
# Statistic -> what actual distances are, beside the model's, if theirs is smaller, and if it is larger.
_SAYINGS = {
    "mean": ("nearer on average", "farther on average"),
    "sd": ("less spread out", "more spread out"),
    "skewness": ("more left-skewed", "more right-skewed"),
    "kurtosis": ("flatter, with lighter tails", "more peaked, with heavier tails"),
    "smallest": ("reaching lower", "not reaching as low"),
    "largest": ("not reaching as high", "reaching higher"),
    "sd of attribute words": (
        "more alike from one attribute word to the next",
        "more different from one attribute word to the next",
    ),
}


def judge(
    coverage: "pd.DataFrame", statistics: "pd.DataFrame", model: dict[str, Any], convergence: list[str]
) -> list[str]:
    """Return where a model fails, one sentence each, with what to try.

    Parameters
    ----------
    coverage, statistics
        Frames of a `PosteriorCheck`.
    model
        Plain description of the model.
    convergence
        What is wrong with the fit's draws.
    """
    problems = []
    if convergence:
        problems.append(f"The sampler did not converge, so that this check is not to be relied on: {convergence[0]}")
    failed = statistics[(statistics["p_value"] < _TAIL) | (statistics["p_value"] > 1 - _TAIL)]
    for connection in statistics["connection"].unique():
        # All pairs together repeat what their connections say.
        rows = failed[(failed["connection"] == connection) & (connection != ALL)]
        said = [
            f"{_SAYINGS[row['statistic']][int(row['p_value'] < 0.5)]} ({row['statistic']} {row['observed']:.3g}, "
            f"replicated {row['low']:.3g} to {row['high']:.3g})"
            for row in rows.to_dict("records")
        ]
        if said:
            problems.append(f"{connection}: beside those that the model makes, actual distances are {'; '.join(said)}.")
        # In sample a model with many parameters holds more than it promises: what counts is pairs not seen.
        problems += [
            f"{'all pairs' if connection == ALL else connection}: {here[f'loo_inside_{share}']:.1%} of actual "
            f"distances are inside the {share}% interval that is predicted from the other pairs, "
            f"{'more' if here[f'loo_inside_{share}'] > share / 100 else 'fewer'} than it says."
            # Of a large table, the pairs drawn at random may hold none of a rare connection.
            for here in coverage[coverage["connection"] == connection].to_dict("records")
            for share in (89, 50)
            if abs(here[f"loo_inside_{share}"] - share / 100) > max(_POINTS, _ERRORS * here[f"se_{share}"])
        ]
    looked = len(statistics[statistics["connection"] != ALL])
    if (failed["connection"] != ALL).any():
        problems.append(
            f"({looked} statistics were judged; if the model were right, chance would flag one of them in about "
            f"{-np.expm1(looked * np.log1p(-2 * _TAIL)):.0%} of such checks.)"
        )
    if (high := int(coverage.iloc[0]["k_high"])) > _HIGH_SHARE * coverage.iloc[0]["pairs"]:
        problems.append(
            f"Pairs whose prediction from the others is unreliable, because they weigh much: {high:,} (Pareto k above "
            "0.7)."
        )
    return problems + _advice(failed[failed["connection"] != ALL], model["switches"])


def _advice(failed: "pd.DataFrame", switches: dict[str, str]) -> list[str]:
    advice = []
    statistics = set(failed["statistic"])
    crossed, normal = switches["attribute_effects"] != "none", switches["likelihood"] == "normal"
    if "sd of attribute words" in statistics and not crossed:
        unlike = failed.loc[failed["statistic"] == "sd of attribute words", "connection"]
        advice.append(
            f"Attribute words differ more than a model without attribute effects allows ({name_some(unlike)}), so that "
            f"its intervals are too narrow: use the model {'crossed_per_list' if normal else 'crossed_robust'!r}."
        )
    shape = statistics & {"skewness", "kurtosis", "smallest", "largest"}
    if shape and normal:
        names = dict.fromkeys(failed.loc[failed["statistic"].isin(shape), "connection"])
        robust = "crossed_robust" if crossed else "robust"
        advice.append(
            f"The Normal likelihood does not have the shape of these distances ({name_some(names)}). Means of many "
            "pairs hardly suffer from it, predictions of single pairs do. See whether the conclusions stand under a "
            f"Student t likelihood, which allows for heavier tails but not for skewness: the model {robust!r}."
        )
    elif "skewness" in statistics:
        advice.append("No bundled model has a skewed likelihood. Do not use it to predict single extreme pairs.")
    if "mean" in statistics and not normal:
        skewed = failed.loc[failed["statistic"] == "mean", "connection"]
        advice.append(
            f"Where distances are skewed ({name_some(skewed)}), a Student t likelihood follows the bulk of them: its "
            "connection_mean is not their mean there. Compare contrasts with those of a Normal likelihood."
        )
    return advice
