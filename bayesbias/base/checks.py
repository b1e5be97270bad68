"""Checks of arguments that many functions share: seeds, counts, probabilities, choices, paths.

`CONTRIBUTING.md` has the table of conventions.
"""

import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayesbias.errors import ArgumentError, BayesBiasError, EmbeddingError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

HDI_PROB = 0.89
"""Default probability inside an interval."""

# A larger count is a slip; a longer iterable may be endless.
_LARGEST, _MOST_ITEMS = 10**18, 10_000_000
_LONGEST_SHOWN = 60  # characters
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # as a path shows it: https:/example.org; not C:/
SEED_LIMIT = 2**32
"""Seeds are below this number."""


@dataclass(frozen=True)
class Limit:
    """Largest sensible value of a number, and what each unit costs at the least: seconds, and bytes of memory."""

    most: int
    seconds: float
    size: float = 0

    def cost(self, count: int) -> str:
        """Return what so many cost, as text."""
        hours, gigabytes = count * self.seconds / 3600, count * self.size / 1e9
        parts = [f"{hours:,.0f} hours"] * (hours >= 1) + [f"{gigabytes:,.1f} GB of memory"] * (gigabytes >= 0.1)
        return " and ".join(parts)


# By the name of the argument, as measured with the smallest questions. Memory that depends on more is checked beside.
_LIMITS = {
    "draws": Limit(10**9, 1e-5, 80),
    "tune": Limit(10**6, 0.01),
    "chains": Limit(10_000, 0.5, 8e5),
    "samples": Limit(10**9, 1e-5, 8),
    "epochs": Limit(10_000, 1),
    "iterations": Limit(100_000, 0.5),
    "patience": Limit(10_000, 1),
    "splits": Limit(10**6, 0.01, 8),
    "steps": Limit(10**6, 0.01),
    "workers": Limit(1000, 0, 1.5e8),
    "seeds": Limit(10_000, 1, 1e6),
}


def resolve_seed(random_seed: Any) -> int:
    """Return a seed, a whole number from 0 to 2**32 - 1: the given one, or one drawn by the system if it is None.

    >>> resolve_seed(np.int64(7))
    7
    >>> resolve_seed(-1)
    Traceback (most recent call last):
        ...
    bayesbias.errors.ArgumentError: random_seed=-1: give a whole number from 0 to 4294967295, or None to have one drawn.
    """
    if random_seed is None:
        return int.from_bytes(os.urandom(4), "little")
    if not _is_whole(random_seed) or not 0 <= random_seed < SEED_LIMIT:
        raise ArgumentError(
            f"random_seed={shown(random_seed)}: give a whole number from 0 to {SEED_LIMIT - 1}, or None to have one "
            "drawn."
        )
    return int(random_seed)


def check_count(name: str, value: Any, *, least: int = 1, most: int | None = None, limit: Limit | None = None) -> int:
    """Return a whole number from `least` to `most`, or to `limit`, which is by default that of the argument's name.

    >>> check_count("draws", np.int32(500), least=100)
    500
    >>> check_count("tune", 10**12)
    Traceback (most recent call last):
        ...
    bayesbias.errors.ArgumentError: tune=1000000000000: give at most 1,000,000. So many would take 2,777,778 hours ...
    """
    if not _is_whole(value) or value < least:
        raise ArgumentError(f"{name}={shown(value)}: give a whole number of at least {least}.")
    limit = limit or (_LIMITS.get(name) if most is None else None)
    if most is None:
        most = _LARGEST if limit is None else limit.most
    if value > most:
        cost = limit.cost(min(int(value), _LARGEST)) if limit is not None else ""
        raise ArgumentError(
            f"{name}={shown(value)}: give at most {most:,}.{f' So many would take {cost} or more.' if cost else ''}"
        )
    return int(value)


def check_number(name: str, value: Any, *, low: float, high: float, above: bool = False) -> float:
    """Return a finite number from `low` (or above it) to `high`.

    >>> check_number("sd", 0.08, low=0, high=1, above=True)
    0.08
    """
    inside = is_number(value) and low <= value <= high and not (above and value == low)
    if not inside:
        raise ArgumentError(f"{name}={shown(value)}: give a number {'above' if above else 'from'} {low:g} to {high:g}.")
    return float(value)


def check_probability(name: str, value: Any) -> float:
    """Return a probability strictly between 0 and 1.

    >>> check_probability("hdi_prob", 0.5)
    0.5
    """
    if not is_number(value) or not 0 < value < 1:
        raise ArgumentError(f"{name}={shown(value)}: give a probability between 0 and 1, such as {HDI_PROB}.")
    return float(value)


def check_flag(name: str, value: Any) -> bool:
    """Return True or False, NumPy's included."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise ArgumentError(f"{name}={shown(value)}: give True or False.")
    return bool(value)


def check_type[Kind](name: str, value: Any, kinds: type[Kind] | tuple[type[Kind], ...], wanted: str) -> Kind:
    """Return `value` if it has one of the types `kinds`; `wanted` says what to give.

    >>> check_type("path", 5, str, "the name of a file")
    Traceback (most recent call last):
        ...
    bayesbias.errors.ArgumentError: path=5: give the name of a file.
    """
    if not isinstance(value, kinds):
        raise ArgumentError(f"{name}={shown(value)}: give {wanted}.")
    return value


def check_frame(name: str, value: Any, wanted: str) -> "pd.DataFrame":
    """Return `value` if it is a pandas frame without repeated columns; `wanted` says what to give.

    >>> check_frame("table", pd.DataFrame([[1, 2]], columns=["a", "a"]), "a table")
    Traceback (most recent call last):
        ...
    bayesbias.errors.ArgumentError: table has the column 'a' twice. Keep one of them.
    """
    import pandas as pd

    frame = check_type(name, value, pd.DataFrame, wanted)
    if not frame.columns.is_unique:
        repeated = frame.columns[frame.columns.duplicated()][0]
        raise ArgumentError(f"{name} has the column {repeated!r} twice. Keep one of them.")
    return frame


def check_path(value: Any, name: str = "path") -> Path:
    """Return the path of a file or folder, given as text or as a path object.

    >>> check_path(5)
    Traceback (most recent call last):
        ...
    bayesbias.errors.ArgumentError: path=5: give the name of a file or folder.
    """
    check_type(name, value, (str, os.PathLike), "the name of a file or folder")
    path = Path(value)
    if _ADDRESS.match(str(path)):
        raise ArgumentError(f"{name}: {path} is an address. Download the file, and give its name here.")
    return path


def check_items(name: str, value: Any, wanted: str) -> list[Any]:
    """Return the items of a list or another iterable except text.

    >>> check_items("methods", "weat", "a list of methods")
    Traceback (most recent call last):
        ...
    bayesbias.errors.ArgumentError: methods='weat': give a list of methods.
    """
    if isinstance(value, str | bytes) or hasattr(value, "columns"):  # a frame would give the names of its columns
        value = check_type(name, value, list, wanted)
    items = list(islice(check_type(name, value, Iterable, wanted), _MOST_ITEMS + 1))
    if len(items) > _MOST_ITEMS:
        raise ArgumentError(f"{name} has more than {_MOST_ITEMS:,} items. Give a shorter one: {wanted}.")
    return items


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`.

    >>> check_choice("level", "words", ("overall", "word"))
    Traceback (most recent call last):
        ...
    bayesbias.errors.ArgumentError: level='words' (did you mean 'word'?): use overall, word.
    """
    names = list(choices)
    if not isinstance(value, str) or value not in names:
        hint = did_you_mean(value, names) if isinstance(value, str) else ""
        raise ArgumentError(f"{name}={shown(value)}{hint}: use {', '.join(names)}.")
    return value


def check_rope(rope: Any) -> tuple[float, float] | None:
    """Return a region of practical equivalence as (low, high), or None.

    >>> check_rope(0.02)
    (-0.02, 0.02)
    """
    ends = region_ends(rope)
    if ends is None and rope is not None:
        raise ArgumentError(f"rope={shown(rope)}: give a positive half-width such as 0.02, or a pair, low below high.")
    return ends


def region_ends(rope: Any) -> tuple[float, float] | None:
    """Return the ends of a region that is a half-width or a pair, low below high; None if it is neither."""
    ends = (-rope, rope) if is_number(rope) else tuple(rope) if isinstance(rope, tuple | list) else ()
    if len(ends) != 2 or not all(map(is_number, ends)) or ends[0] >= ends[1]:
        return None
    return float(ends[0]), float(ends[1])


def shown(value: Any) -> str:
    """Return a value as messages show it: its repr, or its type if the repr is long.

    >>> shown("words"), shown(10**5000)
    ("'words'", 'int')
    """
    try:
        text = repr(value)
    except (ValueError, NotImplementedError):  # a number of more digits than Python writes; a time too far for pandas
        text = ""
    return text if 0 < len(text) < _LONGEST_SHOWN else type(value).__name__


def is_number(value: Any) -> bool:
    """Return whether a value is a real number that a float can hold, not True or False."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def is_count(value: Any) -> bool:
    """Return whether a value is a whole number of at least 0, not True or False."""
    return _is_whole(value) and bool(value >= 0)


def is_text(value: Any) -> bool:
    r"""Return whether a value is text that can be encoded, without unpaired surrogates.

    >>> is_text("Zoë"), is_text("\ud800"), is_text(5)
    (True, False, False)
    """
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


_MOST_MARKS = 30  # in a row, as in Unicode's stream-safe format (UAX #15); no language writes so many


def has_many_marks(text: str) -> bool:
    r"""Return whether a text has more than 30 combining marks in a row, for which normal forms take quadratic time.

    >>> has_many_marks("a" + 31 * "\u0300"), has_many_marks(30 * "a\u0300")
    (True, False)
    """
    return not text.isascii() and len(text) > _MOST_MARKS and bool(_many_marks().search(text))


@cache
def _many_marks() -> re.Pattern[str]:
    marks = "".join(sign for sign in map(chr, range(0x300, 0x1F000)) if unicodedata.combining(sign))
    return re.compile(f"[{marks}]{{{_MOST_MARKS + 1}}}")


def normalized(
    text: str,
    form: Literal["NFC", "NFD", "NFKC", "NFKD"] = "NFC",
    *,
    where: str = "",
    error: type[BayesBiasError] = EmbeddingError,
) -> str:
    """Return a text in a normal form of Unicode; raise `error`, which names the text and `where`, if it takes too long.

    >>> normalized("a\u0308hre") == "\u00e4hre"
    True
    """
    if text.isascii():
        return text
    if has_many_marks(text):
        raise error(f"{where}{marks_fault(text)}")
    return unicodedata.normalize(form, text)


def marks_fault(text: str) -> str:
    """Return a sentence about a text of `has_many_marks`."""
    return f"The text {text[:20]!r}... has more than {_MOST_MARKS} combining marks in a row. Leave it out."


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
