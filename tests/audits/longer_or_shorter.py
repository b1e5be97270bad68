"""A method that changes the lengths of vectors and nothing else, and vectors to apply it to."""

from dataclasses import dataclass

import numpy as np

import bayesbias as bb
from tests.audits.pets import WORDS

NAMES = tuple([f"{side}{letter}" for letter in "abcde"] for side in ("Ann", "Bob"))


def source() -> bb.Embedding:
    """Return vectors of 200 words, with names and a pair."""
    letters = "abcdefghij"
    others = [f"word{a}{b}" for a in letters for b in letters] + [f"term{a}{b}" for a in letters for b in letters[:7]]
    words = [*WORDS, "he", "she", *NAMES[0], *NAMES[1], *others]
    return bb.Embedding(tuple(words), np.random.default_rng(3).normal(size=(len(words), 12)), name="made")


@dataclass(frozen=True)
class Lengths:
    """Multiplies each vector by a number of its own."""

    def fit(self, embedding: bb.Embedding, sets: object) -> "Lengths":
        return self

    def transform(self, embedding: bb.Embedding) -> bb.Embedding:
        numbers = np.exp(np.random.default_rng(4).normal(0, 0.7, size=(len(embedding), 1)))
        return bb.Embedding(embedding.words, embedding.vectors * numbers, name="of other lengths")
