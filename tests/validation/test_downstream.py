"""Models of inference on debiased vectors (`validation/downstream`): its text says its numbers, its script runs."""

import json
from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from tests.nli.answers.test_train_and_compare import taught, vectors
from tests.nli.made import few_pairs
from tests.validation.numbers import unexplained
from tests.validation.scripts import VALIDATION, load_script

FOLDER = VALIDATION / "downstream"
README = " ".join((FOLDER / "README.md").read_text(encoding="utf-8").split())
VALUES, CHANGES, RUNS = (pd.read_csv(FOLDER / f"{name}.csv") for name in ("values", "changes", "runs"))


def said(frame: pd.DataFrame, embedding: str, quantity: str, population: str = "these words") -> str:
    rows = frame[(frame["embedding"] == embedding) & (frame["quantity"] == quantity)]
    (row,) = rows[rows["population"] == population].to_dict("records")
    return f"{row['mean']:.3f} ({row['hdi_low']:.3f} to {row['hdi_high']:.3f})"


def test_the_text_says_the_numbers_of_the_tables() -> None:
    gap = "male - female"
    parts = [said(VALUES, name, gap) for name in ("original", "hard")]
    parts += [said(CHANGES, name, "overall") for name in ("hard", "misp")]
    parts.append(said(CHANGES, "hard", "size of the contrast"))
    contrasts = RUNS.loc[RUNS["embedding"] == "original", "contrast"]
    parts += [f"{contrasts.min():.3f} after one training and +{contrasts.max():.3f} after another"]
    pairs = pd.read_csv(FOLDER / "word_pairs.csv").set_index(["embedding", "first", "second"])
    for name in ("original", "hard"):
        row = pairs.loc[(name, "guy", "lady")]
        parts.append(f"{row['mean']:.3f} ({row['hdi_low']:.3f} to {row['hdi_high']:.3f})")
    parts += [f"{x:.3f}" for x in pd.read_csv(FOLDER / "accuracy.csv").groupby("embedding")["accuracy"].mean()]
    facts = json.loads((FOLDER / "run.json").read_text())
    parts += [f"{facts['seconds']:,} s", f"{facts['seconds_a_training']} s", f"{facts['lost_words']:,} of the words"]
    original = VALUES[(VALUES["embedding"] == "original") & (VALUES["quantity"] == "overall")]
    parts.append(f"of {original.loc[original['population'] == 'these words', 'mean'].item():.3f}")
    asked = bb.nli.test_set("explicit")
    lists = ("29 of 100 female", "66 of 100 male", "took 36 and 69 names", "10 of them words")
    facts_of_data = (
        "13,784 words of 300 dimensions",
        "4,439 pairs",
        "120 times",
        f"{len(asked):,} pairs",
        "15 trainings of",
    )
    given = ("Dawkins (2021)", "2014", "at most 10 passes", "And 10 passes", "length 1", *lists, *facts_of_data)
    assert unexplained(README, [*parts, *given]) == []
    assert facts["epochs"] == 10
    assert len(RUNS) == 15
    distance = CHANGES[(CHANGES["embedding"] == "hard") & (CHANGES["quantity"] == "distance")]
    assert (distance["hdi_low"] > 0).all()


def test_the_tables_are_those_of_the_answers(tmp_path: Path) -> None:
    script = load_script("downstream", "make_downstream")
    script.write(script.compared(FOLDER), tmp_path)
    for name in ("values", "changes", "words", "word_pairs", "runs"):
        made, kept = (pd.read_csv(folder / f"{name}.csv") for folder in (tmp_path, FOLDER))
        pd.testing.assert_frame_equal(made, kept, atol=0.02, rtol=0.05)  # draws: within their Monte Carlo error


@pytest.mark.extras
@pytest.mark.slow
def test_the_script_trains_and_keeps_answers(tmp_path: Path) -> None:
    script = load_script("downstream", "make_downstream")
    frame = taught()
    pd.concat([frame.assign(split=part) for part in ("TRAIN", "TRIAL", "TEST")]).to_csv(tmp_path / "sick.csv")
    embeddings = {name: bb.load_embedding(vectors(alike=name == "same")) for name in ("original", "same")}
    asked = few_pairs()
    script.train_all(embeddings, tmp_path / "sick.csv", tmp_path, seeds=3, epochs=2, hidden_units=6, asked=asked)
    found = script.compared(tmp_path, asked)
    assert found.runs["embedding"].tolist() == ["original"] * 3 + ["same"] * 3
    assert len(pd.read_csv(tmp_path / "accuracy.csv")) == 6
