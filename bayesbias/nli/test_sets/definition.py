"""Definitions of test sets in TOML: templates, words, verbs, objects and articles; all faults are listed at once."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Required, TypedDict

from bayesbias.base.files.inputs import bundled, read_toml
from bayesbias.base.files.toml_files import toml_faults
from bayesbias.base.machine.memory import check_memory
from bayesbias.errors import MeasureError, did_you_mean, raise_faults

_CONTENT = ("articles", "objects", "pairs")
_VOWELS = "aeiou"
# Measured.
_BYTES_AN_ACTION, _BYTES_A_PAIR, _BYTES_A_TEXT = 250, 500, 100
_COPIES = 5  # of a text, while the texts are made
KINDS = ("nouns", "names")
"""Kinds of words of a group: with an article, and without."""


class _Articles(TypedDict, total=False):
    before_consonant: str
    before_vowel: str
    exceptions: dict[str, str]


class _Group(TypedDict, total=False):
    nouns: list[str]
    names: list[str]


class _Rule(TypedDict):
    verbs: list[str]
    objects: list[str]


class _TestSetFile(TypedDict, total=False):
    name: str
    description: str
    source: str
    premise: str
    hypothesis: str
    subjects: list[str]
    groups: Required[dict[str, _Group]]
    sentences: str
    articles: _Articles
    objects: dict[str, list[str]]
    pairs: list[_Rule]


@dataclass(frozen=True)
class Articles:
    """Indefinite articles: by the first letter of a word, except for exceptions."""

    before_consonant: str = ""
    before_vowel: str = ""
    exceptions: Mapping[str, str] = field(default_factory=dict)

    def put(self, word: str) -> str:
        """Return a word with its article.

        >>> [Articles("a", "an", {"SUV": "an"}).put(word) for word in ("car", "oven", "SUV")]
        ['a car', 'an oven', 'an SUV']
        """
        first = self.before_vowel if word[0].lower() in _VOWELS else self.before_consonant
        return f"{self.exceptions.get(word, first)} {word}".strip()


@dataclass(frozen=True)
class Definition:
    """Definition of a test set.

    Parameters
    ----------
    premise, hypothesis
        Templates, with ``{word}`` in the hypothesis, and ``{verb}`` and ``{object}`` in both.
    words
        (word, word with its article, group), in order.
    subjects
        Words for ``{subject}`` in the premise, if it has one.
    pairs
        (verb, object, object with its article), each once.
    articles
        Articles of the subjects.
    """

    premise: str
    hypothesis: str
    words: tuple[tuple[str, str, str], ...]
    subjects: tuple[str, ...]
    pairs: tuple[tuple[str, str, str], ...]
    articles: Articles


def read_definition(path: Path) -> Definition:
    """Return the definition in a TOML file; raise `MeasureError` with all of its faults."""
    content = read_toml(path, MeasureError)
    where = f"The test set {path}"
    faults = (toml_faults(content, _TestSetFile), _template_faults(content), _sentences_faults(content))
    raise_faults(MeasureError, where, chain.from_iterable(faults))
    if name := content.get("sentences"):
        shared = read_toml(bundled("data", "nli", "sentences", f"{name}.toml"), MeasureError)
        content = {**{key: shared[key] for key in _CONTENT if key in shared}, **content}
    raise_faults(MeasureError, where, _list_faults(content))
    _check_size(content, path)
    articles = Articles(**content.get("articles", {}))
    words = [
        (word, articles.put(word) if kind == "nouns" else word, group)
        for group, kinds in content["groups"].items()
        for kind in KINDS
        for word in kinds.get(kind, ())
    ]
    pairs = dict.fromkeys(
        (verb, thing, articles.put(thing))
        for rule in content["pairs"]
        for verb in rule["verbs"]
        for name in rule["objects"]
        for thing in content["objects"][name]
    )
    return Definition(
        content["premise"], content["hypothesis"], tuple(words), tuple(content.get("subjects", ())), tuple(pairs),
        articles,
    )  # fmt: skip


def _check_size(content: Mapping[str, Any], path: Path) -> None:
    """Raise `NotEnoughMemoryError` if the pairs of all words and actions do not fit into the free memory."""
    words = [word for kinds in content["groups"].values() for listed in kinds.values() for word in listed]
    subjects = content.get("subjects", [""])
    letters = {name: sum(map(len, listed)) for name, listed in content["objects"].items()}
    actions = letters_of_actions = 0
    for rule in content["pairs"]:
        verbs, objects = len(rule["verbs"]), sum(len(content["objects"][name]) for name in rule["objects"])
        actions += verbs * objects
        letters_of_actions += verbs * sum(letters[name] for name in rule["objects"])
        letters_of_actions += objects * sum(map(len, rule["verbs"]))
    needed = actions * _BYTES_AN_ACTION + len(words) * len(subjects) * actions * _BYTES_A_PAIR
    for key, firsts in (("premise", subjects), ("hypothesis", words)):
        texts = len(firsts) * actions
        letters_of_texts = texts * len(content[key]) + len(firsts) * letters_of_actions
        letters_of_texts += actions * sum(map(len, firsts))
        needed += texts * _BYTES_A_TEXT + _COPIES * letters_of_texts
    pairs = f"The {len(words) * len(subjects) * actions:,} pairs of the test set {path}"
    check_memory(needed, pairs, "Give fewer or shorter words, verbs or objects.")


def _sentences_faults(content: Mapping[str, Any]) -> Iterator[str]:
    bundled_names = sorted(path.stem for path in bundled("data", "nli", "sentences").glob("*.toml"))
    name = content.get("sentences")
    if name is None:
        for key in ("objects", "pairs"):
            if key not in content:
                yield (
                    f"{key} is missing: give verbs and objects, or use bundled ones, such as "
                    f'sentences = "{bundled_names[0]}".'
                )
    elif name not in bundled_names:
        hint = did_you_mean(str(name), bundled_names)
        yield f"sentences is {name!r}{hint}: the bundled ones are {', '.join(bundled_names)}."
    elif both := [key for key in ("objects", "pairs") if key in content]:
        yield f"sentences and {' and '.join(both)} are both given: use either the bundled sentences or your own."


def _template_faults(content: Mapping[str, Any]) -> Iterator[str]:
    subject = {"subject"} if "subjects" in content else set()
    for key, wanted in (("premise", {"verb", "object", *subject}), ("hypothesis", {"word", "verb", "object"})):
        text = content.get(key, "")
        if not isinstance(text, str) or not text.strip():
            yield f'{key} is missing: write a template, such as {key} = "{_example(wanted)}".'
            continue
        placeholders = re.findall(r"\{(\w*)\}", text)
        if (
            set(placeholders) != wanted
            or len(placeholders) != len(wanted)
            or re.search(r"[{}]", re.sub(r"\{\w*\}", "", text))
        ):
            names = ", ".join(f"{{{name}}}" for name in sorted(wanted))
            yield f"{key} is {text!r}: it must contain {names}, each once, and no other braces."


def _example(wanted: set[str]) -> str:
    first = "{word}" if "word" in wanted else "{subject}" if "subject" in wanted else "A person"
    return f"{first} {{verb}} {{object}}."


def _list_faults(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield words that are not usable or occur twice, and lists of objects that do not exist."""
    groups, objects = content["groups"], content["objects"]
    lists = {f"objects.{name}": words for name, words in objects.items()}
    lists |= {f"pairs (item {number}).verbs": rule["verbs"] for number, rule in enumerate(content["pairs"], start=1)}
    if "subjects" in content:
        lists["subjects"] = content["subjects"]
    places: dict[str, str] = {}
    for group, kinds in groups.items():
        if not kinds:
            yield f"groups.{group} has no words: give nouns (with an article), names (without one), or both."
        for kind, words in kinds.items():
            place = f"groups.{group}.{kind}"
            lists[place] = words
            for word in dict.fromkeys(words):
                if word in places:
                    yield f"{word!r} is in {places[word]} and in {place}: keep one of them."
                places[word] = place
    for place, words in lists.items():
        for word in words:
            if not word or word != word.strip() or not word.isprintable() or set(word) & set("{}"):
                yield f"{place} has {word!r}: a word is text without braces, and without spaces around it."
        if twice := sorted(word for word, count in Counter(words).items() if count > 1):
            yield f"{place} has {', '.join(twice)} more than once."
    for number, rule in enumerate(content["pairs"], start=1):
        for name in rule["objects"]:
            if name not in objects:
                yield f"pairs (item {number}): there is no list {name!r} in objects{did_you_mean(name, objects)}."
