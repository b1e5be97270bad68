"""Cells: one piece of work on one source, such as an embedding, and its answer."""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from bayesbias.base.checks import is_text

if TYPE_CHECKING:
    from warnings import WarningMessage

    import pandas as pd


@dataclass(frozen=True, eq=False)
class Answer:
    """Answer of a cell.

    - `frames`: frames by name, with numbers, texts, True and False in their columns.
    - `facts`: facts by name, in types that JSON has.
    - `warned`: class and text of each warning.
    - `objects`: objects by name that are never kept in a file, such as a fit.
    """

    frames: "Mapping[str, pd.DataFrame]"
    facts: Mapping[str, Any] = field(default_factory=dict)
    warned: Sequence[tuple[str, str]] = ()
    objects: Mapping[str, Any] = field(default_factory=dict)


type Outcome = Answer | str
"""Answer of a cell, or the error that it ended with."""


class Cell(Protocol):
    """One piece of work on one source, such as an embedding; a frozen dataclass, which workers are sent."""

    @property
    def source(self) -> str:
        """Name of the source."""

    @property
    def digest(self) -> str:
        """Hash of all that enters the answer: cells with equal hashes have equal answers."""

    def answer(self, source: Any) -> Answer:
        """Return the answer."""


@dataclass(frozen=True, eq=False)
class FunctionCell:
    """A cell whose answer a function returns.

    - `source`: name of the source, and hash of the cell.
    - `function`: function of the source.
    """

    source: str
    function: Callable[[Any], Answer]

    @property
    def digest(self) -> str:
        """Name of the source, which no other cell has."""
        return self.source

    def answer(self, source: Any) -> Answer:
        """Return the answer."""
        return self.function(source)

    def accepts(self, answer: Answer) -> bool:  # noqa: ARG002 - whatever it is
        """Return False: nothing is kept."""
        return False


def warning_texts(caught: "Sequence[WarningMessage]") -> list[tuple[str, str]]:
    """Return class and text of each warning, as an answer holds them."""
    return [(warning.category.__name__, str(warning.message)) for warning in caught]


def has_types(frame: "pd.DataFrame", texts: Collection[str]) -> bool:
    """Whether the columns of a frame that are named in `texts` hold texts, and the others numbers.

    >>> has_types(pd.DataFrame({"measure": ["mac"], "observed": [0.1]}), ["measure"])
    True
    >>> has_types(pd.DataFrame({"measure": [5]}), ["measure"])
    False
    """
    return all(
        is_text(value) or value != value if name in texts else _is_stored_number(value)
        for name in frame
        for value in frame[name].to_list()
    )


def _is_stored_number(value: Any) -> bool:
    """Whether a value of an answer's column is a number, which may be missing; a whole number may be too long."""
    return value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < 1 << 63)


def has_texts(texts: Any) -> bool:
    """Whether a fact holds texts by name."""
    return isinstance(texts, dict) and all(is_text(text) for pair in texts.items() for text in pair)


def content_digest(content: Any) -> str:
    """Return the hash of a content that JSON can hold; other objects enter it as texts."""
    return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()


@cache
def package_version() -> str:
    """Return the version of this package; read once, since every cell asks for it."""
    from importlib.metadata import version

    return version("bayesbias")
