"""Transformers as models of inference: a small one that is built and saved here, its labels, its limits."""

import json
import shutil
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, InputFileError, MeasureError
from bayesbias.nli.model_scores import LABELS

pytestmark = pytest.mark.extras
WORDS = ["a", "person", "ate", "an", "apple", "he", "she", "the", "man", "woman", "bought", "##s", "."]
LONGEST = 24


def built(folder: Path, labels: Any = LABELS, order: tuple[int, ...] = (0, 1, 2), longest: int = LONGEST) -> Path:
    """Save a small BERT with random weights, whose last layer stands in some order, and its WordPiece tokenizer."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=longest)
    named = dict(enumerate(labels))
    configuration = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=longest, id2label=named, label2id={label: number for number, label in named.items()},
        initializer_range=0.5,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = BertForSequenceClassification(configuration)
    if len(order) == len(labels):
        with torch.no_grad():
            for parameter in (model.classifier.weight, model.classifier.bias):
                parameter.copy_(parameter[list(order)].clone())
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("models") / "tiny")


def pairs() -> tuple[list[str], list[str]]:
    premises = ["A person ate an apple."] * 6 + ["A person bought apples."] * 2
    hypotheses = [f"{word} ate an apple." for word in ("He", "She", "The man", "The woman", "A man", "A person")]
    return premises, [*hypotheses, "She bought the apple the man ate.", "He"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_answers_are_those_of_the_library_one_by_one(saved: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = bb.nli.pipeline(saved, batch_size=3, device="cpu", progress=False)
    answers = model(*pairs())
    theirs = AutoModelForSequenceClassification.from_pretrained(saved).eval()
    tokenizer = AutoTokenizer.from_pretrained(saved)
    for row, premise, hypothesis in zip(answers, *pairs(), strict=True):
        with torch.inference_mode():
            logits = theirs(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
        assert row == pytest.approx(torch.softmax(logits, dim=0).numpy(), abs=1e-5)
    assert np.ptp(answers, axis=0).min() > 0.01  # or nothing would be shown
    assert model([], []).shape == (0, 3)


def test_the_order_of_the_labels_changes_no_score(saved: Path, tmp_path: Path) -> None:
    test_set = bb.nli.test_set("explicit").groupby("word", sort=False).head(3)
    expected = bb.nli.score(test_set, bb.nli.pipeline(saved, progress=False))
    named = ("CONTRADICTION", "Neutral", "entailment")
    order = tuple(LABELS.index(label.lower()) for label in named)
    other = bb.nli.pipeline(built(tmp_path / "permuted", named, order), progress=False)
    assert other.labels == named
    scores = bb.nli.score(test_set, other)
    assert scores[list(LABELS)].to_numpy() == pytest.approx(expected[list(LABELS)].to_numpy(), abs=1e-6)
    assert abs(expected["neutral"] - expected["entailment"]).max() > 0.01
    # And without the permuted weights the answers do differ: the labels are read.
    wrong = bb.nli.pipeline(built(tmp_path / "wrong", named), progress=False)
    assert abs(bb.nli.score(test_set, wrong)["neutral"] - expected["neutral"]).max() > 0.01


def test_no_connection_is_opened(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    assert bb.nli.pipeline(saved, progress=False)(*pairs()).shape == (8, 3)
    with pytest.raises(InputFileError, match=r"roberta-large-mnli.*snapshot_download"):
        bb.nli.pipeline("roberta-large-mnli")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("LABEL_0", "LABEL_1", "LABEL_2"), " 3 .* LABEL_0, LABEL_1, LABEL_2"),
        (("entailment", "contradiction"), " 2 .* entailment, contradiction .* neutral, entailment, contra"),
        (("positive", "neutral", "negative"), " 3 .* positive, neutral, negative"),
        (("neutral", "entailment", "contradiction", "other"), " 4 .* other"),
        (("neutral", "neutral", "entailment"), " neutral, neutral, entailment"),
    ],
)
def test_other_labels_are_refused(tmp_path: Path, labels: tuple[str, ...], message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        bb.nli.pipeline(built(tmp_path / "model", labels))


@pytest.mark.parametrize("labels", [("entailment", "not_entailment"), ("Not-Entailment", "ENTAILMENT")])
def test_a_model_with_two_labels_knows_no_contradiction(tmp_path: Path, labels: tuple[str, ...]) -> None:
    """Its entailment is that of the library, and E is sqrt(2) times that."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = built(tmp_path / "two", labels)
    model = bb.nli.pipeline(folder, progress=False, device="cpu")
    answers = pd.DataFrame(model(*pairs()), columns=list(LABELS))
    theirs, tokenizer = (
        AutoModelForSequenceClassification.from_pretrained(folder),
        AutoTokenizer.from_pretrained(folder),
    )
    place = [label.lower() for label in labels].index("entailment")
    with torch.inference_mode():
        tokens = tokenizer(*pairs(), padding=True, return_tensors="pt")
        expected = theirs.eval()(**tokens).logits.softmax(dim=-1)[:, place].numpy()
    assert answers["entailment"].to_numpy() == pytest.approx(expected, abs=1e-5)
    assert answers["neutral"].to_numpy() == pytest.approx(1 - expected, abs=1e-5)
    assert (answers["contradiction"] == 0).all()
    test_set = bb.nli.test_set("explicit").groupby("word", sort=False).head(3)
    scores = bb.nli.score(test_set, model)
    error = bb.nli.neutral_error(scores).loc[0]
    assert error["error"] == pytest.approx(np.sqrt(2) * error["entailment"])


def test_a_folder_holds_a_model_or_one_for_each_training(saved: Path, tmp_path: Path) -> None:
    for number in range(2):
        shutil.copytree(saved, tmp_path / "models" / f"seed{number}")
    (tmp_path / "models" / "notes").mkdir()
    assert [model.name for model in bb.nli.pipelines(tmp_path / "models", progress=False)] == ["seed0", "seed1"]
    assert [model.name for model in bb.nli.pipelines(saved, progress=False)] == [saved.name]
    with pytest.raises(InputFileError, match="notes"):
        bb.nli.pipelines(tmp_path / "models" / "notes")


def test_pairs_that_are_too_long_are_named(saved: Path) -> None:
    model = bb.nli.pipeline(saved, progress=False)
    assert model.longest == LONGEST
    long = "the man ate " * 7 + "apple"
    with pytest.raises(MeasureError, match=r"1 .* 2 .* 24 .* 2\d: 'He' -> 'the man ate"):
        model(["She", "He"], ["He", long])
    fits = "a " * (LONGEST - 4)
    assert model(["he"], [fits]).shape == (1, 3)
    with pytest.raises(MeasureError, match="1 of 1 "):
        model(["he"], [fits + "a"])


def test_positions_that_cannot_be_used_are_not_counted(tmp_path: Path) -> None:
    """RoBERTa's positions begin after the number of its padding: 514 of them hold 512 tokens."""
    from types import SimpleNamespace

    from bayesbias.nli.hugging_face import _longest

    tokenizer = SimpleNamespace(model_max_length=10**30)
    roberta = SimpleNamespace(max_position_embeddings=514, pad_token_id=1, model_type="roberta")
    assert _longest(roberta, tokenizer) == 512
    assert _longest(SimpleNamespace(max_position_embeddings=512, pad_token_id=0, model_type="bert"), tokenizer) == 512
    assert _longest(SimpleNamespace(model_type="t5"), tokenizer) is None


def test_what_is_given_in_memory(saved: Path) -> None:
    from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer, TextClassificationPipeline

    expected = bb.nli.pipeline(saved, progress=False)(*pairs())
    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(saved), AutoTokenizer.from_pretrained(saved)
    model.train()  # dropout must not touch the answers
    for given in ((model, tokenizer), TextClassificationPipeline(model=model, tokenizer=tokenizer)):
        loaded = bb.nli.pipeline(given, progress=False)
        assert loaded(*pairs()) == pytest.approx(expected, abs=1e-6)
        assert "BertForSequenceClassification" in repr(loaded)
    with pytest.raises(MeasureError, match="BertModel"):
        bb.nli.pipeline((AutoModel.from_pretrained(saved), tokenizer))
    for other in (5, (model, 5), None, lambda premises, hypotheses: None):
        with pytest.raises(MeasureError, match="path"):
            bb.nli.pipeline(other)


def test_folders_that_hold_no_model(saved: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputFileError, match=r"config\.json"):
        bb.nli.pipeline(empty)
    cases = {
        "weights": ("model.safetensors", lambda path: path.write_bytes(path.read_bytes()[:500])),
        "gone": ("model.safetensors", Path.unlink),
        "tokenizer": ("tokenizer.json", lambda path: path.write_text("{}")),
        "configuration": ("config.json", lambda path: path.write_text("{")),
        "kind": ("config.json", lambda path: path.write_text('{"model_type": "none"}')),
    }
    for name, (file, change) in cases.items():
        shutil.copytree(saved, tmp_path / name)
        change(tmp_path / name / file)
        with pytest.raises(InputFileError, match="cut short" if name == "weights" else "save_pretrained"):
            bb.nli.pipeline(tmp_path / name)


def test_a_model_without_a_trained_head_is_refused(saved: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    shutil.copytree(saved, tmp_path / "headless")
    weights = tmp_path / "headless" / "model.safetensors"
    body = {name: array for name, array in load_file(weights).items() if not name.startswith("classifier")}
    save_file(body, weights, metadata={"format": "pt"})
    with pytest.raises(InputFileError, match=r"classifier\.bias, classifier\.weight"):
        bb.nli.pipeline(tmp_path / "headless")


def test_code_in_a_folder_is_not_run(saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "code"
    shutil.copytree(saved, folder)
    configuration = json.loads((folder / "config.json").read_text())
    configuration |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}
    (folder / "config.json").write_text(json.dumps(configuration))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: pass\n")
    with pytest.raises(InputFileError, match="save_pretrained"):
        bb.nli.pipeline(folder)
    assert not (tmp_path / "ran").exists()


def test_weights_that_are_a_pickle_are_not_read(saved: Path, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file

    folder = Path(shutil.copytree(saved, tmp_path / "pickled"))
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputFileError, match="safetensors"):
        bb.nli.pipeline(folder)


def test_arguments_are_checked(saved: Path) -> None:
    with pytest.raises(ArgumentError, match="batch_size=0"):
        bb.nli.pipeline(saved, batch_size=0)
    for device in ("nonsense", "cuda:99", 5.5):
        with pytest.raises(MeasureError, match="device="):
            bb.nli.pipeline(saved, device=device)  # type: ignore[arg-type]
    model = bb.nli.pipeline(saved, progress=False)
    with pytest.raises(MeasureError, match=r"1 premises .* 2 "):
        model(["He"], ["He", "She"])
    assert "<table>" in model._repr_html_()
