"""The rule of a gate: the outcome of a question by a region of practical equivalence and its answer in a baseline."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayesbias.audits.audit_frame import CONTEXTS
from bayesbias.audits.coherence import COHERENCE, MOST_ALIKE, Coherence, remedy, why_not_comparable
from bayesbias.audits.gate_files import Baseline, Earlier, probability_worse
from bayesbias.base.arrays import Floats
from bayesbias.base.exit_codes import FAIL, INCOMPARABLE, PASS, UNANSWERED, UNDECIDED
from bayesbias.base.number_text import exact_text, interval_text, probability_text, signed_text
from bayesbias.estimates.intervals import BORDERLINE
from bayesbias.models.numerics.contrast_estimate import Interval, draws_interval
from bayesbias.models.numerics.diagnostics import RHAT_MAX
from bayesbias.reports.plans.record import ASKED, AskedQuestion, Question, Region

_NO_DIVISOR = (
    "no two lists have several words each, or their numbers do not vary: there is no standard deviation of single "
    "pairs to standardise by. Give longer lists"
)
WIDEST = 1.25
"""Largest ratio of a posterior sd to that of the baseline with which an interval that reaches farther can pass."""


def decided(
    row: Mapping[str, Any], draws: Floats, region: Region, hdi_prob: float, baseline: Baseline | None
) -> dict[str, Any]:
    """Return the outcome of a question with its numbers and its reason.

    A question with a region has the `scale` of its contrasts as a share of those of the baseline.
    """
    if "error" in row:
        return {"outcome": UNANSWERED, "compared_by": "", "reason": row["error"]}
    before, beside = compared_answer(row, baseline)
    coherence = Coherence(*(row[name] for name in COHERENCE))
    earlier_coherence = None if before is None or row.get("is_table") else before.coherence
    divisor = _smallest_sd(row, before) if row.get("is_table") else coherence.coherence
    if row.get("is_table"):
        why = _NO_DIVISOR if region.standardised and np.isnan(divisor) else ""
    else:
        why = why_not_comparable(coherence, earlier_coherence, standardised=region.standardised)
    if why:
        numbers = {"sd": float(draws.std(ddof=1)), "compared_by": ""}
        return {"outcome": INCOMPARABLE, "reason": f"{why.rstrip('.')}{beside}.", **numbers}
    scale = 1.0  # by which contrasts shrank since the baseline without any change of an association
    if earlier_coherence is not None and earlier_coherence.coherence > 0:
        scale = coherence.coherence / earlier_coherence.coherence
        scale = scale if region.standardised else min(1.0, scale)
    low, high = region.ends(divisor)
    if not region.standardised:
        low, high = low * scale, high * scale
    outcome, reason = _by_region(row, draws, (low, high), hdi_prob)
    if region.standardised and row.get("is_table"):
        ends = f"{exact_text(region.low)} to {exact_text(region.high)}"
        reason += f" ({ends} in units of the standard deviation of single pairs, {divisor:.3f})"
    elif region.standardised:
        reason += f" ({region}, {coherence.coherence:.3f})"
    elif f"{scale:.2f}" != "1.00":
        reason += f" (the region times {scale:.2f}, the ratio of the lists' coherence to the baseline's)"
    inside = float(((draws >= low) & (draws <= high)).mean())
    numbers = {"sd": float(draws.std(ddof=1)), "probability_in_rope": inside, "compared_by": ""}
    numbers |= {"rope_low": low, "rope_high": high, "scale": scale}
    if before is not None:
        middle = (low + high) / 2
        worse = probability_worse(draws, before.draws * scale, middle)
        numbers |= {"baseline_mean": before.mean, "probability_worse": worse, "compared_by": before.compared_by}
        shown = "worse" if worse >= hdi_prob else "not shown to be worse"
        compared = (
            f"{shown} than the baseline ({signed_text(before.mean)}; probability of worse {probability_text(worse)}, "
            f"by {before.compared_by})"
        )
        beside = f"; {compared}"
        error = BORDERLINE * np.sqrt(worse * (1 - worse) / len(draws))
        if outcome != PASS and not _unconverged(row):
            sd_before = before.draws.std() * scale
            wide = draws.std() > WIDEST * sd_before and farther_reaching(draws, before.draws * scale, middle, hdi_prob)
            if wide and worse < hdi_prob + error:
                beside += f"; its sd is {draws.std():.3f}, {sd_before:.3f} in the baseline: too wide to show it"
                outcome = UNDECIDED
            elif worse < hdi_prob - error:
                reason, beside = f"{compared}; by the region alone: {outcome}, {reason}", ""
                outcome = PASS
            elif worse < hdi_prob + error:
                beside += f", within its Monte Carlo error of {hdi_prob:g}"
                outcome = UNDECIDED
    elif outcome == PASS and not region.standardised and coherence.mean_cosine > MOST_ALIKE:
        outcome = INCOMPARABLE
        beside += (
            f"; but all words resemble each other (mean cosine {coherence.mean_cosine:.2f}), which makes every "
            f"contrast small. {remedy()}"
        )
    return {"outcome": outcome, "reason": f"{reason.rstrip('.')}{beside}.", **numbers}


def _smallest_sd(row: Mapping[str, Any], before: Earlier | None) -> float:
    """Return the standard deviation of single pairs of a table: the smaller one of now and of the baseline.

    Noise makes it larger, and must not make a region wider.
    """
    earlier = np.nan if before is None else before.pair_sd
    return float(np.fmin(row["pair_sd"], earlier)) if row["pair_sd"] == row["pair_sd"] else float("nan")


def farther_reaching(new: Floats, old: Floats, middle: float, hdi_prob: float) -> bool:
    """Return whether the interval of new draws reaches farther from the middle of a region than that of old ones.

    >>> farther_reaching(np.array([-0.3, 0.1]), np.array([-0.2, -0.1]), 0.0, 0.89)
    True
    """
    reach, earlier_reach = (np.quantile(np.abs(draws - middle), (1 + hdi_prob) / 2) for draws in (new, old))
    return bool(reach > earlier_reach)


def compared_answer(row: Mapping[str, Any], baseline: Baseline | None) -> tuple[Earlier | None, str]:
    """Return the answer of a baseline to the same question, or None and why there is none."""
    if baseline is None or not baseline.answers:
        return None, ""
    question = question_of(row)
    if question not in baseline.answers:
        return None, "; not in the baseline"
    if change := baseline.plan.change_of(question, asked_question(row)):
        return None, f"; {change}"
    before = baseline.answers[question]
    return (before, "") if len(before.draws) else (None, "; without an answer in the baseline")


def _by_region(row: Mapping[str, Any], draws: Floats, region: tuple[float, float], hdi_prob: float) -> tuple[str, str]:
    """Return the outcome of a question by a region in the unit of its contrasts, and the reason."""
    errors = draws_interval(draws, hdi_prob)
    interval = Interval(row["hdi_low"], row["hdi_high"], errors.low_se, errors.high_se)
    outcome, reason = outcome_of(interval, region)
    low, high = (row[name] for name in CONTEXTS)
    with_contexts = replace(interval, low=low, high=high)
    if np.isfinite(low) and outcome_of(with_contexts, region)[0] != outcome:
        outcome, reason = UNDECIDED, f"with the choice of sentences its interval is {interval_text(low, high)}"
    if _unconverged(row):
        numbers = f" (R-hat {row['r_hat']:.3f})" if row["r_hat"] > RHAT_MAX else ", as its sampler warned"
        outcome, reason = UNDECIDED, f"its draws did not converge{numbers}"
    return outcome, reason


def _unconverged(row: Mapping[str, Any]) -> bool:
    # R-hat is missing for a single chain, which can be stuck, and for draws without chains, which cannot.
    return bool(row.get("unconverged", False) or row["r_hat"] > RHAT_MAX)


def question_of(row: Mapping[str, Any]) -> Question:
    """Return the names of a question: embedding, study and model."""
    return row["embedding"], row["study"], row["model"]


def asked_question(row: Mapping[str, Any]) -> AskedQuestion:
    """Return what a question is about."""
    return AskedQuestion(**{name: row[name] for name in ASKED if name in row})


def outcome_of(interval: Interval, region: tuple[float, float]) -> tuple[str, str]:
    """Return the outcome of an interval beside a region of practical equivalence, and the reason.

    >>> outcome_of(Interval(-0.01, 0.01, 0.001, 0.001), (-0.02, 0.02))
    ('pass', 'inside -0.020 to +0.020')
    >>> outcome_of(Interval(0.021, 0.05, 0.001, 0.001), (-0.02, 0.02))
    ('undecided', 'an end is within its Monte Carlo error of an edge of -0.020 to +0.020')
    """
    low, high = region
    if low <= interval.low and interval.high <= high:
        outcome, place = PASS, "inside"
        margins = [(interval.low - low, interval.low_se), (high - interval.high, interval.high_se)]
    elif interval.low > high or interval.high < low:
        outcome, place = FAIL, "outside"
        above = interval.low > high
        margins = [(interval.low - high, interval.low_se) if above else (low - interval.high, interval.high_se)]
    else:
        return UNDECIDED, f"partly outside {interval_text(low, high)}"
    if any(margin <= BORDERLINE * error for margin, error in margins):
        return UNDECIDED, f"an end is within its Monte Carlo error of an edge of {interval_text(low, high)}"
    return outcome, f"{place} {interval_text(low, high)}"
