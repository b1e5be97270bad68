"""Summaries of draws and of densities on a grid: mean, sd, HPDI, effective sample size, R-hat, degrees of freedom."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_probability
from bayesbias.errors import ReportError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


# Quantiles of the tail effective sample size, regardless of ArviZ's settings.
TAIL = (0.05, 0.95)

# An estimate is borderline if 0 is within this many Monte Carlo standard errors of an end of its interval.
BORDERLINE = 3

MOMENTS = ("mean", "sd", "hdi_low", "hdi_high")
# Independent draws have no R-hat, because they have no chains.
DIAGNOSTICS = ("ess_bulk", "ess_tail", "r_hat")
SCOPES = ("population", "these_words")
"""What an estimate is about: words like these, of which these are a sample, or these words alone."""


def check_baseline(baseline: str, connections: Sequence[str], what: str) -> None:
    """Raise `ReportError` unless a table or fit (`what`) with these connections can be contrasted with the baseline."""
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
    """Return the number of independent draws that a fit's draws are worth, or None if they are chains."""
    stats = fit["sample_stats"].to_dataset()
    if "importance_ess" in stats:
        return float(stats["importance_ess"])
    sizes = fit["posterior"].sizes
    return float(sizes["chain"] * sizes["draw"]) if "edge_mass" in stats else None


def diagnostics_of(frame: "pd.DataFrame") -> list[str]:
    """Return the diagnostic columns of a frame of `estimates`."""
    return [name for name in DIAGNOSTICS if name in frame]


def direction_of(draws: "xr.DataArray", rope: tuple[float, float] | None = None) -> dict[str, np.ndarray]:
    """Return the side of 0 on which draws of differences of distances lie, for each combination of the other dims.

    `draws` have dims `chain`, `draw` and any others; `rope` is the region of practical equivalence, (low, high).
    The values are `direction`, the more probable one (``"nearer"`` or ``"farther"``), `probability_of_direction`
    (0.5 to 1; Makowski, Ben-Shachar, Chen and Luedecke 2019), and `probability_in_rope` if `rope` is given.

    >>> import xarray as xr
    >>> sides = direction_of(xr.DataArray([[-0.3, -0.1, -0.02, 0.1]], dims=("chain", "draw")), (-0.05, 0.05))
    >>> {name: values.item() for name, values in sides.items()}
    {'direction': 'nearer', 'probability_of_direction': 0.75, 'probability_in_rope': 0.25}
    """
    below = np.asarray((draws < 0).mean(("chain", "draw"))).reshape(-1)
    sides = {
        "direction": np.where(below >= 0.5, "nearer", "farther"),
        "probability_of_direction": np.maximum(below, 1 - below),
    }
    if rope is not None:
        inside = ((draws >= rope[0]) & (draws <= rope[1])).mean(("chain", "draw"))
        sides["probability_in_rope"] = np.asarray(inside).reshape(-1)
    return sides


def probability_of_direction(draws: ArrayLike) -> Floats:
    """Return the larger of the shares of draws below and above 0 along the first axis; draws of 0 count half to each.

    >>> probability_of_direction([-1.0, 0.0, 1.0, 1.0]), probability_of_direction(np.zeros(10))
    (array(0.625), array(0.5))
    """
    draws = np.asarray(draws)
    above = (draws > 0).mean(axis=0) + (draws == 0).mean(axis=0) / 2
    return np.asarray(np.maximum(above, 1 - above))


def scope_text(scope: str) -> str:
    """Return a scope in words.

    >>> [scope_text(scope) for scope in SCOPES]
    ['words like these', 'these words']
    """
    return {"population": "words like these", "these_words": "these words"}[scope]


def contrast_name(baseline: str, other: str) -> str:
    """Return the name of a difference of two connections.

    >>> contrast_name("associated", "human")
    'associated - human'
    """
    return f"{baseline} - {other}"


def contrast_sides(contrast: str) -> tuple[str, str]:
    """Return the two connections of a contrast: the inverse of `contrast_name`.

    >>> contrast_sides("associated - human")
    ('associated', 'human')
    """
    baseline, _, other = contrast.partition(" - ")
    return baseline, other


def is_settled(low: float, high: float) -> bool:
    """Return whether an interval excludes 0.

    >>> is_settled(-0.3, -0.1), is_settled(-0.3, 0.1)
    (True, False)
    """
    return bool(low > 0 or high < 0)


def settled_text(low: float, high: float) -> str:
    """Return whether an interval excludes 0, in words.

    >>> settled_text(-0.3, 0.1)
    'not settled'
    """
    return "settled" if is_settled(low, high) else "not settled"


NO_PAIRS = "no pairs on one side"


def reading(row: Mapping[Any, Any], *, below: str = "nearer", above: str = "farther") -> str:
    """Return what the interval of an estimate shows: its direction if it is settled, else why it is not.

    Of a contrast without pairs on one side, nothing.

    >>> reading({"hdi_low": -0.3, "hdi_high": -0.1}), reading({"hdi_low": -0.3, "hdi_high": 0.1})
    ('nearer', 'not settled')
    >>> reading({"hdi_low": -0.3, "hdi_high": -0.1, "baseline_pairs": 8, "other_pairs": 0})
    'no pairs on one side'
    """
    if not (row.get("baseline_pairs", 1) and row.get("other_pairs", 1)):
        return NO_PAIRS
    if row.get("borderline", False):
        return "borderline"
    low, high = row["hdi_low"], row["hdi_high"]
    return (below if high < 0 else above) if is_settled(low, high) else "not settled"


def has_direction(row: Mapping[Any, Any]) -> bool:
    """Return whether an estimate is settled by more than Monte Carlo error, so that figures fill its point.

    >>> has_direction({"hdi_low": -0.3, "hdi_high": -0.1})
    True
    >>> has_direction({"hdi_low": -0.3, "hdi_high": -0.001, "borderline": True})
    False
    """
    return reading(row) in ("nearer", "farther")


def mark(row: Mapping[Any, Any], *, below: str = "nearer", above: str = "farther") -> str:
    """Return the mark of an estimate in a table: its `reading` after a circle and an arrow.

    The circle is filled if the estimate is settled, with a dot in it if it is borderline, else hollow.

    >>> mark({"hdi_low": -0.3, "hdi_high": -0.1}), mark({"hdi_low": -0.3, "hdi_high": 0.1})
    ('● ← nearer', '○ not settled')
    """
    text = reading(row, below=below, above=above)
    middle = row["hdi_low"] + row["hdi_high"]
    return mark_of(text, middle, is_open=text == "borderline", is_settled=text not in ("not settled", NO_PAIRS))


def mark_of(text: str, estimate: float, *, is_open: bool = False, is_settled: bool = True) -> str:
    """Return a text after a circle, filled, with a dot (`is_open`) or hollow, and the arrow of an estimate.

    >>> mark_of("smaller", 0.02), mark_of("open", -0.02, is_open=True), mark_of("no change", 0.0, is_settled=False)
    ('● → smaller', '⊙ ← open', '○ no change')
    """
    if not is_settled:
        return f"○ {text}"
    return f"{'⊙' if is_open else '●'} {'←' if estimate < 0 else '→'} {text}"


def is_borderline(low: float, high: float, low_se: float, high_se: float) -> bool:
    """Return whether 0 is within the Monte Carlo error of an end of an interval.

    >>> is_borderline(-0.03, -0.0005, 0.001, 0.001), is_borderline(-0.03, -0.02, 0.001, 0.001)
    (True, False)
    """
    return bool(abs(low) <= BORDERLINE * low_se or abs(high) <= BORDERLINE * high_se)


def estimates(draws: "xr.DataArray", *, hdi_prob: float = HDI_PROB, independent: float | None = None) -> "pd.DataFrame":
    """Return a summary of draws: one row for each combination of the dims other than `chain` and `draw`.

    Columns are these other dims, then `mean`, `sd`, `hdi_low`, `hdi_high` (highest posterior density interval; in the
    units of the draws), bulk and tail effective sample size, and R-hat (Vehtari, Gelman, Simpson, Carpenter and
    Buerkner 2021). If `independent` is given (see `independent_draws`), it is the effective sample size, and there is
    no R-hat.
    """
    check_probability("hdi_prob", hdi_prob)
    frame = moments(draws, independent=independent)
    rows = draws.transpose(..., "chain", "draw").to_numpy().reshape(len(frame), -1)
    low, high = shortest_intervals(rows, hdi_prob).T
    place = list(frame).index("sd") + 1
    frame.insert(place, "hdi_low", low)
    frame.insert(place + 1, "hdi_high", high)
    return frame


def moments(draws: "xr.DataArray", *, independent: float | None = None) -> "pd.DataFrame":
    """Return `estimates` without the interval."""
    import pandas as pd

    draws = draws.rename("value")
    dims = [str(dim) for dim in draws.dims if dim not in ("chain", "draw")]

    def column(values: "xr.DataArray") -> np.ndarray:
        return np.asarray(values.transpose(*dims)).reshape(-1)

    labels = [np.asarray(draws[dim]).astype(str) for dim in dims]
    frame = pd.MultiIndex.from_product(labels, names=dims).to_frame(index=False) if dims else pd.DataFrame(index=[0])
    frame["mean"] = column(draws.mean(("chain", "draw")))
    frame["sd"] = column(draws.std(("chain", "draw"), ddof=1))
    if independent is not None:
        frame["ess_bulk"] = frame["ess_tail"] = independent
        return frame
    import arviz_stats  # here, since the import is slow and independent draws do not need it

    dataset = draws.to_dataset()
    frame["ess_bulk"] = column(arviz_stats.ess(dataset, method="bulk")["value"])
    frame["ess_tail"] = column(arviz_stats.ess(dataset, method="tail", prob=TAIL)["value"])
    frame["r_hat"] = column(arviz_stats.rhat(dataset)["value"])
    return frame


def shortest_interval(draws: ArrayLike, probability: float) -> tuple[float, float]:
    """Return the shortest interval that holds a share of draws: the highest posterior density interval.

    >>> shortest_interval([0.0, 1.0, 2.0, 2.5, 9.0], 0.5)
    (1.0, 2.5)
    """
    low, high = shortest_intervals(np.asarray(draws, dtype=np.float64)[np.newaxis], probability)[0].tolist()
    return low, high


def shortest_intervals(rows: Floats, probability: float) -> Floats:
    """Return `shortest_interval` of each row, as an array with the columns low and high."""
    ordered = np.sort(rows, axis=1)
    count = ordered.shape[1]
    inside = min(max(int(probability * count), 1), count - 1)
    starts = np.argmin(ordered[:, inside:] - ordered[:, : count - inside], axis=1)
    places = np.arange(len(ordered))
    return np.column_stack([ordered[places, starts], ordered[places, starts + inside]])


def shortest_quantiles(
    quantile: Callable[[Floats], Any], probability: float, *, starts: int = 302
) -> tuple[float, float]:
    """Return the shortest interval of a distribution whose quantiles are known.

    - `quantile`: function of an array of probabilities.
    - `starts`: lower ends that are compared, first everywhere and then near the best.

    >>> from scipy.stats import norm
    >>> [round(end, 2) for end in shortest_quantiles(norm.ppf, 0.95)]
    [-1.96, 1.96]
    """
    spare = 1 - probability
    below, above = 0.0, spare
    for _ in range(2):
        lower = np.linspace(below, above, starts)
        ends = quantile(np.stack([lower, np.minimum(lower + probability, 1.0)]))
        best = int(np.argmin(ends[1] - ends[0]))
        step = lower[1] - lower[0]
        below, above = max(lower[best] - 2 * step, 0.0), min(lower[best] + 2 * step, spare)
    return float(ends[0, best]), float(ends[1, best])


def share_interval(hits: int, trials: int, hdi_prob: float) -> tuple[float, float]:
    """Return the highest density interval of a share, with a flat prior.

    >>> [round(end, 3) for end in share_interval(5, 5, 0.5)]
    [0.891, 1.0]
    >>> [round(end, 3) for end in share_interval(40, 100, 0.89)]
    [0.324, 0.479]
    """
    from scipy.special import betaincinv

    return shortest_quantiles(partial(betaincinv, hits + 1, trials - hits + 1), hdi_prob)


def common_mean(values: Floats, variances: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the posterior of the mean of Normal values with known variances, given a flat prior.

    The last axis holds the values; `variances` may have further axes before it. The three arrays are the centre and
    the precision of the mean, and the log density of the values with the mean integrated out, up to a constant.

    >>> centre, precision, _ = common_mean(np.array([1.0, 4.0]), np.array([1.0, 0.5]))
    >>> float(centre), float(precision)
    (3.0, 3.0)
    """
    weights = 1 / variances
    precision = weights.sum(axis=-1)
    centre = (weights * values).sum(axis=-1) / precision
    squares = (weights * (values - centre[..., np.newaxis]) ** 2).sum(axis=-1)
    return centre, precision, (np.log(weights).sum(axis=-1) - np.log(precision) - squares) / 2


def draw_nodes(log_density: Floats, rng: np.random.Generator, draws: int | None = None) -> np.ndarray:
    """Draw positions of nodes by inversion of their distribution function.

    - `log_density` (array, shape (..., nodes)): log densities at the nodes, each row up to a constant. All nodes weigh
      the same: add the logarithms of their widths where these differ.
    - `draws`: number of draws from a single row, shape (nodes,). By default, one draw of each row.

    Returns
    -------
    Positions, shape (draws,) or that of `log_density` without its last axis.

    >>> nodes = draw_nodes(np.log([0.2, 0.8]), np.random.default_rng(1), 10_000)
    >>> float(nodes.mean().round(1))
    0.8
    >>> draw_nodes(np.array([[0.0, -1000.0], [-1000.0, 0.0]]), np.random.default_rng(1))
    array([0, 1])
    """
    cumulative = np.exp(log_density - log_density.max(axis=-1, keepdims=True)).cumsum(axis=-1)
    last = cumulative.shape[-1] - 1
    if draws is not None:
        return np.asarray(np.searchsorted(cumulative, rng.random(draws) * cumulative[-1]).clip(max=last))
    target = rng.random(log_density.shape[:-1])[..., None] * cumulative[..., -1:]
    return np.asarray(np.minimum((cumulative < target).sum(axis=-1), last))


def draw_on_grid(grid: Floats, log_density: Floats, rng: np.random.Generator) -> Floats:
    """Draw a number for each row of log densities at the nodes of a geometric grid, evenly inside the nodes' cells.

    The densities are those of the logarithms of the numbers.
    """
    nodes = draw_nodes(log_density, rng)
    values: Floats = grid[nodes] * np.exp(np.log(grid[1] / grid[0]) * (rng.random(nodes.shape) - 0.5))
    return values


def welch_freedom(variances: Floats, freedom: ArrayLike) -> Floats:
    """Return the degrees of freedom of sums (Satterthwaite 1946, Welch 1947) of independent parts, in rows.

    - `variances`: variance of each part, shape (parts, sums).
    - `freedom`: its degrees of freedom, of a shape that broadcasts to that of `variances`.

    >>> welch_freedom(np.array([[1.0, 1.0], [1.0, 0.0]]), 4.0).tolist()
    [8.0, 4.0]
    """
    largest = variances.max(axis=0)
    shares = variances / np.where(largest > 0, largest, 1.0)  # squares of variances in any unit are numbers
    every = np.broadcast_to(freedom, variances.shape)
    joint = shares.sum(axis=0) ** 2 / np.where(largest > 0, (shares**2 / every).sum(axis=0), 1.0)
    return np.where(largest > 0, joint, every.min(axis=0))


def student_scales(quantiles: Floats, freedom: Floats) -> Floats:
    """Return what makes Student's t of Normal draws, shape (draws, quantities).

    Quantities with different degrees of freedom share the `quantiles` (draws,) of their chi-squares, so that they are
    multivariate t where these agree.

    >>> student_scales(np.array([0.05, 0.5]), np.array([4.0, 100.0])).round(2).tolist()
    [[2.37, 1.13], [1.09, 1.0]]
    """
    from scipy.special import gammaincinv

    scales: Floats = np.sqrt(freedom / 2 / gammaincinv(freedom / 2, quantiles[:, None]))
    return scales
