"""A small embedding written in each format, also by gensim where it is installed."""

import gzip
import struct
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

# The second word begins with a space that Python's str.split would take for a separator; ASCII rules do not.
WORDS = ("king", "\u00a0odd", "Queen", "naïve", "man")
VECTORS = np.array(
    [[0.1, -0.2, 0.3, 0.4], [1, 2, 3, 4], [-0.5, 0.25, 0.125, 1], [0.7, 0, 0, -0.7], [1e-3, 2, -3, 0.5]],
    dtype=np.float32,
)
SENTENCES = [["king", "queen", "naïve", "man"], ["king", "man", "child"]] * 3


def keyed_vectors() -> Any:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(VECTORS.shape[1])
    vectors.add_vectors(list(WORDS), VECTORS)
    return vectors


def fasttext_model() -> Any:
    from gensim.models import FastText

    return FastText(SENTENCES, vector_size=4, min_count=1, bucket=20, min_n=2, max_n=3, epochs=1, seed=1, workers=1)


def write_gensim_binary(path: Path) -> None:
    keyed_vectors().save_word2vec_format(str(path), binary=True)


def write_google_binary(path: Path) -> None:
    """Write as Google's C tool does, which gensim cannot: with a line end after each vector."""
    rows = [word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(WORDS, VECTORS, strict=True)]
    path.write_bytes(b"5 4\n" + b"".join(rows))


def write_gensim_text(path: Path) -> None:
    keyed_vectors().save_word2vec_format(str(path), binary=False)


def write_text(path: Path, header: str = "5 4\n", end: str = "\n") -> None:
    rows = [f"{word} {' '.join(map(str, row))}{end}" for word, row in zip(WORDS, VECTORS, strict=True)]
    path.write_text(header + "".join(rows), encoding="utf-8")


def write_fasttext_vec(path: Path) -> None:
    """Write as fastText's C++ tool does: with a space after every number."""
    write_text(path, end=" \n")


def write_glove(path: Path) -> None:
    write_text(path, header="")


def write_npz(path: Path) -> None:
    with path.open("wb") as file:  # given a path, NumPy would add a suffix
        np.savez(file, words=np.array(WORDS), vectors=VECTORS)


def write_compressed_npz(path: Path) -> None:
    with path.open("wb") as file:
        np.savez_compressed(file, words=np.array(WORDS), vectors=np.asfortranarray(VECTORS))


def fasttext_of_one_word(letters: int, longest: int, shortest: int = 1) -> bytes:
    """Return a fastText ``.bin`` of a word with so many letters, whose n-grams have `shortest` to `longest`."""
    return fasttext_of_words(["a" * letters], longest, shortest)


def fasttext_of_words(words: list[str], longest: int, shortest: int = 1, buckets: int = 1) -> bytes:
    """Return a fastText ``.bin`` of some words, whose n-grams have `shortest` to `longest` letters."""
    dimensions, count = 2, len(words)
    header = struct.pack("<14i", 793712314, 12, dimensions, 5, 5, 1, 5, 1, 1, 1, buckets, shortest, longest, 1)
    header += struct.pack("<d3i2q", 1e-4, count, count, 0, 10, -1)
    header += b"".join(word.encode() + b"\0" + struct.pack("<q", 1) + b"\0" for word in words)
    matrices = (
        struct.pack("<?2q", False, rows, dimensions) + struct.pack("<2f", 1, 2) * rows
        for rows in (count + buckets, count)
    )
    return header + b"".join(matrices)


FASTTEXT_BIN = Path(__file__).with_name("fasttext_by_gensim.bin")
"""`fasttext_model`, written by gensim 4.4: `python -m tests.embeddings.make_fasttext` makes it, and its vectors."""


def write_fasttext_bin(path: Path) -> None:
    path.write_bytes(FASTTEXT_BIN.read_bytes())


def gzipped(write: Callable[[Path], None]) -> Callable[[Path], None]:
    def write_gzipped(path: Path) -> None:
        write(path)
        path.write_bytes(gzip.compress(path.read_bytes(), mtime=0))

    return write_gzipped


# What is called here -> how it is written, and the format that it must be recognised as.
FILES: dict[str, tuple[Callable[[Path], None], str]] = {
    "google binary": (write_google_binary, "word2vec_binary"),
    "word2vec text": (write_text, "word2vec_text"),
    "fasttext vec": (write_fasttext_vec, "word2vec_text"),
    "glove": (write_glove, "glove"),
    "npz": (write_npz, "npz"),
    "compressed npz": (write_compressed_npz, "npz"),
}
if find_spec("gensim"):
    FILES["gensim binary"] = write_gensim_binary, "word2vec_binary"
    FILES["gensim text"] = write_gensim_text, "word2vec_text"
FILES |= {f"gzipped {name}": (gzipped(write), form) for name, (write, form) in FILES.items()}
