"""Hostile vocabularies of HistWords, and what reads them."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np

import bayesbias as bb
from tests.fuzz.mutations import mutated

WORDS = ["he", "art", "naïve", "x" * 300, "she"]
_MARK = "made-by-a-pickle"


class _Hostile:
    """Makes a file when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path(_MARK),)


def vocabulary(rng: np.random.Generator) -> bytes:
    """Return a damaged vocabulary; in one of four, a pickle of something else."""
    protocol = int(rng.integers(pickle.HIGHEST_PROTOCOL + 1))
    contents = WORDS, [*WORDS, _Hostile()], {"he": WORDS}, [WORDS, 5, None, (1.5, b"he")]
    content = contents[0 if rng.random() < 0.75 else int(rng.integers(1, len(contents)))]
    return mutated(pickle.dumps(content, protocol), rng)


def vocabulary_of(path: Path) -> object:
    """Read a period whose vocabulary is at a path."""
    vectors = path.with_name(path.name.removesuffix("-vocab.pkl") + "-w.npy")
    np.save(vectors, np.arange(1.0, 1 + 3 * len(WORDS)).reshape(-1, 3))
    try:
        return list(bb.load_embedding(vectors).words)
    finally:
        if Path(_MARK).exists():
            raise AssertionError("a pickle was run")


def damaged_vectors(rng: np.random.Generator) -> bytes:
    """Return a damaged array."""
    import io

    stream = io.BytesIO()
    np.save(stream, np.arange(1.0, 1 + 3 * len(WORDS), dtype=np.float32).reshape(-1, 3))
    return mutated(stream.getvalue(), rng)


def vectors_of(path: Path) -> object:
    """Read a period whose vectors are at a path."""
    path.with_name(path.name.removesuffix("-w.npy") + "-vocab.pkl").write_bytes(pickle.dumps(WORDS, 2))
    return np.asarray(bb.load_embedding(path).vectors).tolist()
