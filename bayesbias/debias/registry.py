"""The debiasing methods by name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from inspect import getdoc
from typing import Any

from bayesbias.base.checks import check_choice
from bayesbias.debias.by_word.double_hard import DoubleHardDebias
from bayesbias.debias.by_word.gender_preserving import GenderPreserving
from bayesbias.debias.by_word.gn_glove import GNGloVe
from bayesbias.debias.by_word.hard import HardDebias
from bayesbias.debias.by_word.oscar import OSCaR
from bayesbias.debias.by_word.ran import RAN
from bayesbias.debias.chain import Chain
from bayesbias.debias.linear.bias_alignment import BiasAlignment
from bayesbias.debias.linear.half_sibling import HalfSibling
from bayesbias.debias.linear.inlp import INLP
from bayesbias.debias.linear.linear_projection import LinearProjection
from bayesbias.debias.linear.misp import MHD, MISP
from bayesbias.debias.linear.soft import SoftDebias
from bayesbias.errors import ArgumentError

METHODS: dict[str, type[Any]] = {
    "linear": LinearProjection,
    "hard": HardDebias,
    "soft": SoftDebias,
    "double_hard": DoubleHardDebias,
    "bam": BiasAlignment,
    "oscar": OSCaR,
    "inlp": INLP,
    "ran": RAN,
    "half_sibling": HalfSibling,
    "misp": MISP,
    "mhd": MHD,
    "gn_glove": GNGloVe,
    "gender_preserving": GenderPreserving,
}
"""Name -> a frozen class. Its fields are the method's settings; its ``fit(embedding, sets)`` returns an object whose
``transform(embedding)`` returns the debiased `Embedding`.

>>> METHODS["soft"](strength=5.0)
SoftDebias(strength=5.0, components=None)
"""


def what_it_needs(name: str) -> str:
    """Return what a method needs, in a line: its docstring's words.

    Raises
    ------
    ArgumentError
        If there is no such method.

    Examples
    --------
    >>> what_it_needs("linear")
    'Definitional sets of words that differ in nothing but what is removed.'
    """
    text = getdoc(METHODS[check_choice("method", name, METHODS)]) or ""
    found = re.search(r"\*\*What it needs\.\*\* (.*?)\n\n", text, re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def methods_from_names(names: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return methods by name, such as ``"hard"`` or a chain ``"gn_glove+misp"``, with those settings that each has.

    Raises
    ------
    ArgumentError
        If there is no such method, one is named twice, or none has one of the settings.

    Examples
    --------
    >>> methods_from_names(["soft", "gn_glove+misp"], {"strength": 5.0})["soft"]
    SoftDebias(strength=5.0, components=None)
    """
    found: dict[str, Any] = {}
    parts = {name: [check_choice("--method", part.strip(), METHODS) for part in name.split("+")] for name in names}
    known = [field.name for chain in parts.values() for part in chain for field in fields(METHODS[part])]
    for setting in settings:
        if setting not in known:
            having = [name for name, method in METHODS.items() if setting in {field.name for field in fields(method)}]
            raise ArgumentError(
                f"--method {' '.join(names)} has no {setting}. Leave --{setting} out, or take a method that has it: "
                f"{', '.join(having) or 'there is none'}."
            )
    if len(parts) < len(names):
        raise ArgumentError(f"--method {' '.join(names)}: give each method once.")
    for name, chain in parts.items():
        made = []
        for part in chain:
            own = {field.name for field in fields(METHODS[part])}
            made.append(METHODS[part](**{setting: value for setting, value in settings.items() if setting in own}))
        found[name] = made[0] if len(made) == 1 else Chain(*made)
    return found
