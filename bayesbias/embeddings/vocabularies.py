"""Words of a vocabulary: the forms to look up, in order, and why a word is lacking."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice, starmap
from typing import Any

from bayesbias.base.checks import check_items, is_text, normalized
from bayesbias.errors import ArgumentError, did_you_mean, setting

# Near spellings are sought, and scripts counted, among the words that come first, which are usually the most frequent.
MOST_ALIKE = 100_000
_MOST_COMPARED = 1_000_000  # of all lost words
_MOST_SCRIPTS = 10_000
_MOST_HINTED, _LONGEST_HINTED, _MOST_PARTS = 20_000, 60, 12
_MOST_FORMS, _LONGEST_FORM = 100, 200  # a rule is applied to every word
_FEWEST_HINTED = 10  # at least one word in so many
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

_AFFIXED = re.compile(r"(?P<prefix>[^{}]*)\{(?P<form>\w+)\}(?P<suffix>[^{}]*)", re.DOTALL)

type Case = str | Form | Sequence[str | Form]
"""Forms of a word to look up, in order: one or several names of `FORMS` (a list, or text with commas), or functions
from a word to a form. A name in braces may stand in a text: ``"/c/en/{lower}"`` looks "/c/en/king" up."""


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
        if not callable(form) and not (isinstance(form, str) and _named(form) in FORMS):
            hint = did_you_mean(str(form), FORMS)
            raise ArgumentError(
                f"case={case!r}: there is no form {form!r}{hint}. Name one or more of {', '.join(FORMS)}, in the order "
                "to try, or give functions from a word to a form."
            )
    if not rule:
        raise ArgumentError(f"case={case!r} is empty. Name at least one form, such as 'exact'.")
    _check_size("case", rule)
    return rule


def _check_size(name: str, rule: Sequence[str | Form]) -> None:
    """Raise `ArgumentError` if a rule has very many forms, or long texts around one."""
    if len(rule) > _MOST_FORMS or any(isinstance(form, str) and len(form) > _LONGEST_FORM for form in rule):
        raise ArgumentError(
            f"{name}: give at most {_MOST_FORMS} forms, each with a text of at most {_LONGEST_FORM} letters around it."
        )


def spelling_rule(case: Any, prefix: str = "", suffix: str = "") -> tuple[str | Form, ...]:
    """Return a rule whose forms have a text before and after them, as words of a vocabulary may have.

    >>> spelling_rule("exact,upper", "/c/en/")
    ('/c/en/{exact}', '/c/en/{upper}')

    Raises `ArgumentError` as `case_rule` does, or if the texts are none, or hold braces.
    """
    rule = case_rule(case)
    for name, text in (("prefix", prefix), ("suffix", suffix)):
        if not is_text(text) or "{" in text or "}" in text:
            raise ArgumentError(f"{name}={text!r}: give a text without braces, such as '/c/en/' or '_NOUN'.")
        _check_size(name, (text,))
    if not (prefix or suffix):
        return rule
    return tuple(_Affixed(form, prefix, suffix) if callable(form) else _with(form, prefix, suffix) for form in rule)


@dataclass(frozen=True)
class _Affixed:
    """A user's function from a word to a form, with a text before and after the form."""

    form: Form
    prefix: str
    suffix: str

    def __call__(self, word: str) -> str:
        """Return the form of a word."""
        return f"{self.prefix}{self.form(word)}{self.suffix}"

    @property
    def __name__(self) -> str:
        return f"{self.prefix}{{{case_text([self.form])}}}{self.suffix}"


def _named(form: str) -> str:
    """Return the name of a form, without the text around it."""
    match = _AFFIXED.fullmatch(form)
    return match["form"] if match else form


def _with(form: str, prefix: str, suffix: str) -> str:
    match = _AFFIXED.fullmatch(form)
    before, name, after = match.groups() if match else ("", form, "")
    return f"{prefix}{before}{{{name}}}{after}{suffix}"


def _spelling(form: str | Form, word: str) -> str:
    if not isinstance(form, str):
        return form(word)
    if match := _AFFIXED.fullmatch(form):
        return f"{match['prefix']}{FORMS[match['form']](word)}{match['suffix']}"
    return FORMS[form](word)


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
    spellings = [_spelling(form, word) for form in rule]
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


@dataclass(frozen=True)
class SpellingHint:
    """How a vocabulary spells words: two of its entries, and the options with which words would be found.

    - `entries`: two entries.
    - `options`: `case`, `prefix` and `suffix`, as far as they are needed; empty if none would help.
    """

    entries: tuple[str, ...]
    options: Mapping[str, str]

    def __str__(self) -> str:
        """Return sentences that follow a message."""
        shown = " and ".join(map(repr, self.entries))
        text = f" Entries of the file are {shown}." if self.entries else ""
        if self.options:
            text += f" Look the words up with {' '.join(starmap(setting, self.options.items()))}."
        return text


def spelling_hint(words: Iterable[str], entries: Iterable[str]) -> SpellingHint:
    """Return how a vocabulary spells words that it lacks as they are.

    >>> str(spelling_hint(["king", "queen"], ["/c/en/the", "/c/en/king", "/c/en/queen"]))
    " Entries of the file are '/c/en/king' and '/c/en/queen'. Look the words up with prefix='/c/en/'."
    """
    some = list(islice(entries, _MOST_HINTED))
    plain = set(words)
    wanted = {FORMS[case](word): case for case in ("title", "upper", "lower", "exact") for word in plain}
    counts: Counter[tuple[str, str, str]] = Counter()
    examples: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for entry in some:
        for start, end in _inner_words(entry):
            case = wanted.get(entry[start:end])
            key = case or "", entry[:start], entry[end:]
            if case and (key != ("exact", "", "")):
                counts[key] += 1
                examples[key].append(entry)
    (case, prefix, suffix), matches = max(counts.items(), key=lambda item: item[1], default=(("", "", ""), 0))
    if not matches or matches * _FEWEST_HINTED < len(plain):  # a few may fit by chance, such as "gov." to "gov"
        return SpellingHint(tuple(some[:2]), {})
    options = {"case": case if case != "exact" else "", "prefix": prefix, "suffix": suffix}
    shown = [*examples[case, prefix, suffix], *some]
    return SpellingHint(tuple(dict.fromkeys(shown))[:2], {name: text for name, text in options.items() if text})


def _inner_words(entry: str) -> Iterable[tuple[int, int]]:
    """Yield where words may begin and end in an entry: at its ends, and at signs that are no letters."""
    if len(entry) > _LONGEST_HINTED:
        return
    starts = [0, *(place + 1 for place, letter in enumerate(entry) if not letter.isalnum())]
    ends = [len(entry), *(start - 1 for start in starts[1:])]
    if len(starts) > _MOST_PARTS:
        return
    yield from ((start, end) for start in starts for end in ends if start < end)


class Spellings:
    """A vocabulary in which the reasons for lost words can be sought.

    - `vocabulary`: words in normal form, the most frequent first, with their places from 1.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self.vocabulary = vocabulary
        counts = Counter(script for word in islice(vocabulary, _MOST_SCRIPTS) for script in scripts(word))
        self.scripts = {script for script, count in counts.items() if 1000 * count >= counts.total()}
        self._left = _MOST_COMPARED
        self._alike: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in islice(vocabulary, MOST_ALIKE):
            if len(word) <= _LONGEST_HINTED:  # comparing takes the square of the lengths
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
        ][: self._left]
        self._left -= len(alike)
        near = tuple(get_close_matches(word, alike, n=3, cutoff=0.75))
        return ("several words" if " " in word else "absent"), near
