"""Small test sets and models of inference whose answers are known."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bayesbias.arrays import Floats

PETS = """
premise = "Jemand {verb} {object}."
hypothesis = "{word} {verb} {object}."

[groups.cats]
nouns = ["kater", "oktopus"]
names = ["Mia"]

[groups.dogs]
nouns = ["rüde"]
names = ["Rex", "Bello"]

[articles]
before_consonant = "ein"
before_vowel = "der"

[articles.exceptions]
Milch = ""

[objects]
food = ["Milch", "knochen"]
toys = ["ball"]

[[pairs]]
verbs = ["frisst", "mag"]
objects = ["food"]

[[pairs]]
verbs = ["jagt"]
objects = ["toys", "food"]
"""


def pets(folder: Path, old: str = "", new: str = "") -> Path:
    """Return the path of a small test set, with a part of its text changed."""
    assert old in PETS
    path = folder / "pets.toml"
    path.write_text(PETS.replace(old, new, 1) if old else PETS, encoding="utf-8")
    return path


def by_length(premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
    """Answer by the length of sentences: anything that is a function of the pair."""
    first = np.array([len(text) for text in premises]) / 100
    second = np.array([len(text) for text in hypotheses]) / 200
    return np.column_stack([1 - first - second, first, second])
