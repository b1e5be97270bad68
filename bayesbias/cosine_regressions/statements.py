"""Statements of a cosine regression: its model, what it omits, dependent rows, and what the rows do not say."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import (
    count_text,
    counted,
    distance_text,
    interval_text,
    percent_text,
    probability_text,
    signed_text,
)
from bayesbias.base.statements import Statement
from bayesbias.cosine_regressions.designs import Design
from bayesbias.cosine_regressions.linear_model import LinearPrior
from bayesbias.cosine_regressions.study_rows import StudyRows
from bayesbias.errors import name_some

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_MOSTLY_PRIOR = 0.5


def model_statement(built: StudyRows, drawn: "xr.Dataset", prior: LinearPrior, seed: int) -> Statement:
    """Return the statement of the design, the prior and the draws."""
    design = built.design
    ends = f"{built.sides[1]} (1) against {built.sides[0]} (0)" if built.sides else "no sides are compared"
    numbers = {
        "rows": len(design.pairs.inner),
        "coefficients": len(design.symbols),
        "lnw_unit": design.pairs.unit,
        "draws": drawn.sizes["chain"] * drawn.sizes["draw"],
        "random_seed": seed,
    }
    given = "flat" if np.isinf(prior.coefficient_sd) else (
        f"Normal(0, {prior.coefficient_sd:g} residual sds), residual sd guessed at {prior.sigma:g} with the weight of "
        f"{prior.rows:g} {'row' if prior.rows == 1 else 'rows'}"
    )  # fmt: skip
    return Statement(
        "model",
        f"{design.name.capitalize()} design, {counted(numbers['rows'], 'row')}, {numbers['coefficients']} "
        f"coefficients: {ends}. 1 unit of LNW is {design.pairs.unit:.4g}, the geometric mean of the pairs. Prior of "
        f"coefficients: {given}. {count_text(numbers['draws'])} independent draws, seed {seed}.",
        numbers,
    )


def restrictions(parts: "xr.Dataset", coefficients: "pd.DataFrame", design: Design, hdi_prob: float) -> Statement:
    """Return the statement of the terms that the constrained cosine regression omits."""
    slope = coefficients[coefficients["model"] == "constrained"].iloc[1]
    omitted = coefficients[
        (coefficients["model"] == "corrected_ratio") & ~coefficients["symbol"].isin(design.constrained)
    ]
    away = omitted[(omitted["hdi_low"] > 0) | (omitted["hdi_high"] < 0)]
    names = ", ".join(f"{symbol} ({term})" for symbol, term in zip(away["symbol"], away["term"], strict=True)) or "none"
    numbers: dict[str, Any] = {
        **{name: float(slope[name]) for name in ("mean", "hdi_low", "hdi_high")},
        **{name: float(parts[name].mean()) for name in ("comparison", "distortion", "absolute distortion")},
        "opposite_signs": float((parts["comparison"] * parts["sum"] < 0).mean()),
        "omitted": len(omitted),
        "omitted_away_from_0": list(away["symbol"]),
    }
    hpdi = f"{percent_text(hdi_prob)} HPDI"
    return Statement(
        "restrictions",
        f"The cosine regression says {slope['symbol']} = {signed_text(slope['mean'])} ({hpdi} "
        f"{interval_text(slope['hdi_low'], slope['hdi_high'])}). Without its restrictions the coefficient of the same "
        f"term is {signed_text(numbers['comparison'])}, and {signed_text(numbers['distortion'])} come from terms that "
        f"it fixes to 0 ({distance_text(numbers['absolute distortion'])} in absolute values); with probability "
        f"{probability_text(numbers['opposite_signs'])} both have opposite signs. Of the {len(omitted)} terms fixed to "
        f"0, the {hpdi} excludes 0 for {names}.",
        numbers,
    )


def dependence(built: StudyRows, word_effects: bool) -> Statement:
    """Return the statement of the rows that share words."""
    if not built.effects:
        text = "No target word is in several rows. But one centroid serves many rows, and its error is not included."
    elif word_effects:
        text = f"Rows that share a word are dependent: the models have word effects ({', '.join(built.effects)})."
    else:
        text = "Rows that share a word count as independent: intervals are mostly too narrow (set word_effects=True)."
    return Statement("dependence", text)


def weak_data(coefficients: "pd.DataFrame") -> tuple[Statement, ...]:
    """Return the statement of the coefficients whose posterior is mostly the prior."""
    rows = coefficients[(coefficients["model"] == "corrected_ratio") & (coefficients["prior_share"] > _MOSTLY_PRIOR)]
    if rows.empty:
        return ()
    text = (
        f"The rows carry little information on {name_some(rows['symbol'])}: the posterior sd is more than half the "
        "prior's, since the terms are nearly collinear. Another prior would change them, but hardly their sum."
    )
    return (Statement("prior", text, dict(zip(rows["symbol"], rows["prior_share"], strict=True))),)
