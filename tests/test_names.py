"""Names say what a value is: none of the words that fit any value, and few arguments for each function."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import bayesbias as bb

PACKAGE = Path(bb.__file__).parent
VAGUE = {"found", "each", "known", "said", "kept", "at", "of", "own", "told", "asked", "heeded", "rest"}
MOST_ARGUMENTS = 8


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
        f"{path.relative_to(PACKAGE)}:{line}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for name, line in bound_names(ast.parse(path.read_text(encoding="utf-8")))
        if name.lstrip("_") in VAGUE
    ]
    assert vague == []


@pytest.mark.parametrize(
    "room", sorted(path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "cli")
)
def test_private_functions_take_few_arguments(room: str) -> None:
    """More are a dataclass. Public functions are called with keywords, and commands have an argument an option."""
    many = [
        f"{path.name}:{node.name}"
        for path in sorted((PACKAGE / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("_")
        and len(node.args.args + node.args.kwonlyargs) > MOST_ARGUMENTS
    ]
    assert many == []
