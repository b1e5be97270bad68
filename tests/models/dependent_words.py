"""Distance tables of real vectors whose words are forms of each other, as synonyms and inflections are."""

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.base.arrays import Floats

SAMPLE = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")).reference
"""Unit vectors of random words of a vocabulary, shape (1000, dimensions)."""


def unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def forms(clusters: int, size: int, rng: np.random.Generator, others: float = 0.6) -> Floats:
    """Return vectors of words in clusters: a random word, and forms of it that share a part of another random word."""
    heads = np.repeat(rng.choice(len(SAMPLE), clusters, replace=False), size)
    return unit(SAMPLE[heads] + others * SAMPLE[rng.choice(len(SAMPLE), clusters * size, replace=False)])


def tables_of(
    attributes: Floats, protected: Floats, rng: np.random.Generator | None = None, periods: int = 1, drift: float = 0.3
) -> dict[str, pd.DataFrame]:
    """Return tables by period of two groups and two lists, the halves of either array.

    In later periods all vectors get a part of random words, so that nothing is associated and nothing changes on
    average.
    """
    names = {
        role: [f"{role}{chr(97 + place // 26)}{chr(97 + place % 26)}" for place in range(len(vectors))]
        for role, vectors in (("p", protected), ("a", attributes))
    }
    halves = {
        role: {f"{role}{side}": part.tolist() for side, part in enumerate(np.array_split(words, 2))}
        for role, words in names.items()
    }
    study = bb.Study(
        name="forms",
        protected=halves["p"],
        attributes=halves["a"],
        associated=[("p0", "a0"), ("p1", "a1")],
        human="none",
        neutral="none",
    )
    vectors, tables = np.concatenate([protected, attributes]), {}
    for period in range(periods):
        moved = vectors
        if period:
            assert rng is not None
            moved = unit(vectors + drift * SAMPLE[rng.choice(len(SAMPLE), len(vectors), replace=False)])
        embedding = bb.Embedding(words=(*names["p"], *names["a"]), vectors=moved, vocabulary_sample=SAMPLE)
        tables[str(1900 + 10 * period)] = bb.distance_table(embedding, study)
    return tables


def without_links(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose record says that no words depend on each other."""
    facts = {**table.attrs["bayesbias"], "dependent_words": {"measured": "none", "lists": []}}
    facts.pop("hash", None)
    table = table.copy()
    table.attrs = {"bayesbias": facts}
    return table
