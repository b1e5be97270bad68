"""What a test set is made of, read from TOML: templates, words, verbs, objects, articles; all faults at once."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesbias.base.checks import is_text
from bayesbias.base.files import bundled, read_toml
from bayesbias.errors import MeasureError, did_you_mean, raise_faults

_TEXTS = ("name", "description", "source")
_CONTENT = ("articles", "objects", "pairs")
_KEYS = {*_TEXTS, *_CONTENT, "sentences", "premise", "hypothesis", "subjects", "groups"}
_ARTICLES = ("before_consonant", "before_vowel", "exceptions")
_VOWELS = "aeiou"
KINDS = ("nouns", "names")
"""Words of a group that get an article, and words that stand alone."""


@dataclass(frozen=True)
class Articles:
    """Which indefinite article a word gets: by its first letter, unless it is an exception."""

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
    """What a test set is made of.

    Parameters
    ----------
    premise, hypothesis
        Templates; ``{word}`` stands in the hypothesis, ``{verb}`` and ``{object}`` in both.
    words
        (word, word with its article, group), in their order.
    subjects
        Words for ``{subject}`` in the premise, if it has one.
    pairs
        (verb, object, object with its article), each once.
    articles
        Of the subjects.
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
    raise_faults(MeasureError, where, [*_unknown(content, _KEYS), *_sentences_faults(content)])
    if name := content.get("sentences"):
        shared = read_toml(bundled("data", "nli", "sentences", f"{name}.toml"), MeasureError)
        content = {**{key: shared[key] for key in _CONTENT if key in shared}, **content}
    raise_faults(MeasureError, where, [*_template_faults(content), *_list_faults(content)])
    raise_faults(MeasureError, where, list(_pair_faults(content)))
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


def _unknown(content: Mapping[str, Any], known: Any, where: str = "") -> Iterator[str]:
    for key in content:
        if key not in known:
            yield f"{where}{key!r} is not known{did_you_mean(key, known)}: use {', '.join(sorted(known))}."


def _sentences_faults(content: Mapping[str, Any]) -> Iterator[str]:
    for key in _TEXTS:
        if key in content and not is_text(content[key]):
            yield f"{key} must be a text."
    known = sorted(path.stem for path in bundled("data", "nli", "sentences").glob("*.toml"))
    name = content.get("sentences")
    if name is None:
        for key in ("objects", "pairs"):
            if key not in content:
                yield f'{key} is missing: give verbs and objects, or take bundled ones: sentences = "{known[0]}".'
    elif name not in known:
        yield f"sentences is {name!r}{did_you_mean(str(name), known)}: bundled are {', '.join(known)}."
    elif both := [key for key in ("objects", "pairs") if key in content]:
        yield f"sentences and {' and '.join(both)} are both given: keep either the bundled sentences or your own."


def _template_faults(content: Mapping[str, Any]) -> Iterator[str]:
    subject = {"subject"} if "subjects" in content else set()
    for key, wanted in (("premise", {"verb", "object", *subject}), ("hypothesis", {"word", "verb", "object"})):
        text = content.get(key, "")
        if not is_text(text) or not text.strip():
            yield f'{key} is missing: write a template, such as {key} = "{_example(wanted)}".'
            continue
        found = re.findall(r"\{(\w*)\}", text)
        if set(found) != wanted or len(found) != len(wanted) or re.search(r"[{}]", re.sub(r"\{\w*\}", "", text)):
            names = ", ".join(f"{{{name}}}" for name in sorted(wanted))
            yield f"{key} is {text!r}: it must hold {names}, each once, and no other braces."


def _example(wanted: set[str]) -> str:
    first = "{word}" if "word" in wanted else "{subject}" if "subject" in wanted else "A person"
    return f"{first} {{verb}} {{object}}."


def _list_faults(content: Mapping[str, Any]) -> Iterator[str]:
    articles = content.get("articles", {})
    if not isinstance(articles, Mapping):
        yield 'articles must be a section: [articles] with before_consonant = "a" and before_vowel = "an".'
    else:
        yield from _unknown(articles, _ARTICLES, "articles: ")
        exceptions = articles.get("exceptions", {})
        if not isinstance(exceptions, Mapping) or not all(map(is_text, exceptions.values())):
            yield 'articles.exceptions must give an article for each word, such as SUV = "an".'
        for key in _ARTICLES[:2]:
            if not is_text(articles.get(key, "")):
                yield f"articles.{key} must be a text."
    if "subjects" in content:
        yield from _word_faults("subjects", content["subjects"])
    groups = content.get("groups")
    if not isinstance(groups, Mapping) or not groups:
        yield 'groups is missing: give each group a section, such as [groups.male] with nouns = ["man"].'
        return
    seen: dict[str, str] = {}
    for group, kinds in groups.items():
        if not isinstance(kinds, Mapping) or not set(kinds) & set(KINDS):
            yield f"groups.{group} has no words: give nouns (with an article), names (without), or both."
            continue
        yield from _unknown(kinds, KINDS, f"groups.{group}: ")
        for kind in KINDS:
            faults = list(_word_faults(f"groups.{group}.{kind}", kinds[kind])) if kind in kinds else []
            yield from faults
            for word in kinds.get(kind, ()) if not faults else ():
                if word in seen:
                    yield f"{word!r} is in {seen[word]} and in groups.{group}.{kind}: keep it once."
                seen[word] = f"groups.{group}.{kind}"


def _word_faults(where: str, words: Any) -> Iterator[str]:
    if not isinstance(words, list) or not words:
        yield f'{where} must be a list of words, such as ["one", "two"].'
        return
    for word in words:
        if not is_text(word) or not word or word != word.strip() or not word.isprintable() or set(word) & set("{}"):
            yield f"{where} has {word!r}: a word is a text without braces, and without spaces around it."
    if len(set(map(str, words))) < len(words):
        twice = sorted({str(word) for word in words if words.count(word) > 1})
        yield f"{where} has {', '.join(twice)} more than once."


def _pair_faults(content: Mapping[str, Any]) -> Iterator[str]:
    objects, pairs = content["objects"], content["pairs"]
    if not isinstance(objects, Mapping):
        yield 'objects must be lists by name: [objects] with food = ["apple", "soup"].'
        return
    for name, words in objects.items():
        yield from _word_faults(f"objects.{name}", words)
    if not isinstance(pairs, list) or not pairs or not all(isinstance(rule, Mapping) for rule in pairs):
        yield 'pairs must be rules: [[pairs]] with verbs = ["ate"] and objects = ["food"].'
        return
    for number, rule in enumerate(pairs, start=1):
        yield from _unknown(rule, ("verbs", "objects"), f"pairs, rule {number}: ")
        yield from _word_faults(f"pairs, rule {number}: verbs", rule.get("verbs"))
        lists = rule.get("objects")
        if not isinstance(lists, list) or not lists:
            yield f"pairs, rule {number}: objects must name lists of [objects]."
            continue
        for name in lists:
            if not isinstance(name, str) or name not in objects:
                yield f"pairs, rule {number}: there is no list {name!r} in objects{did_you_mean(str(name), objects)}."
