"""Scores of a whole embedding: labels of items, parts, and what a score is as text and as plain Python."""

import numpy as np
import pandas as pd
import pytest

from bayesbias.errors import MeasureError
from bayesbias.metrics.embedding_scores.result import embedding_score, labels_of
from bayesbias.metrics.embedding_scores.statistics import Quantity

ITEMS = pd.DataFrame({
    "item": ["a", "a", "b", "a"], "part": ["x", "x", "x", "y"], "first": ["p", "q", "p", "q"],
    "second": ["q", "p", "r", "r"], "bias": [1.0, 2.0, 3.0, 4.0],
})  # fmt: skip
WHOLE = Quantity("whole", "mean", ("bias",))


def test_repeated_labels_of_a_part_are_numbered() -> None:
    score = embedding_score("made", "toy", ITEMS, [WHOLE], conventions="", random_seed=1)
    assert list(score.items["item"]) == ["a", "a (2)", "b", "a"]
    assert list(score.items.columns[:2]) == ["item", "part"]
    assert score.value == 2.5


def test_a_quantity_of_a_part_uses_its_items() -> None:
    part = Quantity("part", "mean", ("bias",), parts=("x",))
    score = embedding_score("made", "toy", ITEMS, [part], conventions="", random_seed=1)
    assert (score.value, score.estimates["items"].iloc[0]) == (2.0, 3)
    with pytest.raises(MeasureError, match=r"part .* 1 items"):
        embedding_score("made", "toy", ITEMS, [Quantity("part", "mean", ("bias",), parts=("y",))], conventions="",
                        random_seed=1)  # fmt: skip


def test_a_label_has_one_number_in_all_crossed_columns() -> None:
    quantity = Quantity("crossed", "share", ("bias",), crossed=("first", "second"))
    np.testing.assert_array_equal(labels_of(quantity, ITEMS), [[0, 1, 0, 1], [1, 0, 2, 2]])
    assert labels_of(WHOLE, ITEMS) is None


def test_coverage_counts_lost_items() -> None:
    score = embedding_score(
        "made", "toy", ITEMS, [WHOLE], conventions="", random_seed=1, lost={"words": ["c"], "pairs": []}
    )
    assert score.coverage == pytest.approx(4 / 5)
    assert score.lost == {"words": ("c",)}
    assert score.to_dict()["coverage"] == pytest.approx(4 / 5)
