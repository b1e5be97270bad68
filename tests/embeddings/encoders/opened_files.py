"""Which files Python opens: an audit hook, which stays for good and is asked here."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_watching: list[set[Path]] = []


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _watching and isinstance(arguments[0], str | bytes | os.PathLike):
        path = Path(os.fsdecode(arguments[0])).absolute()
        for paths in _watching:
            paths.add(path)


sys.addaudithook(_note)


@contextmanager
def opened_paths() -> Iterator[set[Path]]:
    """Yield the paths that are opened inside."""
    paths: set[Path] = set()
    _watching.append(paths)
    try:
        yield paths
    finally:
        _watching[:] = [others for others in _watching if others is not paths]


@contextmanager
def opened_files(folder: Path) -> Iterator[set[str]]:
    """Yield the names of files in a folder that are opened inside, which are known at the end."""
    names: set[str] = set()
    with opened_paths() as paths:
        try:
            yield names
        finally:
            place = folder.absolute()
            names |= {str(path.relative_to(place)) for path in paths if path.is_relative_to(place)}
