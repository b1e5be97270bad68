"""Documents of JSON and TOML from other people: values that no reader can use are refused by all readers."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bayesbias as bb
from bayesbias.base.files.documents import parse_json, value_fault
from bayesbias.base.files.inputs import parse_toml
from bayesbias.cells.plan import read_audit_plan
from bayesbias.errors import BayesBiasError, StudyError
from bayesbias.metrics.directions.word_scores import load_base_pairs
from bayesbias.reports.audits.baseline import read_baseline
from bayesbias.studies.weathub import load_weathub

# A whole number without decimal digits escapes Python's own limit, and breaks the message that shows it.
_LONG_IN_TOML = (f"0x{'f' * 5000}", f"0b{'1' * 20_000}", str(2**63), "nan", "-inf", "1e400")
_IN_JSON = (str(2**63), f"-{'9' * 5000}", "NaN", "-Infinity", "1e400", '"\\ud800"', f"{'[' * 101}{']' * 101}")
_DEEP = f"{'[' * 100_000}{']' * 100_000}"


def test_what_people_write_is_read() -> None:
    content = {
        "mean": -0.1,
        "words": ["größe", "\u202e", ""],
        "counts": [-(2**63), 2**63 - 1],
        "none": None,
        "on": True,
    }
    assert parse_json(json.dumps(content)) == content
    nested = f"{'[' * 100}{']' * 100}"
    assert json.dumps(parse_json(nested)) == nested


@pytest.mark.parametrize("text", [*_IN_JSON, _DEEP, '{"\\ud800": 1}', "{", ""])
def test_values_of_json_that_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(text)


def test_a_key_that_occurs_twice_is_named() -> None:
    with pytest.raises(ValueError, match="'mean' occurs twice"):
        parse_json('[{"words": {"mean": 1, "sd": 2, "mean": 3}}]')


@pytest.mark.parametrize("value", _LONG_IN_TOML)
def test_values_of_toml_that_are_refused(value: str) -> None:
    with pytest.raises(StudyError, match=r"^s\.toml .* (64 bits|not finite)"):
        parse_toml(f"[a]\nb = [{{c = {value}}}]", "s.toml", StudyError)


def test_sections_are_not_nested_without_end() -> None:
    with pytest.raises(StudyError, match=r"nested|dots"):
        parse_toml(f"[{'a.' * 400}a]", "s.toml", StudyError)
    assert value_fault({"a": math.inf}) == "a number is not finite"


_TOML_READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "study": (bb.load_study, "associated = {}"),
    "model": (bb.load_model, "[priors]\nsigma = {}"),
    "plan": (read_audit_plan, "studies = {}"),
    "test set": (bb.nli.test_set, "premise = {}"),
    "target words": (bb.reliability.load_target_words, "words = {}"),
    "queries": (bb.reliability.load_queries, "queries = {}"),
    "base pairs": (load_base_pairs, "pairs = [{}]"),
    "debiasing words": (bb.debias.load_debias_words, "definitional = {}"),
}


@pytest.mark.parametrize("value", [_LONG_IN_TOML[0], f"[{_LONG_IN_TOML[0]}]", f"'{'a' * 3_000_000}'"])
@pytest.mark.parametrize("kind", _TOML_READERS)
def test_readers_of_toml_name_the_file_and_not_all_of_its_content(tmp_path: Path, kind: str, value: str) -> None:
    read, text = _TOML_READERS[kind]
    path = tmp_path / "hostile.toml"
    path.write_text(text.format(value))
    with pytest.raises(BayesBiasError, match=r"hostile\.toml") as caught:
        read(path)
    assert len(str(caught.value)) < 100_000


def _weathub(path: Path) -> object:
    return load_weathub(path, "de_human", "weat7")


_QUESTION = {"embedding": "E", "study": "s", "model": "m", "study_hash": "h", "lost_words": 0, "estimate": 0.1, "sd": 1}
_LISTS = {name: {"category": name, "examples": [name, "x" + name]} for name in ("targ1", "targ2", "attr1", "attr2")}
_JSON_READERS: dict[str, tuple[Callable[[Path], object], Any]] = {
    "baseline": (read_baseline, {"schema_version": 1, "questions": [_QUESTION], "about": "@"}),
    "WEATHub": (_weathub, {"de_human": {"weat7": _LISTS}, "about": "@"}),
    "labelled pairs": (
        bb.nli.read_pairs,
        {"sentence1": "a", "sentence2": "b", "gold_label": "neutral", "about": "@"},
    ),
}


@pytest.mark.parametrize("value", [*_IN_JSON, '1, "about": 2'])
@pytest.mark.parametrize("kind", _JSON_READERS)
def test_readers_of_json_refuse_it_wherever_it_stands(tmp_path: Path, kind: str, value: str) -> None:
    read, content = _JSON_READERS[kind]
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(content))
    read(path)
    path.write_text(json.dumps(content).replace('"@"', value))
    with pytest.raises(BayesBiasError, match=r"hostile\.json"):
        read(path)
