"""Audits on workers: the same numbers whoever answers, each cell once, and what is too much is refused before."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits.audit_cell import AuditCell, make_cells
from bayesbias.audits.debias_cell import DebiasCell, RequestedScore
from bayesbias.audits.running import KeptAnswers, check_cells_folder, keep_answers
from bayesbias.base.files.inputs import SEAL_SIZE, sealed
from bayesbias.errors import (
    ArgumentError,
    BayesBiasWarning,
    ClusterError,
    InputFileError,
    LostWordsWarning,
    NotEnoughMemoryError,
    OutputError,
    ReportError,
)
from bayesbias.models.samplers.registry import SAMPLERS
from bayesbias.workers import workers
from bayesbias.workers.cells import Answer
from bayesbias.workers.process_workers import process_workers
from tests.audits import debiased_pets as debias_pets
from tests.audits import pets
from tests.refusals import refusals

EMBEDDINGS = [pets.embedding(1), pets.embedding(2)]
THREE = [pets.study(name) for name in ("one", "two", "three")]
GRID = {"models": ["hierarchical", "no_pooling"], "seeds": [1, 2], **pets.SMALL}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cells that are computed, by their hashes."""
    digests: list[str] = []
    answer = AuditCell.answer

    def counting(cell: AuditCell, source: bb.Embedding) -> Answer:
        digests.append(cell.digest)
        return answer(cell, source)

    monkeypatch.setattr(AuditCell, "answer", counting)
    return digests


@pytest.fixture(scope="module")
def threads() -> Iterator[str]:
    """The address of a scheduler whose two workers are threads of this process."""
    from distributed import LocalCluster

    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(protocol="inproc", **options) as cluster:
        yield cluster.scheduler_address


def study(embeddings: object = EMBEDDINGS, **changes: object) -> bb.audits.AuditFrame:
    asked = {"embeddings": embeddings, "studies": pets.study(), "measures": pets.MEASURES}
    arguments = {"workers": None if "scheduler" in changes else 1, **asked, **GRID, **changes}
    return bb.audit(**arguments)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def whole() -> bb.audits.AuditFrame:
    return study()


def test_each_model_and_seed_is_the_audit_of_it_alone(whole: bb.audits.AuditFrame) -> None:
    frame = whole
    assert len(frame) == 2 * 2 * 2 * 5
    for model in GRID["models"]:
        for seed in (1, 2):
            alone = bb.audit(EMBEDDINGS, pets.study(), pets.MEASURES, model=model, random_seed=seed, **pets.SMALL)
            part = frame[(frame["model"] == model) & (frame["random_seed"] == seed)].reset_index(drop=True)
            pd.testing.assert_frame_equal(pd.DataFrame(part), pd.DataFrame(alone), check_exact=True)
            assert bb.audits.rank(part).ranks.equals(bb.audits.rank(alone).ranks)
    with pytest.raises(ReportError, match=r"hierarchical.* seed 1"):
        bb.audits.rank(frame)
    with pytest.raises(ReportError, match=r"models .*seeds"):
        bb.audits.rank(frame[frame["random_seed"] == 1].assign(model="other"))


def test_numbers_depend_on_no_worker_and_no_order(threads: str, whole: bb.audits.AuditFrame) -> None:
    assert study(scheduler=threads).to_csv() == whole.to_csv()
    turned = study(EMBEDDINGS[::-1], models=GRID["models"][::-1], seeds=[2, 1])
    by = ["embedding", "model", "random_seed", "measure", "protected_group"]
    assert turned.sort_values(by).to_csv(index=False) == whole.sort_values(by).to_csv(index=False)


def test_fits_come_back_from_processes_that_had_started(threads: str) -> None:
    settings = {"keep_fits": True, "seeds": [1]}
    alone = study(**settings)
    with process_workers(2) as team:
        sent = [study(**settings, workers=team) for _ in range(2)]
    for frame in (*sent, study(**settings, scheduler=threads)):
        assert frame.to_csv() == alone.to_csv()
        for record, kept in zip(frame.record.variants, alone.record.variants, strict=True):
            assert list(record.fits) == list(kept.fits) == [("E1", "pets"), ("E2", "pets")]
            for question, fitted in kept.fits.items():
                assert record.fits[question]["posterior"].to_dataset().equals(fitted["posterior"].to_dataset())
                pd.testing.assert_frame_equal(record.tables[question], kept.tables[question])


def test_no_cell_is_computed_twice(tmp_path: Path, whole: bb.audits.AuditFrame, counted: list[str]) -> None:
    first = study(cells=tmp_path / "cells", seeds=[1])
    assert len(counted) == len(set(counted)) == 4
    assert study(cells=tmp_path / "cells", seeds=[1]).to_csv() == first.to_csv()
    assert len(counted) == 4
    grown = study(cells=tmp_path / "cells")
    assert len(counted) == len(set(counted)) == 8
    assert grown.to_csv() == whole.to_csv()
    same = {"a": EMBEDDINGS[0], "b": EMBEDDINGS[0]}  # one content, two names
    counted.clear()
    twins = study(same)
    assert len(counted) == 4
    assert (twins[twins["embedding"] == "a"]["mean"].to_numpy() == twins[twins["embedding"] == "b"]["mean"]).all()


def test_an_answer_is_also_that_of_an_equal_cell_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    answer = AuditCell.answer

    def failing_once(cell: AuditCell, source: bb.Embedding) -> Answer:
        tried.append(source.name)
        if len(tried) == 1:
            raise NotEnoughMemoryError("Take fewer draws.")
        return answer(cell, source)

    monkeypatch.setattr(AuditCell, "answer", failing_once)
    same = dict.fromkeys(("a", "b", "c"), EMBEDDINGS[0])
    frame = study(same, models=["hierarchical"], seeds=[1])
    assert len(tried) == len(set(tried)) == 2, "an answer is not computed again"
    assert set(frame["embedding"]) == {*same}
    assert frame.record.failed == {}


def test_a_cell_that_is_damaged_is_computed_again(tmp_path: Path, counted: list[str]) -> None:
    first = study(cells=tmp_path)
    path = sorted(tmp_path.glob("*.npz"))[3]
    path.write_bytes(path.read_bytes()[:-100])
    counted.clear()
    with pytest.warns(BayesBiasWarning, match=f"1 kept answer is .*{path.name}"):
        assert study(cells=tmp_path).to_csv() == first.to_csv()
    assert counted == [path.stem]


def test_a_seed_that_is_drawn_is_kept_with_the_cells(tmp_path: Path, counted: list[str]) -> None:
    first = study(cells=tmp_path, seeds=None)
    again = study(cells=tmp_path, seeds=None)
    assert first.to_csv() == again.to_csv()
    assert len(counted) == 4
    assert first["random_seed"].unique().tolist() == [int((tmp_path / "seed.txt").read_text())]
    (tmp_path / "seed.txt").write_text("one")
    with pytest.raises(InputFileError, match=r"seed\.txt"):
        study(cells=tmp_path, seeds=None)


test_refusals = refusals(
    (lambda: study(seeds=range(2**32)), ArgumentError, r"seeds .* 10,000,000"),
    (lambda: study(workers=10**6), ArgumentError, r"workers=1000000: .* 150,000\.0 GB"),
    (lambda: study(workers=1000), NotEnoughMemoryError, r"1,000 workers .* 150\.0 GB"),
    (lambda: study(seeds=range(100_000)), ArgumentError, r"seeds=100000: .* 10,000\. .* 28 hours and 100\.0 GB"),
    (lambda: study(tune=10**12), ArgumentError, r"tune=1000000000000: .* hours"),
)


def test_a_cell_that_fails_is_recorded_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: str
) -> None:
    answer = AuditCell.answer

    def failing(cell: AuditCell, source: bb.Embedding) -> Answer:
        if cell.variant == ("no_pooling", 2):
            raise ZeroDivisionError("no luck")
        return answer(cell, source)

    grid = {"models": ["no_pooling"]}
    whole = study(EMBEDDINGS[:1], **grid)
    for where in ({}, {"workers": None}, {"scheduler": threads}):
        folder = tmp_path / str(where).replace("/", "")
        with monkeypatch.context() as patch:
            patch.setattr(AuditCell, "answer", failing)
            with pytest.warns(BayesBiasWarning, match="1 .* 2 .*ZeroDivisionError: no luck"):
                frame = study(EMBEDDINGS[:1], cells=folder, **where, **grid)
        assert len(frame) == 5
        failures = [record.failed for record in frame.record.variants]
        assert failures == [{}, {("E1", "pets"): "ZeroDivisionError: no luck"}]
        assert study(EMBEDDINGS[:1], cells=folder, **grid).to_csv() == whole.to_csv()
    bb.write(frame, tmp_path / "page.html")
    assert "ZeroDivisionError: no luck" in (tmp_path / "page.html").read_text()


def test_an_embedding_that_lost_too_many_words_fails_alone(tmp_path: Path) -> None:
    poor = bb.Embedding(words=pets.WORDS[2:], vectors=EMBEDDINGS[0].vectors[2:], name="poor")
    for where in ({}, {"workers": None, "cells": tmp_path / "cells"}):
        with pytest.warns(BayesBiasWarning) as warned:
            frame = study([EMBEDDINGS[0], poor], **where)
        assert set(frame["embedding"]) == {"E1"}
        assert "1 of 2 questions cannot be answered, and the others go on. poor, pets: " in str(warned[0].message)
        assert not any(issubclass(warning.category, LostWordsWarning) for warning in warned), "it has no answer"
    with pytest.warns(BayesBiasWarning, match="1 of 1 question cannot be answered"):
        assert study([poor]).empty


@pytest.mark.parametrize(
    ("changes", "error", "fact"),
    [
        ({"draws": 10**9}, NotEnoughMemoryError, r"8 cells \(2 embeddings x 1 study x 2 models x 2 seeds\)"),
        ({"seeds": range(999), "draws": 10**6}, NotEnoughMemoryError, r"3,996 cells \(2 embeddings x 1 study"),
        ({"seeds": range(10_000), "studies": THREE, "draws": 10**6}, ReportError, "are more than 100,000"),
        ({"studies": ["weat7"] * 1001}, ReportError, "studies: 1,001 are more than 1,000"),
        ({"embeddings": [EMBEDDINGS[0]] * 1001}, ReportError, "embeddings: 1,001"),
        ({"embeddings": {str(name): "absent" for name in range(1001)}}, ReportError, "embeddings: 1,001"),
        ({"models": ["crossed"] * 1001}, ReportError, "models: 1,001"),
        ({"measures": ["mac"] * 1001}, ReportError, "measures: 1,001"),
        ({"models": []}, ReportError, "models"),
        ({"models": ["crossed", "crossed"]}, ReportError, "models: .* 'crossed'"),
        ({"models": "crossed"}, ArgumentError, "models='crossed'"),
        ({"model": "crossed"}, ArgumentError, "model and models"),
        ({"seeds": [1, 1]}, ReportError, "seeds: .* 1"),
        ({"seeds": [1, None]}, ArgumentError, "seeds="),
        ({"seeds": []}, ReportError, "seeds"),
        ({"seeds": 5}, ArgumentError, "seeds=5"),
        ({"random_seed": 1}, ArgumentError, "random_seed and seeds"),
        ({"models": [None]}, ReportError, "'contrast'"),
        ({"workers": 0}, ArgumentError, "workers=0"),
        ({"workers": 2, "scheduler": "tcp://127.0.0.1:1"}, ArgumentError, "workers and scheduler"),
        ({"scheduler": 5, "workers": None}, ArgumentError, "scheduler=5"),
        ({"keep_fits": True, "cells": "cells"}, ArgumentError, "keep_fits"),
        ({"cells": 5}, ArgumentError, "cells=5"),
        ({"cells": "/no/such/place/cells"}, OutputError, "/no/such/place"),
    ],
)
def test_mistakes(changes: dict[str, object], error: type[Exception], fact: str, counted: list[str]) -> None:
    with pytest.raises(error, match=fact):
        study(**changes)
    assert not counted


def test_a_year_of_work_is_refused_with_the_count(counted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SAMPLERS, "exact", replace(SAMPLERS["exact"], seconds=1e9))
    with pytest.raises(ReportError, match=r"8 .* 8 .*2 embeddings x 1 .* 6\.3 years .* 1 "):
        study()
    assert not counted


def test_cells_that_need_more_memory_than_a_worker_has_are_refused(
    counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "free_memory", lambda: 10_000)
    with pytest.raises(NotEnoughMemoryError, match=r"8 .* 8 .* 0\.0 GB"):
        study()
    assert not counted


def test_a_run_that_never_began_leaves_nothing(tmp_path: Path) -> None:
    cells = tmp_path / "out" / "cells"
    for _ in range(2):
        with pytest.raises(ClusterError, match="nowhere"):
            study(scheduler="nowhere", cells=cells, seeds=None)
        assert not list(tmp_path.iterdir())
    cells.mkdir(parents=True)
    (cells / "seed.txt").write_text("7")
    with pytest.raises(ClusterError, match="nowhere"):
        study(scheduler="nowhere", cells=cells, seeds=None)
    assert (cells / "seed.txt").read_text() == "7"


def test_the_extra_is_named_where_dask_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"'bayesbias\[cluster\]'"):
        study(scheduler="tcp://127.0.0.1:1")
    assert len(study(EMBEDDINGS[:1], seeds=[1])) == 10


def test_values_without_a_model() -> None:
    frame = bb.audit(EMBEDDINGS, pets.study(), ["weat", "mac"], models=[None], workers=1, progress=False)
    alone = bb.audit(EMBEDDINGS, pets.study(), ["weat", "mac"], model=None)
    assert frame["observed"].tolist() == alone["observed"].tolist()
    assert np.isnan(frame["hdi_low"]).all()


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
    with pytest.raises(NotEnoughMemoryError, match=rf"^{answers.path(cell)} would need about 4,.* GB"):
        answers.read(cell)
