"""GN-GloVe's neutral part: components that are dropped, and vectors that are refused."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from tests.debias.made import PAIRS, made_embedding


def test_gn_glove_drops_its_last_components_and_needs_some_left() -> None:
    embedding = made_embedding()
    after = bb.debias.GNGloVe().fit(embedding, PAIRS).transform(embedding, target=["word1"])
    np.testing.assert_array_equal(after.vectors, embedding.vectors[:, :11])
    with pytest.raises(MeasureError, match="12 components"):
        bb.debias.GNGloVe(components=12).fit(embedding, PAIRS)
    words = {"he": [1.0, 0.5, 0.5], "she": [-1.0, 0.5, 0.5], "cook": [1.0, 1.0, 0.5]}
    with pytest.raises(MeasureError, match="GN-GloVe"):
        bb.debias.GNGloVe().fit(words, [["he", "she"]])
    with pytest.raises(MeasureError, match=r"last 2 .* 'custom words'"):
        bb.debias.GNGloVe(components=2).fit(words | {"cook": [1.0, 1.0, 2.0]}, [["he", "she"]])
    bb.debias.GNGloVe(components=2).fit(words | {"she": [-1.0, 0.5, 0.4]}, [["he", "she"]])
