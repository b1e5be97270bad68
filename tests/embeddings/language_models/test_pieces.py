"""Pieces of words in texts, as arrays."""

import numpy as np
import pytest

from bayesbias.embeddings.language_models.pieces import Pieces, read_pieces
from tests.embeddings.language_models.test_language_model import TEXT, model


def test_pieces_of_words_without_their_spaces() -> None:
    pieces = model().pieces([TEXT])
    assert pieces.characters.tolist() == [[0, 0], [0, 3], [4, 9], [9, 12], [13, 16], [0, 0]]
    words = np.array([[4, 12], [13, 16], [3, 4], [0, 3], [4, 8]])
    texts = np.zeros(len(words), dtype=np.int64)
    assert pieces.spans(texts, words).tolist() == [[2, 4], [4, 5], [0, 0], [1, 2], [2, 3]]
    assert [array.tolist() for array in pieces.whole_words(texts, words)] == [[1, 3], [4, 1]]
    special = Pieces(np.array([7]), np.array([0, 1]), np.array([[0, 0]]))
    assert special.spans(texts[:1], np.array([[0, 5]])).tolist() == [[0, 0]]


@pytest.mark.parametrize("space", [" ", "\t", "\u3000", "\u00a0 "])
def test_leading_spaces_of_a_piece_are_cut_in_any_text(space: str) -> None:
    texts = ["", f"a{space}b", "\U0001f600b", space]
    end = 2 + len(space)
    pieces = read_pieces(
        texts, [[], [1, 2], [3, 4], [5]], [[], [(0, 1), (1, end)], [(0, 1), (1, 2)], [(0, len(space))]]
    )
    last = [len(space)] * 2  # nothing is left of it
    assert pieces.characters.tolist() == [[0, 1], [end - 1, end], [0, 1], [1, 2], last]
    assert pieces.lengths.tolist() == [0, 2, 2, 1]
    some = pieces.take(np.array([2, 0, 1]))
    assert (some.ids.tolist(), some.bounds.tolist()) == ([3, 4, 1, 2], [0, 2, 2, 4])
    assert some.spans(np.array([0, 1, 2]), np.array([[1, 2], [0, 1], [0, end]])).tolist() == [[1, 2], [0, 0], [0, 2]]
