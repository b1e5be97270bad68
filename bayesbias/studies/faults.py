"""Faults of studies, of their factors and of their files, one sentence each.

A factor has levels, and a level names protected groups. In a study of race by gender, the level "black" of race names
the groups of black women and of black men. A cell of the crossing holds the groups that are in one level of each
factor. Attribute lists may have factors too.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TypedDict

from bayesbias.base.checks import is_text
from bayesbias.base.files.settings import kind_of, toml_faults
from bayesbias.errors import did_you_mean, name_some

CONTROLS = ("human", "neutral")
CONTROL_CHOICES = ("paper", "none")
TEXTS = ("name", "description", "source", "notes")
ABOVE = (*TEXTS, "language", "associated")
# A difference, or a difference of differences.
QUESTION_SIDES = (2, 4)
CROSSED = {"factors": "protected group", "attribute_factors": "attribute list"}
"""The sections of a study that have factors, and what their levels name."""
NUMBERED = ("trends", "level_weights")
"""The sections that give numbers to the levels of factors."""
SECTIONS = (*CROSSED, *NUMBERED)
FEWEST_OF_TREND = 3
_EXAMPLES = {
    "factors": '[factors.race] with lines black = ["black women", "black men"] and white = [...]',
    "attribute_factors": '[attribute_factors.valence] with lines good = ["love", "praise"] and bad = [...]',
    "trends": "age = {young = 20, middle = 45, old = 70}",
    "level_weights": "gender = {women = 2, men = 1}",
}
_MOST_WORDS = 4
_MOST_CELLS = 100  # of factors of groups and of lists together: 10 by 10 levels have 3,016 effects
_MOST_QUESTIONS = 500  # each has rows and draws of its own
_LARGEST = 1e100
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
    if len(questions) > _MOST_QUESTIONS:
        yield f"questions has {len(questions):,}, at most {_MOST_QUESTIONS} are answered: divide them among studies."
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


def factor_faults(fields: Mapping[str, object], lists: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    """Yield every fault of a study's factors.

    - `fields`: the sections of `SECTIONS` that the study has, of any types.
    - `lists`: what the levels of a section may name, with the words: section -> group or list -> words.
    """
    shapes = list(shape_faults(fields))
    yield from shapes
    if shapes:
        return
    for section, kind in CROSSED.items():
        yield from _crossing_faults(_section(fields, section), kind, lists[section])


def shape_faults(fields: Mapping[str, object]) -> Iterator[str]:
    """Yield the faults of factors by themselves, without those of the groups that their levels name."""
    levels: dict[str, list[str]] = {}  # of factors without faults
    places: dict[str, str] = {}
    for section, kind in CROSSED.items():
        factors = fields.get(section, {})
        if not isinstance(factors, Mapping):
            yield f"{section} must be a section of factors, such as {_EXAMPLES[section]}, not {kind_of(factors)}."
            continue
        for factor, members in factors.items():
            faults = list(_factor_shape_faults(factor, members, section, kind))
            yield from faults
            if not faults and isinstance(members, Mapping):
                levels[factor] = list(members)
            if places.get(factor, section) != section:
                yield f"factor {factor!r} is in factors and in attribute_factors: rename one."
            if isinstance(factor, str):
                places[factor] = section
    cells = prod(map(len, levels.values()))
    if cells > _MOST_CELLS:
        yield (
            f"the factors cross in {cells:,} cells, at most {_MOST_CELLS} are compared: leave out factors, or join "
            "levels."
        )
    for section in NUMBERED:
        yield from _number_faults(fields.get(section, {}), section, levels, places)


def _factor_shape_faults(factor: object, levels: object, section: str, kind: str) -> Iterator[str]:
    if not _is_name(factor):
        yield f"{section} has a factor named {factor!r}: a name is a line of text without spaces around it."
    if not isinstance(levels, Mapping):
        yield f"factor {factor!r} must have levels, such as {_EXAMPLES[section]}, not {kind_of(levels)}."
        return
    if len(levels) < 2:
        yield f"factor {factor!r} has {len(levels) or 'no'} level{'' if len(levels) == 1 else 's'}: give two or more."
    for level, names in levels.items():
        if not _is_name(level):
            yield f"factor {factor!r} has a level named {level!r}: a name is a line of text without spaces around it."
        if isinstance(names, str | bytes) or not isinstance(names, Sequence) or not names:
            yield (
                f"level {level!r} of factor {factor!r} must be a list of names of {kind}s, such as "
                f'["one", "two"], not {kind_of(names)}.'
            )
        elif odd := [name for name in names if not isinstance(name, str)]:
            yield f"level {level!r} of factor {factor!r} holds {kind_of(odd[0])}: put each name between quotes."
        elif repeated := [name for name, count in Counter(names).items() if count > 1]:
            yield f"level {level!r} of factor {factor!r} names {name_some(map(repr, repeated))} twice: keep one."


def _number_faults(
    section: object, name: str, levels: Mapping[str, Sequence[str]], factors: Mapping[str, str]
) -> Iterator[str]:
    example = _EXAMPLES[name]
    if not isinstance(section, Mapping):
        yield f"{name} must be a section, with lines such as {example}, not {kind_of(section)}."
        return
    what = "trend" if name == "trends" else "weights"
    for factor, numbers in section.items():
        if factor not in factors:
            hint = did_you_mean(factor, factors) if isinstance(factor, str) else ""
            yield f"{name} has {factor!r}, but there is no factor of this name{hint}."
            continue
        if not isinstance(numbers, Mapping):
            yield f"{name} of {factor!r} must give each level a number, such as {example}, not {kind_of(numbers)}."
            continue
        if factor not in levels:  # its own faults come first
            continue
        for level in numbers:
            if level not in levels[factor]:
                hint = did_you_mean(level, levels[factor]) if isinstance(level, str) else ""
                yield f"{name} of {factor!r} has {level!r}, which is no level of it{hint}."
        if lacking := [level for level in levels[factor] if level not in numbers]:
            yield f"{name} of {factor!r} has no number for {name_some(map(repr, lacking))}: give one to each level."
        values = list(numbers.values())
        if odd := [value for value in values if not _is_number(value) or (name != "trends" and not _is_above_0(value))]:
            wanted = "finite numbers" if name == "trends" else "numbers above 0"
            yield f"{name} of {factor!r} has {odd[0]!r}: give {wanted}."
        elif name == "trends" and len(set(values)) < len(values):
            yield f"{name} of {factor!r} has the same number for two levels: give each level a number of its own."
        if name == "trends" and len(levels[factor]) < FEWEST_OF_TREND:
            yield (
                f"{what} of {factor!r}: the factor has two levels, whose difference is its main effect. "
                f"A trend needs at least {FEWEST_OF_TREND}: leave this line out."
            )


def _crossing_faults(
    factors: Mapping[str, Mapping[str, Sequence[str]]], kind: str, lists: Mapping[str, object]
) -> Iterator[str]:
    """Yield unknown groups, groups in two levels or in some factors alone, and cells without a group."""
    is_whole = True
    for factor, levels in factors.items():
        places: dict[str, list[str]] = {}
        for level, names in levels.items():
            for name in names:
                places.setdefault(name, []).append(level)
                if name not in lists:
                    is_whole = False
                    yield f"level {level!r} of factor {factor!r} names {_unknown(name, kind, lists)}"
        for name, within in places.items():
            if len(within) > 1 and name in lists:
                is_whole = False
                yield (
                    f"{kind} {name!r}{_words_of(lists[name])} is in the levels {name_some(map(repr, within))} of "
                    f"factor {factor!r}: keep it in one, or split its words into two {kind}s."
                )
    members = {factor: {name for names in levels.values() for name in names} for factor, levels in factors.items()}
    for name in dict.fromkeys(name for names in members.values() for name in sorted(names)):
        lacking = [factor for factor, names in members.items() if name not in names]
        if lacking and name in lists:
            is_whole = False
            yield (
                f"{kind} {name!r}{_words_of(lists[name])} is in no level of factor {name_some(map(repr, lacking))}, "
                f"but in one of {name_some([repr(factor) for factor in factors if factor not in lacking])}: name it in "
                "one level of each factor, or in none."
            )
    if is_whole:
        empty = [cell for cell, names in cells_of(factors).items() if not names]
        for cell in empty:
            where = ", ".join(f"{factor} = {level!r}" for factor, level in zip(factors, cell, strict=True))
            yield f"the cell {where} has no {kind}: add one that is in all of these levels, or leave a level out."


def cells_of(factors: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the cells of crossed factors: one level of each factor -> the groups that are in all of them.

    >>> race = {"black": ["black women", "black men"], "white": ["white women", "white men"]}
    >>> gender = {"women": ["black women", "white women"], "men": ["black men", "white men"]}
    >>> cells_of({"race": race, "gender": gender})["black", "men"]
    ('black men',)
    """
    if not factors:
        return {}
    return {
        cell: tuple(
            name
            for name in factors[next(iter(factors))][cell[0]]
            if all(name in levels[level] for levels, level in zip(factors.values(), cell, strict=True))
        )
        for cell in product(*factors.values())
    }


def plain_factors(fields: Mapping[str, object]) -> dict[str, dict[str, dict[str, list[str] | float]]]:
    """Return the sections of factors that are not empty, as plain lists and numbers.

    >>> plain_factors({"factors": {"age": {"young": ("children",), "old": ("elders",)}}, "trends": {}})
    {'factors': {'age': {'young': ['children'], 'old': ['elders']}}}
    """
    return {
        section: {
            factor: {
                level: float(value) if section in NUMBERED else list(value)  # type: ignore[arg-type]
                for level, value in levels.items()
            }
            for factor, levels in _section(fields, section).items()
        }
        for section in SECTIONS
        if fields.get(section)
    }


def _section(fields: Mapping[str, object], name: str) -> Mapping[str, Mapping[str, Sequence[str]]]:
    section = fields.get(name, {})
    assert isinstance(section, Mapping)
    return section


def _unknown(name: str, kind: str, lists: Mapping[str, object]) -> str:
    """Return what is wrong with the name of a group that the study lacks."""
    for group, words in lists.items():
        if isinstance(words, Sequence) and not isinstance(words, str) and name in words:
            return f"{name!r}, a word of {kind} {group!r}: name the {kind} itself."
    return f"{name!r}, but there is no {kind} of this name{did_you_mean(name, lists)}."


def _words_of(words: object) -> str:
    """Return the words of a group, in brackets."""
    listed = words if isinstance(words, Sequence) and not isinstance(words, str) else ()
    return f" ({name_some(map(str, listed), _MOST_WORDS)})" if listed else ""


def _is_name(name: object) -> bool:
    return isinstance(name, str) and is_text(name) and name.isprintable() and name == name.strip() != ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _is_above_0(value: object) -> bool:
    return isinstance(value, int | float) and value > 0


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
