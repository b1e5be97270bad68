"""Errors of contrasts over contexts: against the observed contrast of vectors that are moved by their deviations."""

import numpy as np
import pandas as pd
import pytest

from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding
from bayesbias.tables.errors_over_contexts import contrast_errors

PROTECTED = pd.DataFrame({"word": ["a", "b", "c"], "list": ["one", "one", "two"]})
ATTRIBUTES = pd.DataFrame({"word": ["p", "q", "r", "n"], "list": ["up", "up", "down", "neutral"]})
CONNECTIONS = {
    ("one", "up"): "associated", ("one", "down"): "different", ("two", "up"): "different",
    ("two", "down"): "associated", ("one", "neutral"): "neutral", ("two", "neutral"): "neutral",
}  # fmt: skip
GROUPS = 20


@pytest.fixture(params=[True, False], ids=["templates", "contexts"])
def embedding(request):
    rng = np.random.default_rng(3)
    words = (*PROTECTED["word"], *ATTRIBUTES["word"])
    return ContextualEmbedding(
        words=words,
        vectors=rng.standard_normal((7, 5)),
        deviations=(1e-4 * rng.standard_normal((7, GROUPS, 5))).astype(np.float32),
        contexts=np.full(7, 20),
        pieces=np.ones(7, dtype=int),
        paired=request.param,
    )


def plain_contrasts(embedding, vectors):
    """Contrasts of plain averages, written out for these lists."""
    units = dict(zip(embedding.words, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), strict=True))
    distance = {(p, a): 1 - units[p] @ units[a] for p in "abc" for a in "pqrn"}
    near = {p: (distance[p, "p"] + distance[p, "q"]) / 2 - distance[p, "r"] for p in "abc"}
    word = {"a": near["a"], "b": near["b"], "c": -near["c"]}
    group = {"one": (word["a"] + word["b"]) / 2, "two": word["c"]}
    neutral = {"a": (distance["a", "p"] + distance["a", "q"]) / 2 - distance["a", "n"]}
    overall = {"": (group["one"] + group["two"]) / 2}
    stereotype = {("associated - different", name): value for name, value in (word | group | overall).items()}
    return stereotype | {("associated - neutral", "a"): neutral["a"]}


def test_errors_are_those_of_moved_vectors(embedding):
    plain = plain_contrasts(embedding, embedding.vectors)
    variances = dict.fromkeys(plain, 0.0)
    words = [range(len(embedding))] if embedding.paired else [[row] for row in range(len(embedding))]
    for rows in words:
        for group in range(GROUPS):
            moved = embedding.vectors.copy()
            moved[list(rows)] += embedding.deviations[list(rows), group]
            for key, value in plain_contrasts(embedding, moved).items():
                variances[key] += (value - plain[key]) ** 2
    entries = contrast_errors(embedding, PROTECTED, ATTRIBUTES, CONNECTIONS)
    errors = {(entry["contrast"], entry["name"]): entry["sd"] for entry in entries}
    assert len(entries) == 3 * (1 + 2 + 3)
    for key, variance in variances.items():
        assert errors[key] == pytest.approx(np.sqrt(variance), rel=1e-3)


def test_a_group_without_associated_words_has_no_part_in_the_error_of_all(embedding):
    """As in the observed difference: the overall contrast is that of the one group that has both sides."""
    connections = CONNECTIONS | {("two", "down"): "different"}
    entries = contrast_errors(embedding, PROTECTED, ATTRIBUTES, connections)
    errors = {(entry["contrast"], entry["level"], entry["name"]): entry["sd"] for entry in entries}
    contrast = "associated - different"
    assert errors[contrast, "overall", ""] == pytest.approx(errors[contrast, "protected_group", "one"])
    assert (contrast, "protected_group", "two") not in errors
