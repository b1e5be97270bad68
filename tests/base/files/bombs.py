"""Small files that say that they become large, or do."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import bayesbias as bb
from bayesbias.embeddings.language_models.vector_spread import with_spread
from bayesbias.embeddings.readers.npz import read_sample, read_steps
from bayesbias.embeddings.training.glove_variance import _arrays
from bayesbias.embeddings.training.trained import TrainedEmbeddings, provenances, read_matrices


def zipped(content: bytes, *, files: int = 1, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for number in range(files):
            archive.writestr(f"{number}.csv", content)
    return stream.getvalue()


def lying_gzip(content: bytes) -> bytes:
    """Return gzip data whose last four bytes say that the content has five bytes."""
    return gzip.compress(content)[:-4] + (5).to_bytes(4, "little")


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
}


def with_header(
    path: Path | io.BytesIO, shape: tuple[int, ...], dtype: str, content: bytes, name: str = "texts"
) -> None:
    """Write an array whose header has a shape and a type, whatever its content."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": dtype, "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.npy", header.getvalue() + content)


# Who reads an array of a name, and the type that it has.
def of_a_seed(path: Path) -> TrainedEmbeddings:
    return TrainedEmbeddings(path.parent, {1: path}, {})


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "steps": ("<U9", read_steps),
    "vocabulary_sample": ("<f4", read_sample),
    "deviations": ("<f4", lambda path: with_spread(bb.load_embedding({"he": [1.0, 0.0]}), path)),
    "context_vectors": ("<f4", read_matrices),
    "word_biases": ("<f4", lambda path: _arrays(of_a_seed(path), 1)),
    "provenance": ("<U9000000", lambda path: provenances(path.parent)),
    "matrix": ("<f4", bb.debias.read_map),
    "words": ("<U9000000", bb.load_embedding),
}
DIMENSIONS = {"vocabulary_sample": 2, "deviations": 3, "context_vectors": 2, "provenance": 0, "matrix": 2}
