"""From a corpus and the folder of a language model to a fit, on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from tests.asymmetry.toy_language import Language, tiny_bert
from tests.cli.running import in_process

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


def test_an_index_is_built_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pets.txt").write_text("A cat saw a dog.\nThe dog ran.\n", encoding="utf-8")
    for _ in range(2):
        assert in_process("contexts", "pets.txt", "--output", "pets.contexts", "--json", monkeypatch=monkeypatch) == 0
        facts = json.loads(capsys.readouterr().out)
        assert (facts["contexts"], facts["words"]) == (2, 8)
    Path("other.txt").write_text("A bird.\n", encoding="utf-8")
    assert in_process("contexts", "other.txt", "-o", "pets.contexts", monkeypatch=monkeypatch) == 2
    assert "pets.contexts" in capsys.readouterr().err
    assert in_process("contexts", "other.txt", "-o", "pets.contexts", "--overwrite", monkeypatch=monkeypatch) == 0
    assert "bayesbias table MODEL_FOLDER" in capsys.readouterr().out


def test_contexts_of_vectors_that_have_none_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    bb.write_embedding({"he": [1.0, 0.0], "she": [0.0, 1.0]}, "vectors.npz")
    Path("templates.txt").write_text("A WORD.\n", encoding="utf-8")
    command = ("table", "vectors.npz", "--study", "gender", "--templates", "templates.txt", "-o", "table.csv")
    assert in_process(*command, monkeypatch=monkeypatch) == 2
    assert "vectors.npz" in capsys.readouterr().err
    assert in_process("contextual", "bert", "--study", "gender", "-o", "v.txt", monkeypatch=monkeypatch) == 2
    assert ".npz" in capsys.readouterr().err
    assert in_process("contextual", "bert", "--study", "gender", "-o", "v.npz", monkeypatch=monkeypatch) == 2
    assert "bert" in capsys.readouterr().err
    both = ("--templates", "templates.txt", "--contexts", "pets.contexts")
    assert in_process("contextual", "bert", "--study", "gender", *both, "-o", "v.npz", monkeypatch=monkeypatch) == 2
    assert "--templates" in capsys.readouterr().err


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
    assert in_process("contexts", "corpus.txt", "-o", "toy.contexts", monkeypatch=monkeypatch) == 0
    study = ("--study", "study.toml", "--seed", "1", "--output")
    assert in_process("table", "bert", *study, "templates.csv", monkeypatch=monkeypatch) == 0
    assert in_process("table", "bert", "--contexts", "toy.contexts", *study, "corpus.csv", monkeypatch=monkeypatch) == 0
    assert (
        in_process("fit", "corpus.csv", "--seed", "1", "-o", "fit", "--model", "hierarchical", monkeypatch=monkeypatch)
        == 0
    )
    assert (
        in_process("contextual", "bert", "--contexts", "toy.contexts", *study, "bert.npz", monkeypatch=monkeypatch) == 0
    )
    capsys.readouterr()
    assert in_process("table", "bert.npz", *study, "again.csv", monkeypatch=monkeypatch) == 0
    tables = [bb.read_table(name) for name in ("corpus.csv", "again.csv", "templates.csv")]
    assert tables[0].equals(tables[1])
    assert all(table["cosine_sd"].min() > 0 for table in tables)
    assert (tables[0]["cosine_distance"] != tables[2]["cosine_distance"]).all()
    assert (tmp_path / "fit" / "fit.nc").is_file()
