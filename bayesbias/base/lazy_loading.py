"""Names that are loaded when they are first used, and registries of what the modules of some rooms define."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import lazy_loader


def lazy_names(
    package: str, file: str, elsewhere: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package whose names its stub file lists.

    A name that is not there is an `AttributeError` that says what was probably meant, or what `elsewhere` says.
    """
    load, _, names = lazy_loader.attach_stub(package, file)

    def get(name: str) -> Any:
        if name not in names:
            from bayesbias.errors import did_you_mean

            hint = f". Use {elsewhere[name]}" if elsewhere and name in elsewhere else did_you_mean(name, names)
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        from bayesbias.base.machine import held_interrupts  # not before: a command could not answer Ctrl-C meanwhile

        with held_interrupts():  # half of an import would stay in the session
            return load(name)

    return get, lambda: sorted(names), names


def registered(wanted: Callable[[Any], bool], *rooms: str) -> dict[str, Any]:
    """Return the wanted values of all modules of some rooms by their `name`, sorted by it.

    - `wanted`: whether a value of a module belongs to the registry.
    - *rooms: packages, such as ``"bayesbias.debias.linear"``.

    Raises `ValueError` if two values have the same name, such as that of a copied file.

    >>> from bayesbias.debias.method import Method
    >>> wanted = lambda value: isinstance(value, type) and issubclass(value, Method) and value.name != ""
    >>> list(registered(wanted, "bayesbias.debias.linear"))[:2]
    ['bam', 'half_sibling']
    """
    by_name: dict[str, Any] = {}
    for room in rooms:
        for entry in iter_modules(import_module(room).__path__, f"{room}."):
            for value in filter(wanted, vars(import_module(entry.name)).values()):
                if by_name.setdefault(value.name, value) is not value:
                    raise ValueError(f"{entry.name}: the name {value.name!r} is taken. Give another one.")
    return dict(sorted(by_name.items()))
