"""Encoders from local folders: sentence-transformers (with its pooling, normalisation and prompt) and model2vec."""

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bayesbias.base.checks import check_path
from bayesbias.base.files.inputs import is_folder, printable
from bayesbias.base.machine.extras import require
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.contextual.language_model import folder_digest
from bayesbias.embeddings.contextual.model_folder import check_model_folder
from bayesbias.embeddings.contextual.transformer import quiet_transformers
from bayesbias.errors import EmbeddingError, InputFileError, library_reason

_MODULES, _CONFIG = "modules.json", "config.json"
_OWN_MODULES = ("sentence_transformers.",)  # classes of other packages would run their code
_SETTINGS = {
    "sentence-transformers": {"show_progress_bar": False},
    "model2vec": {"show_progress_bar": False, "use_multiprocessing": False},
}
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")


@dataclass(frozen=True, eq=False, repr=False)
class FolderEncoder(Described):
    """An encoder of a folder: a function of texts.

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
        """
        return self._model

    @cached_property
    def _model(self) -> Any:
        module, loader = _LOADERS[self.kind]
        library = require(module, "encoders", f"The encoder in {self.name}", error=EmbeddingError)
        try:
            return loader(library, self.folder)
        except MemoryError:
            raise
        except Exception as fault:  # a damaged folder can make the library raise anything
            raise EmbeddingError(f"{self.folder} cannot be loaded with {module}: {library_reason(fault)}") from fault


def folder_kind(folder: Path) -> str | None:
    """Return what a folder of a model holds: sentence-transformers, model2vec, transformers, or None for neither."""
    if not (folder / _MODULES).is_file() and not (folder / _CONFIG).is_file():
        return None
    modules = _modules(folder)
    # model2vec describes its folder for sentence-transformers too, which does not read all of its files.
    if any(kind.endswith(".StaticEmbedding") and path in ("", ".") for kind, path in modules):
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
        If the folder holds no encoder, weights as a pickle, or code of its own.

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
            f"{path} is no folder of an encoder: it holds neither {_MODULES} nor {_CONFIG}. Download the model first, "
            "for example with huggingface_hub.snapshot_download; names on the Hub are not looked up."
        )
    if kind == "transformers":
        raise InputFileError(
            f"{path} is a language model without a rule for the vector of a text (no {_MODULES}). For vectors of "
            "words over contexts use bb.embeddings.contextual_embedding or `bayesbias contextual`."
        )
    _check_files(path)
    return FolderEncoder(printable(path.resolve().name), folder_digest(path, "**/"), kind, path)


def _sentence_transformer(library: Any, folder: Path) -> Any:
    with quiet_transformers():
        return library.SentenceTransformer(
            str(folder), local_files_only=True, trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )


def _static_model(library: Any, folder: Path) -> Any:
    return library.StaticModel.from_pretrained(folder, force_download=False)


_LOADERS = {
    "sentence-transformers": ("sentence_transformers", _sentence_transformer),
    "model2vec": ("model2vec", _static_model),
}


def _modules(folder: Path) -> list[tuple[str, str]]:
    """Return the class and the subfolder of each module of an encoder; none if the folder does not list them."""
    path = folder / _MODULES
    if not path.is_file():
        return []
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        return [(str(module["type"]), str(module["path"])) for module in listed]
    except (OSError, ValueError, RecursionError, TypeError, KeyError) as fault:
        raise InputFileError(
            f"{path} is no list of modules ({library_reason(fault)}) Download the model again."
        ) from fault


def _check_files(folder: Path) -> None:
    """Raise `InputFileError` if a folder would run code (other packages, pickles), or names files outside of it."""
    check_model_folder(folder)
    for kind, path in _modules(folder):
        if not kind.startswith(_OWN_MODULES):
            raise InputFileError(
                f"{folder / _MODULES} names the class {kind!r:.80}, which is not sentence-transformers' own: it would "
                "run code of the folder. Load the model yourself, and give its encode function."
            )
        part = (folder / path).resolve()
        if not part.is_relative_to(folder.resolve()):
            raise InputFileError(f"{folder / _MODULES} names {path!r:.80}, outside of the folder.")
        pickles = [file for pattern in _PICKLES for file in part.glob(pattern)]
        if pickles and not any(part.glob("*.safetensors")):
            raise InputFileError(
                f"{pickles[0]} may be a pickle, which can run code, and {part.name or folder.name} has no .safetensors "
                "file. Save the model again with safe_serialization=True."
            )
