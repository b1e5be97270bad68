"""The template of every page: all texts are escaped, and nothing is loaded from anywhere."""

import base64
import os
import re
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayesbias.base.checks import check_path
from bayesbias.base.outputs import atomic_path, check_output
from bayesbias.delivery.page.blocks import Block, Notice, Section
from bayesbias.errors import OutputError

if TYPE_CHECKING:
    import jinja2

_MOST_HEADLINES = 3
# Control characters, marks that override the direction of text, and halves of surrogate pairs.
_UNWELCOME = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def page_target(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Return `path` if a page can be written there; raise `OutputError` before any work if not."""
    if check_path(path).suffix.lower() not in (".html", ".htm"):
        raise OutputError(f"{path}: the page is an .html file. Give it that ending.")
    return check_output(path, overwrite=overwrite)


def write_page(target: Path, content: str, *, overwrite: bool) -> Path:
    """Write a page, whole or not at all, and return its path."""
    with atomic_path(target, overwrite=overwrite) as temporary:
        temporary.write_text(content, encoding="utf-8", newline="\n")
    return target


def filled_page(
    *,
    title: str,
    description: str,
    subtitle: str,
    alerts: list[Notice],
    verdict: str,
    sections: list[Section],
    lead: tuple[Block, ...] = (),
    telling: tuple[str, ...] = (),
    full: bool = False,
) -> str:
    """Return a page as HTML, whose first screen is alerts, a verdict, what leads, and at most three headlines.

    `telling` names the sections whose headlines may stand there, the most telling first. Of a `full` page
    folded tables are printed too.
    """
    by_slug = {section.slug: section for section in sections if section.headlines}
    headlines = [(by_slug[slug], by_slug[slug].headlines[0]) for slug in telling if slug in by_slug]
    return _template().render(
        title=title,
        description=description,
        subtitle=subtitle,
        alerts=alerts,
        verdict=verdict,
        sections=sections,
        lead=lead,
        full=full,
        headlines=headlines[:_MOST_HEADLINES],
        made=datetime.now(UTC).strftime("%Y-%m-%d"),
    )


def _visible(value: Any) -> Any:
    """Return a text without what could not be written, or would turn the text around it."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _UNWELCOME.sub("\N{REPLACEMENT CHARACTER}", value)


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
    # Only this very script may run: whatever a word holds, it is none.
    digest = base64.b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
    known = {"style": Markup(style), "script": Markup(script), "script_hash": Markup(digest)}
    return environment.get_template("report.html.j2", globals=known)
