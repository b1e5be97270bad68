"""Faults of studies and of their files, one sentence each."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from bayesbias.base.checks import is_text
from bayesbias.base.files.settings import kind_of, toml_faults
from bayesbias.errors import did_you_mean
from bayesbias.studies.factors import CROSSED, SECTIONS, factor_faults

CONTROLS = ("human", "neutral")
CONTROL_CHOICES = ("paper", "none")
TEXTS = ("name", "description", "source", "notes")
ABOVE = (*TEXTS, "language", "associated")
# A difference, or a difference of differences.
QUESTION_SIDES = (2, 4)
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")


class _Controls(TypedDict, total=False):
    human: object
    neutral: object


class _StudyFile(TypedDict, total=False):
    """The keys of a study file; `study_faults` checks the values."""

    name: object
    description: object
    source: object
    notes: object
    language: object
    associated: object
    protected: object
    attributes: object
    controls: _Controls
    questions: object
    factors: object
    attribute_factors: object
    trends: object
    level_weights: object


def study_faults(fields: Mapping[str, object]) -> Iterator[str]:
    """Yield every fault of a study's fields, which may have any types."""
    for key in TEXTS:
        text = fields.get(key, "")
        if not isinstance(text, str):
            yield f"{key} must be text, not {kind_of(text)}."
        elif key == "name" and not text.strip():
            yield "name is empty: give the study a name."
        elif not is_text(text):
            yield f"{key} is {text!r}, with an unpaired surrogate: correct it."
    yield from _language_faults(fields)
    places: dict[str, list[str]] = {}  # word -> the lists that hold it
    for section, kind in (("protected", "protected"), ("attributes", "attribute")):
        groups = fields[section]
        if not isinstance(groups, Mapping):
            yield f"{section} must be groups, each with its list of words, not {kind_of(groups)}."
            continue
        if not groups:
            yield f"{section} has no groups: name at least one, with its words."
        for group, words in groups.items():
            if not is_text(group) or group != group.strip() or not group or not group.isprintable():
                yield f"{section} has a group named {group!r}: a name is a line of text without spaces around it."
            elif kind == "attribute" and group in CONTROLS:
                yield f"attributes has a group {group!r}: rename it, or make it a list in controls."
            yield from _word_faults(f"{kind} group {group!r}", words, places)
    for control in CONTROLS:
        words = fields.get(control, "paper")
        if not isinstance(words, str):
            yield from _word_faults(f"control list {control!r}", words, places)
        elif words not in CONTROL_CHOICES:
            yield f"{control} is {words!r}{did_you_mean(words, CONTROL_CHOICES)}: paper, none or a list of words."
    for word, lists in places.items():
        if len(lists) > 1:
            yield f"{word!r} is in {' and in '.join(lists)}: keep it in one list only."
    yield from _association_faults(fields["associated"], fields["protected"], fields["attributes"])
    questions = fields.get("questions", {})
    yield from list(question_faults(questions)) or _side_faults(questions, fields)
    named = zip(CROSSED, (_mapping(fields["protected"]), _attribute_lists(fields)), strict=True)
    yield from factor_faults({name: fields[name] for name in SECTIONS if name in fields}, dict(named))


def _language_faults(fields: Mapping[str, object]) -> Iterator[str]:
    """Yield the faults of a study's language, and the bundled control lists that are of another one."""
    language = fields.get("language", "en")
    if not isinstance(language, str) or not _LANGUAGE_TAG.fullmatch(language):
        yield f'language is {language!r}: give its code, such as "en", "de" or "pt-BR".'
    elif not is_english(language):
        for control in CONTROLS:
            if fields.get(control, "paper") == "paper":
                yield (
                    f'{control} is "paper" (the default), a bundled list of English words, but the language of the '
                    f'study is {language!r}: give {control} = "none", or a list of words in that language.'
                )


def is_english(language: str) -> bool:
    """Return whether a language code is that of English, of any region.

    >>> is_english("en-GB"), is_english("enm")
    (True, False)
    """
    return language.lower().split("-")[0] == "en"


def _word_faults(where: str, words: object, places: dict[str, list[str]]) -> Iterator[str]:
    if isinstance(words, str | bytes) or not isinstance(words, Sequence):
        yield f'{where} must be a list of words, such as ["one", "two"], not {kind_of(words)}.'
        return
    if not words:
        yield f"{where} is an empty list: give it words{' or none' if where.startswith('control') else ''}."
    for position, word in enumerate(words, start=1):
        if not isinstance(word, str):
            yield f"{where} holds {kind_of(word)} in place {position}: put each word between quotes."
        elif word != word.strip() or not word:
            yield f"{where} holds {word!r}: a word must not be blank or have spaces around it."
        elif not is_text(word) or "\0" in word:
            yield f"{where} holds {word!r}, with a NUL or an unpaired surrogate: correct it."
    for word, count in Counter(word for word in words if isinstance(word, str)).items():
        if count > 1:
            yield f"{where} holds {word!r} {count} times: keep one."
        if word.strip():
            places.setdefault(word, []).append(where)


def _association_faults(associated: object, protected: object, attributes: object) -> Iterator[str]:
    example = 'associated = [["protected group", "attribute group"]]'
    if isinstance(associated, str | bytes) or not isinstance(associated, Sequence):
        yield f"associated must be a list of pairs, such as {example}, not {kind_of(associated)}."
        return
    if not associated:
        yield f"associated is missing or empty: say which groups are expected to be close, as {example}."
    pairs: list[tuple[str, str]] = []
    for position, pair in enumerate(associated, start=1):
        match pair:
            case [str(first), str(second)]:
                pairs.append((first, second))
            case _:
                yield f"associated holds no pair of groups in place {position}: write {example}."
    for pair, count in Counter(pairs).items():
        if count > 1:
            yield f"associated holds {list(pair)} {count} times: keep one."
        for group, groups, kind in ((pair[0], protected, "protected"), (pair[1], attributes, "attribute")):
            # The absence of all groups is reported above.
            if isinstance(groups, Mapping) and groups and group not in groups:
                hint = did_you_mean(group, (name for name in groups if isinstance(name, str)))
                yield f"associated holds {list(pair)}, but there is no {kind} group {group!r}{hint}."


def question_faults(questions: object) -> Iterator[str]:
    """Yield the faults of the shape of questions, which may have any types; the lists they name are not checked."""
    example = '"a name" = [["protected group", "attribute list"], ["another group", "the same or another list"]]'
    if not isinstance(questions, Mapping):
        yield f"questions must be a section, each line {example}, not {kind_of(questions)}."
        return
    for name, sides in questions.items():
        if not isinstance(name, str) or not name.isprintable() or name != name.strip() or not name:
            yield (
                f"questions has one named {name!r}: a name is one line of text without spaces around it, between "
                "quotes where it has a dot."
            )
        if isinstance(sides, str | bytes) or not isinstance(sides, Sequence) or len(sides) not in QUESTION_SIDES:
            yield f"question {name!r} needs two or four sides: write {example}."
            continue
        for side in sides:
            match side:
                case [str(_), str(_)]:
                    pass
                case _:
                    yield f"question {name!r} has a side that is no pair: write {example}."


def _side_faults(questions: object, fields: Mapping[str, object]) -> Iterator[str]:
    """Yield the sides of well-formed questions that a study lacks, and differences of a side and itself."""
    protected = fields["protected"]
    lists = _attribute_lists(fields)
    for name, sides in _mapping(questions).items():
        cells = [tuple(side) for side in sides] if isinstance(sides, Sequence) else []
        for side in cells:
            for label, groups, kind in zip(
                side, (protected, lists), ("protected group", "attribute list"), strict=True
            ):
                if isinstance(groups, Mapping) and groups and label not in groups:
                    hint = did_you_mean(label, (group for group in groups if isinstance(group, str)))
                    yield f"question {name!r} has {list(side)}, but there is no {kind} {label!r}{hint}."
        for first, second in zip(cells[::2], cells[1::2], strict=True):
            if first == second:
                yield f"question {name!r} compares {first[0]!r} with itself, to the same list: the difference is 0."


def _attribute_lists(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the attribute lists of a study with their words, and its control lists without them."""
    return {**_mapping(fields["attributes"]), **{name: () for name in CONTROLS if fields.get(name) != "none"}}


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def file_faults(document: Mapping[str, object]) -> Iterator[str]:
    """Yield the keys of a study file that are misspelt or in the wrong place."""
    checked = dict(document)
    for control in CONTROLS:
        if control in checked:
            del checked[control]
            yield f"{control!r} is outside its section: move it below a line [controls]."
    for section in ("protected", "attributes", "controls", "questions", *SECTIONS):
        keys = _mapping(checked.get(section))
        # In TOML, a line after [section] belongs to that section: the commonest slip of all.
        for key in ABOVE:
            if key in keys and (key == "associated" or isinstance(keys[key], str)):
                yield f"{key!r} is inside [{section}]: move it above the first [section]."
                if section == "controls":
                    keys = checked[section] = {name: words for name, words in keys.items() if name != key}
    yield from toml_faults(checked, _StudyFile)
