"""What the numbers of a table measure: their name, unit, column and range. Lower numbers always mean nearer words."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from math import exp
from typing import Any

from bayesbias.base.checks import is_text
from bayesbias.errors import did_you_mean

KEY = "measure"
"""The measure in a table's provenance; a table without one holds cosine distances."""
LARGEST = 1e100
"""The largest number of other measures: larger ones have squares that are not finite."""
_LONGEST_TEXT = 200  # letters, which stand in most sentences of a report
_LARGEST_LOG_FACTOR = 700  # above which exp is not finite


@dataclass(frozen=True)
class Measure:
    """What the numbers of a table measure.

    - `name`: in sentences, such as "cosine distance".
    - `unit`: after a number, such as "nats"; empty if numbers have none.
    - `column`: column of the table.
    - `nearer`, `farther`: what words with lower and higher numbers are, in sentences.
    """

    name: str
    unit: str = ""
    column: str = "score"
    nearer: str = "nearer"
    farther: str = "farther"

    @property
    def range(self) -> tuple[float, float]:
        """Least and largest possible number."""
        return _RANGES.get(self.name, (-LARGEST, LARGEST))

    @property
    def is_bounded(self) -> bool:
        """Whether numbers have bounds, so that the bundled priors hold in their unit."""
        return self.name in _RANGES

    @property
    def short(self) -> str:
        """Name of one number in sentences: "distance" of cosine distances.

        >>> COSINE_DISTANCE.short, SURPRISAL.short
        ('distance', 'surprisal')
        """
        return "distance" if self.column == COSINE_DISTANCE.column else self.name

    @property
    def numbers(self) -> str:
        """Name of several numbers in sentences, such as "distances"."""
        return f"{self.short}s"

    @property
    def in_difference(self) -> str:
        """What follows a difference in a sentence.

        >>> COSINE_DISTANCE.in_difference, SURPRISAL.in_difference
        ('in cosine distance', 'nats')
        """
        return self.unit or f"in {self.name}"

    @property
    def in_unit(self) -> str:
        """The unit of numbers, for headings and captions.

        >>> COSINE_DISTANCE.in_unit, SURPRISAL.in_unit
        ('in units of cosine distance', 'in nats')
        """
        return f"in {self.unit}" if self.unit else f"in units of {self.name}"

    @property
    def unit_name(self) -> str:
        """Unit of numbers, or the name of what they measure if they have none.

        >>> COSINE_DISTANCE.unit_name, SURPRISAL.unit_name
        ('cosine distance', 'nats')
        """
        return self.unit or self.name

    @property
    def made_by(self) -> str:
        """What an association of these numbers is in.

        >>> COSINE_DISTANCE.made_by, SURPRISAL.made_by
        ('these vectors', 'this language model')
        """
        sources = {COSINE_DISTANCE.column: "these vectors", SURPRISAL.column: "this language model"}
        return sources.get(self.column, "these numbers")

    @property
    def source(self) -> str:
        """What gives the numbers, in sentences."""
        return {COSINE_DISTANCE.column: "embedding", SURPRISAL.column: "language model"}.get(self.column, "table")

    @property
    def preposition(self) -> str:
        """What links a mean to the attribute words: the mean distance to them, the mean surprisal of them."""
        return "to" if self.column == COSINE_DISTANCE.column else "of"

    @property
    def to(self) -> str:
        """What links the attribute words that are nearer to the protected words."""
        return "to" if self.nearer == "nearer" else "with"

    def comparison(self, words: str, first: str, second: str, *, is_nearer: bool = True) -> str:
        """Return the claim that `words` are nearer to the `first` attribute words than to the `second`, or farther.

        >>> COSINE_DISTANCE.comparison("these words", "male words", "female words")
        'these words are nearer to male words than to female words'
        >>> SURPRISAL.comparison("these words", "male words", "female words", is_nearer=False)
        'male words are less likely with these words than female words'
        """
        if self.to == "with":
            return f"{first} are {self.nearer if is_nearer else self.farther} with {words} than {second}"
        to = "to" if is_nearer else "from"
        return f"{words} are {self.nearer if is_nearer else self.farther.upper()} {to} {first} than {to} {second}"

    def shift(self, first: str, second: str = "") -> str:
        """Return the claim that words lean more to the `first` attribute words, relative to the `second`.

        >>> COSINE_DISTANCE.shift("male words", "female words"), COSINE_DISTANCE.shift("male words")
        ('words lie nearer to male words, relative to female words', 'words lie nearer to male words')
        >>> SURPRISAL.shift("male words", "female words")
        'male words are likelier with a word, relative to female words'
        """
        relative = f", relative to {second}" if second else ""
        if self.to == "with":
            return f"{first} are {self.nearer} with a word{relative}"
        return f"words lie {self.nearer} {self.to} {first}{relative}"

    def phrase(self, phrase: str) -> str:
        """Return a noun phrase about cosine distances, such as the meaning of a column, as one about this measure.

        >>> SURPRISAL.phrase("mean distance to the first list"), SURPRISAL.phrase("nearer below 0, farther above 0")
        ('mean surprisal of the first list', 'likelier below 0, less likely above 0')
        """
        if self.column == COSINE_DISTANCE.column:
            return phrase
        words = {"cosine distance": self.name, "distance to": f"{self.short} {self.preposition}"}
        words |= {"distance": self.short, "embedding": self.source, "nearer": self.nearer, "farther": self.farther}
        for ours, other in words.items():
            phrase = phrase.replace(ours, other)
        return phrase

    def way(self, direction: str) -> str:
        """Return what words are that have a `direction`, ``"nearer"`` or ``"farther"``, in frames of results.

        >>> SURPRISAL.way("nearer"), SURPRISAL.way("farther")
        ('likelier', 'less likely')
        """
        return {"nearer": self.nearer, "farther": self.farther}.get(direction, direction)

    def factor(self, difference: float, low: float, high: float) -> str:
        """Return a difference of surprisals with its interval as a factor of probabilities; empty of other numbers.

        >>> SURPRISAL.factor(-0.69, -1.1, -0.41)
        'a factor of 1.99 in probability (1.51 to 3)'
        """
        if self.unit != SURPRISAL.unit or max(-low, high) > _LARGEST_LOG_FACTOR:
            return ""
        factors = [f"{exp(-number):.3g}" for number in (difference, high, low)]
        return f"a factor of {factors[0]} in probability ({factors[1]} to {factors[2]})"

    @property
    def in_units(self) -> str:
        """Name and unit, for axes and captions.

        >>> SURPRISAL.in_units
        'surprisal (nats)'
        """
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @property
    def of_means(self) -> str:
        """Name in the plural with the unit, as in "differences of mean surprisals (nats)".

        >>> SURPRISAL.of_means, COSINE_DISTANCE.of_means
        ('surprisals (nats)', 'cosine distances')
        """
        return f"{self.name}s ({self.unit})" if self.unit else f"{self.name}s"

    def record(self) -> dict[str, str]:
        """Return the measure for a table's provenance."""
        return asdict(self)


COSINE_DISTANCE = Measure("cosine distance", column="cosine_distance")
CHANGE = Measure("change of cosine distance", column="cosine_distance")
SURPRISAL = Measure("surprisal", "nats", "surprisal", "likelier", "less likely")
_RANGES = {COSINE_DISTANCE.name: (0.0, 2.0), CHANGE.name: (-2.0, 2.0)}
_COLUMNS = (COSINE_DISTANCE.column, SURPRISAL.column, Measure("score").column)
NUMBER_COLUMNS = (*_COLUMNS, "cosine_similarity")
"""Columns that hold the numbers of a table, of one measure or another."""


def measure_of(facts: Mapping[str, Any]) -> Measure:
    """Return the measure of a table from its provenance, which is valid (`measure_faults`).

    >>> measure_of({}).name, measure_of({"measure": SURPRISAL.record()}) == SURPRISAL
    ('cosine distance', True)
    """
    return Measure(**facts[KEY]) if KEY in facts else COSINE_DISTANCE


def other_measure(facts: Mapping[str, Any], what: str) -> str:
    """Return why a text or figure `what`, which speaks of cosine distances, cannot be about a table; empty if it can.

    >>> other_measure({"measure": SURPRISAL.record()}, "A page")
    'A page speaks of cosine distances, and these are surprisals (nats).'
    """
    measure = measure_of(facts)
    if measure.column == COSINE_DISTANCE.column:
        return ""
    return f"{what} speaks of cosine distances, and these are {measure.of_means}."


def measure_faults(record: Any) -> Iterator[str]:
    """Yield the faults of a measure's record from a file."""
    names = set(COSINE_DISTANCE.record())
    if not isinstance(record, Mapping) or set(record) != names or not all(map(is_text, record.values())):
        yield f"measure must be a section of texts with {', '.join(sorted(names))}"
    elif long := [name for name, text in record.items() if len(text) > _LONGEST_TEXT]:
        yield f"measure has a {long[0]} of more than {_LONGEST_TEXT} letters"
    elif not all(record[name].strip() for name in ("name", "nearer", "farther")):
        yield "measure must say a name, and what words with lower and with higher numbers are"
    elif record["column"] not in _COLUMNS:
        yield f"measure has the column {record['column']!r}{did_you_mean(record['column'], _COLUMNS)}"
