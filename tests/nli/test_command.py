"""`bayesbias nli`, as a user runs it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from bayesbias.nli.training import split_pairs
from tests.cli.running import in_process, run
from tests.nli.test_comparisons_train_and_compare import taught, vectors
from tests.nli.test_hugging_face import built

PETS_TEST = """
premise = "A person {verb} {object}."
hypothesis = "{word} {verb} {object}."
[articles]
before_consonant = "a"
before_vowel = "an"
[groups.male]
nouns = ["man", "guy"]
[groups.female]
nouns = ["woman", "girl"]
[objects]
things = ["car", "book"]
[[pairs]]
verbs = ["saw", "has", "bought"]
objects = ["things"]
"""


def write_inputs(folder: Path) -> None:
    for name, alike in (("original", False), ("same", True)):
        words, matrix = vectors(alike=alike)
        np.savez(folder / f"{name}.npz", words=np.array(words), vectors=matrix)
    frame = taught()
    parts = [frame.assign(split=split) for split in ("TRAIN", "TRIAL", "TEST")]
    pd.concat(parts).to_csv(folder / "pairs.csv", index=False)
    (folder / "asked.toml").write_text(PETS_TEST)


@pytest.mark.extras
@pytest.mark.slow
def test_one_command_from_vectors_to_a_page(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    quick = ("--trainings", "3", "--epochs", "4", "--hidden-units", "8", "--seed", "1", "--test-set", "asked.toml")
    arguments = ("nli", "original.npz", "same.npz", "--pairs", "pairs.csv", *quick)
    done = run(*arguments, "--output", "found", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "same: whether E is lower or higher is not settled" in " ".join(done.stdout.split())
    assert "accuracy" in done.stdout
    there = {path.name for path in (tmp_path / "found").iterdir()}
    assert there == {
        *("report.html", "changes.png", "inference.png", "conclusions.txt", "conclusions.json"),
        *("values.csv", "changes.csv", "words.csv", "word_pairs.csv", "runs.csv"),
    }
    runs = pd.read_csv(tmp_path / "found" / "runs.csv")
    assert runs["embedding"].tolist() == ["original"] * 3 + ["same"] * 3
    assert abs(runs.loc[runs["embedding"] == "same", "contrast"]).max() < 1e-6
    again = run(*arguments, "--output", "found", folder=tmp_path)
    assert again.returncode == 2
    assert "exists" in again.stderr or "not empty" in again.stderr


def test_what_cannot_be_asked_is_told_in_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_inputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    options = ("--pairs", "pairs.csv", "--output", "found")
    assert in_process("nli", "original.npz", *options, monkeypatch=monkeypatch) == 2
    assert "Give two or more" in capsys.readouterr().err
    (tmp_path / "pairs.csv").write_text("premise,hypothesis,label,split\nA dog,A cat,neutral,holdout\n")
    assert in_process("nli", "original.npz", "same.npz", *options, monkeypatch=monkeypatch) == 2
    assert "split holdout" in capsys.readouterr().err
    assert not (tmp_path / "found").exists()


def test_parts_are_found_by_their_usual_names() -> None:
    pairs = taught()
    pairs["split"] = ["Train"] * 40 + ["validation"] * 5 + ["test"] * 3
    assert [len(part) for part in split_pairs(pairs) if part is not None] == [40, 5, 3]
    with pytest.raises(MeasureError, match="splits test"):
        split_pairs(pairs.assign(split="test"))


@pytest.mark.extras
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_models_from_folders_are_compared_over_their_trainings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Against the mean errors of the models' own answers, computed one by one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "asked.toml").write_text(PETS_TEST)
    expected = {}
    for name, scale in (("first", 1.0), ("second", 0.2)):
        (tmp_path / name).mkdir()
        errors = []
        for number in range(3):
            folder = saved_with(tmp_path / name / f"seed{number}", scale * (1 + 0.1 * number))
            scores = bb.nli.score(bb.nli.test_set("asked.toml"), bb.nli.pipeline(folder, progress=False))
            errors.append(bb.nli.neutral_error(scores).loc[0, "error"])
        expected[name] = np.mean(errors)
    options = ("--test-set", "asked.toml", "--seed", "1", "--quiet")
    assert in_process("nli", "--models", "first", "second", *options, "-o", "found", monkeypatch=monkeypatch) == 0
    of_trainings = pd.read_csv("found/runs.csv").groupby("embedding")["overall"].mean()
    assert of_trainings.to_dict() == pytest.approx(expected, abs=1e-6)
    values = pd.read_csv("found/values.csv")
    of_these = values[(values["quantity"] == "overall") & (values["scope"] == "these_words")]
    assert of_these.set_index("embedding")["mean"].to_dict() == pytest.approx(expected, abs=0.02)
    assert in_process("nli", "--models", "first/seed0", *options, "-o", "one", monkeypatch=monkeypatch) == 0
    assert (tmp_path / "one" / "report.html").exists()
    for arguments, message in (
        (("first/seed0", "second"), "seed0 holds 1"),
        (("first",), "holds 3 models"),
        (("first", "second", "--method", "misp"), "--method"),
    ):
        assert in_process("nli", "--models", *arguments, *options, "-o", "none", monkeypatch=monkeypatch) == 2
        assert message in capsys.readouterr().err


def saved_with(folder: Path, scale: float) -> Path:
    """Save a small BERT whose last layer is scaled, so that its answers are more or less extreme."""
    import torch
    from transformers import AutoModelForSequenceClassification

    built(folder, longest=64)
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        model.classifier.weight *= scale
    model.save_pretrained(folder)
    return folder


@pytest.mark.extras
@pytest.mark.slow
def test_misp_is_judged_by_e_in_one_command(tmp_path: Path) -> None:
    """The same as debiasing first, and training on both files."""
    write_inputs(tmp_path)
    names = 'definitional = [["he", "she"]]\nnames = [["woman", "girl", "lady"], ["man", "guy", "gentleman"]]\n'
    (tmp_path / "own.toml").write_text(names)
    vectors = bb.load_embedding(tmp_path / "original.npz")
    after = bb.debias.MISP().fit(vectors, bb.debias.load_debias_words(tmp_path / "own.toml")).transform(vectors)
    bb.write_embedding(after, tmp_path / "misp.npz")
    quick = ("--pairs", "pairs.csv", "--trainings", "3", "--epochs", "3", "--hidden-units", "8", "--seed", "1")
    asked = (*quick, "--test-set", "asked.toml")
    one = run("nli", "original.npz", "--method", "misp", "--sets", "own.toml", *asked, "-o", "one", folder=tmp_path)
    assert one.returncode == 0, one.stderr
    two = run("nli", "original.npz", "misp.npz", *asked, "-o", "two", folder=tmp_path)
    assert two.returncode == 0, two.stderr
    tables = [pd.read_csv(tmp_path / name / "values.csv") for name in ("one", "two")]
    pd.testing.assert_frame_equal(*tables)
    assert set(tables[0]["embedding"]) == {"original", "misp"}
    lacking = run("nli", "original.npz", "--method", "misp", *asked, "-o", "three", folder=tmp_path)
    assert (lacking.returncode, "--sets" in lacking.stderr) == (2, True)
