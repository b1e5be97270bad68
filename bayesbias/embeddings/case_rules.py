"""Which forms of a word are looked up, in order: as it is written, in lower case, without accents, ..."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bayesbias.base.checks import check_items
from bayesbias.errors import ArgumentError, did_you_mean


def _title(word: str) -> str:
    """Return a text with a capital at the beginning of each of its words, and nowhere else."""
    return re.sub(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*", lambda part: part[0].capitalize(), word)


def _unaccented(word: str) -> str:
    """Return a text without the marks on its letters."""
    parts = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))


Form = Callable[[str], str]
FORMS: dict[str, Form] = {
    "exact": str,
    "lower": str.lower,
    "title": _title,
    "upper": str.upper,
    "unaccented": _unaccented,
}

type Case = str | Form | Sequence[str | Form]
"""A name of `FORMS`, several of them (a list, or a text with commas), or functions from a word to the form of it that
is looked up; tried in order."""


def case_rule(case: Any) -> tuple[str | Form, ...]:
    """Return a rule as names of `FORMS` and functions.

    >>> case_rule("exact, lower")
    ('exact', 'lower')

    Raises
    ------
    ArgumentError
        If there is no such form, or none at all.
    """
    if isinstance(case, str):
        given: Iterable[Any] = [name.strip() for name in case.split(",")]
    else:
        given = [case] if callable(case) else check_items("case", case, "names of forms, or functions")
    rule = tuple(given)
    for form in rule:
        if not callable(form) and not (isinstance(form, str) and form in FORMS):
            hint = did_you_mean(str(form), FORMS)
            raise ArgumentError(
                f"case={case!r}: there is no form {form!r}{hint}. Known are {', '.join(FORMS)}; "
                "name some in the order in which they are to be tried, or functions from a word to what is looked up."
            )
    if not rule:
        raise ArgumentError(f"case={case!r} is empty. Name at least one form, such as 'exact'.")
    return rule


def case_text(rule: Iterable[str | Form]) -> str:
    """Return a rule in words, which `case_rule` takes where all forms have names.

    >>> case_text(("exact", str.swapcase))
    'exact, swapcase'
    """
    return ", ".join(form if isinstance(form, str) else getattr(form, "__name__", repr(form)) for form in rule)


def forms(word: str, rule: Iterable[str | Form]) -> tuple[str, ...]:
    """Return the forms of a word that a rule looks up, in order, each once.

    >>> forms("zoë's", ("exact", "title", "unaccented"))
    ("zoë's", "Zoë's", "zoe's")

    Raises
    ------
    ArgumentError
        If a function of the user's own returns anything but a text.
    """
    found = [(FORMS[form] if isinstance(form, str) else form)(word) for form in rule]
    for form, made in zip(rule, found, strict=True):
        if not isinstance(made, str):
            raise ArgumentError(f"case: {case_text([form])} makes {made!r} of {word!r}. It must return a text.")
    return tuple(dict.fromkeys(found))
