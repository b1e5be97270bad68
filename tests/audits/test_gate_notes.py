"""What a gate says of questions that pass: hidden groups, narrow intervals, and vectors of the baseline."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits.audit_frame import AuditFrame
from bayesbias.audits.coherence import Coherence
from bayesbias.audits.gate_files import checksum
from bayesbias.errors import ReportError
from tests.audits.test_gate import SPREAD, audited
from tests.audits.test_ranks import SOUND


def with_groups(groups: Mapping[str, float], mean: float = 0.0) -> pd.DataFrame:
    """An audit of one question, whose groups have these contrasts, with intervals of 0.02."""
    frame = audited({"s": mean})
    rows = [frame]
    for group, value in groups.items():
        numbers = {"mean": value, "hdi_low": value - 0.01, "hdi_high": value + 0.01}
        rows.append(frame.assign(protected_group=group, **numbers))
    made = AuditFrame(pd.concat(rows, ignore_index=True))
    made.record = frame.record
    return made


def test_a_group_outside_the_region_is_named_though_the_mean_passes() -> None:
    result = bb.gate(with_groups({"women": -0.2, "men": 0.2, "others": 0.02}), rope=0.02)
    assert result.outcome == "pass"
    women, men = result.notes
    assert "'women' lies outside -0.020 to +0.020: -0.200 (-0.210 to -0.190)" in women
    assert "'men' lies outside" in men
    assert f"NOTE {women}." in str(result)
    assert women.replace("'", "") in result.model_card.replace("'", "")
    assert not bb.gate(with_groups({"women": -0.2}, 0.05), rope=0.02).notes, "it fails, so that nothing is hidden"
    assert not bb.gate(with_groups({"women": -0.08}), rope=0.1).notes


def test_beside_a_baseline_only_a_group_that_reaches_farther_is_named(tmp_path: Path) -> None:
    path = bb.write(bb.gate(with_groups({"women": -0.2, "men": 0.2}), rope=0.02), tmp_path / "old") / "gate.json"
    assert not bb.gate(with_groups({"women": -0.203, "men": 0.198}), rope=0.02, baseline=path).notes
    (note,) = bb.gate(with_groups({"women": -0.25, "men": 0.2}), rope=0.02, baseline=path).notes
    assert "'women' lies outside" in note
    assert "-0.200 in the baseline" in note


@pytest.mark.parametrize("kind", ["groups", "lists"])
@pytest.mark.parametrize("parts", [5, [5], [{"embedding": "A"}], [{"mean": "x"}]])
def test_groups_and_lists_of_a_baseline_are_checked(tmp_path: Path, kind: str, parts: Any) -> None:
    path = bb.write(bb.gate(with_groups({"women": -0.2}), rope=0.02), tmp_path / "old") / "gate.json"
    content = json.loads(path.read_text())
    assert content["groups"][0]["protected_group"] == "women"
    path.write_text(json.dumps(content | {"groups": []}))
    with pytest.raises(ReportError, match="was changed after a gate wrote it"):
        bb.gate(with_groups({}), rope=0.02, baseline=path)
    edited = content | {kind: parts}
    path.write_text(json.dumps(edited | {"checksum": checksum(edited)}))
    with pytest.raises(ReportError, match=f"{kind} must be"):
        bb.gate(with_groups({}), rope=0.02, baseline=path)


def spread_by(factor: float) -> bb.audits.AuditFrame:
    """Return an audit of a question around 0 whose draws have so many times the usual sd."""
    frame, draws = audited({"s": 0.0}), factor * SPREAD
    frame.record.draws["A", "s", "contrast"][:] = draws
    frame[["mean", "hdi_low", "hdi_high"]] = [draws.mean(), *np.quantile(draws, [0.055, 0.945])]
    return frame


@pytest.mark.parametrize(("factor", "named"), [(0.2, True), (0.8, False)])
def test_a_much_narrower_interval_is_named(tmp_path: Path, *, factor: float, named: bool) -> None:
    """As after the direction between the two lists was projected out of the vectors."""
    path = bb.write(bb.gate(audited({"s": -0.05}), rope=0.02), tmp_path / "old") / "gate.json"
    result = bb.gate(spread_by(factor), rope=0.02, baseline=path)
    assert result.outcome == "pass"
    assert ("s in A: its sd is 0.001, 0.005 in the baseline" in str(result)) == named


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (-0.052, ""),
        (-0.057, "moved from -0.050"),
        (0.0, "in the baseline to"),
        (0.05, "changed its sign"),
        (0.02, "changed its sign"),
    ],
)
def test_a_contrast_that_moved_is_named_wherever_it_went(tmp_path: Path, now: float, said: str) -> None:
    """Somewhat farther out, which the rule allows; into the region, as after an edit of the words; or turned."""
    path = bb.write(bb.gate(audited({"s": -0.05}), rope=0.02), tmp_path / "old") / "gate.json"
    result = bb.gate(audited({"s": now}), rope=0.02, baseline=path)
    assert result.outcome == "pass"
    notes = [note for note in result.notes if "moved from" in note]
    assert bool(notes) == bool(said)
    assert all(said in note and "posterior sd of 0.005" in note for note in notes)


@pytest.mark.parametrize(("coherence", "rope", "named"), [(0.03, 0.02, True), (0.05, 0.02, False)])
def test_a_region_that_is_large_beside_the_coherence_is_named_without_a_baseline(
    tmp_path: Path, *, coherence: float, rope: float, named: bool
) -> None:
    """As in vectors that are mostly noise, whose contrasts are all small."""
    frame = audited({"s": 0.0}, coherences={("A", "s"): Coherence(coherence, coherence, 0.1, 0.0)})
    result = bb.gate(frame, rope=rope)
    assert result.outcome == "pass"
    assert ("passes by a region of 0.7 times the coherence of its lists, 0.030" in str(result)) == named
    assert bool(bb.gate(frame, rope=(-rope, 1)).notes) == named
    assert not bb.gate(frame, rope={"standardised": 0.3}).notes
    assert "by a region of 0.7 times the coherence" in bb.gate(frame, rope={"standardised": 0.7}).notes[0]
    for wide in ((-0.5, 0.02), (-rope, 1)):
        assert bool(bb.gate(frame, rope=wide).notes) == (wide[0] == -0.5 or named), "the end for nearer words counts"
    assert not bb.gate(frame, rope={"standardised": (-0.04, 1)}).notes
    path = bb.write(result, tmp_path / "old") / "gate.json"
    assert not bb.gate(frame, rope=rope, baseline=path).notes


def test_contrasts_of_another_scale_are_compared_in_that_of_the_baseline(tmp_path: Path) -> None:
    """A part that all words share makes contrasts and their intervals smaller by the same factor."""
    rope = {"standardised": 0.4}
    path = bb.write(bb.gate(with_groups({"women": -0.2}), rope=rope), tmp_path / "old") / "gate.json"
    smaller = Coherence(0.2 * SOUND.coherence, SOUND.centred_coherence, 0.8, 0.0)

    def notes(women: float) -> tuple[str, ...]:
        frame = with_groups({"women": women})
        draws = 0.2 * SPREAD
        frame.record.draws["A", "s", "contrast"][:] = draws
        overall = frame["protected_group"] == ""
        frame.loc[overall, ["mean", "hdi_low", "hdi_high"]] = [draws.mean(), *np.quantile(draws, [0.055, 0.945])]
        frame.record = replace(frame.record, coherences={("A", "s"): smaller})
        result = bb.gate(frame, rope=rope, baseline=path)
        assert result.outcome == "pass"
        return result.notes

    assert not notes(-0.04)
    assert "'women' lies outside" in notes(-0.06)[0]


@pytest.mark.parametrize(
    ("women", "men", "said"),
    [
        (-0.024, 0.0, "'women' moved from -0.020 in the baseline to -0.024, by more than 0.6"),
        (-0.023, 0.0, ""),
        (-0.01, 0.0, ""),
        (-0.02, -0.004, "'men' moved from +0.001 in the baseline to -0.004, by more than 0.6"),
    ],
)
def test_a_group_that_moved_farther_or_to_the_other_sign_is_named(
    tmp_path: Path, women: float, men: float, said: str
) -> None:
    """The groups' sd is 0.006: that of an 89 % interval of 0.02."""
    path = bb.write(bb.gate(with_groups({"women": -0.02, "men": 0.001}), rope=0.1), tmp_path / "old") / "gate.json"
    now = {"women": women, "men": men or 0.001}
    notes = bb.gate(with_groups(now), rope=0.1, baseline=path).notes
    assert len(notes) == bool(said)
    assert all(said in note for note in notes)
    assert all(("changed its sign" in note) == (men < 0) for note in notes)
    one = {"women": women}
    assert not bb.gate(with_groups(one), rope=0.1, baseline=path).notes, "a single group is the question itself"


def with_lists(means: Mapping[str, float]) -> pd.DataFrame:
    """An audit of one question with these means of a group beside attribute lists; the sd of the question is 0.005."""
    return audited({"s": 0.0}, list_means={("A", "s"): [("women", name, mean) for name, mean in means.items()]})


def test_lists_of_one_group_that_move_in_opposite_directions_are_named(tmp_path: Path) -> None:
    path = bb.write(bb.gate(with_lists({"kin": -0.01, "work": 0.01}), rope=0.1), tmp_path / "old.json")
    assert json.loads(path.read_text())["lists"][0]["attribute_group"] == "kin"
    assert not bb.gate(with_lists({"kin": -0.016, "work": 0.016}), rope=0.1, baseline=path).notes
    (note,) = bb.gate(with_lists({"kin": -0.016, "work": 0.017}), rope=0.1, baseline=path).notes
    assert "'work' beside 'women', without the means of the two, moved from +0.010 in the baseline to +0.017" in note


def test_questions_that_move_together_are_named_though_each_moved_little(tmp_path: Path) -> None:
    def notes(move: float, count: int) -> tuple[str, ...]:
        before = bb.gate(audited(dict.fromkeys("abcd"[:count], -0.02)), rope=0.1)
        path = bb.write(before, tmp_path / f"{move}{count}.json")
        return bb.gate(audited(dict.fromkeys("abcd"[:count], -0.02 + move)), rope=0.1, baseline=path).notes

    (note,) = notes(-0.003, 3)
    assert "The 3 questions of A moved farther out since the baseline, on average by 0.6 posterior sds" in note
    assert not notes(-0.003, 2)
    assert not notes(-0.001, 4)
    assert not notes(0.003, 4)


def test_a_wider_interval_is_named_though_the_question_passes(tmp_path: Path) -> None:
    path = bb.write(bb.gate(audited({"s": 0.0}), rope=0.1), tmp_path / "old.json")

    def notes(factor: float) -> tuple[str, ...]:
        result = bb.gate(spread_by(factor), rope=0.1, baseline=path)
        assert result.outcome == "pass"
        return result.notes

    assert not notes(1.2)
    assert "its sd is 0.007, 0.005 in the baseline, so that less is shown to be worse" in notes(1.3)[0]


def test_a_larger_coherence_does_not_hide_a_larger_contrast(tmp_path: Path) -> None:
    """In units of coherence the contrast is as it was; in cosine distance it moved by more than its sd of 0.005."""
    rope = {"standardised": 0.45}
    path = bb.write(bb.gate(audited({"s": -0.05}), rope=rope), tmp_path / "old.json")
    above = replace(SOUND, coherence=1.2 * SOUND.coherence)
    result = bb.gate(audited({"s": -0.06}, coherences={("A", "s"): above}), rope=rope, baseline=path)
    assert result.outcome == "pass"
    (note,) = result.notes
    assert "moved from -0.050 in the baseline to -0.060" in note
    assert "Its lists are 1.20 times as coherent" in note
    assert not bb.gate(audited({"s": -0.0545}, coherences={("A", "s"): above}), rope=rope, baseline=path).notes


@pytest.mark.parametrize(("factor", "named"), [(1.0005, True), (1.002, False)])
def test_vectors_whose_coherence_is_that_of_the_baseline_are_named(
    tmp_path: Path, *, factor: float, named: bool
) -> None:
    """As the old vectors with one other control word, or in another precision."""

    def gated(text: str, coherence: Coherence, **rule: Any) -> str:
        facts = {"vectors_hashes": {("A", "s"): text}, "coherences": {("A", "s"): coherence}}
        return str(bb.gate(audited({"s": 0.0}, **facts), rope=0.02, **rule))

    path = tmp_path / "old.json"
    first = audited({"s": 0.0}, vectors_hashes={("A", "s"): "one"})
    bb.write(bb.gate(first, rope=0.02), path)
    text = gated("two", replace(SOUND, centred_coherence=factor * SOUND.centred_coherence), baseline=path)
    assert ("The vectors of A are nearly those of the baseline" in text) == named


@pytest.mark.parametrize(("mean", "outcome"), [(0.0, "pass"), (0.05, "fail"), (0.02, "undecided")])
def test_a_baseline_that_failed_is_named(tmp_path: Path, mean: float, outcome: str) -> None:
    before = bb.gate(audited({"s": mean}), rope=0.02)
    path = bb.write(before, tmp_path / "old.json")
    assert before.outcome == outcome
    notes = bb.gate(audited({"s": mean}), rope=0.02, baseline=path).notes
    assert [note.split(":")[0] for note in notes] == ["The outcome of the baseline itself is fail"] * (mean == 0.05)


def test_a_baseline_that_had_a_baseline_is_named(tmp_path: Path) -> None:
    """Small steps pass one by one if the baseline is replaced at each release."""
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    bb.write(bb.gate(audited({"s": 0.0}), rope=0.02), first)
    result = bb.gate(audited({"s": 0.0}), rope=0.02, baseline=first)
    assert not result.notes
    bb.write(result, second)
    (note,) = bb.gate(audited({"s": 0.0}), rope=0.02, baseline=second).notes
    assert "was itself compared with a baseline, first.json" in note
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(json.loads(second.read_text()) | {"baseline": ""}))
    with pytest.raises(ReportError, match="was changed after a gate wrote it"):
        bb.gate(audited({"s": 0.0}), rope=0.02, baseline=path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
def test_a_chain_that_cannot_have_converged_decides_nothing() -> None:
    lists = {"protected": {"cats": ["cat", "tom"]}, "attributes": {"quiet": ["purr"], "loud": ["bark"]}}
    study = bb.Study(name="cats", **lists, associated=[("cats", "quiet")], human="none", neutral="none")
    vectors = {"cat": [1.0, 0.0], "tom": [0.8, 0.6], "purr": [0.6, 0.8], "bark": [0.0, 1.0]}
    model = bb.load_model("hierarchical", priors={"connection_mean": "StudentT(4, 1, 0.3)"})
    settings: dict[str, Any] = {"draws": 100, "tune": 1, "chains": 1, "random_seed": 1, "progress": False}
    audit = bb.audit({"pets": vectors}, [study], ["contrast"], model=model, **settings)
    assert audit.record is not None
    assert audit.record.unconverged == {("pets", "cats")}
    assert audit["r_hat"].isna().all()


def test_the_same_vectors_are_named_whatever_else_the_plan_asks(tmp_path: Path) -> None:
    """More questions, or another embedding, are another hash of all words in the settings."""

    def gated(means: dict[str, float], hashes: dict[str, str], **rule: Any) -> str:
        vectors = {("A", study): text for study, text in hashes.items()}
        return str(bb.gate(audited(means, vectors_hashes=vectors), rope=0.02, **rule))

    path = tmp_path / "old.json"
    bb.write(bb.gate(audited({"s": 0.0}, vectors_hashes={("A", "s"): "one"}), rope=0.02), path)
    same = "The vectors of A are those of the baseline"
    assert same in gated({"s": 0.0}, {"s": "one"}, baseline=path)
    assert same in gated({"s": 0.0, "t": 0.0}, {"s": "one", "t": "two"}, baseline=path)
    assert same not in gated({"s": 0.0}, {"s": "other"}, baseline=path)
    assert same not in gated({"s": 0.0}, {}, baseline=path)
