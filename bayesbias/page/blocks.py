"""What a page is made of: sections of paragraphs, lists, tables and figures, as plain texts.

Nothing here is markup. The template escapes every text, so a word may hold any character.
"""

import base64
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.plots.style import save_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

# More rows than this are no reading; the page says how many it leaves out.
MOST_ROWS = 400


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
    """A PNG image with the text that stands for it where it is not seen."""

    caption: str
    alt: str
    source: str
    width: int
    height: int


Block = Paragraph | Notice | Heading | Bullets | Verbatim | Table | Figure


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
    """Return a drawn figure as a block."""
    with tempfile.TemporaryDirectory() as folder:
        content = save_figure(drawing, Path(folder) / "figure.png").read_bytes()
    # The size stands in bytes 16 to 24 of every PNG file.
    width, height = (int.from_bytes(content[start : start + 4], "big") for start in (16, 20))
    source = "data:image/png;base64," + base64.b64encode(content).decode("ascii")
    return Figure(caption=caption, alt=alt, source=source, width=width, height=height)


def fact_table(caption: str, facts: Mapping[str, str], *, header: tuple[str, str]) -> Table:
    """Return a table of names and texts."""
    return Table(caption=caption, header=header, rows=tuple(facts.items()), texts=(True, True))
