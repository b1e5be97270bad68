"""Shares of claims of a method for random attribute words, beside what its rule promises: rows and sentences."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import percent_text
from bayesbias.base.statements import Statement
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.measures.null_simulation import rate

if TYPE_CHECKING:
    import pandas as pd

_TITLES = {
    "weat": "WEAT's permutation test",
    "t_test_preaveraged": "the t-test of one average a protected word",
    "t_test_raw": "the t-test of all pairs",
    "mac_t_test": "the t-test of MAC against 1",
}
_TAILS = (0.055, 0.945)
# A share differs from the nominal one if samples with that share would be so far from it in fewer cases.
_CLEAR = 0.05


def method_row(rows: "pd.DataFrame", rule: str, nominal: float) -> dict[str, Any]:
    """Return the row of a method in `RandomListCheck.methods`; sample 0 is the study's own."""
    study_row, random = rows.iloc[0], rows.iloc[1:]
    value = random["value"].to_numpy(dtype=float)
    claims, claims_se = rate(random["claims"].to_numpy(dtype=bool))
    as_extreme, as_extreme_se = rate(np.abs(value) >= abs(study_row["value"]))
    low, high = np.quantile(value, _TAILS)
    row = {
        "method": str(study_row["method"]),
        "rule": rule,
        "nominal": round(nominal, 4),
        "samples": len(value),
        "claims": claims,
        "claims_se": claims_se,
        "quantity": str(study_row["quantity"]),
        "sd": float(value.std(ddof=1)),
        "low": float(low),
        "high": float(high),
        "study_value": float(study_row["value"]),
        "study_claims": bool(study_row["claims"]),
        "share_as_extreme": as_extreme,
        "share_as_extreme_se": as_extreme_se,
    }
    if "sd" in rows:
        square = value**2
        error = float(np.sqrt(square.mean()))
        row |= {
            "posterior_sd": float(np.sqrt(np.square(random["sd"].to_numpy(dtype=float)).mean())),
            "error": error,
            "error_se": float(square.std(ddof=1) / np.sqrt(len(square)) / (2 * error)),
        }
    return row


def claim_problems(row: dict[str, Any], spec: ModelSpec, samples: int, not_fitted: int) -> tuple[Statement, ...]:
    """Return statements on a model that claims more than it promises, and on samples that it was not fitted to."""
    problems = []
    if row["claims"] > row["nominal"] and _differs(row):
        text = (
            f"The model {spec.name!r} claims an association for {share_with_error(row['claims'], row['claims_se'])} of "
            f"the random lists, where its intervals promise {percent_text(row['nominal'])}: a claim about the study's "
            "own words is weaker evidence than it seems. Compare the study's gap with those of the random lists."
        )
        problems.append(Statement("claims", text, row))
    if not_fitted:
        text = (
            f"In {not_fitted:,} of the {samples:,} samples a diagnostic of the fast sampler of {spec.name!r} failed: "
            "the numbers of the model leave these samples out. If they are many, use another model."
        )
        problems.append(Statement("not fitted", text, {"not_fitted": not_fitted, "samples": samples}))
    return tuple(problems)


def claims_text(row: dict[str, Any]) -> str:
    """Return a sentence on how often a method claims an association of random lists, and what it promises."""
    method = _TITLES.get(row["method"], f"the model {row['method']!r}")
    excess = row["claims"] - row["nominal"]
    comparison = (
        "a share that so many samples cannot distinguish from"
        if not _differs(row)
        else "more often than"
        if excess > 0
        else "less often than"
    )
    claim = "that MAC is not 1" if row["method"] == "mac_t_test" else "an association"
    study_verb = "claims" if row["study_claims"] else "does not claim"
    return (
        f"{method[0].upper()}{method[1:]} ({row['rule']}) claims {claim} for "
        f"{share_with_error(row['claims'], row['claims_se'])} of the random lists, {comparison} the "
        f"{percent_text(row['nominal'])} that its rule promises. It {study_verb} it for the study's own words."
    )


def _differs(row: Mapping[str, Any]) -> bool:
    """Return whether the share of claims differs from the nominal one (exact binomial test)."""
    from scipy.stats import binomtest

    count = round(row["claims"] * row["samples"])
    return bool(binomtest(count, row["samples"], row["nominal"]).pvalue < _CLEAR)


def share_with_error(share: float, error: float) -> str:
    """Return a share and its Monte Carlo error in percent."""
    return f"{100 * share:.0f}% ± {100 * error:.0f}%"
