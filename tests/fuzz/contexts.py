"""Hostile indices of contexts, and files of contextual vectors."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import bayesbias as bb
from bayesbias.base.files.inputs import SEAL_SIZE, sealed
from tests.fuzz.mutations import flipped, mutated

Generator = np.random.Generator
PAIRS = [("cat", "dog"), ("ice cream", "cat"), ("zebra", "dog")]
TEXTS = [f"A cat saw {'a dog' if at % 2 else 'ice cream'}, number {at}." for at in range(40)]


@cache
def whole_index() -> bytes:
    """Return a sound index."""
    with tempfile.TemporaryDirectory() as folder:
        return bb.embeddings.index_contexts(TEXTS, Path(folder) / "sound.contexts").path.read_bytes()


@cache
def whole_vectors() -> bytes:
    """Return a sound file of contextual vectors."""
    rng = np.random.default_rng(1)
    embedding = bb.embeddings.ContextualEmbedding(
        words=("he", "she", "art"),
        vectors=rng.normal(size=(3, 4)),
        deviations=rng.normal(size=(3, 20, 4)).astype(np.float32),
        contexts=np.full(3, 9),
        pieces=np.ones(3, dtype=np.int64),
        paired=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        return bb.write_embedding(embedding, Path(folder) / "sound.npz").read_bytes()


def index_of(path: Path) -> object:
    """Read an index, and ask it for pairs."""
    index = bb.embeddings.read_contexts(path)
    found = index.pairs(PAIRS, progress=False)
    return index.sha256, index.texts(range(min(index.contexts, 50))), found.to_csv()


def contextual_vectors_of(path: Path) -> object:
    """Read vectors, whole and in part, and the errors of their cosines."""
    for embedding in (bb.load_embedding(path), bb.load_embedding(path, words=["he", "art"])):
        if isinstance(embedding, bb.embeddings.ContextualEmbedding):
            embedding.spread()
            embedding.cosine_errors(["he"], ["art"])
    return np.asarray(bb.load_embedding(path).vectors).tolist()


def one_bit_of_an_index(rng: Generator) -> bytes:
    """Return an index with one bit flipped."""
    return flipped(whole_index(), rng)


def lying_index(rng: Generator) -> bytes:
    """Return an index with bytes that were changed, and a checksum that is right."""
    content = bytearray(whole_index()[:-SEAL_SIZE])
    for place in rng.integers(len(content), size=int(rng.integers(1, 30))):
        content[place] = int(rng.integers(256))
    return sealed(bytes(content))


def damaged_vectors(rng: Generator) -> bytes:
    """Return damaged contextual vectors."""
    return mutated(whole_vectors(), rng)


def said_by_index() -> object:
    """Return what a sound index says."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sound.contexts"
        path.write_bytes(whole_index())
        return index_of(path)
