"""Whether the crossed model could have made the scores that it was fitted to, and what its priors decide."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_choice, check_count, resolve_seed
from bayesbias.base.statements import Rendered, Statement, StatementList, rows_of
from bayesbias.nli.answers.crossed_draws import CrossedDraws, draw
from bayesbias.nli.answers.posterior import SCORES, TITLES, estimate_frame, layout_of
from bayesbias.nli.answers.premise_components import Premises
from bayesbias.nli.test_sets.scores import crossed, scored

if TYPE_CHECKING:
    import pandas as pd

PRIOR_SCALES = (0.25, 1.0, 4.0)
"""Scales of the half-Cauchy priors that are tried; 1 is that of the model."""

_DRAWS = 4000
_TAIL = (1 - HDI_PROB) / 2
_FALSE = 1 - HDI_PROB  # share of the model's own test sets that may have a problem, over all statistics
_MOVED = 0.25  # of an interval's half-width
_ADVICE = {
    "sd of word means": "Words vary otherwise than the model has it: do not speak of words like these.",
    "skewness": "Scores are more skewed than a Normal: means are sound, single scores are not predicted.",
    "kurtosis": "Some pairs lie farther off than a Normal has them: look at the largest scores.",
    "ratio of the words' sds": "Some words vary more between premises than others: trust the intervals of means, "
    "and not those of single words.",
    "smallest": "The model has scores below what there can be: ask about the probability of a label besides.",
    "largest": "The model has scores above what there can be: ask about the probability of a label besides.",
    "sd of the groups' gap over premises": "Premises move the words of a group together. The contrast's interval "
    "heeds that; those of single words do not.",
}


@dataclass(frozen=True, eq=False, repr=False)
class InferenceCheck(Rendered):
    """What the crossed model of a test set's scores would make of it, beside what there is.

    Parameters
    ----------
    score
        What was modelled.
    statistics
        One row a statistic: its `observed` value, `low` to `high`, which 89 % of the replicated tables have, and
        `p_value`, the share of them whose value is larger.
    priors
        One row a scale of the priors: `prior_scale`, and `mean`, `sd`, `hdi_low`, `hdi_high` of the contrast of the
        groups; of words like these, or of these words where there are too few.
    problems
        Statements of what does not fit, and what to do; empty if nothing was found. A statistic is named if at most
        11 % over the number of statistics of the replicated tables are as far off.
    samples, random_seed
        As they were given.
    """

    score: str
    statistics: "pd.DataFrame"
    priors: "pd.DataFrame"
    problems: tuple[Statement, ...]
    samples: int
    random_seed: int

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """What was looked at, and the problems."""
        inside = self.statistics["observed"].between(self.statistics["low"], self.statistics["high"])
        text = (
            f"{TITLES[self.score]}: {int(inside.sum())} of {len(inside)} statistics of the scores lie where "
            f"{HDI_PROB:.0%} of {self.samples} replicated test sets have them."
        )
        said = [Statement("about", f"{text[0].upper()}{text[1:]}", {"inside": int(inside.sum()), "of": len(inside)})]
        if not self.problems:
            said.append(Statement("no problem", "No problem was found, and the priors decide nothing that matters."))
        return StatementList("", tuple(said), bulleted=False), *(
            [StatementList("Problems", self.problems)] if self.problems else []
        )


def check(
    scores: "pd.DataFrame",
    score: str = "error",
    *,
    groups: tuple[str, str] | None = None,
    samples: int = 200,
    random_seed: int | None = None,
) -> InferenceCheck:
    """Check the model of `posterior` against the scores: replicated test sets, and other priors.

    Parameters
    ----------
    scores, score, groups
        As for `bb.nli.posterior`.
    samples
        How many test sets are replicated.
    random_seed
        Seed of the draws. If it is left out, one is drawn and kept in the result.

    Returns
    -------
    InferenceCheck
        Printed, what fits and what does not, and what to do about it.

    Raises
    ------
    MeasureError
        As `bb.nli.posterior`.

    Notes
    -----
    Replicated words are new ones of their groups, where there are enough words to say how they vary; verbs, objects and
    premises are new too. The priors of means and of what is left are flat, so that there is nothing to draw from them
    before the scores are seen. What can be asked of a prior is what it decides: `priors` has the contrast with
    half-Cauchy priors of a fourth and of four times the scale.

    A word that is noisier than others, noise that is skewed or has heavy tails, premises that move groups and scores
    near a bound are mostly seen; with few samples there are more false problems. How words vary is hardly checked: of
    a few words, one that lies far off looks like words that vary much, and makes the intervals of words like these
    wide.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit")
    >>> def model(premises, hypotheses):
    ...     length = np.array([len(text) for text in hypotheses]) / 60
    ...     return np.column_stack([1 - length, length, np.zeros(len(length))])
    >>> found = bb.nli.check(bb.nli.score(pairs, model), random_seed=1)
    >>> found.priors[["prior_scale", "mean"]].round(2)
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
    found = draw(values, group, premises, samples, rng)
    replicated = [_statistics(_replicate(found, at, group, premises, rng), group, codes) for at in range(samples)]
    statistics = _compared(_statistics(values, group, codes), replicated)
    contrasts = []
    for scale in PRIOR_SCALES:
        drawn = draw(values, group, premises, _DRAWS, rng, prior_scale=scale)
        sides = drawn.groups
        if sides is None:
            sides = np.stack([drawn.words[:, group == g].mean(axis=1) for g in range(len(names))], axis=1)
        contrasts.append(sides[:, codes[0]] - sides[:, codes[1]])
    priors = estimate_frame(np.stack(contrasts, axis=1), {"prior_scale": list(map(str, PRIOR_SCALES))}, HDI_PROB)
    priors["prior_scale"] = PRIOR_SCALES
    return InferenceCheck(score, statistics, priors, _problems(statistics, priors), samples, seed)


def _replicate(
    found: CrossedDraws, at: int, group: NDArray[np.intp], premises: Premises, rng: np.random.Generator
) -> Floats:
    """Return scores (words, premises) as the model makes them, with one draw of its parameters."""
    words = len(group)
    if found.groups is None or found.word_variance is None:
        means = found.words[at]
    else:
        means = found.groups[at][group] + np.sqrt(found.word_variance[at]) * rng.standard_normal(words)
    effects = np.zeros((words, len(premises.codes[0])))
    for kind, code in enumerate(premises.codes):
        levels = len(premises.counts[kind])
        effects += np.sqrt(found.shared[at, kind]) * rng.standard_normal(levels)[code]
        effects += np.sqrt(found.own[at, kind]) * rng.standard_normal((words, levels))[:, code]
    effects += np.sqrt(found.shared[at, 2]) * rng.standard_normal(effects.shape[1])
    made: Floats = means[:, None] + effects + np.sqrt(found.own[at, 2]) * rng.standard_normal(effects.shape)
    return made


def _statistics(values: Floats, group: NDArray[np.intp], pair: tuple[int, int]) -> dict[str, float]:
    from scipy.stats import kurtosis, skew

    means = values.mean(axis=1)
    counts = np.bincount(group)
    within = means - (np.bincount(group, means) / counts)[group]
    left = values - means[:, None]
    sds = left.std(axis=1)
    gap = values[group == pair[0]].mean(axis=0) - values[group == pair[1]].mean(axis=0)
    varies = bool(sds.min() > 0)
    found = {
        "skewness": float(skew(left.ravel())) if varies else 0.0,
        "kurtosis": float(kurtosis(left.ravel())) if varies else 0.0,
        "ratio of the words' sds": float(sds.max() / sds.min()) if varies else 1.0,
        "smallest": float(values.min()),
        "largest": float(values.max()),
        "sd of the groups' gap over premises": float(gap.std()),
    }
    if len(group) > len(counts):
        found["sd of word means"] = float(np.sqrt((within**2).sum() / (len(group) - len(counts))))
    return found


def _compared(observed: dict[str, float], replicated: list[dict[str, float]]) -> "pd.DataFrame":
    import pandas as pd

    rows = []
    for name, value in observed.items():
        values = np.array([each[name] for each in replicated])
        low, high = np.quantile(values, [_TAIL, 1 - _TAIL])
        row = {"statistic": name, "observed": value, "low": low, "high": high}
        rows.append({**row, "p_value": float((values > value).mean())})
    return pd.DataFrame(rows)


def _problems(statistics: "pd.DataFrame", priors: "pd.DataFrame") -> tuple[Statement, ...]:
    found = []
    for row in rows_of(statistics):
        # Of many statistics some lie outside their intervals by chance.
        likely = 2 * min(row["p_value"], 1 - row["p_value"]) > _FALSE / len(statistics)
        if likely or row["low"] <= row["observed"] <= row["high"]:
            continue
        where = f"{row['observed']:.3g}, replicated {row['low']:.3g} to {row['high']:.3g}"
        found.append(Statement(row["statistic"], f"{row['statistic']}: {where}. {_ADVICE[row['statistic']]}", row))
    middle = rows_of(priors)[PRIOR_SCALES.index(1.0)]
    half = (middle["hdi_high"] - middle["hdi_low"]) / 2
    for row in rows_of(priors):
        moved = max(abs(row[end] - middle[end]) for end in ("hdi_low", "hdi_high"))
        if moved > _MOVED * half > 0:
            text = (
                f"With priors of {row['prior_scale']:g} times the scale the contrast is {row['hdi_low']:+.3f} to "
                f"{row['hdi_high']:+.3f} in place of {middle['hdi_low']:+.3f} to {middle['hdi_high']:+.3f}: the "
                "premises are too few to say how much they vary. Report both, or ask more verbs and objects."
            )
            found.append(Statement("prior", text, row))
    return tuple(found)
