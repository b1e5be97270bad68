"""Small embeddings in which cats and dogs differ along one axis, and the words that methods take it away with."""

from typing import Any

import numpy as np

import bayesbias as bb
from tests.audits import pets

SETS = bb.debias.DebiasWords("kind", [["she", "he"], ["her", "his"], ["woman", "man"]])
SMALL: dict[str, Any] = {"draws": 100, "progress": False, "random_seed": 1}
OTHERS = [f"word{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(60)]


def embedding(seed: int = 1, *, lean: float = 2.0, dimensions: int = 8) -> bb.Embedding:
    """Return an embedding whose first axis is that of `SETS`, along which the words of the study lean."""
    rng = np.random.default_rng(seed)
    words = [word for pair in SETS.definitional for word in pair]
    vectors = rng.normal(size=(len(words) + len(pets.WORDS) + len(OTHERS), dimensions))
    for row in range(0, len(words), 2):
        vectors[row + 1] = vectors[row]
        vectors[row : row + 2, 0] = 3, -3
    quiet = {*pets.WORDS[:3], *pets.WORDS[6:9]}
    for row, word in enumerate(pets.WORDS, start=len(words)):
        vectors[row, 0] = lean if word in quiet else -lean
    return bb.Embedding([*words, *pets.WORDS, *OTHERS], vectors, name=f"E{seed}")


def report(embeddings: int = 2, **changes: Any) -> bb.audits.DebiasReport:
    """Return a report on two methods: one takes the axis away, the other little of it."""
    methods = {"linear": bb.debias.LinearProjection(), "weak": Weak()}
    sources = [embedding(seed) for seed in range(1, embeddings + 1)]
    settings = {"measures": ["vocabulary_direct_bias"], **SMALL, **changes}
    return bb.debias_report(sources, pets.study(), methods, sets=SETS, **settings)


class Weak:
    """A method that does nothing, as a user's own may."""

    def __repr__(self) -> str:
        return "Weak()"

    def fit(self, source: bb.Embedding, sets: bb.debias.DebiasWords) -> "Weak":
        assert sets.name == SETS.name
        return self

    def transform(self, source: bb.Embedding) -> bb.Embedding:
        return bb.Embedding(source.words, source.vectors, name=f"{source.name}, weak")
