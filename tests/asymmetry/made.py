"""Made associations: a small world whose probabilities are known."""

import numpy as np
import pandas as pd

import bayesbias as bb

WORDS = tuple(f"w{number:02}" for number in range(30))


def made_norms(seed: int = 1, participants: int = 100, words: tuple[str, ...] = WORDS) -> pd.DataFrame:
    """Return what so many people answer: of each word to all others, by popularity."""
    rng = np.random.default_rng(seed)
    popular = rng.exponential(size=len(words)) ** 2
    rows = []
    for cue in range(len(words)):
        weights = popular * rng.exponential(size=len(words))
        weights[cue] = 0
        counts = rng.multinomial(participants, 0.9 * weights / weights.sum())
        rows += [(words[cue], words[number], count, participants) for number, count in enumerate(counts) if count]
    return pd.DataFrame(rows, columns=["cue", "response", "count", "participants"])


def made_vectors(seed: int = 2, words: tuple[str, ...] = WORDS) -> bb.Embedding:
    """Return vectors of different lengths."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((len(words), 5)) * rng.uniform(0.5, 2, (len(words), 1))
    return bb.Embedding(words, vectors, name="made")


def made_relations(words: tuple[str, ...] = WORDS) -> pd.DataFrame:
    """Return two relations: of the even words and of the odd ones."""
    rows = [(a, ("IsA", "PartOf")[number % 2], b) for number, a in enumerate(words) for b in words[number + 1 :]]
    return pd.DataFrame(rows, columns=["head", "relation", "tail"])
