"""Encoders from local folders: sentence-transformers (with its pooling, normalisation and prompt) and model2vec."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bayesbias.base.checks import check_path
from bayesbias.base.files.inputs import is_folder, printable
from bayesbias.base.machine.extras import require
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.contextual.model_folder import check_model_folder, folder_digest
from bayesbias.embeddings.contextual.transformer import check_tokenizer, panics_as_errors, quiet_transformers
from bayesbias.embeddings.encoders.modules import MODULES, check_modules, encoder_modules
from bayesbias.errors import BayesBiasError, EmbeddingError, InputFileError, library_reason

_CONFIG = "config.json"
_SETTINGS = {
    "sentence-transformers": {"show_progress_bar": False},
    "model2vec": {"show_progress_bar": False, "use_multiprocessing": False},
}


@dataclass(frozen=True, eq=False, repr=False)
class FolderEncoder(Described):
    """An encoder from a folder, called with a list of texts.

    Parameters
    ----------
    name
        Name of the folder.
    digest
        Hash of its files.
    kind
        ``"sentence-transformers"`` or ``"model2vec"``.
    folder
        The folder.
    """

    name: str
    digest: str
    kind: str
    folder: Path

    @property
    def _facts(self) -> Facts:
        return {"name": self.name, "kind": self.kind, "digest": self.digest[:16]}

    def __call__(self, texts: list[str]) -> Any:
        """Return the vectors of texts, an array of shape (texts, dimensions)."""
        return self.load().encode(texts, **_SETTINGS[self.kind])

    def load(self) -> Any:
        """Return the library's own model, loaded once.

        Raises
        ------
        EmbeddingError
            If the library is not installed, or the model cannot be loaded.
        InputFileError
            If the tokenizer is incomplete.
        """
        return self._model

    @cached_property
    def _model(self) -> Any:
        module, loader = _LOADERS[self.kind]
        library = require(module, "encoders", f"The encoder in {self.name}", error=EmbeddingError)
        try:
            with panics_as_errors():
                return loader(library, self.folder)
        except (MemoryError, BayesBiasError):
            raise
        except Exception as fault:  # a damaged folder can make the library raise anything
            raise EmbeddingError(f"{self.folder} cannot be loaded with {module}: {library_reason(fault)}") from fault


def folder_kind(folder: Path) -> str | None:
    """Return what a folder of a model holds: sentence-transformers, model2vec, transformers, or None for neither."""
    if not (folder / MODULES).is_file() and not (folder / _CONFIG).is_file():
        return None
    modules = encoder_modules(folder)
    # model2vec describes its folder for sentence-transformers too, which does not read all of its files. A static
    # encoder that sentence-transformers saved has no configuration, and may have modules that model2vec does not read.
    is_static = any(module.class_name == "StaticEmbedding" and module.path in ("", ".") for module in modules)
    if is_static and (folder / _CONFIG).is_file():
        return "model2vec"
    return "sentence-transformers" if modules else "transformers"


def load_encoder(folder: str | os.PathLike[str]) -> FolderEncoder:
    """Return the encoder in a folder: a function of a list of texts, without downloads.

    Parameters
    ----------
    folder
        A folder that sentence-transformers' ``save`` wrote: pooling, normalisation, default prompt and largest length
        are those of its configuration. Or one that model2vec's ``save_pretrained`` wrote.

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
    encoder = folder_encoder(folder)
    encoder.load()
    return encoder


def folder_encoder(folder: str | os.PathLike[str]) -> FolderEncoder:
    """Return the encoder in a folder, checked and not yet loaded.

    Raises
    ------
    InputFileError
        As for `load_encoder`.
    """
    path = check_path(folder, "folder")
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
    return FolderEncoder(printable(path.resolve().name), folder_digest(path, parts), kind, path)


def _sentence_transformer(library: Any, folder: Path) -> Any:
    with quiet_transformers():
        model = library.SentenceTransformer(
            str(folder), local_files_only=True, trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
    for module in model:
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
