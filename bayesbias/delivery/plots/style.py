"""Style, parts and saving of figures."""

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesbias.base.files.outputs import atomic_path
from bayesbias.base.machine import held_interrupts
from bayesbias.base.number_text import visible
from bayesbias.base.results import MOST_LINES
from bayesbias.errors import (
    FigureWarning,
    OutputError,
    ReportError,
    collected_warnings,
    name_some,
    warn_user,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.text import Text
    from numpy.typing import NDArray

# Okabe and Ito's colours, which suit all kinds of colour vision, with a marker each.
COLORS = {"associated": "#D55E00", "different": "#0072B2", "human": "#009E73", "neutral": "#4D4D4D"}
SERIES = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "v"), ("#56B4E9", "P"))
"""Colours and markers of series, such as embeddings."""
MARKERS = {"associated": "o", "different": "s", "human": "^", "neutral": "D"}
DISTANCE_LABEL = "Mean cosine distance\n(0 = same direction, 1 = unrelated, 2 = opposite)"
# Figures of more rows are illegible and too tall for browsers.
MOST_WORDS = 200
FORMATS = (".png", ".svg", ".pdf")
_POINTS_PER_INCH = 72
_LABEL_DISTANCES = (3, 14, 26, 40)  # of a word from its point, in points
_EMS_PER_CHARACTER = 0.55  # of the default font, on average, and some more


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of a size in inches, which notebooks show once and no window keeps open."""
    try:
        with held_interrupts():  # half of an import would stay in the session, and break every later figure
            import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(width, height), layout="constrained", facecolor="white")
    except (ImportError, ValueError) as error:  # an unavailable backend or style
        raise ReportError(
            f"matplotlib cannot draw with its current settings: {error}. Set the environment variable MPLBACKEND to "
            "agg, or correct the matplotlibrc."
        ) from error
    plt.close(figure)
    return figure


def panel_grid(
    count: int,
    label: str,
    *,
    width: tuple[float, float],
    height: tuple[float, float],
    sharex: bool = True,
    columns: int = 2,
) -> "tuple[Figure, NDArray[Any]]":
    """Return a figure and its panels, with unused panels hidden and `label` below the lowest ones.

    `width` holds the smallest width of the figure and the width of a column; `height` holds the height around the
    panels and the height of a row.
    """
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = new_figure(max(width[0], width[1] * columns), height[0] + height[1] * rows)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=True).ravel()
    for place, axes in enumerate(panels):
        axes.set_visible(place < count)
        if place < count <= place + columns:
            axes.set_xlabel(label, fontsize=9)
            axes.tick_params(axis="x", labelbottom=True)
    return figure, panels


def row_offsets(count: int, reach: float) -> "NDArray[Any]":
    """Return the offsets of the values in a row, from -reach to reach; a single value gets 0.

    >>> row_offsets(3, 0.3), row_offsets(1, 0.3)
    (array([-0.3,  0. ,  0.3]), array([0.]))
    """
    offsets: NDArray[Any] = np.linspace(-reach, reach, count) if count > 1 else np.zeros(count)
    return offsets


def short_label(word: str, longest: int = 24) -> str:
    r"""Return a word as one line of a figure, with its control characters visible.

    It has `longest` characters at most: the middle is left out, since names of embeddings often begin alike.

    >>> short_label("wikipedia2018_skipgram_seed1")
    'wikipedia201…pgram_seed1'
    >>> print(short_label("a\nb\0"))
    a b\x00
    """
    word = " ".join(visible(word).split())
    end = (longest - 1) // 2
    return word if len(word) <= longest else f"{word[: longest - 1 - end]}…{word[-end:]}"


def as_text(text: "Text") -> None:
    """Show a text of a figure, in which dollar signs are no mathematics, and control characters are visible."""
    text.set_text(visible(text.get_text()).replace("\t", " "))
    text.set_parse_math(False)


def furnish(axes: "Axes", grid: Literal["x", "y", "both"], *, small: bool = False, rows: bool = False) -> None:
    """Draw a pale grid behind the data and remove the frame's unused sides.

    - `axes`: panel with its ticks set.
    - `grid`: axis with grid lines.
    - `small`: whether the tick labels are small.
    - `rows`: whether the y axis shows named rows, such as words, instead of a scale.
    """
    axes.grid(axis=grid, color="#E5E5E5" if grid == "both" else "#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left") if rows else ("top", "right"):
        axes.spines[side].set_visible(False)
    if small:
        axes.tick_params(labelsize=8)
    if rows:
        axes.tick_params(axis="y", length=0)
        for label in axes.get_yticklabels():
            as_text(label)


def shade_rope(axes: "Axes", rope: tuple[float, float]) -> None:
    """Shade the region of practical equivalence, to whose edges the x axis reaches.

    An edge beyond three widths of the axis is left out, since the estimates could not be distinguished beside it; the
    band then ends with the axis.
    """
    low, high = axes.get_xlim()
    width = high - low
    left, right = max(rope[0], low - 3 * width), min(rope[1], high + 3 * width)
    axes.axvspan(left, right, color="#F0E442", alpha=0.35, linewidth=0, zorder=0)
    margin = 0.04 * (max(high, right) - min(low, left))
    axes.set_xlim(
        min(low, left - margin if left == rope[0] else left), max(high, right + margin if right == rope[1] else right)
    )


@dataclass(frozen=True)
class Look:
    """How a point on an interval is drawn: colour, marker, size of the point, and width of the line, in points."""

    color: str
    marker: str = "o"
    size: float = 5.0
    width: float = 1.4


def draw_estimate(axes: "Axes", row: Mapping[Any, Any], y: float, *, size: float, width: float, filled: bool) -> None:
    """Draw the mean and HPDI of an estimate in the style of its connection, with a dot in it if it is borderline."""
    look = Look(COLORS[row["connection"]], MARKERS[row["connection"]], size, width)
    ends, borderline = (row["hdi_low"], row["hdi_high"]), row.get("borderline", False)
    draw_interval(axes, row["mean"], ends, y, look, filled=filled, borderline=borderline)


def draw_interval(
    axes: "Axes",
    value: float,
    ends: tuple[float, float],
    y: float,
    look: Look,
    *,
    filled: bool = True,
    borderline: bool = False,
) -> None:
    """Draw a value as a point, filled or hollow, on the line of its interval; ends that are nan have no line.

    A hollow point of a `borderline` value has a dot in it.
    """
    axes.plot(ends, [y, y], color=look.color, linewidth=look.width, solid_capstyle="butt")
    face = look.color if filled else "white"
    axes.plot(value, y, look.marker, color=look.color, markersize=look.size, markerfacecolor=face)
    if borderline:
        axes.scatter(value, y, (look.size / 3) ** 2, color=look.color, linewidths=0, zorder=2.1)


def draw_observed(axes: "Axes", value: float, y: float, *, size: float) -> None:
    """Draw the observed value of an estimate as a tick behind its point of this size, which it overtops."""
    axes.plot(value, y, "|", color="black", markersize=size + 6, markeredgewidth=1.4, zorder=1.9)


def forest(rows: "pd.DataFrame", *, label: str, rope: tuple[float, float] | None = None) -> "Figure":
    """Draw one line a row: `mean` as a point, on the line of `hdi_low` to `hdi_high`, beside the `label` of the row.

    A row whose `filled` is false is hollow and grey, and has a dot if its `borderline` is true, where there is such a
    column. `rope` is shaded; `label` is that of the x axis. Of more than `MOST_LINES` rows, the first are shown, and
    the label says so.
    """
    if (count := len(rows)) > MOST_LINES:
        label, rows = f"{label}\n({MOST_LINES} of {count:,} lines)", rows.head(MOST_LINES)
    figure = new_figure(6.2, 0.26 * len(rows) + 0.9)
    axes = figure.subplots()
    axes.axvline(0, color="#4D4D4D", linewidth=0.8)
    for y, row in enumerate(rows.to_dict("records")):
        look = Look("#0072B2" if row["filled"] else "#777777", width=1.6)
        ends, borderline = (row["hdi_low"], row["hdi_high"]), row.get("borderline", False)
        draw_interval(axes, row["mean"], ends, y, look, filled=row["filled"], borderline=borderline)
    if rope is not None:
        shade_rope(axes, rope)
    axes.set_yticks(range(len(rows)), [short_label(name, 40) for name in rows["label"]])
    axes.set_ylim(len(rows) - 0.3, -0.7)
    axes.locator_params(axis="x", nbins=6)
    as_text(axes.set_xlabel(label))
    furnish(axes, "x", small=True, rows=True)
    return figure


def title_figure(figure: "Figure", text: str, *, size: float = 11, converged: bool = True) -> None:
    """Write the title of a figure, in lines that it has room for, with a red warning if the fit did not converge."""
    characters = int(figure.get_figwidth() * _POINTS_PER_INCH / (_EMS_PER_CHARACTER * size))
    text = "\n".join(part for line in text.split("\n") for part in wrap(line, characters, break_on_hyphens=False))
    text, color = (text, "black") if converged else (f"{text}\nNOT CONVERGED: do not report", "#B00020")
    as_text(figure.suptitle(text, fontsize=size, color=color))


def words_by_group(frame: "pd.DataFrame") -> dict[str, str]:
    """Return protected word -> group, sorted by group in the order of the rows.

    >>> frame = pd.DataFrame({"protected_word": ["he", "she", "him"], "protected_group": ["male", "female", "male"]})
    >>> words_by_group(frame)
    {'he': 'male', 'him': 'male', 'she': 'female'}
    """
    pairs = frame[["protected_word", "protected_group"]].drop_duplicates().astype(str)
    group_of = dict(pairs.itertuples(index=False, name=None))
    groups = list(dict.fromkeys(group_of.values()))
    return dict(sorted(group_of.items(), key=lambda pair: groups.index(pair[1])))


def shown_words(frame: "pd.DataFrame", value: str) -> "tuple[pd.DataFrame, str]":
    """Return the rows of at most `MOST_WORDS` protected words, and the label of their axis.

    Of more words, those whose values lie farthest, on average, from the means of their connections.

    >>> frame = pd.DataFrame({"protected_word": ["he", "she"], "connection": "human", "mean": [0.9, 1.0]})
    >>> shown_words(frame, "mean")[1]
    'Each protected word'
    """
    words = frame["protected_word"].astype(str)
    if (count := words.nunique()) <= MOST_WORDS:
        return frame, "Each protected word"
    apart = (frame[value] - frame.groupby("connection", observed=True)[value].transform("mean")).abs()
    chosen = apart.groupby(words, sort=False).mean().nlargest(MOST_WORDS).index
    return frame[words.isin(chosen)], f"{MOST_WORDS} of {count:,} protected words, those farthest from the mean"


def connection_legend(figure: "Figure | SubFigure", connections: Sequence[str], title: str) -> None:
    """Draw the legend of the connections below a figure."""
    series_legend(
        figure, {name: (COLORS[name], MARKERS[name]) for name in connections}, title, columns=len(connections)
    )


def series_legend(
    figure: "Figure | SubFigure", series: Mapping[str, tuple[str, str]], title: str | None = None, *, columns: int
) -> None:
    """Draw the legend of series (name -> colour and marker) below a figure."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=color, marker=marker, markersize=6, label=short_label(name))
        for name, (color, marker) in series.items()
    ]
    drawn = figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(columns, len(handles)),
        frameon=False,
        title=title,
        title_fontsize=9,
    )
    for text in drawn.get_texts():
        as_text(text)


def label_word_rows(axes: "Axes", words: Sequence[str], groups: Sequence[str]) -> None:
    """Label one row per protected word, from top to bottom, with bands, group lines and group names."""
    for y in range(1, len(words), 2):
        axes.axhspan(y - 0.5, y + 0.5, color="#F3F3F3", zorder=-1, label=f"_row {y}")
    for start, group in enumerate(groups):
        if start and group == groups[start - 1]:
            continue
        if start:
            axes.axhline(start - 0.5, color="black", linewidth=0.8)
        name = axes.annotate(
            short_label(str(group)),
            (1, start - 0.45),
            xycoords=("axes fraction", "data"),
            horizontalalignment="right",
            verticalalignment="top",
            fontsize=8,
            fontstyle="italic",
        )
        as_text(name)
    axes.set_yticks(range(len(words)), [short_label(word) for word in words])
    axes.set_ylim(len(words) - 0.5, -0.5)
    furnish(axes, "x", rows=True)


def name_points(
    axes: "Axes", points: "NDArray[Any]", words: Iterable[str], *, others: "NDArray[Any] | None" = None
) -> None:
    """Write words beside their points (words, 2), or farther away with a line to the point.

    A word stands at the nearest place inside the axes that covers no earlier word, and no point of these or of
    `others` (points, 2). A word without such a place stands where it covers least; one that would cover a word is left
    out: tables have it.
    """
    drawing = axes.get_figure(root=True)
    assert drawing is not None
    drawing.draw_without_rendering()  # the scale of the axes is not known before
    scale = 72 / drawing.dpi
    places = axes.transData.transform(points) * scale
    every = np.vstack([places, axes.transData.transform(others) * scale]) if others is not None else places
    window = axes.get_window_extent()
    covered: list[tuple[float, float, float, float]] = []
    for (across, up), point, word in zip(places, points, words, strict=True):
        text = short_label(word, 18)
        width, height = 4.6 * len(text), 9.0
        dots = every[np.abs(every - (across, up)).max(axis=1) > 0.01]
        corners = [
            (x, y)
            for away in _LABEL_DISTANCES
            for y in (up + away, up - 9 - away)
            for x in (across + away, across - away - width)
        ]
        boxes = [(x, y, x + width, y + height) for x, y in corners]
        outside = [
            box[0] < window.x0 * scale
            or box[2] > window.x1 * scale
            or box[1] < window.y0 * scale
            or box[3] > window.y1 * scale
            for box in boxes
        ]
        overlaps = [sum(_overlap(box, other) for other in covered) for box in boxes]
        hidden = [sum(_is_beside(box, dot) for dot in dots) for box in boxes]
        best = min(range(len(boxes)), key=list(zip(outside, overlaps, hidden, strict=True)).__getitem__)
        if overlaps[best] > 0.15 * width * height:
            continue
        covered.append(boxes[best])
        left, low = corners[best]
        is_right, is_near = left > across, best < 4
        label = axes.annotate(
            text,
            tuple(point),
            ((left if is_right else left + width) - across, low - up),
            textcoords="offset points",
            horizontalalignment="left" if is_right else "right",
            fontsize=8,
            arrowprops=None if is_near else {"arrowstyle": "-", "linewidth": 0.6, "color": "#333333", "shrinkB": 2},
        )
        as_text(label)


def _is_beside(box: tuple[float, float, float, float], dot: Sequence[float]) -> bool:
    """Return whether a point is in a box or nearer than 4 to it, so that its word seems to be that of the point."""
    return bool(box[0] - 4 < dot[0] < box[2] + 4 and box[1] - 4 < dot[1] < box[3] + 4)


def _overlap(box: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> float:
    """Return the common area of two boxes (left, low, right, high)."""
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    return max(width, 0) * max(height, 0)


def is_figure(drawing: object) -> bool:
    """Return whether something is a figure."""
    from matplotlib.figure import Figure

    return isinstance(drawing, Figure)


def save_figure(figure: "Figure", path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a figure as PNG (150 dots per inch), SVG or PDF; a failure leaves no file.

    Raises `OutputError` if the path has another ending or cannot be written.
    """
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise OutputError(f"{target}: a figure is a {', '.join(FORMATS)} file. Use one of these endings.")
    from matplotlib import rc_context
    from matplotlib.text import Text

    # Words are not TeX, whatever the settings. Ticks are made while drawing, hence the rc_context below.
    for text in figure.findobj(Text):
        text.set_usetex(False)
    with (
        atomic_path(target, overwrite=overwrite) as temporary,
        collected_warnings() as caught,
        # Without random names and date, the same figure gives the same file.
        # Journals refuse Type 3 fonts: a PDF embeds TrueType, and an SVG holds the outlines of its letters.
        rc_context({"text.usetex": False, "svg.hashsalt": "bayesbias", "pdf.fonttype": 42, "svg.fonttype": "path"}),
    ):
        form = target.suffix.lower()[1:]
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(temporary, dpi=150, format=form, metadata=undated.get(form))
    missing = {str(entry.message).split(" missing from")[0] for entry in caught if "missing from" in str(entry.message)}
    if missing:
        warn_user(
            f"The font of the figure lacks {len(missing)} characters of the words ({name_some(sorted(missing), 3)}), "
            "which are drawn as boxes. Set matplotlib's font.family to a font that has them.",
            FigureWarning,
        )
    for entry in caught:
        if "missing from" not in str(entry.message):
            warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)
    return target
