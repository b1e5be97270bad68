"""The words that a measure of a whole embedding uses, and the most biased of them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.geometry import unit_rows
from bayesbias.metrics.look_up import as_embedding, checked_pairs, checked_words
from bayesbias.metrics.shared_parameters import shared_parameters

PAIR = ("she", "he")
_BLOCK = 10_000


@shared_parameters()
def neutral_words(
    embedding: EmbeddingLike, specific: Iterable[str] = (), *, most: int | None = 50_000
) -> tuple[str, ...]:
    """Return the words of an embedding that should be neutral: words of letters only that are not in a given list.

    Parameters
    ----------
    specific
        Words that are gendered, or otherwise specific, by their meaning; upper and lower case count the same.
    most
        Number of the embedding's first words to consider, in files mostly the most frequent. None: all.

    References
    ----------
    Hillary Dawkins (2021). Marked attribute bias in natural language inference. Findings of ACL-IJCNLP, appendix B: the
    vocabulary V_t, of the 50,000 most frequent words those without punctuation and numbers that are in no gendered set.

    Examples
    --------
    >>> neutral_words({"the": [1.0], "she": [1.0], "2nd": [1.0], "U.S.": [1.0], "nurse": [1.0]}, ["She"])
    ('the', 'nurse')
    """
    source = as_embedding(embedding)
    excluded = {word.lower() for word in checked_words("specific", specific)}
    candidates = source.words if most is None else source.words[: check_count("most", most)]
    return tuple(word for word in candidates if word.isalpha() and word.lower() not in excluded)


def vocabulary_of(source: Embedding, words: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words that an embedding has, each vector once, and those that it lacks.

    If `words` is None, they are all that `neutral_words` finds.
    """
    if words is None:
        return neutral_words(source, most=None), ()
    lookup = source.lookup(dict.fromkeys(checked_words("words", words)))
    first_spelling = {form: word for word, form in reversed(lookup.matches.items())}
    distinct_words = tuple(word for word, form in lookup.matches.items() if first_spelling[form] == word)
    if len(distinct_words) < 2:
        raise MeasureError(
            f"The embedding {source.name!r} has {len(distinct_words)} of the words, but at least 2 are needed. Add "
            f"words, or change the case rule, which is {source.case_text!r}."
        )
    return distinct_words, lookup.lost


def axis(source: Embedding, pair: tuple[str, str]) -> Floats:
    """Return the difference between the unit vectors of a pair, first minus second, scaled to length 1."""
    (words,) = checked_pairs([pair])
    if lost := source.lookup(words).lost:
        raise MeasureError(
            f"The embedding {source.name!r} lacks {name_some(lost)}, so there is no axis between {words[0]!r} and "
            f"{words[1]!r}. Give another pair, or change the case rule, which is {source.case_text!r}."
        )
    first, second = unit_rows(source.matrix(words))
    length = np.linalg.norm(first - second)
    if length < 1e-6:
        raise MeasureError(
            f"{words[0]!r} and {words[1]!r} have the same direction in the embedding {source.name!r}, so there is no "
            "axis between them. Give another pair, or the embedding before debiasing as the reference."
        )
    difference: Floats = (first - second) / length
    return difference


def projections(source: Embedding, words: Sequence[str], direction: Floats, *, scaled: bool = True) -> Floats:
    """Return the inner products of words with a direction, with vectors of length 1 or as stored.

    It works in blocks, since a float64 copy of all vectors of a large embedding might not fit into memory.
    """
    parts = []
    for start in range(0, len(words), _BLOCK):
        vectors = source.matrix(words[start : start + _BLOCK])
        parts.append((unit_rows(vectors) if scaled else vectors.astype(np.float64)) @ direction)
    return np.concatenate(parts)


def lengths(source: Embedding, words: Sequence[str]) -> Floats:
    """Return the lengths of the stored vectors of words."""
    blocks = [source.matrix(words[start : start + _BLOCK]) for start in range(0, len(words), _BLOCK)]
    return np.concatenate([np.linalg.norm(vectors.astype(np.float64), axis=1) for vectors in blocks])


def most_biased_words(
    reference: Embedding, words: Sequence[str], pair: tuple[str, str], count: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words at both ends of the axis of a pair, half of `count` each, those of its first word first."""
    (pair,) = checked_pairs([pair])
    forms = reference.lookup(pair).matches.values()
    others = [word for word in words if reference.match(word) not in forms]
    return ends_of_axis(reference, others, axis(reference, pair), count, f"{pair[0]!r} and {pair[1]!r}")


def ends_of_axis(
    reference: Embedding, others: Sequence[str], direction: Floats, count: int, between: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words at both ends of a direction, half of `count` each; `between` names it in errors."""
    half = check_count("words_in_all", count, least=4) // 2
    if len(others) < 2 * half:
        raise MeasureError(
            f"words_in_all={count}: the embedding {reference.name!r} has {len(others):,} words to choose from. Give "
            "more words, or choose fewer."
        )
    along = projections(reference, others, direction)
    order = np.argsort(-along, kind="stable")
    if not along[order[half - 1]] > 0 > along[order[-half]]:
        raise MeasureError(
            f"words_in_all={count}: fewer than {half:,} words lie on one side of the axis of {between}. Choose fewer."
        )
    return tuple(others[row] for row in order[:half]), tuple(others[row] for row in order[-half:])


def load_both(
    embedding: EmbeddingLike | Callable[..., Embedding], reference: EmbeddingLike | None
) -> tuple[Embedding, Embedding]:
    """Return an embedding and its reference, by default the same."""
    source = as_embedding(embedding)
    return source, source if reference is None else as_embedding(reference)
