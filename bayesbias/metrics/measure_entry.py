"""The entries of measures in the registries: what they compute, what their values mean, what they need."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.statements import Described, Facts
from bayesbias.metrics.embedding_scores.result import EmbeddingScore
from bayesbias.metrics.result import MeasureResult
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


def _magnitude(values: Floats) -> Floats:
    return np.abs(values)


def below_one(values: Floats) -> Floats:
    """Return how far values lie below 1: the strength of a measure that is 1 where nothing is associated."""
    return 1.0 - values


@dataclass(frozen=True, repr=False)
class Measure(Described):
    """Description of a measure.

    Parameters
    ----------
    name, title
        Name in `MEASURES`, and full name.
    formula
        Formula as plain text.
    sign
        Meaning of a positive, or of a large, value.
    range
        Possible values.
    needs
        Word lists that the measure takes.
    source
        Authors and publication.
    conventions
        Choices that the formula leaves open.
    avoid
        Cases in which not to use it.
    function
        Function of an embedding and a study that returns a `MeasureResult`.
    options
        Options of the function that make it this measure.
    of_similarities
        The measure as a function of pairwise similarities alone. None: it needs more.
    strength
        Function from values of the measure to numbers that grow with the strength of the effect in either direction.
    """

    name: str
    title: str
    formula: str
    sign: str
    range: str
    needs: str
    source: str
    conventions: str
    avoid: str
    function: Callable[..., MeasureResult]
    options: Mapping[str, Any] = field(default_factory=dict)
    of_similarities: SimilarityMeasure | None = None
    strength: Callable[[Floats], Floats] = _magnitude

    @property
    def _facts(self) -> Facts:
        return {
            name: getattr(self, name)
            for name in ("name", "title", "formula", "sign", "range", "needs", "conventions", "avoid", "source")
        }

    @property
    def posterior(self) -> bool:
        """Whether the measure has a posterior under a fit, as a function of pairwise similarities."""
        return self.of_similarities is not None


@dataclass(frozen=True, repr=False)
class EmbeddingMeasure(Described):
    """Description of a score of a whole embedding.

    Parameters
    ----------
    name, title
        Name in `EMBEDDING_MEASURES`, and full name.
    about
        ``"bias"``, for a bias that is left in the geometry, or ``"quality"``, for the usefulness of the embedding.
    formula
        Formula as plain text.
    better
        Better values of the headline: ``"lower"``, ``"higher"`` or ``"nearer to 0"``.
    range
        Possible values.
    needs
        Data that the score needs besides the embedding.
    data
        Argument that takes these data: ``"path"``, ``"names"`` or ``"words"``.
    required
        Whether these data must be given.
    source
        Authors and publication.
    conventions
        Choices that the formula leaves open.
    avoid
        Cases in which not to use it.
    function
        Function of an embedding and the data that returns an `EmbeddingScore`.
    read
        Reader of its file, which raises an error if the file is faulty. None: it needs no file.
    """

    name: str
    title: str
    about: str
    formula: str
    better: str
    range: str
    needs: str
    data: str
    required: bool
    source: str
    conventions: str
    avoid: str
    function: Callable[..., EmbeddingScore]
    read: Callable[[Any], Any] | None = None

    @property
    def _facts(self) -> Facts:
        names = ("name", "title", "about", "formula", "better", "range", "needs", "conventions", "avoid", "source")
        return {name: getattr(self, name) for name in names}

    @property
    def depends_on_length(self) -> bool:
        """Whether it depends on the lengths of vectors, unless these are scaled (``normalize=True``)."""
        return "normalize" in signature(self.function).parameters

    @property
    def takes_reference(self) -> bool:
        """Whether its words or directions can come from the embedding before debiasing (``reference=``)."""
        return "reference" in signature(self.function).parameters
