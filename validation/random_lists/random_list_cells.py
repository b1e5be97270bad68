"""Cells of the trial on random lists: protected words in some vectors, and the pools that lists are drawn from."""

import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

import bayesbias as bb
from bayesbias.models.data import ModelData, study_data
from bayesbias.tables.word_worths import Vocabulary

sys.path.append(str(Path(__file__).resolve().parent.parent / "real_contrasts"))

from real_vectors import links_of, vocabulary_of

SEED = 20261122
VECTORS = {
    "google_news": "googlenews_word2vec_300d_13784.npz",
    "glove": "glove_6b_50d_10382.txt",
    "bundled": "wikipedia2018_skipgram_seed1.npz",
}
# Of each group the first words that a vocabulary has, at most EACH, with a capital where it has only that.
EACH = 8
PROTECTED = {
    "math_arts": {
        "math": "math algebra geometry calculus equations computation numbers addition mathematics equation statistics",
        "arts": "poetry art dance literature novel symphony drama sculpture",
    },
    "gender": {
        "man": "he his son father male boy uncle man",
        "woman": "she hers daughter mother female girl aunt woman",
    },
    "names": {
        "male_names": "john paul mike kevin steve greg jeff bill",
        "female_names": "amy joan lisa sarah diana kate ann donna",
    },
    "religion": {
        "jew": "judaism jew synagogue torah rabbi jewish israeli",
        "christian": "christianity christian church bible priest",
        "muslim": "islam muslim mosque quran imam",
    },
}
NAMES = ("names",)  # whose words begin with a capital where the vocabulary has that
LIST = 8
CONTROLS = (100, 0)


@dataclass(frozen=True, eq=False)
class Cell:
    """Protected words in some vectors, and what attribute lists are drawn from.

    `protected` (words, dims) and `pool` (vocabulary, dims) have unit rows; `group_of` has the group of each word,
    `vocabulary` is what random words of the vectors have in common.
    """

    vectors: str
    words: str
    controls: int
    protected: np.ndarray
    pool: np.ndarray
    protected_words: tuple[str, ...]
    groups: tuple[str, ...]
    group_of: np.ndarray
    vocabulary: Vocabulary

    @property
    def name(self) -> str:
        """What the file of its fits is called."""
        return f"{self.vectors}_{self.words}_{self.controls}"

    @property
    def lists(self) -> int:
        """The number of attribute lists: one for each group."""
        return len(self.groups)

    def design(self) -> ModelData:
        """Return the pairs; distances are to be filled in."""
        list_of_row = np.repeat(np.arange(self.lists), LIST)
        connection = np.where(self.group_of[:, None] == list_of_row, 0, 1)
        connection = np.concatenate([connection, np.full((len(connection), self.controls), 2)], axis=1)
        names = ("associated", "different", "neutral")[: 3 if self.controls else 2]
        return study_data(connection, np.array(self.groups)[self.group_of], names)

    def distances(self, sample: int) -> np.ndarray:
        """Return the distances to attribute words drawn at random, shape (protected words, attribute words)."""
        return 1 - self.protected @ self.pool[self.rows(sample)].T

    def rows(self, sample: int) -> np.ndarray:
        """Return the places in the pool of attribute words drawn at random."""
        rng = np.random.default_rng([SEED, zlib.crc32(self.name.encode()), sample])
        return rng.choice(len(self.pool), self.lists * LIST + self.controls, replace=False)

    def table(self, sample: int) -> ModelData:
        """Return the table of the attribute words of a sample, with the links between its words."""
        list_of = np.minimum(np.arange(self.lists * LIST + self.controls) // LIST, self.lists)
        return replace(
            self.design(),
            distance=self.distances(sample).ravel(),
            protected_links=links_of(self.protected, self.group_of, self.vocabulary),
            attribute_links=links_of(self.pool[self.rows(sample)], list_of, self.vocabulary),
        )


def cells(folder: Path, chosen: list[str]) -> Iterator[Cell]:
    """Yield all cells of some vectors."""
    for vectors in chosen:
        path = bb.bundled("data", "vectors", VECTORS[vectors]) if vectors == "bundled" else folder / VECTORS[vectors]
        embedding = bb.load_embedding(path)
        matrix = np.asarray(embedding.vectors, dtype=float)
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        place = {word: row for row, word in enumerate(embedding.words)}
        for words, controls in product(PROTECTED, CONTROLS):
            rows_by_group = {
                group: present(text.split(), place, words in NAMES) for group, text in PROTECTED[words].items()
            }
            protected = [word for members in rows_by_group.values() for word in members]
            pool = [row for word, row in place.items() if word.isalpha() and word not in protected]
            yield Cell(
                vectors, words, controls, matrix[[place[word] for word in protected]], matrix[pool], tuple(protected),
                tuple(rows_by_group),
                np.repeat(np.arange(len(rows_by_group)), [len(members) for members in rows_by_group.values()]),
                vocabulary_of(path),
            )  # fmt: skip


def present(words: list[str], place: dict[str, int], capital: bool) -> list[str]:
    """Return the first words that a vocabulary has, in one way of writing."""
    forms = [(word.capitalize(), word) if capital else (word, word.capitalize()) for word in words]
    return [next(form for form in pair if form in place) for pair in forms if place.keys() & set(pair)][:EACH]
