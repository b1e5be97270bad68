"""Vectors of the trials, and the difference of gendered words along which lists lean."""

from pathlib import Path

import numpy as np

import bayesbias as bb

VECTORS = {
    "google_news": "googlenews_word2vec_300d_13784.npz",
    "glove": "glove_6b_50d_10382.txt",
    "bundled": "wikipedia2018_skipgram_seed1.npz",
}
MALE = ("he", "him", "his", "man", "men", "boy", "boys", "male", "father", "son", "brother", "husband", "uncle", "king")
FEMALE = (
    *("she", "her", "hers", "woman", "women", "girl", "girls", "female", "mother", "daughter", "sister", "wife"),
    *("aunt", "queen"),
)


def unit_vectors(name: str, folder: Path) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the words of an embedding and their vectors of length 1, shape (words, dimensions)."""
    path = bb.bundled("data", "vectors", VECTORS[name]) if name == "bundled" else folder / VECTORS[name]
    embedding = bb.load_embedding(path)
    vectors = np.asarray(embedding.vectors, dtype=float)
    return embedding.words, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def gender_difference(words: tuple[str, ...], vectors: np.ndarray) -> np.ndarray:
    """Return the mean vector of male words minus that of female words, shape (dimensions,)."""
    place_of = {word: place for place, word in enumerate(words)}
    male, female = (
        vectors[[place_of[word] for word in side if word in place_of]].mean(axis=0) for side in (MALE, FEMALE)
    )
    return np.asarray(male - female)
