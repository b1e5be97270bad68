"""Cosine similarities of protected to attribute words, for the measures that need nothing else."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.metrics.look_up import EmbeddedLists, StudyLists, WordLists, find_lists
from bayesbias.studies.study import Study

Statistics = dict[str, Floats]


@dataclass(frozen=True, eq=False, repr=False)
class Similarities(Described):
    """Cosine similarities of lists of protected words to lists of attribute words.

    Parameters
    ----------
    values : array, shape (..., protected words, attribute words)
        Similarities, list after list. Leading axes, if any, are those of draws.
    protected, attributes
        Words of each list, by its name.
    associated
        Pairs of a protected and an attribute list that the study calls associated.

    Examples
    --------
    >>> pairs = Similarities(np.eye(3), {"X": ["x1", "x2"], "Y": ["y"]}, {"A": ["a"], "B": ["b1", "b2"]})
    >>> pairs.block("X", "B")
    array([[0., 0.],
           [1., 0.]])
    """

    values: Floats
    protected: WordLists
    attributes: WordLists
    associated: frozenset[tuple[str, str]] = frozenset()

    @property
    def _facts(self) -> Facts:
        return {
            "shape": "x".join(map(str, self.values.shape)),
            "protected": self.protected,
            "attributes": self.attributes,
        }

    @classmethod
    def of_embedding(
        cls, embedding: EmbeddingLike, lists: StudyLists, *, max_lost: float = MAX_LOST
    ) -> tuple["Similarities", EmbeddedLists]:
        """Return the similarities of lists in an embedding, and the lists as they were found in it."""
        embedded_lists = find_lists(embedding, lists.by_name, max_lost=max_lost)
        names = tuple(embedded_lists.words)
        rows, columns = names[: len(lists.protected)], names[len(lists.protected) :]
        values = np.block([[embedded_lists.similarity(row, column) for column in columns] for row in rows])
        protected = {name: embedded_lists.words[row] for name, row in zip(lists.protected, rows, strict=True)}
        attributes = {
            name: embedded_lists.words[column] for name, column in zip(lists.attributes, columns, strict=True)
        }
        return cls(values, protected, attributes, lists.associated), embedded_lists

    @classmethod
    def of_table(cls, table: pd.DataFrame, lists: StudyLists) -> "Similarities":
        """Return the similarities of lists in a distance table, with the first value of a pair that is listed twice.

        Raises
        ------
        MeasureError
            If the table lacks some pairs.

        Examples
        --------
        >>> from bayesbias.metrics.look_up import four_lists
        >>> Similarities.of_table(table, four_lists(table_study(table))).block("math", "male").shape
        (8, 8)
        """
        words = [
            [word for part in lists_of_kind.values() for word in part]
            for lists_of_kind in (lists.protected, lists.attributes)
        ]
        pairs = pd.MultiIndex.from_product(words)
        unique_pairs = table.drop_duplicates(["protected_word", "attribute_word"])
        values = unique_pairs.set_index(["protected_word", "attribute_word"])["cosine_similarity"].reindex(pairs)
        if values.isna().any():
            missing = [" - ".join(pair) for pair in pairs[values.isna()]]
            raise MeasureError(
                f"The table lacks {len(missing):,} of {counted(len(pairs), 'pair')} of words: {name_some(missing, 3)}. "
                "Add them, or leave these words out."
            )
        shape = len(words[0]), len(words[1])
        return cls(
            values.to_numpy(dtype=np.float64).reshape(shape), lists.protected, lists.attributes, lists.associated
        )

    def block(self, protected: str, attribute: str) -> Floats:
        """Return the similarities of one protected to one attribute list, of shape (..., words, words)."""
        rows, columns = _place(self.protected, protected), _place(self.attributes, attribute)
        return self.values[..., rows, columns]

    def columns_to(self, attribute: str) -> Floats:
        """Return the similarities of all protected words to one attribute list, of shape (..., words, words)."""
        return self.values[..., :, _place(self.attributes, attribute)]

    def by_group(self, values: Floats, axis: int = -1) -> Iterator[Floats]:
        """Yield the part of `values` that belongs to each protected list; the words are along `axis`."""
        ends = list(accumulate(map(len, self.protected.values())))[:-1]
        yield from np.split(values, ends, axis=axis)

    @property
    def words(self) -> list[str]:
        """The protected words, list after list."""
        return [word for words in self.protected.values() for word in words]

    @property
    def groups(self) -> list[str]:
        """The protected list of each word in `words`."""
        return [group for group, words in self.protected.items() for _ in words]


def table_study(table: pd.DataFrame, name: str = "of the table") -> Study:
    """Return the study whose word lists are those of a distance table.

    >>> table_study(table).associated
    (('math', 'male'), ('arts', 'female'))
    """
    words = table.drop_duplicates("attribute_word")
    lists = {str(group): list(part) for group, part in words.groupby("attribute_group", sort=False)["attribute_word"]}
    protected = table.drop_duplicates("protected_word").groupby("protected_group", sort=False)["protected_word"]
    associated = table.loc[table["connection"] == "associated", ["protected_group", "attribute_group"]]
    return Study(
        name=name,
        protected={str(group): list(part) for group, part in protected},
        attributes={group: part for group, part in lists.items() if group not in ("human", "neutral")},
        human=lists.get("human", "none"),
        neutral=lists.get("neutral", "none"),
        associated=list(associated.drop_duplicates().itertuples(index=False, name=None)),
    )


@dataclass(frozen=True)
class SimilarityMeasure:
    """A measure as a function of pairwise similarities alone, which a fitted model has a posterior of.

    Parameters
    ----------
    lists
        Function of a study, `targets` and `attributes` that returns the lists to compare.
    statistics
        Function of similarities (and of the measure's options) that returns statistics by name, each with the leading
        axes of the similarities, the headline number first. Names and values are those of the measure's result.
    words
        Function of similarities that returns the values of single protected words, of shape (..., words), or of
        words and attribute lists, of shape (..., words, lists). None: the measure has no such values.
    word_value, word_unit
        Short description of these values, and their unit.
    caution
        What not to read from the measure's posterior.
    same_as
        Options of the measure itself that make it a function of the similarities.
    """

    lists: Callable[[Any, Any, Any], StudyLists]
    statistics: Callable[..., Statistics]
    words: Callable[[Similarities], Floats] | None = None
    word_value: str = ""
    word_unit: str = "cosine similarity"
    caution: str = ""
    same_as: tuple[tuple[str, object], ...] = ()


def _place(lists: Mapping[str, Sequence[str]], name: str) -> slice:
    edges = pairwise(accumulate((len(words) for words in lists.values()), initial=0))
    return dict(zip(lists, (slice(*bounds) for bounds in edges), strict=True))[name]
