"""Scores of single words by base pair and rule."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.number_text import counted
from bayesbias.delivery.plots.style import as_text, furnish, new_figure, short_label
from bayesbias.errors import ReportError
from bayesbias.metrics.registry import MEASURES
from bayesbias.metrics.result import MeasureResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FIRST, _SECOND = "#0072B2", "#D55E00"


def plot_word_scores(*results: MeasureResult) -> "Figure":
    """Draw the scores of target words: one panel per rule, one row per word, one tick per base pair.

    Parameters
    ----------
    *results
        Results of `word_scores` for the same words and base pairs, one per rule.

    Returns
    -------
    matplotlib.figure.Figure
        Ticks: single base pairs. Large points: their means, squares if a word leans towards the second words of the
        pairs, circles otherwise. The height grows with the number of words.

    Raises
    ------
    ReportError
        If there is no result, or the results have different words or base pairs.

    References
    ----------
    Du, Fang and Nguyen (2021), section 3.1: the rules.

    Examples
    --------
    >>> vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> pairs, words = [("he", "she"), ("man", "woman")], bb.load_study("gender").attributes
    >>> scores = [bb.metrics.word_scores(vectors, words, pairs, rule=rule) for rule in ("db_wa", "ripa")]
    >>> len(bb.plots.plot_word_scores(*scores).axes)
    2
    """
    units = {name: entry.units["score"] for name, entry in MEASURES.items() if "score" in entry.units and entry.options}
    if not results or any(
        not isinstance(rule_scores, MeasureResult) or rule_scores.measure not in units for rule_scores in results
    ):
        raise ReportError("Nothing to draw: give at least one result of word_scores.")
    keys = results[0].scores.drop(columns="score")
    if any(not rule_scores.scores.drop(columns="score").equals(keys) for rule_scores in results):
        raise ReportError(
            "The results have different words or base pairs. Give results of the same words, one per rule."
        )
    rows = keys.drop(columns="base_pair").drop_duplicates()
    pairs = list(keys["base_pair"].unique())
    figure = new_figure(2.0 + 3.2 * len(results), 1.7 + 0.24 * len(rows))
    panels = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
    for axes, rule_scores in zip(panels, results, strict=True):
        _draw(axes, rule_scores.scores["score"].to_numpy().reshape(len(rows), len(pairs)))
        axes.set_xlabel(units[rule_scores.measure].replace(" (", "\n("), fontsize=9)
    panels[0].set_yticks(range(len(rows)), [short_label(word) for word in rows["word"]])
    for text in panels[0].get_yticklabels():
        as_text(text)
    panels[0].set_ylim(len(rows) - 0.5, -0.5)
    groups = (rows["group"] + rows["attribute_group"]).tolist()
    if any(groups):
        _name_groups(panels, groups)
    what = (
        f"of {short_label(pairs[0], 40)}"
        if len(pairs) == 1
        else f"of {counted(len(pairs), 'base pair')} (means: large points)"
    )
    title = figure.suptitle(f"Scores {what}\n← towards the second word    towards the first word →", fontsize=10)
    as_text(title)
    return figure


def _draw(axes: "Axes", values: "np.ndarray") -> None:
    rows = np.arange(len(values))
    if values.shape[1] > 1:
        axes.plot(values, np.broadcast_to(rows[:, np.newaxis], values.shape), "|", color="#999999", markersize=6)
    means = values.mean(axis=1)
    for side, color, marker in ((means >= 0, _FIRST, "o"), (means < 0, _SECOND, "s")):
        axes.plot(means[side], rows[side], marker, color=color, markersize=5, linestyle="")
    axes.axvline(0, color="#4D4D4D", linewidth=0.8)
    furnish(axes, "both", small=True, rows=True)


def _name_groups(panels: "np.ndarray", groups: list[str]) -> None:
    """Draw lines between the groups, and their names on the right."""
    starts = [place for place, group in enumerate(groups) if place == 0 or group != groups[place - 1]]
    for start, end in zip(starts, [*starts[1:], len(groups)], strict=True):
        if start:
            for axes in panels:
                axes.axhline(start - 0.5, color="black", linewidth=0.8)
        name = panels[-1].annotate(
            short_label(groups[start], max(12, 4 * (end - start))),
            (1.01, (start + end - 1) / 2),
            xycoords=("axes fraction", "data"),
            rotation=270,
            verticalalignment="center",
            fontsize=8,
            fontstyle="italic",
        )
        as_text(name)
