"""What `validation/nli_training` keeps: its figures meet their targets, its text says what its tables hold."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from tests.nli.made import PAIR_VECTORS, animal_pairs
from tests.validation.numbers import prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

FOLDER = VALIDATION / "nli_training"
TEXT = (FOLDER / "README.md").read_text(encoding="utf-8")
FOUND = pd.read_csv(FOLDER / "accuracy.csv")
SCRIPT = load_script("nli_training", "train_sick")


def test_the_targets_are_met() -> None:
    """At least 0.70 with each of five seeds, in under five minutes of a processor each."""
    assert FOUND["seed"].tolist() == [1, 2, 3, 4, 5]
    assert FOUND["test"].min() >= 0.70
    assert FOUND["cpu_seconds"].max() < 300
    assert FOUND["largest_label"].round(2).unique().tolist() == [0.57]


def test_the_text_says_what_the_tables_hold() -> None:
    for row in FOUND.itertuples():
        assert (
            f"| {row.seed} | {row.best_epoch} of {row.epochs} | {row.train:.3f} | {row.development:.3f} | "
            f"{row.test:.3f} ({row.hdi_low:.3f} to {row.hdi_high:.3f}) | {row.cpu_seconds} |"
        ) in TEXT
    for row in pd.read_csv(FOLDER / "limits.csv").itertuples():
        assert f"| {row.change} | {row.pairs:,} | {row.epochs} | {row.train:.3f} | {row.test:.3f} |" in TEXT
    for row in pd.read_csv(FOLDER / "lost_words.csv").itertuples():
        assert f"| {row.lost} | {row.pairs:,} | {row.accuracy:.3f} | {row.neutral:.3f} |" in TEXT
    for row in pd.read_csv(FOLDER / "labels.csv").to_dict("records"):
        shares = " | ".join(f"{row[label]:.2f}" for label in ("neutral", "entailment", "contradiction"))
        assert f"| {row['right']} | {row['pairs']:,} | {shares} |" in TEXT


def test_the_text_says_the_numbers_of_the_tables_and_no_others() -> None:
    run = json.loads((FOLDER / "run.json").read_text(encoding="utf-8"))
    pairs, words = run["pairs"], run["words_of_train"]
    limits = pd.read_csv(FOLDER / "limits.csv").set_index("change")
    assert limits["seed"].eq(1).all()
    computed = [
        f"trained on SICK's {pairs['train']:,} training pairs, stopped on its {pairs['development']} trial pairs, and "
        f"evaluated on its {pairs['test']:,} test pairs. The vectors are {run['vectors']['words']:,} words",
        f"mean {FOUND['test'].mean():.3f}, sd over seeds {FOUND['test'].std():.3f}",
        f"The most frequent label has {FOUND['largest_label'].unique().item():.3f} of the pairs",
        "lower test accuracy. Seed 1:",
        f"training ends after {limits['epochs'].iloc[-1]} epochs",
        f"{words['lost']:,} of the {words['distinct']:,} words",
        f"{words['share_of_all']:.1%} of all words",
        "much better (seed 5)",
        "answers** (seed 5)",
    ]
    assert unexplained(prose(FOLDER / "README.md"), computed) == []


def test_how_accuracy_is_told_by_lost_words_and_labels() -> None:
    test = pd.DataFrame(
        {
            "premise": ["A dog runs", "A gnu runs", "Gnu, ibex and okapi run", "A dog of dogs runs"],
            "hypothesis": ["A cat runs", "A gnu runs", "A gnu runs", "It runs"],
            "label": ["neutral", "entailment", "contradiction", "neutral"],
        }
    )
    answers = np.eye(3)[[0, 0, 2, 1]]
    found = SCRIPT.by_lost_words(answers, test, ("gnu", "Gnu", "ibex", "okapi", "of"))
    assert found.to_numpy().tolist() == [["none", 2, 0.5, 1.0], ["1 or 2", 1, 0.0, 0.0], ["3 or more", 1, 1.0, 0.0]]
    told = SCRIPT.labels(answers, test["label"].to_numpy())
    assert told.to_numpy().tolist() == [
        ["neutral", 2, 0.5, 0.5, 0.0],
        ["entailment", 1, 1.0, 0.0, 0.0],
        ["contradiction", 1, 0.0, 0.0, 1.0],
    ]


@pytest.mark.extras
@pytest.mark.slow
def test_the_script_runs(tmp_path: Path) -> None:
    embedding, pairs = bb.load_embedding(PAIR_VECTORS), animal_pairs()
    splits = [pairs, pairs, pairs]
    SCRIPT.over_seeds(embedding, splits, [1, 2], 2, tmp_path)
    SCRIPT.limits(embedding, splits, 1, 2, tmp_path)
    assert SCRIPT.lost_share(embedding, pairs)["lost"] == 0
    for name in ("accuracy", "lost_words", "labels", "limits"):
        columns = pd.read_csv(FOLDER / f"{name}.csv").columns.tolist()
        assert pd.read_csv(tmp_path / f"{name}.csv").columns.tolist() == columns
    assert pd.read_csv(tmp_path / "accuracy.csv")["seed"].tolist() == [1, 2]
    assert np.isfinite(pd.read_csv(tmp_path / "limits.csv")["test"]).all()
