"""Contrasts in embeddings of several seeds, and over seeds."""

from typing import TYPE_CHECKING

from bayesbias.base.checks import check_type
from bayesbias.base.number_text import counted, percent_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.style import (
    COLORS,
    MARKERS,
    Look,
    draw_interval,
    furnish,
    new_figure,
    row_offsets,
    series_legend,
    short_label,
    title_figure,
)
from bayesbias.estimates.intervals import contrast_sides, settled
from bayesbias.reports.embeddings.trainings import TrainingComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 40
_SEED_COLOR = "#999999"


def plot_trainings(comparison: TrainingComparison) -> "Figure":
    """Draw each contrast in the embedding of each seed (thin) and over seeds (thick).

    Parameters
    ----------
    comparison
        A comparison from `compare_trainings`.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means (points) and HPDIs (lines) in units of cosine distance; a point is filled if the interval
        excludes 0. Of more than 40 contrasts, those with the largest variation between seeds.

    Raises
    ------
    ArgumentError
        If `comparison` is not a comparison of seeds.

    Examples
    --------
    >>> len(bb.plots.plot_trainings(bb.compare_trainings({1: fit, 2: fit}, random_seed=1)).axes)
    1
    """
    check_type("comparison", comparison, TrainingComparison, "what compare_trainings returned")
    every = comparison.contrasts
    shown = every.loc[sorted(every["seed_sd"].nlargest(MOST_ROWS).index)]
    seeds = list(dict.fromkeys(comparison.by_seed["seed"]))
    figure = new_figure(6.2, len(shown) * (0.22 + 0.05 * len(seeds)) + 1.9)
    axes = figure.subplots()
    axes.axvline(0, color=_SEED_COLOR, linewidth=1.0, linestyle="--", zorder=0)
    offsets = row_offsets(len(seeds) + 1, 0.36)
    keys = ["contrast", "protected_group", "protected_word"]
    by_key = {key: rows_of(rows) for key, rows in comparison.by_seed.groupby(keys, sort=False)}
    names = []
    for y, row in enumerate(rows_of(shown)):
        words = row["protected_word"] or row["protected_group"]
        names.append(f"{short_label(words)}: {row['contrast']}" if words else row["contrast"])
        other = contrast_sides(row["contrast"])[1]
        for offset, estimate in zip(offsets, [row, *by_key[tuple(row[key] for key in keys)]], strict=True):
            over_seeds = estimate is row
            color = COLORS[other] if over_seeds else _SEED_COLOR
            ends = estimate["hdi_low"], estimate["hdi_high"]
            marker, size, width = (MARKERS[other], 6.5, 2.6) if over_seeds else ("o", 3, 0.9)
            draw_interval(
                axes,
                estimate["mean"],
                ends,
                y + offset,
                Look(color, marker, size=size, width=width),
                filled=settled(*ends),
            )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel("Difference of mean cosine distances")
    furnish(axes, "x", rows=True)
    cut_note = (
        f"\n{len(shown)} of {len(every):,} contrasts, those that vary most between seeds"
        if len(shown) < len(every)
        else ""
    )
    subtitle = f"{percent_text(comparison.hdi_prob)} HPDI; filled: the interval leaves out 0"
    title_figure(figure, f"{counted(len(seeds), 'seed')}\n{subtitle}{cut_note}", size=10)
    others = list(dict.fromkeys(contrast_sides(name)[1] for name in shown["contrast"]))
    series = {name: (COLORS[name], MARKERS[name]) for name in others} | {"one seed": (_SEED_COLOR, "o")}
    baseline = contrast_sides(shown["contrast"].iloc[0])[0]
    series_legend(figure, series, f"Over seeds (thick): {baseline} minus", columns=len(series))
    return figure
