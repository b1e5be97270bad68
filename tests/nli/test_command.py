"""`bayesbias nli`, as a user runs it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesbias.errors import MeasureError
from bayesbias.nli.test_sets.splits import parts_of
from tests.nli.answers.test_train_and_compare import taught, vectors
from tests.test_cli import run

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


def given(folder: Path) -> None:
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
    given(tmp_path)
    quick = ("--seeds", "3", "--epochs", "4", "--hidden-units", "8", "--seed", "1", "--test-set", "asked.toml")
    asked = ("nli", "original.npz", "same.npz", "--pairs", "pairs.csv", *quick)
    done = run(*asked, "--output", "found", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "same: E is" in done.stdout
    assert "accuracy" in done.stdout
    there = {path.name for path in (tmp_path / "found").iterdir()}
    assert there == {
        *("inference.html", "inference.png", "inference.txt"),
        *("values.csv", "changes.csv", "words.csv", "word_pairs.csv", "runs.csv"),
    }
    runs = pd.read_csv(tmp_path / "found" / "runs.csv")
    assert runs["embedding"].tolist() == ["original"] * 3 + ["same"] * 3
    assert abs(runs.loc[runs["embedding"] == "same", "contrast"]).max() < 1e-6
    again = run(*asked, "--output", "found", folder=tmp_path)
    assert again.returncode == 2
    assert "exists" in again.stderr or "not empty" in again.stderr


def test_what_cannot_be_asked_is_told_in_a_message(tmp_path: Path) -> None:
    given(tmp_path)
    one = run("nli", "original.npz", "--pairs", "pairs.csv", "--output", "found", folder=tmp_path)
    assert (one.returncode, "Give two or more" in one.stderr) == (2, True)
    (tmp_path / "pairs.csv").write_text("premise,hypothesis,label,split\nA dog,A cat,neutral,holdout\n")
    other = run("nli", "original.npz", "same.npz", "--pairs", "pairs.csv", "--output", "found", folder=tmp_path)
    assert (other.returncode, "split holdout" in other.stderr) == (2, True)
    assert not (tmp_path / "found").exists()


def test_parts_are_found_by_their_usual_names() -> None:
    pairs = taught()
    pairs["split"] = ["Train"] * 40 + ["validation"] * 5 + ["test"] * 3
    assert [len(part) for part in parts_of(pairs) if part is not None] == [40, 5, 3]
    with pytest.raises(MeasureError, match="none to train on"):
        parts_of(pairs.assign(split="test"))
