"""One row of numbers for each quantity: mean, sd, HPDI and what the sampler's draws are worth."""

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.errors import ReportError, did_you_mean
from bayesbias.models.diagnostics import TAIL

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# The probability inside an interval, everywhere, unless the user says otherwise.
HDI_PROB = 0.89

ESTIMATE_COLUMNS = ("mean", "sd", "hdi_low", "hdi_high", "ess_bulk", "ess_tail", "r_hat")


def check_hdi_prob(hdi_prob: float) -> float:
    """Return `hdi_prob` if it is a probability strictly between 0 and 1."""
    if not isinstance(hdi_prob, Real) or not 0 < hdi_prob < 1:
        raise ReportError(f"hdi_prob={hdi_prob!r}: give a probability between 0 and 1, such as {HDI_PROB}.")
    return hdi_prob


def check_rope(rope: float | tuple[float, float] | None) -> tuple[float, float] | None:
    """Return a region of practical equivalence as (low, high), or None."""
    if rope is None:
        return None
    ends = (-rope, rope) if isinstance(rope, Real) else tuple(rope) if isinstance(rope, tuple | list) else ()
    if len(ends) != 2 or not all(isinstance(end, Real) and np.isfinite(end) for end in ends) or ends[0] >= ends[1]:
        raise ReportError(f"rope={rope!r}: give a positive half-width such as 0.02, or a pair, low below high.")
    return float(ends[0]), float(ends[1])


def percent(probability: float) -> str:
    """Return a probability as a percentage, unrounded.

    >>> percent(0.89), percent(0.895)
    ('89%', '89.5%')
    """
    return f"{100 * probability:g}%"


def check_baseline(baseline: str, connections: Sequence[str], what: str) -> None:
    """Raise `ReportError` unless a table or fit (`what`) with these connections has contrasts with this baseline."""
    if baseline not in connections:
        raise ReportError(
            f"The {what} has no connection {baseline!r}{did_you_mean(str(baseline), connections)}; it has "
            f"{', '.join(connections)}. Choose the baseline among these."
        )
    if len(connections) < 2:
        raise ReportError(
            f"The {what} has only the connection {baseline!r}, so there is nothing to compare it with. Add control "
            "lists or a second attribute group to the study."
        )


def check_choice(name: str, value: str, known: tuple[str, ...]) -> str:
    """Return `value` if it is one of `known`."""
    if value not in known:
        raise ReportError(f"{name}={value!r}{did_you_mean(str(value), known)}: use {', '.join(known)}.")
    return value


def most_effective(fit: "xr.DataTree") -> float:
    """Return how many draws the weights behind a fit's draws are worth: infinitely many where there are none."""
    stats = fit["sample_stats"].to_dataset()
    return float(stats["importance_ess"]) if "importance_ess" in stats else np.inf


def estimates(draws: "xr.DataArray", *, hdi_prob: float = HDI_PROB, most: float = np.inf) -> "pd.DataFrame":
    """Summarise draws: one row for each combination of the dims other than `chain` and `draw`.

    Parameters
    ----------
    draws
        Dims `chain`, `draw` and any others.
    hdi_prob
        Probability inside the highest posterior density interval.
    most
        Effective sample sizes are at most this (`most_effective`).

    Returns
    -------
    pandas.DataFrame
        The other dims as columns, then `mean`, `sd`, `hdi_low`, `hdi_high` (in the units of the draws), bulk
        and tail effective sample size and R-hat.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021) for ESS and R-hat.
    """
    import arviz as az
    import pandas as pd

    check_hdi_prob(hdi_prob)
    draws = draws.rename("value")
    dims = [str(dim) for dim in draws.dims if dim not in ("chain", "draw")]
    dataset = draws.to_dataset()
    interval = az.hdi(dataset, prob=hdi_prob)["value"].transpose(*dims, "ci_bound").to_numpy().reshape(-1, 2)

    def column(values: "xr.DataArray") -> np.ndarray:
        return np.asarray(values.transpose(*dims)).reshape(-1)

    labels = [np.asarray(draws[dim]).astype(str) for dim in dims]
    frame = pd.MultiIndex.from_product(labels, names=dims).to_frame(index=False) if dims else pd.DataFrame(index=[0])
    frame["mean"] = column(draws.mean(("chain", "draw")))
    frame["sd"] = column(draws.std(("chain", "draw"), ddof=1))
    frame["hdi_low"], frame["hdi_high"] = interval[:, 0], interval[:, 1]
    frame["ess_bulk"] = np.minimum(column(az.ess(dataset, method="bulk")["value"]), most)
    frame["ess_tail"] = np.minimum(column(az.ess(dataset, method="tail", prob=TAIL)["value"]), most)
    frame["r_hat"] = column(az.rhat(dataset)["value"])
    return frame
