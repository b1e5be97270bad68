"""Settings that libraries read from the current folder, where another user may have put them.

numba, Matplotlib and ArviZ read a file of the current folder when they are imported: it can name a folder of compiled
code, and it can be a pipe that is never written to. The command line imports them from the root folder instead if
others can write to the current one. numba would read its file again at each compilation: there, its settings stay those
of its import.
"""

import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from bayesbias.base.files.folders import others_write

SAFE_PATH = "PYTHONSAFEPATH"  # new processes of Python then take no modules from the current folder
_LIBRARIES = ("numba", "matplotlib", "arviz_base")


def ignore_foreign_settings() -> None:
    """Import the libraries that read settings from the current folder from elsewhere, if others can write to it.

    Processes that are started later, as by PyMC, import no modules from there either.
    """
    is_guarded = any(isinstance(finder, _Finder) for finder in sys.meta_path)
    if not is_guarded and is_foreign_folder():
        sys.meta_path.insert(0, _Finder())
        os.environ[SAFE_PATH] = "1"


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
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir("/")
            self._loader.exec_module(module)
        finally:
            os.fchdir(here)
            os.close(here)
        if module.__name__ == "numba":
            module.config.reload_config = lambda: None
