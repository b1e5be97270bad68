"""Training: what is learned, that it repeats, that it goes on after it was stopped, and what is refused."""

import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, InputFileError, LostWordsError, LostWordsWarning, MeasureError, OutputError
from bayesbias.nli import training
from bayesbias.nli.attention_model import AttentionModel
from bayesbias.nli.sentences import WordVectors
from bayesbias.nli.training import _batches, _examples, _held_out
from tests.nli.made import ANIMALS, PAIR_VECTORS, QUICK, animal_pairs

pytestmark = pytest.mark.extras
PAIRS = animal_pairs()


def trained(**changes: Any) -> AttentionModel:
    given = {"development": PAIRS, "epochs": 3, "random_seed": 1, **QUICK, **changes}
    return bb.nli.train(given.pop("embedding", PAIR_VECTORS), given.pop("pairs", PAIRS), **given)


def equal(one: AttentionModel, other: AttentionModel) -> bool:
    same = all(np.array_equal(one.weights[name], other.weights[name]) for name in one.weights)
    return same and one.history.equals(other.history)


@pytest.mark.parametrize("intra_attention", [True, False])
def test_a_small_language_is_learned(intra_attention: bool) -> None:
    given = {"epochs": 60, "patience": 60, "hidden_units": 32, "batch_size": 4, "dropout": 0}
    model = trained(**given, intra_attention=intra_attention)
    measured = model.evaluate(PAIRS)
    assert measured.accuracy == 1
    assert measured.counts.to_numpy().tolist() == [[8, 0, 0], [0, 8, 0], [0, 0, 8]]
    answers = model(PAIRS["premise"].tolist(), PAIRS["hypothesis"].tolist())
    assert answers.shape == (24, 3)
    assert answers.sum(axis=1) == pytest.approx(1)
    assert model.history["loss"].iloc[-1] < 0.2 < model.history["loss"].iloc[0]


def test_the_same_seed_repeats_and_another_does_not() -> None:
    first, again, other = trained(), trained(), trained(random_seed=2)
    assert equal(first, again)
    assert not equal(first, other)
    drawn = trained(random_seed=None)
    assert equal(drawn, trained(random_seed=drawn.random_seed))


def test_the_generator_of_torch_is_left_alone() -> None:
    import torch

    before = torch.random.get_rng_state()
    trained(epochs=1)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_best_epoch_is_kept_and_the_training_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """With accuracies that are given: 0.2, 0.5, then nothing better for three epochs."""
    accuracies = iter([0.2, 0.5, 0.5, 0.4, 0.3, 0.9])
    epoch_weights: list[dict[str, Any]] = []

    def answered(weights: Any, *_: Any) -> Any:
        epoch_weights.append(weights)
        right = round(next(accuracies) * 10)
        labels = np.eye(3)[[0] * 10]
        labels[right:] = [0, 1, 0]
        return labels

    monkeypatch.setattr(training, "probabilities", answered)
    ten = pd.concat([PAIRS[PAIRS["label"] == "neutral"]] * 2).head(10)
    model = trained(development=ten, epochs=20, patience=3)
    assert model.history["accuracy"].tolist() == [0.2, 0.5, 0.5, 0.4, 0.3]
    assert all(np.array_equal(model.weights[name], epoch_weights[1][name]) for name in epoch_weights[1])
    assert "epoch='2 of 5'" in repr(model)


def test_the_bar_says_the_best_accuracy_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    bar = Mock()
    monkeypatch.setattr(training, "progress_bar", lambda *_, **__: nullcontext(bar))
    accuracies = trained().history["accuracy"]
    best = [f"Training, best accuracy {accuracy:.3f}" for accuracy in accuracies.cummax()]
    assert [described.args[0] for described in bar.describe.call_args_list] == best
    assert bar.advance.call_args_list == [call(0), call(), call(), call()]


def test_a_tenth_of_the_premises_is_held_out() -> None:
    many = pd.concat([PAIRS.assign(premise=PAIRS["premise"] + f" {number}") for number in range(10)])
    training_pairs, out = _held_out(many, 3)
    assert len(out) == 8 * 3
    assert len(training_pairs) + len(out) == len(many)
    assert not set(training_pairs["premise"]) & set(out["premise"])
    assert not out.equals(_held_out(many, 4)[1])
    with pytest.raises(MeasureError, match=" 1 premises"):
        trained(pairs=PAIRS.head(3), development=None)


def test_batches_hold_each_pair_once_and_pairs_of_about_the_same_length() -> None:
    vectors = WordVectors.from_embedding(bb.load_embedding(PAIR_VECTORS))
    frame = PAIRS.assign(hypothesis=[f"{'a ' * (pair % 12)}{text}" for pair, text in enumerate(PAIRS["hypothesis"])])
    vectors.learn([*frame["premise"], *frame["hypothesis"]], "the pairs")
    examples = _examples(frame, vectors)
    batches = list(_batches(examples, 5, np.random.default_rng(1)))
    assert sorted(np.concatenate(batches)) == list(range(24))
    assert sorted(map(len, batches)) == [4, 5, 5, 5, 5]
    lengths = [[len(examples.rows[pair]) for pair in examples.pairs[1, batch]] for batch in batches]
    assert max(max(sizes) - min(sizes) for sizes in lengths) <= 4


def test_a_training_that_was_stopped_goes_on_to_the_same_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, whole = tmp_path / "training.safetensors", trained(epochs=5, patience=5)
    run, calls = training._epoch, []

    def stopped(*given: Any) -> float:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run(*given)

    monkeypatch.setattr(training, "_epoch", stopped)
    with pytest.raises(KeyboardInterrupt):
        trained(epochs=5, patience=5, checkpoint=path)
    again = trained(epochs=5, patience=5, checkpoint=path, random_seed=None)  # whose seed is that of the file
    assert len(calls) == 3 + 3
    assert equal(again, whole)
    assert again.random_seed == 1
    assert equal(trained(epochs=5, patience=5, checkpoint=path), whole)
    assert len(calls) == 3 + 3  # nothing was left to do
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.slow
def test_a_training_that_was_killed_goes_on(tmp_path: Path) -> None:
    code = (
        "from tests.nli.test_training import trained\n"
        "import sys\n"
        "trained(epochs=2000, patience=2000, checkpoint=sys.argv[1])\n"
    )
    path = tmp_path / "training.safetensors"
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=Path(__file__).parents[2])
    try:
        deadline = time.monotonic() + 120
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    from bayesbias.nli.model_files import read_checkpoint, write_checkpoint

    left = read_checkpoint(path)
    assert 0 < len(left.losses) < 2000
    epochs = len(left.losses) + 3
    left.settings |= {"epochs": epochs, "patience": epochs}
    write_checkpoint(left, path)
    settings = {"epochs": epochs, "patience": epochs}
    assert equal(trained(**settings, checkpoint=path), trained(**settings))


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "training.safetensors"
    model = trained(checkpoint=path)
    before = path.read_bytes()
    moved = {word: vector + 0.1 for word, vector in PAIR_VECTORS.items()}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"embedding": moved}, r"training\.safetensors .*: other vectors\."),
        ({"pairs": PAIRS.iloc[1:]}, "other pairs"),
        ({"development": PAIRS.iloc[1:]}, "development"),
        ({"dropout": 0.5}, r"dropout=0\.2 .*0\.5"),
        ({"random_seed": 7}, "random_seed=1 .*7"),
        ({"hidden_units": 4, "intra_attention": False}, "hidden_units=16 .*4; intra_attention=True .*False"),
    ]
    for change, message in cases:
        with pytest.raises(InputFileError, match=message):
            trained(checkpoint=path, **change)
    assert path.read_bytes() == before
    with pytest.raises(InputFileError, match=r"bb\.nli\.train, .*model"):
        bb.nli.load(path)
    model.save(path, overwrite=True)
    with pytest.raises(InputFileError, match=r" model .*checkpoint"):
        trained(checkpoint=path)
    path.write_bytes(before[:-100])
    with pytest.raises(InputFileError, match="damaged"):
        trained(checkpoint=path)
    with pytest.raises(OutputError, match="none"):
        trained(checkpoint=tmp_path / "none" / "file")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_units": 0}, "hidden_units=0"),
        ({"learning_rate": 0}, "learning_rate=0"),
        ({"dropout": 1}, "dropout=1"),
        ({"intra_attention": 1}, "intra_attention=1"),
        ({"epochs": 0}, "epochs=0"),
        ({"patience": True}, "patience=True"),
        ({"batch_size": 2.5}, r"batch_size=2\.5"),
        ({"checkpoint": 5}, "path=5"),
        ({"development": "SICK"}, "development='SICK'"),
    ],
)
def test_arguments_are_checked(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        trained(**change)


def test_a_training_that_diverges_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = iter([0.9, float("nan")])
    monkeypatch.setattr(training, "_epoch", lambda *_: next(losses))
    with pytest.raises(MeasureError, match=r"epoch 2: .*learning_rate .*0\.025"):
        trained()


def test_words_that_the_vectors_lack_are_told() -> None:
    few = {word: vector for word, vector in PAIR_VECTORS.items() if word not in ("dog", "frog")}
    with pytest.warns(LostWordsWarning, match=" 2 .* 12 .*: dog, frog"):
        model = trained(embedding=few)
    assert model.lost_words == ("dog", "frog")
    with pytest.warns(LostWordsWarning, match=r" 1 .* 3 .* 33\.3%"):
        model(["A gnu sleeps"], ["A gnu sleeps"])
    with pytest.raises(LostWordsError, match="sleeps"):
        trained(embedding={"hund": [1.0, 2.0]})


def test_what_is_asked_of_a_model_is_checked() -> None:
    model = trained(epochs=1)
    assert model([], []).shape == (0, 3)
    with pytest.raises(MeasureError, match=r"1 premises .*2 "):
        model(["a dog"], ["a dog", "a cat"])
    with pytest.raises(MeasureError, match=r"'\.\.\.'"):
        model(["a dog"], ["..."])
    with pytest.raises(ArgumentError, match="hdi_prob"):
        model.evaluate(PAIRS, hdi_prob=2)
    assert set(ANIMALS) <= set(model.vectors.forms)
    assert "<table>" in model._repr_html_()


@pytest.mark.slow
def test_a_test_set_is_scored_and_each_premise_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All words of one premise stand in one part, but where a part ends in between."""
    from bayesbias.nli import attention_model

    encoded, encode = [], attention_model.encode

    def counted(weights: Any, vectors: Any, *given: Any) -> Any:
        encoded.append(len(vectors))
        return encode(weights, vectors, *given)

    pairs = bb.nli.test_set("explicit")
    words = {word for text in pairs["hypothesis"] for word in text.lower().rstrip(".").split()}
    rng = np.random.default_rng(1)
    vectors = {**PAIR_VECTORS, **{word: rng.standard_normal(12) for word in sorted(words | {"person"})}}
    model = trained(embedding=vectors, epochs=1)
    monkeypatch.setattr(attention_model, "encode", counted)
    scores = bb.nli.score(pairs, model)
    assert np.isfinite(scores["neutral"]).all()
    assert sum(encoded[::2]) <= 1968 + len(encoded) // 2
    assert sum(encoded[1::2]) == len(pairs)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_sick_is_learned_better_than_its_largest_class(shared: Path) -> None:
    """A small network for few epochs; validation/nli_training has the whole one."""
    path = shared / "data" / "nli" / "sick.csv.gz"
    pairs, test = (bb.nli.read_pairs(path, splits=name) for name in ("TRAIN", "TEST"))
    embedding = shared / "data" / "embeddings" / "glove_6b_50d_10382.txt"
    model = bb.nli.train(embedding, pairs, hidden_units=32, epochs=8, random_seed=1, progress=False)
    measured = model.evaluate(test)
    assert measured.largest_label == pytest.approx(0.569, abs=0.001)
    assert measured.hdi_low > 0.6
