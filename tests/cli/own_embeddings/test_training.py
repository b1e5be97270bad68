"""Training embeddings on the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.running import in_process


def test_embeddings_are_trained_and_an_interrupted_run_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus.txt").write_text("the cat and the dog\na dog and a cat\n" * 20)
    monkeypatch.chdir(tmp_path)
    command = ["train", "corpus.txt", "--algorithm", "glove", "--dimensions", "4", "--epochs", "1", "--output", "out"]
    assert in_process(*command, "--seeds", "1-2", monkeypatch=monkeypatch) == 0
    printed = capsys.readouterr().out
    assert "glove, seeds 1 and 2, of corpus.txt (200 words)" in printed
    assert "glove_seed1.npz, glove_seed2.npz" in printed
    assert "bayesbias seeds out/*.npz --study gender" in printed
    first = (tmp_path / "out" / "glove_seed1.npz").stat().st_mtime_ns
    assert in_process(*command, "--seeds", "1-2,5", "--json", monkeypatch=monkeypatch) == 0
    facts = json.loads(capsys.readouterr().out)
    assert list(facts["files"]) == ["1", "2", "5"]
    assert facts["settings"]["epochs"] == 1
    assert facts["repeats"] is True
    assert (tmp_path / "out" / "glove_seed1.npz").stat().st_mtime_ns == first
    assert in_process(*command, "--seeds", "1", "--window", "3", monkeypatch=monkeypatch) == 2
    assert "window" in capsys.readouterr().err
    for seeds in ("5-1", "one", "1-", "-1", "1.5", "", "1-99999999"):
        assert in_process(*command, f"--seeds={seeds}", monkeypatch=monkeypatch) == 2
        assert "--seeds" in capsys.readouterr().err


def test_documents_are_drawn_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus.txt").write_text("the cat and the dog\na dog and a cat\n" * 20)
    monkeypatch.chdir(tmp_path)
    command = ["train", "corpus.txt", "--algorithm", "glove", "--dimensions", "4", "--epochs", "1", "--seeds", "3"]
    assert in_process(*command, "--resample", "documents", "-o", "drawn", "--json", monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["resample"] == "documents"
    assert in_process(*command, "--resample", "documents", "-o", "drawn", monkeypatch=monkeypatch) == 0
    assert "--resampled drawn/glove_seed3.npz --study gender" in capsys.readouterr().out
    assert in_process(*command[:-1], "1-2", "-o", "drawn", "--resample", "documents", monkeypatch=monkeypatch) == 0
    assert "seeds SEEDS/*.npz --resampled drawn/glove_seed1.npz --resampled drawn" in capsys.readouterr().out
    vectors = ["drawn/glove_seed1.npz", "drawn/glove_seed2.npz"]
    assert in_process("seeds", *vectors, "--study", "gender", "-o", "stable", monkeypatch=monkeypatch) == 2
    assert "glove_seed1.npz was trained on resampled documents" in " ".join(capsys.readouterr().err.split())
    assert in_process(*command, "-o", "drawn", monkeypatch=monkeypatch) == 2
    assert "resample" in capsys.readouterr().err


def test_the_next_command_quotes_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus.txt").write_text("the cat and the dog\na dog and a cat\n" * 20)
    monkeypatch.chdir(tmp_path)
    command = ["train", "corpus.txt", "--algorithm", "glove", "--dimensions", "4", "--epochs", "1", "--seeds", "1-2"]
    assert in_process(*command, "-o", "my vectors", monkeypatch=monkeypatch) == 0
    assert "bayesbias seeds 'my vectors'/*.npz --study gender" in capsys.readouterr().out
    assert in_process(*command, "--resample", "documents", "-o", "my draws", monkeypatch=monkeypatch) == 0
    assert "--resampled 'my draws/glove_seed1.npz'" in " ".join(capsys.readouterr().out.split())


def test_gn_glove_takes_the_sets_of_debiasing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus.txt").write_text("he and she\nshe and he\nuncle and aunt\n" * 20)
    monkeypatch.chdir(tmp_path)
    command = [
        "train",
        "corpus.txt",
        "--algorithm",
        "gn_glove",
        "--dimensions",
        "4",
        "--epochs",
        "1",
        "--output",
        "out",
    ]
    assert in_process(*command, "--sets", "gender_bolukbasi", "--json", monkeypatch=monkeypatch) == 0
    printed = capsys.readouterr()
    assert "'pairs'" in printed.err  # words that the corpus lacks
    settings = json.loads(printed.out)["settings"]
    assert ["she", "he"] in settings["pairs"]
    assert "aunt" in settings["sides"][0]
    assert "uncle" in settings["sides"][1]


def test_the_command_line_has_every_algorithm() -> None:
    from bayesbias.cli.own_embeddings.training import Algorithm
    from bayesbias.embeddings.training import ALGORITHMS

    assert [algorithm.value for algorithm in Algorithm] == list(ALGORITHMS)
