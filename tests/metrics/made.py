"""A small study and vectors for it."""

import numpy as np
from numpy.typing import ArrayLike

import bayesbias as bb
from bayesbias.metrics.subspaces.mean_cosine import word_cosines

PETS = bb.Study(
    name="pets",
    protected={"cats": ["cat", "kitten", "tom"], "dogs": ["dog", "puppy", "hound"]},
    attributes={"quiet": ["purr", "nap"], "loud": ["bark", "howl", "growl"]},
    associated=[("cats", "quiet"), ("dogs", "loud")],
    human="none",
    neutral=["stone", "door"],
)


def vectors(*left_out: str, seed: int = 0) -> dict[str, np.ndarray]:
    """Return random vectors of the words of `PETS`."""
    rng = np.random.default_rng(seed)
    made = {word: rng.normal(size=5) for word in PETS.words}
    return {word: vector for word, vector in made.items() if word not in left_out}


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Return a cosine similarity, the plain way."""
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def mean_cosine(a: ArrayLike, b: ArrayLike) -> float:
    """Return the mean of the cosine similarities of all pairs."""
    return float(word_cosines(a, b).mean())
