"""Answers of a model: one pair at a time gives what all together give."""

import numpy as np
import pytest

from bayesbias.nli.trained import attention_model
from bayesbias.nli.trained.attention_model import _chunks, padded, same

pytestmark = pytest.mark.extras


def test_sentences_are_padded_to_the_longest() -> None:
    import torch

    vectors = torch.arange(8.0).reshape(4, 2)
    tensor, mask = padded(vectors, [np.array([3]), np.array([1, 2, 3])])
    assert mask.tolist() == [[True, False, False], [True, True, True]]
    assert tensor[0, 0].tolist() == [6, 7]
    assert tensor[1].tolist() == [[2, 3], [4, 5], [6, 7]]
    assert same(vectors) is vectors


def test_parts_hold_every_pair_once_and_few_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_model, "_PAIRS", 10)
    monkeypatch.setattr(attention_model, "_LARGEST", 256 * 12)
    lengths, pairs = np.array([3, 6, 100]), np.array([[0] * 8 + [1] * 4 + [2], [0] * 13])
    parts = list(_chunks(np.arange(13), lengths, pairs))
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(13))
    assert all(len(part) == 1 or len(part) * lengths[pairs[:, part]].max() <= 12 for part in parts)
    assert max(map(len, parts)) > 1
