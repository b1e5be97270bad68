"""Reliability of scores: distributions over words, and intervals of base pairs or queries."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import counted
from bayesbias.delivery.plots.style import furnish, new_figure, row_offsets, series_legend, short_label, title_figure
from bayesbias.errors import ReportError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, ordered so that neighbours differ in lightness.
_SERIES = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#56B4E9", "v"), ("#4D4D4D", "P"))
# More reliabilities are drawn as a box.
_MOST_INTERVALS = 12
_NEEDED = ("mean", "hdi_low", "hdi_high")
# Koo and Li (2016): poor, moderate, good, excellent.
_LEVELS = (0.5, 0.75, 0.9)
_XLABEL = "Reliability (1: scores come out the same)"


def plot_reliability(
    frames: "Mapping[str, pd.DataFrame]", *, split: str | None = "rule", label: str | None = None
) -> "Figure":
    """Draw the reliability of several lists of words, base pairs or queries: figures 2 to 4 of the paper.

    Parameters
    ----------
    frames
        Name of a row (a list of target words, a query) -> frame from a function of `bayesbias.reliability`. Frames of
        several corpora or algorithms can be concatenated with a column of their names.
    split
        Column whose levels are drawn side by side in different colours, such as ``"rule"`` or ``"corpus"``; None for a
        single colour.
    label
        Column whose levels become rows, such as ``"query"`` or ``"base_pair"``; None for one row per frame.

    Returns
    -------
    matplotlib.figure.Figure
        Up to 12 reliabilities of a row and colour are points (posterior means) with intervals. For more, a box shows
        the middle half and the median of the means, whiskers show 89 % of them, and points the others. Dotted lines at
        0.5, 0.75 and 0.9 separate poor, moderate, good and excellent (Koo and Li 2016).

    Raises
    ------
    ReportError
        If there is no frame, or a frame lacks a column.

    References
    ----------
    Yupei Du, Qixiang Fang and Dong Nguyen (2021). Assessing the reliability of word embedding gender bias measures.
    EMNLP 2021, 10012-10034, figures 2 to 4.

    Examples
    --------
    >>> seeds = {seed: bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2, 3)}
    >>> pairs, words = [("he", "she"), ("man", "woman"), ("son", "daughter")], ["algebra", "geometry", "poetry"]
    >>> scores = bb.reliability.score_array(seeds, words, rules=["db_wa"], base_pairs=pairs, progress=False)
    >>> len(bb.reliability.plot_reliability({"math": bb.reliability.test_retest(scores)}).axes)
    1
    """
    rows = _rows(frames, split, label)
    levels = list(dict.fromkeys(key for parts in rows.values() for key in parts))
    if len(levels) > len(_SERIES):
        raise ReportError(f"{split!r} has {len(levels)} levels, but a figure has {len(_SERIES)} colours. Draw fewer.")
    style = dict(zip(levels, _SERIES, strict=False))
    figure = new_figure(6.2, 0.34 * len(rows) * max(1.0, 0.6 * len(levels)) + 1.8)
    axes = figure.subplots()
    _draw_levels(axes)
    offsets = dict(zip(levels, row_offsets(len(levels), 0.2), strict=True))
    for y, parts in enumerate(rows.values()):
        for level, part in parts.items():
            (_intervals if len(part) <= _MOST_INTERVALS else _box)(axes, part, y + offsets[level], *style[level])
    axes.set_yticks(range(len(rows)), [short_label(name) for name in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(right=1.02)
    axes.set_xlabel(_XLABEL)
    furnish(axes, "x", rows=True)
    if split is not None and len(levels) > 1:
        series_legend(figure, style, split, columns=len(levels))
    return figure


def plot_base_pairs(test_retest: "pd.DataFrame", inter_rater: "pd.DataFrame") -> "Figure":
    """Draw the reliability of each base pair over seeds and over scoring rules: figure 5 of the paper.

    Parameters
    ----------
    test_retest, inter_rater
        Frames from `bayesbias.reliability.test_retest` and `inter_rater` with ``"base_pair"``.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means and intervals, one row per base pair, sorted by mean test-retest reliability: on the left over
        seeds, one colour per rule; on the right over rules.

    Raises
    ------
    ReportError
        If a frame is not of base pairs, or the frames have different base pairs.

    Examples
    --------
    >>> seeds = {seed: bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2, 3)}
    >>> pairs, words = [("he", "she"), ("man", "woman"), ("son", "daughter")], ["algebra", "geometry", "poetry"]
    >>> scores = bb.reliability.score_array(seeds, words, rules=["db_wa", "ripa"], base_pairs=pairs, progress=False)
    >>> coefficients = bb.reliability.test_retest, bb.reliability.inter_rater
    >>> of_pairs = [coefficient(scores, "base_pair") for coefficient in coefficients]
    >>> len(bb.reliability.plot_base_pairs(*of_pairs).axes)
    2
    """
    first, second = (
        _rows({"": frame}, split, "base_pair") for frame, split in ((test_retest, "rule"), (inter_rater, None))
    )
    if set(first) != set(second):
        raise ReportError("The two frames have different base pairs. Give frames of the same scores.")
    pairs = sorted(first, key=lambda pair: -np.mean([part["mean"].mean() for part in first[pair].values()]))
    rules = list(first[pairs[0]])
    style = dict(zip(rules, _SERIES, strict=False))
    offsets = dict(zip(rules, row_offsets(len(rules), 0.25), strict=True))
    figure = new_figure(7.2, 0.3 * len(pairs) + 1.9)
    panels = figure.subplots(1, 2, sharey=True)
    for y, pair in enumerate(pairs):
        for rule, part in first[pair].items():
            _intervals(panels[0], part, y + offsets[rule], *style[rule])
        for part in second[pair].values():
            _intervals(panels[1], part, y, "#4D4D4D", "D")
    for axes, title in zip(panels, ("Over seeds (test-retest)", "Over rules (inter-rater)"), strict=True):
        _draw_levels(axes)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("Reliability", fontsize=9)
        axes.set_xlim(right=1.02)
        furnish(axes, "x", rows=True)
    panels[0].set_yticks(range(len(pairs)), [short_label(pair) for pair in pairs])
    panels[0].set_ylim(len(pairs) - 0.5, -0.5)
    title_figure(figure, counted(len(pairs), "base pair"), size=10)
    series_legend(figure, style, "rule, over seeds", columns=len(rules))
    return figure


def _rows(frames: Any, split: str | None, label: str | None) -> "dict[str, dict[str, pd.DataFrame]]":
    """Return row -> level of `split` -> the frame's rows."""
    import pandas as pd

    if not isinstance(frames, Mapping) or not frames:
        raise ReportError("Nothing to draw: give a dictionary with frames from functions of bb.reliability.")
    parts_by_row: dict[str, dict[str, pd.DataFrame]] = {}
    for name, frame in frames.items():
        if not isinstance(frame, pd.DataFrame):
            raise ReportError(f"{name!r} is a {type(frame).__name__}. Give a frame from bb.reliability.")
        for column in (*_NEEDED, *(name_of_column for name_of_column in (split, label) if name_of_column is not None)):
            if column not in frame.columns and not (column == split == "rule"):
                columns = list(map(str, frame.columns))
                raise ReportError(
                    f"{name!r} has no column {column!r}{did_you_mean(column, columns)}; it has {columns}."
                )
        for row, part in frame.groupby(label, sort=False) if label is not None else [(str(name), frame)]:
            levels = part.groupby(split, sort=False) if split in part.columns else [("", part)]
            parts_by_row[str(row)] = {str(level): rows for level, rows in levels}
    return parts_by_row


def _draw_levels(axes: "Axes") -> None:
    for level in _LEVELS:
        axes.axvline(level, color="#999999", linewidth=0.8, linestyle=":", zorder=0)


def _intervals(axes: "Axes", part: "pd.DataFrame", y: float, color: str, marker: str) -> None:
    ys = y + row_offsets(len(part), min(0.08, 0.02 * len(part)))
    axes.hlines(ys, part["hdi_low"], part["hdi_high"], color=color, linewidth=1.2, alpha=0.7)
    axes.plot(part["mean"], ys, marker, color=color, markersize=4, linestyle="")


def _box(axes: "Axes", part: "pd.DataFrame", y: float, color: str, marker: str) -> None:
    low, first, median, third, high = part["mean"].quantile([0.055, 0.25, 0.5, 0.75, 0.945])
    axes.hlines(y, low, high, color=color, linewidth=1)
    axes.hlines(y, first, third, color=color, linewidth=7, alpha=0.45)
    axes.plot(median, y, marker, color=color, markersize=5)
    beyond = part["mean"][(part["mean"] < low) | (part["mean"] > high)]
    axes.plot(beyond, np.full(len(beyond), y), ".", color=color, markersize=2.5, alpha=0.6)
