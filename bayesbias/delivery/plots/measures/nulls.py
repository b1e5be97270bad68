"""Measures without any association, and the false claims of methods."""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import digits_text
from bayesbias.delivery.plots.style import COLORS, MARKERS, furnish, new_figure, short_label
from bayesbias.errors import ReportError
from bayesbias.estimates.intervals import contrast_sides
from bayesbias.metrics.registry import MEASURES
from bayesbias.reports.measures.false_positive_rates import FalsePositiveRates
from bayesbias.reports.measures.measure_summary import share_with_error_text
from bayesbias.reports.measures.null_simulation import NullSimulation, check_null, check_observed, null_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BAR = "#A6BDDB"
_NOMINAL = "#000000"
_OBSERVED = COLORS["associated"]
_LABELS = {
    **{name: f"WEAT {label}".replace(" (", "\n(") for name, label in MEASURES["weat"].units.items()},
    "p_value": "WEAT p-value\n(one-sided)",
    "mac": MEASURES["mac"].units["mac"].replace(" (", "\n("),
    "p_value_preaveraged": "p-value of the t-test of MAC\n(averages of words, against 1)",
    "p_value_raw": "p-value of the t-test of MAC\n(single distances, against 1)",
}
_P_VALUE_BINS = np.linspace(0, 1, 21)
_BINS = 50


def plot_null(null: NullSimulation, *, observed: Mapping[str, float] | None = None) -> "Figure":
    """Draw the distributions of WEAT, MAC and their p-values without any association.

    Parameters
    ----------
    null
        Result of `simulate_null`.
    observed
        Values to mark, by name: any of `effect_size`, `test_statistic` and `mac`.

    Returns
    -------
    matplotlib.figure.Figure
        Six panels. The dashed line of a p-value is the expectation of a valid test: 5 % of the samples in each bar. An
        observed value is shown with the share of samples that are at least as extreme and its Monte Carlo standard
        error.

    Raises
    ------
    ReportError
        If `null` is not such a result, or `observed` has another name.

    References
    ----------
    Dobrzeniecka and Urbaniak, figure "Distributions of test statistics and effect sizes based on 10k simulations".

    Examples
    --------
    >>> null = bb.reports.simulate_null(samples=500, random_seed=1)
    >>> len(bb.plots.plot_null(null, observed={"effect_size": 1.27}).axes)
    6
    """
    check_null(null)
    marks = check_observed(observed or {})
    shares = null_share(null, **marks).to_dict("records") if marks else []
    figure = new_figure(9.0, 5.6)
    panels = figure.subplots(2, 3).ravel()
    for axes, (name, label) in zip(panels, _LABELS.items(), strict=True):
        values = null.samples[name].to_numpy()
        probability = name.startswith("p_value")
        bins = _P_VALUE_BINS if probability else _BINS
        axes.hist(values, bins=bins, weights=np.full(len(values), 1 / len(values)), color=_BAR)
        axes.set_xlabel(label)
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
        furnish(axes, "y", small=True)
        if probability:
            axes.axhline(0.05, color=_NOMINAL, linewidth=1, linestyle="--")
            axes.set_xlim(0, 1)
        for share in shares:
            if share["quantity"] == name:
                _mark(axes, share)
    for axes in panels[::3]:
        axes.set_ylabel("Share of the samples")
    (x, y), (a, b) = null.protected, null.attributes
    count = null.samples.sizes["sample"]
    figure.suptitle(
        f"No association: {count:,} samples of {x} + {y} protected by {a} + {b} attribute words\n"
        f"sd of a pair {null.sd:g}, of attribute effects {null.attribute_sd:g}, "
        f"of word effects {null.word_sd:g}",
        fontsize=11,
    )
    return figure


def _mark(axes: "Axes", share: Mapping[Hashable, Any]) -> None:
    value = share["observed"]
    axes.axvline(value, color=_OBSERVED, linewidth=1.6)
    low, high = axes.get_xlim()
    axes.set_title(
        f"observed {digits_text(value, 4)}: at least as extreme\n"
        f"in {share_with_error_text(share['share'], share['mc_se'])} of the samples",
        fontsize=8,
        color=_OBSERVED,
    )
    axes.set_xlim(min(low, value - 0.02 * (high - low)), max(high, value + 0.02 * (high - low)))


def plot_false_positive_rates(*claims: FalsePositiveRates) -> "Figure":
    """Draw the rates of false claims of each method, with their nominal rates.

    Parameters
    ----------
    *claims
        Results of `false_positive_rates` with the same methods, one panel each.

    Returns
    -------
    matplotlib.figure.Figure
        Points: rates, with bars of three Monte Carlo standard errors. Black ticks: nominal rates.

    Raises
    ------
    ReportError
        If there is no result, or the results hold different methods.

    Examples
    --------
    >>> claims = bb.reports.false_positive_rates(samples=50, random_seed=1, methods=["weat", "t_test_raw"])
    >>> len(bb.plots.plot_false_positive_rates(claims).axes)
    1
    """
    if not claims or not all(isinstance(result, FalsePositiveRates) for result in claims):
        raise ReportError("Nothing to draw: give what false_positive_rates returned, at least once.")
    keys = ["method", "contrast", "rule", "nominal"]
    if any(not result.rates[keys].equals(claims[0].rates[keys]) for result in claims):
        raise ReportError("The results hold different methods or contrasts. Draw each separately.")
    order = claims[0].rates.reset_index(drop=True)
    contrasts = list(dict.fromkeys(order["contrast"]))
    order = order.sort_values("contrast", key=lambda names: names.map(contrasts.index), kind="stable")
    figure = new_figure(2.8 + 3.3 * len(claims), 1.6 + 0.3 * (len(order) + len(contrasts)))
    panels = figure.subplots(1, len(claims), sharey=True, sharex=True, squeeze=False)[0]
    place = {row_id: y + contrasts.index(name) for y, (row_id, name) in enumerate(order["contrast"].items())}
    for axes, result in zip(panels, claims, strict=True):
        for y, row in zip(place.values(), result.rates.loc[order.index].to_dict("records"), strict=True):
            other = contrast_sides(row["contrast"])[1]
            bar = [[min(3 * row["mc_se"], row["rate"])], [3 * row["mc_se"]]]
            axes.errorbar(row["rate"], y, xerr=bar, color=COLORS[other], marker=MARKERS[other], markersize=5)
            axes.plot([row["nominal"]] * 2, [y - 0.38, y + 0.38], color=_NOMINAL, linewidth=1.4)
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
        furnish(axes, "x", small=True)
        effects = f"attribute words {result.attribute_sd:g}\nprotected words {result.word_sd:g}"
        axes.set_title(f"sd of effects\n{effects}", fontsize=9)
    names = [f"{row['method']}, {row['rule']}" for row in order.to_dict("records")]
    panels[0].set_yticks(list(place.values()), [short_label(name, 60) for name in names])
    panels[0].set_xlim(left=-0.01)
    panels[0].set_ylim(max(place.values()) + 0.8, -1.6)
    for contrast in contrasts:
        first = min(y for row_id in order.index[order["contrast"] == contrast])
        panels[0].text(0.005, first - 0.85, contrast, fontsize=9, fontweight="bold", verticalalignment="center")
    figure.supxlabel(
        "Share of data sets without any association in which one is claimed\n"
        "(bars: 3 Monte Carlo standard errors; black ticks: nominal rates)",
        fontsize=9,
    )
    return figure
