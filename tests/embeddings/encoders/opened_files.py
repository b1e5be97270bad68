"""Which files of a folder Python opens: an audit hook, which stays for good and is asked here."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_watched: list[tuple[Path, set[str]]] = []


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _watched and isinstance(arguments[0], str | bytes | os.PathLike):
        path = Path(os.fsdecode(arguments[0])).absolute()
        for folder, names in _watched:
            if path.is_relative_to(folder):
                names.add(str(path.relative_to(folder)))


sys.addaudithook(_note)


@contextmanager
def opened_files(folder: Path) -> Iterator[set[str]]:
    """Yield the names of files in a folder that are opened inside."""
    names: set[str] = set()
    _watched.append((folder.absolute(), names))
    try:
        yield names
    finally:
        _watched.remove((folder.absolute(), names))
