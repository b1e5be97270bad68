"""Figures of predictive checks, and of leans of words against a covariate."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_choice, check_type
from bayesbias.base.number_text import counted, estimate_text, percent_text, shown_name
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.style import (
    COLORS,
    SERIES,
    as_text,
    furnish,
    name_points,
    new_figure,
    short_label,
    title_figure,
)
from bayesbias.estimates.intervals import contrast_sides
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec
from bayesbias.reports.checks.posterior_check import PosteriorCheck, check_posterior
from bayesbias.reports.checks.prior_check import PriorCheck, check_prior
from bayesbias.reports.checks.replicated_tables import ALL
from bayesbias.reports.covariates.covariate_effect import CovariateEffect
from bayesbias.reports.covariates.effect_statements import SLOPE, held_fixed

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# More points in one panel cannot be distinguished.
_MOST_POINTS = 2000
_WIDTHS = {1: 7.0, 2: 8.0, 3: 10.0, 4: 12.0}


def plot_check(fit: "xr.DataTree | PosteriorCheck", *, random_seed: int | None = None) -> "Figure":
    """Draw actual against predicted distances, and the distributions of both.

    Parameters
    ----------
    fit
        A fit, or its check from `check_posterior`.
    random_seed
        As for `check_posterior`; ignored for its result.

    Returns
    -------
    matplotlib.figure.Figure
        One column per connection. Above, each point is a pair: the model's mean prediction and the actual distance,
        with the 50 % (dark) and 89 % (light) predictive intervals, and the share of actual distances inside each. At
        most 2,000 points per panel are drawn, and the title says so. Below, the densities of actual (filled) and
        replicated distances (line: mean; band: 89 % of the replicates). Units of cosine distance.

    References
    ----------
    Dobrzeniecka and Urbaniak, section "Posterior predictive check", figure.

    Examples
    --------
    >>> len(bb.plots.plot_check(fit, random_seed=1).axes)
    8
    """
    check = fit if isinstance(fit, PosteriorCheck) else check_posterior(fit, random_seed=random_seed)
    coverage = check.coverage.set_index("connection")
    # The random pairs of a large table may lack a rare connection.
    connections = [name for name in coverage.index if name != ALL]
    figure = new_figure(_WIDTHS[len(connections)], 6.6)
    grid = figure.subplots(2, len(connections), squeeze=False, sharey="row", height_ratios=(1.5, 1))
    points = 0
    for place, name in enumerate(connections):
        pairs = check.pairs[check.pairs["connection"] == name].sort_values("mean", kind="stable")
        shown = pairs.iloc[:: -(-len(pairs) // _MOST_POINTS)]
        points += len(shown)
        _draw_predictions(grid[0, place], shown, check.measure.column, COLORS[name])
        grid[0, place].set_title(_shares(name, coverage.loc[name]), fontsize=9.5, color=COLORS[name])
        density = check.densities[check.densities["connection"] == name]
        _draw_densities(grid[1, place], density, "replicated", COLORS[name])
        grid[1, place].set_xlabel(check.measure.in_units.capitalize())
    grid[1, 0].set_ylim(bottom=0)  # for all panels, at the end: a limit stops autoscaling
    grid[0, 0].set_ylabel(f"Actual {check.measure.in_units}")
    grid[1, 0].set_ylabel("Density")
    every = coverage.loc[ALL]
    drawn = f", {points:,} of them drawn" if points < check.total_pairs else ""
    title = (
        f"{short_label(check.source, 60)}\nposterior predictive check, model {short_label(check.model)}, "
        f"{check.total_pairs:,} pairs{drawn}\n"
        f"{every['inside_89']:.1%} inside the 89% interval, {every['inside_50']:.1%} inside the 50% interval"
    )
    title_figure(figure, title, converged=check.converged)
    _legend(figure, posterior=True)
    return figure


def plot_prior_check(
    table: "pd.DataFrame | PriorCheck",
    model: str | os.PathLike[str] | ModelSpec = DEFAULT_MODEL,
    *,
    priors: Mapping[str, Any] | None = None,
    random_seed: int | None = None,
) -> "Figure":
    """Draw the prior predictions of distances and connection means, with the observed values.

    Parameters
    ----------
    table
        A distance table, or its check from `check_prior`.
    model, priors, random_seed
        As for `check_prior`; ignored for its result.

    Returns
    -------
    matplotlib.figure.Figure
        Left, the density of a distance under the priors of each connection (black line) and the observed distances
        (filled), impossible distances hatched; right, 89 % of the prior of each mean and contrast of the connections
        (grey) and the observed mean or difference of means (point). Units of cosine distance.

    Examples
    --------
    >>> len(bb.plots.plot_prior_check(table, "hierarchical", random_seed=1).axes)
    6
    """
    check = (
        table if isinstance(table, PriorCheck) else check_prior(table, model, priors=priors, random_seed=random_seed)
    )
    connections = [name for name in check.distances["connection"] if name != ALL]
    figure = new_figure(10.5, 1.5 * max(2, len(connections)) + 1.6)
    left, right = np.asarray(figure.subfigures(1, 2, width_ratios=(1.15, 1)))
    panels = left.subplots(len(connections), 1, squeeze=False, sharex=True)[:, 0]
    for axes, name in zip(panels, connections, strict=True):
        _draw_densities(axes, check.densities[check.densities["connection"] == name], "prior", COLORS[name])
        for low, high in ((-1, 0), (2, 3)):
            axes.axvspan(low, high, facecolor="none", edgecolor="#BBBBBB", hatch="///", linewidth=0, zorder=0)
        row = check.distances.set_index("connection").loc[name]
        outside_text = f"{name}\n{row['outside']:.0%} of the prior\noutside 0 to 2"
        axes.text(
            0.985,
            0.93,
            outside_text,
            transform=axes.transAxes,
            ha="right",
            va="top",
            fontsize=8.5,
            color=COLORS[name],
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )
        axes.set_xlim(-1, 3)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("Density")
    panels[-1].set_xlabel("Cosine distance (hatched: impossible)")
    _draw_parameters(right, check.parameters)
    every = check.distances.iloc[0]
    title = (
        f"prior predictive check, model {short_label(check.model)}: {every['outside']:.1%} of the prior mass outside "
        f"0 to 2\nobserved: {short_label(check.source, 60)}"
    )
    title_figure(figure, title)
    _legend(figure, posterior=False)
    return figure


def _shares(name: str, row: "pd.Series[Any]") -> str:
    return (
        f"{name}, {counted(int(row['pairs']), 'pair')}\ninside 89%: {row['inside_89']:.1%}, inside 50%: "
        f"{row['inside_50']:.1%}"
    )


def _draw_predictions(axes: "Axes", shown: "pd.DataFrame", column: str, color: str) -> None:
    ends = shown.iloc[[0, *range(len(shown)), -1]]
    # Slightly wider than the points, because a model may predict the same mean for all.
    margin = 0.01 * np.ptp(shown[column])
    mean = ends["mean"].to_numpy() + np.array([-margin, *np.zeros(len(shown)), margin])
    for low, high, alpha in (("low_89", "high_89", 0.13), ("low_50", "high_50", 0.22)):
        axes.fill_between(mean, ends[low], ends[high], color=color, alpha=alpha, linewidth=0, rasterized=True)
    axes.plot(mean, ends["mean"], color="black", linewidth=0.8)
    axes.plot(
        shown["mean"],
        shown[column],
        "o",
        color=color,
        markersize=3 if len(shown) < 300 else 2,
        alpha=0.8 if len(shown) < 300 else 0.35,
        markeredgewidth=0,
        rasterized=True,
    )
    axes.set_xlabel("Mean prediction")
    furnish(axes, "both")


def _draw_densities(axes: "Axes", density: "pd.DataFrame", expected: str, color: str) -> None:
    if "low" in density:
        axes.fill_between(density["distance"], density["low"], density["high"], color="#D0D0D0", linewidth=0)
    axes.fill_between(density["distance"], density["observed"], step="mid", color=color, alpha=0.3, linewidth=0)
    axes.step(density["distance"], density["observed"], where="mid", color=color, linewidth=1.4)
    axes.plot(density["distance"], density[expected], color="black", linewidth=1.2)
    furnish(axes, "both")


def _draw_parameters(part: Any, parameters: "pd.DataFrame") -> None:
    """Draw the priors of connection means above, and those of contrasts, if any, below."""
    kinds = [name for name in ("connection_mean", "contrast") if (parameters["parameter"] == name).any()]
    frames = [parameters[parameters["parameter"] == name] for name in kinds]
    panels = part.subplots(len(kinds), 1, squeeze=False, height_ratios=[len(frame) for frame in frames])[:, 0]
    for axes, kind, frame in zip(panels, kinds, frames, strict=True):
        for y, row in enumerate(frame.to_dict("records")):
            name = contrast_sides(row["connection"])[1] or row["connection"]
            axes.plot([row["low"], row["high"]], [y, y], color="#999999", linewidth=5, solid_capstyle="butt")
            axes.plot(row["observed"], y, "o", color=COLORS[name], markersize=7)
        labels = [label.replace("associated - ", "associated -\n") for label in frame["connection"]]
        axes.set_yticks(range(len(frame)), labels, fontsize=9)
        axes.set_ylim(len(frame) - 0.4, -0.6)
        axes.set_xlabel("Mean cosine distance" if kind == "connection_mean" else "Difference of mean distances")
        if kind == "contrast":
            axes.axvline(0, color="#999999", linewidth=0.9, linestyle="--", zorder=0)
        furnish(axes, "both")


def _legend(figure: "Figure", *, posterior: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    grey = "#777777"
    if posterior:
        handles: list[Any] = [
            Line2D([], [], color=grey, marker="o", linestyle="none", markersize=4, label="a pair"),
            Patch(color=grey, alpha=0.5, label="50% interval"),
            Patch(color=grey, alpha=0.2, label="89% interval"),
            Patch(facecolor="#D6D6D6", edgecolor=grey, linewidth=1.4, label="actual distances"),
            Line2D([], [], color="black", linewidth=1.2, label="replicated"),
            Patch(color="#D0D0D0", label="89% of replicates"),
        ]
    else:
        handles = [
            Patch(facecolor="#D6D6D6", edgecolor=grey, linewidth=1.4, label="observed distances"),
            Line2D([], [], color="black", linewidth=1.2, label="prior"),
            Line2D([], [], color="#999999", linewidth=5, label="89% of the prior"),
            Line2D([], [], color=grey, marker="o", linestyle="none", markersize=7, label="observed mean"),
        ]
    columns = len(handles) if figure.get_figwidth() > 9 else 3
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


_MOST_NAMED = 12
_WIDTH, _HEIGHT = 6.4, 5.2


def plot_covariate(effect: CovariateEffect, covariate: str | None = None) -> "Figure":
    """Draw the lean of each word against a covariate, with the least-squares line.

    Parameters
    ----------
    effect
        What `covariate_effect` returned.
    covariate
        Name of the covariate; by default the first.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means (points), observed values (circles) and HPDIs (thin lines: error of attribute words) of leans,
        in the unit of the table, against the covariate in its own units; the line through the mean lean, with the HPDI
        of its slope in these words (dark) and in words like these (pale). The words farthest from the line, and those
        at the ends of the covariate, are named.

    Raises
    ------
    ArgumentError
        If `effect` is something else, or has no such covariate.

    Examples
    --------
    >>> lengths = {word: len(word) for word in table["protected_word"].unique()}
    >>> fitted = bb.fit(table, covariates={"letters": lengths}, random_seed=1)
    >>> len(bb.plots.plot_covariate(bb.covariate_effect(fitted, ("male", "female"))).axes)
    1
    """
    check_type("effect", effect, CovariateEffect, "what bb.covariate_effect returned")
    names = list(effect.covariates)
    name = names[0] if covariate is None else str(check_choice("covariate", covariate, names))
    words, line = effect.words, effect.line[effect.line["covariate"] == name]
    values = effect.covariates[name].to_numpy(dtype=float)
    figure = new_figure(_WIDTH, _HEIGHT)
    axes = figure.subplots()
    axes.axhline(0, color="#777777", linewidth=1.0, linestyle="--", zorder=0)
    color = SERIES[0][0]
    axes.fill_between(line["covariate_value"], line["hdi_low"], line["hdi_high"], color=color, alpha=0.15, linewidth=0)
    axes.fill_between(
        line["covariate_value"], line["these_words_low"], line["these_words_high"], color=color, alpha=0.30, linewidth=0
    )
    axes.plot(line["covariate_value"], line["mean"], color=color, linewidth=1.8)
    groups = list(dict.fromkeys(words["protected_group"].tolist()))
    for place, group in enumerate(groups):
        inside = (words["protected_group"] == group).to_numpy()
        shade, marker = ("#333333", "o") if len(groups) == 1 else SERIES[(place + 1) % len(SERIES)]
        axes.vlines(
            values[inside], words["hdi_low"][inside], words["hdi_high"][inside], color=shade, linewidth=0.8, alpha=0.55
        )
        label = short_label(group) if len(groups) > 1 else None
        axes.plot(values[inside], words["mean"][inside], marker, color=shade, markersize=4, label=label)
        axes.plot(
            values[inside],
            words["observed"][inside],
            marker,
            color=shade,
            markersize=4,
            markerfacecolor="none",
            markeredgewidth=0.6,
            alpha=0.55,
        )
    _name_words(axes, values, line, words)
    first, second = (short_label(side, 30) for side in effect.sides)
    as_text(axes.set_xlabel(f"{short_label(shown_name(name), 60)}{effect.percent_sign(name)}"))
    measure, to = effect.measure, effect.measure.preposition
    nearer = f"{first} {measure.nearer}" if measure.to == "with" else f"{measure.nearer} to {first}"
    lean = f"Lean: {measure.in_units}\n{to} {first} minus {to} {second} words (below 0: {nearer})"
    as_text(axes.set_ylabel(lean))
    furnish(axes, "both")
    if len(groups) > 1:
        for text in axes.legend(frameon=False, fontsize=8).get_texts():
            as_text(text)
    slope = next(
        row
        for row in rows_of(effect.effects)
        if (row["quantity"], row["covariate"], row["scope"]) == (SLOPE, name, "population")
    )
    fixed = held_fixed(name, names, within_groups=effect.within_groups)
    title_figure(
        figure,
        f"{short_label(effect.contrast, 40)} against {short_label(shown_name(name), 30)}, "
        f"{short_label(effect.embedding, 40)}\n"
        f"slope {estimate_text(slope, signed=True)} for {slope['unit']}{f', {fixed}' if fixed else ''}, "
        f"{percent_text(effect.hdi_prob)} HPDI for words like these\n"
        "points: estimates, pulled towards the line; circles: observed leans\n"
        "bands: slope in these words (dark), in words like these (pale)",
        size=10,
        converged=not any(doubt.kind == "convergence" for doubt in effect.doubts),
    )
    return figure


def _name_words(axes: "Axes", values: np.ndarray, line: "pd.DataFrame", words: "pd.DataFrame") -> None:
    """Name the words farthest from the line, and those with the least and the largest covariate."""
    means = words["mean"].to_numpy()
    fitted = np.interp(values, line["covariate_value"], line["mean"])
    farthest = np.argsort(-np.abs(means - fitted), kind="stable")[: _MOST_NAMED - 2].tolist()
    # The ends of the covariate come first, since a word without room is left out.
    chosen = [*dict.fromkeys([int(np.argmin(values)), int(np.argmax(values)), *farthest])]
    points = np.column_stack([values, means])
    name_points(axes, points[chosen], words["protected_word"].iloc[chosen], others=points)
