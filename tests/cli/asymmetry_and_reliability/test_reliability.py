"""Reliability of scores on the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from tests.cli.running import in_process


def seed_files(folder: Path, *seeds: int) -> list[Path]:
    """Return three short files of bundled vectors that differ in the seed."""
    words = ["he", "she", "man", "woman", "son", "daughter", "algebra", "geometry", "poetry", "art", "home"]
    paths = []
    for seed in seeds:
        path = bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz")
        paths.append(folder / f"seed{seed}.npz")
        bb.write_embedding(bb.load_embedding(path, words=words), paths[-1])
    (folder / "mine.toml").write_text(
        'words = ["algebra", "poetry", "home"]\npairs = [["he", "she"], ["man", "woman"], ["son", "daughter"]]\n'
        '[queries]\nmaths = ["algebra", "geometry"]\n'
    )
    return paths


def test_reliability(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    paths, mine = seed_files(tmp_path, 1, 2, 3), tmp_path / "mine.toml"
    lists = ["--words", mine, "--base-pairs", mine, "--queries", mine, "--rule", "db_wa", "--rule", "ripa"]
    assert in_process("reliability", *paths, *lists, monkeypatch=monkeypatch) == 0
    text = capsys.readouterr().out
    assert "3 target words, 3 base pairs, 2 rules, 3 seeds" in text
    assert in_process("reliability", *paths, *lists, "--json", monkeypatch=monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    scores = bb.reliability.score_array(
        dict(zip(data["seeds"], paths, strict=True)), bb.reliability.load_target_words(mine), rules=["db_wa", "ripa"],
        base_pairs=str(mine), progress=False,
    )  # fmt: skip
    expected = bb.reliability.test_retest(scores)
    printed = pd.DataFrame(data["test_retest_target_words"])
    np.testing.assert_allclose(printed["hdi_low"], expected["hdi_low"], rtol=1e-12)
    assert len(data["inter_rater_base_pairs"]) == 3
    assert [row["query"] for row in data["internal_consistency"]] == ["maths", "maths", "base pairs", "base pairs"]


def test_a_page_with_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    paths = [*seed_files(tmp_path / "one", 1, 2), *seed_files(tmp_path / "two", 3, 4, 5)]
    mine, output = tmp_path / "one" / "mine.toml", tmp_path / "page"
    lists = ["--words", mine, "--base-pairs", mine, "--queries", mine, "--rule", "db_wa", "--rule", "ripa"]
    assert in_process("reliability", *paths, *lists, "--output", output, "--no-drivers", monkeypatch=monkeypatch) == 0
    assert str(output / "report.html") in capsys.readouterr().out
    names = {path.name for path in output.iterdir()}
    assert {"report.html", "figure_2.png", "figure_3.png", "figure_4_2.png", "figure_5_1.png", "queries.csv"} <= names
    frame = pd.read_csv(output / "words_over_seeds.csv")
    scores = bb.reliability.score_array(
        dict(enumerate(paths[2:])), ["algebra", "poetry", "home"], rules=["ripa"], base_pairs=str(mine), progress=False
    )
    expected = bb.reliability.icc_2_1(scores.transpose("rule", "target_word", "base_pair", "seed"))[0]
    kept = frame.query("vectors == 'two' and rule == 'ripa'").set_index("target_word")["estimate"]
    np.testing.assert_allclose(kept[scores["target_word"].values], expected, rtol=1e-9)
    assert in_process("reliability", *paths, *lists, "--output", output, monkeypatch=monkeypatch) == 2
    assert "page" in capsys.readouterr().err
    (tmp_path / "counts.csv").write_text("word,number\nhome,3\n")
    more = ["--output", tmp_path / "other", "--counts", tmp_path / "counts.csv"]
    assert in_process("reliability", *paths, *lists, *more, monkeypatch=monkeypatch) == 2
    assert "counts.csv" in capsys.readouterr().err


def test_reliability_refuses_before_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = seed_files(tmp_path, 1, 2)
    monkeypatch.setattr("bayesbias.embeddings.loading.load_embedding", lambda *_arguments, **_options: 1 / 0)
    for fact, *arguments in (
        ("seed1.npz", paths[0]),
        ("'seed1'", paths[0], paths[0]),
        ("seed9.npz", paths[0], tmp_path / "seed9.npz"),
        ("occ17", *paths, "--words", "occ17"),
        ("base pairs", *paths, "--base-pairs", "gendr"),
        ("queries", *paths, "--queries", "gendr"),
        ("rules=", *paths, "--rule", "rippa"),
        ("hdi_prob", *paths, "--hdi-prob", "2"),
    ):
        assert in_process("reliability", *arguments, monkeypatch=monkeypatch) == 2
        assert fact in capsys.readouterr().err
