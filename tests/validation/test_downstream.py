"""Models of inference on debiased vectors (`validation/downstream`): its text says its numbers, its script runs."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from tests.nli.made import few_pairs
from tests.nli.test_comparisons_train_and_compare import taught, vectors
from tests.validation.numbers import unexplained
from tests.validation.scripts import VALIDATION, load_script

FOLDER = VALIDATION / "downstream"
README = " ".join((FOLDER / "README.md").read_text(encoding="utf-8").split())
GUIDE = " ".join((VALIDATION.parent / "docs" / "guide" / "downstream.md").read_text(encoding="utf-8").split())
VALUES, CHANGES, RUNS = (pd.read_csv(FOLDER / f"{name}.csv") for name in ("values", "changes", "runs"))


def said(frame: pd.DataFrame, embedding: str, quantity: str, scope: str = "these_words") -> str:
    rows = frame[(frame["embedding"] == embedding) & (frame["quantity"] == quantity)]
    (row,) = rows[rows["scope"] == scope].to_dict("records")
    return f"{row['mean']:.3f} ({row['hdi_low']:.3f} to {row['hdi_high']:.3f})"


def test_the_text_says_the_numbers_of_the_tables() -> None:
    contrast = "male - female"
    parts = [said(VALUES, name, contrast) for name in ("original", "hard", "misp")]
    parts += [said(CHANGES, name, "overall") for name in ("hard", "misp")]
    parts += [said(CHANGES, "hard", quantity) for quantity in ("size of the contrast", contrast)]
    contrasts = RUNS.loc[RUNS["embedding"] == "original", "contrast"]
    lowest, *others = sorted(contrasts)
    parts.append(f"{lowest:.3f} after one training and {others[0]:.3f} to {others[-1]:.3f} after the other four")
    assert f"{lowest:.3f} after one training and +{others[-1]:.3f} after another" in GUIDE
    assert (RUNS.loc[RUNS["embedding"] == "hard", "contrast"] > 0).all()
    spread = RUNS.groupby("embedding")["contrast"].std()["original"]
    parts.append(f"a standard deviation of {spread:.2f}")
    pairs = pd.read_csv(FOLDER / "word_pairs.csv").set_index(["embedding", "first", "second"])
    for name in ("original", "hard"):
        row = pairs.loc[(name, "guy", "lady")]
        parts.append(f"{row['mean']:.3f} ({row['hdi_low']:.3f} to {row['hdi_high']:.3f})")
    trainings = pd.read_csv(FOLDER / "accuracy.csv")
    parts += [f"{x:.3f}" for x in trainings.groupby("embedding")["accuracy"].mean()]
    passes, best = trainings["passes"], trainings["best_pass"]
    assert (passes - best == 5).all()  # each training went to its end
    parts += [f"ended after {passes.min()} to {passes.max()} passes", f"best pass is {best.min()} to {best.max()}"]
    facts = json.loads((FOLDER / "run.json").read_text())
    assert (facts["trainings"], facts["epochs"], facts["patience"]) == (len(RUNS), 100, 5)
    assert len(trainings) == len(RUNS) == 15
    parts += [f"{facts['processor_seconds']:,} processor seconds", f"{facts['lost_words']:,} of the words"]
    original = VALUES[(VALUES["embedding"] == "original") & (VALUES["quantity"] == "overall")]
    parts.append(f"of {original.loc[original['scope'] == 'these_words', 'mean'].item():.3f}")
    asked = bb.nli.test_set("explicit")
    # The same vectors and pairs as there.
    same = json.loads((VALIDATION / "nli_training" / "run.json").read_text(encoding="utf-8"))
    # SNLI has 549,367 training pairs with a label (Bowman et al. 2015); names of which these vectors lack some.
    times = round(round(549_367 / same["pairs"]["train"]), -1)
    facts_of_data = (
        f"{same['vectors']['words']:,} words of {same['vectors']['dimensions']} dimensions",
        f"{same['pairs']['train']:,} pairs",
        f"{times} times",
        f"{len(asked):,} pairs",
        f"{len(trainings)} trainings",
        "29 of 100 female",
        "66 of 100 male",
    )
    given = ("Dawkins (2021)", "2014", "length 1", f"at most {facts['epochs']} passes", *facts_of_data)
    assert unexplained(README, [*parts, *given]) == []
    for quantity in ("size of the contrast", "distance"):
        assert is_settled(CHANGES, "hard", quantity)
    assert not is_settled(CHANGES, "misp", "size of the contrast")
    assert not is_settled(CHANGES, "hard", contrast)
    assert not any(is_settled(CHANGES, name, "overall") for name in ("hard", "misp"))


def is_settled(frame: pd.DataFrame, embedding: str, quantity: str) -> bool:
    rows = frame[(frame["embedding"] == embedding) & (frame["quantity"] == quantity)]
    (row,) = rows[rows["scope"] == "these_words"].to_dict("records")
    return row["hdi_low"] > 0 or row["hdi_high"] < 0


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
    trainings = pd.read_csv(tmp_path / "accuracy.csv")
    assert trainings[["embedding", "seed"]].to_numpy().tolist() == [
        [name, seed] for name in ("original", "same") for seed in (1, 2, 3)
    ]
    assert trainings["passes"].between(1, 2).all()
    assert (trainings["best_pass"] <= trainings["passes"]).all()
    assert json.loads((tmp_path / "run.json").read_text())["trainings"] == 6


def test_the_notebook_shows_nouns_and_pronouns_apart_beside_the_papers_table_1() -> None:
    asked = bb.nli.test_set("explicit")
    contrasts: dict[str, list[float]] = {"all": [], "noun": [], "pronoun": []}
    with np.load(FOLDER / "answers.npz") as file:
        for seed in range(1, 6):
            probabilities = file[f"original-{seed}"].astype(float)
            error = np.sqrt(probabilities.sum(axis=1) ** 2 + (probabilities**2).sum(axis=1))
            male = (asked["group"] == "male").to_numpy()
            for kind, values in contrasts.items():
                part = (asked["kind"] == kind).to_numpy() | (kind == "all")
                values.append(error[part & male].mean() - error[part & ~male].mean())
    means = {kind: float(np.mean(values)) for kind, values in contrasts.items()}
    assert means == pytest.approx({"all": 0.343, "noun": 0.406, "pronoun": 0.155}, abs=0.0006)
    notebook = json.loads((VALIDATION.parent / "notebooks" / "does_it_reach_a_model.ipynb").read_text(encoding="utf-8"))
    printed = ["".join(output["data"]["text/plain"]) for cell in notebook["cells"] for output in cell.get("outputs", ())
               if "text/plain" in output.get("data", {})]  # fmt: skip
    (shown,) = (text for text in printed if "E (paper)" in text)
    noun, pronoun = (line.split()[1:] for line in shown.splitlines()[3:5])
    # Dawkins (2021), table 1, GloVe: E and d of nouns and of pronouns.
    assert [noun[2:], pronoun[2:]] == [["0.406", "0.182", "0.225"], ["0.155", "0.865", "0.797"]]
