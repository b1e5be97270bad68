"""Vectors of the trials, the links between their words, and the difference of gendered words along which lists lean."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import bayesbias as bb
from bayesbias.estimates.dependence import LinkedWords
from bayesbias.tables.word_worths import KEY, Vocabulary, dependence_record

VECTORS = {
    "google_news": "googlenews_word2vec_300d_13784.npz",
    "glove": "glove_6b_50d_10382.txt",
    "bundled": "wikipedia2018_skipgram_seed1.npz",
    "minilm": "minilm.npz",
}
MALE = ("he", "him", "his", "man", "men", "boy", "boys", "male", "father", "son", "brother", "husband", "uncle", "king")
FEMALE = (
    *("she", "her", "hers", "woman", "women", "girl", "girls", "female", "mother", "daughter", "sister", "wife"),
    *("aunt", "queen"),
)


def vectors_path(name: str, folder: Path) -> Path:
    """Return the file of an embedding."""
    return bb.bundled("data", "vectors", VECTORS[name]) if name == "bundled" else folder / VECTORS[name]


def unit_vectors(name: str, folder: Path) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the words of an embedding and their vectors of length 1, shape (words, dimensions)."""
    embedding = bb.load_embedding(vectors_path(name, folder))
    vectors = np.asarray(embedding.vectors, dtype=float)
    return embedding.words, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def gender_difference(words: tuple[str, ...], vectors: np.ndarray) -> np.ndarray:
    """Return the mean vector of male words minus that of female words, shape (dimensions,)."""
    place_of = {word: place for place, word in enumerate(words)}
    male, female = (
        vectors[[place_of[word] for word in side if word in place_of]].mean(axis=0) for side in (MALE, FEMALE)
    )
    return np.asarray(male - female)


@cache
def vocabulary_of(path: Path) -> Vocabulary:
    """Return what random words of an embedding have in common."""
    return Vocabulary.from_reference(bb.load_embedding(path).reference)


def record_of(
    lists: Mapping[tuple[str, str], list[str]], vectors: Mapping[str, np.ndarray], vocabulary: Vocabulary
) -> dict[str, Any]:
    """Return the attrs of a table made by hand: the record of the words of its lists, which `bb.distance_table` makes.

    `lists` are words by role and name, `vectors` their unit vectors.
    """
    return {"bayesbias": {KEY: dependence_record(lists, vectors, vocabulary)}}


def links_of(vectors: np.ndarray, member_of: np.ndarray, vocabulary: Vocabulary) -> LinkedWords:
    """Return the links of words (rows) within their lists, `member_of` (words,)."""
    parts = []
    for place in np.unique(member_of):
        members = np.flatnonzero(member_of == place)
        links = vocabulary.links(vectors[members])
        parts.append(links.placed(members, len(member_of)))
    return LinkedWords(
        np.concatenate([part.pairs for part in parts]),
        np.concatenate([part.strengths for part in parts]),
        np.sum([part.chance for part in parts], axis=0),
    )
