"""The four word lists of an association test, and the score of any similarity of two lists over them."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesbias.metrics.look_up import as_embedding, named_lists, word_sets
from bayesbias.metrics.result import MeasureResult
from bayesbias.studies import Study

Floats = NDArray[np.floating[Any]]
Similarity = Callable[[Floats, Floats], ArrayLike]

COMPONENTS = ("a_c", "a_d", "b_d", "b_c")
"""The four comparisons of the lists A, B (protected) with C, D (attributes), in the order of Kindel's Table 1."""


@dataclass(frozen=True, eq=False)
class FourLists:
    """Four word lists with their vectors.

    Parameters
    ----------
    study, embedding
        Names of where they come from.
    names
        Names of the lists A and B (protected) and C and D (attributes).
    words
        The words of each that the embedding has.
    vectors
        Their vectors as stored, float64, of shape (words, dimensions) each.
    given
        How many words each list had.
    lost
        List -> its words that the embedding lacks; only lists that lost any.
    """

    study: str
    embedding: str
    names: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    vectors: tuple[Floats, ...]
    given: tuple[int, ...]
    lost: Mapping[str, tuple[str, ...]]

    @property
    def pairs(self) -> tuple[tuple[Floats, Floats], ...]:
        """The vectors of the two lists of each of `COMPONENTS`."""
        a, b, c, d = self.vectors
        return (a, c), (a, d), (b, d), (b, c)


def four_lists(
    embedding: Any,
    study: Study | str | os.PathLike[str] | Mapping[str, Sequence[str]],
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
) -> FourLists:
    """Look up the four lists of an association test.

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    study
        A `Study`, the name of a bundled one, the path of a TOML file, or four lists by name: A, B, C, D.
    targets, attributes
        Which groups of a study are A, B and C, D (see `weat`).

    Raises
    ------
    MeasureError
        If the lists are not determined, or one has no word left.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words.

    Examples
    --------
    >>> lists = four_lists(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), "weat7")
    >>> lists.names, lists.vectors[0].shape
    (('math', 'arts', 'male', 'female'), (8, 100))
    """
    name, lists = named_lists(study, targets, attributes, order="A, B, C, D")
    source = as_embedding(embedding, [word for words in lists.values() for word in words])
    sets = word_sets(source, lists, least=1)
    return FourLists(
        study=name,
        embedding=source.name,
        names=tuple(lists),
        words=tuple(sets.words.values()),
        vectors=tuple(source.matrix(words).astype(np.float64) for words in sets.words.values()),
        given=tuple(len(words) for words in lists.values()),
        lost=sets.lost,
    )


def score(components: ArrayLike) -> Floats:
    """Return the test score of four similarities: (A:C + B:D) - (B:C + A:D).

    Parameters
    ----------
    components
        Of shape (..., 4), in the order of `COMPONENTS`.

    References
    ----------
    Kindel (2023), equation WEAT(A, B, C, D), for any similarity of two lists: Table 1, caption.

    Examples
    --------
    >>> round(float(score([0.131, 0.035, 0.028, 0.072])), 3)  # his WEAT 10
    0.052
    """
    a_c, a_d, b_d, b_c = np.moveaxis(np.asarray(components, dtype=np.float64), -1, 0)
    total: Floats = (a_c + b_d) - (b_c + a_d)
    return total


def score_result(
    lists: FourLists, measure: str, conventions: str, similarity: Similarity, by_word: Similarity
) -> MeasureResult:
    """Return the score of a similarity over four lists.

    Parameters
    ----------
    lists
        The four lists.
    measure, conventions
        What the result says of itself.
    similarity
        Takes two lists of vectors, returns a number.
    by_word
        Takes two lists of vectors, returns the similarity of each word of the first to the second.
    """
    components = [float(similarity(first, second)) for first, second in lists.pairs]  # type: ignore[arg-type]
    a, b, c, d = lists.vectors
    words = pd.DataFrame(
        {
            "word": [*lists.words[0], *lists.words[1]],
            "group": [lists.names[0]] * len(a) + [lists.names[1]] * len(b),
            "similarity_c": np.concatenate([by_word(a, c), by_word(b, c)]),
            "similarity_d": np.concatenate([by_word(a, d), by_word(b, d)]),
        }
    )
    total = float(score(components))
    named = ", ".join(f"{letter} = {name}" for letter, name in zip("ABCD", lists.names, strict=True))
    return MeasureResult(
        measure=measure,
        value=total,
        statistics={"score": total} | dict(zip(COMPONENTS, components, strict=True)),
        words=words,
        lost_words=lists.lost,
        conventions=f"{named}; score = (A:C + B:D) - (B:C + A:D); {conventions}",
        study=lists.study,
        embedding=lists.embedding,
    )
