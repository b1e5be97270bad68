"""Attribute lists drawn at random from a vocabulary, with the sizes of a study's own lists.

The words of all lists are drawn together and dealt to the lists at random, so nothing is associated by construction.
Or each list is about a random topic, as coherent as the study's own: contrasts are then 0 on average over topics.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayesbias import geometry
from bayesbias.embeddings.embedding import Embedding, unit_rows_of
from bayesbias.errors import MeasureError, ReportError, did_you_mean, worded
from bayesbias.estimates.dependence import LinkedWords
from bayesbias.metrics.associations.weat import association, effect_size
from bayesbias.metrics.significance import p_value, t_test
from bayesbias.metrics.subspaces.randomisation_nulls import MATCHES, draw_rows, replacements, vocabulary_rows, word_rows
from bayesbias.models.data import ModelData
from bayesbias.studies.study import Study
from bayesbias.tables.build import vocabulary_statistics

if TYPE_CHECKING:
    import pandas as pd


COHERENCE = "coherence"
"""Value of `match` for lists that are as coherent as the study's own, of words about as frequent as its words."""

# Words that topics are drawn from, heads that are tried for one, and numbers of neighbours it may be drawn from.
_POOL, _HEADS, _SIZES = 20_000, 20, 40
CONTRAST = "associated - different"
LEVEL = 0.05
METHODS = ("weat", "t_test_preaveraged", "t_test_raw", "mac_t_test")
_PERMUTATIONS = 10_000


@dataclass(frozen=True, eq=False)
class RandomLists:
    """A table whose attribute words can be replaced at random, and the candidates for each word.

    - `data`: the study's own table.
    - `distances`: cosine distances of all protected to all attribute words of the table, shape (protected, attribute
      words).
    - `protected`: unit vectors of the protected words.
    - `drawn`: positions of the attribute words that are replaced: all but the controls.
    - `members`: positions of the words of each attribute list, without the controls.
    - `candidates`: rows of the embedding that may replace each of these, shape (replaced words, candidates).
    - `vocabulary`: number of words that can be drawn.
    - `pool`: rows of the embedding that topics are drawn from; None if words are drawn one by one.
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
        return [_mean_cosine(unit_rows_of(self.source, of_list)) for of_list in words]

    def _links(self, vectors: np.ndarray) -> LinkedWords | None:
        """Return the links of the drawn words within their lists and of the controls; None without random words."""
        vocabulary = vocabulary_statistics(self.source)
        if vocabulary is None:
            return None
        words = len(self.data.attribute_words)
        place_of = np.full(words, -1)
        place_of[self.drawn] = np.arange(len(self.drawn))
        study_links = self.data.attribute_links or LinkedWords.none(words)
        of_controls = ~np.isin(study_links.pairs, self.drawn).any(axis=1)
        parts = [
            LinkedWords(
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
        return LinkedWords(pairs, np.concatenate([part.strengths for part in parts])[first], chance)


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
        raise MeasureError(
            f"match={match!r}{did_you_mean(str(match), choices)}: give {worded('None', 'none')}, rank, norm or "
            "coherence."
        )
    candidates = replacements(
        source,
        word_rows(source, [str(data.attribute_words[place]) for place in drawn]),
        np.array(usable_rows),
        "rank" if match == COHERENCE else match,
        min(window, len(usable_rows)) if isinstance(window, int | np.integer) else window,
    )
    protected = unit_rows_of(source, map(str, data.protected_words))
    attributes = unit_rows_of(source, map(str, data.attribute_words))
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


@dataclass(frozen=True, eq=False)
class WeatLists:
    """Positions in a table of two groups of protected words (x, y) and of the attribute list of each (a, b)."""

    x: np.ndarray
    y: np.ndarray
    a: np.ndarray
    b: np.ndarray

    def associations(self, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return s(w, A, B) of both groups, from distances of shape (..., protected, attribute words)."""
        similarity = 1.0 - distances
        s_x, s_y = (
            association(similarity[..., group, :][..., self.a], similarity[..., group, :][..., self.b])
            for group in (self.x, self.y)
        )
        return s_x, s_y

    def effect_size(self, distances: np.ndarray) -> np.ndarray:
        """Return WEAT's effect size."""
        return effect_size(*self.associations(distances))


def weat_lists(study: Study, data: ModelData) -> WeatLists | None:
    """Return the lists of WEAT, or None unless there are two groups of at least two words, each with a list of its own.

    >>> from bayesbias.models.data import model_data
    >>> lists = weat_lists(bb.load_study("weat7"), model_data(table))
    >>> len(lists.x), len(lists.a)
    (8, 8)
    """
    groups, pairs = tuple(study.protected), dict(study.associated)
    list_names = [pairs.get(group) for group in groups]
    if len(groups) != 2 or len(study.associated) != 2 or None in list_names or list_names[0] == list_names[1]:
        return None
    group_places = [np.flatnonzero(data.protected_groups == group) for group in groups]
    members = list_members(study, data)
    list_places = [members[str(name)] for name in list_names]
    if min(map(len, group_places)) < 2:
        return None
    return WeatLists(*group_places, *list_places)


def list_tests(distances: np.ndarray, lists: RandomLists, weat: WeatLists | None, seed: int) -> list["pd.DataFrame"]:
    """Return a frame for each test that a study allows, from distances of shape (samples, protected, attribute words).

    Each frame has a row for each sample.
    """
    data, tables = lists.data, []
    if weat is not None:
        s_x, s_y = weat.associations(distances)
        test = p_value(s_x, s_y, samples=_PERMUTATIONS, random_seed=seed)
        tables.append(_test_rows("weat", "effect size", weat.effect_size(distances), test.p_value))
    pairs = [data.connection == data.connections.index(name) for name in CONTRAST.split(" - ")]
    raw = [distances[:, data.protected[mask], data.attribute[mask]] for mask in pairs]
    means = [_word_means(values, data.protected[mask]) for values, mask in zip(raw, pairs, strict=True)]
    for method, (x, y) in (("t_test_preaveraged", means), ("t_test_raw", raw)):
        if min(x.shape[1], y.shape[1]) > 1:
            result = t_test(x, y)
            tables.append(_test_rows(method, "difference of means", result.difference, result.p_value))
    mac_values = np.concatenate([distances[..., members].mean(axis=-1) for members in lists.members], axis=1)
    if mac_values.shape[1] > 1:
        against_one = t_test(mac_values, against=1.0)
        tables.append(_test_rows("mac_t_test", "MAC - 1", against_one.difference, against_one.p_value))
    return tables


def _word_means(values: np.ndarray, word: np.ndarray) -> np.ndarray:
    """Return the mean of each protected word, shape (samples, words), of values (samples, pairs)."""
    words, word_of_pair = np.unique(word, return_inverse=True)
    membership = word_of_pair[:, None] == np.arange(len(words))
    return np.asarray(values @ (membership / membership.sum(axis=0)))


def _test_rows(method: str, quantity: str, value: np.ndarray, p: np.ndarray) -> "pd.DataFrame":
    import pandas as pd

    columns = {"method": method, "quantity": quantity, "value": value, "claims": p < LEVEL, "p_value": p}
    return pd.DataFrame({"sample": np.arange(len(p)), **columns})
