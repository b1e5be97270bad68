"""Settings: TOML files with declared keys and types, and settings of libraries that another user may have planted.

numba, Matplotlib and ArviZ read a file of the current folder when they are imported: it can name a folder of compiled
code, and it can be a pipe that is never written to. The command line imports them from the root folder instead if
others can write to the current one. numba would read its file again at each compilation: there, its settings stay those
of its import.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

from bayesbias.base.files.inputs import read_toml
from bayesbias.base.files.outputs import others_write
from bayesbias.base.machine import has_home, private_folder
from bayesbias.errors import BayesBiasError, beginning, did_you_mean, raise_faults

_UNIONS = (Union, UnionType)
_KINDS: dict[Any, str] = {str: "text between quotes", bool: "true or false", int: "a whole number", float: "a number"}
SAFE_PATH = "PYTHONSAFEPATH"  # new processes of Python then take no modules from the current folder
# Of PyTorch, a library of NVIDIA (cuSPARSELt) looks for libcuda.so.1 in the current folder, and runs what it finds.
_LIBRARIES = ("numba", "matplotlib", "arviz_base", "torch")


def read_declared_toml[Shape](
    path: str | os.PathLike[str], shape: type[Shape], error: type[BayesBiasError], *, what: str = ""
) -> Shape:
    """Return the content of a TOML file after checking its keys and types.

    - `shape`: a TypedDict: the keys that the file may have, or must have (``Required``), and their types. Types are
      ``str``, ``bool``, ``int``, ``float``, lists, dictionaries with text keys, ``Literal`` texts, unions of these,
      other TypedDicts (sections), and ``object`` for anything. Lists and dictionaries must not be empty.
    - `error`: class of the error if the content is wrong.
    - `what`: what the file is, before its path in errors, such as ``"The audit "``.

    Raises `InputFileError` if the file cannot be read. Raises `BayesBiasError` of class `error`, if the file is not
    TOML or has faults; all faults are listed.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from typing import Required, TypedDict
    >>> from bayesbias.errors import MeasureError
    >>> class Words(TypedDict, total=False):
    ...     source: str
    ...     words: Required[list[str]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "words.toml")
    ...     _ = path.write_text('sorce = "me"', encoding="utf-8")
    ...     read_declared_toml(path, Words, MeasureError)
    Traceback (most recent call last):
        ...
    bayesbias.errors.MeasureError: ...words.toml has 2 faults:
    - Unknown key 'sorce' (did you mean 'source'?): use source, words.
    - words is missing: give a list, such as ["one", "two"].
    """
    content = read_toml(path, error)
    raise_faults(error, f"{what}{path}", toml_faults(content, shape))
    return cast(Shape, content)


def toml_faults(content: Mapping[str, object], shape: type[Any], *, section: str = "") -> Iterator[str]:
    """Yield unknown keys, missing keys and wrong types of a TOML document, or of the `section` that it is.

    >>> from typing import TypedDict
    >>> list(toml_faults({"seed": "7"}, TypedDict("Plan", {"seed": int})))
    ['seed must be a whole number, not text.']
    """
    kinds = get_type_hints(shape)
    for key in content:
        if key not in kinds:
            where = f" in [{section}]" if section else ""
            yield f"Unknown key {key!r}{where}{did_you_mean(key, kinds)}: use {', '.join(kinds)}."
    for key, kind in kinds.items():
        place = f"{section}.{key}" if section else key
        if key in content:
            yield from _type_faults(place, content[key], kind)
        elif key in getattr(shape, "__required_keys__", ()):
            yield f"{_shown(place, kind)} is missing: give {_wanted(kind)}."


def kind_of(value: object) -> str:
    """Return the kind of a value in the words of TOML.

    >>> kind_of("nurse"), kind_of(True), kind_of(["nurse"]), kind_of([])
    ('text', 'true or false', 'a list', 'an empty list')
    """
    if isinstance(value, list | dict) and not value:
        return "an empty section" if isinstance(value, dict) else "an empty list"
    kinds = {str: "text", bool: "true or false", int: "a number", float: "a number", dict: "a section"}
    return kinds.get(type(value), f"a {type(value).__name__}")


def _type_faults(place: str, value: object, kind: Any) -> Iterator[str]:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if is_typeddict(kind) and isinstance(value, Mapping):
        yield from toml_faults(value, kind, section=place)
    elif origin in _UNIONS:
        if all(any(_type_faults(place, value, option)) for option in inner):
            yield f"{place} must be {_wanted(kind)}, not {kind_of(value)}."
    elif origin is Literal and isinstance(value, str):
        if value not in inner:
            yield f"{place} is {value!r}{did_you_mean(value, inner)}: use {', '.join(inner)}."
    elif origin is list and isinstance(value, list) and value:
        for position, entry in enumerate(value, start=1):
            yield from _type_faults(f"{place} (item {position})", entry, inner[0])
    elif origin is dict and isinstance(value, dict) and value:
        for name, entry in value.items():
            yield from _type_faults(f"{place}.{beginning(name)}", entry, inner[1])
    elif not _is_scalar(value, origin):
        dotted = " (a name with a dot needs quotes)" if kind is str and isinstance(value, dict) else ""
        yield f"{_shown(place, kind)} must be {_wanted(kind)}, not {kind_of(value)}{dotted}."


def _shown(place: str, kind: Any) -> str:
    """Return a key as a file has it: sections stand in brackets."""
    return f"[{place}]" if is_typeddict(kind) or get_origin(kind) is dict else place


def _is_scalar(value: object, kind: Any) -> bool:
    """Whether a value is of a type that holds no others; True is no number, and a whole number is one."""
    if kind is object:
        return True
    return kind in _KINDS and isinstance(value, (int, float) if kind is float else kind) and (
        kind is bool or not isinstance(value, bool)
    )  # fmt: skip


def _wanted(kind: Any) -> str:
    """Return what to give for a type."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in _UNIONS:
        return " or ".join(map(_wanted, inner))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is list:
        example = {str: ', such as ["one", "two"]', int: ", such as [1, 2]", list[str]: ', such as [["one", "two"]]'}
        return f"a list{example.get(inner[0], f', each item {_wanted(inner[0])}')}"
    if is_typeddict(kind):
        return f"a section with {', '.join(get_type_hints(kind))}"
    return f"a section, each entry {_wanted(inner[1])}" if origin is dict else _KINDS.get(kind, "a value")


def ignore_foreign_settings() -> None:
    """Let no library read settings that another user may have planted; for processes that are ours alone.

    Those that read settings from the current folder are imported from elsewhere, if others can write to it; processes
    that are started later, as by PyMC, import no modules from there either. A user without a home folder gets an empty
    one, since libraries would read `~` in the current folder. PyTorch compiles nothing.
    """
    if not has_home():
        os.environ["HOME"] = private_folder()
    os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
    if not _is_guarded() and is_foreign_folder():
        sys.meta_path.insert(0, _Finder())
        os.environ[SAFE_PATH] = "1"


def _is_guarded() -> bool:
    """Return whether `ignore_foreign_settings` found a folder that others can write to."""
    return any(isinstance(finder, _Finder) for finder in sys.meta_path)


@contextmanager
def outside_foreign_folder() -> Iterator[None]:
    """Leave the current folder meanwhile, if `ignore_foreign_settings` found that others can write to it."""
    if not _is_guarded():
        yield
        return
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir("/")
        yield
    finally:
        os.fchdir(here)
        os.close(here)


def is_foreign_folder() -> bool:
    """Return whether others can write to the current folder."""
    return os.name == "posix" and others_write(Path().stat())


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a library is, with a loader that leaves the current folder while it runs."""
        spec = PathFinder.find_spec(fullname, path, target) if fullname in _LIBRARIES else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Elsewhere(spec.loader)
        return spec


class _Elsewhere(Loader):
    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        """Return what else the library's own loader has, such as its resources."""
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return the module of the library's own loader."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module in the root folder, and return to the current one."""
        with outside_foreign_folder():
            self._loader.exec_module(module)
        if module.__name__ == "numba":
            module.config.reload_config = lambda: None
