"""Figures of a posterior: contrasts, mean distances of words, and the distances themselves."""

from collections.abc import Mapping
from math import isfinite
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_choice
from bayesbias.base.number_text import counted, percent_text, shown_name
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.style import (
    COLORS,
    DISTANCE_LABEL,
    MARKERS,
    as_text,
    connection_legend,
    draw_estimate,
    draw_observed,
    furnish,
    label_word_rows,
    new_figure,
    row_offsets,
    shade_rope,
    short_label,
    shown_words,
    title_figure,
    words_by_group,
)
from bayesbias.estimates.intervals import contrast_sides, has_direction
from bayesbias.models.fits import fit_attribute, measure_of_fit
from bayesbias.reports.measures.mac_shares import mac_shares, valid_tables
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.posterior.estimate_tables import EVERYONE
from bayesbias.reports.posterior.summary import summary
from bayesbias.tables.measures import COSINE_DISTANCE
from bayesbias.tables.schema import FrameLike, as_frame, source_name, table_facts

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_ROWS = 60
MOST_GROUPS = 10
_CONTRASTS_WIDTH = 5.4
_LONGEST_SOURCE = 120  # letters of a title, which takes two lines
_INCHES_A_ROW = 0.27
_MORE_A_CONTRAST = 0.35
_WORDS_WIDTH = 8.5
_INCHES_A_WORD = 0.34
BY = ("connection", "protected_word")
_BINS = 60


def plot_contrasts(
    fit: "xr.DataTree",
    *,
    baseline: str = "associated",
    hdi_prob: float | None = None,
    rope: float | tuple[float, float] | None = None,
    words: bool = True,
    contrast: str | None = None,
    most: int = MOST_GROUPS,
) -> "Figure":
    """Draw the contrasts of a fit as a forest plot: all protected words, each group, and each word.

    Parameters
    ----------
    fit
        A fit from `fit`.
    baseline
        Connection from which the others are subtracted.
    hdi_prob
        Probability inside the highest posterior density intervals. None: that of the fit.
    rope
        Region of practical equivalence, in units of cosine distance, which is shaded: a half-width or (low, high).
    words
        Whether to show each word; without words, at most `most` groups, those farthest from the overall contrast.
    contrast
        Name of the only contrast to draw, such as ``"associated - different"``. None (default): all.
    most
        Largest number of groups where no words are shown.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means (points) and HPDIs (lines) of baseline minus other, in units of cosine distance; below 0 the
        baseline's words are nearer. A point is filled if the contrast is settled, has a dot if it is borderline, else
        is hollow, also if no word has both sides. A tick behind the point marks the observed difference of means.
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
    if contrast is not None:
        check_choice("contrast", contrast, tuple(dict.fromkeys(frame["contrast"])))
    return figure_of_contrasts(fit, frame, words=words, contrast=contrast, most=most)


def figure_of_contrasts(
    fit: "xr.DataTree",
    frame: "pd.DataFrame",
    *,
    words: bool = True,
    contrast: str | None = None,
    most: int = MOST_GROUPS,
) -> "Figure":
    """Draw contrasts of a fit, which a report has at hand, as `plot_contrasts` does."""
    baseline, hdi_prob, rope = (frame.settings[name] for name in ("baseline", "hdi_prob", "rope"))
    frame = frame if contrast is None else frame[frame["contrast"] == contrast]
    shown, count = _shown(frame) if words else _shown_groups(frame, most)
    names = list(dict.fromkeys(shown["row"]))
    others = [contrast_sides(name)[1] for name in dict.fromkeys(shown["contrast"])]
    figure = new_figure(_CONTRASTS_WIDTH, _INCHES_A_ROW * (1 + _MORE_A_CONTRAST * (len(others) - 1)) * len(names) + 1.9)
    axes = figure.subplots()
    axes.axvline(0, color="#777777", linewidth=1.0, linestyle="--", zorder=0)
    offsets = row_offsets(len(others), 0.26)
    for row in rows_of(shown):
        other = contrast_sides(row["contrast"])[1]
        y = names.index(row["row"]) + offsets[others.index(other)]
        # No word has both sides where there is no observed difference.
        filled = isfinite(row["observed"]) and has_direction(row)
        size, width = (4.0, 1.1) if row["of_word"] else (6.5, 2.2)
        draw_estimate(axes, dict(row, connection=other), y, size=size, width=width, filled=filled)
        draw_observed(axes, row["observed"], y, size=size)
    if rope:
        shade_rope(axes, rope)
    axes.locator_params(axis="x", nbins=6)
    _label_rows(axes, shown, names)
    measure = measure_of_fit(fit)
    what = f"Difference of mean {measure.of_means}"
    if len(others) == 1:
        what = f"Mean {measure.of_means}:\n{baseline} minus {others[0]}"
    axes.set_xlabel(f"{what}\n(below 0: {baseline} words are {measure.nearer})")
    subtitle = f"{percent_text(hdi_prob)} HPDI; filled: settled; dot: borderline; tick: observed difference"
    cut_note = (
        f"\n{len(names)} of {count:,} rows, the {'words farthest from 0' if words else 'groups farthest from all'}"
        if count > len(names)
        else ""
    )
    title_figure(
        figure,
        f"{short_label(source_name(fit_attribute(fit, 'table')), _LONGEST_SOURCE)}\n{subtitle}{cut_note}",
        size=10,
        converged=not fit_attribute(fit, "convergence_problems"),
    )
    if len(others) > 1:
        connection_legend(figure, others, f"{baseline.capitalize()} minus")
    return figure


def _shown(frame: "pd.DataFrame") -> "tuple[pd.DataFrame, int]":
    """Return the rows of a figure with their names, and the number of all names."""
    word, group = frame["protected_word"], frame["protected_group"].map(shown_name)
    of_word = word != ""
    names = word.where(of_word, group.where(group != "", EVERYONE))
    # A group and a word may have the same name.
    named = frame.assign(row=names.where(of_word | (group == ""), group + " (group)"), of_word=of_word)
    name_count = named["row"].nunique()
    if name_count <= MOST_ROWS:
        return named, name_count
    size = named["mean"].abs().where(of_word, np.inf).groupby(named["row"], sort=False).max()
    farthest = size.nlargest(MOST_ROWS, keep="first").index
    return named[named["row"].isin(farthest)], name_count


def _shown_groups(frame: "pd.DataFrame", most: int) -> "tuple[pd.DataFrame, int]":
    """Return the rows of all words and of the groups that are farthest from them, and the number of all rows."""
    named, _ = _shown(frame[frame["protected_word"] == ""])
    overall = named[named["protected_group"] == ""].set_index("contrast")["mean"]
    apart = (named["mean"] - named["contrast"].map(overall)).abs().groupby(named["row"], sort=False).max()
    farthest = apart.drop(EVERYONE).nlargest(most).index
    return named[(named["protected_group"] == "") | named["row"].isin(farthest)], len(apart)


def _label_rows(axes: "Axes", shown: "pd.DataFrame", names: list[str]) -> None:
    axes.set_yticks(range(len(names)), ["\n".join(wrap(short_label(name, 48), 24)) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    words = shown[shown["of_word"]]
    if len(words):
        axes.axhline(names.index(words["row"].iloc[0]) - 0.5, color="#BBBBBB", linewidth=0.8)
    furnish(axes, "x", rows=True)
    for label, name in zip(axes.get_yticklabels(), names, strict=True):
        if name == EVERYONE or name.endswith(" (group)"):
            label.set_fontweight("bold")


def plot_connections(fit: "xr.DataTree", *, hdi_prob: float | None = None) -> "Figure":
    """Draw the mean distance of all protected words to each kind of attribute word.

    Parameters
    ----------
    fit
        A fit from `fit`.
    hdi_prob
        Probability inside the highest posterior density interval. None: that of the fit.

    Returns
    -------
    matplotlib.figure.Figure
        One panel: posterior means (points) and HPDIs (lines) in units of cosine distance.

    Examples
    --------
    >>> len(bb.plots.plot_connections(fit).axes)
    1
    """
    return figure_of_connections(fit, summary(fit, level="overall", hdi_prob=hdi_prob))


def figure_of_connections(fit: "xr.DataTree", frame: "pd.DataFrame") -> "Figure":
    """Draw the means of connections from a `summary` of a fit."""
    figure = new_figure(_WORDS_WIDTH, 3.0)
    axes = figure.subplots()
    _draw_connections(axes, frame)
    _finish(figure, fit, frame.settings["hdi_prob"])
    return figure


def plot_words(fit: "xr.DataTree", *, hdi_prob: float | None = None) -> "Figure":
    """Draw the mean distances of all protected words above, and of each word below.

    Parameters
    ----------
    fit
        A fit from `fit`.
    hdi_prob
        Probability inside the highest posterior density interval. None: that of the fit.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels with one x axis: posterior means (points) and HPDIs (lines) in units of cosine distance,
        coloured by connection. A hollow point is a word without any pair of that connection in the table. Of more than
        200 words, those farthest from the mean are shown.

    References
    ----------
    Dobrzeniecka and Urbaniak, appendix "Visualizations".

    Examples
    --------
    >>> len(bb.plots.plot_words(fit).axes)
    2
    """
    return figure_of_words(fit, summary(fit, hdi_prob=hdi_prob))


def figure_of_words(fit: "xr.DataTree", frame: "pd.DataFrame") -> "Figure":
    """Draw the means of all words and of each word from a `summary` of a fit."""
    words, label = shown_words(frame[frame["parameter"] == "word_mean"], "mean")
    heights = [1.5, _INCHES_A_WORD * words["protected_word"].nunique() + 0.5]
    figure = new_figure(_WORDS_WIDTH, sum(heights) + 1.3)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=heights)
    _draw_connections(top, frame)
    _draw_words(bottom, words)
    bottom.set_ylabel(label)
    _finish(figure, fit, frame.settings["hdi_prob"])
    return figure


def _draw_connections(axes: "Axes", frame: "pd.DataFrame") -> None:
    means = frame[frame["parameter"] == "connection_mean"].reset_index(drop=True)
    for y, row in enumerate(means.to_dict("records")):
        draw_estimate(axes, row, y, size=7, width=7 / 3, filled=row["pairs"])
    axes.set_yticks(range(len(means)), means["connection"])
    axes.set_ylim(len(means) - 0.4, -0.6)
    axes.set_ylabel("All protected\nwords")
    furnish(axes, "x", rows=True)


def _draw_words(axes: "Axes", words: "pd.DataFrame") -> None:
    groups = words_by_group(words)
    place = {word: y for y, word in enumerate(groups)}
    connections = list(dict.fromkeys(words["connection"]))
    offsets = dict(zip(connections, row_offsets(len(connections), 0.27), strict=True))
    for row in words.to_dict("records"):
        y = place[row["protected_word"]] + offsets[row["connection"]]
        draw_estimate(axes, row, y, size=4, width=4 / 3, filled=row["pairs"])
    label_word_rows(axes, list(groups), list(groups.values()))


def _finish(figure: "Figure", fit: "xr.DataTree", hdi_prob: float) -> None:
    """Add the line at 1 of distances, the axis label, the title and the legend."""
    low, high = figure.axes[-1].get_xlim()
    measure = measure_of_fit(fit)
    if measure == COSINE_DISTANCE and low < 1 < high:
        for axes in figure.axes:
            axes.axvline(1, color="#999999", linewidth=0.9, linestyle="--", zorder=0)
    figure.axes[-1].set_xlabel(DISTANCE_LABEL if measure == COSINE_DISTANCE else f"Mean {measure.in_units}")

    title_figure(
        figure,
        f"{short_label(source_name(fit_attribute(fit, 'table')), _LONGEST_SOURCE)}\n"
        f"posterior means and {percent_text(hdi_prob)} HPDI, model {short_label(fit_attribute(fit, 'model')['name'])}",
        converged=not fit_attribute(fit, "convergence_problems"),
    )
    connections = list(map(str, fit["constant_data"].to_dataset()["connection"].values))
    connection_legend(figure, connections, "Attribute words, by their connection to the protected word")


def plot_distances(
    table: "FrameLike | Mapping[str, FrameLike]", *, by: str = "connection", mac: float | None = None
) -> "Figure":
    """Draw the similarities of a table with the band 0 +/- (1 - MAC).

    Parameters
    ----------
    table
        A distance table; or tables to compare side by side, by name, with one band, that of the first table.
    by
        ``"connection"`` (default): a histogram per connection. ``"protected_word"``: per word and connection the
        median, with lines over 50 % (thick) and 89 % (thin) of the pairs; of more than 200 words, those farthest from
        the mean.
    mac
        MAC that sets the band, as for `mac_shares`.

    Returns
    -------
    matplotlib.figure.Figure
        Similarities (1 minus distance, -1 to 1) on the x axis, with the band shaded. Pairs to the right of the band are
        nearer than what MAC reads as bias; the shares inside and to the right are beside each connection. Several
        tables stand side by side, with one scale and one band.

    Raises
    ------
    TableError, ReportError
        As for `mac_shares`.

    References
    ----------
    Dobrzeniecka and Urbaniak, figure "Empirical distributions of cosine similarities".

    Examples
    --------
    >>> len(bb.plots.plot_distances(table).axes)
    4
    """
    table = as_frame(table)
    check_choice("by", by, BY)
    tables = valid_tables(table)
    by_connection = mac_shares(table, mac=mac)
    shares, band = _by_table(by_connection.shares, tables), by_connection.band
    width = 8.5 if len(tables) == 1 else 5.5 * len(tables)
    if by == "connection":
        names = list(dict.fromkeys(by_connection.shares["connection"]))
        figure = new_figure(width, 1.35 * len(names) + 1.7)
        panels = figure.subplots(len(names), len(tables), squeeze=False, sharex=True)
        _draw_histograms(panels, tables, shares, names)
    else:
        words, label = shown_words(mac_shares(table, level="word", mac=mac).shares, "median")
        figure = new_figure(width, _INCHES_A_WORD * words["protected_word"].nunique() + 2.3)
        panels = figure.subplots(1, len(tables), squeeze=False, sharex=True)
        for axes, rows in zip(panels[0], _by_table(words, tables), strict=True):
            _draw_word_distances(axes, rows)
        connections = [name for name in COLORS if name in set(words["connection"])]
        connection_legend(figure, connections, "Median; lines hold 50% (thick) and 89% (thin) of a word's pairs")
        panels[0, 0].set_ylabel(label)
    for axes in panels.flat:
        axes.axvspan(-band, band, color="#F0E442", alpha=0.3, linewidth=0, zorder=0)
        axes.axvline(0, color="#999999", linewidth=0.9, linestyle="--", zorder=0)
        furnish(axes, "x", rows=True)
    for axes in panels[-1]:
        axes.set_xlabel("Cosine similarity (0 = unrelated, 1 = same direction)")
    if isinstance(table, Mapping):
        source = "Similarities in one band"
        for axes, name in zip(panels[0], tables, strict=True):
            as_text(axes.set_title(short_label(name, 50), fontsize=10))
    else:
        source = short_label(source_name(table_facts(tables[""])), _LONGEST_SOURCE)
    whose = "MAC" if mac is not None else "MAC of the table" if len(tables) == 1 else "MAC of the first table"
    title_figure(
        figure,
        f"{source}\nband: 0 ± {band:.3f} = 1 - MAC ({whose}: {by_connection.mac:.3f})"
        f"{'; triangles: medians' if by == 'connection' else ''}",
    )
    return figure


def _by_table(shares: "pd.DataFrame", tables: "dict[str, pd.DataFrame]") -> "list[pd.DataFrame]":
    """Return the rows of each table."""
    return [shares[shares["table"] == name] for name in tables] if "table" in shares else [shares]


def _draw_histograms(
    panels: np.ndarray, tables: "dict[str, pd.DataFrame]", shares: "list[pd.DataFrame]", names: list[str]
) -> None:
    """Draw a column of panels for each table, with common bins."""
    similarities = [table["cosine_similarity"].to_numpy() for table in tables.values()]
    low, high = min(map(np.min, similarities)), max(map(np.max, similarities))
    edges = np.linspace(low, high + 1e-9, _BINS + 1)
    for axes in panels.flat:
        axes.set_yticks([])
    for column, (table, similarity, rows) in enumerate(zip(tables.values(), similarities, shares, strict=True)):
        for row in rows_of(rows):
            name = row["connection"]
            axes = panels[names.index(name), column]
            connection_similarity = similarity[(table["connection"] == name).to_numpy()]
            _draw_histogram(axes, connection_similarity, edges, row)


def _draw_histogram(axes: "Axes", similarity: np.ndarray, edges: np.ndarray, row: "dict[str, Any]") -> None:
    name = row["connection"]
    density, _ = np.histogram(similarity, edges, density=True)
    axes.stairs(density, edges, fill=True, color=COLORS[name], alpha=0.75)
    axes.plot(row["median"], 0, "^", color="black", markersize=6, clip_on=False)
    shares_text = (
        f"{name}, {counted(row['pairs'], 'pair')}\n{row['inside']:.0%} inside the band\n{row['above']:.0%} nearer"
    )
    axes.text(1.01, 0.95, shares_text, transform=axes.transAxes, ha="left", va="top", fontsize=9, color=COLORS[name])
    axes.set_ylabel("Density", fontsize=9)
    axes.margins(x=0.02)


def _draw_word_distances(axes: "Axes", words: "pd.DataFrame") -> None:
    groups = words_by_group(words)
    place = {word: y for y, word in enumerate(groups)}
    connections = [name for name in COLORS if name in set(words["connection"])]
    offsets = dict(zip(connections, row_offsets(len(connections), 0.3), strict=True))
    for name in connections:
        rows = words[words["connection"] == name]
        y = rows["protected_word"].map(place).to_numpy(float) + offsets[name]
        for low, high, width in (("low_89", "high_89", 0.9), ("low_50", "high_50", 2.4)):
            axes.hlines(y, rows[low], rows[high], color=COLORS[name], linewidth=width, capstyle="butt")
        axes.plot(rows["median"], y, MARKERS[name], color=COLORS[name], markersize=4)
    label_word_rows(axes, list(groups), list(groups.values()))
