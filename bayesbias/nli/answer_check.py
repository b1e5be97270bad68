"""Posterior predictive check of the crossed model of scores, and its sensitivity to the priors."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_choice, check_count, resolve_seed
from bayesbias.base.number_text import digits_text
from bayesbias.base.results import Contents, Result, contents_of
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.estimates.frames import frame_of_draws
from bayesbias.nli.answer_draws import CrossedDraws, Premises, draw
from bayesbias.nli.answer_posterior import SCORES, TITLES, layout_of
from bayesbias.nli.model_scores import crossed, scored

if TYPE_CHECKING:
    import pandas as pd

PRIOR_SCALES = (0.25, 1.0, 4.0)
"""Scales of the half-Cauchy priors that are compared; the model's scale is 1."""

_DRAWS = 4000
_TAIL = (1 - HDI_PROB) / 2
_FALSE = 1 - HDI_PROB  # share of replicated test sets in which any statistic may be reported as a problem
_MOVED = 0.25  # share of an interval's half-width by which a prior may move its ends
_ADVICE = {
    "sd of word means": "Words vary in a way that the model does not describe: draw no conclusions about words like "
    "these.",
    "skewness": "Scores are more skewed than a Normal: means are reliable, predictions of single scores are not.",
    "kurtosis": "Some pairs lie farther out than a Normal allows: look at the largest scores.",
    "ratio of the words' sds": "Some words vary more between premises than others: trust the intervals of means, not "
    "those of single words.",
    "smallest": "The model predicts scores below the possible range: analyse the probability of a label as well.",
    "largest": "The model predicts scores above the possible range: analyse the probability of a label as well.",
    "sd of the groups' contrast over premises": "Premises shift the words of a group together. The contrast's interval "
    "takes this into account; those of single words do not.",
}


@dataclass(frozen=True, eq=False, repr=False)
class InferenceCheck(Result):
    """Statistics of observed scores compared with those of test sets replicated from the crossed model.

    Parameters
    ----------
    score
        Name of the modelled score.
    statistics
        One row per statistic: its `observed` value, the interval `low` to `high` of 89 % of the replicated tables, and
        `p_value`, the share of replicated tables with a larger value.
    priors
        One row per scale of the priors: `prior_scale`, and `mean`, `sd`, `hdi_low`, `hdi_high` of the contrast of the
        groups, for words like these, or for these words where there are too few.
    problems
        Statements of what does not fit and what to do; empty if there is no problem. A statistic is a problem if it is
        so extreme that at most a share of 11 % / (number of statistics) of the replicated tables is as far off.
    samples, random_seed
        The arguments of `check`.
    """

    score: str
    statistics: "pd.DataFrame"
    priors: "pd.DataFrame"
    problems: tuple[Statement, ...]
    samples: int
    random_seed: int

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        inside = self.statistics["observed"].between(self.statistics["low"], self.statistics["high"])
        text = (
            f"{TITLES[self.score]}: {int(inside.sum())} of {len(inside)} statistics of the scores lie inside the "
            f"interval of {HDI_PROB:.0%} of {self.samples} replicated test sets."
        )
        statements = [
            Statement("about", f"{text[0].upper()}{text[1:]}", {"inside": int(inside.sum()), "of": len(inside)})
        ]
        if not self.problems:
            statements.append(
                Statement("no problem", "No problems were found; the priors make no practical difference.")
            )
        return StatementList("", tuple(statements), bulleted=False), StatementList("Problems", self.problems)

    @cached_property
    def contents(self) -> Contents:
        """Statistics of the scores beside replicated ones, and the sensitivity to the priors."""
        return contents_of(
            self,
            title="Does the model of scores fit?",
            captions={
                "statistics": f"Statistics of the scores, and {HDI_PROB:.0%} of their replicated values",
                "priors": "The contrast of the groups under other priors",
            },
            differences=("priors",),
        )


def check(
    scores: "pd.DataFrame",
    score: str = "error",
    *,
    groups: tuple[str, str] | None = None,
    samples: int = 200,
    random_seed: int | None = None,
) -> InferenceCheck:
    """Return a check of the model of `posterior`: replicated test sets, and the contrast under other priors.

    Parameters
    ----------
    scores, score, groups
        As for `bb.nli.posterior`.
    samples
        Number of replicated test sets.
    random_seed
        Seed of the draws. If None, a seed is drawn and recorded in the result.

    Returns
    -------
    InferenceCheck
        When printed, it states what fits, what does not, and what to do about it.

    Raises
    ------
    MeasureError
        As for `bb.nli.posterior`.

    Notes
    -----
    Replicated words are new words of their groups, where there are enough words to estimate how they vary; verbs,
    objects and premises are new as well. The priors of means and of the residual variance are flat, so a prior
    predictive check is impossible. `priors` shows the sensitivity to the other priors instead: the contrast under
    half-Cauchy priors with a fourth and with four times the scale.

    The check usually detects a word that is noisier than others, skewed or heavy-tailed noise, premises that shift
    whole groups, and scores near a bound; with few samples it reports more false problems. It says little about how
    words vary: one outlier among a few words looks like a large variance between words, which makes the intervals of
    words like these wide.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit")
    >>> def model(premises, hypotheses):
    ...     length = np.array([len(text) for text in hypotheses]) / 60
    ...     return np.column_stack([1 - length, length, np.zeros(len(length))])
    >>> result = bb.nli.check(bb.nli.score(pairs, model), random_seed=1)
    >>> result.priors[["prior_scale", "mean"]].round(2)
       prior_scale  mean
    0         0.25  0.01
    1         1.00  0.01
    2         4.00  0.01
    """
    seed = resolve_seed(random_seed)
    check_choice("score", score, SCORES)
    check_count("samples", samples, least=50, most=10_000)
    table = crossed(scores)
    _, names, layout = layout_of(table, groups)
    group, codes, premises = layout.group, layout.pair, layout.premises
    values = scored(table, score)
    rng = np.random.default_rng(seed)
    posterior_draws = draw(values, group, premises, samples, rng)
    replicated = [
        _statistics(_replicate(posterior_draws, draw_index, group, premises, rng), group, codes)
        for draw_index in range(samples)
    ]
    statistics = _compared(_statistics(values, group, codes), replicated)
    contrasts = []
    for scale in PRIOR_SCALES:
        drawn = draw(values, group, premises, _DRAWS, rng, prior_scale=scale)
        sides = drawn.groups
        if sides is None:
            sides = np.stack([drawn.words[:, group == g].mean(axis=1) for g in range(len(names))], axis=1)
        contrasts.append(sides[:, codes[0]] - sides[:, codes[1]])
    priors = frame_of_draws(np.stack(contrasts, axis=1), {"prior_scale": list(map(str, PRIOR_SCALES))}, HDI_PROB)
    priors["prior_scale"] = PRIOR_SCALES
    return InferenceCheck(score, statistics, priors, _problems(statistics, priors), samples, seed)


def _replicate(
    draws: CrossedDraws, draw_index: int, group: NDArray[np.intp], premises: Premises, rng: np.random.Generator
) -> Floats:
    """Return scores (words, premises) that the model generates from one draw of its parameters."""
    words = len(group)
    if draws.groups is None or draws.word_variance is None:
        means = draws.words[draw_index]
    else:
        means = draws.groups[draw_index][group] + np.sqrt(draws.word_variance[draw_index]) * rng.standard_normal(words)
    effects = np.zeros((words, len(premises.codes[0])))
    for kind, code in enumerate(premises.codes):
        levels = len(premises.counts[kind])
        effects += np.sqrt(draws.shared[draw_index, kind]) * rng.standard_normal(levels)[code]
        effects += np.sqrt(draws.specific[draw_index, kind]) * rng.standard_normal((words, levels))[:, code]
    effects += np.sqrt(draws.shared[draw_index, 2]) * rng.standard_normal(effects.shape[1])
    scores: Floats = (
        means[:, None] + effects + np.sqrt(draws.specific[draw_index, 2]) * rng.standard_normal(effects.shape)
    )
    return scores


def _statistics(values: Floats, group: NDArray[np.intp], pair: tuple[int, int]) -> dict[str, float]:
    from scipy.stats import kurtosis, skew

    means = values.mean(axis=1)
    counts = np.bincount(group)
    within = means - (np.bincount(group, means) / counts)[group]
    left = values - means[:, None]
    sds = left.std(axis=1)
    contrast = values[group == pair[0]].mean(axis=0) - values[group == pair[1]].mean(axis=0)
    varies = bool(sds.min() > 0)
    statistics = {
        "skewness": float(skew(left.ravel())) if varies else 0.0,
        "kurtosis": float(kurtosis(left.ravel())) if varies else 0.0,
        "ratio of the words' sds": float(sds.max() / sds.min()) if varies else 1.0,
        "smallest": float(values.min()),
        "largest": float(values.max()),
        "sd of the groups' contrast over premises": float(contrast.std()),
    }
    if len(group) > len(counts):
        statistics["sd of word means"] = float(np.sqrt((within**2).sum() / (len(group) - len(counts))))
    return statistics


def _compared(observed: dict[str, float], replicated: list[dict[str, float]]) -> "pd.DataFrame":
    import pandas as pd

    rows = []
    for name, value in observed.items():
        values = np.array([replicate[name] for replicate in replicated])
        low, high = np.quantile(values, [_TAIL, 1 - _TAIL])
        row = {"statistic": name, "observed": value, "low": low, "high": high}
        rows.append({**row, "p_value": float((values > value).mean())})
    return pd.DataFrame(rows)


def _problems(statistics: "pd.DataFrame", priors: "pd.DataFrame") -> tuple[Statement, ...]:
    problems = []
    for row in rows_of(statistics):
        # With many statistics, some lie outside their intervals by chance.
        likely = 2 * min(row["p_value"], 1 - row["p_value"]) > _FALSE / len(statistics)
        if likely or row["low"] <= row["observed"] <= row["high"]:
            continue
        observed, low, high = (digits_text(row[name]) for name in ("observed", "low", "high"))
        values = f"{observed}, replicated {low} to {high}"
        problems.append(Statement(row["statistic"], f"{row['statistic']}: {values}. {_ADVICE[row['statistic']]}", row))
    middle = rows_of(priors)[PRIOR_SCALES.index(1.0)]
    half = (middle["hdi_high"] - middle["hdi_low"]) / 2
    for row in rows_of(priors):
        moved = max(abs(row[end] - middle[end]) for end in ("hdi_low", "hdi_high"))
        if moved > _MOVED * half > 0:
            text = (
                f"With {row['prior_scale']:g} times the scale of the priors, the contrast is {row['hdi_low']:+z.3f} to "
                f"{row['hdi_high']:+z.3f} instead of {middle['hdi_low']:+z.3f} to {middle['hdi_high']:+z.3f}. There "
                "are too few premises to estimate how much they vary. Report both intervals, or add verbs and objects."
            )
            problems.append(Statement("prior", text, row))
    return tuple(problems)
