"""Trainings on several embeddings, compared: with PyTorch, on sentences that are learnt in seconds."""

import importlib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, BayesBiasError, LostWordsWarning, MeasureError
from tests.nli.made import few_pairs, trained

WORDS = sorted({word for text in bb.nli.test_set("explicit")[["premise", "hypothesis"]].to_numpy().ravel()
                for word in text.lower().rstrip(".").split()} | {"nobody", "saw", "has", "book"})  # fmt: skip
SETTINGS = {"hidden_units": 12, "epochs": 6, "patience": 6, "batch_size": 8, "dropout": 0}


def taught() -> pd.DataFrame:
    """Return pairs that teach: a person is a man (entailment), nobody is one (contradiction), else neutral."""
    rows = []
    for thing in ("apple", "car", "book", "soup"):
        for verb in ("bought", "saw", "has"):
            end = f"{verb} a {thing}"
            rows += [
                (f"A person {end}", f"A man {end}", "entailment"),
                (f"A person {end}", f"Nobody {end}", "contradiction"),
            ]
            rows += [
                (f"A person {end}", f"A woman {end}", "neutral"),
                (f"A person {end}", f"A person {end}", "entailment"),
            ]
    return pd.DataFrame(rows, columns=["premise", "hypothesis", "label"])


def vectors(*, alike: bool) -> tuple[list[str], np.ndarray]:
    """Return random vectors, in which men and women are the same if they are `alike`."""
    made = dict(zip(WORDS, np.random.default_rng(1).standard_normal((len(WORDS), 10)), strict=True))
    pairs = [("man", "woman"), ("guy", "girl"), ("gentleman", "lady"), ("he", "she")]
    for number, (male, female) in enumerate(pairs):
        made[male] = made["man"] + 0.3 * np.random.default_rng(number + 2).standard_normal(10) * (number > 0)
        made[female] = made[male] if alike else made["woman"] + 0.1 * number
    return list(made), np.stack(list(made.values()))


@pytest.mark.extras
@pytest.mark.slow
def test_vectors_that_cannot_tell_groups_apart_make_models_that_do_not(tmp_path: Path) -> None:
    test_set = few_pairs()
    embeddings = {"original": vectors(alike=False), "same": vectors(alike=True)}
    arguments = {
        "trainings": 3,
        "development": taught(),
        "test_pairs": taught(),
        "settings": SETTINGS,
        "random_seed": 1,
    }
    comparison = bb.nli.train_and_compare(
        embeddings, taught(), test_set, checkpoints=tmp_path / "kept", progress=False, **arguments
    )
    runs = comparison.runs.groupby("embedding")
    assert (runs["contrast"].max()["same"], runs["contrast"].min()["same"]) == pytest.approx((0, 0), abs=1e-6)
    assert runs["contrast"].min()["original"] > 0.01
    assert {"accuracy", "distance"} <= set(comparison.runs)
    assert len(list((tmp_path / "kept").iterdir())) == 6
    again = bb.nli.train_and_compare(
        embeddings, taught(), test_set, checkpoints=tmp_path / "kept", progress=False, **arguments
    )
    assert again.runs.equals(comparison.runs)
    assert again.changes.equals(comparison.changes)
    other = {"original": vectors(alike=True), "same": vectors(alike=True)}
    with pytest.raises(BayesBiasError, match="vectors"):
        bb.nli.train_and_compare(other, taught(), test_set, checkpoints=tmp_path / "kept", progress=False, **arguments)


@pytest.mark.extras
def test_lost_words_are_said_once_an_embedding() -> None:
    words, matrix = vectors(alike=False)
    fewer = [word for word in words if word != "she"]
    lacking = (fewer, matrix[[words.index(word) for word in fewer]])
    arguments = {"trainings": 3, "development": taught(), "settings": SETTINGS | {"epochs": 1}, "random_seed": 1}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bb.nli.train_and_compare({"a": lacking, "b": lacking}, taught(), few_pairs(), progress=False, **arguments)  # type: ignore[arg-type]
    messages = [str(warning.message) for warning in caught if issubclass(warning.category, LostWordsWarning)]
    assert len(messages) == 2 * len(set(messages)) > 0


def test_what_is_wrong_is_told_before_any_training(tmp_path: Path) -> None:
    two = {"original": vectors(alike=False), "same": vectors(alike=True)}
    with pytest.raises(ArgumentError, match="settings"):
        bb.nli.train_and_compare(two, taught(), settings={"hidden": 3})
    with pytest.raises(ArgumentError, match="trainings"):
        bb.nli.train_and_compare(two, taught(), trainings=2)
    with pytest.raises(MeasureError, match="1 embedding"):
        bb.nli.train_and_compare({"original": vectors(alike=False)}, taught())
    with pytest.raises(BayesBiasError, match="explict"):
        bb.nli.train_and_compare(two, taught(), "explict")
    with pytest.raises(BayesBiasError, match="label"):
        bb.nli.train_and_compare(two, taught(), test_pairs=few_pairs())


def test_a_file_of_vectors_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, matrix = vectors(alike=False)
    path = bb.write_embedding(bb.Embedding(tuple(words), matrix), tmp_path / "vectors.npz")
    module = importlib.import_module("bayesbias.nli.comparisons")
    read: list[object] = []
    monkeypatch.setattr(module, "load_embedding", lambda source: read.append(source) or bb.load_embedding(source))
    monkeypatch.setattr(module, "train", lambda given, *_, random_seed, **__: trained(0.1, random_seed))
    bb.nli.train_and_compare({"one": path, "other": path}, taught(), few_pairs(), trainings=4, random_seed=1)
    assert read == [path, path]
