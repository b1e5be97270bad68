"""A small corpus, and the settings of a short training."""

import numpy as np

WORDS = ("king", "queen", "man", "woman", "child", "tree", "leaf", "root", "sun", "rain")


def documents(count: int = 60, seed: int = 1) -> list[list[str]]:
    """Documents in which the words of each half keep to themselves."""
    rng = np.random.default_rng(seed)
    halves = (WORDS[:5], WORDS[5:])
    return [[str(word) for word in rng.choice(halves[place % 2], size=12)] for place in range(count)]


SHORT = {"dimensions": 6, "epochs": 2, "progress": False}
