"""The frame of an audit from answers of its cells: rows, failures, and lost words, of answers written by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesbias.cells.audit_assembly import audit_frame
from bayesbias.cells.audit_cell import AuditCell, make_cells
from bayesbias.errors import BayesBiasWarning, LostWordsWarning, MeasureError, ReportError
from bayesbias.workers.cells import Answer
from tests.cells import pets

SOURCES = {f"E{seed}": pets.embedding(seed) for seed in (1, 2)}
LISTS: dict[tuple[str, str], Any] = {(name, "pets"): [SimpleNamespace(lost=())] for name in SOURCES}


def cells() -> list[AuditCell]:
    settings = {"measures": ("mac",), "max_lost": 0.2, "hdi_prob": 0.89, "draws": 25, "tune": 50, "chains": 4}
    return make_cells(list(SOURCES.values()), [pets.study()], [None], [1], **settings)  # type: ignore[arg-type]


def answer(observed: float | None) -> Answer:
    """Return an answer with a value of MAC, or one that leaves it out."""
    rows = [] if observed is None else [{"measure": "mac", "observed": observed, "estimate": observed}]
    left_out = {"mac": "too few words."} if observed is None else {}
    return Answer({"rows": pd.DataFrame(rows), "draws": pd.DataFrame({"mac": [0.5, 0.7]})}, {"left_out": left_out})


def test_rows_and_draws_are_those_of_the_answers() -> None:
    first, second = cells()
    frame = audit_frame([first, second], {first.digest: answer(0.25), second.digest: answer(0.75)}, {}, SOURCES, LISTS)
    assert frame[["embedding", "study", "observed"]].to_numpy().tolist() == [["E1", "pets", 0.25], ["E2", "pets", 0.75]]
    assert np.array_equal(frame.record.draws["E2", "pets", "mac"], [0.5, 0.7])
    assert frame.record.failed == {}


def test_a_cell_that_failed_is_recorded_and_its_words_that_were_lost() -> None:
    first, second = cells()
    lists = LISTS | {("E1", "pets"): [SimpleNamespace(lost=("cat",)), SimpleNamespace(lost=("dog", "pup"))]}
    with pytest.warns(BayesBiasWarning) as caught:
        frame = audit_frame(
            [first, second], {first.digest: answer(0.25)}, {second.digest: "no memory."}, SOURCES, lists
        )
    assert frame["lost_words"].tolist() == [3]
    assert frame.record.failed == {("E2", "pets"): "no memory."}
    failure, lost = (str(warning.message) for warning in caught)
    assert "1 of 2 questions" in failure
    assert "E2, pets: no memory." in failure
    assert caught[1].category is LostWordsWarning
    assert "In 1 of 1 answered question " in lost
    assert "E2" not in lost, "it has no answer"


def test_without_any_answer_there_is_no_frame() -> None:
    first, second = cells()
    with pytest.raises(ReportError, match=r"None of 2 questions .*no memory"):
        audit_frame([first, second], {}, dict.fromkeys((first.digest, second.digest), "no memory"), SOURCES, LISTS)
    with pytest.raises(MeasureError, match=r"mac of pets .too few words"):
        audit_frame([first, second], dict.fromkeys((first.digest, second.digest), answer(None)), {}, SOURCES, LISTS)
