"""Which numbers of a report were planned, which are exploratory, and what was changed since the plan was frozen."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias.base.number_text import counted, percent_text, probability_text, quoted_name
from bayesbias.base.statements import Statement, StatementList
from bayesbias.errors import ReportError, name_some, worded
from bayesbias.reports.plans.frozen_plan import NO_DATE, FrozenPlan, decision_rule, planned_sizes
from bayesbias.reports.plans.record import PlanRecord, Question

if TYPE_CHECKING:
    import pandas as pd

PLANNED, CHANGED, EXPLORATORY = "planned", "changed since", "exploratory"
"""Marks of numbers beside a frozen plan."""
MARK = "planned"
"""Column of tables that has the mark."""
SECTION = "Planned or exploratory"
LEVEL_TEXTS = {"overall": "all words", "protected_group": "each protected group", "word": "each protected word"}
"""Levels of contrasts, in words."""


@dataclass(frozen=True, eq=False)
class PlannedNumbers:
    """A report beside a frozen plan.

    - `plan`: the frozen plan.
    - `now`: the record of what the report asks.
    - `settings`: settings of the report by the names that the plan has for them.
    - `by_hand`: how the model of the report was changed by hand, or an empty text.
    - `lost`: words of the study's groups and lists that the vectors lack, by question.
    - `dropped`: repeated rows that were dropped before the fit, with which a word can be gone.
    """

    plan: FrozenPlan
    now: PlanRecord
    settings: Mapping[str, str]
    by_hand: str = ""
    lost: Mapping[Question, int] = field(default_factory=dict)
    dropped: int = 0

    def __post_init__(self) -> None:
        planned, present = set(self.plan.studies), {study for _, study, _ in self.now.questions}
        if not planned & present:
            raise ReportError(
                f"The frozen plan {self._name} is about {name_some(map(quoted_name, planned))}, and the result about "
                f"{name_some(map(quoted_name, present))}. Give the plan of this study"
                f"{worded('', ', or leave --frozen-plan out')}."
            )

    @property
    def _name(self) -> str:
        return self.plan.name or "that was given"

    def planned_question(self, question: Question) -> Question | None:
        """Return the question of the plan that a question of the report is, if the plan has it; any model is one."""
        embedding, study, model = question
        planned = self.plan.record.questions
        if key := next((key for key in ((embedding, study, model), ("", study, model)) if key in planned), None):
            return key
        return next((key for key in planned if key[1] == study and key[0] in ("", embedding)), None)

    @cached_property
    def changed_rules(self) -> tuple[str, ...]:
        """What changed for all questions: region, interval, rule and settings."""
        record = self.plan.record
        changes = list(record.changed_rule(self.now))
        rule = decision_rule(self.now.region)
        if record.region == self.now.region and self.plan.rule != rule:
            changes.append(f"the rule of decision: {self.plan.rule!r} in the plan, {rule!r} now")
        changes += [
            f"{name.lower()}: {text} in the plan, {now} now"
            for name, text in self.plan.settings.items()
            if (now := self.settings.get(name, text)) != text
        ]
        if self.by_hand:
            changes.append(f"the model was changed by hand: {self.by_hand}")
        return tuple(changes)

    @cached_property
    def changed_questions(self) -> dict[Question, tuple[str, ...]]:
        """What changed in the lists and the model of each question of the report that the plan has."""
        record = self.plan.record
        return {
            question: tuple(record.changes_of(record.questions[key], facts))
            for question, facts in self.now.questions.items()
            if (key := self.planned_question(question))
        }

    def mark(self, question: Question, *, measure: str = "contrast", contrast: str = "", level: str = "") -> str:
        """Return the mark of a number: planned, changed since, or exploratory.

        A contrast without a name is planned with its question, as an answer to a study's own question is.
        """
        is_planned = question in self.changed_questions and measure in self.plan.measures
        if contrast:
            is_planned = is_planned and contrast in self.plan.contrasts and level in self.plan.levels
        if not is_planned:
            return EXPLORATORY
        return CHANGED if self.changed_rules or self.changed_questions[question] else PLANNED

    def sentence(self, mark: str) -> str:
        """Return what follows a number that has a mark."""
        return {
            PLANNED: "This number was planned.",
            CHANGED: "This number was planned, and the plan was changed since.",
            EXPLORATORY: "This number is exploratory: the plan does not name it.",
        }[mark]

    def marked(self, frame: "pd.DataFrame", question: Question) -> "pd.DataFrame":
        """Return the contrasts of a fit with their marks."""
        marks = [
            self.mark(question, contrast=contrast, level="word" if word else "protected_group" if group else "overall")
            for contrast, group, word in zip(
                frame["contrast"], frame["protected_group"], frame["protected_word"], strict=True
            )
        ]
        return frame.assign(**{MARK: marks})

    @property
    def part(self) -> StatementList:
        """What was planned, what was changed since, and what is exploratory."""
        return StatementList(SECTION, tuple(self._statements()))

    def _statements(self) -> Iterator[Statement]:
        plan = self.plan
        if plan.edits:
            yield Statement(
                "edited plan",
                f"The plan {self._name} was edited after it was frozen: {'; '.join(plan.edits)}. It is compared as it "
                "is now, and proves nothing of what was planned before.",
                {"edits": list(plan.edits)},
            )
        yield from self._planned()
        if changes := tuple(self._changes()):
            yield from (Statement("change", f"Changed since: {text}.") for text in changes)
            if self.dropped:
                yield Statement(
                    "dropped rows",
                    f"{counted(self.dropped, 'repeated row was', 'repeated rows were')} dropped before the fit: a word "
                    "whose vector another word has too can be gone for this reason, and not because it was removed.",
                )
        elif self.changed_questions:
            yield Statement(
                "no change",
                "Nothing was changed since: lists, model, priors, region, interval and rule are those of the plan.",
            )
        yield from self._unplanned()
        yield from self._sizes()
        if plan.power:
            yield Statement("power", power_text(plan.power), plan.power)
        yield Statement("plan", f"The plan {self._name} was frozen on {plan.date} by {plan.package}. {NO_DATE}")

    def _planned(self) -> Iterator[Statement]:
        plan = self.plan
        parts = []
        if plan.contrasts:
            levels = " and of ".join(LEVEL_TEXTS[level] for level in plan.levels)
            parts.append(f"{name_some(plan.contrasts)} of {levels}")
        if questions := [name for study in plan.studies.values() for name in study.questions]:
            parts.append(f"the question{'s' * (len(questions) > 1)} {name_some(map(quoted_name, questions))}")
        if any(study.factors for study in plan.studies.values()):
            parts.append("the effects of the factors")
        if others := [name for name in plan.measures if name != "contrast"]:
            parts.append(f"the measure{'s' * (len(others) > 1)} {name_some(others)}")
        yield Statement("planned", f"Planned: {'; '.join(parts)}.")

    def _unplanned(self) -> Iterator[Statement]:
        """Yield what the plan does not have, and what it has and the report does not ask."""
        if outside := [question for question in self.now.questions if question not in self.changed_questions]:
            named = name_some([f"{study} in {embedding}" for embedding, study, _ in outside])
            yield Statement("not in the plan", f"The plan does not have {named}: all these numbers are exploratory.")
        yield Statement(
            "exploratory",
            "Exploratory: all other numbers, such as mean distances and the checks of the model. The plan does not "
            "name them: the more of them a reader looks at, the more are settled by chance.",
        )
        planned = self.plan.record.questions
        matched = {key for question in self.now.questions if (key := self.planned_question(question))}
        present = PlanRecord(None, self.now.hdi_prob, {key: planned[key] for key in matched})
        if len(self.now.questions) > 1 and (missing := self.plan.record.not_asked(present)):
            yield Statement(
                "not asked", f"Planned and not asked: {name_some(missing, 20)}.", {"missing": list(missing)}
            )

    def _changes(self) -> Iterator[str]:
        yield from self.changed_rules
        for (embedding, study, _), changes in self.changed_questions.items():
            yield from (f"{quoted_name(study)} in {embedding}: {text}" for text in changes)

    def _sizes(self) -> Iterator[Statement]:
        """Yield the planned sizes, and how many words the vectors lack."""
        for name, study in self.plan.studies.items():
            protected, attributes = planned_sizes(study).values()
            lost = sum(count for question, count in self.lost.items() if question[1] == name)
            if any(question[1] == name for question in self.now.questions):
                yield Statement(
                    "sizes",
                    f"Planned sizes of {quoted_name(name)}: at least {counted(protected, 'protected word')} in a group "
                    f"and {counted(attributes, 'attribute word')} in a list"
                    f"{f', of which the vectors lack {lost:,}' if lost else ''}.",
                    {"protected_words": protected, "attribute_words": attributes, "lost_words": lost},
                )


def power_text(power: Mapping[str, Any]) -> str:
    """Return what the planned sizes were expected to show, as a sentence."""
    often = f"{percent_text(power['share_narrower'])} of {power['simulated_studies']:,} simulated studies"
    text = (
        f"Planned power, simulated from {power['source']}: with {power['protected_words_per_group']} protected words a "
        f"group and {power['attribute_words_per_list']} attribute words a list, the interval of {power['contrast']} is "
        f"narrower than {power['width']:g} in {often}"
    )
    if "power" in power:
        error = probability_text(power["power_mcse"])
        text += (
            f", and detects a true contrast of {power['true_contrast']:g} in {percent_text(power['power'])} (Monte "
            f"Carlo error {error})"
        )
    return f"{text}."
