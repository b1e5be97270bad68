"""A plan fixed before the data are seen, and its file: lists, model, region, contrasts of interest, sizes and power."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Required, TypedDict

from bayesbias.base.checks import check_type
from bayesbias.base.files.inputs import read_toml
from bayesbias.base.files.outputs import write_text
from bayesbias.base.files.settings import toml_faults
from bayesbias.base.number_text import quoted_name
from bayesbias.base.results import VERDICTS
from bayesbias.base.statements import Described, Facts
from bayesbias.errors import OutputError, ReportError, raise_faults, worded
from bayesbias.models.spec import ModelSpec, model_of_document
from bayesbias.reports.plans.record import (
    STANDARDISED,
    AskedQuestion,
    PlanRecord,
    Question,
    Region,
    check_region,
    study_hash,
)
from bayesbias.studies.faults import CONTROLS, plain_factors
from bayesbias.studies.study import Study, study_of_document
from bayesbias.tables.measures import COSINE_DISTANCE

SCHEMA_VERSION = 1
"""Version of the file of a frozen plan, increased when a key changes its meaning or is removed."""
LEVELS = ("overall", "protected_group", "word")
"""Levels of contrasts that a plan can name, from all words to single words."""
NO_DATE = (
    "Anyone can edit this file: neither its date nor its checksum proves when the plan was made, or by whom. A "
    "registry such as OSF can."
)
_HEAD = """\
# A plan frozen by `bayesbias plan freeze`. {no_date}
# `bayesbias report FIT --frozen-plan FILE` and `bayesbias audit PLAN --frozen-plan FILE` say of each number whether
# this plan has it, and what was changed since.
"""


class _Question(TypedDict, total=False):
    embedding: str
    study: Required[str]
    model: str
    study_hash: Required[str]
    model_hash: str


class _Sizes(TypedDict):
    protected_words_per_group: int
    attribute_words_per_list: int


class _Power(TypedDict, total=False):
    source: Required[str]
    contrast: Required[str]
    width: Required[float]
    true_contrast: float
    protected_words_per_group: Required[int]
    attribute_words_per_list: Required[int]
    mean_width: Required[float]
    mean_width_mcse: Required[float]
    share_narrower: Required[float]
    share_narrower_mcse: Required[float]
    power: float
    power_mcse: float
    simulated_studies: Required[int]
    random_seed: Required[int]


class _PlanFile(TypedDict, total=False):
    schema_version: Required[int]
    date: Required[str]
    package: Required[str]
    checksum: Required[str]
    hdi_prob: Required[float]
    rope: list[float]
    standardised: bool
    rope_unit: str
    rule: Required[str]
    measures: Required[list[str]]
    contrasts: list[str]
    levels: list[str]
    settings: dict[str, str]
    questions: Required[list[_Question]]
    sizes: Required[dict[str, _Sizes]]
    power: _Power
    models: dict[str, dict[str, object]]
    studies: Required[dict[str, dict[str, object]]]


@dataclass(frozen=True, repr=False)
class FrozenPlan(Described):
    """What was planned before the data were seen; `write_plan` writes it, and `report` compares a fit with it.

    Parameters
    ----------
    record
        Region, interval, and the lists and model of each question: the record by which gates are compared too. The
        embedding of a question is empty if the plan is about any vectors.
    date
        Day on which the plan was frozen, such as ``"2026-11-29"``.
    package
        Version of the package that froze it.
    rule
        Rule by which a contrast is decided, in words.
    measures
        Names of the planned measures; ``"contrast"`` is the model's own.
    contrasts, levels
        Contrasts of interest, such as ``"associated - different"``, and the levels at which they are of interest.
    settings
        Planned settings of an audit, such as its case rule, as texts.
    power
        Power of the planned sizes by `required_words`, with what it was simulated from; empty without a pilot.
    edits
        How a file that was read disagrees with its own hashes, as sentences; empty if it does not.
    name
        Name of the file, or an empty text.
    """

    record: PlanRecord
    date: str
    package: str
    rule: str
    measures: tuple[str, ...]
    contrasts: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    power: Mapping[str, Any] = field(default_factory=dict)
    edits: tuple[str, ...] = ()
    name: str = ""

    @property
    def _facts(self) -> Facts:
        return {
            "studies": list(self.studies),
            "models": list(self.models),
            "contrasts": list(self.contrasts),
            "hdi_prob": self.record.hdi_prob,
            "rope": str(self.record.region or "none"),
            "date": self.date,
        }

    @property
    def studies(self) -> dict[str, Study]:
        """The planned studies by name."""
        return {key[1]: question.study for key, question in self.record.questions.items() if question.study}

    @property
    def models(self) -> dict[str, ModelSpec]:
        """The planned models by name; empty for a plan without a model."""
        return {key[2]: question.model for key, question in self.record.questions.items() if question.model}

    @property
    def embeddings(self) -> tuple[str, ...]:
        """Names of the planned embeddings; empty if the plan is about any vectors."""
        return tuple(dict.fromkeys(embedding for embedding, _, _ in self.record.questions if embedding))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain Python, as its file has it, with its checksum."""
        region = self.record.region
        content: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "date": self.date,
            "package": self.package,
            "hdi_prob": self.record.hdi_prob,
            "rope": [] if region is None else [region.low, region.high],
            "standardised": region is not None and region.standardised,
            "rope_unit": "" if region is None or region.unit == COSINE_DISTANCE.name else region.unit,
            "rule": self.rule,
            "measures": list(self.measures),
            "contrasts": list(self.contrasts),
            "levels": list(self.levels),
            "settings": dict(self.settings),
            "questions": [
                dict(zip(("embedding", "study", "model"), key, strict=True))
                | {"study_hash": question.study_hash, "model_hash": question.model_hash}
                for key, question in self.record.questions.items()
            ],
            "sizes": {name: planned_sizes(study) for name, study in self.studies.items()},
            "power": dict(self.power),
            "models": {
                name: {
                    "switches": dict(spec.switches),
                    "priors": {key: str(prior) for key, prior in spec.priors.items()},
                }
                for name, spec in self.models.items()
            },
            "studies": {name: _study_document(study) for name, study in self.studies.items()},
        }
        content = _without_empty(content)
        return {"checksum": _checksum(content)} | content


def decision_rule(region: Region | None) -> str:
    """Return in words how a contrast is decided, with a region of practical equivalence or without one."""
    rule = f"A contrast is settled if {VERDICTS['settled']}."
    if region is None:
        return rule
    return (
        f"{rule} With a region of practical equivalence, a contrast is too small to matter if its whole interval lies "
        "inside the region, and matters if its whole interval lies outside."
    )


def planned_sizes(study: Study) -> dict[str, int]:
    """Return the numbers of words of the smallest protected group and of the smallest attribute list of a study.

    >>> planned_sizes(bb.load_study("weat7"))
    {'protected_words_per_group': 8, 'attribute_words_per_list': 8}
    """
    return {
        "protected_words_per_group": min(map(len, study.protected.values())),
        "attribute_words_per_list": min(map(len, study.attributes.values())),
    }


def write_plan(plan: FrozenPlan, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a frozen plan to a TOML file, completely or not at all.

    Parameters
    ----------
    plan
        Plan that `freeze_plan` returned.
    path
        Path of the file, ending in ``.toml``.
    overwrite
        Whether an existing file may be replaced.

    Returns
    -------
    pathlib.Path
        The file. Its first lines say that it can be edited, so that its date is no proof.

    Raises
    ------
    ArgumentError
        If `plan` is not a frozen plan.
    OutputError
        If the path has another ending, exists or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> plan = bb.audits.freeze_plan("weat7", rope=0.02)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = bb.reports.write_plan(plan, f"{folder}/plan.toml")
    ...     bb.reports.read_plan(path).record == plan.record
    True
    """
    import tomli_w

    check_type("plan", plan, FrozenPlan, "what bb.audits.freeze_plan returned")
    if Path(path).suffix != ".toml":
        raise OutputError(f"{path}: a frozen plan is a .toml file. Give it that ending.")
    write_text(path, f"{_HEAD.format(no_date=NO_DATE)}{tomli_w.dumps(plan.to_dict())}", overwrite=overwrite)
    return Path(path)


def read_plan(path: str | os.PathLike[str]) -> FrozenPlan:
    """Return the frozen plan of a TOML file.

    A plan whose hashes do not fit its content was edited. It is read, and its `edits` say so.

    Parameters
    ----------
    path
        File that `write_plan` wrote.

    Raises
    ------
    InputFileError
        If the file cannot be read.
    ReportError, StudyError, ModelError
        If the file is not a frozen plan, or one of another form, or its content has faults; all of a part are listed.

    Examples
    --------
    >>> bb.reports.read_plan(bb.bundled("data", "studies", "weat7.toml"))
    Traceback (most recent call last):
        ...
    bayesbias.errors.ReportError: ...weat7.toml is no frozen plan...
    """
    content = read_toml(path, ReportError)
    freeze = worded("bb.audits.freeze_plan and bb.reports.write_plan make one", "`bayesbias plan freeze` writes one")
    version = content.get("schema_version")
    if version is None or not {"questions", "studies"} <= content.keys():
        raise ReportError(f"{path} is no frozen plan, which has schema_version, questions and studies. {freeze}.")
    if version != SCHEMA_VERSION:
        raise ReportError(
            f"The frozen plan {path} has schema_version {version!r}, and this version of the package reads "
            f"{SCHEMA_VERSION}. Compare with the version that froze it ({content.get('package', 'not named')})."
        )
    raise_faults(ReportError, f"The frozen plan {path}", toml_faults(content, _PlanFile))
    raise_faults(ReportError, f"The frozen plan {path}", _faults(content))
    record, edits = _record(content, path)
    checksum = content.pop("checksum")
    if checksum != _checksum(content):
        edits.insert(0, "its checksum is not that of its content")
    return FrozenPlan(
        record=record,
        **{name: content[name] for name in ("date", "package", "rule")},
        measures=tuple(content["measures"]),
        contrasts=tuple(content.get("contrasts", ())),
        levels=tuple(content.get("levels", ())),
        settings=content.get("settings", {}),
        power=content.get("power", {}),
        edits=tuple(edits),
        name=Path(path).name,
    )


def checked_plan(frozen_plan: Any) -> FrozenPlan | None:
    """Return a frozen plan, read from its file if a path is given, or None."""
    if frozen_plan is None or isinstance(frozen_plan, FrozenPlan):
        return frozen_plan
    check_type(
        "frozen_plan", frozen_plan, (str, os.PathLike), "a plan of bb.audits.freeze_plan, or the path of its file"
    )
    return read_plan(frozen_plan)


def _faults(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the values of a plan whose types are right."""
    for number, question in enumerate(content["questions"], start=1):
        for kind, sections in (("study", content["studies"]), ("model", content.get("models", {}))):
            if (name := question.get(kind)) and name not in sections:
                yield f"questions (item {number}) names the {kind} {name!r}, which the plan lacks."
    for level in content.get("levels", ()):
        if level not in LEVELS:
            yield f"levels: {level!r} is none of {', '.join(LEVELS)}."
    if not 0 < content["hdi_prob"] < 1:
        yield f"hdi_prob must be a probability between 0 and 1, not {content['hdi_prob']:g}."
    ends = content.get("rope", (0, 1))
    if len(ends) != 2 or not ends[0] < ends[1]:
        yield "rope must be two numbers, low below high."


def _record(content: Mapping[str, Any], path: str | os.PathLike[str]) -> tuple[PlanRecord, list[str]]:
    """Return the record of a plan by what it says now, and where its hashes are those of something else."""
    where = f"The frozen plan {path}"
    studies = {
        name: study_of_document({**document, "name": name}, name, f"{where}, study {name!r}")
        for name, document in content["studies"].items()
    }
    models = {
        name: model_of_document({**document, "name": name}, name, f"{where}, model {name!r}")
        for name, document in content.get("models", {}).items()
    }
    hashes = {name: study_hash(study) for name, study in studies.items()}  # not for each of its questions again
    digests = {"": ""} | {name: spec.digest for name, spec in models.items()}
    edits: list[str] = []
    questions: dict[Question, AskedQuestion] = {}
    for entry in content["questions"]:
        study, spec = studies[entry["study"]], models.get(model_name := entry.get("model", ""))
        asked_now = AskedQuestion(hashes[entry["study"]], digests[model_name], study=study, model=spec)
        if entry["study_hash"] != asked_now.study_hash:
            edits.append(f"the word lists of {quoted_name(study.name)} are not those that were hashed")
        if spec is not None and entry.get("model_hash") != asked_now.model_hash:
            edits.append(f"the model {quoted_name(spec.name)} is not the one that was hashed")
        questions[entry.get("embedding", ""), study.name, entry.get("model", "")] = asked_now
    for name, sizes in content["sizes"].items():
        if name in studies and sizes != planned_sizes(studies[name]):
            edits.append(f"the sizes of {quoted_name(name)} are not those of its lists")
    region: Region | None = None
    if "rope" in content:
        low, high = content["rope"]
        low_high = (float(low), float(high))
        unit = STANDARDISED if content.get("standardised", False) else content.get("rope_unit", COSINE_DISTANCE.name)
        region = check_region({unit: low_high})
    record = PlanRecord(region, float(content["hdi_prob"]), questions, name="plan")
    return record, list(dict.fromkeys(edits))


def _study_document(study: Study) -> dict[str, Any]:
    """Return a study as the section of a file, with all its control words."""
    texts = {name: getattr(study, name) for name in ("description", "source", "language")}
    return {
        **texts,
        "associated": [list(pair) for pair in study.associated],
        "protected": {name: list(words) for name, words in study.protected.items()},
        "attributes": {name: list(words) for name, words in study.attributes.items()},
        "controls": {name: list(getattr(study, name)) or "none" for name in CONTROLS},
        "questions": {name: [list(side) for side in sides] for name, sides in study.questions.items()},
        **plain_factors(vars(study)),
    }


def _without_empty(content: Any) -> Any:
    """Return a content without empty texts, lists and sections, which TOML files of this package do not have."""
    if isinstance(content, list):
        return [_without_empty(entry) for entry in content]
    if not isinstance(content, dict):
        return content
    filled = {name: _without_empty(entry) for name, entry in content.items()}
    return {name: entry for name, entry in filled.items() if entry not in ("", [], {})}


def _checksum(content: Mapping[str, Any]) -> str:
    """Return a hash of what a plan says; neither comments nor the order of keys change it."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
