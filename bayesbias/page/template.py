"""The template of every page: all texts are escaped, and nothing is loaded from anywhere."""

import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayesbias.page.blocks import Notice, Section

if TYPE_CHECKING:
    import jinja2

# Control characters, marks that override the direction of text, and halves of surrogate pairs.
_UNWELCOME = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def filled_page(
    *, title: str, description: str, subtitle: str, alerts: list[Notice], verdict: str, sections: list[Section]
) -> str:
    """Return a page as HTML, whose first screen is alerts, verdict and the sections' headlines."""
    return _template().render(
        title=title,
        description=description,
        subtitle=subtitle,
        alerts=alerts,
        verdict=verdict,
        sections=sections,
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
    style = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
    return environment.get_template("report.html.j2", globals={"style": Markup(style)})
