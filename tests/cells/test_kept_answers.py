"""Kept answers come back from their files as they were, or not at all."""

import json
import os
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.base.files.inputs import SEAL_SIZE, sealed
from bayesbias.cells.audit_cell import AuditCell, make_cells
from bayesbias.cells.debias_cell import DebiasCell, RequestedScore
from bayesbias.cells.kept_answers import KeptAnswers, check_cells_folder, keep_answers
from bayesbias.errors import InputFileError, NotEnoughMemoryError, OutputError
from bayesbias.workers.cells import Answer
from tests.cells import pets
from tests.reports.debiasing import pets as debias_pets

ANSWER = Answer(
    frames={
        "any frame": pd.DataFrame({
            "text": ["Zoë", "", "b"],
            "number": [0.1 + 0.2, np.nan, -np.inf],
            "count": [3, 2**60, 0],
            "flag": [True, False, True],
            "mixed": [None, "a", 1.5],
        }),
        "draws": pd.DataFrame(np.random.default_rng(1).normal(size=(50, 2)), columns=["a", "b"]),
        "empty": pd.DataFrame(),
    },
    facts={"anything": {"Zoë": [1, 0.1 + 0.2, None, {"a": True}]}},
    warned=[("SamplerWarning", "Sampling with NUTS.")],
)  # fmt: skip


@dataclass(frozen=True)
class AnyCell:
    """A cell of no report."""

    digest: str = "0123456789abcdef"
    source: str = "E"

    def answer(self, source: bb.Embedding) -> Answer:
        return ANSWER

    def accepts(self, answer: Answer) -> bool:
        return True


def test_an_answer_comes_back_whatever_its_columns(tmp_path: Path) -> None:
    store = KeptAnswers(tmp_path)
    assert store.read(AnyCell()) is None
    store.write(AnyCell(), ANSWER)
    again = store.read(AnyCell())
    assert again is not None
    assert (again.facts, again.warned) == (ANSWER.facts, ANSWER.warned)
    assert again.frames.keys() == ANSWER.frames.keys()
    for name, frame in ANSWER.frames.items():
        pd.testing.assert_frame_equal(again.frames[name], frame, check_exact=True, check_column_type=False)
    assert [path.name for path in tmp_path.iterdir()] == ["0123456789abcdef.npz"]


def test_numbers_of_numpy_are_kept_and_objects_are_not(tmp_path: Path) -> None:
    store = KeptAnswers(tmp_path)
    store.write(AnyCell(), Answer({}, {"count": np.int64(3)}, objects={"fit": object()}))
    again = store.read(AnyCell())
    assert again is not None
    assert (again.facts, again.objects) == ({"count": 3}, {})


def test_a_file_that_is_damaged_cut_short_or_of_another_cell_is_no_answer(tmp_path: Path) -> None:
    store = KeptAnswers(tmp_path)
    store.write(AnyCell(), ANSWER)
    path = tmp_path / f"{AnyCell().digest}.npz"
    whole = path.read_bytes()
    for place in range(0, len(whole), 37):
        path.write_bytes(whole[:place])
        assert store.read(AnyCell()) is None
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert store.read(AnyCell()) is None
    (tmp_path / "fedcba.npz").write_bytes(whole)
    assert store.read(AnyCell("fedcba")) is None
    path.write_bytes(whole)
    assert store.read(AnyCell()) is not None


def audit_cell() -> AuditCell:
    settings = {"max_lost": 0.2, "hdi_prob": 0.89, "draws": 25, "tune": 50, "chains": 4}
    model = bb.load_model("hierarchical")
    return make_cells([pets.embedding(1)], [pets.study()], [model], [1], measures=("contrast", "mac"), **settings)[0]


def debias_cell() -> DebiasCell:
    words = bb.debias.DebiasWords("kind", [["she", "he"], ["her", "his"], ["woman", "man"]])
    scores = (RequestedScore("vocabulary_direct_bias", "vocabulary_direct_bias"),)
    settings = {"max_lost": 0.2, "hdi_prob": 0.89, "draws": 25, "random_seed": 1}
    parts = ("E1", "0" * 16, "original", None, words, (pets.study(),), scores)
    return DebiasCell(*parts, **settings)  # type: ignore[arg-type]


CELLS: dict[str, tuple[Any, bb.Embedding]] = {
    "audit": (audit_cell(), pets.embedding(1)),
    "debias": (debias_cell(), debias_pets.embedding()),
}
ANSWERS = {kind: cell.answer(source) for kind, (cell, source) in CELLS.items()}


@pytest.mark.parametrize("kind", CELLS)
def test_the_answers_of_both_reports_come_back(kind: str, tmp_path: Path) -> None:
    cell, answer = CELLS[kind][0], ANSWERS[kind]
    KeptAnswers(tmp_path).write(cell, answer)
    again = KeptAnswers(tmp_path).read(cell)
    assert again is not None
    assert json.dumps(again.facts) == json.dumps(answer.facts)
    for name, frame in answer.frames.items():
        exact = {"check_exact": True, "check_dtype": False, "check_frame_type": False, "check_column_type": False}
        pd.testing.assert_frame_equal(again.frames[name], frame, **exact)


@pytest.mark.parametrize("odd", [5, None, "x", [5], {"a": 1}, [["a", 5]]])
@pytest.mark.parametrize(
    "place",
    [
        *[("digest",), ("warned",), ("frames",), ("facts",), ("facts", "left_out")],
        *[("frames", "rows"), ("frames", "rows", "measure"), ("frames", "rows", "observed")],
    ],
)
def test_a_foreign_audit_file_with_a_right_checksum_is_no_answer(
    place: tuple[str, ...], odd: object, tmp_path: Path
) -> None:
    check_lies(*_written("audit", tmp_path), place, odd)


@pytest.mark.parametrize("odd", [5, None, "x", [5], {"a": 1}, [["a", 5]]])
@pytest.mark.parametrize(
    "place",
    [
        *[("facts", "scores"), ("facts", "scores", "vocabulary_direct_bias")],
        *[("facts", "scores", "vocabulary_direct_bias", name) for name in ("lost_words", "quantities")],
        *[("facts", "doubts"), ("frames", "scores of vocabulary_direct_bias")],
        ("frames", "estimates of vocabulary_direct_bias"),
    ],
)
def test_a_foreign_file_of_a_debiasing_report_with_a_right_checksum_is_no_answer(
    place: tuple[str, ...], odd: object, tmp_path: Path
) -> None:
    check_lies(*_written("debias", tmp_path), place, odd)


def test_content_that_is_no_archive_is_no_answer(tmp_path: Path) -> None:
    cell, path = _written("audit", tmp_path)
    for content in (b"", b"junk", b"PK"):
        path.write_bytes(sealed(content))
        assert KeptAnswers(tmp_path).read(cell) is None


def test_a_damaged_body_under_a_right_checksum_is_no_answer_or_an_answer(tmp_path: Path) -> None:
    cell, path = _written("audit", tmp_path)
    body, rng = path.read_bytes()[:-SEAL_SIZE], np.random.default_rng(1)
    answers = 0
    for _ in range(400):
        damaged = bytearray(body)
        for place in rng.integers(len(body), size=3):
            damaged[place] = rng.integers(256)
        path.write_bytes(sealed(bytes(damaged)))
        answers += KeptAnswers(tmp_path).read(cell) is not None
    assert answers < 200


def test_a_packed_file_is_no_answer(tmp_path: Path) -> None:
    cell, path = _written("audit", tmp_path)
    with np.load(BytesIO(path.read_bytes()[:-SEAL_SIZE])) as arrays:
        contents = dict(arrays)
    packed = BytesIO()
    np.savez_compressed(packed, **contents)
    path.write_bytes(sealed(packed.getvalue()))
    assert KeptAnswers(tmp_path).read(cell) is None


def test_draws_that_are_not_finite_are_no_answer(tmp_path: Path) -> None:
    cell, answer = CELLS["audit"][0], ANSWERS["audit"]
    draws = answer.frames["draws"].copy()
    draws.iloc[3, 0] = np.nan
    KeptAnswers(tmp_path).write(cell, replace(answer, frames={**answer.frames, "draws": draws}))
    assert KeptAnswers(tmp_path).read(cell) is None


@pytest.mark.parametrize("kind", ["audit", "debias"])
def test_rows_that_were_not_asked_for_are_no_answer(kind: str, tmp_path: Path) -> None:
    """Their names, of any length, would stand in figures."""
    cell, answer = CELLS[kind][0], ANSWERS[kind]
    rows = answer.frames["rows"].assign(measure="x" * 100_000)
    KeptAnswers(tmp_path).write(cell, replace(answer, frames={**answer.frames, "rows": rows}))
    assert KeptAnswers(tmp_path).read(cell) is None


def _written(kind: str, folder: Path) -> tuple[Any, Path]:
    cell = CELLS[kind][0]
    KeptAnswers(folder).write(cell, ANSWERS[kind])
    assert KeptAnswers(folder).read(cell) is not None
    return cell, folder / f"{cell.digest}.npz"


def check_lies(cell: Any, path: Path, place: tuple[str, ...], odd: object) -> None:
    """Assert that no answer is read where a part of the content is another thing, or is missing."""
    with np.load(BytesIO(path.read_bytes()[:-SEAL_SIZE])) as arrays:
        contents = dict(arrays)
    for lie in ("odd", "missing", "list"):
        parts = json.loads(contents["parts"].tobytes())
        inside = parts
        for name in place[:-1]:
            inside = inside[name]
        if lie == "odd":
            inside[place[-1]] = odd
        else:
            del inside[place[-1]]
        if lie == "missing" and place[-1] == "observed":
            continue  # its numbers are left over, which the case "odd" covers
        text = np.frombuffer(json.dumps([parts] if lie == "list" else parts).encode(), dtype=np.uint8)
        content = BytesIO()
        np.savez(content, **{**contents, "parts": text})
        path.write_bytes(sealed(content.getvalue()))
        assert KeptAnswers(path.parent).read(cell) is None


def test_a_pipe_among_the_answers_is_no_answer_and_no_seed(tmp_path: Path) -> None:
    """Another process would have to write to it, before it could be read."""
    kept, cell = KeptAnswers(tmp_path), AnyCell()
    os.mkfifo(kept.path(cell))
    os.mkfifo(tmp_path / "seed.txt")
    assert kept.read(cell) is None
    with pytest.raises(InputFileError, match="ordinary file"):
        kept.seed()
    with pytest.raises(OutputError, match="pipe"):
        kept.write(cell, ANSWER)


def test_the_folder_of_answers_is_not_that_of_a_link_that_others_may_have_put_there(tmp_path: Path) -> None:
    shared, private = tmp_path / "shared", tmp_path / "private"
    shared.mkdir()
    private.mkdir()
    (private / "seed.txt").write_text("1")
    for link in (shared / "cells", shared / "out"):
        link.symlink_to(private)
    shared.chmod(0o1777)
    for folder in (shared / "cells", shared / "out" / "cells"):
        with pytest.raises(OutputError, match="is a link"):
            check_cells_folder(folder)
        with pytest.raises(OutputError, match="is a link"), keep_answers(folder):
            pass
    assert [path.name for path in private.iterdir()] == ["seed.txt"]


def test_a_file_larger_than_the_memory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    answers, cell = KeptAnswers(tmp_path), AnyCell()
    with answers.path(cell).open("wb") as stream:
        stream.truncate(1 << 40)  # a hole, which takes no room on a disk
    with pytest.raises(NotEnoughMemoryError, match=rf"^{answers.path(cell)} need about 4,.* GB"):
        answers.read(cell)
