"""Regular expressions take time in proportion to a text: two forms that take its square are in none of the package."""

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import bayesbias as bb

PACKAGE = Path(bb.__file__).parent
LETTERS = [chr(code) for code in range(128)]
SEARCHES = {"search", "sub", "subn", "findall", "finditer", "split"}
OF_THE_PACKAGE = {"measure_entry.py", "called.py", "references.py"}  # for docstrings and citations of the package
LONG = 1000


def tree_of(pattern: str | bytes, flags: int = 0) -> Any:
    return _parser.parse(pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern, flags)


def signs(tree: Any, item: Any) -> set[str]:
    """Return the ASCII letters that a part of one letter matches; nothing for other parts."""
    part = _parser.SubPattern(tree.state, [item])
    if part.getwidth() != (1, 1):
        return set()
    form = _compiler.compile(part, tree.state.flags)
    return {letter for letter in LETTERS if form.fullmatch(letter)}


def paths(tree: Any, items: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield the sequences of a pattern without groups and alternatives; parts that may be absent are also left out."""
    if not items:
        yield []
        return
    (kind, value), others = items[0], items[1:]
    if kind is _constants.SUBPATTERN:
        yield from paths(tree, [*value[-1], *others])
    elif kind is _constants.BRANCH:
        for branch in value[1]:
            yield from paths(tree, [*branch, *others])
    elif kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT) and not signs(tree, value[2][0]) | set(value[2][1:]):
        least, most, inner = value
        for count in {least, min(most, least + 1)}:
            yield from paths(tree, [*(list(inner) * count), *others])
    else:
        for following in paths(tree, others):
            yield [items[0], *following]


def parts(tree: Any) -> Iterator[list[tuple[set[str], int, bool]]]:
    """Yield sequences of parts: their letters, the least number of these, and whether they have no end."""
    for path in paths(tree, list(tree)):
        sequence = []
        for kind, value in path:
            if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
                least, most, inner = value
                sequence.append((signs(tree, inner[0]), least, most > LONG))
            elif kind is _constants.AT or kind in (_constants.ASSERT, _constants.ASSERT_NOT):
                before = value is _constants.AT_BEGINNING or (kind is not _constants.AT and value[0] < 0)
                if before and not sequence:
                    sequence.append((set(), 1, False))  # such a search cannot begin anywhere
            else:
                sequence.append((signs(tree, (kind, value)), 1, False))
        yield sequence


def is_ambiguous(tree: Any) -> bool:
    """Return whether a run of letters can be divided between two repeats in as many ways as it has letters."""
    for sequence in parts(tree):
        needed = [part for part in sequence if part[1] or part[2]]
        if any(first[2] and second[2] and first[0] & second[0] for first, second in pairwise(needed)):
            return True
    return False


def begins_anywhere(tree: Any) -> bool:
    """Return whether a search can begin anew at each letter of a run that it has read to its end in vain."""
    for sequence in parts(tree):
        for place, (letters, _, endless) in enumerate(sequence):
            if endless and all(before & letters for before, _, _ in sequence[:place]):
                return any(least and not later & letters for later, least, _ in sequence[place + 1 :])
    return False


def patterns() -> list[tuple[str, str | bytes, bool]]:
    """Return the patterns that are texts, with their files, and whether each is searched for."""
    every = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name in OF_THE_PACKAGE or "import re\n" not in text:
            continue
        searched = set(re.findall(rf"(\w+)\.(?:{'|'.join(SEARCHES)})\(", text))
        for node in ast.walk(ast.parse(text)):
            is_set = isinstance(node, ast.Assign)
            targets = node.targets if isinstance(node, ast.Assign) else []
            names = {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
            for call in ast.walk(node) if is_set else [node]:
                if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args):
                    continue
                if ast.unparse(call.func.value) != "re" or not isinstance(call.args[0], ast.Constant):
                    continue
                if is_set or call.func.attr != "compile":
                    every.append((path.name, call.args[0].value, call.func.attr in SEARCHES or bool(names & searched)))
    return list(dict.fromkeys(every))


@pytest.mark.parametrize("pattern", [r"[0-9]+\.?[0-9]*", r"\s*a?\s*b", r"(x\w+|y)(-\w*)?\w*z"])
def test_repeats_that_share_letters_are_seen(pattern: str) -> None:
    assert is_ambiguous(tree_of(pattern))


@pytest.mark.parametrize("pattern", [r"[0-9]+(\.[0-9]*)?", r"\s*a\s*b", r"\w+(?:-\w+)*"])
def test_repeats_that_share_none_are_allowed(pattern: str) -> None:
    assert not is_ambiguous(tree_of(pattern))


def test_searches_that_begin_anywhere_are_seen() -> None:
    assert begins_anywhere(tree_of(r"--[a-z-]+ [A-Z]+\b"))
    assert not begins_anywhere(tree_of(r"--[a-z][a-z-]{1,24}( [A-Z]{1,12}\b)?"))
    assert not begins_anywhere(tree_of(r"(?<!-)--[a-z-]+ [A-Z]+\b"))


@pytest.mark.parametrize(("file", "pattern", "searched"), patterns())
def test_no_pattern_takes_the_square_of_a_text(file: str, pattern: str | bytes, searched: bool) -> None:
    tree = tree_of(pattern)
    assert not is_ambiguous(tree)
    assert not (searched and begins_anywhere(tree))
