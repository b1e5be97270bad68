"""Audits on workers: the same numbers whoever answers, each cell once, and what is too much is refused before."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.cells.audit_cell import AuditCell
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
from tests.cells import pets
from tests.refusals import refusals

EMBEDDINGS = [pets.embedding(1), pets.embedding(2)]
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


def study(embeddings: object = EMBEDDINGS, **changes: object) -> bb.reports.AuditFrame:
    arguments = {"workers": None if "scheduler" in changes else 1, **GRID, **changes}
    return bb.audit(embeddings, pets.study(), pets.MEASURES, **arguments)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def whole() -> bb.reports.AuditFrame:
    return study()


def test_each_model_and_seed_is_the_audit_of_it_alone(whole: bb.reports.AuditFrame) -> None:
    frame = whole
    assert len(frame) == 2 * 2 * 2 * 5
    for model in GRID["models"]:
        for seed in (1, 2):
            alone = bb.audit(EMBEDDINGS, pets.study(), pets.MEASURES, model=model, random_seed=seed, **pets.SMALL)
            part = frame[(frame["model"] == model) & (frame["random_seed"] == seed)].reset_index(drop=True)
            pd.testing.assert_frame_equal(pd.DataFrame(part), pd.DataFrame(alone), check_exact=True)
            assert bb.reports.rank(part).ranks.equals(bb.reports.rank(alone).ranks)
    with pytest.raises(ReportError, match=r"hierarchical.* seed 1"):
        bb.reports.rank(frame)
    with pytest.raises(ReportError, match=r"models .*seeds"):
        bb.reports.rank(frame[frame["random_seed"] == 1].assign(model="other"))


def test_numbers_depend_on_no_worker_and_no_order(threads: str, whole: bb.reports.AuditFrame) -> None:
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


def test_no_cell_is_computed_twice(tmp_path: Path, whole: bb.reports.AuditFrame, counted: list[str]) -> None:
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
    assert (
        twins[twins["embedding"] == "a"]["estimate"].to_numpy() == twins[twins["embedding"] == "b"]["estimate"]
    ).all()


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
        assert "poor" in str([warning.message for warning in warned if "4 of 8 questions" in str(warning.message)])
        assert not any(issubclass(warning.category, LostWordsWarning) for warning in warned), "it has no answer"
    with pytest.raises(ReportError, match=r"4 .* 4 "):
        study([poor])


@pytest.mark.parametrize(
    ("changes", "error", "fact"),
    [
        ({"draws": 10**9}, NotEnoughMemoryError, r"8 cells \(2 embeddings x 1 study x 2 models x 2 seeds\)"),
        ({"seeds": range(999), "draws": 10**6}, NotEnoughMemoryError, r"3,996 cells \(2 embeddings x 1 study"),
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
