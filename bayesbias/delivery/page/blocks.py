"""What a page is made of: sections of paragraphs, lists, tables and figures, as plain texts.

Nothing here is markup. The template escapes every text, so a word may hold any character.
"""

import base64
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.delivery.plots.style import save_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

# More rows than this are no reading; the page says how many it leaves out.
MOST_ROWS = 400
# In inches: at 390 pixels its letters are still legible.
_WIDEST = 5.4
_LARGEST_SVG = 600_000


class _Block:
    @property
    def kind(self) -> str:
        """What the template makes of it: the name of its class."""
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Paragraph(_Block):
    """Running text."""

    text: str


@dataclass(frozen=True)
class Notice(_Block):
    """A paragraph that must not be overlooked."""

    text: str


@dataclass(frozen=True)
class Heading(_Block):
    """The title of a part of a section."""

    text: str


@dataclass(frozen=True)
class Bullets(_Block):
    """A list of sentences."""

    entries: tuple[str, ...]


@dataclass(frozen=True)
class Links(_Block):
    """A list of sentences, each with an address relative to the page and the words that lead there."""

    entries: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Verbatim(_Block):
    """Code or a file's text, line by line."""

    text: str


@dataclass(frozen=True)
class Table(_Block):
    """Rows of texts. The first cell of a row is its header; a folded table is opened by its reader."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: tuple[bool, ...]
    folded: bool = False


@dataclass(frozen=True)
class Figure(_Block):
    """An image with the text that stands for it where it is not seen."""

    caption: str
    alt: str
    source: str
    width: int
    height: int
    wide: bool = False

    @property
    def printed(self) -> int:
        """The height in millimetres at which its words are printed no smaller than 6 points."""
        return round(0.6 * self.height / 96 * 25.4)


Block = Paragraph | Notice | Heading | Bullets | Links | Verbatim | Table | Figure


@dataclass(frozen=True)
class Section:
    """A part of the page; `headlines` say it in a sentence or two at the top of the page."""

    slug: str
    title: str
    blocks: Sequence[Block]
    headlines: Sequence[str] = ()


Format = Callable[[Any], str]


def frame_table(
    frame: "pd.DataFrame",
    caption: str,
    columns: Mapping[str, tuple[str, Format | None]],
    *,
    folded: bool = False,
) -> Table:
    """Return a table with some columns of a data frame.

    `columns` maps a column to its header and how its numbers are written (None: a text); a column may be
    ``"low:high"``: both ends of an interval in one cell. A `folded` table is opened by the reader.
    """
    shown = frame.head(MOST_ROWS)
    if len(frame) > len(shown):
        caption = f"{caption} (the first {len(shown):,} of {len(frame):,} rows)"
    cells = []
    for name, (_, write) in columns.items():
        ends = [[(write or str)(value) for value in shown[end]] for end in name.split(":")]
        cells.append([" to ".join(parts) for parts in zip(*ends, strict=True)])
    return Table(
        caption=caption,
        header=tuple(header for header, _ in columns.values()),
        rows=tuple(zip(*cells, strict=True)),
        texts=tuple(write is None for _, write in columns.values()),
        folded=folded,
    )


def figure(drawing: "Drawing", caption: str, alt: str) -> Figure:
    """Return a drawn figure as a block; its title is left to the caption.

    It is an SVG, or a PNG where that is too large. Of one column of panels, it is no wider than a phone shows legibly;
    a wider one is scrolled there.
    """
    width, height = drawing.get_size_inches()
    if len({round(axes.get_position().x0, 2) for axes in drawing.axes}) == 1:
        width = min(width, _WIDEST)
        drawing.set_size_inches(width, height)
    if (title := drawing.get_suptitle()) and "NOT CONVERGED" not in title:
        drawing.suptitle("")
    with tempfile.TemporaryDirectory() as folder:
        kind, content = "svg+xml", save_figure(drawing, Path(folder) / "figure.svg").read_bytes()
        if len(content) > _LARGEST_SVG:
            kind, content = "png", save_figure(drawing, Path(folder) / "figure.png").read_bytes()
    pixels = [round(96 * inches) for inches in drawing.get_size_inches()]
    source = f"data:image/{kind};base64," + base64.b64encode(content).decode("ascii")
    return Figure(caption=caption, alt=alt, source=source, width=pixels[0], height=pixels[1], wide=width > _WIDEST)


def fact_table(caption: str, facts: Mapping[str, str], *, header: tuple[str, str], folded: bool = False) -> Table:
    """Return a table of names and texts."""
    return Table(caption=caption, header=header, rows=tuple(facts.items()), texts=(True, True), folded=folded)
