"""The entry of a measure in the registry: what it computes, what its sign means, what it needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.statements import Described, Facts
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
