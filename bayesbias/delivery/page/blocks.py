"""Blocks of a page: paragraphs, lists, tables and figures, as plain text.

Texts hold no markup. The template escapes them, so a word may hold any character.
"""

import base64
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from bayesbias.base.number_text import visible
from bayesbias.base.statements import OPTION
from bayesbias.delivery.plots.style import save_figure

if TYPE_CHECKING:
    import jinja2
    from matplotlib.figure import Figure as Drawing


# In inches; at 390 pixels the letters are still legible.
_WIDEST = 5.4
_LARGEST_SVG = 600_000


class _Block:
    @property
    def kind(self) -> str:
        """Name of the block for the template."""
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Paragraph(_Block):
    """Running text."""

    text: str


@dataclass(frozen=True)
class Notice(_Block):
    """An emphasised paragraph."""

    text: str


@dataclass(frozen=True)
class Heading(_Block):
    """Heading inside a section."""

    text: str


@dataclass(frozen=True)
class Bullets(_Block):
    """A list of sentences."""

    entries: tuple[str, ...]


@dataclass(frozen=True)
class LinkList(_Block):
    """A list of sentences, each with a relative address and the text of the link."""

    entries: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Verbatim(_Block):
    """Preformatted text, such as code or a file."""

    text: str


@dataclass(frozen=True)
class Table(_Block):
    """Rows of texts with the first cell as row header; `texts` tells which columns are aligned to the left.

    The `legend` stands below the table.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: tuple[bool, ...]
    folded: bool = False
    legend: str = ""


@dataclass(frozen=True)
class Figure(_Block):
    """An image with caption and alternative text."""

    caption: str
    alt: str
    source: str
    width: int
    height: int
    wide: bool = False

    @property
    def printed(self) -> int:
        """Printed height in millimetres, at which letters are at least 6 points."""
        return round(0.6 * self.height / 96 * 25.4)


@dataclass(frozen=True)
class Beside(_Block):
    """A table and a figure of the same rows: beside each other on a wide screen, else one below the other."""

    table: Table
    figure: Figure


Block = Paragraph | Notice | Heading | Bullets | LinkList | Verbatim | Table | Figure | Beside


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Its `headlines` stand open before its `details`, which are folded sections.
    """

    slug: str
    title: str
    blocks: Sequence[Block]
    headlines: Sequence[str] = ()
    details: "Sequence[Section]" = ()


def figure(drawing: "Drawing", caption: str, alt: str) -> Figure:
    """Return a drawing as a block, without its title, which the caption replaces.

    The image is an SVG, or a PNG if the SVG is too large. A single column of panels is narrowed to a width that a phone
    shows legibly; wider figures scroll there.
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
    """Return a table with two columns, names and texts."""
    return Table(caption=caption, header=header, rows=tuple(facts.items()), texts=(True, True), folded=folded)


@dataclass(frozen=True, eq=False)
class Page:
    """Content of a page.

    - `title`, `description`, `subtitle`: heading, summary for search engines, and the line below the heading.
    - `alerts`: doubts that change the answer.
    - `answer`, `estimate`: answer in a sentence, and its number with the interval.
    - `sections`: sections in their order.
    - `lead`: figure of the first screen.
    """

    title: str
    description: str
    subtitle: str
    alerts: list[Notice]
    answer: str
    sections: list[Section]
    lead: tuple[Block, ...] = ()
    estimate: str = ""


def filled_page(page: Page, *, full: bool = False) -> str:
    """Return a page as HTML. It begins with the question, alerts, the answer and its number, and a figure.

    A `full` page prints folded tables.
    """
    return _template().render(
        title=page.title,
        description=page.description,
        subtitle=f"{page.subtitle.rstrip('.')}." if page.subtitle else "",
        alerts=page.alerts,
        answer=page.answer,
        estimate=page.estimate,
        sections=page.sections,
        lead=page.lead,
        full=full,
        made=datetime.now(UTC).strftime("%Y-%m-%d"),
    )


def _visible(value: Any) -> Any:
    """Return a text with control characters and invisible ones as escapes."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _prose(text: str) -> Markup:
    """Return a text, escaped, in which options of the command line and their values stay on one line."""
    return Markup(OPTION.sub(r'<span class="option">\g<0></span>', str(escape(_visible(text)))))


@cache
def _template() -> "jinja2.Template":
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = _prose
    style, script = ((Path(__file__).parent / f"report.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    # No other script may run, whatever a word holds.
    digest = base64.b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
    page_globals = {"style": Markup(style), "script": Markup(script), "script_hash": Markup(digest)}
    return environment.get_template("report.html.j2", globals=page_globals)
