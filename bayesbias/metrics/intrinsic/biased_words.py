"""The words that a measure of a whole embedding is about, and those of them that are most biased."""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.geometry import unit_rows
from bayesbias.metrics.look_up import as_embedding, checked_pairs, checked_words

PAIR = ("she", "he")
_BLOCK = 10_000


def neutral_words(
    embedding: EmbeddingLike, specific: Iterable[str] = (), *, most: int | None = 50_000
) -> tuple[str, ...]:
    """Return the words of an embedding that should be neutral: made of letters alone, and not in a list.

    Parameters
    ----------
    embedding
        See `bayesbias.metrics`. Files list the most frequent words first.
    specific
        Words that are gendered (or else) by their meaning, in any case.
    most
        How many of the embedding's first words are looked through; None: all.

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
    without = {word.lower() for word in checked_words("specific", specific)}
    first = source.words if most is None else source.words[: check_count("most", most)]
    return tuple(word for word in first if word.isalpha() and word.lower() not in without)


def vocabulary_of(source: Embedding, words: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a list that an embedding has, each vector once, and those that it lacks.

    None stands for all words that `neutral_words` finds.
    """
    if words is None:
        return neutral_words(source, most=None), ()
    found = source.lookup(dict.fromkeys(checked_words("words", words)))
    first = {form: word for word, form in reversed(found.found.items())}
    kept = tuple(word for word, form in found.found.items() if first[form] == word)
    if len(kept) < 2:
        raise MeasureError(
            f"Of the words the embedding {source.name!r} has {len(kept)}, but at least two are needed. Add words, or "
            f"look them up in another way (the case rule is {source.case_text!r})."
        )
    return kept, found.lost


def axis(source: Embedding, pair: tuple[str, str]) -> Floats:
    """Return the difference of the unit vectors of two words, from the second to the first, of length 1."""
    (words,) = checked_pairs([pair])
    if lost := source.lookup(words).lost:
        raise MeasureError(
            f"The embedding {source.name!r} lacks {name_some(lost)}, so the axis of {words[0]!r} and {words[1]!r} is "
            f"not there. Give another pair of words (the case rule is {source.case_text!r})."
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
    """Return the inner products of words with a direction, their vectors of length 1 or as stored.

    Some words at a time: a copy in float64 of all vectors would not fit beside large ones.
    """
    parts = []
    for start in range(0, len(words), _BLOCK):
        vectors = source.matrix(words[start : start + _BLOCK])
        parts.append((unit_rows(vectors) if scaled else vectors.astype(np.float64)) @ direction)
    return np.concatenate(parts)


def most_biased_words(
    reference: Embedding, words: Sequence[str], pair: tuple[str, str], count: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words at either end of the axis of a pair, half of `count` each: the first word's, the second's."""
    half = check_count("words_in_all", count, least=4) // 2
    forms = reference.lookup(pair).found.values()
    others = [word for word in words if reference.match(word) not in forms]
    if len(others) < 2 * half:
        raise MeasureError(
            f"words_in_all={count}: the embedding {reference.name!r} has {len(others):,} of the words to choose from. "
            "Give more words, or choose fewer."
        )
    along = projections(reference, others, axis(reference, pair))
    order = np.argsort(-along, kind="stable")
    if not along[order[half - 1]] > 0 > along[order[-half]]:
        raise MeasureError(
            f"words_in_all={count}: fewer than {half:,} words lie on one side of the axis of {pair[0]!r} and "
            f"{pair[1]!r}. Choose fewer."
        )
    return tuple(others[row] for row in order[:half]), tuple(others[row] for row in order[-half:])


def load_both(
    embedding: EmbeddingLike | Callable[..., Embedding], reference: EmbeddingLike | None
) -> tuple[Embedding, Embedding]:
    """Return an embedding, and the one that chooses words: by default the same."""
    source = as_embedding(embedding)
    return source, source if reference is None else as_embedding(reference)


def scikit_learn(module: str, what: str) -> Any:
    """Return a module of scikit-learn; raise `MeasureError` where it is not installed."""
    try:
        return import_module(f"sklearn.{module}")
    except ImportError as error:
        raise MeasureError(
            f"{what} needs scikit-learn, which is not installed. Install it with: pip install 'bayesbias[classifiers]'."
        ) from error
