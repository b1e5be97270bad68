"""Writing embeddings to files of common formats."""

import os
import struct
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np

from bayesbias.base.checks import check_path
from bayesbias.base.files.inputs import SEAL
from bayesbias.base.files.outputs import atomic_path, check_output
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike, check_rows
from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding, spread_arrays
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import BayesBiasWarning, EmbeddingError, OutputError, name_some, warn_user


def write_embedding(embedding: EmbeddingLike, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write an embedding, whole or not at all.

    Parameters
    ----------
    embedding
        What `load_embedding` or a debiasing method returned, or anything that `load_embedding` takes.
    path
        File whose ending is the format: ``.npz`` (arrays ``words`` and ``vectors``, all digits), ``.bin`` (word2vec
        binary, 32 bits a number), or ``.txt`` and ``.vec`` (word2vec text with a header, nine significant digits).
        ``.npz`` and ``.bin`` carry a checksum, by which `load_embedding` finds any changed byte; text has no place for
        one. Only ``.npz`` keeps the spread of a `ContextualEmbedding` (other formats warn), and the fields `steps` and
        `vocabulary_sample`.
    overwrite
        Whether an existing file may be replaced.

    Returns
    -------
    pathlib.Path
        The file, which `load_embedding` reads.

    Raises
    ------
    OutputError
        If the ending is not one of these, or the file exists or cannot be written.
    EmbeddingError
        If a word holds white space, or numbers need more than 32 bits, and the format is not ``.npz``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pets = {"cat": [1.0, 0.0], "dog": [0.0, 1.0]}
    ...     len(bb.load_embedding(bb.write_embedding(pets, f"{folder}/pets.npz")))
    2
    """
    target = check_embedding_output(path, overwrite=overwrite)
    embedding = embedding if isinstance(embedding, Embedding) else load_embedding(embedding)
    write = WRITERS[target.suffix.lower()]
    if target.suffix.lower() != ".npz":
        spaced = [word for word in embedding.words if not word or any(letter.isspace() for letter in word)]
        if spaced:
            raise EmbeddingError(
                f"{counted(len(spaced), 'word holds', 'words hold')} white space, as "
                f"{name_some(map(repr, spaced), 3)}, which separates the columns of a {target.suffix} file. Write an "
                ".npz file."
            )
        try:  # readers of these formats use 32 bits a number
            with np.errstate(over="ignore"):
                check_rows(embedding.words, embedding.vectors.astype(np.float32), where=lambda row: f"in row {row}")
        except EmbeddingError as error:
            raise EmbeddingError(f"In 32 bits a number, as in a {target.suffix} file: {error}") from error
        if isinstance(embedding, ContextualEmbedding):
            warn_user(
                f"{target} does not keep how the vectors vary over contexts or templates: intervals of tables that are "
                "made of it are too narrow. Write an .npz file.",
                BayesBiasWarning,
            )
    with atomic_path(target, overwrite=overwrite) as temporary:
        write(embedding, temporary)
    return target


def check_embedding_output(path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Return `path` if an embedding can be written there; raise `OutputError` if not."""
    target = check_path(path)
    if target.suffix.lower() not in WRITERS:
        raise OutputError(f"{target}: give it one of the endings {', '.join(WRITERS)}.")
    return check_output(target, overwrite=overwrite)


def _npz(embedding: Embedding, path: Path) -> None:
    with path.open("wb") as stream:
        arrays = {"words": np.asarray(embedding.words, dtype=str), "vectors": embedding.vectors}
        steps = {"steps": np.asarray(embedding.steps, dtype=str)} if embedding.steps else {}
        sample = embedding.vocabulary_sample
        beside = {} if sample is None else {"vocabulary_sample": sample}
        np.savez_compressed(stream, allow_pickle=False, **arrays, **spread_arrays(embedding), **steps, **beside)


def _word2vec_binary(embedding: Embedding, path: Path) -> None:
    digest = sha256()
    with path.open("wb") as stream:

        def write(content: bytes) -> None:
            stream.write(content)
            digest.update(content)

        write(f"{len(embedding)} {embedding.dimensions}\n".encode())
        pack = struct.Struct(f"<{embedding.dimensions}f").pack
        for word, vector in zip(embedding.words, embedding.vectors, strict=True):
            write(word.encode() + b" " + pack(*vector) + b"\n")
        # After the last row, where readers of this format stop.
        stream.write(SEAL + digest.hexdigest().encode())


def _word2vec_text(embedding: Embedding, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(f"{len(embedding)} {embedding.dimensions}\n")
        for word, vector in zip(embedding.words, embedding.vectors, strict=True):
            stream.write(f"{word} {' '.join(f'{value:.9g}' for value in vector)}\n")


WRITERS: dict[str, Callable[[Embedding, Path], None]] = {
    ".npz": _npz,
    ".bin": _word2vec_binary,
    ".txt": _word2vec_text,
    ".vec": _word2vec_text,
}
