"""The rule of a gate: the outcome of one question, by its interval, its region and the baseline."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.number_text import counted, interval_text, probability_text, signed_text
from bayesbias.estimates.intervals import BORDERLINE
from bayesbias.models.numerics.contrast_estimate import Interval, draws_interval
from bayesbias.models.numerics.diagnostics import RHAT_MAX
from bayesbias.reports.audits.audit_frame import CONTEXTS
from bayesbias.reports.audits.baseline import Earlier, probability_worse

PASS, FAIL, UNDECIDED, UNANSWERED = "pass", "fail", "undecided", "unanswered"
EXIT_CODES: Mapping[str, int] = {FAIL: 3, UNANSWERED: 5, UNDECIDED: 4, PASS: 0}
"""Outcome -> exit code of `bayesbias gate`, the most severe outcome first."""


def decided(
    row: Mapping[str, Any],
    draws: Floats,
    region: tuple[float, float],
    hdi_prob: float,
    earlier: Mapping[tuple[str, str, str], Earlier],
) -> dict[str, Any]:
    """Return the outcome of a question with its numbers and its reason."""
    if "error" in row:
        return {"outcome": UNANSWERED, "compared_by": "", "reason": row["error"]}
    errors = draws_interval(draws, hdi_prob)
    interval = Interval(row["hdi_low"], row["hdi_high"], errors.low_se, errors.high_se)
    outcome, reason = outcome_of(interval, region)
    low, high = (row[name] for name in CONTEXTS)
    with_contexts = replace(interval, low=low, high=high)
    if np.isfinite(low) and outcome_of(with_contexts, region)[0] != outcome:
        outcome, reason = UNDECIDED, f"with the choice of sentences its interval is {interval_text(low, high)}"
    if row["r_hat"] > RHAT_MAX:
        outcome, reason = UNDECIDED, f"its draws did not converge (R-hat {row['r_hat']:.3f})"
    inside = float(((draws >= region[0]) & (draws <= region[1])).mean())
    numbers = {"sd": float(draws.std(ddof=1)), "probability_in_rope": inside, "compared_by": ""}
    before = earlier.get((row["embedding"], row["study"], row["model"]))
    if before is None:
        reason += "; not in the baseline" if earlier else ""
    elif before.study_hash != row["study_hash"]:
        reason += "; its word lists are not those of the baseline"
    elif before.lost_words != row["lost_words"]:
        reason += f"; {counted(row['lost_words'], 'word')} of its groups were lost, {before.lost_words} in the baseline"
    elif not len(before.draws):
        reason += "; without an answer in the baseline"
    else:
        worse = probability_worse(draws, before.draws, sum(region) / 2)
        numbers |= {"baseline_estimate": before.estimate, "probability_worse": worse, "compared_by": before.compared_by}
        shown = "worse" if worse >= hdi_prob else "not shown to be worse"
        reason += (
            f"; {shown} than the baseline ({signed_text(before.estimate)}; probability of worse "
            f"{probability_text(worse)}, by {before.compared_by})"
        )
        if worse < hdi_prob and not row["r_hat"] > RHAT_MAX:
            outcome = PASS
    return {"outcome": outcome, "reason": f"{reason.rstrip('.')}.", **numbers}


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
        outcome, place = FAIL, "beyond"
        above = interval.low > high
        margins = [(interval.low - high, interval.low_se) if above else (low - interval.high, interval.high_se)]
    else:
        return UNDECIDED, f"reaches across an edge of {interval_text(low, high)}"
    if any(margin <= BORDERLINE * error for margin, error in margins):
        return UNDECIDED, f"an end is within its Monte Carlo error of an edge of {interval_text(low, high)}"
    return outcome, f"{place} {interval_text(low, high)}"
