"""Linear projection: the paper's equation, a word at a time."""

import numpy as np

from bayesbias.debias import LinearProjection
from tests.debias.made import PAIRS, made_embedding, unit


def test_linear_projection_of_one_pair_removes_she_minus_he() -> None:
    """Dev and Phillips (2019): w - <w, v> v, with v the direction of she - he between unit vectors."""
    embedding = made_embedding()
    v = unit(unit(embedding["she"]) - unit(embedding["he"]))
    after = LinearProjection().fit(embedding, [["she", "he"]]).transform(embedding)
    for word in embedding.words:
        assert np.allclose(after[word], embedding[word] - (embedding[word] @ v) * v)
    assert np.abs(unit(after.vectors) @ v).max() < 1e-12


def test_linear_projection_removes_the_first_components_of_pair_differences() -> None:
    embedding = made_embedding()
    differences = np.array([unit(embedding[a]) - unit(embedding[b]) for a, b in PAIRS])
    _, vectors = np.linalg.eigh(differences.T @ differences)
    top = vectors[:, ::-1][:, :2]
    after = LinearProjection(components=2).fit(embedding, PAIRS).transform(embedding)
    assert np.allclose(after.vectors, embedding.vectors - embedding.vectors @ top @ top.T)
