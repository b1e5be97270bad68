"""The entry of a measure in the registry: what it computes and needs, and the parameters that measures share."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, cleandoc, signature
from itertools import islice
from textwrap import fill
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.statements import Described, Facts
from bayesbias.metrics.measure_result import MeasureResult
from bayesbias.metrics.similarities import SimilarityMeasure

# Texts that several entries share.
FOUR_GROUPS = "two protected groups, two attribute groups"
GROUPS_AND_LISTS = "two protected groups, one or more attribute groups"
SCORE = "(A:C + B:D) - (B:C + A:D)"
ASSOCIATION = "association s(w, A, B)"
PAIRS = "base pairs (23 are bundled), target words"
DU = "Du, Fang and Nguyen (2021), section 3.1"
KINDEL = "Kindel (2023)"
NEUTRAL_WORDS = "words that should be neutral (without any: all of letters that the embedding has)"
DAWKINS = "Dawkins (2021), appendix B"
SHARED = {
    "embedding": (
        "Word vectors: an `Embedding`, the path of a file, gensim's `KeyedVectors`, a mapping of words to vectors, or "
        "a pair of words and matrix."
    ),
    "study": (
        "Word lists: a `Study`, the name of a bundled study, the path of a TOML file, or a mapping of list names to "
        "words, the protected lists first."
    ),
    "max_lost": (
        "Largest share of a list's words that the embedding may lack, from 0 to 1. A list that lost more raises a "
        "`LostWordsError`."
    ),
    "random_seed": "Seed of the random draws. None: a seed is drawn and recorded in the result.",
    "hdi_prob": "Probability inside the intervals.",
    "progress": "Whether to show a progress bar.",
}
"""Parameter -> its description in every measure that does not describe it itself."""
FOUR_LISTS = {
    "targets": "Names of the two protected groups to compare. Default: the study's groups, if it has exactly two.",
    "attributes": "Names of two attribute lists. Default: the list associated with each of the two groups, in order.",
}
"""Descriptions of the lists that `bayesbias.metrics.look_up.four_lists` chooses."""
GROUPS_ON_TWO_LISTS = {
    "targets": "Names of protected groups. Default: all groups of the study.",
    "attributes": "Names of two attribute lists. Default: the study's attribute lists, if it has exactly two.",
}
"""Descriptions of the lists that `bayesbias.metrics.look_up.groups_on_two_lists` chooses."""


def _magnitude(values: Floats) -> Floats:
    return np.abs(values)


def below_one(values: Floats) -> Floats:
    """Return how far values lie below 1: the strength of a measure that is 1 where nothing is associated."""
    return 1.0 - values


@dataclass(frozen=True, repr=False)
class Measure(Described):
    """Description of a measure. Texts that do not apply are None.

    Parameters
    ----------
    name, title
        Name in `MEASURES`, and full name.
    formula
        Formula as plain text.
    range
        Possible values.
    needs
        Data that the measure takes besides the embedding.
    source
        Authors and publication.
    conventions
        Choices that the formula leaves open.
    avoid
        Cases in which not to use it.
    function
        Function of an embedding and the data that returns a `MeasureResult`.
    about
        ``"association"``, for one of the word lists of a study; or, for a score of a whole embedding, ``"bias"``, which
        is left in the geometry, or ``"quality"``, the usefulness of the embedding.
    sign
        Meaning of a positive, or of a large, value of a measure of a study.
    better
        Better values of a score of a whole embedding: ``"lower"``, ``"higher"`` or ``"nearer to 0"``.
    options
        Options of the function that make it this measure.
    units
        Statistic, or ``"score"`` for the scores of words -> its name and, in parentheses, its unit, as figures show it.
    of_similarities
        The measure as a function of pairwise similarities alone. None: it needs more.
    strength
        Function from values of the measure to numbers that grow with the strength of the effect in either direction.
    whole_vocabulary
        Whether every word of an embedding enters a measure of a study.
    read
        Reader of its file, which raises an error if the file is faulty. None: it needs no file.
    """

    name: str
    title: str
    formula: str
    range: str
    needs: str
    source: str
    conventions: str
    avoid: str
    function: Callable[..., MeasureResult]
    about: str = "association"
    sign: str | None = None
    better: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    of_similarities: SimilarityMeasure | None = None
    strength: Callable[[Floats], Floats] = _magnitude
    whole_vocabulary: bool = False
    read: Callable[[Any], Any] | None = None

    @property
    def card(self) -> dict[str, str]:
        """The texts that apply, by name."""
        names = ("about", "formula", "sign", "better", "range", "needs", "conventions", "avoid", "source")
        texts = {name: text for name in names if (text := getattr(self, name)) is not None}
        if self.about == "association":
            return texts | {"posterior": "from a fit (bb.measure_posterior)" if self.posterior else "none"}
        return texts | {"reference": "chooses the words or directions" if "reference" in self._parameters else "none"}

    @property
    def _facts(self) -> Facts:
        return {"name": self.name, "title": self.title, **self.card}

    @property
    def data(self) -> str:
        """Name of the argument that takes the data, such as ``"study"``, ``"path"``, ``"names"`` or ``"words"``."""
        return next(islice(self._parameters, 1, None))

    @property
    def required(self) -> bool:
        """Whether the data must be given."""
        return self._parameters[self.data].default is Parameter.empty

    @property
    def option_names(self) -> list[str]:
        """Names of the options that a user can set."""
        return [name for name in islice(self._parameters, 2, None) if name not in self.options]

    def accepted(self, **options: Any) -> dict[str, Any]:
        """Return those of some options that the measure has."""
        return {name: value for name, value in options.items() if name in self.option_names}

    @property
    def posterior(self) -> bool:
        """Whether the measure has a posterior under a fit, as a function of pairwise similarities."""
        return self.of_similarities is not None

    @property
    def depends_on_length(self) -> bool:
        """Whether it depends on the lengths of vectors, unless these are scaled (``normalize=True``)."""
        return "normalize" in self._parameters

    @property
    def _parameters(self) -> Mapping[str, Parameter]:
        return signature(self.function).parameters


TWO_GROUPS = {
    "targets": FOUR_LISTS["targets"],
    "attributes": "Names of attribute lists, whose words are pooled. Default: all but the control lists.",
}
"""Descriptions of the lists that `bayesbias.metrics.look_up.two_groups` chooses."""


_SECTION = re.compile(r"^(?:Parameters\n-+\n(.*?))?(?=^\w[\w ]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^\S.*\n(?:(?: .*)?\n)*", re.MULTILINE)


def shared_parameters[F: Callable[..., object]](lists: Mapping[str, str] | None = None) -> Callable[[F], F]:
    """Return a decorator that adds the parameters in `SHARED` and `lists` to a docstring that lacks them.

    >>> @shared_parameters()
    ... def score(*, progress=True):
    ...     '''Return a number.'''
    >>> score.__doc__.splitlines()[-4:-1]
    ['----------', 'progress', '    Whether to show a progress bar.']
    """
    texts = {**SHARED, **(lists or {})}

    def complete(function: F) -> F:
        if function.__doc__ is None:  # Python was started with -OO
            return function
        order = list(signature(function).parameters)

        def section(match: re.Match[str]) -> str:
            entries = {name: entry.rstrip() for entry in _ENTRY.findall(match[1] or "") for name in _names(entry)}
            added = {name: _entry(name, texts[name]) for name in order if name in texts and name not in entries}
            ordered = sorted({**entries, **added}.items(), key=lambda named: order.index(named[0]))
            return "\n".join(["Parameters", "----------", *dict.fromkeys(entry for _, entry in ordered), "", ""])

        function.__doc__ = _SECTION.sub(section, cleandoc(function.__doc__) + "\n", count=1)
        return function

    return complete


def _entry(name: str, text: str) -> str:
    return f"{name}\n{fill(text, 116, initial_indent='    ', subsequent_indent='    ')}"


def _names(entry: str) -> list[str]:
    return [name.strip(" *") for name in entry.partition("\n")[0].partition(" : ")[0].split(",")]
