"""Frozen plans and their files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, BayesBiasError, OutputError, ReportError
from bayesbias.reports.plans import frozen_plan as module
from bayesbias.reports.plans.frozen_plan import FrozenPlan
from bayesbias.reports.plans.record import study_hash

HOSTILE = 'a "b" \\ #]\x7f'


def pets(**changes: Any) -> bb.Study:
    fields: dict[str, Any] = {
        "name": "pets",
        "protected": {"cats": ["cat", "tom"], "dogs": ["dog"]},
        "attributes": {"quiet": ["purr", "nap"], "loud": ["bark"]},
        "associated": [("cats", "quiet"), ("dogs", "loud")],
        "human": "none",
        "neutral": ["chair"],
        "questions": {"own": [("cats", "quiet"), ("dogs", "quiet")]},
        "factors": {"size": {"small": ["cats"], "large": ["dogs"]}},
    }
    return bb.Study(**(fields | changes))


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    return bb.reports.write_plan(bb.audits.freeze_plan(pets(), rope=(-0.01, 0.02)), tmp_path / "plan.toml")


def test_a_plan_is_read_as_it_was_written(plan_file: Path) -> None:
    plan, again = bb.audits.freeze_plan(pets(), rope=(-0.01, 0.02)), bb.reports.read_plan(plan_file)
    assert again.record == plan.record
    assert (again.to_dict(), again.edits, again.name) == (plan.to_dict(), (), "plan.toml")
    assert again.studies["pets"] == pets()
    assert again.models["multivariate"].digest == bb.load_model("multivariate").digest


@pytest.mark.parametrize("rope", [{"nats": 0.1}, {"standardised": (-0.2, 0.3)}])
def test_a_region_keeps_its_unit(rope: dict[str, Any], tmp_path: Path) -> None:
    plan = bb.audits.freeze_plan(pets(), rope=rope)
    again = bb.reports.read_plan(bb.reports.write_plan(plan, tmp_path / "plan.toml"))
    assert again.record.region == plan.record.region
    assert again.edits == ()


def test_a_study_is_hashed_once_for_all_its_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 questions about 40,000 words took 26 s."""
    plan = bb.audits.freeze_plan(pets())
    (question,) = plan.record.questions.values()
    questions = {(f"embedding {number}", "pets", "multivariate"): question for number in range(3)}
    path = bb.reports.write_plan(replace(plan, record=replace(plan.record, questions=questions)), tmp_path / "p.toml")
    hashed = []
    monkeypatch.setattr(module, "study_hash", lambda study: hashed.append(study.name) or study_hash(study))
    assert bb.reports.read_plan(path).edits == ()
    assert hashed == ["pets"]


def test_its_first_lines_say_that_it_can_be_edited(plan_file: Path) -> None:
    head = [line for line in plan_file.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    assert "Anyone can edit this file: neither its date nor its checksum proves" in " ".join(head)


def test_any_word_can_be_planned(tmp_path: Path) -> None:
    study = pets(name="pets [1].x", neutral=[HOSTILE])
    path = bb.reports.write_plan(bb.audits.freeze_plan(study), tmp_path / "plan.toml")
    plan = bb.reports.read_plan(path)
    assert (plan.studies["pets [1].x"].neutral, plan.edits) == ((HOSTILE,), ())


def test_comments_and_the_order_of_keys_are_no_edit(plan_file: Path) -> None:
    text = plan_file.read_text(encoding="utf-8")
    date = next(line for line in text.splitlines() if line.startswith("date"))
    moved = text.replace(f"{date}\n", "").replace("hdi_prob", f"# a comment\n{date}\nhdi_prob", 1)
    plan_file.write_text(moved, encoding="utf-8")
    assert bb.reports.read_plan(plan_file).edits == ()


@pytest.mark.parametrize(
    ("old", "new", "edits"),
    [
        ('"tom"', '"kitten"', ["checksum", "word lists of 'pets'"]),
        ("    -0.01,\n    0.02,", "    -0.5,\n    0.5,", ["checksum"]),
        ("date = ", 'date = "2001-01-01" #', ["checksum"]),
        ("Exponential(rate=10)", "Exponential(rate=1)", ["checksum", "model 'multivariate'"]),
        ("words_per_list = 1", "words_per_list = 40", ["checksum", "sizes of 'pets'"]),
    ],
)
def test_an_edit_is_said(plan_file: Path, old: str, new: str, edits: list[str]) -> None:
    text = plan_file.read_text(encoding="utf-8")
    assert old in text
    plan_file.write_text(text.replace(old, new), encoding="utf-8")
    plan = bb.reports.read_plan(plan_file)
    assert len(plan.edits) == len(edits)
    assert all(fact in edit for fact, edit in zip(edits, plan.edits, strict=True))


@pytest.mark.parametrize(
    ("old", "new", "fact"),
    [
        ("schema_version = 1", "schema_version = 0", "schema_version 0, and this version of the package reads 1"),
        ("schema_version = 1", "schema_version = [1]", "schema_version"),
        ("schema_version = 1\n", "", "is no frozen plan"),
        ("hdi_prob = 0.89", "hdi_prob = 89.0", "hdi_prob must be a probability"),
        ("    -0.01,\n    0.02,", "    0.02,\n    -0.01,", "low below high"),
        ("    -0.01,\n", "", "two numbers"),
        ('study = "pets"', 'study = "dogs"', "names the study 'dogs', which the plan lacks"),
        ('"overall",', '"all",', "levels: 'all' is none of"),
        ("\ndate", "\ndat", "Unknown key 'dat'"),
        ('"bark"', '"purr"', "'purr' is in"),
        ("pooling", "pool", "pool"),
        ("[[questions]]", "[questions]", "questions must be a list"),
    ],
)
def test_what_is_no_plan_is_refused(plan_file: Path, old: str, new: str, fact: str) -> None:
    text = plan_file.read_text(encoding="utf-8")
    assert old in text
    plan_file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BayesBiasError) as refused:
        bb.reports.read_plan(plan_file)
    assert fact in str(refused.value)


def test_a_study_is_no_frozen_plan() -> None:
    with pytest.raises(ReportError, match="no frozen plan"):
        bb.reports.read_plan(bb.bundled("data", "studies", "weat7.toml"))


def test_outputs_are_checked(plan_file: Path) -> None:
    plan = bb.reports.read_plan(plan_file)
    with pytest.raises(OutputError, match="exists"):
        bb.reports.write_plan(plan, plan_file)
    with pytest.raises(OutputError, match=r"\.toml"):
        bb.reports.write_plan(plan, plan_file.with_suffix(".json"), overwrite=True)
    with pytest.raises(ArgumentError, match="freeze_plan"):
        bb.reports.write_plan("plan.toml", plan_file)  # type: ignore[arg-type]


def test_a_plan_shows_its_facts(plan_file: Path) -> None:
    plan = bb.reports.read_plan(plan_file)
    assert isinstance(plan, FrozenPlan)
    assert "pets" in plan._repr_html_()
    assert "rope='-0.01 to 0.02 in units of cosine distance'" in repr(plan)
