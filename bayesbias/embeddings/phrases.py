"""Vectors of entries of several words, such as "civil war", from those of their words."""

import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np

from bayesbias.embeddings.case_rules import forms
from bayesbias.embeddings.embedding import Embedding, unit_rows

type Phrases = Literal["whole", "mean"]
"""How entries of several words are looked up."""


def with_phrases(embedding: Embedding, words: Iterable[str]) -> Embedding:
    """Return an embedding with a vector for each entry of several words that it lacks but whose words it has.

    The vector is the mean of those of the words, each scaled to length 1, as gensim's ``get_mean_vector`` computes it.

    >>> towns = Embedding(words=("new", "york"), vectors=[[2.0, 0.0], [0.0, 1.0]])
    >>> with_phrases(towns, ["new york", "new jersey"])["new york"]
    array([0.5, 0.5])
    """
    rows: dict[str, np.ndarray] = {}
    for word in words:
        parts = word.split()
        if len(parts) > 1 and word not in embedding and all(part in embedding for part in parts):
            vector = unit_rows(embedding, parts).mean(axis=0)
            if np.linalg.norm(vector) > 1e-6:  # words that point in opposite directions have no mean
                rows[unicodedata.normalize("NFC", forms(word, embedding.rule)[0])] = vector
    if not rows:
        return embedding
    vectors = np.vstack([embedding.vectors, np.array(list(rows.values()), dtype=embedding.vectors.dtype)])
    return replace(embedding, words=(*embedding.words, *rows), vectors=vectors, phrases=(*embedding.phrases, *rows))
