"""Defaults and texts of the parameters of public functions, read from source files, so that help imports nothing."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import bayesbias

_PACKAGE = Path(bayesbias.__file__).parent
# The section of parameters in a docstring, and in it a name with its indented text.
_PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^(\w+)\n((?: +.*\n?)+)", re.MULTILINE)


def called_parameters(call: str) -> dict[str, tuple[Any, str]]:
    """Return the default (None without one) and the text of parameters of a public function.

    Examples
    --------
    >>> called_parameters("bb.check_random_lists samples")
    {'samples': (200, 'Number of random lists, at least 10.')}
    """
    function, *names = call.split()
    _, *rooms, name = function.split(".")
    file, defined = _defined(_file(_PACKAGE.joinpath(*rooms)), name)
    if not isinstance(defined, ast.FunctionDef):
        raise TypeError(f"{function} is no function.")
    arguments, texts = defined.args, _texts(ast.get_docstring(defined) or "")
    without_default: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
    defaults = [*without_default, *arguments.defaults, *arguments.kw_defaults]
    return {
        argument.arg: (None if default is None else _value(file, default), texts.get(argument.arg, ""))
        for argument, default in zip([*arguments.args, *arguments.kwonlyargs], defaults, strict=True)
        if argument.arg in names
    }


def _defined(file: Path, name: str) -> tuple[Path, ast.AST]:
    """Return the function or value that a name has in a file, and the file that defines it, through imports."""
    for statement in reversed(_tree(file).body):  # the last of overloads is the function
        match statement:
            case ast.FunctionDef(name=defined) if defined == name:
                return file, statement
            case ast.Assign(targets=[ast.Name(id=defined)], value=value) if defined == name:
                return file, value
            case ast.ImportFrom(module=str(module), level=level, names=names):
                for alias in names:
                    if (alias.asname or alias.name) == name:
                        folder = file.parents[level - 1] if level else _PACKAGE.parent
                        return _defined(_file(folder.joinpath(*module.split("."))), alias.name)
    raise LookupError(f"{file} does not define {name}.")


def _file(module: Path) -> Path:
    files = (module.with_suffix(".py"), module / "__init__.pyi", module / "__init__.py")
    return next(file for file in files if file.is_file())


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _value(file: Path, node: ast.AST) -> Any:
    """Return a literal, or the constant of which an expression is the name."""
    return _value(*_defined(file, node.id)) if isinstance(node, ast.Name) else ast.literal_eval(node)


def _texts(docstring: str) -> dict[str, str]:
    section = _PARAMETERS.search(docstring)
    entries = _ENTRY.findall(section[1] if section else "")
    return {name: " ".join(text.split()) for name, text in entries}
