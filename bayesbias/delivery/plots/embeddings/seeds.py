"""The same contrasts in embeddings of several seeds, and over all of them."""

from typing import TYPE_CHECKING

from bayesbias.base.checks import check_type
from bayesbias.base.statements import percent_text, rows_of
from bayesbias.delivery.plots.style import (
    COLORS,
    MARKERS,
    furnish,
    new_figure,
    row_offsets,
    series_legend,
    short_label,
    title_figure,
)
from bayesbias.estimates.intervals import contrast_sides, settled
from bayesbias.reports.embeddings.seeds import SeedComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 40
_SEED_COLOR = "#999999"


def plot_seeds(comparison: SeedComparison) -> "Figure":
    """Draw each contrast in the embedding of each seed (thin), and over seeds like these (thick).

    Parameters
    ----------
    comparison
        What `compare_seeds` returned.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means (points) and HPDIs (lines), in units of cosine distance; filled where an interval leaves out
        0. Of more than 40 contrasts those whose seeds part the most, and the title says so.

    Raises
    ------
    ArgumentError
        If this is no comparison of seeds.

    Examples
    --------
    >>> len(bb.plots.plot_seeds(bb.compare_seeds({1: fit, 2: fit}, random_seed=1)).axes)
    1
    """
    check_type("comparison", comparison, SeedComparison, "what compare_seeds returned")
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
        for offset, each in zip(offsets, [row, *by_key[tuple(row[key] for key in keys)]], strict=True):
            whole = each is row
            color = COLORS[other] if whole else _SEED_COLOR
            ends = [each["hdi_low"], each["hdi_high"]]
            axes.plot(ends, [y + offset] * 2, color=color, linewidth=2.6 if whole else 0.9, solid_capstyle="butt")
            axes.plot(
                each["mean"],
                y + offset,
                MARKERS[other] if whole else "o",
                color=color,
                markersize=6.5 if whole else 3,
                markerfacecolor=color if settled(*ends) else "white",
            )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel("Difference of mean cosine distances")
    furnish(axes, "x", rows=True)
    more = (
        f"\n{len(shown)} of {len(every):,} contrasts, those whose seeds part the most"
        if len(shown) < len(every)
        else ""
    )
    said = f"{percent_text(comparison.hdi_prob)} HPDI; filled: the interval leaves out 0"
    title_figure(figure, f"{len(seeds)} seeds\n{said}{more}", size=10)
    others = list(dict.fromkeys(contrast_sides(name)[1] for name in shown["contrast"]))
    series = {name: (COLORS[name], MARKERS[name]) for name in others} | {"one seed": (_SEED_COLOR, "o")}
    baseline = contrast_sides(shown["contrast"].iloc[0])[0]
    series_legend(figure, series, f"Over seeds (thick): {baseline} minus", columns=len(series))
    return figure
