"""Attribute lists drawn at random from a vocabulary, of the sizes that a study's own have: arrays, without labels.

The words of all lists are drawn together and dealt to the lists at random, so that no list has a property that another
lacks: nothing is associated by construction.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayesbias import geometry
from bayesbias.embeddings.embedding import Embedding, unit_rows
from bayesbias.errors import ReportError
from bayesbias.metrics.subspaces.random_words import draw_rows, replacements, vocabulary_rows, word_rows
from bayesbias.models.data import ModelData
from bayesbias.studies.study import Study


@dataclass(frozen=True, eq=False)
class RandomLists:
    """What attribute words are drawn for: a table, its unit vectors, and the candidates for each word.

    Parameters
    ----------
    data
        The study's own table.
    distances
        Cosine distances of all protected to all attribute words of the table, shape (protected, attribute words).
    protected
        Unit vectors of the protected words.
    drawn
        Positions of the attribute words that are replaced: those that are no controls.
    members
        Positions of the words of each attribute list, without the controls.
    candidates
        Rows of the embedding that may replace each of these, shape (replaced words, candidates).
    vocabulary
        How many words are drawn from.
    """

    source: Embedding
    data: ModelData
    distances: np.ndarray
    protected: np.ndarray
    drawn: np.ndarray
    members: list[np.ndarray]
    candidates: np.ndarray
    vocabulary: int

    def tables(self, samples: int, rng: np.random.Generator) -> Iterator[tuple[ModelData, np.ndarray]]:
        """Yield tables with random attribute words, and their distances in the shape of `distances`."""
        for rows in draw_rows(self.candidates, samples, rng):
            vectors = geometry.unit_rows(self.source.vectors[rng.permutation(rows)])
            distances = self.distances.copy()
            distances[:, self.drawn] = 1.0 - np.clip(self.protected @ vectors.T, -1.0, 1.0)
            yield replace(self.data, distance=distances[self.data.protected, self.data.attribute]), distances


def random_lists(
    source: Embedding,
    study: Study,
    data: ModelData,
    *,
    vocabulary: Sequence[str] | None,
    match: str | None,
    window: int,
) -> RandomLists:
    """Return what to draw for a study's table: words of letters only that are, in any case, none of the study's.

    `match` and `window` are those of `replacements`; a window larger than the vocabulary is all of it.
    """
    own = {word.casefold() for word in study.words}
    rows = vocabulary_rows(source, vocabulary, ())
    kept = [row for row in rows if (word := source.words[row]).isalpha() and word.casefold() not in own]
    members = list(list_members(study, data).values())
    drawn = np.sort(np.concatenate(members))
    if len(kept) < 2 * len(drawn):
        raise ReportError(
            f"{len(drawn)} attribute words are to be drawn, but the embedding {source.name!r} has only {len(kept):,} "
            "words of letters that are not in the study, and at least twice as many are needed. Give the whole "
            "embedding, not only the words of the study."
        )
    candidates = replacements(
        source,
        word_rows(source, [str(data.attribute_words[at]) for at in drawn]),
        np.array(kept),
        match,
        min(window, len(kept)) if isinstance(window, int | np.integer) else window,
    )
    protected = unit_rows(source, map(str, data.protected_words))
    attributes = unit_rows(source, map(str, data.attribute_words))
    distances = 1.0 - np.clip(protected @ attributes.T, -1.0, 1.0)
    return RandomLists(source, data, distances, protected, drawn, members, candidates, len(kept))


def list_members(study: Study, data: ModelData) -> dict[str, np.ndarray]:
    """Return the positions in a table of the words of each attribute list of a study, without controls."""
    place = {str(word): at for at, word in enumerate(data.attribute_words)}
    return {
        name: np.array([place[word] for word in words if word in place], dtype=np.intp)
        for name, words in study.attributes.items()
    }
