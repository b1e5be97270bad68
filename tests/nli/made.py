"""Small test sets and models of inference whose answers are known."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.base.arrays import Floats

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


MEN = ("He ", "A man ", "A guy ", "A gentleman ")


def trained(contrast: float, seed: int) -> Callable[[Sequence[str], Sequence[str]], np.ndarray]:
    """Entail men more by `contrast`, and everything more or less by chance."""
    rng = np.random.default_rng(seed)
    shift, of_contrast = rng.normal(0, 0.03), rng.normal(0, 0.02)

    def model(premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        male = np.array([text.startswith(MEN) for text in hypotheses])
        entailed = 0.3 + shift + (contrast + of_contrast) * male + np.array([len(text) for text in premises]) / 1000
        return np.column_stack([1 - entailed, entailed, np.zeros(len(entailed))])

    return model


CONTRASTS = {"original": 0.3, "hard": 0.1, "nothing": 0.3}


def few_pairs() -> pd.DataFrame:
    """Return the rows of the explicit test set with six objects."""
    pairs = bb.nli.test_set("explicit")
    return pairs[pairs["object"].isin(["apple", "car", "book", "table", "horse", "soup"])]


def compared(contrasts: dict[str, float] = CONTRASTS) -> bb.nli.InferenceComparison:
    """Compare models whose contrasts are known, five trainings each."""
    models = {
        name: [trained(contrast, 10 * number + s) for s in range(5)]
        for number, (name, contrast) in enumerate(contrasts.items())
    }
    test_pairs = pd.DataFrame({"premise": ["A dog ate."] * 4, "hypothesis": ["He ate."] * 4, "label": ["neutral"] * 4})
    return bb.nli.compare_answers(models, few_pairs(), test_pairs=test_pairs, random_seed=1)


ANIMALS = ("dog", "cat", "horse", "bird", "fish", "wolf", "bear", "frog")
PAIR_VECTORS = dict(
    zip(("a", "no", "sleeps", *ANIMALS), np.random.default_rng(1).standard_normal((11, 12)), strict=True)
)
QUICK: dict[str, Any] = {"hidden_units": 16, "batch_size": 8, "progress": False}


def animal_pairs() -> pd.DataFrame:
    """Return labelled pairs of a small language: the same animal, none of them, or another one."""
    rows = []
    for number, animal in enumerate(ANIMALS):
        other = ANIMALS[(number + 3) % len(ANIMALS)]
        premise = f"A {animal} sleeps."
        rows += [(premise, f"a {animal} sleeps", "entailment"), (premise, f"No {animal} sleeps", "contradiction")]
        rows += [(premise, f"A {other} sleeps", "neutral")]
    return pd.DataFrame(rows, columns=["premise", "hypothesis", "label"])
