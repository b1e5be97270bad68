"""Where words occur, as arrays: words that follow each other, and the contexts that two words share."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
_WORDS = 1 << 24  # a context has fewer, so that context and place make one number


@dataclass(frozen=True, eq=False)
class Occurrences:
    """The places of a word in the contexts of a corpus, in their order.

    `contexts` and `words` have one number a place: the context, and the place there of the word, or of the first of
    the `length` words that it is made of.
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
        """The contexts, each once."""
        return np.unique(self.contexts)

    def inside(self, contexts: Places) -> "Occurrences":
        """Return the places that are in some contexts, whose numbers rise."""
        kept = _is_in(self.contexts, contexts)
        return Occurrences(self.contexts[kept], self.words[kept], self.length)

    @staticmethod
    def following(parts: "list[Occurrences]") -> "Occurrences":
        """Return the places where words follow each other: none of no words."""
        if not parts:
            return Occurrences(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), 1)
        kept = np.ones(len(parts[0]), dtype=bool)
        for step, part in enumerate(parts[1:], 1):
            kept &= _is_in(parts[0].keys + step, part.keys)
        return Occurrences(parts[0].contexts[kept], parts[0].words[kept], len(parts))


@dataclass(frozen=True, eq=False)
class Shared:
    """The contexts that hold both words of a pair, and the place of each word where the two are nearest."""

    contexts: Places
    cue_words: Places
    response_words: Places

    @staticmethod
    def none() -> "Shared":
        """Return no contexts."""
        return Shared(*(np.empty(0, dtype=np.int64) for _ in range(3)))


def shared_contexts(cue: Occurrences, response: Occurrences) -> Shared:
    """Return the contexts that hold two words, and the words' places where they are nearest, counted in words.

    >>> cue = Occurrences(np.array([1, 3, 3]), np.array([0, 2, 9]), 1)
    >>> response = Occurrences(np.array([2, 3]), np.array([4, 7]), 1)
    >>> found = shared_contexts(cue, response)
    >>> found.contexts.tolist(), found.cue_words.tolist(), found.response_words.tolist()
    ([3], [9], [7])
    """
    both = np.intersect1d(cue.distinct, response.distinct, assume_unique=True)
    if not len(both):
        return Shared.none()
    one, other = cue.inside(both), response.inside(both)
    # Of each place of the cue the place of the response before and after it, if it is in the same context.
    after = np.searchsorted(other.keys, one.keys)
    near = np.stack([np.maximum(after - 1, 0), np.minimum(after, len(other) - 1)])
    apart = np.where(other.contexts[near] == one.contexts, abs(other.words[near] - one.words), _WORDS)
    nearer = apart.argmin(axis=0)
    least = np.take_along_axis(apart, nearer[None], axis=0)[0]
    order = np.lexsort((least, one.contexts))
    first = order[np.searchsorted(one.contexts[order], both)]
    return Shared(both, one.words[first], other.words[near[nearer[first], first]])


def _is_in(values: Places, rising: Places) -> NDArray[np.bool_]:
    """Return whether each of some numbers is among others, which rise."""
    if not len(rising):
        return np.zeros(len(values), dtype=bool)
    place = np.minimum(np.searchsorted(rising, values), len(rising) - 1)
    found: NDArray[np.bool_] = rising[place] == values
    return found
