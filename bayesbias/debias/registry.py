"""The debiasing methods by name, and several in sequence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from inspect import getdoc
from typing import Any

from bayesbias.base.checks import check_choice
from bayesbias.base.lazy_loading import registered
from bayesbias.base.statements import Facts
from bayesbias.debias.debias_words import DebiasWords
from bayesbias.debias.method import FittedMethod, Method, Words
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import ArgumentError, worded


@dataclass(frozen=True, eq=False, repr=False)
class FittedChain(FittedMethod):
    """Fitted methods, applied in sequence, each with the same `target` and `ignore`.

    Parameters
    ----------
    fitted
        The fitted method of each.
    """

    fitted: tuple[Any, ...]

    @property
    def _facts(self) -> Facts:
        return {"methods": [type(method).__name__ for method in self.fitted]}

    def _debiased(self, source: Embedding, target: Words, ignore: Words) -> Embedding:
        for method in self.fitted:
            source = method.transform(source, target=target, ignore=ignore)
        return source


@dataclass(frozen=True, init=False)
class Chain(Method[FittedChain]):
    """Several methods in sequence: each is fitted to the embedding that the previous one debiased.

    Parameters
    ----------
    methods
        Methods in their order, such as ``GNGloVe(), MISP()``.

    Raises
    ------
    ArgumentError
        If there is no method, or one has no ``fit``.

    References
    ----------
    Dawkins (2021), section 5: GN-GloVe(w_a).MISP had the lowest error of the paper.

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.2, 1], [-1, 0.2, -1], [-0.5, 1, 0]], name="toy")
    >>> chain = bb.debias.Chain(bb.debias.GNGloVe(), bb.debias.LinearProjection())
    >>> debiased = chain.fit(embedding, [["he", "she"]], name="gender").transform(embedding)
    >>> debiased["nurse"] + 0.0, debiased.name
    (array([0., 1.]), 'toy, without its last component, linear-debiased (gender)')
    """

    methods: tuple[Any, ...]

    def __init__(self, *methods: Any) -> None:
        if not methods:
            raise ArgumentError("A chain needs at least one method, such as Chain(GNGloVe(), MISP()).")
        for method in methods:
            if isinstance(method, type) or not callable(getattr(method, "fit", None)):
                raise ArgumentError(
                    f"{method!r} is not a debiasing method. Give some, such as Chain(GNGloVe(), MISP())."
                )
        object.__setattr__(self, "methods", methods)

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedChain:
        fitted = [self.methods[0].fit(source, words)]
        for method in self.methods[1:]:
            source = fitted[-1].transform(source)
            fitted.append(method.fit(source, words))
        return FittedChain(tuple(fitted))


def _is_method(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Method) and value.name != ""


METHODS: dict[str, type[Any]] = registered(_is_method, "bayesbias.debias.by_word", "bayesbias.debias.linear")
"""Name -> a frozen class. Its fields are the method's settings; its ``fit(embedding, sets)`` returns an object whose
``transform(embedding)`` returns the debiased `Embedding`.

>>> METHODS["soft"](strength=5.0)
SoftDebias(strength=5.0, components=None)
"""


def method_requirements(name: str) -> str:
    """Return what a method needs, such as word lists, in one line.

    Parameters
    ----------
    name
        A name in `METHODS`.

    Raises
    ------
    ArgumentError
        If there is no such method.

    Examples
    --------
    >>> method_requirements("linear")
    'Definitional sets of words that differ in nothing but the bias.'
    """
    notes = getdoc(METHODS[check_choice("method", name, METHODS)]) or ""
    return " ".join(notes.partition("**What it needs.** ")[2].partition("\n\n")[0].split())


def _given(names: Sequence[str]) -> str:
    return worded(f"methods={list(names)}", f"--method {' '.join(names)}")


def methods_from_names(names: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return methods by name, such as ``"hard"`` or a chain ``"gn_glove+misp"``, each with those settings that it has.

    Parameters
    ----------
    names
        Names in `METHODS`; those of a chain are joined by plus signs.
    settings
        Settings by name, such as ``{"strength": 5.0}``.

    Raises
    ------
    ArgumentError
        If there is no such method, one is named twice, or none has one of the settings.

    Examples
    --------
    >>> methods_from_names(["soft", "gn_glove+misp"], {"strength": 5.0})["soft"]
    SoftDebias(strength=5.0, components=None)
    """
    chains = {
        name: [check_choice(worded("method", "--method"), part.strip(), METHODS) for part in name.split("+")]
        for name in names
    }
    if len(chains) < len(names):
        raise ArgumentError(f"{_given(names)}: give each method once.")
    settings_of = {name: {field.name for field in fields(method)} for name, method in METHODS.items()}
    for setting in settings:
        if not any(setting in settings_of[part] for chain in chains.values() for part in chain):
            having = [name for name, others in settings_of.items() if setting in others]
            raise ArgumentError(
                f"{_given(names)} has no {setting}. Leave {worded('', '--')}{setting} out, or give a method that has "
                f"it: {', '.join(having) or 'there is none'}."
            )
    methods: dict[str, Any] = {}
    for name, chain in chains.items():
        steps = [METHODS[part](**{key: settings[key] for key in settings_of[part] & settings.keys()}) for part in chain]
        methods[name] = steps[0] if len(steps) == 1 else Chain(*steps)
    return methods
