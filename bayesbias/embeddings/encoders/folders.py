"""Encoders from local folders: sentence-transformers (with its pooling, normalisation and prompt) and model2vec."""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bayesbias.base.checks import check_path
from bayesbias.base.files.inputs import is_folder, printable
from bayesbias.base.machine import require
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.language_models.device_loop import PLAIN, Precision, device_loop, with_precision
from bayesbias.embeddings.language_models.language_model import (
    check_tokenizer,
    check_weights,
    library_errors,
    offline,
    quiet_transformers,
)
from bayesbias.embeddings.language_models.model_folder import (
    States,
    check_files,
    check_model_folder,
    check_sizes,
    entries,
    file_states,
    files_of,
    folder_digest,
    is_length,
    read_settings,
    stored_shapes,
    unchanged,
)
from bayesbias.errors import EmbeddingError, InputFileError, library_reason

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
    "transformer_task": re.compile(r"feature-extraction"),  # others take classes, and models, that the folder names
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
# What texts may be processed with, as settings of a tokenizer's call.
_PROCESSING = {
    *("add_special_tokens", "max_length", "pad_to_multiple_of", "padding", "padding_side", "return_attention_mask"),
    *("return_tensors", "return_token_type_ids", "truncation", "truncation_side"),
}
type _Shapes = dict[str, tuple[Any, ...]]
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")  # only transformers reads the second
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")
_CONFIG = "config.json"
_PROMPTS, _LONGEST_PROMPT = "config_sentence_transformers.json", 10_000  # letters, before each text


def _lstm(settings: dict[str, Any]) -> _Shapes:
    layers = settings.get("num_layers", 1)
    rows = 4 * settings["hidden_dim"]
    return {f"encoder.weight_hh_l{layer}": (rows, rows // 4) for layer in (*range(min(layers, 1000)), layers - 1)} | {
        "encoder.weight_ih_l0": (rows, settings.get("embedding_dimension", settings.get("word_embedding_dimension")))
    }


def _cnn(settings: dict[str, Any]) -> _Shapes:
    width = settings.get("in_embedding_dimension", settings.get("in_word_embedding_dimension"))
    kernels = enumerate(settings.get("kernel_sizes", (1, 3, 5)))
    return {f"convs.{place}.weight": (settings.get("out_channels", 256), width, size) for place, size in kernels}


def _weighted(settings: dict[str, Any]) -> _Shapes:
    return {"layer_weights": (settings.get("num_hidden_layers", 12) + 1 - settings.get("layer_start", 4),)}


# The tensors that the settings of a class ask for, which the library makes before it reads any.
_TENSORS: dict[str, Callable[[dict[str, Any]], _Shapes]] = {
    "CNN": _cnn,
    "Dense": lambda settings: {"linear.weight": (settings["out_features"], settings["in_features"])},
    "LSTM": _lstm,
    "LayerNorm": lambda settings: {"norm.weight": (settings["dimension"],)},
    "WeightedLayerPooling": _weighted,
}


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
    for path in files_of(folder, _PROMPTS):
        longest = max((len(text) for _, text in entries(read_settings(path)) if isinstance(text, str)), default=0)
        if longest > _LONGEST_PROMPT:
            raise InputFileError(f"{path} has a prompt of {longest:,} letters. Remove it.")
    paths = Counter(os.path.normpath(module.path) for module in modules)
    if repeated := [path for path, count in paths.items() if count > 1]:
        raise InputFileError(f"{folder / MODULES} names the part {repeated[0]!r:.80} twice. Download the model again.")
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
            check_sizes(path, stored_shapes(path.parent))
            _check_tensors(path, module.class_name)
        _check_weights(folder / module.path, _WEIGHTS if settings == _TRANSFORMER else _WEIGHTS[:1])


def _check_settings(path: Path) -> None:
    """Raise `InputFileError` if a module's settings name a function or another model."""
    settings = read_settings(path)
    if not isinstance(settings, dict):
        raise InputFileError(f"{path} is not a list of settings. Download the model again.")
    for group in _GROUPS:
        for name in sorted(set(_names(settings.get(group))) - _ARGUMENTS):
            raise _refused(path, f"{group}: {name}")
    _check_processing(path, settings.get("processing_kwargs"))
    for keys, entry in entries(settings):
        rules = [_TEXTS[key] for key in keys if key in _TEXTS] or [_WORD]
        if isinstance(entry, str) and not all(rule.fullmatch(entry) for rule in rules):
            raise _refused(path, f"{keys[-1]}: {entry!r:.80}")


def _check_processing(path: Path, processing: Any) -> None:
    """Raise `InputFileError` for arguments of texts that are not of a tokenizer, or pad them to a great length."""
    for kind in ("text", "common") if isinstance(processing, dict) else ():
        given = processing.get(kind)
        for name in sorted(set(_names(given)) - _PROCESSING):
            raise _refused(path, f"processing_kwargs: {name}")
        if not isinstance(given, dict):
            continue
        for name in ("max_length", "pad_to_multiple_of"):
            if not is_length(given.get(name)):
                raise _refused(path, f"{name}: {given[name]!r:.80}")
        if given.get("padding") == "max_length" and given.get("max_length") is None:  # to any length that others set
            raise _refused(path, "padding: 'max_length'")


def _check_tensors(path: Path, kind: str) -> None:
    """Raise `InputFileError` unless a module's weights have the shapes that its settings name."""
    if kind not in _TENSORS:
        return
    try:
        needed = _TENSORS[kind](read_settings(path))
    except (KeyError, TypeError):  # settings are missing or no numbers, and the library does not make the module
        return
    shapes = stored_shapes(path.parent)
    for name, shape in needed.items():
        if shapes.get(name) != shape:
            raise InputFileError(
                f"{path} asks for {name} of the shape {shape}, and the model.safetensors beside it "
                f"{f'has {shapes[name]}' if name in shapes else 'lacks it'}. Download the model again."
            )


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


@dataclass(frozen=True, eq=False, repr=False)
class FolderEncoder(Described):
    """An encoder from a folder, called with a list of texts.

    Parameters
    ----------
    name
        Name of the folder.
    digest
        Hash of its files, with the precision unless it is float32: it identifies the vectors in caches.
    kind
        ``"sentence-transformers"`` or ``"model2vec"``.
    folder
        The folder.
    files
        States of its files when they were checked.
    precision
        As for `contextual_embedding`.
    """

    name: str
    digest: str
    kind: str
    folder: Path
    files: States
    precision: Precision = PLAIN

    @property
    def _facts(self) -> Facts:
        return {"name": self.name, "kind": self.kind, "digest": self.digest[:16], "precision": self.precision}

    def __call__(self, texts: list[str]) -> Any:
        """Return the vectors of texts, an array of shape (texts, dimensions)."""
        with library_errors(f"{self.name} fails", EmbeddingError, "Download the model again."), offline():
            model = self.load()
            if self.kind == "model2vec":
                return model.encode(texts, show_progress_bar=False, use_multiprocessing=False)
            return self._vectors(model, texts)

    def _vectors(self, model: Any, texts: list[str]) -> Any:
        """Return the vectors that sentence-transformers' modules give to texts."""
        loop = device_loop(str(model.device), self.precision, None, EmbeddingError)
        features = model.preprocess(texts, prompt=model.prompts.get(model.default_prompt_name))
        shapes = {name: tuple(values.shape) for name, values in features.items() if hasattr(values, "shape")}
        shape = shapes.get("attention_mask", ())
        if len(shape) != 2 or shape[0] != len(texts) or set(shapes.values()) != {shape}:  # word lists, or images
            with loop.computing():
                return model.encode(texts, show_progress_bar=False, convert_to_tensor=True).cpu()
        settings = {name: value for name, value in features.items() if name not in shapes}

        def forward(batch: dict[str, Any], _: Any) -> Any:
            return model(batch | settings)["sentence_embedding"][:, : model.truncate_dim].float()

        model.eval()
        arrays = {name: features[name].numpy() for name in shapes}
        return loop.run(forward, arrays, left=not arrays["attention_mask"][:, 0].all())

    def unknown_words(self, words: Collection[str]) -> set[str]:
        """Return the words of which the tokenizer does not know a part, which no vector describes."""
        with library_errors(f"{self.name} fails", EmbeddingError, "Download the model again."), offline():
            return unknown_to(getattr(self.load(), "tokenizer", None), list(words))

    def load(self) -> Any:
        """Return the library's own model, loaded once.

        Raises
        ------
        EmbeddingError
            If the library is not installed, or the model cannot be loaded.
        InputFileError
            If the tokenizer is incomplete, or the folder has changed since it was checked.
        """
        return self._model

    @cached_property
    def _model(self) -> Any:
        module, loader = _LOADERS[self.kind]
        library = require(module, "encoders", f"The encoder in {self.name}", error=EmbeddingError)
        with library_errors(f"{self.folder} cannot be loaded with {module}", EmbeddingError), offline():
            with unchanged(self.folder, self.files):
                model = loader(library, self.folder)
            if self.precision == "bfloat16":
                model.bfloat16()
            return model


def unknown_to(tokenizer: Any, words: list[str]) -> set[str]:
    """Return the words in which a tokenizer has its piece for unknown text; none if it has no such piece.

    `tokenizer` is one of transformers, or of the package tokenizers, which static encoders have.
    """
    if hasattr(tokenizer, "encode_batch"):
        piece = getattr(tokenizer.model, "unk_token", None)
        unknown = getattr(tokenizer.model, "unk_id", None) if piece is None else tokenizer.token_to_id(piece)
        numbers = [encoded.ids for encoded in tokenizer.encode_batch(words, add_special_tokens=False)]
    elif callable(tokenizer) and words:
        unknown = getattr(tokenizer, "unk_token_id", None)
        numbers = tokenizer(words, add_special_tokens=False)["input_ids"]
    else:
        return set()
    return {word for word, of_word in zip(words, numbers, strict=True) if unknown is not None and unknown in of_word}


def folder_kind(folder: Path) -> str | None:
    """Return what a folder of a model holds: sentence-transformers, model2vec, transformers, or None for neither."""
    if not (folder / MODULES).is_file() and not (folder / _CONFIG).is_file():
        return None
    check_files(folder)
    modules = encoder_modules(folder)
    # model2vec describes its folder for sentence-transformers too, which does not read all of its files. A static
    # encoder that sentence-transformers saved has no configuration, and may have modules that model2vec does not read.
    is_static = any(module.class_name == "StaticEmbedding" and module.path in ("", ".") for module in modules)
    if is_static and (folder / _CONFIG).is_file():
        return "model2vec"
    if not modules:
        with suppress(InputFileError):  # whoever reads the model says what is wrong with its settings
            settings = read_settings(folder / _CONFIG)
            if isinstance(settings, dict) and settings.get("model_type") == "model2vec":
                raise EmbeddingError(
                    f"{folder} is a model of model2vec without {MODULES}, as early versions wrote it. Load it with a "
                    "recent model2vec, and write it again with save_pretrained."
                )
    return "sentence-transformers" if modules else "transformers"


def load_encoder(folder: str | os.PathLike[str], *, precision: Precision | None = None) -> FolderEncoder:
    """Return the encoder in a folder: a function of a list of texts, without downloads.

    Parameters
    ----------
    folder
        A folder that sentence-transformers' ``save`` wrote: pooling, normalisation, default prompt and largest length
        are those of its configuration. Or one that model2vec's ``save_pretrained`` wrote.
    precision
        As for `contextual_embedding`.

    Returns
    -------
    FolderEncoder
        Its call returns an array of shape (texts, dimensions); `digest` is the hash of the folder's files.

    Raises
    ------
    EmbeddingError
        If the library is not installed, or the model cannot be loaded.
    InputFileError
        If the folder holds no encoder, weights as a pickle, an incomplete tokenizer, or settings that would run code:
        classes and functions other than those of texts, such as sentence-transformers' `Router`.

    Examples
    --------
    With a folder of a model::

        encoder = bb.embeddings.load_encoder("all-MiniLM-L6-v2/")
        encoder(["a text", "another"]).shape       # (2, 384)
    """
    encoder = folder_encoder(folder, precision)
    encoder.load()
    return encoder


def folder_encoder(folder: str | os.PathLike[str], precision: Precision | None = None) -> FolderEncoder:
    """Return the encoder in a folder, checked and not yet loaded.

    Raises `InputFileError` as for `load_encoder`.
    """
    path = check_path(folder, "folder")
    files = file_states(path)
    kind = folder_kind(path) if is_folder(path) else None
    if kind is None:
        raise InputFileError(
            f"{path} is not the folder of an encoder: it holds neither {MODULES} nor {_CONFIG}. Download the model "
            "first, for example with huggingface_hub.snapshot_download; names on the Hub are not looked up."
        )
    if kind == "transformers":
        raise InputFileError(
            f"{path} is a language model without a rule for the vector of a text (no {MODULES}). For vectors of "
            "words over contexts use bb.embeddings.contextual_embedding or `bayesbias contextual`."
        )
    modules = encoder_modules(path)
    parts = ["", *(module.path for module in modules)]
    check_model_folder(path, parts)
    check_modules(path, modules)
    chosen = PLAIN
    if kind == "sentence-transformers" and find_spec("torch") is not None:
        chosen = device_loop(None, precision, None).precision
    digest = with_precision(folder_digest(path, parts), chosen)
    return FolderEncoder(printable(path.resolve().name), digest, kind, path, files, chosen)


def _sentence_transformer(library: Any, folder: Path) -> Any:
    with quiet_transformers():
        for module in encoder_modules(folder):
            if _CLASSES[module.class_name] == _TRANSFORMER and (folder / module.path / _CONFIG).is_file():
                check_weights(folder / module.path, "AutoModel")
        model = library.SentenceTransformer(
            str(folder), local_files_only=True, trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
    for module in model:
        if "message" in getattr(module, "modality_config", ()):
            raise InputFileError(
                f"The encoder in {folder} writes texts by a chat template, which is code. Load the model yourself, and "
                "give its encode function."
            )
        tokenizer = getattr(module, "tokenizer", None)
        if tokenizer is not None and hasattr(module, "config"):  # transformers, not word lists
            check_tokenizer(folder, tokenizer, module.config)
    return model


def _static_model(library: Any, folder: Path) -> Any:
    return library.StaticModel.from_pretrained(folder, force_download=False)


_LOADERS = {
    "sentence-transformers": ("sentence_transformers", _sentence_transformer),
    "model2vec": ("model2vec", _static_model),
}
