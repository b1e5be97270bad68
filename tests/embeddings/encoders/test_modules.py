"""Modules of encoders: classes and settings that would run code are refused, before any library is imported."""

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.encoders.folders import folder_encoder
from bayesbias.errors import InputFileError
from tests.embeddings.encoders.module_folders import (
    DENSE,
    HOMES,
    OTHER_CLASSES,
    OTHER_SETTINGS,
    POOLING,
    TRANSFORMER,
    Touch,
    with_other_files,
    written,
)
from tests.embeddings.encoders.opened_files import opened_files


@pytest.mark.parametrize("kind", OTHER_CLASSES)
def test_other_classes_are_refused_and_their_weights_stay_unopened(tmp_path: Path, kind: Any) -> None:
    trace = tmp_path / "trace"
    files = {
        "1/router_config.json": {
            "types": {"weights": "sklearn.utils.parallel.joblib"},
            "structure": {"a": ["weights"]},
        },
        "1/config.json": {"types": {"weights": "sklearn.utils.parallel.joblib"}},
        "1/weights": pickle.dumps(Touch(trace)),
    }
    folder = written(tmp_path / "model", [TRANSFORMER, {"type": kind, "path": "1"}], files)
    with opened_files(folder) as opened, pytest.raises(InputFileError, match=r"modules\.json names the class"):
        bb.embeddings.load_encoder(folder)
    assert "1/weights" not in opened
    assert not trace.exists()


@pytest.mark.parametrize(("name", "file", "settings"), OTHER_SETTINGS)
def test_settings_that_name_functions_or_other_models_are_refused(
    tmp_path: Path, name: str, file: str, settings: Any
) -> None:
    modules = [{"type": f"{HOMES[0]}.{name}", "path": "0"}, POOLING]
    with pytest.raises(InputFileError, match=file.replace(".", r"\.")):
        folder_encoder(written(tmp_path / "model", modules, {f"0/{file}": settings}))


@pytest.mark.parametrize("file", ["0/config.json", "modules.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_settings_that_are_not_json_are_refused(tmp_path: Path, file: str, content: bytes) -> None:
    modules = [{"type": f"{HOMES[0]}.Dense", "path": "0"}]
    with pytest.raises(InputFileError, match=file.replace(".", r"\.")):
        folder_encoder(written(tmp_path / "model", modules, {file: content}))


@pytest.mark.parametrize("path", ["..", "/etc", "../model2", "a\0b", "0/../../other"])
def test_modules_outside_of_the_folder_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputFileError, match="outside of the folder"):
        folder_encoder(written(tmp_path / "model", [TRANSFORMER | {"path": path}]))


@pytest.mark.parametrize(
    "type_", [*(f"{home}.Transformer" for home in HOMES), "sentence_transformers.base.modules.transformer.Transformer"]
)
def test_settings_of_real_folders_are_accepted(tmp_path: Path, type_: str) -> None:
    modules = [
        {"idx": 0, "name": "0", "type": type_, "path": ""},
        POOLING,
        {"type": f"{HOMES[0]}.Dense", "path": "2_Dense"},
        {"type": "sentence_transformers.base.modules.dense.Dense", "path": "3_Dense"},
        {"type": f"{HOMES[0]}.Normalize", "path": "4_Normalize"},
        {"type": f"{HOMES[0]}.BoW", "path": "5_BoW"},
        {"type": f"{HOMES[0]}.WordEmbeddings", "path": "6"},
    ]
    files = {
        "sentence_bert_config.json": {
            "max_seq_length": 512,
            "do_lower_case": False,
            "transformer_task": "feature-extraction",
            "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
            "module_output_name": "token_embeddings",
            "processing_kwargs": {"text": {"padding": "longest"}, "chat_template": {"template": "{{ a.b }}"}},
            "model_args": {"torch_dtype": "bfloat16", "attn_implementation": "sdpa", "trust_remote_code": True},
            "tokenizer_args": {"padding_side": "left", "model_max_length": 512},
            "config_args": {},
        },
        "tokenizer_config.json": {
            "tokenizer_class": "BertTokenizer",
            "name_or_path": "/home/reader/models/base",
            "special_tokens_map_file": __file__,
            "tokenizer_file": None,
            "auto_map": {"AutoTokenizer": ["tokenization.Own", None]},
        },
        "config.json": {"_name_or_path": str(tmp_path), "auto_map": {"AutoModel": "modeling.Own"}, "vocab_size": 9},
        "1_Pooling/config.json": {
            "word_embedding_dimension": 4,
            "pooling_mode_mean_tokens": True,
            "pooling_mode": "mean",
        },
        "2_Dense/config.json": {"in_features": 4, "out_features": 4, "bias": True, "activation_function": DENSE},
        "3_Dense/config.json": {"activation_function": "torch.nn.modules.linear.Identity"},
        "5_BoW/config.json": {"vocab": ["e.g.", "modules.json", "a/b", "os.system"], "word_weights": {"e.g.": 0.5}},
        "6/wordembedding_config.json": {
            "tokenizer_class": f"{HOMES[0]}.tokenizer.WhitespaceTokenizer.WhitespaceTokenizer"
        },
    }
    assert folder_encoder(written(tmp_path / "model", modules, files)).kind == "sentence-transformers"


def test_pickles_beside_other_weights_are_refused(tmp_path: Path) -> None:
    modules = [{"type": f"{HOMES[0]}.Dense", "path": "0"}]
    files = {
        "0/pytorch_model.bin": b"",
        "0/other.safetensors": b"",
        "0/model.safetensors.index.json": {"weight_map": {}},
    }
    with pytest.raises(InputFileError, match=r"pytorch_model\.bin may be a pickle.* no model\.safetensors"):
        folder_encoder(written(tmp_path / "model", modules, files))
    folder_encoder(
        written(tmp_path / "model", [{**modules[0], "type": f"{HOMES[0]}.Transformer"}], files)
    )  # reads the index
    folder_encoder(written(tmp_path / "model", modules, {"0/model.safetensors": b""}))


def test_only_weights_and_texts_are_opened_before_the_library(tmp_path: Path) -> None:
    texts = {"model.safetensors": b"", "1_Pooling/config.json": {}, "tokenizer_config.json": {}, "tokenizer.json": {}}
    folder = with_other_files(written(tmp_path / "model", [TRANSFORMER, POOLING], texts))
    with opened_files(folder) as opened:
        digest = folder_encoder(folder).digest
    assert opened == {"modules.json", "config.json", *texts}
    (folder / "onnx" / "config.json").write_bytes(b"other")
    assert folder_encoder(folder).digest == digest
    (folder / "1_Pooling" / "config.json").write_bytes(b"{ }")
    assert folder_encoder(folder).digest != digest


def test_a_name_that_no_folder_can_have_is_that_of_no_folder(tmp_path: Path) -> None:
    assert folder_encoder(written(tmp_path / "model", [TRANSFORMER, POOLING | {"path": "a" * 5000}])).digest


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are of Unix")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = written(tmp_path / "model", [TRANSFORMER, POOLING], {"1_Pooling/config.json": {}})
    for name in ("sentence_bert_config.json", "tokenizer_config.json", "model.safetensors.index.json", "vocab.txt"):
        os.mkfifo(folder / name)
    assert folder_encoder(folder).kind == "sentence-transformers"


def test_no_library_is_imported_by_the_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("torch", "transformers", "sentence_transformers", "model2vec"):
        monkeypatch.setitem(sys.modules, library, None)
    folder_encoder(written(tmp_path / "model", [TRANSFORMER]))


def _made(kind: str) -> list[Any]:
    """Return small modules of every class that is allowed, apart from transformers."""
    from sentence_transformers.sentence_transformer import modules
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from torch import nn

    words = ["king", "queen", "e.g.", "modules.json"]
    if kind == "bag of words":
        return [modules.BoW(words, {"e.g.": 2.0}), modules.Dense(4, 3, activation_function=nn.GELU())]
    if kind == "static":
        tokenizer = Tokenizer(WordLevel({word: row for row, word in enumerate(["[UNK]", *words])}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = Whitespace()
        rows = np.arange(20, dtype=np.float32).reshape(5, 4) ** 2
        return [modules.StaticEmbedding(tokenizer, embedding_weights=rows), modules.Normalize(), modules.LayerNorm(4)]
    tokenizer = modules.tokenizer.WhitespaceTokenizer(words)
    last = modules.CNN(4, 4, [1]) if kind == "convolution" else modules.LSTM(4, 2)
    return [
        modules.WordEmbeddings(tokenizer, np.eye(4, dtype=np.float32)), modules.WordWeights(words, {"king": 0.5}), last,
        modules.Pooling(4, "max"), modules.Dropout(0.1), modules.Dense(4, 4, activation_function=nn.Identity()),
    ]  # fmt: skip


@pytest.mark.extras
@pytest.mark.parametrize("kind", ["bag of words", "static", "convolution", "recurrent"])
def test_what_the_library_saves_is_read(tmp_path: Path, kind: str) -> None:
    library = pytest.importorskip("sentence_transformers")
    model = library.SentenceTransformer(modules=_made(kind), device="cpu")
    model.save(str(tmp_path / "model"))
    loaded = folder_encoder(tmp_path / "model")(["king", "queen"])
    np.testing.assert_allclose(loaded, model.encode(["king", "queen"]), atol=1e-6)


@pytest.mark.extras
def test_every_class_of_the_library_is_allowed_or_refused(tmp_path: Path) -> None:
    from sentence_transformers.base.modules import Module

    pytest.importorskip("sentence_transformers.sparse_encoder.modules")
    waiting, classes = [Module], set()
    while waiting:
        kind = waiting.pop()
        classes.add(f"{kind.__module__}.{kind.__name__}")
        waiting += kind.__subclasses__()
    read = set()
    for kind in classes:
        try:
            folder_encoder(written(tmp_path / "model", [{"type": kind, "path": "0"}]))
        except InputFileError:
            continue
        read.add(kind.rpartition(".")[2])
    assert read == {
        *(
            "BoW",
            "CLIPModel",
            "CNN",
            "Dense",
            "Dropout",
            "LSTM",
            "LayerNorm",
            "Normalize",
            "Pooling",
            "StaticEmbedding",
        ),
        *("Transformer", "WeightedLayerPooling", "WordEmbeddings", "WordWeights"),
    }


@pytest.mark.extras
def test_the_library_itself_imports_no_class_of_another_package(tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    trace = tmp_path / "trace"
    settings = {
        "types": {"weights": "sklearn.utils.parallel.joblib"},
        "structure": {"a": ["weights"]},
        "parameters": {},
    }
    router = {"name": "0", "type": "sentence_transformers.models.Router", "path": "0"}
    files = {"0/router_config.json": settings, "0/weights": pickle.dumps(Touch(trace))}
    folder = written(tmp_path / "model", [router], files)
    with pytest.raises(ValueError, match="trust_remote_code"):
        library.SentenceTransformer(str(folder), local_files_only=True)
    assert not trace.exists()
