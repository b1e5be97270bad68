"""Vectors that were computed before: a folder with a file for each model, word and contexts, whole or absent."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_path
from bayesbias.base.files import input_file
from bayesbias.base.outputs import atomic_path, check_writable
from bayesbias.embeddings.readers.npz import sound_zip
from bayesbias.embeddings.rows import open_bytes, readable
from bayesbias.errors import InputFileError, OutputError


@dataclass(frozen=True, eq=False)
class WordVectors:
    """What a model gives for a word: the mean over contexts, its deviations, and how many contexts and pieces."""

    mean: NDArray[np.float32]
    deviations: NDArray[np.float32]
    contexts: int
    pieces: int


def cache_folder(path: str | os.PathLike[str] | None) -> Path | None:
    """Return a folder that can be written to, made if it is not there; or None."""
    if path is None:
        return None
    folder = check_path(path, "cache")
    if folder.exists() and not folder.is_dir():
        raise InputFileError(f"cache: {folder} is a file. Give a folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cache: cannot make {folder}: {error.strerror or error}. Choose another folder.") from error
    check_writable(folder)
    return folder


def cache_key(*parts: object) -> str:
    """Return the name that what depends on some texts and numbers is kept under."""
    content = sha256()
    for part in parts:
        text = repr(part).encode()
        content.update(f"{len(text)} ".encode() + text)
    return content.hexdigest()


def read_vectors(folder: Path | None, key: str) -> WordVectors | None:
    """Return what is kept under a key; None if nothing is.

    Raises
    ------
    InputFileError
        If its file is damaged.
    """
    if folder is None or not (path := folder / f"{key}.npz").exists():
        return None
    with readable(path), open_bytes(input_file(path)) as stream, sound_zip(path), np.load(stream) as arrays:
        found = {name: arrays[name] for name in ("mean", "deviations", "counts", "key") if name in arrays}
    shapes = {name: values.shape for name, values in found.items()}
    wide = shapes.get("mean", ())
    if len(found) < 4 or len(wide) != 1 or shapes["deviations"][1:] != wide or str(found["key"]) != key:
        raise InputFileError(f"{path} holds no vectors of this word: it was changed. Remove it.")
    contexts, pieces = found["counts"].tolist()
    return WordVectors(found["mean"], found["deviations"], contexts, pieces)


def write_vectors(folder: Path | None, key: str, vectors: WordVectors) -> None:
    """Keep vectors under a key."""
    if folder is None:
        return
    with atomic_path(folder / f"{key}.npz", overwrite=True) as made, made.open("wb") as stream:
        np.savez(
            stream,
            allow_pickle=False,
            mean=vectors.mean,
            deviations=vectors.deviations,
            counts=np.array([vectors.contexts, vectors.pieces], dtype=np.int64),
            key=np.asarray(key),
        )
