"""Embeddings over seeds that are made for tests."""

import numpy as np

import bayesbias as bb

PAIRS = [("he", "she"), ("man", "woman"), ("king", "queen"), ("boy", "girl")]
WORDS = [f"w{i}" for i in range(12)]


def made_seeds(count=3, *, dimensions=10, noise=0.3, words=WORDS, more=0):
    """Return seed -> embedding: the same words with other noise; of base pairs, targets and `more` other words."""
    every = [word for pair in PAIRS for word in pair] + list(words) + [f"x{i}" for i in range(more)]
    rng = np.random.default_rng(7)
    truth = rng.normal(size=(len(every), dimensions)) * rng.uniform(0.5, 3, size=(len(every), 1))
    return {
        seed: bb.Embedding(tuple(every), (truth + noise * rng.normal(size=truth.shape)).astype(np.float32))
        for seed in range(1, count + 1)
    }
