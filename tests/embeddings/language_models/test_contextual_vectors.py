"""Contextual vectors against a plain loop; templates, the cache, and words without vectors."""

import json
import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.base.files.vector_cache import _checked
from bayesbias.embeddings.language_models import contextual_vectors as module
from bayesbias.embeddings.language_models.contextual_vectors import (
    CachedVector,
    numbers_of_vectors,
    vectors_of_numbers,
)
from bayesbias.errors import (
    ArgumentError,
    EmbeddingError,
    InputFileError,
    LostWordsError,
    LostWordsWarning,
    OutputError,
)
from tests.asymmetry.toy_language import WORDS

TEXTS = [
    "North: bado saw gile.",
    "BADO and bado.",
    "The splitter saw bado and gile.",
    "South: the splitter.",
    "Kado saw gile.",
    "A zebra saw a zebra.",
    "A zebra.",
]
TEMPLATES = ["The WORD saw.", "WORD and north.", "South: the WORD."]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> bb.embeddings.ContextIndex:
    return bb.embeddings.index_contexts(TEXTS, tmp_path_factory.mktemp("index") / "toy.contexts")


def plain_vectors(folder: Path, texts: list[str], word: str, layer: int = -1) -> np.ndarray:
    """Return the vectors of the first place of a word in texts, one text at a time, by its pieces' numbers."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    pieces = tokenizer(word, add_special_tokens=False)["input_ids"]
    vectors = []
    for text in texts:
        numbers = tokenizer(text, return_tensors="pt")["input_ids"]
        row = numbers[0].tolist()
        start = next(place for place in range(len(row)) if row[place : place + len(pieces)] == pieces)
        with torch.no_grad():
            hidden = model(input_ids=numbers, output_hidden_states=True).hidden_states[layer]
        vectors.append(hidden[0, start : start + len(pieces)].mean(dim=0).numpy())
    return np.stack(vectors)


@pytest.mark.extras
@pytest.mark.parametrize("layer", [-1, 0, 1])
def test_vectors_are_means_over_the_contexts_of_a_corpus(
    bert: Path, index: bb.embeddings.ContextIndex, layer: int
) -> None:
    words = ["bado", "gile", "splitter"]
    embedding = bb.embeddings.contextual_embedding(
        bert, words, index, layer=layer, batch=2, random_seed=1, progress=False
    )
    assert (embedding.words, embedding.paired, embedding.name) == (tuple(words), False, bert.name)
    assert embedding.contexts.tolist() == [3, 3, 2]
    assert embedding.pieces.tolist() == [1, 1, 2]
    for word, places in (("bado", [0, 1, 2]), ("gile", [0, 2, 4]), ("splitter", [2, 3])):
        expected = plain_vectors(bert, [TEXTS[place] for place in places], word, layer)
        np.testing.assert_allclose(embedding[word], expected.mean(axis=0), atol=2e-5)
        row = words.index(word)
        variances = (embedding.deviations[row].astype(float) ** 2).sum(axis=0)
        np.testing.assert_allclose(variances, expected.var(axis=0, ddof=1) / len(expected), rtol=1e-3, atol=1e-7)


@pytest.mark.extras
def test_templates_are_the_same_contexts_for_all_words(bert: Path) -> None:
    embedding = bb.embeddings.contextual_embedding(bert, ["bado", "splitter"], TEMPLATES, name="toy", progress=False)
    assert (embedding.name, embedding.paired, embedding.contexts.tolist()) == ("toy", True, [3, 3])
    for word in embedding.words:
        expected = plain_vectors(bert, [text.replace("WORD", word) for text in TEMPLATES], word)
        np.testing.assert_allclose(embedding[word], expected.mean(axis=0), atol=2e-5)


@pytest.mark.extras
def test_words_without_vectors_are_named_with_the_reason(bert: Path, index: bb.embeddings.ContextIndex) -> None:
    with pytest.warns(LostWordsWarning, match="3 words: 'kado'"):
        embedding = bb.embeddings.contextual_embedding(bert, ["bado", "kado", "zebra", "tiger"], index, progress=False)
    assert embedding.left_out == (
        ("kado", "1 context, and 2 are needed"),
        ("zebra", f"{bert.name} does not know it"),
        ("tiger", "no contexts, and 2 are needed"),
    )
    assert embedding.words == ("bado",)
    with pytest.raises(LostWordsError, match="'tiger' \\(no contexts"):
        bb.embeddings.contextual_embedding(bert, ["tiger"], index, progress=False)
    with pytest.raises(LostWordsError, match="longer"):
        bb.embeddings.contextual_embedding(
            bert, ["bado"], ["A WORD " + "saw " * 80, "WORD " + "saw " * 80], progress=False
        )


@pytest.mark.extras
def test_what_is_in_the_cache_is_not_computed_again(
    bert: Path, index: bb.embeddings.ContextIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch_sizes: list[int] = []
    compute = module.mean_piece_vectors

    def counted(model: Any, rows: list[Any], *given: Any, **named: Any) -> Any:
        batch_sizes.append(len(rows))
        return compute(model, rows, *given, **named)

    monkeypatch.setattr(module, "mean_piece_vectors", counted)
    cache = tmp_path / "cache.sqlite"
    given: dict[str, Any] = {"cache": cache, "progress": False}
    first = bb.embeddings.contextual_embedding(bert, ["bado", "gile"], index, **given)
    again = bb.embeddings.contextual_embedding(bert, ["gile", "bado", "splitter"], index, **given)
    assert batch_sizes == [6, 2]
    np.testing.assert_array_equal(again["bado"], first["bado"])
    np.testing.assert_array_equal(again.deviations[:2], first.deviations[::-1])
    assert _rows(cache) == 3
    lower = bb.embeddings.contextual_embedding(bert, ["bado"], index, layer=0, **given)
    in_templates = bb.embeddings.contextual_embedding(bert, ["bado"], TEMPLATES, **given)
    assert again.steps == first.steps
    assert len({embedding.steps for embedding in (first, lower, in_templates)}) == 3, "a gate compares them"
    other = tmp_path / "other"
    other.mkdir()
    for path in bert.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    (other / "config.json").write_text((bert / "config.json").read_text() + "\n")
    bb.embeddings.contextual_embedding(other, ["bado"], index, **given)
    assert batch_sizes == [6, 2, 3, 3, 3]
    whole = _rows(cache)
    changes = ("substr(vector, 5)", "substr(vector, 1, 8)", "x'0000803f' || vector", "substr(vector, 3)")
    for change, sealed in product(changes, (False, True)):
        changed = tmp_path / "changed.sqlite"
        changed.write_bytes(cache.read_bytes())
        with closing(sqlite3.connect(changed)) as base:
            base.execute(f"UPDATE vectors SET vector = CAST({change} AS BLOB)")
            rows = base.execute("SELECT key, vector FROM vectors").fetchall()
            if sealed:
                base.executemany("REPLACE INTO vectors VALUES (?, ?)", [(k, _checked(k, v)) for k, v in rows])
            base.commit()
        with pytest.raises(InputFileError, match=r"changed\.sqlite"):
            bb.embeddings.contextual_embedding(bert, ["bado", "gile"], index, **(given | {"cache": changed}))
    assert _rows(cache) == whole


@pytest.mark.extras
def test_a_stopped_run_continues(
    bert: Path, index: bb.embeddings.ContextIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["bado", "gile", "splitter"]
    whole = bb.embeddings.contextual_embedding(bert, words, index, progress=False)
    compute, calls = module.mean_piece_vectors, []

    def stopped(model: Any, rows: list[Any], *given: Any, **named: Any) -> Any:
        calls.append(len(rows))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return compute(model, rows, *given, **named)

    monkeypatch.setattr(module, "mean_piece_vectors", stopped)
    monkeypatch.setattr(module, "_ROWS", 1)  # one word at a time
    given: dict[str, Any] = {"cache": tmp_path / "cache.sqlite", "progress": False}
    with pytest.raises(KeyboardInterrupt):
        bb.embeddings.contextual_embedding(bert, words, index, **given)
    embedding = bb.embeddings.contextual_embedding(bert, words, index, **given)
    assert calls == [3, 3, 3, 2]
    np.testing.assert_allclose(embedding.vectors, whole.vectors, atol=1e-6)


@pytest.mark.extras
def test_vectors_of_another_length_in_a_cache_are_an_error(
    bert: Path, index: bb.embeddings.ContextIndex, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"cache": tmp_path / "cache.sqlite", "progress": False}
    bb.embeddings.contextual_embedding(bert, ["bado"], index, **given)
    with closing(sqlite3.connect(given["cache"])) as base:
        (key,) = base.execute("SELECT key FROM vectors").fetchone()
        base.execute("UPDATE vectors SET vector = ?", (_checked(key, NUMBERS.tobytes()),))
        base.commit()
    with pytest.raises(InputFileError, match="vectors of 4 and "):
        bb.embeddings.contextual_embedding(bert, ["bado", "gile"], index, **given)


def _rows(path: Path) -> int:
    with closing(sqlite3.connect(path)) as base:
        return int(base.execute("SELECT count(*) FROM vectors").fetchone()[0])


@pytest.mark.extras
def test_a_sample_of_contexts_is_that_of_the_seed(bert: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    texts = [f"North: bado saw {WORDS[place]}." for place in rng.integers(2, len(WORDS), size=60)]
    index = bb.embeddings.index_contexts(texts, tmp_path / "many.contexts")
    given: dict[str, Any] = {"most": 10, "progress": False}
    one, same, other = (
        bb.embeddings.contextual_embedding(bert, ["bado"], index, random_seed=s, **given) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.vectors, same.vectors)
    assert one.contexts.tolist() == [10]
    assert (one.vectors != other.vectors).any()


@pytest.mark.extras
def test_arguments_that_cannot_be_are_errors(bert: Path, index: bb.embeddings.ContextIndex, tmp_path: Path) -> None:
    for layer in (3, -4, True, 1.5):
        with pytest.raises(ArgumentError, match="layer="):
            bb.embeddings.contextual_embedding(bert, ["bado"], index, layer=layer)  # type: ignore[arg-type]
    for templates in ("WORD only", ["no place", "a WORD"], ["WORD and WORD", "WORD"], ["WORD"], [5, "WORD"]):
        with pytest.raises(ArgumentError, match="contexts"):
            bb.embeddings.contextual_embedding(bert, ["bado"], templates)  # type: ignore[arg-type]
    with pytest.raises(InputFileError, match="file"):
        bb.embeddings.contextual_embedding(bert, ["bado"], "absent.contexts")
    with pytest.raises(EmbeddingError, match="empty"):
        bb.embeddings.contextual_embedding(bert, [], index)
    (tmp_path / "file").write_text("text", encoding="utf-8")
    with pytest.raises(InputFileError, match="file"):
        bb.embeddings.contextual_embedding(bert, ["bado"], index, cache=tmp_path / "file")
    with pytest.raises(OutputError, match="Not a directory"):
        bb.embeddings.contextual_embedding(bert, ["bado"], index, cache=tmp_path / "file" / "more")
    with pytest.raises(ArgumentError, match="device='meta'"):
        bb.embeddings.contextual_embedding(bert, ["bado"], index, device="meta")


@pytest.mark.extras
def test_a_model_whose_file_lacks_weights_is_no_model(
    bert: Path, index: bb.embeddings.ContextIndex, tmp_path: Path
) -> None:
    for changes, message in (
        ({"num_hidden_layers": 5}, r"encoder\.layer\.2"),
        ({"model_type": "gpt2"}, r"config\.json"),
        ({"hidden_size": 50}, "other shapes than its config.json says"),
    ):
        folder = tmp_path / next(iter(changes))
        folder.mkdir()
        for path in bert.iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        settings = json.loads((bert / "config.json").read_text(encoding="utf-8"))
        (folder / "config.json").write_text(json.dumps(settings | changes), encoding="utf-8")
        with pytest.raises(EmbeddingError, match=message):
            bb.embeddings.contextual_embedding(folder, ["bado"], index)


VECTORS = CachedVector(
    mean=np.arange(4, dtype=np.float32), deviations=np.eye(20, 4, dtype=np.float32) / 3, contexts=3, pieces=7
)
NUMBERS = numbers_of_vectors(VECTORS)


def test_what_is_stored_comes_back() -> None:
    stored = vectors_of_numbers(NUMBERS)
    assert stored is not None
    assert stored.mean.tolist() == VECTORS.mean.tolist()
    assert stored.deviations.tolist() == VECTORS.deviations.tolist()
    assert (stored.contexts, stored.pieces, stored.mean.dtype) == (3, 7, np.float32)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 22, 43, len(NUMBERS) - 1])
def test_numbers_that_are_cut_short_are_no_vectors(size: int) -> None:
    assert vectors_of_numbers(NUMBERS[:size]) is None


@pytest.mark.parametrize("counts", [[0, 7], [3, -7], [3, 0], [2.5, 7], [3, 7.5], [3e38, 7]])
def test_counts_other_than_those_that_are_stored_are_no_vectors(counts: list[float]) -> None:
    assert vectors_of_numbers(np.concatenate([np.array(counts, dtype=np.float32), NUMBERS[2:]])) is None
