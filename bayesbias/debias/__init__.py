"""Debiasing methods, to compare an embedding with what they make of it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesbias.debias.hard import FittedHardDebias as FittedHardDebias
    from bayesbias.debias.hard import HardDebias as HardDebias
    from bayesbias.debias.soft import FittedSoftDebias as FittedSoftDebias
    from bayesbias.debias.soft import SoftDebias as SoftDebias
    from bayesbias.debias.subspace import Subspace as Subspace
    from bayesbias.debias.subspace import bias_subspace as bias_subspace
    from bayesbias.debias.word_sets import WordSets as WordSets
    from bayesbias.debias.word_sets import list_word_sets as list_word_sets
    from bayesbias.debias.word_sets import load_word_sets as load_word_sets

# Public name -> the module that holds it.
_HOMES = {
    "HardDebias": "hard",
    "FittedHardDebias": "hard",
    "SoftDebias": "soft",
    "FittedSoftDebias": "soft",
    "Subspace": "subspace",
    "bias_subspace": "subspace",
    "WordSets": "word_sets",
    "list_word_sets": "word_sets",
    "load_word_sets": "word_sets",
}

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
