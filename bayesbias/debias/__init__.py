"""Debiasing methods, to compare an embedding with what they make of it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesbias.debias.debias_words import DebiasWords as DebiasWords
    from bayesbias.debias.debias_words import list_debias_words as list_debias_words
    from bayesbias.debias.debias_words import load_debias_words as load_debias_words
    from bayesbias.debias.hard import FittedHardDebias as FittedHardDebias
    from bayesbias.debias.hard import HardDebias as HardDebias
    from bayesbias.debias.methods import METHODS as METHODS
    from bayesbias.debias.soft import FittedSoftDebias as FittedSoftDebias
    from bayesbias.debias.soft import SoftDebias as SoftDebias
    from bayesbias.debias.subspace import Subspace as Subspace
    from bayesbias.debias.subspace import bias_subspace as bias_subspace

# The public names by the module that holds each; the imports above say the same to type checkers.
_NAMES = {
    "debias_words": ("DebiasWords", "list_debias_words", "load_debias_words"),
    "hard": ("FittedHardDebias", "HardDebias"),
    "methods": ("METHODS",),
    "soft": ("FittedSoftDebias", "SoftDebias"),
    "subspace": ("Subspace", "bias_subspace"),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        from bayesbias.errors import did_you_mean

        raise AttributeError(f"module 'bayesbias.debias' has no attribute {name!r}{did_you_mean(name, _HOMES)}")
    value = getattr(import_module(f"bayesbias.debias.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
