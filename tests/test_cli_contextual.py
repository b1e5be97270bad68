"""From a corpus and the folder of a language model to a fit, on the command line."""

import json
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias import cli
from tests.asymmetry.toy_language import WORDS, Language, tiny_bert

STUDY = """
name = "toy"
associated = [["x", "a"], ["y", "b"]]
[protected]
x = ["bado", "dado", "fado"]
y = ["gado", "kado", "lado"]
[attributes]
a = ["bile", "dile", "file"]
b = ["gile", "kile", "lile"]
[controls]
human = "none"
neutral = ["mado", "nado", "mile", "nile"]
"""


def run(*arguments: str | Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["bayesbias", *map(str, arguments)])
    monkeypatch.setattr("warnings.showwarning", cli._show_warning)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return int(stopped.value.code or 0)


def test_an_index_is_built_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pets.txt").write_text("A cat saw a dog.\nThe dog ran.\n", encoding="utf-8")
    for _ in range(2):
        assert run("contexts", "pets.txt", "--output", "pets.contexts", "--json", monkeypatch=monkeypatch) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["contexts"], found["words"]) == (2, 8)
    Path("other.txt").write_text("A bird.\n", encoding="utf-8")
    assert run("contexts", "other.txt", "-o", "pets.contexts", monkeypatch=monkeypatch) == 2
    assert "index of another corpus" in capsys.readouterr().err
    assert run("contexts", "other.txt", "-o", "pets.contexts", "--overwrite", monkeypatch=monkeypatch) == 0
    assert "Next: bayesbias table MODEL_FOLDER" in capsys.readouterr().out


def test_contexts_of_vectors_that_have_none_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    bb.write_embedding({"he": [1.0, 0.0], "she": [0.0, 1.0]}, "vectors.npz")
    Path("templates.txt").write_text("A WORD.\n", encoding="utf-8")
    asked = ("table", "vectors.npz", "--study", "gender", "--templates", "templates.txt", "-o", "table.csv")
    assert run(*asked, monkeypatch=monkeypatch) == 2
    assert "is no folder of one" in capsys.readouterr().err
    assert run("contextual", "bert", "--study", "gender", "-o", "v.txt", monkeypatch=monkeypatch) == 2
    assert "ending .npz" in capsys.readouterr().err
    assert run("contextual", "bert", "--study", "gender", "-o", "v.npz", monkeypatch=monkeypatch) == 2
    assert "is no folder of a language model" in capsys.readouterr().err
    both = ("--templates", "templates.txt", "--contexts", "pets.contexts")
    assert run("contextual", "bert", "--study", "gender", *both, "-o", "v.npz", monkeypatch=monkeypatch) == 2
    assert "give one of them" in capsys.readouterr().err


@pytest.mark.extras
@pytest.mark.slow
def test_two_commands_lead_from_a_models_folder_to_a_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    model, _ = tiny_bert(tmp_path / "bert")
    model.save_pretrained("bert")
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    Path("corpus.txt").write_text("\n".join(Language.made(1).sentences(900, np.random.default_rng(2))))
    assert run("contexts", "corpus.txt", "-o", "toy.contexts", monkeypatch=monkeypatch) == 0
    study = ("--study", "study.toml", "--seed", "1", "--output")
    assert run("table", "bert", *study, "templates.csv", monkeypatch=monkeypatch) == 0
    assert run("table", "bert", "--contexts", "toy.contexts", *study, "corpus.csv", monkeypatch=monkeypatch) == 0
    assert run("fit", "corpus.csv", "--seed", "1", "-o", "fit", "--model", "hierarchical", monkeypatch=monkeypatch) == 0
    assert run("contextual", "bert", "--contexts", "toy.contexts", *study, "bert.npz", monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    assert run("table", "bert.npz", *study, "again.csv", monkeypatch=monkeypatch) == 0
    tables = [bb.read_table(name) for name in ("corpus.csv", "again.csv", "templates.csv")]
    assert tables[0].equals(tables[1])
    assert all(table["cosine_sd"].min() > 0 for table in tables)
    assert (tables[0]["cosine_distance"] != tables[2]["cosine_distance"]).all()
    assert (tmp_path / "fit" / "fit.nc").is_file()


@pytest.mark.extras
@pytest.mark.slow
def test_people_and_a_language_model_are_asked_in_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    model, _ = tiny_bert(tmp_path / "bert")
    model.save_pretrained("bert")
    bb.embeddings.index_contexts(Language.made(1).sentences(900, np.random.default_rng(2)), "toy.contexts")
    rows = [f"{a},{b},{2 + at % 9},100" for at, (a, b) in enumerate(permutations(WORDS[:8], 2))]
    Path("norms.csv").write_text("cue,response,count,participants\n" + "\n".join(rows) + "\n", encoding="utf-8")
    asked = ("asymmetry", "norms.csv", "bert", "--seed", "1", "--output", "evoked")
    assert run(*asked, monkeypatch=monkeypatch) == 2
    assert "give --contexts" in capsys.readouterr().err
    assert run(*asked, "--contexts", "toy.contexts", monkeypatch=monkeypatch) == 0
    pairs = pd.read_csv("evoked/pairs.csv")
    assert (pairs["source"] == "bert").sum() > 20
    assert (tmp_path / "evoked" / "asymmetry.png").is_file()
