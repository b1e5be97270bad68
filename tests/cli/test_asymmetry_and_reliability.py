"""Commands of `bayesbias.cli.asymmetry_and_reliability`."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from tests.asymmetry.toy_language import WORDS, Language
from tests.cli.running import in_process


@pytest.mark.extras
@pytest.mark.slow
def test_people_and_a_language_model_are_asked_in_one_command(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    bb.embeddings.index_contexts(Language.made(1).sentences(900, np.random.default_rng(2)), "toy.contexts")
    rows = [f"{a},{b},{2 + number % 9},100" for number, (a, b) in enumerate(permutations(WORDS[:8], 2))]
    Path("norms.csv").write_text("cue,response,count,participants\n" + "\n".join(rows) + "\n", encoding="utf-8")
    command = ("asymmetry", "norms.csv", str(bert), "--seed", "1", "--output", "evoked")
    assert in_process(*command, monkeypatch=monkeypatch) == 2
    assert "--contexts" in capsys.readouterr().err
    assert in_process(*command, "--contexts", "toy.contexts", monkeypatch=monkeypatch) == 0
    pairs = pd.read_csv("evoked/pairs.csv")
    assert (pairs["source"] == "bert").sum() > 20
    assert (tmp_path / "evoked" / "asymmetry.png").is_file()


@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_words_of_a_study_that_people_did_not_give_are_compared_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The norms hold the protected words alone: attribute words are in the vectors."""
    monkeypatch.chdir(tmp_path)
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    study = bb.load_study("weat7")
    words = [word for group in study.protected.values() for word in group]
    rows = [f"{a},{b},{2 + number % 9},100" for number, (a, b) in enumerate(permutations(words, 2))]
    Path("norms.csv").write_text("cue,response,count,participants\n" + "\n".join(rows) + "\n", encoding="utf-8")
    command = ("asymmetry", "norms.csv", vectors, "--study", "weat7", "--seed", "1", "--output", "evoked")
    assert in_process(*command, "--contexts", "none", monkeypatch=monkeypatch) == 2
    assert "--contexts is for folders of language models" in capsys.readouterr().err
    assert in_process(*command, monkeypatch=monkeypatch) == 0, capsys.readouterr().err
    (table,) = Path("evoked").glob("*_means.csv")
    estimates = pd.read_csv(table)
    pairs = estimates.loc[estimates["connection"] == "associated", "pairs"].iloc[0]
    assert pairs == sum(len(group) for group in study.attributes.values()) * len(words) // 2


def test_no_embedding_takes_the_place_of_the_comparison_with_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("norms.csv").write_text("cue,response,count,participants\nhe,she,30,150\nshe,he,20,140\n")
    Path("norms.vec").write_text("he 1 0\nshe 0 1\n")
    assert (
        in_process("asymmetry", "norms.csv", "norms.vec", "--study", "weat7", "-o", "out", monkeypatch=monkeypatch) == 2
    )
    assert "the comparison with people has the name 'norms'" in " ".join(capsys.readouterr().err.split())
    assert not Path("out").exists()


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
    kept = frame.query("vectors == 'two' and rule == 'ripa'").set_index("target_word")["observed"]
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
    monkeypatch.setattr(bb, "load_embedding", lambda *_arguments, **_options: 1 / 0)
    for fact, *arguments in (
        ("seed1.npz", paths[0]),
        ("'seed1'", paths[0], paths[0]),
        ("seed9.npz", paths[0], tmp_path / "seed9.npz"),
        ("occ17", *paths, "--words", "occ17"),
        ("base pairs", *paths, "--base-pairs", "gendr"),
        ("queries", *paths, "--queries", "gendr"),
        ("--rule rippa", *paths, "--rule", "rippa"),
        ("--hdi-prob", *paths, "--hdi-prob", "2"),
    ):
        code = 1 if fact == "seed9.npz" else 2  # a missing file is no mistake
        assert in_process("reliability", *arguments, monkeypatch=monkeypatch) == code
        assert fact in capsys.readouterr().err
