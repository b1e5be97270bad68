"""Plans of two gates: what changed is an outcome of its own, unless the gate is lenient."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesbias as bb
from tests.audits.test_gate import audited

SAME = {"study_hashes": {"a": "one", "b": "one"}, "model_hash": "m"}


def now_of(**record: Any) -> pd.DataFrame:
    return audited({"a": 0.0, "b": 0.0}, **(SAME | record))


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    return bb.write(bb.gate(now_of(), rope=0.02), tmp_path / "old.json")


@pytest.mark.parametrize(
    ("audit", "rope", "fact"),
    [
        (lambda: now_of(), 0.5, "rope: -0.02 to 0.02 in units of cosine distance in the baseline, -0.5 to 0.5"),
        (lambda: now_of(), (-0.02, 1), "-0.02 to 1"),
        (lambda: now_of(hdi_prob=0.5), 0.02, "hdi_prob: 0.89 in the baseline, 0.5 now"),
        (lambda: audited({"a": 0.0}, **SAME), 0.02, "NOT ASKED b in A"),
        (lambda: now_of(study_hashes={"a": "one", "b": "two"}), 0.02, "b in A: its word lists"),
        (lambda: now_of(model_hash="other"), 0.02, "b in A: its model"),
        (
            lambda: now_of(lost_words={("A", "a"): (), ("A", "b"): ("cat",)}),
            0.02,
            "b in A: lost words of its groups: 0 in the baseline, 1 now",
        ),
        (lambda: now_of(words_hashes={("A", "b"): "other"}), 0.02, "b in A: its words have other forms"),
        (lambda: now_of(interval_includes={"A": "dependence of words"}), 0.02, "nothing in the baseline"),
    ],
)
def test_a_changed_plan_is_an_outcome(baseline: Path, audit: Any, rope: Any, fact: str) -> None:
    result = bb.gate(audit(), rope=rope, baseline=baseline)
    assert (result.outcome, result.exit_code) == ("changed plan", 7)
    for text in (str(result), result.junit, result.model_card):
        assert fact in text
    lenient = bb.gate(audit(), rope=rope, baseline=baseline, strict=False)
    assert (lenient.outcome, lenient.exit_code) == ("pass", 0)
    assert fact in str(lenient)


@pytest.mark.parametrize(
    ("size", "mean", "outcome"), [(1000, 0.04, "fail"), (999, 0.04, "fail"), (20, 0.0285, "changed plan")]
)
def test_fewer_draws_than_were_kept_are_another_plan(tmp_path: Path, size: int, mean: float, outcome: str) -> None:
    """With few draws what fails becomes undecided."""
    path = bb.write(bb.gate(now_of(), rope=0.02), tmp_path / "old") / "gate.json"
    frame = audited({"a": 0.0, "b": mean}, **SAME)
    for key, draws in frame.record.draws.items():
        frame.record.draws[key] = draws[:size]
        frame.loc[frame["study"] == key[1], "mean"] = draws[:size].mean()
    result = bb.gate(frame, rope=0.02, baseline=path)
    assert result.outcome == outcome
    assert ("CHANGED b in A: at least 1,000 draws in the baseline" in str(result)) == (size < 1000)


def test_an_embedding_that_cannot_be_read_is_no_other_plan(tmp_path: Path) -> None:
    words = {"words_hashes": {("A", "a"): "one", ("A", "b"): "one"}}
    path = bb.write(bb.gate(now_of(**words), rope=0.02), tmp_path / "old.json")
    unread = audited({"a": 0.0}, {"b": "There is no file."}, **(SAME | {"words_hashes": {("A", "a"): "one"}}))
    result = bb.gate(unread, rope=0.02, baseline=path)
    assert (result.outcome, result.plan_changes) == ("unanswered", ())


def test_the_same_plan_and_a_larger_one_pass(baseline: Path) -> None:
    assert bb.gate(now_of(), rope=0.02, baseline=baseline).exit_code == 0
    larger = audited({"a": 0.0, "b": 0.0, "c": 0.0}, **SAME)
    result = bb.gate(larger, rope=0.02, baseline=baseline)
    assert (result.exit_code, result.plan_changes) == (0, ())


def test_a_fail_is_a_fail_whatever_else_the_plan_asks(baseline: Path) -> None:
    frame = audited({"a": 0.05}, **SAME)
    assert bb.gate(frame, rope=0.02, baseline=baseline).outcome == "fail"
    assert bb.gate(frame, rope=0.02).outcome == "fail"
