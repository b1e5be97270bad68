"""Changes between two conditions: of the gaps, the gaps themselves, and changes of mean distances."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.base.checks import check_type
from bayesbias.base.escapes import visible
from bayesbias.base.number_text import percent_text
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
)
from bayesbias.errors import ReportError, did_you_mean, name_some
from bayesbias.estimates.intervals import contrast_sides, settled
from bayesbias.reports.changes.result import Changes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 5.4
_INCHES_A_ROW = 0.27
_LONGEST_LINE = 40
_EVERYONE = "All protected words"


def plot_changes(changes: Changes, *, second: str | None = None) -> "Figure":
    """Draw how gaps differ between two conditions: their changes, the gaps, and the changes of mean distances.

    Parameters
    ----------
    changes
        What `compare_embeddings` or `trend` returned.
    second
        Name of the condition that is compared with the first. None (default): the second, or the last period.

    Returns
    -------
    matplotlib.figure.Figure
        Three panels, one below the other, of posterior means and HPDIs: the change of the gap of all protected words
        and of each; the gaps themselves, hollow under the first condition and filled under the second; the change of
        mean distances. Where there are no gaps, one panel of mean distances of all protected words and of each. Changes
        are filled if settled. Colours and markers show the connections. Of more than 200 protected words, those whose
        changes lie farthest from the mean are shown.

    Raises
    ------
    ArgumentError, ReportError
        If `changes` are no changes, or lack the condition.

    References
    ----------
    Dobrzeniecka and Urbaniak, section "Rethinking debiasing", draw two fits side by side.

    Examples
    --------
    >>> debiased = table.drop(columns="cosine_similarity")
    >>> debiased["cosine_distance"] += np.random.default_rng(1).normal(0.1, 0.01, len(table))
    >>> compared = bb.compare_embeddings({"original": table, "debiased": debiased}, random_seed=1)
    >>> len(bb.plots.plot_changes(compared).axes)
    3
    """
    check_type("changes", changes, Changes, "what compare_embeddings or trend returned")
    first, *others = changes.conditions
    name = (others[0] if changes.facts["times"] is None else others[-1]) if second is None else second
    if name not in others:
        raise ReportError(
            f"The changes have no condition {name!r}{did_you_mean(str(name), others)}; beside the first, {first!r}, "
            f"they have {name_some(map(repr, others))}."
        )
    moved, distances = (
        frame[(frame["first"] == first) & (frame["second"] == name)] for frame in (changes.changes, changes.distances)
    )
    of_all = distances[distances["protected_word"] == ""]
    minus = f"{_short(name)} minus {_short(first)}"
    if broken := len(minus) > _LONGEST_LINE:
        minus = minus.replace(" minus ", "\nminus ", 1)
    if moved.empty:
        overall, of_words, title = (
            of_all,
            distances[distances["protected_word"] != ""],
            f"Change of mean distances\n{minus}",
        )
    else:
        moved = moved.assign(connection=[contrast_sides(contrast)[1] for contrast in moved["contrast"]])
        overall = moved[(moved["protected_word"] == "") & (moved["protected_group"] == "")]
        of_words, title = moved[moved["protected_word"] != ""], f"Change of the gap\n{minus}"
    words, note = shown_words(of_words, "mean")
    names = list(dict.fromkeys(of_words["protected_word"]))
    rows = [_EVERYONE, *(word for word in names if word in set(words["protected_word"]))]
    panels: list[tuple[int, Callable[[Axes], None]]] = [
        (len(rows), lambda axes: _by_word(axes, overall, words, rows, title)),
    ]
    shown = list(of_all["connection"])
    if len(moved):
        gaps = changes.gaps[(changes.gaps["protected_word"] == "") & (changes.gaps["protected_group"] == "")]
        gaps = gaps[gaps["condition"].isin([first, name])]
        connections = list(dict.fromkeys(contrast_sides(contrast)[1] for contrast in gaps["contrast"]))
        shown += [connection for connection in connections if connection not in shown]
        panels += [
            (len(connections), lambda axes: _gaps(axes, gaps, connections, first, name)),
            (len(of_all), lambda axes: _by_connection(axes, of_all, f"Change of mean distances\n{minus}")),
        ]
    heights = [_INCHES_A_ROW * max(count, 2) + (1.25 if broken else 1.1) for count, _ in panels]
    figure = new_figure(_WIDTH, sum(heights) + 1.6)
    drawn = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights).ravel()
    for axes, (_, draw) in zip(drawn, panels, strict=True):
        axes.axvline(0, color="#777777", linewidth=1.0, linestyle="--", zorder=0)
        axes.locator_params(axis="x", nbins=6)
        draw(axes)
        furnish(axes, "x", rows=True)
    facts = changes.facts
    many = f"\n{note}" if len(rows) - 1 < len(names) else ""
    title_figure(
        figure,
        f"{short_label(name, 50)}\nbeside {short_label(first, 50)}\n"
        f"{percent_text(facts['hdi_prob'])} HPDI; filled: settled (the interval clearly leaves out 0){many}",
        size=10,
        converged=not facts["convergence_problems"],
    )
    connection_legend(figure, shown, "Associated minus (gaps), or distances to")
    return figure


def _by_word(axes: "Axes", overall: "pd.DataFrame", words: "pd.DataFrame", rows: list[str], title: str) -> None:
    """Draw the changes of all protected words, then of each word in a row."""
    connections = list(dict.fromkeys(overall["connection"]))
    offsets = dict(zip(connections, row_offsets(len(connections), 0.26), strict=True))
    for row in rows_of(overall):
        _change(axes, row, offsets[row["connection"]], size=6.5)
    for row in rows_of(words):
        _change(axes, row, rows.index(row["protected_word"], 1) + offsets[row["connection"]], size=4.0)
    _name_rows(axes, rows, title, "Change in cosine distance")
    axes.get_yticklabels()[0].set_fontweight("bold")
    axes.axhline(0.5, color="#BBBBBB", linewidth=0.8)


def _by_connection(axes: "Axes", distances: "pd.DataFrame", title: str) -> None:
    """Draw the change of mean distances, one row per connection."""
    for y, row in enumerate(rows_of(distances)):
        _change(axes, row, y, size=6.5)
    _name_rows(axes, list(distances["connection"]), title, "Change in cosine distance\n(above 0: farther apart)")


def _gaps(axes: "Axes", gaps: "pd.DataFrame", connections: list[str], first: str, second: str) -> None:
    """Draw the gaps under both conditions, one row per contrast."""
    for condition, apart, filled in ((first, -0.16, False), (second, 0.16, True)):
        for row in rows_of(gaps[gaps["condition"] == condition]):
            connection = contrast_sides(row["contrast"])[1]
            y = connections.index(connection) + apart
            draw_estimate(axes, row | {"connection": connection}, y, size=6.5, width=1.8, filled=filled)
    _name_rows(
        axes,
        [f"minus {connection}" for connection in connections],
        f"Gap in {_short(first)} (hollow)\nand in {_short(second)} (filled)",
        "Difference of mean cosine distances\n(below 0: associated words are nearer)",
    )


def _short(name: str) -> str:
    """Return a name shortened in the middle, because names of derived embeddings begin alike."""
    name = " ".join(visible(name).split())
    return name if len(name) <= 28 else f"{name[:13]}…{name[-14:]}"


def _change(axes: "Axes", row: Mapping[str, Any], y: float, *, size: float) -> None:
    is_settled = settled(row["hdi_low"], row["hdi_high"]) and not row["borderline"]
    draw_estimate(axes, row, y, size=size, width=size / 3.2, filled=is_settled)


def _name_rows(axes: "Axes", rows: list[str], title: str, label: str) -> None:
    axes.set_yticks(range(len(rows)), [short_label(row) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    as_text(axes.set_title(title, fontsize=10, loc="left"))
    axes.set_xlabel(label, fontsize=9)
