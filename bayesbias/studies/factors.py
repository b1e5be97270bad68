"""Factors of a study: how its protected groups, and its attribute lists, cross each other; and their faults.

A factor has levels, and a level names protected groups. In a study of race by gender, the level "black" of race names
the groups of black women and of black men. A cell of the crossing holds the groups that are in one level of each
factor.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from bayesbias.base.checks import is_text
from bayesbias.base.files.settings import kind_of
from bayesbias.errors import did_you_mean, name_some

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
_LARGEST = 1e100


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
        elif repeated := [name for name in dict.fromkeys(names) if list(names).count(name) > 1]:
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
