"""How every figure looks, and how it is saved."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias.errors import FigureWarning, OutputError, name_some, warn_user
from bayesbias.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Okabe and Ito's colours, which people with any colour vision can tell apart; a marker each besides.
COLORS = {"associated": "#D55E00", "different": "#0072B2", "human": "#009E73", "neutral": "#4D4D4D"}
MARKERS = {"associated": "o", "different": "s", "human": "^", "neutral": "D"}
DISTANCE_LABEL = "Mean cosine distance\n(0 = same direction, 1 = unrelated, 2 = opposite)"
_FORMATS = (".png", ".svg", ".pdf")


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure, in inches, that a notebook shows once and no window holds open."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(width, height), layout="constrained", facecolor="white")
    plt.close(figure)
    return figure


def short_label(word: str, longest: int = 24) -> str:
    """Return a word cut to a length that a figure can hold.

    >>> short_label("a" * 40)
    'aaaaaaaaaaaaaaaaaaaaaaa…'
    """
    return word if len(word) <= longest else word[: longest - 1] + "…"


def connection_legend(figure: "Figure | SubFigure", connections: Sequence[str], title: str) -> None:
    """Draw the legend of the connections below a figure."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=COLORS[name], marker=MARKERS[name], markersize=6, label=name) for name in connections
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=len(handles),
        frameon=False,
        title=title,
        title_fontsize=9,
    )


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
    for label in axes.get_yticklabels():
        # A word is text and not mathematics, even if it holds a dollar sign.
        label.set_parse_math(False)
    axes.set_ylim(len(words) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


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
    with atomic_path(target, overwrite=overwrite) as temporary, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(temporary, dpi=150, format=target.suffix.lower()[1:])
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
