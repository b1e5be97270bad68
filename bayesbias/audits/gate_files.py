"""Files of a gate: JUnit XML, Markdown for model cards, and the JSON of an earlier gate as a baseline."""

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.audits.coherence import COHERENCE, Coherence
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import is_count, is_number, is_text
from bayesbias.base.exit_codes import EXIT_CODES, FAIL, FAULT, INCOMPARABLE, MISTAKE, UNANSWERED, UNDECIDED
from bayesbias.base.files.inputs import JSON, parse_json, read_utf8
from bayesbias.base.machine import check_memory
from bayesbias.base.number_text import interval_text, json_text, percent_text, signed_text, visible
from bayesbias.base.results import Contents, Result
from bayesbias.base.statements import Statement, StatementList, markdown_text
from bayesbias.errors import ReportError
from bayesbias.reports.plans.record import AskedQuestion, PlanRecord, Question, Region
from bayesbias.tables.measures import COSINE_DISTANCE, LARGEST

_ELEMENTS = {FAIL: "failure", UNDECIDED: "skipped", UNANSWERED: "error", INCOMPARABLE: "error"}
_QUANTILES = 1000
_MOST_VALUES, _MOST_QUESTIONS = 2_200_000, 2_000  # of a baseline: a question has about a thousand values
_MOST_SETTINGS = 100
KEPT_DRAWS = 1000
"""Largest number of draws of a question in gate.json."""
_LARGEST = 100  # far beyond any difference of cosine distances
_VECTORS, _PACKAGE = "Embeddings", "Package"  # settings
_KEY = ("embedding", "study", "model")
_PARTS = {
    "groups": (("protected_group",), ("mean", "hdi_low", "hdi_high")),
    "lists": (("protected_group", "attribute_group"), ("mean",)),
}
"""Parts of a question that a gate writes beside it: names and numbers."""
type _Numbers = dict[tuple[str, ...], tuple[float, ...]]
SCHEMA_VERSION = 5
"""Version of the JSON of a gate, increased when a key changes its meaning or is removed."""


def junit_xml(questions: Sequence[Mapping[str, Any]], changes: Sequence[str] = (), *, strict: bool = False) -> str:
    """Return JUnit XML with a test case for each question, and one for each change of the plan.

    The latter are errors if the gate is strict, and skipped otherwise.

    >>> print(junit_xml([{"embedding": "A & B", "study": "weat7", "model": "m", "random_seed": 1, "outcome": "fail",
    ...     "reason": "beyond."}]))
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites>
      <testsuite name="bayesbias gate" tests="1" failures="1" errors="0" skipped="0">
        <testcase classname="A &amp; B" name="weat7 (model m, seed 1)">
          <failure message="beyond." />
        </testcase>
      </testsuite>
    </testsuites>
    <BLANKLINE>
    """
    outcomes = [row["outcome"] for row in questions]
    of_changes = "error" if strict else "skipped"
    elements = [*map(_ELEMENTS.get, outcomes), *[of_changes] * len(changes)]
    cases = [
        (row["embedding"], f"{row['study']} (model {row['model']}, seed {row['random_seed']})", row["reason"])
        for row in questions
    ]
    return _junit([*cases, *(("plan", text, text) for text in changes)], elements)


def _junit(cases: Sequence[tuple[str, str, str]], elements: Sequence[str | None]) -> str:
    """Return JUnit XML of cases (class, name, message); a case passes unless it has an element such as ``"error"``."""
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", name="bayesbias gate", tests=str(len(elements)))
    for attribute, tag in {"failures": "failure", "errors": "error", "skipped": "skipped"}.items():
        suite.set(attribute, str(elements.count(tag)))
    for (classname, name, message), element in zip(cases, elements, strict=True):
        case = ElementTree.SubElement(suite, "testcase", classname=visible(classname), name=visible(name))
        if element:
            ElementTree.SubElement(case, element, message=visible(message))
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def model_card(
    questions: Sequence[Mapping[str, Any]], region: str, hdi_prob: float, limits: Sequence[str], differences: str
) -> str:
    """Return the section "Bias, Risks, and Limitations" of a model card (Mitchell et al. 2019), in Markdown.

    `region` and `differences` say in words what is too small, and what contrasts are.
    """
    lines = [
        "## Bias, Risks, and Limitations",
        "",
        f"Associations of word lists, as {differences}, with "
        f"{percent_text(hdi_prob)} highest posterior density intervals. Contrasts inside {region} count as too "
        "small to matter.",
        "",
        "| Embedding | Question | Mean | Interval | Outcome |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    for row in questions:
        numbers = ["", ""]
        if row["outcome"] != UNANSWERED:
            unit = "" if row["contrast_unit"] == COSINE_DISTANCE.name else f" {markdown_text(row['contrast_unit'])}"
            numbers = [f"{signed_text(row['mean'])}{unit}", interval_text(row["hdi_low"], row["hdi_high"])]
        cells = [
            markdown_text(row["embedding"]),
            markdown_text(row["study"]),
            *numbers,
            f"{row['outcome']}: {markdown_text(row['reason'])}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"- {markdown_text(text)}" for text in limits), ""])


def gate_files(
    gate: Callable[[], str], junit: Callable[[], str], card: Callable[[], str]
) -> dict[str, Callable[[Path], object]]:
    """Return functions that write the files of a gate for other tools, from those that return their texts."""
    texts = {"gate.json": gate, "junit.xml": junit, "model_card.md": card}
    return {
        name: lambda path, text=text: path.write_text(text(), encoding="utf-8")  # type: ignore[misc]
        for name, text in texts.items()
    }


@dataclass(frozen=True, eq=False, repr=False)
class GateFailure(Result):
    """A gate that decided nothing: its files replace those of an earlier gate, which no longer holds.

    Parameters
    ----------
    outcome
        ``"fault"`` or ``"mistake"``.
    error
        What ended the gate.
    plan
        Name of the plan.
    """

    outcome: str
    error: str
    plan: str

    @property
    def _statement(self) -> Statement:
        code = EXIT_CODES[self.outcome].code
        text = f"Gate: {self.outcome} (exit code {code}). Nothing was decided: {self.error}"
        return Statement("outcome", text, {"outcome": self.outcome, "exit_code": code})

    def __str__(self) -> str:
        return self._statement.text

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        return (StatementList("", (self._statement,), bulleted=False),)

    @property
    def contents(self) -> Contents:
        """The error as a statement; in a folder also as gate.json, junit.xml and model_card.md."""
        card = f"## Bias, Risks, and Limitations\n\n{markdown_text(str(self))}\n"
        junit = _junit([("gate", self.plan, self.error)], ["error"])
        return Contents(
            title=f"What does the gate {self.plan} say?",
            answer=f"Nothing was decided ({self.outcome}).",
            answers=(self._statement,),
            files=gate_files(lambda: json_text(self.to_dict(), indent=1), lambda: junit, lambda: card),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return schema version, outcome and error, then statements, as plain Python for JSON."""
        facts = {"outcome": self.outcome, "exit_code": EXIT_CODES[self.outcome].code, "error": self.error}
        return {"schema_version": SCHEMA_VERSION, **facts, "questions": []} | super().to_dict()


@dataclass(frozen=True, eq=False)
class Earlier:
    """Answer to a question in a baseline.

    Parameters
    ----------
    mean
        Posterior mean; not a number if the question had no answer.
    draws
        Posterior draws, or quantiles of a Normal distribution with the mean and sd; empty without an answer.
    compared_by
        ``"draws"`` or ``"mean and sd"``.
    coherence
        Coherence of the study's lists.
    vectors_hash
        Hash of the words and vectors that can enter the answer.
    pair_sd, word_sd, mean_number
        Standard deviation of single numbers of the study's pairs, that of the means of single words, and mean of the
        numbers of its table.
    groups
        Protected group -> mean and interval of its contrast.
    lists
        Protected group and attribute list -> mean number, without the means of both.
    """

    mean: float
    draws: Floats
    compared_by: str
    coherence: Coherence
    vectors_hash: str = ""
    pair_sd: float = math.nan
    word_sd: float = math.nan
    mean_number: float = math.nan
    groups: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    lists: Mapping[tuple[str, ...], float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Baseline:
    """Plan and answers of an earlier gate, the checksum of its file, and what it says of its vectors and package.

    `outcome` and `baseline`: its own outcome, and the name of the baseline with which it was itself compared.
    """

    plan: PlanRecord
    answers: Mapping[Question, Earlier]
    checksum: str = ""
    vectors: str = ""
    package: str = ""
    outcome: str = ""
    baseline: str = ""

    def fewer_draws(self, counts: Mapping[Question, int]) -> Iterator[str]:
        """Yield a text on each question that has fewer draws now than were kept, so that less is decided."""
        for question, answer in self.answers.items():
            if answer.compared_by == "draws" and 0 < counts.get(question, 0) < len(answer.draws):
                embedding, study, _ = question
                earlier = f"at least {len(answer.draws):,} draws in the baseline"
                yield f"{study} in {embedding}: {earlier}, {counts[question]:,} now"

    def notes(self, settings: Mapping[str, str]) -> Iterator[str]:
        """Yield what a user should know of a later gate with these settings, beside its outcomes."""
        if self.package != (package := _setting({"settings": settings}, _PACKAGE)):
            yield (
                f"The baseline is of {self.package}, and this gate of {package}: numbers can differ for this reason "
                "alone. Run the gate on the released vectors again"
            )
        if self.outcome in (FAIL, INCOMPARABLE):
            yield (
                f"The outcome of the baseline itself is {self.outcome}: what is no worse passes all the same. Check "
                "whether these vectors were released"
            )
        if self.baseline:
            yield (
                f"The baseline was itself compared with a baseline, {self.baseline}. If it is replaced at each "
                "release, small steps do not add up: keep the same one"
            )


def read_baseline(path: str | os.PathLike[str]) -> Baseline:
    """Return the plan of an earlier gate, and its answers by embedding, study and model.

    An answer that was not comparable is none. Raises `InputFileError` if the file cannot be read. Raises `ReportError`
    if it is not the JSON of a gate, is one of an earlier form, was changed since, or has a question twice, as a gate of
    several seeds has.
    """
    text = read_utf8(path, JSON, ReportError)
    if sum(map(text.count, ",:[{")) > _MOST_VALUES:
        raise ReportError(
            f"The baseline {path} has more than {_MOST_VALUES:,} values, those of about {_MOST_QUESTIONS:,} questions. "
            "Check whether it is the right file, or divide the plan."
        )
    try:
        content = parse_json(text)
    except ValueError as error:
        raise ReportError(
            f"The baseline {path} is not JSON that a gate wrote: {error}. Give the gate.json of an earlier gate."
        ) from error
    version = content.get("schema_version") if isinstance(content, dict) else None
    if version in range(1, SCHEMA_VERSION):
        raise ReportError(
            f"The baseline {path} has an older form, schema_version {version}, which lacks what is compared now. Run "
            f"the gate on the released vectors again, which writes schema_version {SCHEMA_VERSION}."
        )
    if version != SCHEMA_VERSION or not isinstance(content.get("questions"), list):
        raise ReportError(
            f"The baseline {path} is not a result of a gate with schema_version {SCHEMA_VERSION}: give the gate.json "
            "of `bayesbias gate PLAN --output FOLDER`."
        )
    if content.get("outcome") in (FAULT, MISTAKE):
        raise ReportError(f"The baseline {path} is of a gate that decided nothing. Give the gate.json of one that did.")
    if len(content["questions"]) > _MOST_QUESTIONS:
        raise ReportError(f"The baseline {path} has more than {_MOST_QUESTIONS:,} questions. Divide the plan.")
    settings = content.get("settings", {})
    if not (_is_object(settings) and len(settings) <= _MOST_SETTINGS and all(map(is_text, settings.values()))):
        raise ReportError(f"The baseline {path}: settings must be at most {_MOST_SETTINGS} texts.")
    size = 8 * _QUANTILES * len(content["questions"])
    check_memory(size, f"The baseline {path}: its questions", "Check whether it is the right file.")
    if not content["questions"]:
        raise ReportError(f"The baseline {path} has no questions. Give the gate.json of a gate that asked some.")
    own_outcome, own_baseline = (content.get(name, "") for name in ("outcome", "baseline"))
    if not (is_text(own_outcome) and is_text(own_baseline)):
        raise ReportError(f"The baseline {path}: outcome and baseline must be texts.")
    groups, lists = (_parts(content, kind, path) for kind in _PARTS)
    questions: dict[Question, AskedQuestion] = {}
    answers: dict[Question, Earlier] = {}
    for number, question in enumerate(content["questions"], start=1):
        key, question_facts, answer = _answer(question, f"The baseline {path}, question {number}")
        if key in answers:
            raise ReportError(f"The baseline {path} has {', '.join(key)} twice: give a gate of one seed.")
        questions[key] = question_facts
        answers[key] = replace(
            answer,
            vectors_hash=str(question.get("vectors_hash", "")),
            groups={group: numbers for (group,), numbers in groups.get(key, {}).items()},
            lists={part: mean for part, (mean,) in lists.get(key, {}).items()},
        )
    plan = _plan(content, questions, path)
    if content.get("checksum") != checksum(content):
        raise ReportError(
            f"The baseline {path} was changed after a gate wrote it: its checksum is not that of its content. Give the "
            "file as the gate wrote it, or run the gate on the released vectors again."
        )
    texts = content["checksum"], _setting(content, _VECTORS), _setting(content, _PACKAGE)
    return Baseline(plan, answers, *texts, outcome=own_outcome, baseline=own_baseline)


def checksum(content: Mapping[str, Any]) -> str:
    """Return a hash of all that a gate takes from a baseline; neither the order of keys nor the layout changes it."""
    compared = {name: content.get(name) for name in ("rope", "standardised", "hdi_prob", "questions", "settings")}
    compared |= {name: content[name] for name in (*_PARTS, "unit", "outcome", "baseline") if name in content}
    return hashlib.sha256(json.dumps(_floats(compared), sort_keys=True).encode()).hexdigest()[:16]


def _floats(value: Any) -> Any:
    """Return a value of JSON with floats in place of whole numbers: some programs write 1 for 1.0."""
    if isinstance(value, Mapping):
        return {name: _floats(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return value if {*map(type, value)} == {float} else [_floats(part) for part in value]
    return float(value) if type(value) is int else value


def _setting(content: Mapping[str, Any], name: str) -> str:
    """Return a setting of a baseline, or that it is unknown."""
    settings: Any = content.get("settings")
    text: Any = settings.get(name) if _is_object(settings) else None
    return text if is_text(text) else f"unknown {name.lower()}"


def _plan(
    content: Mapping[str, Any], questions: Mapping[Question, AskedQuestion], path: str | os.PathLike[str]
) -> PlanRecord:
    rope, standardised, hdi_prob = (content.get(name) for name in ("rope", "standardised", "hdi_prob"))
    ends: list[float] = rope if isinstance(rope, list) and len(rope) == 2 and all(map(is_number, rope)) else [0, 0]
    prob: Any = hdi_prob if is_number(hdi_prob) else 0
    if not (ends[0] < ends[1] and isinstance(standardised, bool) and 0 < prob < 1):
        raise ReportError(
            f"The baseline {path}: rope must be two numbers, low below high, standardised true or false, and hdi_prob "
            "a probability."
        )
    unit = content.get("unit", COSINE_DISTANCE.name)
    if not is_text(unit):
        raise ReportError(f"The baseline {path}: unit must be a text.")
    return PlanRecord(Region(float(ends[0]), float(ends[1]), standardised, unit), float(prob), questions)


def _answer(question: Any, place: str) -> tuple[Question, AskedQuestion, Earlier]:
    names = ("embedding", "study", "model", "study_hash", "model_hash", "words_hash", "interval_includes")
    texts = [question.get(name) for name in names] if _is_object(question) else []
    if not texts or not all(map(is_text, texts)):
        raise ReportError(f"{place}: {', '.join(names[:-1])} and {names[-1]} must be texts.")
    embedding, study, model, study_hash, model_hash, words_hash, interval_includes = texts
    mean, sd, draws, lost = (question.get(name) for name in ("mean", "sd", "draws", "lost_words"))
    key = embedding, study, model
    if not is_count(lost):
        raise ReportError(f"{place}: lost_words must be a number of words.")
    unit = question.get("contrast_unit", COSINE_DISTANCE.name)
    if not is_text(unit):
        raise ReportError(f"{place}: contrast_unit must be a text.")
    largest = _LARGEST if unit == COSINE_DISTANCE.name else LARGEST
    facts = AskedQuestion(study_hash, model_hash, words_hash, interval_includes, lost, unit)
    coherence = Coherence.read(question)
    if coherence is None:
        raise ReportError(f"{place}: {', '.join(COHERENCE)} must be numbers from -2 to 2, or null.")
    if mean is None or question.get("outcome") == INCOMPARABLE:
        return key, facts, Earlier(math.nan, np.empty(0), "", coherence)
    in_unit = "contrasts of cosine distances" if unit == COSINE_DISTANCE.name else "contrasts"
    if not (_is_contrast(mean, largest) and _is_contrast(sd, largest) and sd > 0):
        raise ReportError(f"{place}: mean and sd must be {in_unit}, the sd above 0.")
    spreads = {name: question.get(name) for name in ("pair_sd", "word_sd", "mean_number")}
    if not all(value is None or _is_contrast(value, LARGEST) for value in spreads.values()):
        raise ReportError(f"{place}: {', '.join(spreads)} must be numbers, or null.")
    pair_sd, word_sd, mean_number = (math.nan if value is None else float(value) for value in spreads.values())
    earlier = Earlier(float(mean), np.empty(0), "draws", coherence, "", pair_sd, word_sd, mean_number)
    if draws is None:
        return key, facts, replace(earlier, draws=mean + sd * _standard_quantiles(), compared_by="mean and sd")
    if not isinstance(draws, list) or not 0 < len(draws) <= KEPT_DRAWS or not {*map(type, draws)} <= {float, int}:
        raise ReportError(f"{place}: draws must be a list of 1 to {KEPT_DRAWS:,} {in_unit}.")
    drawn = np.array(draws, dtype=float)
    if not abs(drawn).max() < largest:
        raise ReportError(f"{place}: draws must be {in_unit}, from -{largest:g} to {largest:g}.")
    return key, facts, replace(earlier, draws=drawn)


def _parts(content: Mapping[str, Any], kind: str, path: str | os.PathLike[str]) -> Mapping[Question, _Numbers]:
    """Return the numbers of groups or lists in a baseline by question; none if a gate wrote none."""
    by_question: dict[Question, _Numbers] = {}
    of_part, of_numbers = _PARTS[kind]
    items = content.get(kind, [])
    for item in items if isinstance(items, list) else [items]:
        part = item if _is_object(item) else {}
        texts: list[Any] = [part.get(name) for name in (*_KEY, *of_part)]
        numbers: list[Any] = [part.get(name) for name in of_numbers]
        if not (all(map(is_text, texts)) and all(_is_contrast(number, LARGEST) for number in numbers)):
            *names, last = *_KEY, *of_part, *of_numbers
            raise ReportError(f"The baseline {path}: {kind} must be objects with {', '.join(names)} and {last}.")
        embedding, study, model, *names = texts
        by_question.setdefault((embedding, study, model), {})[tuple(names)] = tuple(map(float, numbers))
    return by_question


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_contrast(value: Any, largest: float) -> bool:
    return is_number(value) and abs(value) < largest


@cache
def _standard_quantiles() -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri((np.arange(_QUANTILES) + 0.5) / _QUANTILES), dtype=np.float64)


def probability_worse(new: ArrayLike, old: ArrayLike, middle: float = 0.0) -> float:
    """Return the share of pairs of a new and an old draw in which the new one is farther from the middle.

    Ties count half. No random numbers are drawn: all pairs are counted.

    >>> probability_worse([0.1, -0.3], [0.2, 0.0])
    0.75
    """
    distances = np.abs(np.asarray(new, dtype=float) - middle)
    ordered = np.sort(np.abs(np.asarray(old, dtype=float) - middle))
    below, up_to = (np.searchsorted(ordered, distances, side=side) for side in ("left", "right"))
    return float((below + up_to).mean() / 2 / len(ordered))
