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
    assert not bb.gate(with_groups({"women": -0.205, "men": 0.195}), rope=0.02, baseline=path).notes
    (note,) = bb.gate(with_groups({"women": -0.25, "men": 0.2}), rope=0.02, baseline=path).notes
    assert "'women' lies outside" in note
    assert "-0.200 in the baseline" in note


@pytest.mark.parametrize("groups", [5, [5], [{"embedding": "A"}], [{"mean": "x"}]])
def test_groups_of_a_baseline_are_checked(tmp_path: Path, groups: Any) -> None:
    path = bb.write(bb.gate(with_groups({"women": -0.2}), rope=0.02), tmp_path / "old") / "gate.json"
    content = json.loads(path.read_text())
    assert content["groups"][0]["protected_group"] == "women"
    path.write_text(json.dumps(content | {"groups": []}))
    with pytest.raises(ReportError, match="was changed after a gate wrote it"):
        bb.gate(with_groups({}), rope=0.02, baseline=path)
    edited = content | {"groups": groups}
    path.write_text(json.dumps(edited | {"checksum": checksum(edited)}))
    with pytest.raises(ReportError, match="groups must be"):
        bb.gate(with_groups({}), rope=0.02, baseline=path)


@pytest.mark.parametrize(("factor", "named"), [(0.2, True), (0.8, False)])
def test_a_much_narrower_interval_is_named(tmp_path: Path, *, factor: float, named: bool) -> None:
    """As after the direction between the two lists was projected out of the vectors."""
    path = bb.write(bb.gate(audited({"s": -0.05}), rope=0.02), tmp_path / "old") / "gate.json"
    frame = audited({"s": 0.0})
    draws = factor * SPREAD
    frame.record.draws["A", "s", "contrast"][:] = draws
    frame[["mean", "hdi_low", "hdi_high"]] = [draws.mean(), *np.quantile(draws, [0.055, 0.945])]
    result = bb.gate(frame, rope=0.02, baseline=path)
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
    assert not bb.gate(frame, rope={"standardised": 0.7}).notes
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
