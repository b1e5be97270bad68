"""The template of every page, which escapes all texts and loads nothing from elsewhere."""

import base64
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayesbias.base.escapes import visible
from bayesbias.delivery.page.blocks import Block, Notice, Section

if TYPE_CHECKING:
    import jinja2


@dataclass(frozen=True, eq=False)
class Page:
    """Content of a page.

    Parameters
    ----------
    title, description, subtitle
        Heading, summary for search engines, and the line below the heading.
    alerts
        Doubts about the numbers, which stand before all of them.
    verdict
        Answer in a sentence.
    sections
        Sections in their order.
    lead
        Blocks of the first screen.
    summary
        Title of the first screen.
    """

    title: str
    description: str
    subtitle: str
    alerts: list[Notice]
    verdict: str
    sections: list[Section]
    lead: tuple[Block, ...] = ()
    summary: str = "In short"


def filled_page(page: Page, *, full: bool = False) -> str:
    """Return a page as HTML. It begins with alerts, verdict and leading blocks.

    A `full` page prints folded tables.
    """
    return _template().render(
        title=page.title,
        description=page.description,
        subtitle=f"{page.subtitle.rstrip('.')}." if page.subtitle else "",
        alerts=page.alerts,
        verdict=page.verdict,
        sections=page.sections,
        lead=page.lead,
        full=full,
        summary=page.summary,
        made=datetime.now(UTC).strftime("%Y-%m-%d"),
    )


def _visible(value: Any) -> Any:
    """Return a text with control characters and invisible ones as escapes."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


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
    style, script = ((Path(__file__).parent / f"report.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    # No other script may run, whatever a word holds.
    digest = base64.b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
    page_globals = {"style": Markup(style), "script": Markup(script), "script_hash": Markup(digest)}
    return environment.get_template("report.html.j2", globals=page_globals)
