"""What can be wrong with a study: every fault of its fields and of its file, each as a sentence."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from bayesbias.base.checks import is_text
from bayesbias.errors import did_you_mean

CONTROLS = ("human", "neutral")
CONTROL_CHOICES = ("paper", "none")
TEXTS = ("name", "description", "source", "notes")
ABOVE = (*TEXTS, "associated")
# A difference, or a difference of differences.
QUESTION_SIDES = (2, 4)
_SECTIONS = ("protected", "attributes", "controls", "questions")


def study_faults(fields: Mapping[str, object]) -> Iterator[str]:
    """Yield every fault of a study's fields, whatever their types."""
    for key in TEXTS:
        text = fields.get(key, "")
        if not isinstance(text, str):
            yield f"{key} must be text, not {_kind(text)}."
        elif key == "name" and not text.strip():
            yield "name is empty: give the study a name."
        elif not is_text(text):
            yield f"{key} is {text!r}, with half of a letter (a surrogate): correct it."
    places: dict[str, list[str]] = {}  # word -> the lists that hold it
    for section, kind in (("protected", "protected"), ("attributes", "attribute")):
        groups = fields[section]
        if not isinstance(groups, Mapping):
            yield f"{section} must be groups, each with its list of words, not {_kind(groups)}."
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
    for word, found in places.items():
        if len(found) > 1:
            yield f"{word!r} is in {' and in '.join(found)}: keep it in one list only."
    yield from _association_faults(fields["associated"], fields["protected"], fields["attributes"])
    questions = fields.get("questions", {})
    shape = list(question_faults(questions))
    yield from shape or _sides_faults(questions, fields)


def _word_faults(where: str, words: object, places: dict[str, list[str]]) -> Iterator[str]:
    """Yield the faults of one list of words, and note in `places` which words it holds."""
    if isinstance(words, str | bytes) or not isinstance(words, Sequence):
        yield f'{where} must be a list of words, such as ["one", "two"], not {_kind(words)}.'
        return
    if not words:
        yield f"{where} is an empty list: give it words{' or none' if where.startswith('control') else ''}."
    for position, word in enumerate(words, start=1):
        if not isinstance(word, str):
            yield f"{where} holds {_kind(word)} in place {position}: put each word between quotes."
        elif word != word.strip() or not word:
            yield f"{where} holds {word!r}: a word must not be blank or have spaces around it."
        elif not is_text(word) or "\0" in word:
            yield f"{where} holds {word!r}, with a NUL or half of a letter (a surrogate): correct it."
    for word, count in Counter(word for word in words if isinstance(word, str)).items():
        if count > 1:
            yield f"{where} holds {word!r} {count} times: keep one."
        if word.strip():
            places.setdefault(word, []).append(where)


def _association_faults(associated: object, protected: object, attributes: object) -> Iterator[str]:
    """Yield the faults of the list of associated groups."""
    example = 'associated = [["protected group", "attribute group"]]'
    if isinstance(associated, str | bytes) or not isinstance(associated, Sequence):
        yield f"associated must be a list of pairs, such as {example}, not {_kind(associated)}."
        return
    if not associated:
        yield f"associated is missing or empty: say which groups are expected to be close, as {example}."
    seen: list[tuple[str, str]] = []
    for position, pair in enumerate(associated, start=1):
        match pair:
            case [str(first), str(second)]:
                seen.append((first, second))
            case _:
                yield f"associated holds no pair of groups in place {position}: write {example}."
    for pair, count in Counter(seen).items():
        if count > 1:
            yield f"associated holds {list(pair)} {count} times: keep one."
        for group, groups, kind in ((pair[0], protected, "protected"), (pair[1], attributes, "attribute")):
            # Where there are no groups at all, that fault has been reported already.
            if isinstance(groups, Mapping) and groups and group not in groups:
                hint = did_you_mean(group, (name for name in groups if isinstance(name, str)))
                yield f"associated holds {list(pair)}, but there is no {kind} group {group!r}{hint}."


def question_faults(questions: object) -> Iterator[str]:
    """Yield what is wrong with the shape of questions, whatever their types and the lists that they name."""
    example = '"a name" = [["protected group", "attribute list"], ["another group", "the same or another list"]]'
    if not isinstance(questions, Mapping):
        yield f"questions must be a section, each line {example}, not {_kind(questions)}."
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


def _sides_faults(questions: object, fields: Mapping[str, object]) -> Iterator[str]:
    """Yield the sides of well-formed questions that a study does not have, and differences that are 0 in any model."""
    protected, attributes, associated = (fields[name] for name in ("protected", "attributes", "associated"))
    lists = {**_mapping(attributes), **{name: () for name in CONTROLS if fields.get(name) != "none"}}
    own = associated if isinstance(associated, Sequence) else ()
    pairs = [tuple(each) for each in own if isinstance(each, Sequence)]
    for name, sides in _mapping(questions).items():
        cells = [tuple(side) for side in sides] if isinstance(sides, Sequence) else []
        for group, of in cells:
            for value, groups, kind in ((group, protected, "protected group"), (of, lists, "attribute list")):
                if isinstance(groups, Mapping) and groups and value not in groups:
                    hint = did_you_mean(value, (each for each in groups if isinstance(each, str)))
                    yield f"question {name!r} has {[group, of]}, but there is no {kind} {value!r}{hint}."
        connections = [(group, of if of in CONTROLS else (group, of) in pairs) for group, of in cells]
        for one, other in zip(connections[::2], connections[1::2], strict=True):
            if one == other:
                yield (
                    f"question {name!r} compares {one[0]!r} with itself, to lists of the same connection: a model "
                    "gives these one mean, so that their difference is 0 by assumption."
                )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def file_faults(document: Mapping[str, object]) -> Iterator[str]:
    """Yield the keys of a study file that are misspelt or in the wrong place."""
    known = (*ABOVE, *_SECTIONS)
    for key in document:
        if key in CONTROLS:
            yield f"{key!r} is outside its section: move it below a line [controls]."
        elif key not in known:
            yield f"Unknown key {key!r}{did_you_mean(key, known)}: a study has {', '.join(known)}."
    for section in _SECTIONS:
        keys = document.get(section, {})
        if not isinstance(keys, Mapping):
            if section == "controls":
                yield f"controls must be a section with human or neutral, not {_kind(keys)}."
            continue
        for key, value in keys.items():
            # In TOML, a line after [section] belongs to that section: the commonest slip of all.
            if key == "associated" or (key in TEXTS and isinstance(value, str)):
                yield f"{key!r} is inside [{section}]: move it above the first [section]."
            elif section == "controls" and key not in CONTROLS:
                yield f"Unknown key {key!r} in [controls]{did_you_mean(key, CONTROLS)}: human or neutral."


def _kind(value: object) -> str:
    """Return the kind of a value in words that someone who writes TOML knows."""
    kinds = {str: "text", bool: "true or false", int: "a number", float: "a number", dict: "a section"}
    return kinds.get(type(value), f"a {type(value).__name__}")
