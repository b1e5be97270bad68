"""Commands for encoders: a function of one's own, what it costs, and what vectors share."""

import json
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from tests.cli.running import in_process

CLIENT = """
import numpy as np
calls = []
def embed(texts):
    calls.append(list(texts))
    if len(calls) == 1:
        raise ConnectionError("try again")
    return [np.random.default_rng(list(text.encode())).standard_normal(8).tolist() for text in texts]
number = 5
"""
STUDY = """
name = "pets"
associated = [["cats", "quiet"], ["dogs", "loud"]]
[protected]
cats = ["cat", "kitten"]
dogs = ["dog", "puppy"]
[attributes]
quiet = ["purr", "sleep"]
loud = ["bark", "howl"]
[controls]
human = ["man", "woman"]
neutral = ["stone", "cloud", "table", "lamp"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.sleep", lambda _: None)
    name = f"client_{tmp_path.name}".replace("-", "_")
    Path(f"{name}.py").write_text(CLIENT)
    Path("pets.toml").write_text(STUDY)
    monkeypatch.syspath_prepend("")
    return name


def test_a_function_of_ones_own_is_asked_for_the_words_of_all_studies(folder, monkeypatch, capsys):
    command = ("encode", f"{folder}:embed", "--study", "pets.toml", "--study", "weat7", "--output", "v.npz")
    assert in_process(*command, "--cache", "texts.sqlite", monkeypatch=monkeypatch) == 0
    words = dict.fromkeys((*bb.load_study("pets.toml").words, *bb.load_study("weat7").words))
    assert f"{len(words):,} texts" in capsys.readouterr().out
    embedding = bb.load_embedding("v.npz")
    assert embedding.words == tuple(words)
    np.testing.assert_allclose(embedding["cat"], np.random.default_rng(list(b"cat")).standard_normal(8), rtol=1e-6)
    assert in_process(*command, "--overwrite", "--cache", "texts.sqlite", monkeypatch=monkeypatch) == 0
    import sys

    assert len(sys.modules[folder].calls) == 2  # the second run took all from the cache


def test_control_words_can_be_spared(folder, monkeypatch, capsys):
    command = ("encode", f"{folder}:embed", "--study", "pets.toml", "--templates", "noun", "--output")
    assert in_process(*command, "all.npz", monkeypatch=monkeypatch) == 0
    assert "112 texts at most: 14 words, 8 for each. 6 of the words (43%)" in capsys.readouterr().out
    assert in_process(*command, "few.npz", "--no-controls", monkeypatch=monkeypatch) == 0
    assert "64 texts at most: 8 words" in capsys.readouterr().out
    for name, rows in (("all.npz", 40), ("few.npz", 16)):
        flags = ("--no-controls",) if rows == 16 else ()
        table = ("table", name, "--study", "pets.toml", *flags, "--overwrite", "--output", "pets.csv")
        assert in_process(*table, monkeypatch=monkeypatch) == 0
        assert len(bb.read_table("pets.csv")) == rows


def test_a_toml_file_names_templates_for_each_list(folder, monkeypatch, capsys):
    Path("sets.toml").write_text('quiet = "verb"\nloud = "verb"\nother = ["A WORD.", "The WORD.", "My WORD."]\n')
    command = ("encode", f"{folder}:embed", "--study", "pets.toml", "--templates", "sets.toml", "--output", "v.npz")
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    spread = bb.load_embedding("v.npz").spread().set_index("word")["contexts"]
    assert (spread["bark"], spread["cat"]) == (6, 3)
    assert in_process(*command[:3], "weat7", *command[2:], "--overwrite", monkeypatch=monkeypatch) == 2
    assert "one study" in capsys.readouterr().err


@pytest.mark.parametrize("encoder", ["absent_module:embed", "{}:absent", "{}:number", "absent"])
def test_what_is_no_encoder_is_refused(folder, encoder, monkeypatch, capsys):
    name = encoder.format(folder)
    assert in_process("encode", name, "--study", "pets.toml", "--output", "v.npz", monkeypatch=monkeypatch) == 2
    assert name in capsys.readouterr().err


def test_the_common_part_is_shown_and_removed(folder, monkeypatch, capsys):
    source = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    command = ("common-part", source, "--components", "2", "--json", "--output", "changed.npz")
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    before, after = json.loads(capsys.readouterr().out)["common_part"]
    assert after["mean_share"] < 0.01 < before["mean_share"]
    assert "2 principal components" in bb.load_embedding("changed.npz").steps[0]
