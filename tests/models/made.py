"""Small tables as arrays, made by hand for tests of the samplers."""

import numpy as np

from bayesbias.models.data import ModelData


def made(words: list[int], rows: list[int], word_sd: list[float], sigma: list[float], seed: int = 0) -> ModelData:
    """A table of some connections: words, rows a word, and the two standard deviations of each."""
    rng = np.random.default_rng(seed)
    names = ("associated", "different", "human", "neutral")[: len(words)]
    protected, connection, distance = [], [], []
    for g, (count, rows_each, tau, sd) in enumerate(zip(words, rows, word_sd, sigma, strict=True)):
        mean = 0.9 + tau * rng.standard_normal(count)
        word = np.repeat(np.arange(count), rows_each)
        protected.append(word)
        connection.append(np.full(len(word), g))
        distance.append(mean[word] + sd * rng.standard_normal(len(word)))
    flat = np.concatenate(protected)
    return ModelData(
        distance=np.concatenate(distance),
        protected=flat,
        connection=np.concatenate(connection),
        attribute=np.arange(len(flat)),
        protected_words=np.array([f"p{number}" for number in range(max(words))]),
        protected_groups=np.array(["g"] * max(words)),
        attribute_words=np.array([f"a{number}" for number in range(len(flat))]),
        connections=names,
        table_hash="made",
    )


def made_crossed(seed: int = 7) -> ModelData:
    """Four words, 2 + 2 stereotypes, 6 human and 6 neutral words, with effects of attribute words."""
    rng = np.random.default_rng(seed)
    words, rows = 4, []
    mean = 0.9 + 0.03 * rng.standard_normal((words, 4))
    for j, group in enumerate([0, 0, 1, 1, *[2] * 6, *[3] * 6]):
        effect = 0.05 * rng.standard_normal()
        for i in range(words):
            g = (0 if i % 2 == group else 1) if group < 2 else group
            rows.append((i, g, j, mean[i, g] + effect + 0.06 * rng.standard_normal()))
    protected, connection, attribute, distance = (np.array(column) for column in zip(*rows, strict=True))
    return ModelData(
        distance=distance,
        protected=protected,
        connection=connection,
        attribute=attribute,
        protected_words=np.array([f"p{number}" for number in range(words)]),
        protected_groups=np.array(["even", "odd"] * 2),
        attribute_words=np.array([f"a{number}" for number in range(16)]),
        connections=("associated", "different", "human", "neutral"),
        table_hash="made",
    )
