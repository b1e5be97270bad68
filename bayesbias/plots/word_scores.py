"""Scores of single words: which way each leans, by every base pair and rule."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.errors import ReportError
from bayesbias.plots.style import furnish, new_figure, short_label

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LABELS = {
    "db_wa": "DB/WA\n(difference of cosines, -2 to 2)",
    "ripa": "RIPA\n(length of the projection)",
    "ripa_unit": "RIPA of unit vectors\n(-1 to 1)",
    "nbm": "NBM\n(difference of neighbours' shares, -1 to 1)",
}
_FIRST, _SECOND = "#0072B2", "#D55E00"


def plot_word_scores(scores: "xr.DataArray") -> "Figure":
    """Draw the scores of target words: one panel a rule, one row a word, one point a base pair.

    Parameters
    ----------
    scores
        What `word_scores` returned, with the dimensions ``rule``, ``base_pair`` and ``target_word``.

    Returns
    -------
    matplotlib.figure.Figure
        Ticks: single base pairs. Large points: their means, square where a word leans to the second words of the
        pairs, round elsewhere. The figure grows with the number of words.

    Raises
    ------
    ReportError
        If there is nothing to draw.

    References
    ----------
    Du, Fang and Nguyen (2021), section 3.1: the rules.

    Examples
    --------
    >>> from bayesbias.metrics.word_scores import word_scores
    >>> from bayesbias.plots.word_scores import plot_word_scores
    >>> vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> pairs = [("he", "she"), ("man", "woman")]
    >>> scores = word_scores(vectors, bb.load_study("gender").attributes, pairs, rules=["db_wa", "ripa"])
    >>> len(plot_word_scores(scores).axes)
    2
    """
    dims = getattr(scores, "dims", ())
    if set(dims) != {"rule", "base_pair", "target_word"} or not scores.size:
        raise ReportError("Nothing to draw: give what word_scores returned, with rule, base_pair and target_word.")
    words = [str(word) for word in scores["target_word"].values]
    rules = [str(rule) for rule in scores["rule"].values]
    figure = new_figure(2.0 + 3.2 * len(rules), 1.7 + 0.24 * len(words))
    panels = figure.subplots(1, len(rules), sharey=True, squeeze=False)[0]
    for axes, rule in zip(panels, rules, strict=True):
        values = scores.sel(rule=rule).transpose("target_word", "base_pair").to_numpy()
        _draw(axes, values)
        axes.set_xlabel(_LABELS.get(rule, rule), fontsize=9)
    panels[0].set_yticks(range(len(words)), [short_label(word) for word in words])
    for text in panels[0].get_yticklabels():
        text.set_parse_math(False)
    panels[0].set_ylim(len(words) - 0.5, -0.5)
    if "group" in scores.coords:
        _name_groups(panels, [str(group) for group in scores["group"].values])
    pairs = [str(pair) for pair in scores["base_pair"].values]
    what = f"of {short_label(pairs[0], 40)}" if len(pairs) == 1 else f"of {len(pairs)} base pairs (means: large points)"
    title = figure.suptitle(f"Scores {what}\n← towards the second word    towards the first word →", fontsize=10)
    title.set_parse_math(False)
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
    """Draw a line between the groups and name each on the right."""
    starts = [at for at, group in enumerate(groups) if at == 0 or group != groups[at - 1]]
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
        name.set_parse_math(False)
