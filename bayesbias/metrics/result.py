"""What every measure returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from bayesbias.errors import did_you_mean, name_some

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class MeasureResult:
    """What a measure gave for a study in an embedding.

    Parameters
    ----------
    measure
        Name of the measure, such as ``"weat"``.
    value
        The headline number; the first of `statistics`.
    statistics
        Every number by its name. Each is an attribute too: ``result.p_value``.
    words
        Values of single words: one row a word, or one a word and attribute group (MAC).
    lost_words
        Word list -> the words of it that the embedding lacks; only lists that lost any.
    conventions
        What the numbers leave open: divisors, sides, signs.
    study, embedding
        Names of what was measured.

    Examples
    --------
    >>> result = MeasureResult(
    ...     measure="mac", value=0.9, statistics={"mac": 0.9, "similarity": 0.1}, words=pd.DataFrame(),
    ...     conventions="mean cosine distance", study="pets", embedding="tiny",
    ... )
    >>> result.similarity
    0.1
    >>> result
    MeasureResult(measure='mac', study='pets', embedding='tiny', mac=0.9, similarity=0.1)
    """

    measure: str
    value: float
    statistics: Mapping[str, float]
    words: "pd.DataFrame"
    conventions: str
    study: str
    embedding: str
    lost_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __getattr__(self, name: str) -> float:
        # Only names that are no fields come here. A copy being made has no statistics yet.
        statistics = self.__dict__.get("statistics", {})
        if name in statistics:
            number: float = statistics[name]
            return number
        known = (*self.__dict__, *statistics)
        measure = self.__dict__.get("measure", "this measure")
        hint = did_you_mean(name, known)
        raise AttributeError(f"The result of {measure} has no {name!r}{hint}. It has {name_some(known, 20)}.")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.statistics})

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={_number(value)}" for name, value in self.statistics.items())
        return f"MeasureResult(measure={self.measure!r}, study={self.study!r}, embedding={self.embedding!r}, {numbers})"

    def __str__(self) -> str:
        width = max(map(len, self.statistics), default=0)
        lines = [f"{name:{width}}  {_number(value)}" for name, value in self.statistics.items()]
        return "\n".join([self._title(), *lines, *self._notes()])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{_number(value)}</td></tr>" for name, value in self.statistics.items()
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return f"<table><caption>{escape(self._title())}</caption><tbody>{rows}</tbody></table>{notes}"

    def _title(self) -> str:
        return f"{self.measure} of {self.study} in {self.embedding}"

    def _notes(self) -> list[str]:
        lost = "; ".join(f"{name_some(words)} (of {name})" for name, words in self.lost_words.items())
        return [f"Conventions: {self.conventions}.", *([f"Lost words: {lost}."] if lost else [])]


def _number(value: float) -> str:
    """Return a number with six significant digits, or whole if it is whole."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"
