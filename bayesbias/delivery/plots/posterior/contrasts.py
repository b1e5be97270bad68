"""Contrasts of a fit: how much nearer associated attribute words are, for all, by group and by word."""

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.number_text import percent_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.style import (
    connection_legend,
    draw_estimate,
    furnish,
    new_figure,
    row_offsets,
    shade_rope,
    short_label,
    title_figure,
)
from bayesbias.estimates.intervals import contrast_sides, settled
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.reports.checks.posterior_check import source_name
from bayesbias.reports.posterior.contrasts import contrasts

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 60
MOST_GROUPS = 10
_WIDTH = 5.4
_INCHES_A_ROW = 0.27
_EVERYONE = "All protected words"


def plot_contrasts(
    fit: "xr.DataTree",
    *,
    baseline: str = "associated",
    hdi_prob: float = HDI_PROB,
    rope: float | tuple[float, float] | None = None,
    words: bool = True,
) -> "Figure":
    """Draw the contrasts of a fit as a forest plot: all protected words, each group, and each word.

    Parameters
    ----------
    fit
        A fit from `fit`.
    baseline
        Connection from which the others are subtracted.
    hdi_prob
        Probability inside the highest posterior density intervals.
    rope
        Region of practical equivalence, in units of cosine distance, which is shaded: a half-width or (low, high).
    words
        Whether to show each word; without words, at most the 10 groups that are farthest from the overall contrast.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means (points) and HPDIs (lines) of baseline minus other, in units of cosine distance; below 0 the
        baseline's words are nearer. A point is filled if its interval excludes 0, and hollow if the contrast is not
        settled or borderline, or no word has both sides. A cross marks the plain difference of means.
        Of more than 60 rows, the words farthest from 0 are shown, and the title says so.

    Raises
    ------
    FitError, ReportError, ArgumentError
        As for `contrasts`.

    Examples
    --------
    >>> len(bb.plots.plot_contrasts(fit, rope=0.02).axes)
    1
    """
    frame = contrasts(fit, baseline=baseline, level="all", hdi_prob=hdi_prob, rope=rope)
    shown, count = _shown(frame) if words else _shown_groups(frame)
    names = list(dict.fromkeys(shown["row"]))
    others = [contrast_sides(name)[1] for name in dict.fromkeys(shown["contrast"])]
    figure = new_figure(_WIDTH, _INCHES_A_ROW * len(names) + 1.9)
    axes = figure.subplots()
    axes.axvline(0, color="#777777", linewidth=1.0, linestyle="--", zorder=0)
    offsets = row_offsets(len(others), 0.26)
    for row in rows_of(shown):
        other = contrast_sides(row["contrast"])[1]
        y = names.index(row["row"]) + offsets[others.index(other)]
        # No word has both sides where there is no plain difference.
        filled = isfinite(row["observed"]) and settled(row["hdi_low"], row["hdi_high"]) and not row["borderline"]
        size, width = (4.0, 1.1) if row["of_word"] else (6.5, 2.2)
        draw_estimate(axes, dict(row, connection=other), y, size=size, width=width, filled=filled)
        axes.plot(row["observed"], y, "x", color="black", markersize=size, markeredgewidth=1.0, zorder=5)
    if frame.attrs["rope"]:
        shade_rope(axes, frame.attrs["rope"])
    axes.locator_params(axis="x", nbins=6)
    _label_rows(axes, shown, names)
    axes.set_xlabel(f"Difference of mean cosine distances\n(below 0: {baseline} words are nearer)")
    subtitle = (
        f"{percent_text(hdi_prob)} HPDI; cross: plain difference\nfilled: the interval leaves out 0, not borderline"
    )
    cut_note = (
        f"\n{len(names)} of {count:,} rows, the {'words farthest from 0' if words else 'groups farthest from all'}"
        if count > len(names)
        else ""
    )
    title_figure(
        figure,
        f"{short_label(source_name(fit_attribute(fit, 'table')), 50)}\n{subtitle}{cut_note}",
        size=10,
        converged=not fit_attribute(fit, "convergence_problems"),
    )
    connection_legend(figure, others, f"{baseline.capitalize()} minus")
    return figure


def _shown(frame: "pd.DataFrame") -> "tuple[pd.DataFrame, int]":
    """Return the rows of a figure with their names, and the number of all names."""
    word, group = frame["protected_word"], frame["protected_group"]
    of_word = word != ""
    names = word.where(of_word, group.where(group != "", _EVERYONE))
    # A group and a word may have the same name.
    named = frame.assign(row=names.where(of_word | (group == ""), group + " (group)"), of_word=of_word)
    name_count = named["row"].nunique()
    if name_count <= MOST_ROWS:
        return named, name_count
    size = named["mean"].abs().where(of_word, np.inf).groupby(named["row"], sort=False).max()
    farthest = size.nlargest(MOST_ROWS, keep="first").index
    return named[named["row"].isin(farthest)], name_count


def _shown_groups(frame: "pd.DataFrame") -> "tuple[pd.DataFrame, int]":
    """Return the rows of all words and of the groups that are farthest from them, and the number of all rows."""
    named, _ = _shown(frame[frame["protected_word"] == ""])
    overall = named[named["protected_group"] == ""].set_index("contrast")["mean"]
    apart = (named["mean"] - named["contrast"].map(overall)).abs().groupby(named["row"], sort=False).max()
    farthest = apart.drop(_EVERYONE).nlargest(MOST_GROUPS).index
    return named[(named["protected_group"] == "") | named["row"].isin(farthest)], len(apart)


def _label_rows(axes: "Axes", shown: "pd.DataFrame", names: list[str]) -> None:
    axes.set_yticks(range(len(names)), [short_label(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    words = shown[shown["of_word"]]
    if len(words):
        axes.axhline(names.index(words["row"].iloc[0]) - 0.5, color="#BBBBBB", linewidth=0.8)
    furnish(axes, "x", rows=True)
    for label, name in zip(axes.get_yticklabels(), names, strict=True):
        if name == _EVERYONE or name.endswith(" (group)"):
            label.set_fontweight("bold")
