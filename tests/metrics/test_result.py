"""The result of a measure."""

import copy
import pickle

import pytest

from bayesbias.metrics.result import MeasureResult, score_frame

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
