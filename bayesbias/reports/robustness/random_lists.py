"""Attribute lists drawn at random from a vocabulary, with the sizes of a study's own lists.

The words of all lists are drawn together and dealt to the lists at random, so nothing is associated by construction.
Or each list is about a random topic, as coherent as the study's own: gaps are then 0 on average over topics.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayesbias import geometry
from bayesbias.embeddings.embedding import Embedding, unit_rows
from bayesbias.errors import MeasureError, ReportError, did_you_mean
from bayesbias.estimates.dependence import Links
from bayesbias.metrics.subspaces.random_words import MATCHES, draw_rows, replacements, vocabulary_rows, word_rows
from bayesbias.models.data import ModelData
from bayesbias.studies.study import Study
from bayesbias.tables.build import vocabulary_of

COHERENCE = "coherence"
"""Value of `match` for lists that are as coherent as the study's own, of words about as frequent as its words."""

# Words that topics are drawn from, heads that are tried for one, and numbers of neighbours it may be drawn from.
_POOL, _HEADS, _SIZES = 20_000, 20, 40


@dataclass(frozen=True, eq=False)
class RandomLists:
    """A table whose attribute words can be replaced at random, and the candidates for each word.

    Parameters
    ----------
    source
        The embedding.
    data
        The study's own table.
    distances
        Cosine distances of all protected to all attribute words of the table, shape (protected, attribute words).
    protected
        Unit vectors of the protected words.
    drawn
        Positions of the attribute words that are replaced: all but the controls.
    members
        Positions of the words of each attribute list, without the controls.
    candidates
        Rows of the embedding that may replace each of these, shape (replaced words, candidates).
    vocabulary
        Number of words that can be drawn.
    pool
        Rows of the embedding that topics are drawn from; None if words are drawn one by one.
    """

    source: Embedding
    data: ModelData
    distances: np.ndarray
    protected: np.ndarray
    drawn: np.ndarray
    members: list[np.ndarray]
    candidates: np.ndarray
    vocabulary: int
    pool: np.ndarray | None = None

    def tables(self, samples: int, rng: np.random.Generator) -> Iterator[tuple[ModelData, np.ndarray]]:
        """Yield tables with random attribute words, and their distances in the shape of `distances`."""
        for rows in self._rows(samples, rng):
            vectors = geometry.unit_rows(self.source.vectors[rows])
            distances = self.distances.copy()
            distances[:, self.drawn] = 1.0 - np.clip(self.protected @ vectors.T, -1.0, 1.0)
            table = replace(
                self.data,
                distance=distances[self.data.protected, self.data.attribute],
                attribute_links=self._links(vectors),
            )
            yield table, distances

    def _rows(self, samples: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the rows of the embedding of each sample, in the order of `drawn`."""
        if self.pool is None:
            for rows in draw_rows(self.candidates, samples, rng):
                yield rng.permutation(rows)
            return
        for _ in range(samples):
            places = np.full(len(self.data.attribute_words), -1)
            for members, coherence in zip(self.members, self.coherences, strict=True):
                left = members[places[members] < 0]
                if len(left):
                    places[left] = topic(self.pool_vectors, len(left), coherence, places[places >= 0], rng)
            yield self.pool[places[self.drawn]]

    @cached_property
    def pool_vectors(self) -> np.ndarray:
        """Unit vectors of the pool, of single precision."""
        return geometry.unit_rows(self.source.vectors[self.pool]).astype(np.float32)

    @cached_property
    def coherences(self) -> list[float]:
        """The mean cosine between two words of each of the study's own lists; not a number for one word."""
        words = [[str(self.data.attribute_words[place]) for place in members] for members in self.members]
        return [_mean_cosine(unit_rows(self.source, of_list)) for of_list in words]

    def _links(self, vectors: np.ndarray) -> Links | None:
        """Return the links of the drawn words within their lists and of the controls; None without random words."""
        vocabulary = vocabulary_of(self.source)
        if vocabulary is None:
            return None
        words = len(self.data.attribute_words)
        place_of = np.full(words, -1)
        place_of[self.drawn] = np.arange(len(self.drawn))
        study_links = self.data.attribute_links or Links.none(words)
        of_controls = ~np.isin(study_links.pairs, self.drawn).any(axis=1)
        parts = [
            Links(
                study_links.pairs[of_controls],
                study_links.strengths[of_controls],
                np.where(place_of < 0, study_links.chance, 0.0),
            )
        ]
        for members in self.members:
            rows = vectors[place_of[members]]
            links = vocabulary.links(rows)
            parts.append(links.placed(members, words))
        # Two words of several lists are linked once.
        chance = np.asarray(np.max([part.chance for part in parts], axis=0), dtype=float)
        pairs = np.sort(np.concatenate([part.pairs for part in parts]), axis=1)
        pairs, first = np.unique(pairs, axis=0, return_index=True)
        return Links(pairs, np.concatenate([part.strengths for part in parts])[first], chance)


def topic(vectors: np.ndarray, words: int, coherence: float, used: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return positions of new words that are about as coherent as `coherence`, a mean cosine of two of them.

    They are a random word and others of its nearest neighbours: as many neighbours as have this mean cosine. If the
    nearest ones are less coherent, another random word is tried, and the most coherent of 20 attempts is returned.

    >>> rng = np.random.default_rng(1)
    >>> vectors = geometry.unit_rows(rng.standard_normal((500, 8)))
    >>> chosen = topic(vectors, 10, 0.5, np.array([], dtype=int), rng)
    >>> bool(abs(_mean_cosine(vectors[chosen]) - 0.5) < 0.15)
    True
    """
    free = np.setdiff1d(np.arange(len(vectors)), used)
    if words == 1 or np.isnan(coherence):
        return rng.choice(free, words, replace=False)
    sizes = np.unique(np.geomspace(words, len(free), _SIZES).astype(np.intp))
    best, best_cosine = free[:words], -np.inf
    for head in rng.choice(free, _HEADS):
        nearest = free[np.argsort(-(vectors[free] @ vectors[head]), kind="stable")]
        sums = np.cumsum(np.add.reduceat(vectors[nearest], np.r_[0, sizes[:-1]], axis=0), axis=0)
        cosines = (np.square(sums).sum(axis=1) - sizes) / (sizes * (sizes - 1))
        if cosines[0] >= coherence:
            size = sizes[np.flatnonzero(cosines >= coherence)[-1]]
            others = rng.choice(np.arange(1, size), words - 1, replace=False)
            return np.append(nearest[0], nearest[others])
        if cosines[0] > best_cosine:
            best, best_cosine = nearest[:words], cosines[0]
    return np.asarray(best)


def _mean_cosine(vectors: np.ndarray) -> float:
    """Return the mean cosine between two unit vectors (rows), NaN for one."""
    words = len(vectors)
    if words < 2:
        return float("nan")
    total = vectors.sum(axis=0, dtype=np.float64)
    return float((total @ total - words) / (words * (words - 1)))


def random_lists(
    source: Embedding,
    study: Study,
    data: ModelData,
    *,
    vocabulary: Sequence[str] | None,
    match: str | None,
    window: int,
) -> RandomLists:
    """Return the random lists of a study's table, of words of letters that are not in the study in any case.

    `match` and `window` are those of `replacements`, or `COHERENCE`; at most the whole vocabulary is used.
    """
    study_words = {word.casefold() for word in study.words}
    rows = vocabulary_rows(source, vocabulary, ())
    usable_rows = [row for row in rows if (word := source.words[row]).isalpha() and word.casefold() not in study_words]
    members = list(list_members(study, data).values())
    drawn = np.sort(np.concatenate(members))
    if len(usable_rows) < 2 * len(drawn):
        raise ReportError(
            f"{len(drawn)} attribute words are to be drawn, but the embedding {source.name!r} has only "
            f"{len(usable_rows):,} words of letters that are not in the study; {2 * len(drawn)} are needed. Give the "
            "whole embedding, not only the words of the study."
        )
    if match is not None and match not in (choices := (*MATCHES, COHERENCE)):
        raise MeasureError(f"match={match!r}{did_you_mean(str(match), choices)}: give None, rank, norm or coherence.")
    candidates = replacements(
        source,
        word_rows(source, [str(data.attribute_words[place]) for place in drawn]),
        np.array(usable_rows),
        "rank" if match == COHERENCE else match,
        min(window, len(usable_rows)) if isinstance(window, int | np.integer) else window,
    )
    protected = unit_rows(source, map(str, data.protected_words))
    attributes = unit_rows(source, map(str, data.attribute_words))
    distances = 1.0 - np.clip(protected @ attributes.T, -1.0, 1.0)
    pool = np.unique(candidates) if match == COHERENCE else None
    if pool is not None and len(pool) > _POOL:
        pool = np.sort(np.random.default_rng(0).choice(pool, _POOL, replace=False))
    return RandomLists(source, data, distances, protected, drawn, members, candidates, len(usable_rows), pool)


def list_members(study: Study, data: ModelData) -> dict[str, np.ndarray]:
    """Return the positions in a table of the words of each attribute list of a study, without controls."""
    places = {str(word): place for place, word in enumerate(data.attribute_words)}
    return {
        name: np.array([places[word] for word in words if word in places], dtype=np.intp)
        for name, words in study.attributes.items()
    }
