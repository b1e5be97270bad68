"""How every figure looks, and how it is saved."""

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayesbias.base.outputs import atomic_path
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
    from numpy.typing import NDArray

# Okabe and Ito's colours, which people with any colour vision can tell apart; a marker each besides.
COLORS = {"associated": "#D55E00", "different": "#0072B2", "human": "#009E73", "neutral": "#4D4D4D"}
SERIES = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "v"), ("#56B4E9", "P"))
"""Okabe and Ito's colours, a marker each, for embeddings."""
MARKERS = {"associated": "o", "different": "s", "human": "^", "neutral": "D"}
DISTANCE_LABEL = "Mean cosine distance\n(0 = same direction, 1 = unrelated, 2 = opposite)"
# More rows than these are neither legible nor an image that browsers show.
MOST_WORDS = 200
_FORMATS = (".png", ".svg", ".pdf")


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure, in inches, that a notebook shows once and no window holds open."""
    try:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(width, height), layout="constrained", facecolor="white")
    except (ImportError, ValueError) as error:  # of an environment or a style that asks for what is not there
        raise ReportError(
            f"matplotlib cannot draw with its present settings: {error}. Set the environment variable MPLBACKEND to "
            "agg, or mend the matplotlibrc."
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
    """Return a figure and its panels, in so many columns at most: those left over hidden, the lowest labelled.

    `width` is that of a figure at least and of a column, `height` that around the panels and of a row.
    """
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = new_figure(max(width[0], width[1] * columns), height[0] + height[1] * rows)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=True).ravel()
    for at, axes in enumerate(panels):
        axes.set_visible(at < count)
        if at < count <= at + columns:
            axes.set_xlabel(label, fontsize=9)
            axes.tick_params(axis="x", labelbottom=True)
    return figure, panels


def row_offsets(count: int, reach: float) -> "NDArray[Any]":
    """Return where several values of one row stand: from -reach to reach, one alone in the middle.

    >>> row_offsets(3, 0.3), row_offsets(1, 0.3)
    (array([-0.3,  0. ,  0.3]), array([0.]))
    """
    import numpy as np

    offsets: NDArray[Any] = np.linspace(-reach, reach, count) if count > 1 else np.zeros(count)
    return offsets


def short_label(word: str, longest: int = 24) -> str:
    """Return a word cut to a length that a figure can hold.

    >>> short_label("a" * 40)
    'aaaaaaaaaaaaaaaaaaaaaaa…'
    """
    return word if len(word) <= longest else word[: longest - 1] + "…"


def furnish(axes: "Axes", grid: Literal["x", "y", "both"], *, small: bool = False, rows: bool = False) -> None:
    """Draw a pale grid behind the data and take the frame's idle sides away.

    Parameters
    ----------
    axes
        What to furnish, its ticks set.
    grid
        Which axis has grid lines.
    small
        Whether the tick labels are small.
    rows
        Whether the y axis has rows with names, such as words, and no scale.
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
            label.set_parse_math(False)  # a word is text and not mathematics, even if it holds a dollar sign


def draw_estimate(
    axes: "Axes", row: Mapping[Any, Any], y: float, *, size: float, width: float, filled: bool, alpha: float = 1.0
) -> None:
    """Draw mean and HPDI of a row of estimates in the colour and with the marker of its connection."""
    color, marker = COLORS[row["connection"]], MARKERS[row["connection"]]
    line = [row["hdi_low"], row["hdi_high"]]
    axes.plot(line, [y, y], color=color, linewidth=width, alpha=alpha, solid_capstyle="butt")
    axes.plot(row["mean"], y, marker, color=color, markersize=size, markerfacecolor=color if filled else "white")


def title_figure(figure: "Figure", text: str, *, size: float = 11, converged: bool = True) -> None:
    """Write the title of a figure, which says so in red where a fit did not converge."""
    text, color = (text, "black") if converged else (f"{text}\nNOT CONVERGED: do not report", "#B00020")
    figure.suptitle(text, fontsize=size, color=color).set_parse_math(False)


def words_by_group(frame: "pd.DataFrame") -> dict[str, str]:
    """Return protected word -> its group, group after group, in the order of a frame's rows.

    >>> frame = pd.DataFrame({"protected_word": ["he", "she", "him"], "protected_group": ["male", "female", "male"]})
    >>> words_by_group(frame)
    {'he': 'male', 'him': 'male', 'she': 'female'}
    """
    pairs = frame[["protected_word", "protected_group"]].drop_duplicates().astype(str)
    group_of = dict(pairs.itertuples(index=False, name=None))
    groups = list(dict.fromkeys(group_of.values()))
    return dict(sorted(group_of.items(), key=lambda pair: groups.index(pair[1])))


def shown_words(frame: "pd.DataFrame", value: str) -> "tuple[pd.DataFrame, str]":
    """Return the rows of the protected words that a figure shows, at most `MOST_WORDS`, and its label for them.

    Of more words these are the ones whose values lie farthest, on average, from the means of their connections.

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
    """Draw the legend of several series, name -> colour and marker, below a figure."""
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
        text.set_parse_math(False)


def word_rows(axes: "Axes", words: Sequence[str], groups: Sequence[str]) -> None:
    """Make a row of each protected word, from the top down, with bands, and lines and names of the groups."""
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
        name.set_parse_math(False)
    axes.set_yticks(range(len(words)), [short_label(word) for word in words])
    axes.set_ylim(len(words) - 0.5, -0.5)
    furnish(axes, "x", rows=True)


def save_figure(figure: "Figure", path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a figure as PNG (150 dots an inch), SVG or PDF, whole or not at all.

    Raises
    ------
    OutputError
        If the path has another ending or cannot be written.
    """
    target = Path(path)
    if target.suffix.lower() not in _FORMATS:
        raise OutputError(f"{target}: a figure is a {', '.join(_FORMATS)} file. Choose one of these endings.")
    from matplotlib import rc_context
    from matplotlib.text import Text

    # Words are no TeX, whatever a user's settings say: those for ticks are made while a figure is drawn.
    for text in figure.findobj(Text):
        text.set_usetex(False)
    with (
        atomic_path(target, overwrite=overwrite) as temporary,
        collected_warnings() as caught,
        # The same figure gives the same file: no random names, no date.
        rc_context({"text.usetex": False, "svg.hashsalt": "bayesbias"}),
    ):
        form = target.suffix.lower()[1:]
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(temporary, dpi=150, format=form, metadata=undated.get(form))
    missing = {str(entry.message).split(" missing from")[0] for entry in caught if "missing from" in str(entry.message)}
    if missing:
        warn_user(
            f"The figure's font lacks {len(missing)} characters of the words ({name_some(sorted(missing), 3)}); they "
            "are drawn as boxes. Set matplotlib's font.family to a font that has them.",
            FigureWarning,
        )
    for entry in caught:
        if "missing from" not in str(entry.message):
            warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)
    return target
