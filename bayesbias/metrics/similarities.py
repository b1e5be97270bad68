"""The cosine similarities of protected to attribute words: what the measures that need nothing else are made of."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.metrics.look_up import FoundLists, StudyLists, WordLists, find_lists
from bayesbias.studies.study import Study

Statistics = dict[str, Floats]


@dataclass(frozen=True, eq=False, repr=False)
class Similarities(Described):
    """Cosine similarities of lists of protected words to lists of attribute words.

    Parameters
    ----------
    values : array, shape (..., protected words, attribute words)
        List after list; of one study, or, along the leading axes, of many draws.
    protected, attributes
        List -> its words.
    associated
        Pairs of a protected and an attribute list that the study takes for associated.

    Examples
    --------
    >>> here = Similarities(np.eye(3), {"X": ["x1", "x2"], "Y": ["y"]}, {"A": ["a"], "B": ["b1", "b2"]})
    >>> here.of("X", "B")
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
    ) -> tuple["Similarities", FoundLists]:
        """Return the similarities of lists in an embedding, and the words that it has and lacks."""
        found = find_lists(embedding, lists.by_name, max_lost=max_lost)
        names = tuple(found.words)
        rows, columns = names[: len(lists.protected)], names[len(lists.protected) :]
        values = np.block([[found.similarity(row, column) for column in columns] for row in rows])
        protected = {name: found.words[row] for name, row in zip(lists.protected, rows, strict=True)}
        attributes = {name: found.words[column] for name, column in zip(lists.attributes, columns, strict=True)}
        return cls(values, protected, attributes, lists.associated), found

    @classmethod
    def of_table(cls, table: pd.DataFrame, lists: StudyLists) -> "Similarities":
        """Return the similarities of lists in a distance table; of a pair that is listed twice, the first.

        Raises
        ------
        MeasureError
            If the table lacks some pairs.

        Examples
        --------
        >>> from bayesbias.metrics.look_up import four_lists
        >>> Similarities.of_table(table, four_lists(table_study(table))).of("math", "male").shape
        (8, 8)
        """
        words = [[word for part in each.values() for word in part] for each in (lists.protected, lists.attributes)]
        pairs = pd.MultiIndex.from_product(words)
        known = table.drop_duplicates(["protected_word", "attribute_word"])
        values = known.set_index(["protected_word", "attribute_word"])["cosine_similarity"].reindex(pairs)
        if values.isna().any():
            missing = [" - ".join(pair) for pair in pairs[values.isna()]]
            raise MeasureError(
                f"Of {len(pairs):,} pairs of words the table lacks {len(missing):,}: {name_some(missing, 3)}."
            )
        shape = len(words[0]), len(words[1])
        return cls(
            values.to_numpy(dtype=np.float64).reshape(shape), lists.protected, lists.attributes, lists.associated
        )

    def of(self, protected: str, attribute: str) -> Floats:
        """Return the similarities of one list to another, shape (..., words, words)."""
        rows, columns = _place(self.protected, protected), _place(self.attributes, attribute)
        return self.values[..., rows, columns]

    def to(self, attribute: str) -> Floats:
        """Return the similarities of all protected words to one list, shape (..., words, words)."""
        return self.values[..., :, _place(self.attributes, attribute)]

    def by_group(self, values: Floats, axis: int = -1) -> Iterator[Floats]:
        """Yield the part of each protected list of values that have the protected words along an axis."""
        ends = list(accumulate(map(len, self.protected.values())))[:-1]
        yield from np.split(values, ends, axis=axis)

    @property
    def words(self) -> list[str]:
        """The protected words, list after list."""
        return [word for words in self.protected.values() for word in words]

    @property
    def groups(self) -> list[str]:
        """The protected list of each of `words`."""
        return [group for group, words in self.protected.items() for _ in words]


def table_study(table: pd.DataFrame, name: str = "of the table") -> Study:
    """Return the lists of a distance table as a study.

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
    """A measure as a function of the similarities alone, so that a fitted model has a posterior of it.

    Parameters
    ----------
    lists
        From a study, `targets` and `attributes` to the lists that are compared.
    statistics
        From similarities (and the measure's options) to statistics by name, each with the leading axes of the
        similarities; the first is the headline number. Names and values are those of the measure's result.
    words
        From similarities to the values of single protected words, shape (..., words), or of single words
        and attribute lists, shape (..., words, lists). None where the measure has none.
    word_value
        What these values are, in a few words.
    same_as
        Options of the measure itself that make it a function of the similarities.
    """

    lists: Callable[[Any, Any, Any], StudyLists]
    statistics: Callable[..., Statistics]
    words: Callable[[Similarities], Floats] | None = None
    word_value: str = ""
    same_as: tuple[tuple[str, object], ...] = ()


def _place(lists: Mapping[str, Sequence[str]], name: str) -> slice:
    ends = pairwise(accumulate((len(words) for words in lists.values()), initial=0))
    return dict(zip(lists, (slice(*each) for each in ends), strict=True))[name]
