"""Figure of the means of crossed factors."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_type
from bayesbias.base.number_text import percent_text, shown_name
from bayesbias.delivery.plots.style import (
    SERIES,
    as_text,
    furnish,
    new_figure,
    row_offsets,
    series_legend,
    short_label,
    title_figure,
)
from bayesbias.reports.posterior.factor_effects import FactorEffects

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _PANEL, _AROUND = 5.4, 2.5, 1.7
_MOST_PANELS = 12
_REACH = 0.09  # of the series of a level, as a share of the distance to the next level


def plot_factor_means(effects: FactorEffects) -> "Figure":
    """Draw the mean lean of each cell of crossed factors, with a line for each level of the second factor.

    Parameters
    ----------
    effects
        What `factor_effects` returned.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means (points) with the HPDI for words like these (thin lines) and for exactly these words (thick
        lines), in the unit of the table. The levels of one factor are on the x axis: of an ordered factor, if there is
        one, at its numbers; else of the first factor. The next factor has the lines. Each lean, and each combination
        of levels of further factors, has a panel; at most 12 are drawn, and the title says so.

    Raises
    ------
    ArgumentError
        If `effects` is something else.

    Examples
    --------
    >>> import warnings
    >>> names = bb.load_study("names_race_gender").without_controls()
    >>> path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> of_names = bb.load_embedding(path, words=names.words, case="exact,lower")
    >>> with warnings.catch_warnings(action="ignore"):  # of lost names
    ...     fitted = bb.fit(bb.distance_table(of_names, names, max_lost=0.5), random_seed=1)
    >>> len(bb.plots.plot_factor_means(bb.factor_effects(fitted)).axes)
    1
    """
    check_type("effects", effects, FactorEffects, "what bb.factor_effects returned")
    crossing, leans = effects.design.crossing, [lean.name for lean in effects.design.leans]
    across = next((name for name in crossing.levels if name in crossing.numbers), next(iter(crossing.levels)))
    lines = next((name for name in crossing.levels if name != across), "")
    further = [name for name in crossing.levels if name not in (across, lines)]
    cells = effects.cells.copy()
    for place, name in enumerate(crossing.levels):
        cells[_column(name)] = [levels[place] for levels in crossing.places] * len(leans)
    panels = list(cells.groupby(["lean", *map(_column, further)], sort=False))
    shown = panels[:_MOST_PANELS]
    figure = new_figure(_WIDTH, _AROUND + _PANEL * len(shown))
    drawn = figure.subplots(len(shown), 1, squeeze=False, sharex=True, sharey=True).ravel()
    levels = list(crossing.levels[across])
    places = crossing.numbers.get(across, np.arange(float(len(levels))))
    for axes, ((lean, *within), rows) in zip(drawn, shown, strict=True):
        if next(one for one in effects.design.leans if one.name == lean).sides:
            axes.axhline(0, color="#777777", linewidth=0.9, linestyle="--", zorder=0)
        _draw_panel(axes, rows, dict(zip(levels, places.tolist(), strict=True)), _column(across), _column(lines))
        named = [shown_name(str(lean))] if len(leans) > 1 else []
        named += [f"{shown_name(name)}: {shown_name(str(level))}" for name, level in zip(further, within, strict=True)]
        as_text(axes.set_title(short_label("; ".join(named), 70), fontsize=9))
        as_text(axes.set_ylabel(_lean_label(effects, str(lean)), fontsize=9))
    drawn[-1].set_xticks(places, [short_label(shown_name(level)) for level in levels])
    for label in drawn[-1].get_xticklabels():
        as_text(label)
    as_text(drawn[-1].set_xlabel(short_label(shown_name(across), 60)))
    if lines:
        series = {shown_name(level): SERIES[place % len(SERIES)] for place, level in enumerate(crossing.levels[lines])}
        series_legend(figure, series, short_label(shown_name(lines), 60), columns=3)
    cut = f"\n({len(shown)} of {len(panels)} panels)" if len(shown) < len(panels) else ""
    title_figure(
        figure,
        f"{short_label(effects.effects.settings['source'], 60)}\n{percent_text(effects.hdi_prob)} HPDI: words like "
        f"these (thin), these words (thick){cut}",
        size=10,
        converged=not any(doubt.kind == "convergence" for doubt in effects.doubts),
    )
    return figure


def _column(factor: str) -> str:
    """Return the column of a factor, whose name may be that of another column."""
    return f"factor {factor}"


def _draw_panel(axes: "Axes", rows: "pd.DataFrame", places: dict[str, float], across: str, lines: str) -> None:
    series = list(rows.groupby(lines, sort=False)) if lines in rows else [("", rows)]
    step = float(np.diff(np.sort(list(places.values()))).min())
    offsets = row_offsets(len(series), _REACH * step)
    for place, ((_, of_line), offset) in enumerate(zip(series, offsets, strict=True)):
        color, marker = SERIES[place % len(SERIES)]
        x = of_line[across].map(places).to_numpy(dtype=float) + offset
        axes.vlines(x, of_line["hdi_low"], of_line["hdi_high"], color=color, linewidth=1.0)
        axes.vlines(x, of_line["these_words_low"], of_line["these_words_high"], color=color, linewidth=2.8, alpha=0.6)
        order = np.argsort(x)
        axes.plot(
            x[order],
            of_line["mean"].to_numpy()[order],
            color=color,
            marker=marker,
            markersize=5,
            linewidth=1.0,
            linestyle="-" if len(series) > 1 or len(places) > 2 else "none",
        )
    values = list(places.values())
    margin = 0.4 * step
    axes.set_xlim(min(values) - margin, max(values) + margin)
    axes.locator_params(axis="y", nbins=6)
    furnish(axes, "y", small=True)


def _lean_label(effects: FactorEffects, name: str) -> str:
    measure = effects.measure
    lean = next(lean for lean in effects.design.leans if lean.name == name)
    sides = lean.sides
    if sides is None:
        return f"Mean {measure.short} {measure.preposition}\n{short_label(name, 30)}"
    near, far = (short_label(shown_name(side), 24) for side in sides)
    return f"Lean: {near} minus {far}\n(below 0: {measure.nearer} {measure.to} {near})"
