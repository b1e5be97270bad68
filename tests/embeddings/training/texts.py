"""A small corpus, and the settings of a short training."""

import numpy as np

WORDS = ("king", "queen", "man", "woman", "child", "tree", "leaf", "root", "sun", "rain")


def documents(count: int = 60, seed: int = 1) -> list[list[str]]:
    """Documents in which the words of each half keep to themselves."""
    rng = np.random.default_rng(seed)
    halves = (WORDS[:5], WORDS[5:])
    return [[str(word) for word in rng.choice(halves[place % 2], size=12)] for place in range(count)]


SHORT = {"dimensions": 6, "epochs": 2, "progress": False}

PAIRS = [["king", "queen"], ["man", "woman"]]


def sided_documents(count: int = 400, seed: int = 1) -> list[list[str]]:
    """Documents of one side each: its words among neutral ones, of which "sun" leans to kings and "rain" to queens."""
    rng = np.random.default_rng(seed)
    neutral = ["child", "tree", "leaf", "root"]
    return [
        [str(word) for word in rng.choice([*side, *neutral, leaning, leaning], size=12)]
        for side, leaning in [(("king", "man"), "sun"), (("queen", "woman"), "rain")] * (count // 2)
    ]
