"""The asymmetry of people and of a language model, in one command."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from tests.asymmetry.toy_language import WORDS, Language, tiny_bert
from tests.cli.running import in_process


@pytest.mark.extras
@pytest.mark.slow
def test_people_and_a_language_model_are_asked_in_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    model, _ = tiny_bert(tmp_path / "bert")
    model.save_pretrained("bert")
    bb.embeddings.index_contexts(Language.made(1).sentences(900, np.random.default_rng(2)), "toy.contexts")
    rows = [f"{a},{b},{2 + number % 9},100" for number, (a, b) in enumerate(permutations(WORDS[:8], 2))]
    Path("norms.csv").write_text("cue,response,count,participants\n" + "\n".join(rows) + "\n", encoding="utf-8")
    command = ("asymmetry", "norms.csv", "bert", "--seed", "1", "--output", "evoked")
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
