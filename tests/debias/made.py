"""A small embedding with a direction in which pairs differ."""

import numpy as np

import bayesbias as bb

PAIRS = [["he", "she"], ["man", "woman"], ["king", "queen"]]
TRIPLES = [["judaism", "christianity", "islam"], ["rabbi", "priest", "imam"]]
NAMES = [["word1", "word2", "word3"], ["word4", "word5", "word6", "word7"]]
WORDS = bb.debias.DebiasWords(
    "made",
    PAIRS,
    sides=[["she", "woman", "queen", "word8"], ["he", "man", "king", "word9"]],
    names=NAMES,
    concept=[f"word{number}" for number in range(10, 20)],
)


def made_embedding(dims: int = 12, neutral: int = 40, *, seed: int = 0, dtype: type = np.float64) -> bb.Embedding:
    rng = np.random.default_rng(seed)
    words = [word for words in (*PAIRS, *TRIPLES) for word in words] + [f"word{number}" for number in range(neutral)]
    vectors = rng.normal(size=(len(words), dims))
    axis = rng.normal(size=dims)
    for pair in range(len(PAIRS)):
        common = rng.normal(size=dims)
        vectors[2 * pair] = common + axis + 0.3 * rng.normal(size=dims)
        vectors[2 * pair + 1] = common - axis + 0.3 * rng.normal(size=dims)
    return bb.Embedding(tuple(words), 3 * vectors.astype(dtype), name="made")


def unit(vectors: np.ndarray) -> np.ndarray:
    vectors = np.asarray(vectors, dtype=float)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
