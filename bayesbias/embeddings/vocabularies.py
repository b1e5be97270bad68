"""Words of a vocabulary: the forms to look up, in order, and why a word is lacking."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

from bayesbias.base.checks import check_items, normalized
from bayesbias.errors import ArgumentError, did_you_mean

# Near spellings are sought, and scripts counted, among the words that come first, which are usually the most frequent.
MOST_ALIKE = 100_000
_MOST_SCRIPTS = 10_000
# Writing systems that use several scripts.
_SAME_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}


def _title(word: str) -> str:
    return re.sub(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*", lambda part: part[0].capitalize(), word)


def _unaccented(word: str) -> str:
    parts = normalized(word, "NFD")
    return normalized("".join(part for part in parts if not unicodedata.combining(part)))


Form = Callable[[str], str]
FORMS: dict[str, Form] = {
    "exact": str,
    "lower": str.lower,
    "title": _title,
    "upper": str.upper,
    "unaccented": _unaccented,
    "underscored": lambda word: "_".join(word.split()),
}

type Case = str | Form | Sequence[str | Form]
"""Forms of a word to look up, in order: one or several names of `FORMS` (a list, or text with commas), or functions
from a word to a form."""


def case_rule(case: Any) -> tuple[str | Form, ...]:
    """Return a rule as names of `FORMS` and functions.

    >>> case_rule("exact, lower")
    ('exact', 'lower')

    Raises `ArgumentError` if there is no such form, or none at all.
    """
    if isinstance(case, str):
        rule: tuple[Any, ...] = tuple(name.strip() for name in case.split(","))
    else:
        rule = (case,) if callable(case) else tuple(check_items("case", case, "names of forms, or functions"))
    for form in rule:
        if not callable(form) and not (isinstance(form, str) and form in FORMS):
            hint = did_you_mean(str(form), FORMS)
            raise ArgumentError(
                f"case={case!r}: there is no form {form!r}{hint}. Name one or more of {', '.join(FORMS)}, in the order "
                "to try, or give functions from a word to a form."
            )
    if not rule:
        raise ArgumentError(f"case={case!r} is empty. Name at least one form, such as 'exact'.")
    return rule


def case_text(rule: Iterable[str | Form]) -> str:
    """Return a rule as text, which `case_rule` accepts if all forms are named.

    >>> case_text(("exact", str.swapcase))
    'exact, swapcase'
    """
    return ", ".join(form if isinstance(form, str) else getattr(form, "__name__", repr(form)) for form in rule)


def forms(word: str, rule: Iterable[str | Form]) -> tuple[str, ...]:
    """Return the distinct forms of a word under a rule, in order.

    >>> forms("zoë's", ("exact", "title", "unaccented"))
    ("zoë's", "Zoë's", "zoe's")

    Raises `ArgumentError` if a user's function does not return text.
    """
    spellings = [(FORMS[form] if isinstance(form, str) else form)(word) for form in rule]
    for form, spelling in zip(rule, spellings, strict=True):
        if not isinstance(spelling, str):
            raise ArgumentError(f"case: {case_text([form])} returns {spelling!r} for {word!r}. It must return text.")
    return tuple(dict.fromkeys(spellings))


_TRANSCRIBED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})


def scripts(text: str) -> set[str]:
    """Return the scripts of the letters of a text.

    >>> scripts("Männer"), scripts("2-3")
    ({'LATIN'}, set())
    """
    names = {unicodedata.name(letter, "").split(" ")[0].split("-")[0] for letter in text if letter.isalpha()}
    return {_SAME_SCRIPT.get(name, name) for name in names if name}


def other_spellings(word: str) -> Iterable[tuple[str, str]]:
    """Yield (reason, spelling) of a word, the likeliest first."""
    for name in ("lower", "title", "upper"):
        yield "case", FORMS[name](word)
    yield "normal form", normalized(word, "NFKC")
    for spelling in (FORMS["unaccented"](word), word.translate(_TRANSCRIBED)):
        yield "accents", spelling
        yield "accents and case", spelling.lower()
        yield "accents and case", spelling.title()
    for joint in ("_", "-", ""):
        joined = joint.join(word.split())
        yield "spaces", joined
        yield "spaces and case", joined.lower()


class Spellings:
    """A vocabulary in which the reasons for lost words can be sought.

    - `vocabulary`: words in normal form, the most frequent first, with their places from 1.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self.vocabulary = vocabulary
        counts = Counter(script for word in islice(vocabulary, _MOST_SCRIPTS) for script in scripts(word))
        self.scripts = {script for script, count in counts.items() if 1000 * count >= counts.total()}
        self._alike: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in islice(vocabulary, MOST_ALIKE):
            self._alike[word[:1].casefold(), len(word)].append(word)

    def reason(self, word: str) -> tuple[str, tuple[str, ...]]:
        """Return why a word is lost, and at most three spellings that the vocabulary has.

        >>> Spellings({"Männer": 1, "frau": 2}).reason("männer")
        ('case', ('Männer',))
        """
        for reason, spelling in other_spellings(word):
            if spelling != word and spelling in self.vocabulary:
                return reason, (spelling,)
        letters = scripts(word)
        if len(letters) > 1:
            return f"mixed scripts ({', '.join(sorted(letters))})", ()
        if letters and self.scripts and not letters & self.scripts:
            return f"script ({', '.join(letters)}; the vocabulary is {', '.join(sorted(self.scripts))})", ()
        alike = [
            near
            for length in range(len(word) - 2, len(word) + 3)
            for near in self._alike.get((word[:1].casefold(), length), ())
        ]
        near = tuple(get_close_matches(word, alike, n=3, cutoff=0.75))
        return ("several words" if " " in word else "absent"), near
