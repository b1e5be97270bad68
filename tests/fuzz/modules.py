"""Hostile folders of encoders: modules of every class of sentence-transformers, with any settings and files."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.embeddings.encoders.folders import _CLASSES, folder_encoder
from tests.embeddings.encoders.module_folders import (
    DENSE,
    HOMES,
    OTHER_CLASSES,
    OTHER_FILES,
    OTHER_SETTINGS,
    with_other_files,
    written,
)
from tests.embeddings.encoders.opened_files import opened_files
from tests.fuzz.mutations import mutated
from tests.fuzz.odd import odd_value, with_odd_value
from tests.fuzz.storages import one_of
from tests.fuzz.watch import PRIVATE

Generator = np.random.Generator
_INSIDE = ("", "0", "1", "1_Pooling", "0/inner")
_PLACES = (*_INSIDE, "..", f"../../../{PRIVATE}", "/etc", "0/../../other", "a\0b", "a" * 300, "onnx")
_FILES = (
    *("config.json", "sentence_bert_config.json", "sentence_roberta_config.json", "lstm_config.json"),
    *("cnn_config.json", "wordembedding_config.json", "router_config.json", "whitespacetokenizer_config.json"),
    *("tokenizer_config.json", "tokenizer.json", "vocab.txt", "model.safetensors.index.json", "adapter_config.json"),
    *("processor_config.json", "config_sentence_transformers.json", "special_tokens_map.json"),
)
_SOUND: tuple[Any, ...] = (
    {"in_features": 2, "out_features": 2, "bias": True, "activation_function": DENSE},
    {"word_embedding_dimension": 4, "pooling_mode_mean_tokens": True, "pooling_mode": "mean"},
    {"max_seq_length": 512, "do_lower_case": False, "model_args": {"torch_dtype": "bfloat16"}},
    {"tokenizer_class": "BertTokenizer", "name_or_path": "x", "auto_map": {"AutoTokenizer": ["own.Own", None]}},
    {"model_type": "bert", "vocab_size": 9, "_name_or_path": "/home/x", "auto_map": {"AutoModel": "modeling.Own"}},
    {"weight_map": {"a": "model-1.safetensors"}},
    {"vocab": ["e.g.", "a/b", "os.system"], "word_weights": {"e.g.": 0.5}},
    {"types": {"weights": "sklearn.utils.parallel.joblib"}, "structure": {"a": ["weights"]}, "parameters": {}},
)
_OUTSIDE = (
    str(PRIVATE / "key"),
    f"../../../{PRIVATE}/model.safetensors",
    "/etc/passwd",
    "os.system",
    "https://example.org/x",
)
_ODD = ("pipe", "sparse", ".", "absent", "/dev/zero", f"../../../{PRIVATE}/key")


def described_folder(rng: Generator) -> bytes:
    """Return the description of a folder of an encoder, as JSON: its modules, and its other files."""
    modules: Any = [_module(rng) for _ in range(int(rng.integers(1, 4)))]
    if rng.random() < 0.2:
        modules = with_odd_value(modules, rng)
    files = {}
    for _ in range(int(rng.integers(6))):
        place = one_of(rng, [*(_places_inside(modules)), "", "onnx"])
        settings = _settings(rng)
        name = f"{place}/{one_of(rng, _FILES)}".lstrip("/")
        text = json.dumps(settings)
        files[name] = mutated(text.encode(), rng).decode("latin-1") if rng.random() < 0.15 else text
    names = [*files, *_FILES, "model.safetensors", "0/model.safetensors", "modules.json", "README.md"]
    odd = {one_of(rng, names): one_of(rng, _ODD) for _ in range(int(one_of(rng, (0, 0, 1, 2))))}
    return json.dumps({"modules": modules, "files": files, "others": bool(rng.random() < 0.5), "odd": odd}).encode()


def _put(kind: str, path: Path) -> None:
    """Put something at a path that is no ordinary file of a model."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "sparse":
        with path.open("wb") as stream:
            stream.truncate(10**13)
    else:
        path.symlink_to(kind)


def encoder_of(path: Path) -> object:
    """Check the folder of an encoder, of which nothing may be opened but weights and texts."""
    described = json.loads(path.read_bytes())
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        folder = Path(place) / "model"
        written(folder, described["modules"])
        written(
            folder, described["modules"], {name: text.encode("latin-1") for name, text in described["files"].items()}
        )
        if described["others"]:
            with_other_files(folder)
        for name, kind in described["odd"].items():
            _put(kind, folder / name)
        with opened_files(folder) as opened:
            try:
                return folder_encoder(folder).digest
            finally:
                # A part of the folder may be `onnx`, whose settings are then read.
                if forbidden := {name for name in opened.intersection(OTHER_FILES) if not name.endswith(".json")}:
                    raise AssertionError(f"opened {forbidden}")
                if (Path(place) / "trace").exists():
                    raise AssertionError("a pickle was run")


def _module(rng: Generator) -> dict[str, Any]:
    own = f"{one_of(rng, (*HOMES, 'sentence_transformers.base.modules'))}.{one_of(rng, _CLASSES)}"
    kind = own if rng.random() < 0.85 else one_of(rng, OTHER_CLASSES)
    place = one_of(rng, _INSIDE) if rng.random() < 0.8 else one_of(rng, _PLACES)
    return {"idx": 0, "name": "0", "type": kind, "path": place}


def _places_inside(modules: Any) -> list[str]:
    paths = [module.get("path") for module in modules if isinstance(module, dict)] if isinstance(modules, list) else []
    return [path for path in paths if path in _INSIDE]


def _settings(rng: Generator) -> Any:
    sound = one_of(rng, _SOUND)
    case = rng.random()
    if case < 0.4:
        return sound
    if case < 0.6:
        return with_odd_value(sound, rng)
    if case < 0.8:
        return one_of(rng, OTHER_SETTINGS)[2]
    name = one_of(rng, (*sound, "tokenizer_file", "vocab_file", "_name_or_path", "backbone", "tokenizer_name_or_path"))
    return {**sound, name: one_of(rng, (*_OUTSIDE, odd_value(rng)))}
