"""Folders of encoders of sentence-transformers, with classes, settings and files that would run code."""

import json
import math
import pickle
from base64 import b64encode
from pathlib import Path
from typing import Any

HOMES = ("sentence_transformers.models", "sentence_transformers.sentence_transformer.modules")
TRANSFORMER = {"type": f"{HOMES[0]}.Transformer", "path": ""}
POOLING = {"type": f"{HOMES[0]}.Pooling", "path": "1_Pooling"}


def written(folder: Path, modules: Any, files: dict[str, Any] | None = None) -> Path:
    """Write the folder of an encoder: modules, and the content of other files."""
    for name, content in {"modules.json": modules, "config.json": {"model_type": "bert"}, **(files or {})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def tensors(**shapes: tuple[int, ...]) -> bytes:
    """Return a file in the layout of safetensors: arrays of zeros in single precision."""
    header, end = {}, 0
    for name, shape in shapes.items():
        size = 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(end)


class Touch:
    """What creates a file when its pickle is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


OTHER_CLASSES: tuple[Any, ...] = (
    *(f"{HOMES[0]}.{name}" for name in ("Router", "Asym", "Router.Router", "router.Router", "tokenizer.WordTokenizer")),
    "sentence_transformers.base.modules.router.Router",
    "sentence_transformers.base.modules.Router",
    "sentence_transformers.sparse_encoder.modules.MLMTransformer",
    "sentence_transformers.cross_encoder.modules.LogitScore",
    "sentence_transformers.SentenceTransformer",
    # What its modules import is reached through their names.
    "sentence_transformers.base.model.pickle",
    "sentence_transformers.models.Transformer.os.system",
    "sentence_transformers.util.misc.importlib.Transformer",
    "sentence_transformers.models.os.Transformer",
    "sentence_transformers.models.Transformer\n",
    "sentence_transformers.models.transformer",
    "sklearn.utils.parallel.joblib",
    "modeling.Transformer",
    "Transformer",
    "",
    None,
    ["sentence_transformers.models.Transformer"],
)

DENSE = "torch.nn.modules.activation.Tanh"

# Settings of a class, in a file, that name functions or other models.
OTHER_SETTINGS: tuple[tuple[str, str, Any], ...] = (
    *(
        ("Dense", "config.json", {"in_features": 2, "out_features": 2, "activation_function": function})
        for function in (
            *("os.system", "torch.load", "torch.hub.load", "torch.nn.modules.activation.os", "torch.nn.Module"),
            *("torch.nn.modules.module.Module", "builtins.exec", "Tanh", "torch.nn.Tanh.Tanh", f"{DENSE}\n", ""),
            *([f"{DENSE}x"], {"name": "os.system"}),
        )
    ),
    ("Dense", "config.json", {"module_output_name": "os.system"}),
    ("Pooling", "config.json", {"pooling_mode": "a.b"}),
    ("WordEmbeddings", "wordembedding_config.json", {"tokenizer_class": "joblib.numpy_pickle"}),
    ("WordEmbeddings", "wordembedding_config.json", {"tokenizer_class": "sentence_transformers.models.Router"}),
    (
        "WordEmbeddings",
        "wordembedding_config.json",
        {"tokenizer_class": f"{HOMES[1]}.tokenizer.TransformersTokenizerWrapper"},
    ),
    ("BoW", "config.json", {"vocab": ["e.g."], "other": "e.g."}),
    ("LSTM", "lstm_config.json", {"loader": "os.system"}),
    ("CNN", "cnn_config.json", {"kernel_sizes": ["os.system"]}),
    ("Transformer", "sentence_bert_config.json", {"transformer_task": "retrieval"}),
    ("Transformer", "sentence_bert_config.json", {"tokenizer_name_or_path": "other"}),
    ("Transformer", "sentence_roberta_config.json", {"tokenizer_name_or_path": "../other"}),
    ("CLIPModel", "sentence_bert_config.json", {"tokenizer_name_or_path": "/etc"}),
    ("Transformer", "sentence_bert_config.json", {"modality_config": {"text": {"method": "save_pretrained"}}}),
    ("Transformer", "sentence_bert_config.json", {"modality_config": {"vocab": {"method": "push_to_hub"}}}),
    ("Transformer", "sentence_bert_config.json", {"processing_kwargs": {"method": "push_to_hub"}}),
    *(
        ("Transformer", "sentence_bert_config.json", {group: {argument: value}})
        for group in (
            "model_args",
            "model_kwargs",
            "tokenizer_args",
            "processor_kwargs",
            "config_args",
            "config_kwargs",
        )
        for argument, value in (("use_kernels", True), ("gguf_file", "a"), ("attn_implementation", "a/b"))
    ),
    ("Transformer", "sentence_bert_config.json", {"model_args": {"attn_implementation": "flash_attention_2"}}),
    *(("Dropout", "config.json", settings) for settings in ([], "os.system", 3, None)),
)

_CHARSMAP = b64encode((4).to_bytes(4, "little") + b"trie" + b"a" * 1000 + b"\0").decode()

# Settings that make a module larger than the tensors of two rows and columns beside it.
TOO_LARGE: tuple[tuple[str, str, Any], ...] = (
    ("Dense", "config.json", {"in_features": 2, "out_features": 100_000_000}),
    ("Dense", "config.json", {"in_features": 50_000, "out_features": 50_000}),
    ("LSTM", "lstm_config.json", {"word_embedding_dimension": 2, "hidden_dim": 9000, "num_layers": 4}),
    ("LSTM", "lstm_config.json", {"word_embedding_dimension": 2, "hidden_dim": 1, "num_layers": 10**9}),
    ("CNN", "cnn_config.json", {"in_word_embedding_dimension": 2, "out_channels": 2_000_000, "kernel_sizes": [1]}),
    ("CNN", "cnn_config.json", {"in_word_embedding_dimension": 2, "out_channels": 2, "kernel_sizes": [10**9]}),
    ("LayerNorm", "config.json", {"dimension": 3_000_000_000}),
    ("WeightedLayerPooling", "config.json", {"num_hidden_layers": 3_000_000_000, "layer_start": 0}),
    ("WeightedLayerPooling", "config.json", {"num_hidden_layers": 2, "layer_start": -3_000_000_000}),
    ("Transformer", "sentence_bert_config.json", {"config_args": {"num_labels": 10**7}}),
    ("Transformer", "sentence_bert_config.json", {"config_kwargs": {"max_position_embeddings": 10**9}}),
    *(
        ("Transformer", "sentence_bert_config.json", {"processing_kwargs": {"text": settings}})
        for settings in (
            {"padding": "max_length", "max_length": 300_000_000},
            {"pad_to_multiple_of": 300_000_000},
            {"padding": "max_length"},  # to the length that the model's own settings name
            {"stride": 2},
        )
    ),
    ("Transformer", "config.json", {"num_hidden_layers": 200_000}),
    ("Transformer", "config.json", {"text_config": {"n_layer": 6}}),
    ("Transformer", "config.json", {"vocab_size": 60_000_000}),
    ("Transformer", "config.json", {"max_position_embeddings": 200_000_000}),
    *(
        ("Transformer", "tokenizer.json", {"padding": padding})
        for padding in ({"strategy": {"Fixed": 200_000_000}}, {"pad_to_multiple_of": 300_000_000})
    ),
    *(
        ("Transformer", "tokenizer.json", {"normalizer": {"type": "Sequence", "normalizers": normalizers}})
        for normalizers in (
            [{"type": "Replace", "pattern": {"Regex": "."}, "content": "aa aa aa aa"}] * 9,
            [{"type": "Replace", "pattern": {"Regex": "x*"}, "content": "a"}] * 9,
            [{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}] * 9,
            [{"type": "Prepend", "prepend": "a" * 1000}],
            [{"type": "ByteLevel"}] * 30,
            [{"type": "Precompiled", "precompiled_charsmap": _CHARSMAP}],
            [{"type": "Precompiled", "precompiled_charsmap": "a"}],
            [{"type": "Replace", "pattern": {"Regex": "(" * 100_000}, "content": "a" * 64}],
            [{"type": "Lowercase"}] * 1_001,
        )
    ),
    ("Transformer", "tokenizer.4.0.0.json", {"normalizer": {"type": "Prepend", "prepend": "a" * 1000}}),
    ("Transformer", "tokenizer.json", {"pre_tokenizer": {"pretokenizers": [{"type": "ByteLevel"}] * 30}}),
    *(
        ("Transformer", "tokenizer.json", {"post_processor": {"single": single, "special_tokens": special}})
        for single, special in (
            ([{"SpecialToken": {"id": "[CLS]"}}] * 101, {}),
            ([{"Sequence": {"id": "A"}}] * 101, {}),
            ([{"SpecialToken": {"id": "[CLS]"}}] * 2, {"[CLS]": {"id": "[CLS]", "ids": [2] * 60}}),
        )
    ),
    *(
        ("Transformer", "config.json", {key: value})
        for key, value in (("attention_window", [1 << 20]), ("block_size", 1 << 20), ("local_radius", 1 << 20))
    ),
)

OTHER_FILES = (
    *("pytorch_model.bin", "tf_model.h5", "rust_model.ot", "flax_model.msgpack", "model.ckpt.index", "vocab.pkl"),
    *("onnx/model.onnx", "onnx/config.json", "onnx/model.index.json", "openvino/openvino_model.xml", "optimizer.pt"),
    *("training_args.bin", "modeling.py", "weights", "model.onnx", ".git/config", "2_Normalize/__init__.py"),
)


def with_other_files(folder: Path) -> Path:
    """Add what real folders also hold: pickles that create a file when they are read, and formats of other programs."""
    for name in OTHER_FILES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(Touch(folder.parent / "trace")))
    return folder
