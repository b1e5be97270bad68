"""GN-GloVe: GloVe whose last component separates two sides, such as feminine and masculine words."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.lost_words import WordList, judge_lost_words
from bayesbias.embeddings.training.corpus import Corpus, Trainer
from bayesbias.embeddings.training.glove import CellDescent, Cells, glove_trainer, step_numbers
from bayesbias.errors import EmbeddingError, name_some


class Penalties(NamedTuple):
    """Inputs of the compiled loop: the side of each word (1, -1, or 0 for neutral words), and two rows.

    `direction` is the direction to which neutral words should not lean; it is 0 in the last component, which `last`
    picks out.
    """

    sides: NDArray[np.int8]
    direction: NDArray[np.float32]
    last: NDArray[np.float32]
    apart_weight: np.float32
    neutral_weight: np.float32


def gn_glove(corpus: Corpus, settings: dict[str, Any], threads: int) -> Trainer:
    """Return the trainer of GN-GloVe.

    Zhao, Zhou, Li, Wang and Chang (2018), section 3, with the squares as J_D, sides of 1 and -1, and weights of 0.8. As
    in their program, each co-occurrence adds one penalty for each of its two words, that of J_D or J_E, and the
    direction is computed at the beginning of each pass. Unlike in their program, all steps are AdaGrad's, and the
    direction is that of W + C, the vectors that are returned.

    Raises
    ------
    EmbeddingError
        If the corpus lacks a word of each pair, or as in `glove`.
    NotEnoughMemoryError
        As in `glove`.
    """
    if settings["dimensions"] < 2:
        raise EmbeddingError("GN-GloVe reserves the last component for the sides. Take at least 2 dimensions.")
    pair_rows, sides = pairs_and_sides(corpus.words, settings["pairs"], settings["sides"])

    def descent(cells: Cells, words: NDArray[np.float32], contexts: NDArray[np.float32]) -> CellDescent:
        from bayesbias.embeddings.training.gn_glove_sweeps import descend_apart

        steps = step_numbers(settings)
        penalties = penalties_of(words, contexts, pair_rows, sides, settings)

        def descend_cell(begin: int, end: int) -> float:
            return float(descend_apart(begin, end, cells, words, contexts, steps, penalties))

        return descend_cell

    return glove_trainer(corpus, settings, threads, descent)


def penalties_of(
    words: NDArray[np.float32],
    contexts: NDArray[np.float32],
    pair_rows: NDArray[np.int64],
    sides: NDArray[np.int8],
    settings: dict[str, Any],
) -> Penalties:
    """Return the penalties of a pass: the direction is the mean difference of the pairs in W + C."""
    dimensions = settings["dimensions"]
    first, second = (words[rows, 0] + contexts[rows, 0] for rows in pair_rows.T)
    direction = (first - second).mean(axis=0)
    direction[dimensions - 1 :] = 0
    last = np.zeros_like(direction)
    last[dimensions - 1] = 1
    weights = (np.float32(settings[name]) for name in ("apart_weight", "neutral_weight"))
    return Penalties(sides, direction, last, *weights)


def pairs_and_sides(
    words: tuple[str, ...], pairs: list[list[str]], sides: list[list[str]]
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Return the rows of the pairs, shape (pairs, 2), and the side of each word: 1, -1, or 0.

    A word is looked up as it is written, then in lower case. Pairs with a word that the corpus lacks are left out.
    """
    row_of = {word: row for row, word in enumerate(words)}

    def vocabulary_row(word: str) -> int | None:
        return row_of.get(word, row_of.get(word.lower()))

    pair_rows = [rows for pair in pairs if None not in (rows := [vocabulary_row(word) for word in pair])]
    if not pair_rows:
        named = name_some("-".join(pair) for pair in pairs)
        raise EmbeddingError(
            f"The corpus lacks a word of each of the {len(pairs)} pairs ({named}), or has it too seldom (min_count). "
            "Give other pairs, or a smaller min_count."
        )
    side_of = np.zeros(len(words), dtype=np.int8)
    for sign, side in zip((1, -1), sides, strict=True):
        for word in side:
            if (row := vocabulary_row(word)) is not None:
                side_of[row] = sign
    lists = {"pairs": [word for pair in pairs for word in pair], "first side": sides[0], "second side": sides[1]}
    lost = [
        WordList(name, len(words_of_list), [word for word in words_of_list if vocabulary_row(word) is None])
        for name, words_of_list in lists.items()
    ]
    judge_lost_words("The corpus", lost, "They are left out; in a pair, its other word too.")
    return np.array(pair_rows, dtype=np.int64), side_of
