"""Names say what a value is: none of the words that fit any value, and few arguments for each function."""

import ast
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import bayesbias as bb

PACKAGE = Path(bb.__file__).parent
ROOT = Path(__file__).parents[1]
VAGUE = {"found", "each", "known", "said", "kept", "at", "of", "own", "told", "asked", "heeded", "rest"}
MOST_ARGUMENTS = 8
MOST_BY_POSITION = 3  # the data


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each name that a module binds, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def test_vague_names_are_seen() -> None:
    tree = ast.parse("def told(of, *, at): kept = [each for each in of]")
    assert sum(name in VAGUE for name, _ in bound_names(tree)) == 5


def test_no_value_has_a_vague_name() -> None:
    vague = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted((*PACKAGE.rglob("*.py"), *(ROOT / "docs").glob("*.py"), ROOT / "notebooks" / "run.py"))
        for name, line in bound_names(ast.parse(path.read_text(encoding="utf-8")))
        if name.lstrip("_") in VAGUE
    ]
    assert vague == []


def many_arguments(tree: ast.AST, public: set[str]) -> Iterator[str]:
    """Yield each function that takes more than eight arguments and is not public, or takes too many by position."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            by_position = [
                one.arg for one in (*node.args.posonlyargs, *node.args.args) if one.arg not in ("self", "cls")
            ]
            is_long = len(by_position) + len(node.args.kwonlyargs) > MOST_ARGUMENTS
            if is_long and (node.name not in public or len(by_position) > MOST_BY_POSITION):
                yield node.name


def test_many_arguments_are_seen() -> None:
    tree = ast.parse("def a(b, c, d, e, *, f, g, h, i, j): ...\ndef k(b, c, d, *, f, g, h, i, j, l): ...")
    assert list(many_arguments(tree, public={"a", "k"})) == ["a"]
    assert list(many_arguments(tree, public=set())) == ["a", "k"]


@pytest.mark.parametrize(
    "room", sorted(path.name for path in PACKAGE.iterdir() if path.name not in ("cli", "__pycache__"))
)
def test_only_public_functions_take_many_arguments_and_their_settings_by_name(room: str) -> None:
    """More arguments of others are a dataclass; a command has an argument an option."""
    modules = (bb, *(value for name in bb.__all__ if isinstance(value := getattr(bb, name), ModuleType)))
    public = {name for module in modules for name in module.__all__}
    place = PACKAGE / room
    many = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in (sorted(place.rglob("*.py")) if place.is_dir() else [place] * (place.suffix == ".py"))
        for name in many_arguments(ast.parse(path.read_text(encoding="utf-8")), public)
    ]
    assert many == []
