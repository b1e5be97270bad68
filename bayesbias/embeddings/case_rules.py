"""Case rules: the forms of a word to look up, in order, such as exact, lower case, or without accents."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bayesbias.base.checks import check_items
from bayesbias.errors import ArgumentError, did_you_mean


def _title(word: str) -> str:
    """Return text with each word capitalised and its other letters in lower case."""
    return re.sub(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*", lambda part: part[0].capitalize(), word)


def _unaccented(word: str) -> str:
    """Return text without diacritics."""
    parts = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))


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

    Raises
    ------
    ArgumentError
        If there is no such form, or none at all.
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

    Raises
    ------
    ArgumentError
        If a user's function does not return text.
    """
    spellings = [(FORMS[form] if isinstance(form, str) else form)(word) for form in rule]
    for form, spelling in zip(rule, spellings, strict=True):
        if not isinstance(spelling, str):
            raise ArgumentError(f"case: {case_text([form])} returns {spelling!r} for {word!r}. It must return text.")
    return tuple(dict.fromkeys(spellings))
