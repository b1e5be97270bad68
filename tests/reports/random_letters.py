"""An embedding without structure, and studies of its words."""

import numpy as np

import bayesbias as bb


def noise(words: int = 300, dimensions: int = 30) -> bb.Embedding:
    """Vectors in random directions, so that distances are as good as independent."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [letters[number // 676] + letters[number // 26 % 26] + letters[number % 26] for number in range(words)]
    vectors = np.random.default_rng(5).standard_normal((words, dimensions))
    return bb.Embedding(words=tuple(names), vectors=vectors, name="noise")


def study(embedding: bb.Embedding, *, groups: int = 2, controls: int = 12, words_per_list: int = 6) -> bb.Study:
    words = iter(embedding.words)
    return bb.Study(
        name="letters",
        protected={f"x{group}": [next(words) for _ in range(words_per_list)] for group in range(groups)},
        attributes={f"a{group}": [next(words) for _ in range(words_per_list)] for group in range(max(groups, 2))},
        associated=[(f"x{group}", f"a{group}") for group in range(groups)],
        human=[next(words) for _ in range(controls)] if controls else "none",
        neutral="none",
    )
