"""Modules of a sentence-transformers folder: their classes, and settings that may name functions."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesbias.embeddings.contextual.model_folder import entries, files_of, read_settings
from bayesbias.errors import InputFileError, library_reason

MODULES = "modules.json"
_TRANSFORMER = "sentence_*_config.json"
# Classes that encode texts, and the names of their settings' files. Others import what their settings name.
_CLASSES: dict[str, str | None] = {
    "BoW": "config.json",
    "CLIPModel": _TRANSFORMER,
    "CNN": "cnn_config.json",
    "Dense": "config.json",
    "Dropout": "config.json",
    "LSTM": "lstm_config.json",
    "LayerNorm": "config.json",
    "Normalize": "config.json",
    "Pooling": "config.json",
    "StaticEmbedding": None,
    "Transformer": _TRANSFORMER,
    "WeightedLayerPooling": "config.json",
    "WordEmbeddings": "wordembedding_config.json",
    "WordWeights": "config.json",
}
_HOME = r"sentence_transformers\.(models|(base|sentence_transformer)\.modules)\."
# A class of the package, by itself or in the file of its name: "Pooling", "Pooling.Pooling", "layer_norm.LayerNorm".
_NAMES = "|".join(rf"((?i:{'_?'.join(name)})\.)?{name}" for name in _CLASSES)
_CLASS = re.compile(f"{_HOME}({_NAMES})")
_ACTIVATIONS = (
    *("CELU", "ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "Identity", "LeakyReLU"),
    *("LogSigmoid", "Mish", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus", "Softshrink", "Softsign"),
    *("Tanh", "Tanhshrink"),
)
_WORD = re.compile(r"[\w-]*")  # names neither a file nor what is in a module of Python
_ANY = re.compile(r".*", re.DOTALL)
# Settings that are texts, and what they may be; all others are a word.
_TEXTS = {
    "activation_function": re.compile(rf"torch\.nn\.(modules\.(activation|linear)\.)?({'|'.join(_ACTIVATIONS)})"),
    "method": re.compile(r"forward|get_(text|image|audio|video)_features"),  # of the transformer, which is called
    "processing_kwargs": _ANY,
    "stop_words": _ANY,
    "tokenizer_class": re.compile(rf"{_HOME}tokenizer\.((?i:phrase|whitespace)\w*\.)?(Phrase|Whitespace)Tokenizer"),
    "tokenizer_name_or_path": re.compile(r"(?!)"),  # another folder
    "vocab": _ANY,
}
# Arguments of transformers: groups of them, and which ones a folder may set.
_GROUPS = ("config_args", "config_kwargs", "model_args", "model_kwargs", "processor_kwargs", "tokenizer_args")
_ARGUMENTS = {
    *("add_pooling_layer", "attn_implementation", "do_lower_case", "dtype", "is_causal", "max_position_embeddings"),
    *("model_max_length", "num_labels", "padding_side", "torch_dtype", "truncation_side", "use_cache", "use_fast"),
    "trust_remote_code",  # sentence-transformers ignores it
}
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")  # only transformers reads the second
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")


@dataclass(frozen=True)
class Module:
    """A module of an encoder: its class, and its folder within the encoder's."""

    kind: str
    path: str

    @property
    def class_name(self) -> str:
        """The name of the class alone."""
        return self.kind.rpartition(".")[2]


def encoder_modules(folder: Path) -> list[Module]:
    """Return the modules of an encoder; none if the folder does not list them."""
    path = folder / MODULES
    if not path.is_file():
        return []
    listed = read_settings(path, "a list of modules")
    try:
        return [Module(str(module["type"]), str(module["path"])) for module in listed]
    except (TypeError, KeyError) as fault:
        raise InputFileError(
            f"{path} is not a list of modules ({library_reason(fault)}) Download the model again."
        ) from fault


def check_modules(folder: Path, modules: list[Module]) -> None:
    """Raise `InputFileError` if modules would run code: other classes and functions, or pickles."""
    for module in modules:
        if not _CLASS.fullmatch(module.kind):
            raise InputFileError(
                f"{folder / MODULES} names the class {module.kind!r:.80}, which is not one of sentence-transformers' "
                f"own that import nothing else: {', '.join(_CLASSES)}. It could run code. Load the model yourself, "
                "and give its encode function."
            )
        settings = _CLASSES[module.class_name]
        for path in files_of(folder / module.path, settings) if settings else ():
            _check_settings(path)
        _check_weights(folder / module.path, _WEIGHTS if settings == _TRANSFORMER else _WEIGHTS[:1])


def _check_settings(path: Path) -> None:
    """Raise `InputFileError` if a module's settings name a function or another model."""
    settings = read_settings(path)
    if not isinstance(settings, dict):
        raise InputFileError(f"{path} is not a list of settings. Download the model again.")
    for group in _GROUPS:
        for name in sorted(set(_names(settings.get(group))) - _ARGUMENTS):
            raise _refused(path, f"{group}: {name}")
    for keys, entry in entries(settings):
        rules = [_TEXTS[key] for key in keys if key in _TEXTS] or [_WORD]
        if isinstance(entry, str) and not all(rule.fullmatch(entry) for rule in rules):
            raise _refused(path, f"{keys[-1]}: {entry!r:.80}")


def _names(arguments: Any) -> list[str]:
    return list(arguments) if isinstance(arguments, dict) else []


def _refused(path: Path, what: str) -> InputFileError:
    return InputFileError(
        f"{path} has the setting {what}, which could run code or read another model. Load the model yourself, and give "
        "its encode function."
    )


def _check_weights(part: Path, names: tuple[str, ...]) -> None:
    """Raise `InputFileError` if a module has weights as a pickle only."""
    pickles = [path for pattern in _PICKLES for path in files_of(part, pattern)]
    if pickles and not any((part / name).is_file() for name in names):
        raise InputFileError(
            f"{pickles[0]} may be a pickle, which can run code, and there is no {' or '.join(names)} beside it. Save "
            "the model again with safe_serialization=True."
        )
