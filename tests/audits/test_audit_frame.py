"""Frames of audits: which rows are those of their draws, and what is no audit."""

import numpy as np
import pandas as pd
import pytest

from bayesbias.audits.audit_frame import AuditFrame, AuditRecord, audit_parts, audit_rows, failed_cells
from bayesbias.errors import ReportError
from tests.audits.test_ranks import audit_of

KEYS = [("A", "s", "weat"), ("A", "t", "weat")]
DRAWS = {key: np.array([0.0, 1.0, 2.0]) + place for place, key in enumerate(KEYS)}


def audit() -> AuditFrame:
    frame = audit_of(dict.fromkeys(KEYS, 0.0), DRAWS)
    assert isinstance(frame, AuditFrame)
    return frame


def several() -> AuditFrame:
    one = audit()
    frame = AuditFrame(pd.concat([one.assign(model=model, random_seed=3) for model in ("crossed", "hierarchical")]))
    records = [AuditRecord(DRAWS, {key[:2]: () for key in KEYS}, {}, 0.89, model, random_seed=3,
                           failed={("A", "u"): f"no {model}"}) for model in ("crossed", "hierarchical")]  # fmt: skip
    frame.record = AuditRecord(**{**vars(records[0]), "others": (records[1],)})
    return frame


def test_selected_rows_keep_their_record() -> None:
    rows, record = audit_rows(audit().sort_values("study", ascending=False).head(1))
    assert rows[["study", "mean"]].to_numpy().tolist() == [["t", 2.0]]
    assert record.draws[KEYS[1]].mean() == 2.0
    assert type(rows) is pd.DataFrame


def test_rows_that_were_changed_are_refused() -> None:
    frame = audit()
    for changed in (frame.assign(mean=5.0), frame.assign(study=["x", "t"]), frame.assign(measure="x")):
        with pytest.raises(ReportError, match=r"A, [sx], (weat|x)"):
            audit_rows(changed)
    for changed in (pd.DataFrame(frame), frame.drop(columns="quantity"), frame.head(0)):
        with pytest.raises(ReportError, match=r"^audit"):
            audit_rows(changed)
    twice = AuditFrame(pd.concat([frame, frame]))
    twice.record = frame.record
    with pytest.raises(ReportError, match=r"^audit"):
        audit_rows(twice)


def test_models_and_seeds_are_parts() -> None:
    frame = several()
    assert [(name, len(rows)) for name, rows in audit_parts(frame)] == [("crossed", 2), ("hierarchical", 2)]
    assert [name for name, _ in audit_parts(audit())] == [""]
    with pytest.raises(ReportError, match="crossed, hierarchical"):
        audit_rows(frame)
    assert audit_rows(frame[frame["model"] == "hierarchical"])[1].model == "hierarchical"
    with pytest.raises(ReportError, match=r"^audit"):
        audit_rows(frame.assign(model="other"))


def test_failures_of_all_models_are_listed() -> None:
    failed = failed_cells(several())
    assert failed[["study", "model", "random_seed", "error"]].to_numpy().tolist() == [
        ["u", "crossed", 3, "no crossed"],
        ["u", "hierarchical", 3, "no hierarchical"],
    ]
    assert failed_cells(audit()).empty
