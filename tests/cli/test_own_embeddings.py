"""Commands of `bayesbias.cli.own_embeddings`."""

import json
import os
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.cli.options import OPTIONS
from bayesbias.cli.own_embeddings import lines_or_name
from tests.asymmetry.toy_language import Language
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
    assert "bayesbias trainings out/*.npz --study gender" in printed
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
    assert "trainings SEEDS/*.npz --resampled drawn/glove_seed1.npz --resampled drawn" in capsys.readouterr().out
    vectors = ["drawn/glove_seed1.npz", "drawn/glove_seed2.npz"]
    assert in_process("trainings", *vectors, "--study", "gender", "-o", "stable", monkeypatch=monkeypatch) == 2
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
    assert "bayesbias trainings 'my vectors'/*.npz --study gender" in capsys.readouterr().out
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
    from bayesbias.embeddings.training import ALGORITHMS

    assert get_args(OPTIONS["algorithm"].type) == tuple(ALGORITHMS)


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
        assert (
            in_process("index-contexts", "pets.txt", "--output", "pets.contexts", "--json", monkeypatch=monkeypatch)
            == 0
        )
        facts = json.loads(capsys.readouterr().out)
        assert (facts["contexts"], facts["words"]) == (2, 8)
    Path("other.txt").write_text("A bird.\n", encoding="utf-8")
    assert in_process("index-contexts", "other.txt", "-o", "pets.contexts", monkeypatch=monkeypatch) == 2
    assert "pets.contexts" in capsys.readouterr().err
    assert in_process("index-contexts", "other.txt", "-o", "pets.contexts", "--overwrite", monkeypatch=monkeypatch) == 0
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
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    Path("corpus.txt").write_text("\n".join(Language.made(1).sentences(900, np.random.default_rng(2))))
    assert in_process("index-contexts", "corpus.txt", "-o", "toy.contexts", monkeypatch=monkeypatch) == 0
    study = ("--study", "study.toml", "--seed", "1", "--output")
    assert in_process("table", str(bert), *study, "templates.csv", monkeypatch=monkeypatch) == 0
    assert (
        in_process("table", str(bert), "--contexts", "toy.contexts", *study, "corpus.csv", monkeypatch=monkeypatch) == 0
    )
    assert (
        in_process("fit", "corpus.csv", "--seed", "1", "-o", "fit", "--model", "hierarchical", monkeypatch=monkeypatch)
        == 0
    )
    assert (
        in_process("contextual", str(bert), "--contexts", "toy.contexts", *study, "bert.npz", monkeypatch=monkeypatch)
        == 0
    )
    capsys.readouterr()
    assert in_process("table", "bert.npz", *study, "again.csv", monkeypatch=monkeypatch) == 0
    tables = [bb.read_table(name) for name in ("corpus.csv", "again.csv", "templates.csv")]
    assert tables[0].equals(tables[1])
    assert all(table["cosine_sd"].min() > 0 for table in tables)
    assert (tables[0]["cosine_distance"] != tables[2]["cosine_distance"]).all()
    assert (tmp_path / "fit" / "fit.nc").is_file()


CLIENT = """
import numpy as np
calls = []
def embed(texts):
    calls.append(list(texts))
    if len(calls) == 1:
        raise ConnectionError("try again")
    vectors = [np.random.default_rng(list(text.encode())).standard_normal(8) for text in texts]
    return [(vector + 3 * (" " in text)).tolist() for vector, text in zip(vectors, texts)]  # a common part
number = 5
"""
PETS = """
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
    Path("pets.toml").write_text(PETS)
    monkeypatch.syspath_prepend("")
    return name


def test_a_function_of_ones_own_is_asked_for_the_words_of_all_studies(folder, monkeypatch, capsys):
    command = ("encode", f"{folder}:embed", "--study", "pets.toml", "--study", "weat7", "--output", "v.npz")
    assert in_process(*command, "--cache", "texts.sqlite", monkeypatch=monkeypatch) == 0
    words = dict.fromkeys((*bb.load_study("pets.toml").words, *bb.load_study("weat7").words))
    assert f"{len(words):,} texts sent, 0 from the cache. " in capsys.readouterr().out
    embedding = bb.load_embedding("v.npz")
    assert embedding.words == tuple(words)
    np.testing.assert_allclose(embedding["cat"], np.random.default_rng(list(b"cat")).standard_normal(8), rtol=1e-6)
    calls = sys.modules[folder].calls
    calls[1:] = []
    again = (*command, "--overwrite", "--cache", "texts.sqlite")
    assert in_process(*again, monkeypatch=monkeypatch) == 0
    assert len(calls[1]) == 8, "the second run takes all from the cache, and compares some"
    assert f"0 texts sent, {len(words):,} from the cache, 8 of which are sent again" in capsys.readouterr().out
    assert in_process(*again, "--version-of", "2", monkeypatch=monkeypatch) == 0
    assert f"{len(words):,} texts sent, 0 from the cache" in capsys.readouterr().out
    assert bb.load_embedding("v.npz").steps == (f"encoded by version 2 of {folder}:embed",)


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        ("sys.exit(0)", "it tried to end the program (sys.exit(0))"),
        ("threading.Event().wait(60)", "TimeoutError: no answer in 0.2 seconds"),
        ("return wait(texts)", "asynchronous"),
        ("return np.random.default_rng().normal(size=(len(texts), 4))", "Dropout"),
    ],
)
def test_a_client_that_does_not_answer_is_an_error(
    folder: str, body: str, fact: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{folder}_{len(fact)}"
    start = "import sys, threading\nimport numpy as np\nasync def wait(texts):\n    return texts\n"
    Path(f"{name}.py").write_text(f"{start}def embed(texts):\n    {body}\n")
    command = ("encode", f"{name}:embed", "--study", "pets.toml", "--output", "v.npz", "--attempts", "1")
    code = 1 if "Timeout" in fact else 2  # a service may answer later
    assert in_process(*command, "--timeout", "0.2", monkeypatch=monkeypatch) == code
    assert fact in capsys.readouterr().err
    assert not Path("v.npz").exists()


def test_a_module_that_ends_the_program_is_an_error(
    folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(f"{folder}_ends.py").write_text("import sys\nsys.exit(0)\n")
    command = ("encode", f"{folder}_ends:embed", "--study", "pets.toml", "--output", "v.npz")
    assert in_process(*command, monkeypatch=monkeypatch) == 2
    assert "ends the program while it is imported" in capsys.readouterr().err


def test_control_words_can_be_spared(folder, monkeypatch, capsys):
    command = ("encode", f"{folder}:embed", "--study", "pets.toml", "--templates", "noun", "--output")
    assert in_process(*command, "all.npz", monkeypatch=monkeypatch) == 0
    assert "112 texts sent, 0 from the cache. 6 of the 14 words (43%)" in capsys.readouterr().out
    assert in_process(*command, "few.npz", "--no-controls", monkeypatch=monkeypatch) == 0
    assert "64 texts sent, 0 from the cache.\n" in capsys.readouterr().out
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


def test_a_file_in_the_folder_does_not_take_the_place_of_bundled_templates(folder, monkeypatch, capsys):
    Path("noun").write_text("A stranger wrote WORD.\n")
    command = ("encode", f"{folder}:embed", "--study", "pets.toml", "--templates", "noun", "--output", "v.npz")
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    assert "112 texts sent" in capsys.readouterr().out
    Path("pronouns").write_text("A stranger wrote PROTECTED and ATTRIBUTE.\n")
    assert lines_or_name("pronouns") == "pronouns"


@pytest.mark.parametrize("encoder", ["absent_module:embed", "{}:absent", "{}:number", "absent"])
def test_what_is_no_encoder_is_refused(folder, encoder, monkeypatch, capsys):
    name = encoder.format(folder)
    assert in_process("encode", name, "--study", "pets.toml", "--output", "v.npz", monkeypatch=monkeypatch) == 2
    assert name in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="folders to which others may write")
def test_modules_of_a_folder_to_which_others_may_write_are_not_imported(folder, monkeypatch, capsys):
    Path(f"{folder}_planted.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    Path().chmod(0o1777)
    command = ("encode", f"{folder}_planted:embed", "--study", "pets.toml", "--output", "v.npz")
    assert in_process(*command, monkeypatch=monkeypatch) == 2
    assert "others cannot write" in capsys.readouterr().err
    assert not Path("ran").exists()


def test_the_common_part_is_shown_and_removed(folder, monkeypatch, capsys):
    source = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    command = ("common-part", source, "--components", "2", "--json", "--output", "changed.npz")
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    before, after = json.loads(capsys.readouterr().out)["common_part"]
    assert after["mean_share"] < 0.01 < before["mean_share"]
    assert "2 principal components" in bb.load_embedding("changed.npz").steps[0]
