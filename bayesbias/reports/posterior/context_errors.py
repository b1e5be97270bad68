"""What the choice of contexts or templates adds to the uncertainty of a contrast of vectors that are means."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from bayesbias.base.number_text import count_text, interval_text
from bayesbias.base.statements import Statement
from bayesbias.embeddings.contextual.spread import GROUPS
from bayesbias.estimates.intervals import settled
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.models.numerics.contrast_estimate import draws_interval

if TYPE_CHECKING:
    import xarray as xr

_MANY = 1e6  # degrees of freedom of a Normal

type ContextErrors = dict[tuple[frozenset[str], str, str], tuple[float, float]]
"""Standard error over contexts and its degrees of freedom for a pair of connections, a level, and the name of a group
or word."""


def fit_context_errors(fit: "xr.DataTree") -> ContextErrors:
    """Return the standard errors of contrasts over contexts that the table of a fit records; empty if none."""
    table = fit_attribute(fit, "table")
    # An error over the same few sentences for all words rests on these alone; others are sums over many words.
    contexts = table.get("contexts", {})
    fewest = min(contexts.get("fewest", GROUPS), GROUPS)
    freedom = max(fewest - 1.0, 1.0) if contexts.get("same_for_all") else _MANY
    return {
        (frozenset(entry["contrast"].split(" - ")), entry["level"], entry["name"]): (entry["sd"], freedom)
        for entry in table.get("context_errors", [])
    }


def context_columns(
    errors: ContextErrors, sides: tuple[str, str], level: str, name: str, draws: np.ndarray, hdi_prob: float
) -> dict[str, float]:
    """Return the error of a contrast over contexts, and its interval with that error, as columns of `contrasts`.

    Parameters
    ----------
    errors
        Errors of the fit.
    sides, level, name
        The two connections, the level, and the name of the group or word.
    draws
        Draws of the contrast, shape (draws,).
    hdi_prob
        Probability inside the interval.
    """
    if not errors:
        return {}
    sd, freedom = errors.get((frozenset(sides), level, name), (float("nan"), _MANY))
    # The quantiles of a Student's t in random order: the same for every contrast and run.
    quantiles = stdtrit(freedom, (np.arange(len(draws)) + 0.5) / len(draws))
    interval = draws_interval(draws + sd * np.random.default_rng(0).permutation(quantiles), hdi_prob)
    return {"context_sd": sd, "context_low": interval.low, "context_high": interval.high}


def context_statement(fit: "xr.DataTree", row: dict[Any, Any]) -> Statement | None:
    """Return what the choice of contexts adds to a contrast, from its row of `contrasts`; None without contexts."""
    if "context_sd" not in row or not np.isfinite(row["context_sd"]):
        return None
    facts = fit_attribute(fit, "table")["contexts"]
    kind = "template sentences, the same for all words" if facts["same_for_all"] else "contexts of its own (median)"
    decides = settled(row["hdi_low"], row["hdi_high"]) and not settled(row["context_low"], row["context_high"])
    low, high = row["context_low"], row["context_high"]
    text = (
        f"Each vector is a mean over {count_text(facts['median'])} {kind}. Other sentences would move the contrast "
        f"{row['contrast']} by a standard error of {row['context_sd']:.3f} (words: {row['sd']:.3f}), which the "
        f"interval above leaves out. With both it is {interval_text(low, high)}"
        f"{', which includes 0: take more sentences before you report it as settled' if decides else ''}."
    )
    numbers = {name: row[name] for name in ("contrast", "sd", "context_sd", "context_low", "context_high")}
    return Statement("contexts", text, {**numbers, "contexts": facts["median"], "decides": decides})
