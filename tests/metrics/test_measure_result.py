"""The result of a measure, of a study or of the items of a whole embedding."""

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from bayesbias.metrics.measure_result import Items, MeasureResult, labels_of, result_of_items, score_frame
from bayesbias.metrics.quantities import Quantity

RESULT = MeasureResult(
    measure="weat",
    statistics={"effect_size": 0.5, "p_value": 0.0226884, "partitions": 12870.0},
    scores=score_frame([0.5], word=["a"]),
    conventions="p one-sided, >=",
    study="<b>study</b>",
    embedding="tiny & small",
    lost_words={"<i>list</i>": ("<script>",)},
)


def test_statistics_are_attributes() -> None:
    assert RESULT.effect_size == RESULT.value == 0.5
    assert RESULT.p_value == 0.0226884
    assert "p_value" in dir(RESULT)
    with pytest.raises(AttributeError, match=r"p_valu'.*'p_value'"):
        _ = RESULT.p_valu
    assert not hasattr(RESULT, "nothing")


def test_text_names_everything() -> None:
    assert "p_value=0.0226884" in repr(RESULT)
    text = str(RESULT)
    for part in ("weat of <b>study</b>", "effect_size  0.5", "partitions   12870", "p one-sided, >=", "<script>"):
        assert part in text


def test_scores_have_all_columns_in_their_order() -> None:
    frame = score_frame([[1.0, 2.0], [3.0, 4.0]], base_pair=["p", "q"] * 2, word=["a", "a", "b", "b"])
    assert list(frame) == ["word", "group", "attribute_group", "base_pair", "score"]
    assert frame.iloc[3].tolist() == ["b", "", "", "q", 4.0]


def test_html_is_escaped() -> None:
    html = RESULT._repr_html_()
    assert "<b>" not in html
    assert "<i>" not in html
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "tiny &amp; small" in html
    assert "&gt;=" in html


def test_copies_and_pickles() -> None:
    for made in (copy.deepcopy(RESULT), pickle.loads(pickle.dumps(RESULT))):
        assert made.statistics == RESULT.statistics
        assert made.effect_size == 0.5


ITEMS = pd.DataFrame({
    "item": ["a", "a", "b", "a"], "part": ["x", "x", "x", "y"], "first": ["p", "q", "p", "q"],
    "second": ["q", "p", "r", "r"], "bias": [1.0, 2.0, 3.0, 4.0],
})  # fmt: skip
WHOLE = Quantity("whole", "mean", ("bias",))


def test_repeated_labels_of_a_part_are_numbered() -> None:
    score = result_of_items("made", "toy", Items(ITEMS), [WHOLE], question="Q?", conventions="", random_seed=1)
    assert list(score.scores["item"]) == ["a", "a (2)", "b", "a"]
    assert list(score.scores.columns[:2]) == ["item", "part"]
    assert score.value == 2.5


def test_a_quantity_of_a_part_uses_its_items() -> None:
    part = Quantity("part", "mean", ("bias",), parts=("x",))
    score = result_of_items("made", "toy", Items(ITEMS), [part], question="Q?", conventions="", random_seed=1)
    assert (score.value, score.estimates["items"].iloc[0]) == (2.0, 3)
    quantity = Quantity("part", "mean", ("bias",), parts=("y",))
    with pytest.raises(MeasureError, match="part has 1 items"):
        result_of_items("made", "toy", Items(ITEMS), [quantity], question="Q?", conventions="", random_seed=1)


def test_a_label_has_one_number_in_all_crossed_columns() -> None:
    quantity = Quantity("crossed", "share", ("bias",), crossed=("first", "second"))
    np.testing.assert_array_equal(labels_of(quantity, ITEMS), [[0, 1, 0, 1], [1, 0, 2, 2]])
    assert labels_of(WHOLE, ITEMS) is None


def test_coverage_counts_lost_items() -> None:
    items = Items(ITEMS, {"words": ["c"], "pairs": []})
    score = result_of_items("made", "toy", items, [WHOLE], question="Q?", conventions="", random_seed=1)
    assert score.coverage == pytest.approx(4 / 5)
    assert score.lost_words == {"words": ("c",)}
    assert score.to_dict()["coverage"] == pytest.approx(4 / 5)


def test_a_result_is_written_with_its_numbers_and_scores(tmp_path: Path) -> None:
    whole = result_of_items("made", "toy", Items(ITEMS), [WHOLE], question="Q?", conventions="c", random_seed=1)
    for result, name in ((RESULT, "effect_size"), (whole, "whole")):
        folder = bb.write(result, tmp_path / result.measure)
        assert len(pd.read_csv(folder / "scores.csv")) == len(result.scores)
        written = json.loads((folder / "conclusions.json").read_text())
        assert written["statistics"][name] == result.value
        assert written["interval"] == (None if result.interval is None else list(result.interval))
        page = (folder / "report.html").read_text()
        assert name in page
        assert "<i>list" not in page
        assert result.parts[1].statements[0].numbers["value"] == result.value


def test_what_does_not_apply_is_none() -> None:
    assert (RESULT.interval, RESULT.coverage, RESULT.estimates, RESULT.random_seed) == (None, None, None, None)
    whole = result_of_items("made", "toy", Items(ITEMS), [WHOLE], question="Q?", conventions="c", random_seed=1)
    low, high = whole.interval or (np.nan, np.nan)
    assert (whole.study, whole.p_value, whole.statistics) == (None, None, {"whole": whole.value})
    assert low <= whole.whole <= high
    assert str(whole).splitlines()[2] == "made of toy (89% HPDI)"
