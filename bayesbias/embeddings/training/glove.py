"""GloVe, by AdaGrad on logarithms of co-occurrences; and GN-GloVe, whose last component separates two sides."""

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.lost_words import WordList, judge_lost_words
from bayesbias.base.machine import check_memory
from bayesbias.embeddings.training.corpus import Advance, Corpus, Trainer, check_neighbours
from bayesbias.errors import EmbeddingError, name_some

if TYPE_CHECKING:
    from bayesbias.embeddings.training.corpus import Cooccurrences


# Number of cells without common rows or columns, and so the largest useful number of threads.
BLOCKS = 16
_LANES = 16
_BYTES_AN_ENTRY = 12

type CellDescent = Callable[[int, int], float]
"""Updates words and contexts with the entries from one place to another; returns their costs before each step."""
type Descent = Callable[["EntriesByCell", NDArray[np.float32], NDArray[np.float32]], CellDescent]
"""Takes entries, words and contexts at the beginning of a pass over the entries."""


def glove(corpus: Corpus, settings: dict[str, Any], threads: int) -> Trainer:
    """Return the trainer of GloVe.

    Pennington, Socher and Manning (2014), equation 8 halved, with the weights of equation 9. As in the authors'
    program, steps are divided by the root of 1 plus the sum of squared steps, and starting values are uniform in +-0.5
    / (dimensions + 1). Unlike in their program, entries are shuffled within cells (see `glove_sweeps`), so that threads
    never write the same numbers and the result does not depend on `threads`.

    Raises `EmbeddingError` if no document has two words with a vector, or the numbers grow without bound. Raises
    `NotEnoughMemoryError` if the entries or the vectors do not fit into memory.
    """

    def descent(cells: EntriesByCell, words: NDArray[np.float32], contexts: NDArray[np.float32]) -> CellDescent:
        return plain_descent(cells, words, contexts, settings)

    return glove_trainer(corpus, settings, threads, descent)


def glove_trainer(corpus: Corpus, settings: dict[str, Any], threads: int, descent: Descent) -> Trainer:
    """Return a trainer on the co-occurrences of a corpus, whose steps are those of `descent`."""
    from bayesbias.embeddings.training.corpus import count_cooccurrences

    check_neighbours(corpus, settings["min_count"])
    size = len(corpus.words)
    stream = corpus.stream[corpus.stream < size]  # rare words are left out before distances are measured
    counted = count_cooccurrences(stream, size, settings["window"])
    entries = sum(len(part.columns) for part in counted)
    needed = 2 * entries * _BYTES_AN_ENTRY + 16 * size * _width(settings["dimensions"])
    check_memory(
        needed,
        f"{2 * entries:,} co-occurrences and {2 * size:,} vectors of {settings['dimensions']} dimensions",
        "Take a larger min_count, a smaller window or fewer dimensions.",
    )

    def train(seed: int, advance: Advance) -> dict[str, NDArray[np.float32]]:
        rng = np.random.default_rng(seed)
        cells = sorted_cells(counted, size, rng)
        words, contexts = start_numbers(size, settings["dimensions"], rng)
        for _ in range(settings["epochs"]):
            cost = 0.0
            for share, part in one_epoch(cells, descent(cells, words, contexts), threads):
                cost += part
                advance(share * corpus.tokens)
            if not math.isfinite(cost):
                raise EmbeddingError(
                    f"GloVe's numbers grew without bound (seed {seed}, x_max={settings['x_max']:g}, "
                    f"alpha={settings['alpha']:g}). Take the defaults of these, or a larger x_max."
                )
        W, C = (numbers[:, 0, : settings["dimensions"]] for numbers in (words, contexts))
        biases = {"word_biases": words[:, 0, -2].copy(), "context_biases": contexts[:, 0, -1].copy()}
        return {"vectors": W + C, "word_vectors": W.copy(), "context_vectors": C.copy(), **biases}

    return train


class EntriesByCell(NamedTuple):
    """Entries of the co-occurrence matrix by cell; the cell of blocks b and c ends at ``ends[b, c]``.

    Compiled functions take named tuples, not dataclasses.
    """

    ends: NDArray[np.int64]
    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    logs: NDArray[np.float32]


def sorted_cells(counted: "list[Cooccurrences]", size: int, rng: np.random.Generator) -> EntriesByCell:
    """Return all entries by cell, in random order within cells."""
    from bayesbias.embeddings.training.glove_sweeps import cell_sizes, fill_cells, shuffle

    block = (rng.permutation(size) % BLOCKS).astype(np.int64)
    sizes = np.zeros((BLOCKS, BLOCKS), dtype=np.int64)
    for part in counted:
        cell_sizes(part.first, part.starts, part.columns, block, sizes)
    ends = np.cumsum(sizes).reshape(BLOCKS, BLOCKS)
    entries = int(ends[-1, -1])
    cells = EntriesByCell(
        ends, np.empty(entries, dtype=np.int32), np.empty(entries, dtype=np.int32), np.empty(entries, dtype=np.float32)
    )
    free = ends - sizes
    for part in counted:
        fill_cells(part.first, part.starts, part.columns, part.values, block, free, cells)
    for end, number in zip(ends.flat, sizes.flat, strict=True):
        shuffle(end - number, end, cells, rng)
    return cells


def start_numbers(
    size: int, dimensions: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the starting values of words and of contexts (see `glove_sweeps`)."""
    width = _width(dimensions)
    start = np.zeros((2, size, 2, width), dtype=np.float32)
    start[:, :, 1] = 1
    for numbers, bias in zip(start, (width - 2, width - 1), strict=True):
        used = [*range(dimensions), bias]
        numbers[:, 0, used] = (rng.random((size, len(used)), dtype=np.float32) - 0.5) / len(used)
    start[0, :, 0, -1] = start[1, :, 0, -2] = 1
    return start[0], start[1]


def plain_descent(
    cells: EntriesByCell, words: NDArray[np.float32], contexts: NDArray[np.float32], settings: dict[str, Any]
) -> CellDescent:
    """Return the steps of GloVe."""
    from bayesbias.embeddings.training.glove_sweeps import descend

    learning_rate, log_max, alpha = step_numbers(settings)

    def descend_cell(begin: int, end: int) -> float:
        return float(descend(begin, end, cells, words, contexts, learning_rate, log_max, alpha))

    return descend_cell


def step_numbers(settings: dict[str, Any]) -> tuple[np.float32, np.float32, np.float32]:
    """Return the learning rate, the logarithm of x_max, and alpha, as the compiled loops take them."""
    return np.float32(settings["learning_rate"]), np.float32(math.log(settings["x_max"])), np.float32(settings["alpha"])


def one_epoch(cells: EntriesByCell, descend_cell: CellDescent, threads: int) -> Iterator[tuple[float, float]]:
    """Take the steps of each entry once; yield the share of entries in each part, and its cost."""
    ends = cells.ends.ravel()
    begins = np.concatenate([[0], ends[:-1]])

    def descend_numbered(cell: int) -> float:
        return descend_cell(begins[cell], ends[cell])

    with ThreadPoolExecutor(min(threads, BLOCKS)) as pool:
        map_cells = map if threads == 1 else pool.map
        for shift in range(BLOCKS):
            diagonal = [BLOCKS * block + (block + shift) % BLOCKS for block in range(BLOCKS)]
            cost = sum(map_cells(descend_numbered, diagonal))
            yield float((ends - begins)[diagonal].sum() / ends[-1]), cost


def _width(dimensions: int) -> int:
    """Return the length of a row: dimensions and two biases, rounded up to a multiple of `_LANES`."""
    return -(-(dimensions + 2) // _LANES) * _LANES


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

    Raises `EmbeddingError` if the corpus lacks a word of each pair, or as in `glove`. Raises `NotEnoughMemoryError` as
    in `glove`.
    """
    if settings["dimensions"] < 2:
        raise EmbeddingError("GN-GloVe reserves the last component for the sides. Take at least 2 dimensions.")
    pair_rows, sides = pairs_and_sides(corpus.words, settings["pairs"], settings["sides"])

    def descent(cells: EntriesByCell, words: NDArray[np.float32], contexts: NDArray[np.float32]) -> CellDescent:
        from bayesbias.embeddings.training.glove_sweeps import descend_apart

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
