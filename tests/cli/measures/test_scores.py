"""Scores of a whole embedding on the command line."""

import json
from pathlib import Path

import pytest

import bayesbias as bb
from tests.cli.running import in_process


def test_scores_of_an_embedding_and_their_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    one, two = (bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2))
    Path("pairs.txt").write_text("she he 9\nnurse doctor 5\nman woman 8\nart music 4\n")
    Path("questions.txt").write_text(": family\nhe she man woman\nman woman he she\nboy girl man woman\n")
    settings = ["--original", two, "--seed", "1"]
    command = ["quality", one, "pairs.txt", "questions.txt", *settings]
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "(89% HPDI, seed 1)" in shown
    assert in_process(*command, "--json", monkeypatch=monkeypatch) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["score"] for row in printed["scores"]] == ["pairs.txt", "questions.txt", "questions.txt"]
    first, second = (bb.metrics.word_similarity(vectors, "pairs.txt", random_seed=1).value for vectors in (one, two))
    assert printed["scores"][0]["value"] == first
    assert printed["changes"][0]["change"] == first - second
    Path("women.txt").write_text("woman\ngirl\nmother\ndaughter\n")
    Path("men.txt").write_text("man\nboy\nfather\nson\n")
    command = ["intrinsic", one, "--words-in-all", "200", "--splits", "2", "--names", "women.txt", "men.txt", *settings]
    assert in_process(*command, "--json", monkeypatch=monkeypatch) == 0
    printed = json.loads(capsys.readouterr().out)
    measures = {row["score"] for row in printed["changes"]}
    assert measures == {"vocabulary_direct_bias", "midb", "clustering", "recoverability", "gipe"}
    command = ["intrinsic", one, "--measure", "gipe", "--neighbours", "20", "--seed", "1"]
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    expected = bb.metrics.gipe(one, neighbours=20, random_seed=1)
    assert f"{expected.value:.3f}" in capsys.readouterr().out
    assert in_process("intrinsic", one, "--measure", "sembias", monkeypatch=monkeypatch) == 2
    assert "SemBias" in capsys.readouterr().err
