"""Before and after, and what changed: a comparison of embeddings."""

from collections.abc import Hashable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bayesbias.errors import ReportError, did_you_mean, name_some
from bayesbias.estimates import settled
from bayesbias.plots.style import (
    DISTANCE_LABEL,
    connection_legend,
    draw_estimate,
    furnish,
    new_figure,
    row_offsets,
    short_label,
    shown_words,
    title_figure,
    words_by_group,
)
from bayesbias.reports.embeddings.comparison import EmbeddingComparison
from bayesbias.statements import percent_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 11.0
_INCHES_A_WORD = 0.5
_CHANGE_LABEL = "Mean change of cosine distance\n(below 0 = nearer, above 0 = farther apart)"


def plot_embeddings(comparison: EmbeddingComparison, *, after: str | None = None) -> "Figure":
    """Draw distances before and after on the left, and their change on the right.

    Parameters
    ----------
    comparison
        What `compare_embeddings` returned.
    after
        Name of the embedding to draw beside the baseline. None (default): the first of the others.

    Returns
    -------
    matplotlib.figure.Figure
        Four panels: all protected words above, each below. Left: posterior means and HPDIs of the two tables' own
        fits, hollow before and filled after. Right: posterior means and HPDIs of the mean change, from the changes of
        the pairs; filled where the interval leaves out 0. Colours and markers are those of the connections. Of
        more than 200 protected words, those whose change lies farthest from the mean are shown.

    Raises
    ------
    ReportError
        If `comparison` is none, or has no such embedding.

    References
    ----------
    Dobrzeniecka and Urbaniak, section "Rethinking debiasing": the figure of means before and after.

    Examples
    --------
    >>> debiased = table.drop(columns="cosine_similarity")
    >>> debiased["cosine_distance"] += np.random.default_rng(1).normal(0.1, 0.01, len(table))
    >>> compared = bb.compare_embeddings({"original": table, "debiased": debiased}, "hierarchical", random_seed=1)
    >>> len(plot_embeddings(compared).axes)
    4
    """
    if not isinstance(comparison, EmbeddingComparison):
        raise ReportError(
            f"plot_embeddings draws what compare_embeddings returns, not {type(comparison).__name__}. Compare first."
        )
    name = comparison.names[0] if after is None else after
    if name not in comparison.names:
        raise ReportError(
            f"The comparison has no embedding {name!r}{did_you_mean(str(name), comparison.names)}; beside the baseline "
            f"{comparison.baseline!r} it has {name_some(map(repr, comparison.names))}."
        )
    sides = comparison.side_by_side
    sides = sides[sides["embedding"].isin([comparison.baseline, name])]
    groups, words = sides[sides["protected_word"] == ""], sides[sides["protected_word"] != ""]
    change, by_word = (frame[frame["embedding"] == name] for frame in (comparison.change, comparison.change_by_word))
    by_word, label = shown_words(by_word, "mean")
    words = words[words["protected_word"].isin(by_word["protected_word"])]
    word_groups = words_by_group(words)
    place = {word: float(y) for y, word in enumerate(word_groups)}
    connections = list(change["connection"])

    heights = [0.34 * len(connections) + 0.4, _INCHES_A_WORD * len(place) + 0.3]
    figure = new_figure(_WIDTH, sum(heights) + 2.2)
    panels = figure.subplots(2, 2, sharex="col", sharey="row", height_ratios=heights)
    rows = {connection: float(y) for y, connection in enumerate(connections)}
    spread = row_offsets(len(connections), 0.33)
    offsets = dict(zip(connections, spread, strict=True))
    for row in groups.to_dict("records"):
        _level(panels[0, 0], row, rows[row["connection"]], apart=0.13, size=6, baseline=comparison.baseline)
    for row in change.to_dict("records"):
        _change(panels[0, 1], row, rows[row["connection"]], size=7)
    for row in words.to_dict("records"):
        y = place[row["protected_word"]] + offsets[row["connection"]]
        _level(panels[1, 0], row, y, apart=0.04, size=3.5, baseline=comparison.baseline)
    for row in by_word.to_dict("records"):
        _change(panels[1, 1], row, place[row["protected_word"]] + offsets[row["connection"]], size=4.5)

    top, bottom = panels[0, 0], panels[1, 0]
    top.set_yticks(list(rows.values()), connections)
    top.set_ylim(len(rows) - 0.4, -0.6)
    top.set_ylabel("All protected\nwords")
    bottom.set_yticks(list(place.values()), [short_label(word) for word in place])
    bottom.set_ylim(len(place) - 0.5, -0.5)
    bottom.set_ylabel(label)
    for axes in panels[1]:
        _group_lines(axes, list(word_groups.values()))
    _name_groups(panels[1, 1], list(word_groups.values()))
    for axes in panels.flat:
        furnish(axes, "x", rows=True)
    for axes in panels[:, 1]:
        axes.axvline(0, color="black", linewidth=0.9, zorder=0.5)
    low, high = panels[1, 0].get_xlim()
    if low < 1 < high:
        for axes in panels[:, 0]:
            axes.axvline(1, color="#999999", linewidth=0.9, linestyle="--", zorder=0.5)
    panels[1, 0].set_xlabel(DISTANCE_LABEL)
    panels[1, 1].set_xlabel(_CHANGE_LABEL)
    panels[0, 0].set_title("Before (hollow) and after (filled)", fontsize=10)
    panels[0, 1].set_title("Change, from the changes of the same pairs", fontsize=10)
    _title_and_legend(figure, comparison, name, connections)
    return figure


def _level(axes: "Axes", row: Mapping[Hashable, Any], y: float, *, apart: float, size: float, baseline: str) -> None:
    before = row["embedding"] == baseline
    y += -apart if before else apart
    draw_estimate(axes, row, y, size=size, width=size / 4, filled=not before, alpha=0.55 if before else 1.0)


def _change(axes: "Axes", row: Mapping[Hashable, Any], y: float, *, size: float) -> None:
    outside = settled(row["hdi_low"], row["hdi_high"])
    draw_estimate(axes, row, y, size=size, width=size / 3.5, filled=outside)


def _starts(groups: list[str]) -> list[int]:
    """Return where each group of words begins."""
    return [y for y, group in enumerate(groups) if y == 0 or group != groups[y - 1]]


def _group_lines(axes: "Axes", groups: list[str]) -> None:
    for y in range(1, len(groups), 2):
        axes.axhspan(y - 0.5, y + 0.5, color="#F3F3F3", zorder=0)
    for start in _starts(groups)[1:]:
        axes.axhline(start - 0.5, color="black", linewidth=0.8)


def _name_groups(axes: "Axes", groups: list[str]) -> None:
    """Write each group's name beside its words, outside of the data."""
    starts = [*_starts(groups), len(groups)]
    for start, end in pairwise(starts):
        name = axes.annotate(
            short_label(groups[start], 20),
            (1, (start + end - 1) / 2),
            xytext=(4, 0),
            textcoords="offset points",
            xycoords=("axes fraction", "data"),
            horizontalalignment="left",
            verticalalignment="center",
            fontsize=8,
            fontstyle="italic",
            rotation=270 if end - start > 2 else 0,
        )
        name.set_parse_math(False)


def _title_and_legend(figure: "Figure", comparison: EmbeddingComparison, name: str, connections: list[str]) -> None:
    facts = comparison.facts
    title_figure(
        figure,
        f"before: {short_label(comparison.baseline, 70)}\nafter: {short_label(name, 70)}\nposterior means and "
        f"{percent_text(facts['hdi_prob'])} HPDI, {facts['pairs']:,} pairs; "
        f"model of each {short_label(facts['model'])}, of the change {short_label(facts['change_model'])}",
        converged=not facts["convergence_problems"],
    )
    said = "Attribute words, by their connection to the protected word (right: filled if the interval leaves out 0)"
    connection_legend(figure, connections, said)
