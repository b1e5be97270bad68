"""JUnit XML and Markdown of outcomes with hostile names, read back by their own parsers."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.stats import norm

from bayesbias.audits.gate_files import (
    SCHEMA_VERSION,
    checksum,
    junit_xml,
    model_card,
    probability_worse,
    read_baseline,
)
from bayesbias.errors import InputFileError, NotEnoughMemoryError, ReportError

HOSTILE = "<b>&\"'\x00\x1b[31m\ud800|`x`\n# y"
ROW = {"embedding": HOSTILE, "study": HOSTILE, "model": "m", "random_seed": 1, "outcome": "fail", "reason": HOSTILE}


def test_xml_is_read_back() -> None:
    case = ElementTree.fromstring(junit_xml([ROW]).encode())[0][0]
    shown = HOSTILE.replace("\x00", r"\x00").replace("\x1b", r"\x1b").replace("\ud800", r"\ud800")
    assert case.get("classname") == case[0].get("message") == shown
    assert str(case.get("name")).startswith(shown)


def test_a_row_of_markdown_stays_a_row() -> None:
    numbers = {"mean": -0.05, "hdi_low": -0.06, "hdi_high": -0.04}
    lines = model_card(
        [ROW | numbers | {"contrast_unit": HOSTILE}], "-0.02 to 0.02", 0.89, ["one"], "contrasts"
    ).splitlines()
    row = lines[6]
    assert row.count("|") - row.count("\\|") == 6
    assert "<b>" not in row
    assert "-0.060 to -0.040" in row
    assert lines[-1] == "- one"


QUESTION = {
    "embedding": "A",
    "study": "s",
    "model": "m",
    "study_hash": "h",
    "model_hash": "h",
    "words_hash": "h",
    "interval_includes": "",
    "mean": 0.1,
    "sd": 0.02,
    "lost_words": 0,
}


def written(folder: Path, *questions: Any, version: Any = SCHEMA_VERSION) -> Path:
    path = folder / "gate.json"
    plan = {"schema_version": version, "rope": [-0.02, 0.02], "standardised": False, "hdi_prob": 0.89}
    content = plan | {"questions": questions}
    path.write_text(json.dumps(content | {"checksum": checksum(content)}), encoding="utf-8")
    return path


def test_the_probability_of_worse_is_that_of_two_normals() -> None:
    """Far from 0, |new| > |old| has the probability of a difference of two Normals, here from scipy."""
    rng = np.random.default_rng(1)
    new, old = rng.normal(1.02, 0.02, 40_000), rng.normal(1.0, 0.01, 1000)
    expected = norm.sf(0, 0.02, np.hypot(0.02, 0.01))
    assert probability_worse(new, old) == pytest.approx(expected, abs=0.015)
    assert probability_worse(-new, old) == probability_worse(new, old)
    assert probability_worse(new + 5, old + 5, 5) == pytest.approx(probability_worse(new, old))
    loop = np.mean([(abs(x) > abs(y)) + (abs(x) == abs(y)) / 2 for x in new[:50] for y in [*old[:20], new[0]]])
    assert probability_worse(new[:50], [*old[:20], new[0]]) == pytest.approx(loop)


def test_the_memory_for_questions_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, *[QUESTION] * 2000)
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 15_000_000)
    with pytest.raises(NotEnoughMemoryError, match="its questions would need"):
        read_baseline(path)


@pytest.mark.parametrize("settings", [{str(number): "a" for number in range(101)}, {"Package": 5}, ["Package"]])
def test_settings_are_a_hundred_texts_at_most(tmp_path: Path, settings: Any) -> None:
    path = written(tmp_path, QUESTION)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"settings": settings}), encoding="utf-8")
    with pytest.raises(ReportError, match="settings must be at most 100 texts"):
        read_baseline(path)


def test_means_and_sds_stand_for_draws(tmp_path: Path) -> None:
    earlier = read_baseline(written(tmp_path, QUESTION)).answers["A", "s", "m"]
    assert earlier.compared_by == "mean and sd"
    assert (earlier.draws.mean(), earlier.draws.std()) == pytest.approx((0.1, 0.02), rel=0.01)
    with_draws = read_baseline(written(tmp_path, QUESTION | {"draws": [0.1, 0.2]})).answers["A", "s", "m"]
    assert (with_draws.compared_by, with_draws.draws.tolist()) == ("draws", [0.1, 0.2])
    unanswered = QUESTION | {"mean": None, "sd": None, "draws": []}
    assert not len(read_baseline(written(tmp_path, unanswered)).answers["A", "s", "m"].draws)


@pytest.mark.parametrize(
    ("questions", "version", "fact"),
    [
        ([QUESTION], SCHEMA_VERSION + 1, "schema_version 5"),
        ([QUESTION], 3, "older form, schema_version 3"),
        ([QUESTION], None, "schema_version 5"),
        ([5], SCHEMA_VERSION, "question 1"),
        ([QUESTION, QUESTION], SCHEMA_VERSION, "A, s, m"),
        ([], SCHEMA_VERSION, "has no questions"),
        ([QUESTION | {"word_sd": "x"}], SCHEMA_VERSION, "word_sd"),
        ([QUESTION | {"sd": 0}], SCHEMA_VERSION, "sd"),
        ([QUESTION | {"sd": True}], SCHEMA_VERSION, "sd"),
        ([QUESTION | {"mean": "0.1"}], SCHEMA_VERSION, "mean"),
        ([QUESTION | {"draws": [1, "2"]}], SCHEMA_VERSION, "draws"),
        ([QUESTION | {"draws": []}], SCHEMA_VERSION, "draws"),
        ([QUESTION | {"study": 5}], SCHEMA_VERSION, "study"),
        ([QUESTION | {"lost_words": "x"}], SCHEMA_VERSION, "lost_words"),
        ([QUESTION | {"mean": 1e308}], SCHEMA_VERSION, "mean"),
        ([QUESTION | {"mean": 10**18}], SCHEMA_VERSION, "mean"),
        ([QUESTION | {"sd": 1e308}], SCHEMA_VERSION, "sd"),
        ([QUESTION | {"draws": [0.1, -1e308]}], SCHEMA_VERSION, "draws"),
        ([QUESTION | {"draws": [0.1] * 1001}], SCHEMA_VERSION, "draws must be a list of 1 to 1,000"),
        ([QUESTION | {"draws": [0.1, True]}], SCHEMA_VERSION, "draws"),
        ([QUESTION] * 2001, SCHEMA_VERSION, "more than 2,000 questions"),
        ([[[]] * 2_200_000], SCHEMA_VERSION, "more than 2,200,000 values"),
    ],
)
def test_what_is_no_baseline(tmp_path: Path, questions: list[Any], version: Any, fact: str) -> None:
    with pytest.raises(ReportError, match=fact):
        read_baseline(written(tmp_path, *questions, version=version))


@pytest.mark.parametrize("change", [{"draws": [0.3]}, {"sd": 50}, {"coherence": None}, {"study_hash": "other"}])
def test_a_baseline_that_was_changed_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    path = written(tmp_path, QUESTION | {"coherence": 0.2, "draws": [0.1, 0.2]})
    content = json.loads(path.read_text())
    content["questions"][0] |= change
    path.write_text(json.dumps(content))
    with pytest.raises(ReportError, match="was changed after a gate wrote it"):
        read_baseline(path)


def test_another_layout_of_a_baseline_is_no_change(tmp_path: Path) -> None:
    path = written(tmp_path, QUESTION | {"draws": [0.1, 1.0]})
    text = json.dumps(json.loads(path.read_text()), indent=7, sort_keys=True).replace("1.0", "1")
    path.write_text(text)
    assert read_baseline(path).answers["A", "s", "m"].draws.tolist() == [0.1, 1.0]


def test_what_was_not_comparable_is_no_answer_to_compare_with(tmp_path: Path) -> None:
    path = written(tmp_path, QUESTION | {"outcome": "not comparable", "draws": [0.1]})
    assert not len(read_baseline(path).answers["A", "s", "m"].draws)


def test_a_number_that_stands_twice_is_refused(tmp_path: Path) -> None:
    """Programs differ in which of the two they read."""
    path = written(tmp_path, QUESTION)
    path.write_text(path.read_text().replace('"sd": 0.02', '"sd": 0.02, "sd": 2'))
    with pytest.raises(ReportError, match="'sd' occurs twice"):
        read_baseline(path)


def test_whole_numbers_are_contrasts_too(tmp_path: Path) -> None:
    (earlier,) = read_baseline(written(tmp_path, QUESTION | {"mean": 1, "sd": 1})).answers.values()
    assert (earlier.mean, earlier.draws.mean()) == pytest.approx((1, 1))


@pytest.mark.parametrize("content", [b"{", b"[" * 100_000, b"\xff", b"5", b'{"schema_version": 4, "questions": 5}'])
def test_hostile_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "gate.json"
    path.write_bytes(content)
    with pytest.raises(ReportError, match=r"gate\.json"):
        read_baseline(path)
    with pytest.raises(InputFileError, match=r"none\.json"):
        read_baseline(tmp_path / "none.json")
