"""Differences between embeddings: differences of gaps, the gaps, and differences of distances."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.base.escapes import visible
from bayesbias.base.number_text import counted, percent_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.style import (
    as_text,
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
from bayesbias.errors import ReportError, did_you_mean, name_some
from bayesbias.estimates.intervals import contrast_sides, settled
from bayesbias.reports.embeddings.comparison import EmbeddingComparison

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 5.4
_INCHES_A_ROW = 0.27
_LONGEST_LINE = 40
_EVERYONE = "All protected words"


def plot_embeddings(comparison: EmbeddingComparison, *, other: str | None = None) -> "Figure":
    """Draw how an embedding differs from the baseline: differences of gaps, gaps, and differences of distances.

    Parameters
    ----------
    comparison
        A comparison from `compare_embeddings`.
    other
        Name of the embedding that is compared with the baseline. None (default): the first.

    Returns
    -------
    matplotlib.figure.Figure
        Three panels, one below the other, of posterior means and HPDIs: the difference of gaps (other embedding minus
        baseline) of all protected words and of each; the gaps themselves, hollow in the baseline and filled in the
        other; the difference of distances. Differences are filled if the interval excludes 0. Colours and markers
        show the connections. Without gaps, the last panel alone, with each protected word. Of more than 200
        protected words, those whose differences lie farthest from the mean are shown.

    Raises
    ------
    ReportError
        If `comparison` is not a comparison, or lacks the embedding.

    References
    ----------
    Dobrzeniecka and Urbaniak, section "Rethinking debiasing", draw two fits side by side.

    Examples
    --------
    >>> debiased = table.drop(columns="cosine_similarity")
    >>> debiased["cosine_distance"] += np.random.default_rng(1).normal(0.1, 0.01, len(table))
    >>> compared = bb.compare_embeddings({"original": table, "debiased": debiased}, "hierarchical", random_seed=1)
    >>> len(bb.plots.plot_embeddings(compared).axes)
    3
    """
    if not isinstance(comparison, EmbeddingComparison):
        raise ReportError(
            f"plot_embeddings draws what compare_embeddings returns, not {type(comparison).__name__}. Compare first."
        )
    name = comparison.names[0] if other is None else other
    if name not in comparison.names:
        raise ReportError(
            f"The comparison has no embedding {name!r}{did_you_mean(str(name), comparison.names)}; beside the baseline "
            f"{comparison.baseline!r} it has {name_some(map(repr, comparison.names))}."
        )
    gaps, differences, by_word = (
        frame[frame["embedding"] == name]
        for frame in (comparison.gaps, comparison.differences, comparison.differences_by_word)
    )
    connections = list(differences["connection"])
    groups = words_by_group(by_word)
    minus = f"{_short(name)} minus {_short(comparison.baseline)}"
    if broken := len(minus) > _LONGEST_LINE:
        minus = minus.replace(" minus ", "\nminus ", 1)
    panels: list[tuple[float, Callable[[Axes], None]]] = []
    if len(gaps):
        gaps = gaps.assign(connection=[contrast_sides(contrast)[1] for contrast in gaps["contrast"]])
        overall, words = gaps[gaps["protected_word"] == ""], gaps[gaps["protected_word"] != ""]
        words, note = shown_words(words, "mean")
        rows = [_EVERYONE, *(word for word in groups if word in set(words["protected_word"]))]
        panels = [
            (len(rows), lambda axes: _differences(axes, overall, words, rows, f"Difference of gaps\n{minus}")),
            (len(overall), lambda axes: _gaps(axes, overall, comparison.baseline, name)),
            (len(connections), lambda axes: _by_connection(axes, differences, f"Difference of distances\n{minus}")),
        ]
    else:
        words, note = shown_words(by_word, "mean")
        rows = [_EVERYONE, *(word for word in groups if word in set(words["protected_word"]))]
        title = f"Difference of distances\n{minus}"
        panels = [(len(rows), lambda axes: _differences(axes, differences, words, rows, title))]
    heights = [_INCHES_A_ROW * max(count, 2) + (1.25 if broken else 1.1) for count, _ in panels]
    figure = new_figure(_WIDTH, sum(heights) + 1.6)
    drawn = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights).ravel()
    for axes, (_, draw) in zip(drawn, panels, strict=True):
        axes.axvline(0, color="#777777", linewidth=1.0, linestyle="--", zorder=0)
        axes.locator_params(axis="x", nbins=6)
        draw(axes)
        furnish(axes, "x", rows=True)
    facts = comparison.facts
    many = f"\n{note}" if len(rows) - 1 < len(groups) else ""
    title_figure(
        figure,
        f"{short_label(name, 50)}\nbeside {short_label(comparison.baseline, 50)}\n{counted(facts['pairs'], 'pair')}, "
        f"{percent_text(facts['hdi_prob'])} HPDI; filled: the interval leaves out 0{many}",
        size=10,
        converged=not facts["convergence_problems"],
    )
    connection_legend(figure, connections, "Associated minus (gaps), or distances to")
    return figure


def _differences(axes: "Axes", overall: "pd.DataFrame", words: "pd.DataFrame", rows: list[str], title: str) -> None:
    """Draw the differences of all protected words, then of each word in a row."""
    connections = list(dict.fromkeys(overall["connection"]))
    offsets = dict(zip(connections, row_offsets(len(connections), 0.26), strict=True))
    for row in rows_of(overall):
        _difference(axes, row, offsets[row["connection"]], size=6.5)
    for row in rows_of(words):
        _difference(axes, row, rows.index(row["protected_word"], 1) + offsets[row["connection"]], size=4.0)
    _name_rows(axes, rows, title, "Difference of cosine distances")
    axes.get_yticklabels()[0].set_fontweight("bold")
    axes.axhline(0.5, color="#BBBBBB", linewidth=0.8)


def _by_connection(axes: "Axes", differences: "pd.DataFrame", title: str) -> None:
    """Draw the mean difference of distances, one row per connection."""
    for y, row in enumerate(rows_of(differences)):
        _difference(axes, row, y, size=6.5)
    _name_rows(axes, list(differences["connection"]), title, "Difference of cosine distances\n(above 0: farther apart)")


def _gaps(axes: "Axes", overall: "pd.DataFrame", baseline: str, name: str) -> None:
    """Draw the gaps in both embeddings, one row per contrast."""
    for y, row in enumerate(rows_of(overall)):
        for side, apart, filled in (("baseline", -0.16, False), ("other", 0.16, True)):
            gap = {"mean": row[f"{side}_gap"], "hdi_low": row[f"{side}_low"], "hdi_high": row[f"{side}_high"]}
            draw_estimate(axes, row | gap, y + apart, size=6.5, width=1.8, filled=filled)
    _name_rows(
        axes,
        [f"minus {connection}" for connection in overall["connection"]],
        f"Gap in {_short(baseline)} (hollow)\nand in {_short(name)} (filled)",
        "Difference of mean cosine distances\n(below 0: associated words are nearer)",
    )


def _short(name: str) -> str:
    """Return a name shortened in the middle, because names of derived embeddings begin alike."""
    name = " ".join(visible(name).split())
    return name if len(name) <= 28 else f"{name[:13]}…{name[-14:]}"


def _difference(axes: "Axes", row: Mapping[str, Any], y: float, *, size: float) -> None:
    draw_estimate(axes, row, y, size=size, width=size / 3.2, filled=settled(row["hdi_low"], row["hdi_high"]))


def _name_rows(axes: "Axes", rows: list[str], title: str, label: str) -> None:
    axes.set_yticks(range(len(rows)), [short_label(row) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    as_text(axes.set_title(title, fontsize=10, loc="left"))
    axes.set_xlabel(label, fontsize=9)
