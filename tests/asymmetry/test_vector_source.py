"""Static vectors as a source: against a plain loop over the formula; missing words."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsError, MeasureError
from tests.asymmetry.made import WORDS, made_vectors


def by_hand(cues: bb.Embedding, responses: bb.Embedding, a: str, b: str, words: tuple[str, ...], heat: float) -> float:
    """Equations 7 and 8, one number at a time."""
    cue = cues[a]
    length = math.sqrt(sum(x * x for x in cue))
    projections = {x: sum(p * q for p, q in zip(responses[x], cue, strict=True)) / length / heat for x in words}
    return projections[b] - math.log(sum(math.exp(value) for value in projections.values()))


def test_probabilities_are_those_of_the_formula() -> None:
    vectors, context = made_vectors(2), made_vectors(3)
    vocabulary = WORDS[:20]
    pairs = [(WORDS[0], WORDS[1]), (WORDS[5], WORDS[3]), (WORDS[0], WORDS[7])]
    for source, responses, heat in (
        (bb.asymmetry.static(vectors, vocabulary=vocabulary), vectors, 1.0),
        (bb.asymmetry.static(vectors, context, vocabulary=vocabulary, temperature=0.3), context, 0.3),
    ):
        frame = bb.asymmetry.lar(source, pairs)
        for row, (a, b) in zip(frame.to_dict("records"), pairs, strict=True):
            ahead, back = (by_hand(vectors, responses, *pair, vocabulary, heat) for pair in ((a, b), (b, a)))
            assert row["log_b_given_a"] == pytest.approx(ahead)
            assert row["lar"] == pytest.approx(ahead - back)
            assert row["sd"] == 0.0
            assert row["hdi_low"] == row["hdi_high"] == row["lar"]


def test_probabilities_sum_to_one_over_the_vocabulary() -> None:
    source = bb.asymmetry.static(made_vectors())
    frame = source.log_conditionals([WORDS[3]] * len(WORDS), WORDS)
    assert np.exp(frame["log_probability"]).sum() == pytest.approx(1)


def test_words_that_the_vectors_lack_are_left_out_with_the_reason() -> None:
    source = bb.asymmetry.static(made_vectors(), vocabulary=[*WORDS[:10], "nowhere"])
    assert source.lost == ("nowhere",)
    frame = bb.asymmetry.lar(source, [(WORDS[0], "nowhere"), (WORDS[0], WORDS[20]), (WORDS[0], WORDS[1])])
    assert frame["left_out"].tolist() == ["made lacks 'nowhere'", f"'{WORDS[20]}' is not in the vocabulary", ""]


def test_the_case_rule_finds_words() -> None:
    vectors = bb.Embedding(("Guitar", "Music"), [[1.0, 0.0], [0.5, 2.0]], case=("exact", "title"))
    source = bb.asymmetry.static(vectors, vocabulary=["guitar", "music"])
    assert bb.asymmetry.lar(source, [("guitar", "music")])["left_out"].tolist() == [""]


def test_sources_that_cannot_be() -> None:
    with pytest.raises(LostWordsError, match=" 0 of 1 words"):
        bb.asymmetry.static(made_vectors(), vocabulary=["nowhere"])
    with pytest.raises(MeasureError, match=r"5 dimensions .* 2"):
        bb.asymmetry.static(made_vectors(), {"a": [1.0, 0.0], "b": [0.0, 1.0]})
    with pytest.raises(ArgumentError, match="temperature=0"):
        bb.asymmetry.static(made_vectors(), temperature=0)


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
    ratios = bb.asymmetry.lar(Lengths(), pairs)
    assert list(ratios.columns[:4]) == ["a", "b", "relation", "note"]
    assert ratios.loc[0, ["log_b_given_a", "log_a_given_b", "lar"]].tolist() == [-7.0, -9.0, 2.0]
    assert ratios["sd"][0] == pytest.approx(np.sqrt(2) * 0.25)
    # The Normal interval: 1.598 standard errors on each side.
    assert ratios["hdi_low"][0] == pytest.approx(2 - 1.598 * np.sqrt(2) * 0.25, abs=1e-3)
    assert ratios["left_out"].tolist() == ["", "no x"]
    assert ratios.iloc[1][["lar", "sd", "hdi_low"]].isna().all()


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "pairs"),
        ([("a", "b"), ("a", "b")], ": a - b"),
        ([("a", "a")], "'a'"),
        (["ab"], "'ab'"),
        ([("a", 5)], "Row 0 .* 5 as b"),
        (pd.DataFrame({"a": ["a"]}), "columns b"),
        (pd.DataFrame({"a": ["a", "a"], "b": ["b", "b"], "relation": ["r", "r"]}), "a - b - r"),
    ],
)
def test_pairs_that_are_none(pairs: Any, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        bb.asymmetry.lar(Lengths(), pairs)


def test_a_pair_may_have_two_relations() -> None:
    frame = pd.DataFrame({"a": ["a", "a"], "b": ["bb", "bb"], "relation": ["r", "s"]})
    assert bb.asymmetry.lar(Lengths(), frame)["lar"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.assign(log_probability=0.1), "'lengths' .*a -> bb .* 0.1 "),
        (lambda frame: frame.assign(log_probability=-np.inf), "a -> bb .*-inf"),
        (lambda frame: frame.assign(sd=-1.0), "a -> bb .*-1"),
        (lambda frame: frame.drop(columns="sd"), "columns cue, response, log_probability, sd, left_out"),
        (lambda frame: frame.iloc[::-1], "order"),
        (lambda frame: None, "frame"),
    ],
)
def test_sources_that_do_not_answer_as_they_should(change: Any, message: str) -> None:
    class Wrong(Lengths):
        def log_conditionals(self, cues: Sequence[str], responses: Sequence[str]) -> Any:
            return change(super().log_conditionals(cues, responses))

    with pytest.raises(MeasureError, match=message):
        bb.asymmetry.lar(Wrong(), [("a", "bb"), ("c", "dd")])


def test_what_is_no_source() -> None:
    with pytest.raises(MeasureError, match="str"):
        bb.asymmetry.lar("usf", [("a", "b")])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="hdi_prob"):
        bb.asymmetry.lar(Lengths(), [("a", "b")], hdi_prob=1.0)
