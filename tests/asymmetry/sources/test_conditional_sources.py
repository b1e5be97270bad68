"""Log asymmetry ratios of any source: pairs that are none, and sources that do not answer as they should."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError


class Lengths:
    """A source: the longer a response, the more probable; words with an x it does not know."""

    name = "lengths"
    sd = 0.25

    def log_conditionals(self, cues: Sequence[str], responses: Sequence[str]) -> pd.DataFrame:
        left_out = ["no x" if "x" in cue + response else "" for cue, response in zip(cues, responses, strict=True)]
        logs = [-10.0 + len(response) for response in responses]
        return pd.DataFrame(
            {"cue": cues, "response": responses, "log_probability": logs, "sd": self.sd, "left_out": left_out}
        )


def test_any_object_with_the_method_is_a_source() -> None:
    assert isinstance(Lengths(), bb.asymmetry.ConditionalSource)
    pairs = pd.DataFrame({"b": ["bbb", "cx"], "a": ["a", "b"], "relation": ["IsA", "IsA"], "note": [1, 2]})
    found = bb.asymmetry.lar(Lengths(), pairs)
    assert list(found.columns[:4]) == ["a", "b", "relation", "note"]
    assert found.loc[0, ["log_b_given_a", "log_a_given_b", "lar"]].tolist() == [-7.0, -9.0, 2.0]
    assert found["sd"][0] == pytest.approx(np.sqrt(2) * 0.25)
    # The Normal interval: 1.598 standard errors on each side.
    assert found["hdi_low"][0] == pytest.approx(2 - 1.598 * np.sqrt(2) * 0.25, abs=1e-3)
    assert found["left_out"].tolist() == ["", "no x"]
    assert found.iloc[1][["lar", "sd", "hdi_low"]].isna().all()


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([], "There are no pairs"),
        ([("a", "b"), ("a", "b")], "Some pairs stand twice: a - b"),
        ([("a", "a")], "'a' is paired with itself"),
        (["ab"], "'ab' is not a pair"),
        ([("a", 5)], "Row 0 of the pairs has 5 as b"),
        (pd.DataFrame({"a": ["a"]}), "lack the columns b"),
        (pd.DataFrame({"a": ["a", "a"], "b": ["b", "b"], "relation": ["r", "r"]}), "a - b - r"),
    ],
)
def test_pairs_that_are_none(pairs: Any, said: str) -> None:
    with pytest.raises(MeasureError, match=said):
        bb.asymmetry.lar(Lengths(), pairs)


def test_a_pair_may_have_two_relations() -> None:
    frame = pd.DataFrame({"a": ["a", "a"], "b": ["bb", "bb"], "relation": ["r", "s"]})
    assert bb.asymmetry.lar(Lengths(), frame)["lar"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame.assign(log_probability=0.1), "the log probability 0.1"),
        (lambda frame: frame.assign(log_probability=-np.inf), "log P is not finite where P is 0"),
        (lambda frame: frame.assign(sd=-1.0), "standard error -1"),
        (lambda frame: frame.drop(columns="sd"), "does not return a frame with the columns"),
        (lambda frame: frame.iloc[::-1], "in the order in which it was asked"),
        (lambda frame: None, "does not return a frame"),
    ],
)
def test_sources_that_do_not_answer_as_they_should(change: Any, said: str) -> None:
    class Wrong(Lengths):
        def log_conditionals(self, cues: Sequence[str], responses: Sequence[str]) -> Any:
            return change(super().log_conditionals(cues, responses))

    with pytest.raises(MeasureError, match=said):
        bb.asymmetry.lar(Wrong(), [("a", "bb"), ("c", "dd")])


def test_what_is_no_source() -> None:
    with pytest.raises(MeasureError, match="The source is str"):
        bb.asymmetry.lar("usf", [("a", "b")])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="hdi_prob"):
        bb.asymmetry.lar(Lengths(), [("a", "b")], hdi_prob=1.0)
