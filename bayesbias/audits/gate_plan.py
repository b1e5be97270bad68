"""What a gate asks: its region of practical equivalence, and its plan, by which two gates are compared."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bayesbias.base.checks import region_ends, shown
from bayesbias.base.number_text import exact_text
from bayesbias.errors import ArgumentError

STANDARDISED = "standardised"
DEPENDENCE, SENTENCES = "dependence of words", "choice of sentences"
"""What an interval can include besides the choice of independent words."""

type Question = tuple[str, str, str]
"""Names of embedding, study and model."""
type RopeLike = float | tuple[float, float] | Mapping[str, float | tuple[float, float]]
"""Half-width or (low, high) in units of cosine distance, or ``{"standardised": ...}`` in units of the coherence of a
study's lists."""


@dataclass(frozen=True)
class Region:
    """Region of practical equivalence, in units of cosine distance or of the coherence of a study's lists."""

    low: float
    high: float
    standardised: bool = False

    def distances(self, coherence: float) -> tuple[float, float]:
        """Return the region in units of cosine distance."""
        scale = coherence if self.standardised else 1.0
        return self.low * scale, self.high * scale

    @property
    def unit(self) -> str:
        """Unit of the region, as texts have it."""
        return "coherence" if self.standardised else "cosine distance"

    def __str__(self) -> str:
        return f"{exact_text(self.low)} to {exact_text(self.high)} in units of {self.unit}"


def check_region(rope: Any) -> Region | None:
    """Return a region of practical equivalence, or None.

    >>> check_region({"standardised": 0.3})
    Region(low=-0.3, high=0.3, standardised=True)
    """
    if rope is None:
        return None
    standardised = isinstance(rope, Mapping) and list(rope) == [STANDARDISED]
    ends = region_ends(rope[STANDARDISED] if standardised else rope)
    if ends is None:
        raise ArgumentError(
            f"rope={shown(rope)}: give a half-width such as 0.02, a pair, low below high, or either of them as "
            f"{{'{STANDARDISED}': 0.3}}, in units of coherence."
        )
    return Region(*ends, standardised=standardised)


@dataclass(frozen=True)
class AskedQuestion:
    """What a question is about.

    - `study_hash`, `model_hash`, `words_hash`: hashes of its lists, model and looked-up words.
    - `interval_includes`: what its interval includes besides the choice of independent words.
    - `lost_words`: how many words were lost.
    """

    study_hash: str
    model_hash: str
    words_hash: str
    interval_includes: str
    lost_words: int


ASKED = tuple(AskedQuestion.__annotations__)
"""Names of the facts of an `AskedQuestion`, which are columns of a gate's questions."""


@dataclass(frozen=True)
class GatePlan:
    """All that decides what a gate asks: two gates with equal plans ask the same of their vectors."""

    region: Region
    hdi_prob: float
    questions: Mapping[Question, AskedQuestion]

    def changes(self, now: "GatePlan") -> Iterator[str]:
        """Yield how a later plan differs from this one in the region, the interval, or a question that both ask."""
        if self.region != now.region:
            yield f"rope: {self.region} in the baseline, {now.region} now"
        if self.hdi_prob != now.hdi_prob:
            yield f"hdi_prob: {self.hdi_prob:g} in the baseline, {now.hdi_prob:g} now"
        for question in self.questions:
            if question in now.questions and (what := self.change_of(question, now.questions[question])):
                yield f"{question[1]} in {question[0]}: {what}"

    def change_of(self, question: Question, now: AskedQuestion) -> str:
        """Return how a question that both ask differs from that of this plan; an empty text if it does not."""
        before = self.questions[question]
        if before.study_hash != now.study_hash:
            return "its word lists are not those of the baseline"
        if before.model_hash != now.model_hash:
            return "its model is not that of the baseline"
        if before.words_hash and not now.words_hash:
            return ""  # its embedding could not be read, which is an outcome of its own
        if before.lost_words != now.lost_words:
            return f"lost words of its groups: {before.lost_words} in the baseline, {now.lost_words} now"
        if before.words_hash != now.words_hash:
            return (
                "its words have other forms than in the baseline (case, prefix, suffix), or other sentences "
                "(templates, contexts, layer), or others of them have no vector of their own"
            )
        if before.interval_includes != now.interval_includes:
            return (
                f"besides the choice of independent words its interval includes {now.interval_includes or 'nothing'}, "
                f"{before.interval_includes or 'nothing'} in the baseline. Random words of a vocabulary show the "
                "dependence of words, and errors over contexts the choice of sentences: give vectors that have both as "
                "those of the baseline do"
            )
        return ""

    def not_asked(self, now: "GatePlan") -> tuple[str, ...]:
        """Return the questions of this plan that a later one does not ask, with the model where there are several."""
        several = len({model for _, _, model in self.questions}) > 1
        return tuple(
            f"{study} in {embedding}{f' ({model})' if several else ''}"
            for embedding, study, model in self.questions
            if (embedding, study, model) not in now.questions
        )
