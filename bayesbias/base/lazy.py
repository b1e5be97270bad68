"""Names of a package that are loaded when they are first used, as its stub file (``__init__.pyi``) lists them."""

from collections.abc import Callable
from typing import Any

import lazy_loader

from bayesbias.base.machine.interrupts import held_interrupts


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package whose names its stub file lists.

    A name that is not there is an `AttributeError` that says what was probably meant.
    """
    load, _, names = lazy_loader.attach_stub(package, file)

    def get(name: str) -> Any:
        if name not in names:
            from bayesbias.errors import did_you_mean

            raise AttributeError(f"module {package!r} has no attribute {name!r}{did_you_mean(name, names)}")
        with held_interrupts():  # half of an import would stay in the session
            return load(name)

    return get, lambda: sorted(names), names
