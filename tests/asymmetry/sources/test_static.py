"""Static vectors as a source: against a plain loop over the formula; missing words."""

import math

import numpy as np
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
