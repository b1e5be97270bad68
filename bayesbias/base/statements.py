"""Statements of reports: objects that hold a sentence and the numbers behind it, and their renderings.

Reports return `Statement` and `Conclusions`; text, HTML, JSON and the page are renderings of their fields, so that no
code parses English.

Words and names in them may hold any character. A statement shows control characters as escapes from its beginning, and
each rendering escapes the whole text, so that no name is markup.
"""

import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any

from bayesbias.base.number_text import digits_text, visible
from bayesbias.errors import name_some

if TYPE_CHECKING:
    import pandas as pd

LINE = 100
"""Longest line of text, in characters."""
_FACT = 72  # characters of a fact on one line
# Signs of Markdown in any place, underscores but those inside words, what begins a list, and what makes an address.
_MARKDOWN = re.compile(
    r"[\\`*\[\]|#~@]|(?<![^\W_])_|_(?![^\W_])|^(?:[-+]|\d+[.)])(?=\s)|:(?=//)|\bwww\.|\b(?:mailto|xmpp):", re.IGNORECASE
)
# Backslashes with which mathematics begins in notebooks: \(x\), \[x\], \begin{align}, \ref{x}.
_MATHEMATICS = re.compile(r"\\(?=[()\[\]]|begin|end|(?:eq)?ref)")
# Code that a statement names, such as `bb.fit`: nothing in it is markup.
_CODE = re.compile(r"(?<![`\\])(`[\w.()=,'\" -]+`)(?!`)")
# An option and its value stay on one line. Its length is bounded: a name of dashes would take quadratic time.
OPTION, _NO_BREAK = re.compile(r"--[a-z][a-z-]{1,24}( [A-Z]{1,12}\b)?"), "\0"
_LEFT = " style='text-align: left'"  # notebooks align cells to the right


@dataclass(frozen=True, repr=False)
class Statement:
    """One statement of a report.

    Parameters
    ----------
    kind
        Topic, such as ``"contrast"``, ``"words"`` or ``"lost words"``, by which code finds the statement.
    text
        One or more sentences, without a bullet.
    numbers
        The numbers behind the text, by name, unrounded.

    Examples
    --------
    >>> statement = Statement("contrast", "Associated words are nearer: -0.031.", {"mean": -0.0314})
    >>> print(statement)
    Associated words are nearer: -0.031.
    """

    kind: str
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Show the control characters of words and names."""
        object.__setattr__(self, "text", visible(self.text))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Statement({self.kind!r}, {_short(self.text)!r})"

    def _repr_html_(self) -> str:
        return f"<p>{_html(self.text)}</p>"

    def advised(self, advice: str) -> "Statement":
        """Return the statement of a fact with what to do about it.

        >>> print(Statement("one word", "The list has one word.").advised("Add words."))
        The list has one word. Add words.
        """
        return replace(self, text=f"{self.text} {advice}")

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python, for JSON."""
        return {"kind": self.kind, "text": self.text, "numbers": {name: plain(x) for name, x in self.numbers.items()}}


type Finding = tuple[Statement, str]
"""A fact that makes numbers doubtful, and what to do about it: a doubt is both, a document states the fact."""


@dataclass(frozen=True, repr=False)
class StatementList:
    """A part of a report: a title and the statements below it.

    Parameters
    ----------
    title
        Title, such as ``"What the posterior shows"``.
    statements
        Statements below the title.
    bulleted
        Whether the statements are items of a list, not paragraphs.
    detail
        Whether a terminal leaves the part to the page, where one is written.
    """

    title: str
    statements: tuple[Statement, ...]
    bulleted: bool = True
    detail: bool = False

    def __post_init__(self) -> None:
        """Show the control characters of words and names."""
        object.__setattr__(self, "title", visible(self.title))

    def __str__(self) -> str:
        return render_text([self])

    def __repr__(self) -> str:
        return f"StatementList({self.title!r}, {len(self.statements)} statements)"

    def _repr_html_(self) -> str:
        return render_html([self])


class Rendered(ABC):
    """A report in parts, rendered as text by `print` and as HTML in a notebook."""

    @property
    @abstractmethod
    def _parts(self) -> Iterable[StatementList]:
        """The parts in reading order; some may be empty."""

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """The parts that have statements, in reading order."""
        return tuple(part for part in self._parts if part.statements)

    def __repr__(self) -> str:
        texts = (statement.text for part in self.parts for statement in part.statements)
        first = next(texts, "nothing to say")
        return f"<{type(self).__name__}: {_short(first)} (print it for the rest)>"

    def __str__(self) -> str:
        return render_text(self.parts)

    def _repr_html_(self) -> str:
        return render_html(self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python, for JSON."""
        return {str(name): plain(value) for name, value in vars(self).items()}


type Facts = Mapping[str, Any]
"""Facts about an object by name: texts, numbers, and lists of words or mappings of these."""


class Described(ABC):
    """An object shown by a few facts: on one line of text, or as a table in a notebook."""

    @property
    @abstractmethod
    def _facts(self) -> Facts:
        """The facts in order; of a list, a table shows the first words, and a line their number."""

    def __repr__(self) -> str:
        facts = (
            f"{name}={value!r}" if isinstance(value, str) and len(value) < _FACT else f"{name}={_fact_text(value)}"
            for name, value in self._facts.items()
        )
        return visible(f"{type(self).__name__}({', '.join(facts)})")

    def _repr_html_(self) -> str:
        facts = {name: _fact_text(value, 12) for name, value in self._facts.items()}
        return facts_html(type(self).__name__, facts)


@dataclass(frozen=True, repr=False)
class Conclusions(Rendered):
    """Conclusions from a posterior, in plain English: what it shows, and what it does not.

    Parameters
    ----------
    about
        The words, embedding and model of the study.
    doubts
        Reasons not to trust the numbers, shown first: draws that did not converge, repeated rows.
    verdict
        What the estimates mean together.
    shown
        What the posterior shows, one statement for each estimate or list of words.
    limits
        What the posterior does not show.
    heading
        Title above `verdict`, such as ``"What the posterior shows (89% HPDI, in units of cosine distance)"``.

    Examples
    --------
    >>> print(Conclusions(Statement("about", "Two words."), (), Statement("verdict", "Nothing."), (), ()))
    Two words.
    <BLANKLINE>
    WHAT THE POSTERIOR SHOWS
    <BLANKLINE>
    Nothing.
    """

    about: Statement
    doubts: tuple[Statement, ...]
    verdict: Statement
    shown: tuple[Statement, ...]
    limits: tuple[Statement, ...]
    heading: str = "What the posterior shows"

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        return (
            StatementList("Doubts", self.doubts),
            StatementList("", (self.about,), bulleted=False),
            StatementList(self.heading, (self.verdict,), bulleted=False),
            StatementList("", self.shown),
            StatementList("What it does not show", self.limits),
        )

    def __repr__(self) -> str:
        return f"Conclusions({self.verdict.text!r}, {len(self.shown)} shown, {len(self.doubts)} doubts)"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python, for JSON."""
        single: dict[str, Any] = {name: getattr(self, name).to_dict() for name in ("about", "verdict")}
        return single | {
            name: [statement.to_dict() for statement in getattr(self, name)] for name in ("doubts", "shown", "limits")
        }


def render_text(parts: Iterable[StatementList]) -> str:
    """Return parts as plain text: titles in capitals, items with a dash, lines of at most `LINE` characters.

    >>> print(render_text([StatementList("Doubts", (Statement("lost", "Two words were lost."),))]))
    DOUBTS
    <BLANKLINE>
    - Two words were lost.
    """
    paragraphs = []
    for part in parts:
        if part.title:
            paragraphs.append(wrap(part.title.upper()))
        paragraphs += [wrap(statement.text, bullet=part.bulleted) for statement in part.statements]
    return "\n\n".join(paragraphs)


def render_html(parts: Iterable[StatementList]) -> str:
    """Return parts as escaped HTML for a notebook."""
    html = []
    for part in parts:
        if part.title:
            html.append(f"<h4>{_html(part.title)}</h4>")
        if part.bulleted and part.statements:
            entries = "".join(f"<li>{_html(statement.text)}</li>" for statement in part.statements)
            html.append(f"<ul>{entries}</ul>")
        else:
            html += [f"<p>{_html(statement.text)}</p>" for statement in part.statements]
    return "".join(html)


def facts_html(title: str, facts: Mapping[str, str], notes: Iterable[str] = ()) -> str:
    """Return facts as an escaped HTML table for a notebook, with notes below it.

    >>> facts_html("Study", {"name": "<b>"})
    '<table><caption>Study</caption><tbody><tr><th>name</th><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    rows = "".join(
        f"<tr><th>{_html(name)}</th><td{_LEFT if len(text) > _FACT else ''}>{_html(text)}</td></tr>"
        for name, text in facts.items()
    )
    below = "".join(f"<p>{_html(note)}</p>" for note in notes)
    return f"<table><caption>{_html(title)}</caption><tbody>{rows}</tbody></table>{below}"


def _fact_text(value: Any, words: int = 0) -> str:
    """Return a fact as text, with at most `words` words of each list; if that is 0, with their number."""
    if isinstance(value, Mapping):
        inside = "; ".join(f"{name}: {_fact_text(item, words)}" for name, item in value.items())
        return inside or "none" if words else f"{{{_short(inside)}}}"
    if isinstance(value, list | tuple):
        if not words:
            return str(len(value))
        if not value:
            return "none"
        return name_some([" - ".join(map(str, item)) if isinstance(item, tuple) else item for item in value], words)
    if isinstance(value, str):
        return value if words else repr(_short(value))
    return digits_text(value, 4) if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    return textwrap.shorten(text, _FACT, placeholder=" …")


def rows_of(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a frame as dictionaries, as the numbers of statements.

    >>> rows_of(pd.DataFrame({"contrast": ["associated - human"], "mean": [-0.03]}))
    [{'contrast': 'associated - human', 'mean': -0.03}]
    """
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def wrap(text: str, *, bullet: bool = False) -> str:
    """Return a paragraph in lines of at most `LINE` characters, optionally as an item with a dash.

    >>> wrap("One item.", bullet=True)
    '- One item.'
    """
    first_indent, indent = ("- ", "  ") if bullet else ("", "")
    filled = textwrap.fill(
        OPTION.sub(lambda match: match[0].replace(" ", _NO_BREAK), text),
        LINE,
        initial_indent=first_indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace(_NO_BREAK, " ")


def markdown_text(text: str) -> str:
    r"""Return a text that Markdown shows as it is, on one line.

    >>> print(markdown_text("<unk> *star* ![a](b)"))
    &lt;unk&gt; \*star\* !\[a\](b)
    """
    return _without_markup(_on_one_line(text))


def markdown_sentence(text: str) -> str:
    r"""Return a sentence that Markdown shows as it is, on one line, but for the code that it names.

    >>> print(markdown_sentence("Give it to `bb.fit`, *then* look."))
    Give it to `bb.fit`, \*then\* look.
    """
    parts = _CODE.split(_on_one_line(text))
    return "".join(part if place % 2 else _without_markup(part) for place, part in enumerate(parts))


def _on_one_line(text: str) -> str:
    return " ".join(visible(text).split())


def _without_markup(text: str) -> str:
    text = _MATHEMATICS.sub(r"\\x5c", text)  # as Python writes it, since Markdown makes it a backslash again
    escaped = _MARKDOWN.sub(lambda match: f"{match[0][:-1]}\\{match[0][-1]}", text)
    # After a backslash, some programs still take a dollar sign for mathematics.
    return escape(escaped, quote=False).replace("$", "&#36;")


def _html(text: str) -> str:
    """Return a text as HTML for a notebook, which would take dollar signs and backslashes for mathematics."""
    return _MATHEMATICS.sub(r"<span>\\</span>", escape(visible(text))).replace("$", "<span>$</span>")


def plain(value: Any) -> Any:
    """Return statements, frames, NumPy numbers, tuples and mappings as plain Python, for JSON.

    Numbers that are not finite, which JSON lacks, become None.

    >>> plain({"mean": np.float64(0.5), "observed": float("nan"), "words": ("he", "she")})
    {'mean': 0.5, 'observed': None, 'words': ['he', 'she']}
    """
    if isinstance(value, Statement | Rendered):
        return value.to_dict()
    if hasattr(value, "columns"):
        return plain(rows_of(value))
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not isfinite(value) else value
