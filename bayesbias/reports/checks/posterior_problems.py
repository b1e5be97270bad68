"""What a posterior predictive check found wrong: a statement each, with its numbers and what to try."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.statements import Statement, rows_of, share_text
from bayesbias.errors import name_some
from bayesbias.reports.checks.joint_statistics import JOINT
from bayesbias.reports.checks.replicated_tables import ALL

if TYPE_CHECKING:
    import pandas as pd

# A replicated value that is less likely than this, on either side, speaks against the model.
TAIL = 0.0015
_OUTLYING = "outlying attribute word"
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
    "outlying attribute word": ("without words as far off", "with a word that is farther off than the others"),
    "share of a common factor": ("less of one pattern over words", "more of one pattern over words"),
    "largest residual correlation": (
        "less alike between any two protected words",
        "more alike between some two protected words",
    ),
    "sd of attribute words by group": (
        "leaning less to protected groups, attribute word by attribute word",
        "leaning more to protected groups, attribute word by attribute word",
    ),
    "sd of the words' gaps": ("more alike in the words' gaps", "more different in the words' gaps"),
    "correlation of associated and different means": (
        "less alike in words' distances to associated and different words",
        "more alike in words' distances to associated and different words",
    ),
}


def posterior_problems(
    coverage: "pd.DataFrame", statistics: "pd.DataFrame", model: dict[str, Any], convergence: list[str]
) -> tuple[Statement, ...]:
    """Return where a model fails, and what to try; `convergence` is what is wrong with the draws.

    Statements are of these kinds: ``"convergence"``; ``"statistics"`` (`connection`, and for each statistic that the
    model fails to replicate its row of `statistics`) and ``"chance"`` (how often chance would flag one); ``"coverage"``
    (a row of `coverage` and the `interval`, 0.89 or 0.5); ``"influential pairs"``; ``"advice"`` (the `connections` that
    it is about, and the `model` to try).
    """
    problems = []
    if convergence:
        text = f"The sampler did not converge, so that this check is not to be relied on: {convergence[0]}"
        problems.append(Statement("convergence", text, {"problems": convergence}))
    # All pairs together repeat what their connections say.
    judged = statistics[statistics["connection"] != ALL]
    failed = judged[(judged["p_value"] < TAIL) | (judged["p_value"] > 1 - TAIL)]
    for connection in statistics["connection"].unique():
        rows = rows_of(failed[failed["connection"] == connection])
        if rows:
            problems.append(_statistics_problem(str(connection), rows))
        # Of a large table, the pairs drawn at random may hold none of a rare connection.
        for row in rows_of(coverage[coverage["connection"] == connection]):
            problems += _coverage_problems(row)
    if len(failed):
        chance = float(-np.expm1(len(judged) * np.log1p(-2 * TAIL)))
        text = (
            f"{len(judged)} statistics were judged; if the model were right, chance would flag one of them in about "
            f"{share_text(chance)} of such checks."
        )
        problems.append(Statement("chance", text, {"judged": len(judged), "probability": chance}))
    every = rows_of(coverage)[0]
    if every["k_high"] > _HIGH_SHARE * every["pairs"]:
        text = (
            f"The prediction from the other pairs is unreliable for {every['k_high']:,} pairs that weigh much (Pareto "
            "k above 0.7)."
        )
        problems.append(Statement("influential pairs", text, every))
    return (*problems, *_advice(failed, model["switches"]))


def _statistics_problem(connection: str, rows: list[dict[str, Any]]) -> Statement:
    said = [
        f"{_SAYINGS[row['statistic']][int(row['p_value'] < 0.5)]} ({row['statistic']} {row['observed']:.3g}, "
        f"replicated {row['low']:.3g} to {row['high']:.3g})"
        for row in rows
    ]
    text = f"{connection}: beside those that the model makes, actual distances are {'; '.join(said)}."
    return Statement("statistics", text, {"connection": connection, "statistics": rows})


def _coverage_problems(row: dict[str, Any]) -> Iterator[Statement]:
    """Yield where pairs lie inside an interval too often or too seldom.

    In sample, a model with many parameters holds more than it promises: what counts is pairs that were not seen.
    """
    for percent in (89, 50):
        share, interval = row[f"loo_inside_{percent}"], percent / 100
        if abs(share - interval) > max(_POINTS, _ERRORS * row[f"se_{percent}"]):
            text = (
                f"{'all pairs' if row['connection'] == ALL else row['connection']}: {share_text(share)} of actual "
                f"distances are inside the {percent}% interval that is predicted from the other pairs, "
                f"{'more' if share > interval else 'fewer'} than it says."
            )
            yield Statement("coverage", text, {"interval": interval, **row})


def _advice(failed: "pd.DataFrame", switches: dict[str, str]) -> Iterator[Statement]:
    def connections(*statistics: str) -> list[str]:
        return list(dict.fromkeys(failed.loc[failed["statistic"].isin(statistics), "connection"].astype(str)))

    crossed, normal = switches["attribute_effects"] != "none", switches["likelihood"] == "normal"
    multivariate = switches["attribute_effects"] == "covariance"
    joint = failed["connection"] == JOINT
    if not multivariate and (names := failed.loc[joint & (failed["statistic"] != _OUTLYING), "statistic"].tolist()):
        model = "multivariate" if normal else "multivariate_robust"
        text = (
            f"What joins words and connections is not as the model has it ({name_some(names)}), so that its contrasts "
            f"are too sure or too wide: use the model {model!r}."
        )
        yield Statement("advice", text, {"statistics": names, "model": model})
    if normal and (failed.loc[joint, "statistic"] == _OUTLYING).any():
        text = (
            "Some attribute word lies farther off than the Normal likelihood allows: see whether the conclusions hold "
            "under the model 'multivariate_robust', and without the word (sensitivity)."
        )
        yield Statement("advice", text, {"statistics": [_OUTLYING], "model": "multivariate_robust"})
    if not crossed and (unlike := connections("sd of attribute words")):
        model = "multivariate" if normal else "multivariate_robust"
        text = (
            f"Attribute words differ more than a model without attribute effects allows ({name_some(unlike)}), so that "
            f"its intervals are too narrow: use the model {model!r}."
        )
        yield Statement("advice", text, {"connections": unlike, "model": model})
    if normal and (shaped := connections("skewness", "kurtosis", "smallest", "largest")):
        model = "crossed_robust" if crossed else "robust"
        if multivariate:
            model = "multivariate_robust"
        text = (
            f"The Normal likelihood does not have the shape of these distances ({name_some(shaped)}). Means of many "
            "pairs hardly suffer from it, predictions of single pairs do. See whether the conclusions hold under a "
            f"Student t likelihood, which allows for heavier tails but not for skewness: the model {model!r}."
        )
        yield Statement("advice", text, {"connections": shaped, "model": model})
    if not normal and (skewed := connections("skewness")):
        text = "No bundled model has a skewed likelihood. Do not use it to predict single extreme pairs."
        yield Statement("advice", text, {"connections": skewed})
    if not normal and (shifted := connections("mean")):
        text = (
            f"Where distances are skewed ({name_some(shifted)}), a Student t likelihood follows the bulk of them: its "
            "connection_mean is not their mean there. Compare contrasts with those of a Normal likelihood."
        )
        yield Statement("advice", text, {"connections": shifted})
