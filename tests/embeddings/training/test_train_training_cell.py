"""Trainings on workers: the same bytes with any number of workers, one file a seed, and what is lost is trained
again."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.embeddings.training import train
from bayesbias.embeddings.training import train as training_cell
from bayesbias.embeddings.training.corpus import Corpus, read_corpus
from bayesbias.embeddings.training.train import TrainingCell, bytes_of_training, words_and_trainer
from bayesbias.errors import ClusterError, EmbeddingError, NotEnoughMemoryError
from bayesbias.workers import workers
from bayesbias.workers.cells import Answer
from tests.embeddings.training.texts import SHORT, documents

TEXTS = documents()
pytestmark = pytest.mark.gensim  # the default algorithm


@pytest.fixture(scope="module")
def threads() -> Iterator[str]:
    """The address of a scheduler whose two workers are threads of this process."""
    from distributed import LocalCluster

    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(protocol="inproc", **options) as cluster:
        yield cluster.scheduler_address


def trained(folder: Path, **changes: object) -> dict[str, bytes]:
    """Train, and return the content of all files in the folder."""
    arguments = {"seeds": [1, 2, 3], "resample": "documents", **SHORT, **changes}
    bb.embeddings.train_embeddings(TEXTS, folder, **arguments)  # type: ignore[arg-type]
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("algorithm", ["skipgram", "glove"])
@pytest.mark.parametrize("resample", [None, "documents"])
def test_the_bytes_depend_on_no_worker(algorithm: str, resample: str | None, tmp_path: Path, threads: str) -> None:
    options = {"algorithm": algorithm, "resample": resample}
    alone = trained(tmp_path / "alone", **options)
    assert set(alone) == {f"{algorithm}_seed{seed}.npz" for seed in (1, 2, 3)}
    assert trained(tmp_path / "one", workers=1, **options) == alone
    assert trained(tmp_path / "cluster", scheduler=threads, **options) == alone


@pytest.mark.slow
def test_processes_write_the_same_bytes_from_a_file_that_they_do_not_read(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(" ".join(text) for text in TEXTS))
    options = {"seeds": [1, 2, 3], "resample": "documents", **SHORT}
    for folder, where in (("alone", {}), ("processes", {"workers": 2})):
        bb.embeddings.train_embeddings(corpus, tmp_path / folder, **options, **where)  # type: ignore[arg-type]
    files = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("alone", "processes")]
    assert len(files[0]) == 3
    assert files[0] == files[1]


def failing_at(seed: int, error: BaseException, patch: pytest.MonkeyPatch) -> None:
    """Let the training with a seed end with an error."""
    answer = TrainingCell.answer

    def failing(cell: TrainingCell, source: Corpus) -> Answer:
        if cell.seed == seed:
            raise error
        return answer(cell, source)

    patch.setattr(TrainingCell, "answer", failing)


def test_a_training_that_fails_does_not_stop_the_others_and_is_tried_again(
    tmp_path: Path, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = trained(tmp_path / "whole")
    for name, where in (("here", {"workers": 1}), ("cluster", {"scheduler": threads})):
        with monkeypatch.context() as patch:
            failing_at(2, ZeroDivisionError("no luck"), patch)
            with pytest.raises(ClusterError, match=f"1 of 3 .*seed 2: ZeroDivisionError: no luck.*{name}.* again"):
                trained(tmp_path / name, **where)
        assert sorted(path.name for path in (tmp_path / name).iterdir()) == ["skipgram_seed1.npz", "skipgram_seed3.npz"]
        assert trained(tmp_path / name, **where) == whole


def test_an_interrupted_run_trains_only_what_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trained(tmp_path / "whole")
    with monkeypatch.context() as patch:
        failing_at(3, KeyboardInterrupt(), patch)
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path / "halves", workers=1)
    assert len(list((tmp_path / "halves").iterdir())) == 2
    seeds: list[int] = []
    monkeypatch.setattr(train, "TrainingCell", lambda *given: seeds.append(given[-1]) or TrainingCell(*given))
    assert trained(tmp_path / "halves", workers=1) == whole
    assert seeds == [3]


def test_workers_that_cannot_be_had_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ClusterError, match="nowhere"):
        trained(tmp_path / "folder", scheduler="nowhere")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "distributed", None)
        with pytest.raises(ClusterError, match=r"'bayesbias\[cluster\]'"):
            trained(tmp_path / "folder", scheduler="tcp://127.0.0.1:1")
    with pytest.raises(EmbeddingError, match="same document"):
        bb.embeddings.train_embeddings([["he"], ["she"]] * 9, tmp_path / "folder", workers=1)
    monkeypatch.setattr(workers, "free_memory", lambda: 1000)
    with pytest.raises(NotEnoughMemoryError, match=r"0\.0 GB"):
        trained(tmp_path / "folder", workers=1)
    assert not list(tmp_path.iterdir())


def test_a_worker_with_another_trainer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = read_corpus(TEXTS, min_count=1)
    facts = {"algorithm": "skipgram", "settings": {}, "corpus": text.facts(), "trainer": "gensim 0.0.1"}
    cell = TrainingCell(train.skipgram, "gensim", facts, 1)
    assert "gensim 0.0.1" in str(workers.outcome(text, cell, training_cell.version("bayesbias")))
    assert (
        cell.digest
        == TrainingCell(train.skipgram, "gensim", facts, 1).digest
        != TrainingCell(train.skipgram, "gensim", facts, 2).digest
    )


def test_drawn_documents_have_their_own_words_and_need_more_memory() -> None:
    text = read_corpus([["a", "b"], ["a", "c"], ["b", "a"]], min_count=1)
    seen: list[tuple[int, int]] = []

    def trainer_of(drawn: Corpus, settings: dict[str, object], count: int) -> object:
        seen.append((settings["min_count"], count))  # type: ignore[arg-type]
        return drawn

    settings = {"min_count": 2, "dimensions": 8}
    words, of_all = words_and_trainer(trainer_of, text, settings, 1, threads=3)  # type: ignore[arg-type]
    assert (words, of_all) == (text.words, text)
    drawing = {**settings, "resample": "documents"}
    words, drawn = words_and_trainer(trainer_of, text, drawing, 1)  # type: ignore[arg-type]
    assert set(words) <= set(text.words)
    assert drawn is not text
    assert seen == [(2, 3), (1, 1)]
    assert bytes_of_training(text, drawing) - bytes_of_training(text, settings) == 4 * text.stream.nbytes
    assert bytes_of_training(text, {**settings, "buckets": 100}) - bytes_of_training(text, settings) == 4 * 100 * 8
