"""Statements: what a report says, as objects whose words are one field beside their numbers.

A report returns what it found as `Statement` and `Conclusions`; `__str__`, `_repr_html_`, `to_dict` and the page are
renderings of their fields, so that no code ever reads a number or a meaning back out of English. How a number is
rounded for a reader is decided here too.
"""

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any

from bayesbias.errors import name_some

if TYPE_CHECKING:
    import pandas as pd

LINE = 100
"""Longest line of a text, in characters."""
_FACT = 72  # characters of a fact in a line
_LEFT = " style='text-align: left'"  # notebooks set cells to the right


@dataclass(frozen=True, repr=False)
class Statement:
    """One thing that a report says.

    Parameters
    ----------
    kind
        What it is about, such as ``"contrast"``, ``"words"``, ``"lost words"``: for code that looks for it.
    text
        A sentence or a few, without a bullet.
    numbers
        What the sentence rests on, by name, unrounded.

    Examples
    --------
    >>> said = Statement("contrast", "Associated words are nearer: -0.031.", {"mean": -0.0314})
    >>> print(said)
    Associated words are nearer: -0.031.
    """

    kind: str
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Statement({self.kind!r}, {_short(self.text)!r})"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.text)}</p>"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python, for JSON."""
        return {"kind": self.kind, "text": self.text, "numbers": {name: plain(x) for name, x in self.numbers.items()}}


@dataclass(frozen=True, repr=False)
class StatementList:
    """A title and the statements below it.

    Parameters
    ----------
    title
        Such as ``"What the posterior shows"``.
    statements
        What stands below it.
    bulleted
        Whether each statement is an item of a list; else each is a paragraph.
    """

    title: str
    statements: tuple[Statement, ...]
    bulleted: bool = True

    def __str__(self) -> str:
        return render_text([self])

    def __repr__(self) -> str:
        return f"StatementList({self.title!r}, {len(self.statements)} statements)"

    def _repr_html_(self) -> str:
        return render_html([self])


class Rendered(ABC):
    """What says something in parts: `print` gives their text, and a notebook shows them as HTML."""

    @property
    @abstractmethod
    def parts(self) -> tuple[StatementList, ...]:
        """The parts, in the order in which they are read."""

    def __repr__(self) -> str:
        first = next((said.text for part in self.parts for said in part.statements), "nothing to say")
        return f"<{type(self).__name__}: {_short(first)} (print it for the rest)>"

    def __str__(self) -> str:
        return render_text(self.parts)

    def _repr_html_(self) -> str:
        return render_html(self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python, for JSON."""
        return {str(name): plain(value) for name, value in vars(self).items()}


type Facts = Mapping[str, Any]
"""What is shown of an object, by name: texts, numbers, and lists of words or mappings of these."""


class Described(ABC):
    """What is shown by a few facts: in a line of text, and in a notebook as a table."""

    @property
    @abstractmethod
    def _facts(self) -> Facts:
        """What is shown, in this order; of a list of words the first few, or in a line how many there are."""

    def __repr__(self) -> str:
        facts = (
            f"{name}={value!r}" if isinstance(value, str) and len(value) < _FACT else f"{name}={_fact_text(value)}"
            for name, value in self._facts.items()
        )
        return f"{type(self).__name__}({', '.join(facts)})"

    def _repr_html_(self) -> str:
        facts = {name: _fact_text(value, 12) for name, value in self._facts.items()}
        return facts_html(type(self).__name__, facts)


@dataclass(frozen=True, repr=False)
class Conclusions(Rendered):
    """What a posterior shows and does not show; printed, in plain English.

    Parameters
    ----------
    about
        What was studied: words, embedding, model.
    doubts
        What speaks against the numbers, read first: draws that did not converge, repeated rows. Empty if nothing does.
    verdict
        What the estimates mean together.
    shown
        What the posterior shows, one statement an estimate or a list of words.
    limits
        What it does not show.
    heading
        Title of what is shown, such as ``"What the posterior shows (89% HPDI, in units of cosine distance)"``.

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
    def parts(self) -> tuple[StatementList, ...]:
        """The parts of the text, in the order in which they are read; without those that are empty."""
        parts = (
            StatementList("Beware", self.doubts),
            StatementList("", (self.about,), bulleted=False),
            StatementList(self.heading, (self.verdict,), bulleted=False),
            StatementList("", self.shown),
            StatementList("What it does not show", self.limits),
        )
        return tuple(part for part in parts if part.statements)

    def __repr__(self) -> str:
        return f"Conclusions({self.verdict.text!r}, {len(self.shown)} shown, {len(self.doubts)} doubts)"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python, for JSON."""
        found: dict[str, Any] = {name: getattr(self, name).to_dict() for name in ("about", "verdict")}
        lists = {name: [said.to_dict() for said in getattr(self, name)] for name in ("doubts", "shown", "limits")}
        return found | lists


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
        paragraphs += [wrap(said.text, bullet=part.bulleted) for said in part.statements]
    return "\n\n".join(paragraphs)


def render_html(parts: Iterable[StatementList]) -> str:
    """Return parts as HTML for a notebook, every word escaped."""
    html = []
    for part in parts:
        if part.title:
            html.append(f"<h4>{escape(part.title)}</h4>")
        if part.bulleted and part.statements:
            html.append(f"<ul>{''.join(f'<li>{escape(said.text)}</li>' for said in part.statements)}</ul>")
        else:
            html += [f"<p>{escape(said.text)}</p>" for said in part.statements]
    return "".join(html)


def facts_html(title: str, facts: Mapping[str, str], notes: Iterable[str] = ()) -> str:
    """Return facts as a table for a notebook, with notes below it, every word escaped.

    >>> facts_html("Study", {"name": "<b>"})
    '<table><caption>Study</caption><tbody><tr><th>name</th><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td{_LEFT if len(text) > _FACT else ''}>{escape(text)}</td></tr>"
        for name, text in facts.items()
    )
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<table><caption>{escape(title)}</caption><tbody>{rows}</tbody></table>{below}"


def _fact_text(value: Any, words: int = 0) -> str:
    """Return a fact as text, with so many words of each list; without any, how many there are."""
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
    """Return the rows of a frame by the names of its columns, as the numbers of statements.

    >>> rows_of(pd.DataFrame({"contrast": ["associated - human"], "mean": [-0.03]}))
    [{'contrast': 'associated - human', 'mean': -0.03}]
    """
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def wrap(text: str, *, bullet: bool = False) -> str:
    """Return a paragraph in lines of at most `LINE` characters, with a dash before it where it is an item.

    >>> wrap("One item.", bullet=True)
    '- One item.'
    """
    start, rest = ("- ", "  ") if bullet else ("", "")
    return textwrap.fill(
        text, LINE, initial_indent=start, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def distance_text(value: float) -> str:
    """Return a distance with three decimals.

    >>> distance_text(0.89249), distance_text(float("nan"))
    ('0.892', 'undefined')
    """
    return f"{value:.3f}" if isfinite(value) else "undefined"


def signed_text(value: float) -> str:
    """Return a difference of distances with three decimals and its sign.

    >>> signed_text(-0.0314), signed_text(0.02)
    ('-0.031', '+0.020')
    """
    return f"{value:+.3f}" if isfinite(value) else "undefined"


def interval_text(low: float, high: float) -> str:
    """Return an interval of a difference in words.

    >>> interval_text(-0.046, 0.0191)
    '-0.046 to +0.019'
    """
    return f"{signed_text(low)} to {signed_text(high)}"


def probability_text(value: float) -> str:
    """Return a probability with two decimals, never as a certainty that draws cannot give.

    >>> probability_text(0.997), probability_text(0.5), probability_text(0.001)
    ('above 0.99', '0.50', 'below 0.01')
    """
    return "above 0.99" if value > 0.99 else "below 0.01" if value < 0.01 else f"{value:.2f}"


def percent_text(probability: float) -> str:
    """Return a probability as a percentage, unrounded.

    >>> percent_text(0.89), percent_text(0.895)
    ('89%', '89.5%')
    """
    return f"{100 * probability:g}%"


def share_text(value: float) -> str:
    """Return a share as a percentage with one decimal.

    >>> share_text(0.8951)
    '89.5%'
    """
    return f"{value:.1%}" if isfinite(value) else "undefined"


def digits_text(value: float, digits: int = 3) -> str:
    """Return a number with a few significant digits.

    >>> digits_text(0.96643), digits_text(0.96643, 4)
    ('0.966', '0.9664')
    """
    return f"{value:.{digits}g}" if isfinite(value) else "undefined"


def share_with_error_text(value: float, error: float) -> str:
    """Return a share as a percentage, and its Monte Carlo standard error.

    >>> share_with_error_text(0.0227, 0.0015)
    '2.3% ± 0.1%'
    """
    return f"{100 * value:.2g}% ± {100 * error:.1g}%"


def p_value_text(value: float) -> str:
    """Return a p-value with four decimals.

    >>> p_value_text(0.02274), p_value_text(0.00001)
    ('0.0227', 'below 0.0001')
    """
    return f"{value:.4f}" if value >= 0.0001 else "below 0.0001"


def count_text(value: float) -> str:
    """Return a whole number.

    >>> count_text(4830)
    '4,830'
    """
    return f"{value:,.0f}" if isfinite(value) else "undefined"


def plain(value: Any) -> Any:
    """Return statements, frames, NumPy numbers, tuples and mappings as plain Python, for JSON.

    JSON has no number that is not finite: None stands for it.

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
