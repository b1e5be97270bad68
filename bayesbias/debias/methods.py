"""The registry of debiasing methods."""

from typing import Any

from bayesbias.debias.hard import HardDebias
from bayesbias.debias.soft import SoftDebias

METHODS: dict[str, type[Any]] = {"hard": HardDebias, "soft": SoftDebias}
"""Name -> a frozen class. Its fields are the method's settings; its ``fit(embedding, sets)`` returns an object whose
``transform(embedding)`` returns the debiased `Embedding`.

>>> METHODS["soft"](strength=5.0)
SoftDebias(strength=5.0, components=None)
"""
