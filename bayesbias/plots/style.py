"""How every figure looks, and how it is saved."""

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias.errors import FigureWarning, OutputError, name_some, warn_user
from bayesbias.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def save_figure(figure: "Figure", path: str | os.PathLike[str], *, overwrite: bool = True) -> Path:
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
