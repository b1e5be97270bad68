"""A cache of computed vectors: a folder with one file for each model, word and contexts."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_path
from bayesbias.base.files.arrays import read_arrays
from bayesbias.base.files.folders import check_unshared, followed
from bayesbias.base.files.inputs import input_file
from bayesbias.base.files.outputs import atomic_path
from bayesbias.errors import InputFileError, OutputError

_ARRAYS = {"mean": ("f", 1), "deviations": ("f", 2), "counts": ("i", 1), "key": ("U", 0)}


@dataclass(frozen=True, eq=False)
class WordVectors:
    """The vector of a word in a model: mean over contexts, deviations, and numbers of contexts and pieces."""

    mean: NDArray[np.float32]
    deviations: NDArray[np.float32]
    contexts: int
    pieces: int


def cache_folder(path: str | os.PathLike[str] | None) -> Path | None:
    """Return a writable folder, created if necessary, or None if `path` is None."""
    if path is None:
        return None
    folder = check_path(path, "cache")
    if folder.exists() and not folder.is_dir():
        raise InputFileError(f"cache: {folder} is a file. Give a folder.")
    try:
        followed(folder).mkdir(parents=True, exist_ok=True)
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"cache: cannot make {folder}: {error.strerror or error}. Choose another folder.") from error
    check_unshared(folder / "vectors")
    return folder


def cache_key(*parts: object) -> str:
    """Return the key of a result that depends on some texts and numbers."""
    content = sha256()
    for part in parts:
        text = repr(part).encode()
        content.update(f"{len(text)} ".encode() + text)
    return content.hexdigest()


def read_vectors(folder: Path | None, key: str) -> WordVectors | None:
    """Return the vectors stored under a key, or None if there are none.

    Raises
    ------
    InputFileError
        If the file is damaged.
    """
    if folder is None or not (path := folder / f"{key}.npz").exists():
        return None
    stored = read_arrays(input_file(path), _ARRAYS)
    if not _is_sound(stored, key):
        raise InputFileError(f"{path} does not hold the vectors of this word: it was changed. Remove it.")
    contexts, pieces = stored["counts"].tolist()
    return WordVectors(stored["mean"], stored["deviations"], contexts, pieces)


def _is_sound(stored: Mapping[str, NDArray[Any]], key: str) -> bool:
    """Return whether arrays, of the right kinds, have the types, shapes and numbers that `write_vectors` stores."""
    if len(stored) < len(_ARRAYS) or str(stored["key"]) != key:
        return False
    mean, deviations, counts = (stored[name] for name in ("mean", "deviations", "counts"))
    return (
        mean.dtype == deviations.dtype == np.float32 and deviations.shape[1] == len(mean) > 0
        and bool(np.isfinite(mean).all() and np.isfinite(deviations).all())
        and counts.dtype == np.int64 and counts.shape == (2,) and bool((counts > 0).all())
    )  # fmt: skip


def write_vectors(folder: Path | None, key: str, vectors: WordVectors) -> None:
    """Store vectors under a key."""
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
