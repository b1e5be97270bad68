"""Occurrences of words as arrays: phrases, and the contexts that two words share."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
_WORDS = 1 << 24  # more than a context has, so that context and place make one number


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Occurrences of a word or phrase in the contexts of a corpus, in order.

    `contexts` and `words` have one number for each occurrence: the context, and the place in it of the first of the
    `length` words.
    """

    contexts: Places
    words: Places
    length: int

    def __len__(self) -> int:
        return len(self.contexts)

    @cached_property
    def keys(self) -> Places:
        """Context and place as one number."""
        return self.contexts * _WORDS + self.words

    @cached_property
    def distinct(self) -> Places:
        """The distinct contexts."""
        return np.unique(self.contexts)

    def inside(self, contexts: Places) -> "Occurrences":
        """Return the occurrences in some contexts, whose numbers ascend."""
        inside = _is_in(self.contexts, contexts)
        return Occurrences(self.contexts[inside], self.words[inside], self.length)

    @staticmethod
    def following(parts: "list[Occurrences]") -> "Occurrences":
        """Return the occurrences of successive words; none if there are no words."""
        if not parts:
            return Occurrences(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), 1)
        first = parts[0]
        is_phrase = np.ones(len(first), dtype=bool)
        for step, part in enumerate(parts[1:], 1):
            is_phrase &= _is_in(first.keys + step, part.keys)
        return Occurrences(first.contexts[is_phrase], first.words[is_phrase], len(parts))


@dataclass(frozen=True, eq=False)
class Shared:
    """The contexts that hold both words of a pair, with the places of the words where they are nearest."""

    contexts: Places
    cue_words: Places
    response_words: Places

    @staticmethod
    def none() -> "Shared":
        """Return no contexts."""
        return Shared(*(np.empty(0, dtype=np.int64) for _ in range(3)))


def shared_contexts(cue: Occurrences, response: Occurrences) -> Shared:
    """Return the contexts that hold two words, with the places of the words where they are nearest.

    >>> cue = Occurrences(np.array([1, 3, 3]), np.array([0, 2, 9]), 1)
    >>> response = Occurrences(np.array([2, 3]), np.array([4, 7]), 1)
    >>> shared = shared_contexts(cue, response)
    >>> shared.contexts.tolist(), shared.cue_words.tolist(), shared.response_words.tolist()
    ([3], [9], [7])
    """
    contexts = np.intersect1d(cue.distinct, response.distinct, assume_unique=True)
    if not len(contexts):
        return Shared.none()
    cue, response = cue.inside(contexts), response.inside(contexts)
    # For each occurrence of the cue, the occurrences of the response before and after it, if in the same context.
    after = np.searchsorted(response.keys, cue.keys)
    neighbours = np.stack([np.maximum(after - 1, 0), np.minimum(after, len(response) - 1)])
    distances = np.where(
        response.contexts[neighbours] == cue.contexts, abs(response.words[neighbours] - cue.words), _WORDS
    )
    nearer = distances.argmin(axis=0)
    least = np.take_along_axis(distances, nearer[None], axis=0)[0]
    order = np.lexsort((least, cue.contexts))
    first = order[np.searchsorted(cue.contexts[order], contexts)]
    return Shared(contexts, cue.words[first], response.words[neighbours[nearer[first], first]])


def _is_in(values: Places, ascending: Places) -> NDArray[np.bool_]:
    """Return whether each of some numbers is among others, which ascend."""
    if not len(ascending):
        return np.zeros(len(values), dtype=bool)
    place = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    is_in: NDArray[np.bool_] = ascending[place] == values
    return is_in
