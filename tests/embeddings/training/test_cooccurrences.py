"""Co-occurrences: against a loop over pairs, in parts of any size, and against the authors' own program."""

import numpy as np
import pytest

from bayesbias.embeddings.training.cooccurrences import count_cooccurrences

END = -1
# What cooccur of github.com/stanfordnlp/GloVe (commit 52f7dbc) counts in two documents, with -symmetric 1
# -window-size 3 -max-product 5 -overflow-length 1000. (Where nothing overflows it counts its first entry twice.)
GLOVE_TEXT = "a b a c b d a\nb a c c d"
GLOVE_COUNTS = [[1, 4, 19 / 6, 5 / 3], [4, 2 / 3, 7 / 3, 1], [19 / 6, 7 / 3, 2, 2], [5 / 3, 1, 2, 0]]


def dense(parts, words):
    matrix = np.zeros((words, words))
    for part in parts:
        for row in range(len(part.starts) - 1):
            for entry in range(part.starts[row], part.starts[row + 1]):
                one, other = part.first + row, part.columns[entry]
                assert other <= one
                assert matrix[one, other] == 0, "each entry stands once"
                matrix[one, other] = matrix[other, one] = part.values[entry]
    return matrix


def by_hand(stream, words, window):
    matrix = np.zeros((words, words))
    for place, word in enumerate(stream):
        for distance in range(1, window + 1):
            if word == END or place - distance < 0 or stream[place - distance] == END:
                break
            matrix[word, stream[place - distance]] += 1 / distance
            matrix[stream[place - distance], word] += 1 / distance
    return matrix


@pytest.mark.parametrize("pairs_at_once", [1, 50, 1 << 20])
@pytest.mark.parametrize("window", [1, 4, 100])
def test_against_a_loop_over_pairs(window, pairs_at_once):
    rng = np.random.default_rng(window)
    stream = np.minimum(rng.geometric(0.2, size=400) - 1, 14).astype(np.int32)
    stream[rng.random(400) < 0.05] = END
    parts = count_cooccurrences(stream, 15, window, pairs_at_once)
    np.testing.assert_allclose(dense(parts, 15), by_hand(stream.tolist(), 15, window), rtol=1e-6)
    assert (len(parts) > 1) == (pairs_at_once < 100)


def test_against_the_authors_program():
    words = {"a": 0, "b": 1, "c": 2, "d": 3}
    stream = np.array([words.get(token, END) for token in GLOVE_TEXT.replace("\n", " | ").split()], dtype=np.int32)
    matrix = dense(count_cooccurrences(stream, 4, 3), 4)
    np.testing.assert_allclose(matrix, GLOVE_COUNTS, rtol=1e-6)


def test_words_that_never_meet():
    stream = np.array([0, END, 1, END], dtype=np.int32)
    assert sum(len(part.columns) for part in count_cooccurrences(stream, 2, 5)) == 0
