"""One row of numbers for each quantity: mean, sd, HPDI and what the sampler's draws are worth."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_probability
from bayesbias.errors import ReportError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# The quantiles whose effective sample size is the tail's, whatever ArviZ's own settings are.
TAIL = (0.05, 0.95)

# Within so many Monte Carlo standard errors of an end of its interval, an estimate is borderline.
BORDERLINE = 3

MOMENTS = ("mean", "sd", "hdi_low", "hdi_high")
# What the draws are worth: of independent draws no R-hat, since they have no chains that could disagree.
DIAGNOSTICS = ("ess_bulk", "ess_tail", "r_hat")


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


def independent_draws(fit: "xr.DataTree") -> float | None:
    """Return how many independent draws a fit's draws are worth, or None if they are chains."""
    stats = fit["sample_stats"].to_dataset()
    if "importance_ess" in stats:
        return float(stats["importance_ess"])
    sizes = fit["posterior"].sizes
    return float(sizes["chain"] * sizes["draw"]) if "edge_mass" in stats else None


def diagnostics_of(frame: "pd.DataFrame") -> list[str]:
    """Return the columns of `estimates` that say what the draws are worth."""
    return [name for name in DIAGNOSTICS if name in frame]


def direction_of(draws: "xr.DataArray", rope: tuple[float, float] | None = None) -> dict[str, np.ndarray]:
    """Say on which side of 0 draws of differences of distances lie, one value for each combination of other dims.

    `draws` have dims `chain`, `draw` and any others; `rope` is the region of practical equivalence, (low, high).
    Returns `direction`, the more probable one (``"nearer"`` or ``"farther"``), `probability_of_direction` (0.5 to 1;
    Makowski, Ben-Shachar, Chen and Luedecke 2019), and `probability_in_rope` if `rope` is given.

    >>> import xarray as xr
    >>> found = direction_of(xr.DataArray([[-0.3, -0.1, -0.02, 0.1]], dims=("chain", "draw")), (-0.05, 0.05))
    >>> {name: values.item() for name, values in found.items()}
    {'direction': 'nearer', 'probability_of_direction': 0.75, 'probability_in_rope': 0.25}
    """
    below = np.asarray((draws < 0).mean(("chain", "draw"))).reshape(-1)
    found = {
        "direction": np.where(below >= 0.5, "nearer", "farther"),
        "probability_of_direction": np.maximum(below, 1 - below),
    }
    if rope is not None:
        inside = ((draws >= rope[0]) & (draws <= rope[1])).mean(("chain", "draw"))
        found["probability_in_rope"] = np.asarray(inside).reshape(-1)
    return found


def contrast_name(baseline: str, other: str) -> str:
    """Return the name of a difference of two connections.

    >>> contrast_name("associated", "human")
    'associated - human'
    """
    return f"{baseline} - {other}"


def contrast_sides(contrast: str) -> tuple[str, str]:
    """Return the two connections of `contrast_name`, whose inverse it is.

    >>> contrast_sides("associated - human")
    ('associated', 'human')
    """
    baseline, _, other = contrast.partition(" - ")
    return baseline, other


def settled(low: float, high: float) -> bool:
    """Return whether an interval leaves out 0.

    >>> settled(-0.3, -0.1), settled(-0.3, 0.1)
    (True, False)
    """
    return bool(low > 0 or high < 0)


def is_borderline(low: float, high: float, low_se: float, high_se: float) -> bool:
    """Return whether 0 is so near to an end of an interval that the Monte Carlo error decides on which side it lies.

    >>> is_borderline(-0.03, -0.0005, 0.001, 0.001), is_borderline(-0.03, -0.02, 0.001, 0.001)
    (True, False)
    """
    return bool(abs(low) <= BORDERLINE * low_se or abs(high) <= BORDERLINE * high_se)


def estimates(draws: "xr.DataArray", *, hdi_prob: float = HDI_PROB, independent: float | None = None) -> "pd.DataFrame":
    """Summarise draws: one row for each combination of the dims other than `chain` and `draw`.

    Columns are these other dims, then `mean`, `sd`, `hdi_low`, `hdi_high` (highest posterior density interval; in the
    units of the draws), bulk and tail effective sample size, and R-hat (Vehtari, Gelman, Simpson, Carpenter and
    Buerkner 2021). Of draws that are worth so many `independent` ones (`independent_draws`), that is the effective
    sample size, and there is no R-hat.
    """
    import arviz as az
    import pandas as pd

    check_probability("hdi_prob", hdi_prob)
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
    if independent is not None:
        frame["ess_bulk"] = frame["ess_tail"] = independent
        return frame
    frame["ess_bulk"] = column(az.ess(dataset, method="bulk")["value"])
    frame["ess_tail"] = column(az.ess(dataset, method="tail", prob=TAIL)["value"])
    frame["r_hat"] = column(az.rhat(dataset)["value"])
    return frame
