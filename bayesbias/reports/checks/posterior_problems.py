"""Problems that a posterior predictive check found: statements with their numbers and what to try."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import counted, share_text
from bayesbias.base.statements import Statement, rows_of
from bayesbias.errors import name_some
from bayesbias.reports.checks.joint_statistics import JOINT
from bayesbias.reports.checks.replicated_tables import ALL

if TYPE_CHECKING:
    import pandas as pd

# An observed statistic with a tail probability below this, on either side, speaks against the model.
TAIL = 0.0015
_OUTLYING = "outlying attribute word"
# A few influential pairs are no fault of a model; above this share of all pairs, the check itself is unreliable.
_HIGH_SHARE = 0.01
# Coverage is wrong if it is farther from nominal than both this many standard errors and this difference of shares.
_ERRORS, _POINTS = 3.0, 0.03
# Statistic -> how actual distances differ from the model's if their statistic is smaller, and if it is larger.
_DIFFERENCES = {
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
    "outlying attribute word": (
        "less affected by one outlying attribute word",
        "more affected by one outlying attribute word",
    ),
    "share of a common factor": (
        "less dominated by one pattern over words",
        "more dominated by one pattern over words",
    ),
    "largest residual correlation": (
        "less correlated between any two protected words",
        "more correlated between some two protected words",
    ),
    "sd of attribute words by group": (
        "more alike between protected groups, attribute word by attribute word",
        "more different between protected groups, attribute word by attribute word",
    ),
    "sd of the words' gaps": ("more alike in the words' gaps", "more different in the words' gaps"),
    "correlation of associated and different means": (
        "less correlated in words' distances to associated and different words",
        "more correlated in words' distances to associated and different words",
    ),
}


def posterior_problems(
    coverage: "pd.DataFrame", statistics: "pd.DataFrame", model: dict[str, Any], convergence: list[str]
) -> tuple[Statement, ...]:
    """Return where a model fails, and what to try; `convergence` lists the problems of the draws.

    Statements have these kinds: ``"convergence"``; ``"statistics"`` (`connection`, and the rows of `statistics` that
    the model fails to replicate) and ``"chance"`` (the probability that chance flags one); ``"coverage"`` (a row of
    `coverage` and the `interval`, 0.89 or 0.5); ``"influential pairs"``; ``"advice"`` (the `connections` concerned, and
    the `model` to try).
    """
    problems = []
    if convergence:
        text = f"Do not rely on this check: the sampler did not converge. {convergence[0]}"
        problems.append(Statement("convergence", text, {"problems": convergence}))
    # Statistics of all pairs repeat those of the connections.
    judged = statistics[statistics["connection"] != ALL]
    failed = judged[(judged["p_value"] < TAIL) | (judged["p_value"] > 1 - TAIL)]
    for connection in statistics["connection"].unique():
        rows = rows_of(failed[failed["connection"] == connection])
        if rows:
            problems.append(_statistics_problem(str(connection), rows))
        # In a large table, the pairs drawn at random may include none of a rare connection.
        for row in rows_of(coverage[coverage["connection"] == connection]):
            problems += _coverage_problems(row)
    if len(failed):
        chance = float(-np.expm1(len(judged) * np.log1p(-2 * TAIL)))
        text = (
            f"{len(judged)} statistics were judged; if the model were right, chance would flag at least one of them in "
            f"about {share_text(chance)} of such checks."
        )
        problems.append(Statement("chance", text, {"judged": len(judged), "probability": chance}))
    every = rows_of(coverage)[0]
    if every["k_high"] > _HIGH_SHARE * every["pairs"]:
        text = (
            f"The prediction from the other pairs is unreliable for {counted(every['k_high'], 'influential pair')} "
            "(Pareto k above 0.7). Look at them: column pareto_k of pairs shows which they are."
        )
        problems.append(Statement("influential pairs", text, every))
    return (*problems, *_advice(failed, model["switches"]))


def _statistics_problem(connection: str, rows: list[dict[str, Any]]) -> Statement:
    differences = [
        f"{_DIFFERENCES[row['statistic']][int(row['p_value'] < 0.5)]} ({row['statistic']} {row['observed']:.3g}, "
        f"replicated {row['low']:.3g} to {row['high']:.3g})"
        for row in rows
    ]
    text = f"{connection}: compared with those that the model predicts, actual distances are {'; '.join(differences)}."
    return Statement("statistics", text, {"connection": connection, "statistics": rows})


def _coverage_problems(row: dict[str, Any]) -> Iterator[Statement]:
    """Yield a statement for each interval that holds too many or too few pairs.

    Pairs that were left out are judged: in sample, the intervals of a model with many parameters hold too many.
    """
    for percent in (89, 50):
        share, interval = row[f"loo_inside_{percent}"], percent / 100
        if abs(share - interval) > max(_POINTS, _ERRORS * row[f"se_{percent}"]):
            text = (
                f"{'all pairs' if row['connection'] == ALL else row['connection']}: {share_text(share)} of actual "
                f"distances are inside the {percent}% interval predicted from the other pairs, "
                f"{'more' if share > interval else 'fewer'} than the model expects."
            )
            yield Statement("coverage", text, {"interval": interval, **row})


def _advice(failed: "pd.DataFrame", switches: dict[str, str]) -> Iterator[Statement]:
    def connections(*statistics: str) -> list[str]:
        return list(dict.fromkeys(failed.loc[failed["statistic"].isin(statistics), "connection"].astype(str)))

    crossed, normal = switches["attribute_effects"] != "none", switches["likelihood"] == "normal"
    multivariate = switches["attribute_effects"] == "covariance"
    joint = failed["connection"] == JOINT
    if not multivariate and (names := failed.loc[joint & (failed["statistic"] != _OUTLYING), "statistic"].tolist()):
        text = (
            f"The model does not capture how words and connections vary together ({name_some(names)}), so its "
            "contrasts are too certain or too wide: use the model 'multivariate'."
        )
        yield Statement("advice", text, {"statistics": names, "model": "multivariate"})
    if normal and (failed.loc[joint, "statistic"] == _OUTLYING).any():
        text = (
            "At least one attribute word is more extreme than the Normal likelihood allows: check whether the "
            "conclusions hold under the model 'multivariate_robust', and without the word (sensitivity)."
        )
        yield Statement("advice", text, {"statistics": [_OUTLYING], "model": "multivariate_robust"})
    if not crossed and (unlike := connections("sd of attribute words")):
        text = (
            f"Attribute words differ more than a model without attribute effects allows ({name_some(unlike)}), so its "
            "intervals are too narrow: use the model 'multivariate'."
        )
        yield Statement("advice", text, {"connections": unlike, "model": "multivariate"})
    if normal and (shaped := connections("skewness", "kurtosis", "smallest", "largest")):
        text = (
            f"The Normal likelihood does not match the shape of these distances ({name_some(shaped)}). This hardly "
            "affects means of many pairs, but it does affect predictions of single pairs. Check whether the "
            "conclusions hold under a Student t likelihood, which allows for heavier tails but not for skewness: the "
            "model 'multivariate_robust'."
        )
        yield Statement("advice", text, {"connections": shaped, "model": "multivariate_robust"})
    if not normal and (skewed := connections("skewness")):
        text = "No bundled model has a skewed likelihood. Do not use this model to predict single extreme pairs."
        yield Statement("advice", text, {"connections": skewed})
    if not normal and (shifted := connections("mean")):
        text = (
            f"Where distances are skewed ({name_some(shifted)}), a Student t likelihood follows the bulk of them, so "
            "its connection_mean is not their mean. Compare its contrasts with those of a Normal likelihood."
        )
        yield Statement("advice", text, {"connections": shifted})
