"""Rows of an embedding: targets, ignored words and blocks."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias.rows import chosen_rows, row_blocks, whole_embedding
from bayesbias.errors import EmbeddingError, LostWordsError, LostWordsWarning, MeasureError

EMBEDDING = bb.Embedding(("he", "she", "nurse"), np.eye(3), name="toy", case=("exact", "lower"))


def test_ignored_words_are_targets_that_are_not_chosen() -> None:
    targets, chosen = chosen_rows(EMBEDDING, ["He", "nurse"], ["Nurse"])
    assert targets.tolist() == [True, False, True]
    assert chosen.tolist() == [True, False, False]
    assert chosen_rows(EMBEDDING, None, None, ["she", "absent"])[1].tolist() == [True, False, True]
    assert chosen_rows(EMBEDDING, None, [], ["she"])[1].all(), "given words take the place of the unchanged ones"


def test_absent_words_and_strings() -> None:
    with pytest.raises(LostWordsError, match="absent"):
        chosen_rows(EMBEDDING, ["absent"], None)
    with pytest.warns(LostWordsWarning, match="'toy' .*absent"):
        chosen_rows(EMBEDDING, None, ["absent"])
    for target, ignore in (("he", None), (None, "he")):
        with pytest.raises(MeasureError, match="`target` and `ignore`"):
            chosen_rows(EMBEDDING, target, ignore)
    for target, ignore in (([("he", "she")], None), (None, [3])):
        with pytest.raises(EmbeddingError, match="Words must be text"):
            chosen_rows(EMBEDDING, target, ignore)  # type: ignore[arg-type]
    with pytest.raises(MeasureError, match=r"300 dimensions.* 'toy' .*3"):
        whole_embedding(EMBEDDING, dimensions=300)


@pytest.mark.parametrize("count", [0, 1, 10_000, 25_001])
def test_blocks_have_each_row_once_and_are_small(count: int) -> None:
    blocks = row_blocks(np.arange(count))
    assert [row for block in blocks for row in block] == list(range(count))
    assert all(0 < len(block) <= 10_000 for block in blocks)
