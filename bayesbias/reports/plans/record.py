"""The record of a plan: what is asked, by which region and interval; gates and frozen plans are compared by it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bayesbias.base.checks import is_text, region_ends, shown
from bayesbias.base.number_text import exact_text
from bayesbias.errors import ArgumentError, ReportError, did_you_mean, name_some, setting
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.plans.changes import model_changes, study_changes
from bayesbias.studies.faults import plain_factors
from bayesbias.studies.study import Study
from bayesbias.tables.measures import COSINE_DISTANCE, Measure
from bayesbias.workers.cells import content_digest

STANDARDISED = "standardised"
DEPENDENCE, SENTENCES = "dependence of words", "choice of sentences"
"""What an interval can include besides the choice of independent words."""

type Question = tuple[str, str, str]
"""Names of embedding, study and model."""
type RopeLike = float | tuple[float, float] | Mapping[str, float | tuple[float, float]]
"""Half-width or (low, high) in units of cosine distance; ``{"nats": ...}`` in another unit; ``{"standardised": ...}``
in units of the coherence of a study's lists, of tables in those of their standard deviation of single pairs."""


@dataclass(frozen=True)
class Region:
    """Region of practical equivalence of contrasts.

    - `low`, `high`: its ends.
    - `standardised`: whether they are in units of what standardises a question: of vectors the coherence of the study's
      lists, of a table the standard deviation of its single pairs.
    - `unit`: unit of contrasts, such as "nats", or the name of a measure that has none, such as "cosine distance"; it
      does not matter if they are standardised.
    """

    low: float
    high: float
    standardised: bool = False
    unit: str = COSINE_DISTANCE.name

    def ends(self, divisor: float) -> tuple[float, float]:
        """Return the region in the unit of a question's contrasts; `divisor` is what standardises it."""
        scale = divisor if self.standardised else 1.0
        return self.low * scale, self.high * scale

    @property
    def in_unit(self) -> str:
        """The unit of the region, as texts have it."""
        if self.standardised:
            return "in units of coherence"
        return f"in units of {self.unit}" if self.unit == COSINE_DISTANCE.name else f"in {self.unit}"

    def __str__(self) -> str:
        return f"{exact_text(self.low)} to {exact_text(self.high)} {self.in_unit}"


def check_region(rope: Any) -> Region | None:
    """Return a region of practical equivalence, or None.

    >>> check_region({"standardised": 0.3})
    Region(low=-0.3, high=0.3, standardised=True, unit='cosine distance')
    >>> print(check_region({"nats": 0.2}))
    -0.2 to 0.2 in nats
    """
    if rope is None:
        return None
    names = list(rope) if isinstance(rope, Mapping) else [COSINE_DISTANCE.name]
    unit = names[0] if len(names) == 1 and is_text(names[0]) else ""
    ends = region_ends(rope[unit] if isinstance(rope, Mapping) and unit else rope)
    misspelt = unit != STANDARDISED and bool(did_you_mean(unit, [STANDARDISED]))
    if ends is None or not unit.strip() or misspelt:
        raise ArgumentError(
            f"rope={shown(rope)}: give a half-width such as 0.02, a pair, low below high, or either of them in another "
            f"unit: {{'nats': 0.1}}, or {{'{STANDARDISED}': 0.3}} in units of coherence."
        )
    return Region(*ends, standardised=True) if unit == STANDARDISED else Region(*ends, unit=unit)


def check_region_unit(region: Region | None, measures: Mapping[str, Measure]) -> None:
    """Raise `ReportError` if a region is in another unit than the contrasts of a source; `measures` are by source.

    >>> from bayesbias.tables.measures import SURPRISAL
    >>> check_region_unit(check_region(0.02), {"BERT": SURPRISAL})
    Traceback (most recent call last):
        ...
    bayesbias.errors.ReportError: rope: -0.02 to 0.02 in units of cosine distance is no region for BERT, whose contrasts
    are in nats. Give a region in that unit, rope={'nats': 0.1}, and leave out what is in other units; or one that is
    standardised, rope={'standardised': 0.3}.
    """
    if region is None or region.standardised:
        return
    for name, measure in measures.items():
        if measure.unit_name != region.unit:
            example = setting("rope", {measure.unit_name: 0.1}, option=f"rope = {{{measure.unit_name!r} = 0.1}}")
            standardised = setting("rope", {STANDARDISED: 0.3}, option="--rope-standardised 0.3")
            raise ReportError(
                f"rope: {region} is no region for {name}, whose contrasts are {measure.in_unit}. Give a region in that "
                f"unit, {example}, and leave out what is in other units; or one that is standardised, {standardised}."
            )


_STUDY_CONTENT = ("name", "protected", "attributes", "associated", "human", "neutral", "questions")
_MOST_NAMED = 40  # changes of one question, in a sentence


def study_content(study: Study) -> dict[str, Any]:
    """Return all of a study that enters its answers, in its order."""
    return {name: getattr(study, name) for name in _STUDY_CONTENT} | plain_factors(vars(study))


def study_hash(study: Study) -> str:
    """Return a hash of the word lists and comparisons of a study: studies with equal hashes ask the same question.

    The order of lists, and of words in a list, does not change it.

    >>> weat7 = bb.load_study("weat7")
    >>> study_hash(weat7) == study_hash(bb.load_study("weat8"))
    False
    >>> from dataclasses import replace
    >>> study_hash(weat7) == study_hash(replace(weat7, protected=dict(reversed(weat7.protected.items()))))
    True
    """
    content = study_content(study)
    for section in ("protected", "attributes"):
        content[section] = {name: sorted(words) for name, words in sorted(content[section].items())}
    for section in ("associated", "human", "neutral"):
        content[section] = sorted(content[section])
    content["questions"] = dict(sorted(content["questions"].items()))
    return content_digest(content)[:16]


@dataclass(frozen=True)
class AskedQuestion:
    """What a question is about.

    - `study_hash`, `model_hash`, `words_hash`: hashes of its lists, model and looked-up words.
    - `interval_includes`: what its interval includes besides the choice of independent words.
    - `lost_words`: how many words were lost.
    - `contrast_unit`: unit of its contrasts, or the name of a measure that has none.
    - `study`, `model`: its lists and model, by which a change is named word by word; None if only hashes were stored.

    A plan that is made before the vectors are read has None in place of the three facts in the middle.
    """

    study_hash: str
    model_hash: str
    words_hash: str | None = None
    interval_includes: str | None = None
    lost_words: int | None = None
    contrast_unit: str = COSINE_DISTANCE.name
    study: Study | None = field(default=None, compare=False, repr=False)
    model: ModelSpec | None = field(default=None, compare=False, repr=False)


ASKED = ("study_hash", "model_hash", "words_hash", "interval_includes", "lost_words", "contrast_unit")
"""Names of the facts of an `AskedQuestion` that are columns of a gate's questions."""


@dataclass(frozen=True)
class PlanRecord:
    """All that decides what is asked: two records that are equal ask the same of their vectors.

    - `region`: region of practical equivalence; None without one.
    - `hdi_prob`: probability inside the intervals.
    - `questions`: facts of each question.
    - `name`: what texts call the plan, when a later one is compared with it.
    """

    region: Region | None
    hdi_prob: float
    questions: Mapping[Question, AskedQuestion]
    name: str = "baseline"

    def changes(self, now: "PlanRecord") -> Iterator[str]:
        """Yield how a later plan differs from this one in the region, the interval, or a question that both ask."""
        yield from self.changed_rule(now)
        for question in self.questions:
            if question in now.questions and (what := self.change_of(question, now.questions[question])):
                yield f"{question[1]} in {question[0]}: {what}"

    def changed_rule(self, now: "PlanRecord") -> Iterator[str]:
        """Yield how a later plan differs from this one in the region and in the interval."""
        if self.region != now.region:
            yield f"rope: {self.region or 'none'} in the {self.name}, {now.region or 'none'} now"
        if self.hdi_prob != now.hdi_prob:
            yield f"hdi_prob: {self.hdi_prob:g} in the {self.name}, {now.hdi_prob:g} now"

    def change_of(self, question: Question, now: AskedQuestion) -> str:
        """Return the first change of a question that both ask; an empty text if nothing changed."""
        return next(self.changes_of(self.questions[question], now), "")

    def changes_of(self, before: AskedQuestion, now: AskedQuestion) -> Iterator[str]:
        """Yield how a question that both ask differs from that of this plan, word by word if the lists are known."""
        if before.study_hash != now.study_hash:
            named = () if before.study is None or now.study is None else tuple(study_changes(before.study, now.study))
            yield f"its word lists are not those of the {self.name}{_details(named)}"
        if before.model_hash != now.model_hash:
            named = () if before.model is None or now.model is None else tuple(model_changes(before.model, now.model))
            yield f"its model is not that of the {self.name}{_details(named)}"
        if before.words_hash is None or (before.words_hash and not now.words_hash):
            return  # no vectors were read before, or its embedding cannot be read now, which is an outcome of its own
        if before.contrast_unit != now.contrast_unit:
            yield f"its contrasts are in {now.contrast_unit}, those of the {self.name} in {before.contrast_unit}"
        if before.lost_words != now.lost_words:
            yield f"lost words of its groups: {before.lost_words} in the {self.name}, {now.lost_words} now"
        if before.words_hash != now.words_hash:
            yield (
                f"its words have other forms than in the {self.name} (case, prefix, suffix), or other sentences "
                "(templates, contexts, layer), or others of them have no vector of their own"
            )
        if before.interval_includes != now.interval_includes:
            yield (
                f"besides the choice of independent words its interval includes {now.interval_includes or 'nothing'}, "
                f"{before.interval_includes or 'nothing'} in the {self.name}. Random words of a vocabulary show the "
                "dependence of words, and errors over contexts the choice of sentences: give vectors that have both as "
                f"those of the {self.name} do"
            )

    def not_asked(self, now: "PlanRecord") -> tuple[str, ...]:
        """Return the questions of this plan that a later one does not ask, with the model where there are several."""
        several = len({model for _, _, model in self.questions}) > 1
        return tuple(
            f"{study}{f' in {embedding}' if embedding else ''}{f' ({model})' if several else ''}"
            for embedding, study, model in self.questions
            if (embedding, study, model) not in now.questions
        )


def _details(changes: tuple[str, ...]) -> str:
    return f": {name_some(changes, _MOST_NAMED)}" if changes else ""
