"""Debiasing methods, to compare an embedding with what they make of it."""

from typing import Any

from bayesbias.debias.debias_words import DebiasWords, list_debias_words, load_debias_words
from bayesbias.debias.hard import FittedHardDebias, HardDebias
from bayesbias.debias.soft import FittedSoftDebias, SoftDebias
from bayesbias.debias.subspace import Subspace, bias_subspace

__all__ = [
    "METHODS",
    "DebiasWords",
    "FittedHardDebias",
    "FittedSoftDebias",
    "HardDebias",
    "SoftDebias",
    "Subspace",
    "bias_subspace",
    "list_debias_words",
    "load_debias_words",
]

METHODS: dict[str, type[Any]] = {"hard": HardDebias, "soft": SoftDebias}
"""Name -> a frozen class. Its fields are the method's settings; its ``fit(embedding, sets)`` returns an object whose
``transform(embedding)`` returns the debiased `Embedding`.

>>> METHODS["soft"](strength=5.0)
SoftDebias(strength=5.0, components=None)
"""
