"""Accuracy by number of contexts and distance, against counts by hand."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError

LETTERS = "bcdfghjk"
PAIRS = [(a, b) for a, b in itertools.combinations(LETTERS, 2)]


class Made:
    """A source whose log asymmetry ratios are given."""

    name = "made"

    def __init__(self, ratios: dict[tuple[str, str], float]) -> None:
        self.ratios = ratios

    def log_conditionals(self, cues: Sequence[str], responses: Sequence[str]) -> pd.DataFrame:
        pairs = list(zip(cues, responses, strict=True))
        logs = [-3 + self.ratios[pair] if pair in self.ratios else -3.0 for pair in pairs]
        return pd.DataFrame(pairs, columns=["cue", "response"]).assign(log_probability=logs, sd=0.1, left_out="")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> bb.embeddings.ContextIndex:
    """Pair number n is in n + 1 contexts, n + 2 characters apart."""
    texts = [f"{a} {'.' * number}{b}" for number, (a, b) in enumerate(PAIRS) for _ in range(number + 1)]
    return bb.embeddings.index_contexts(texts, tmp_path_factory.mktemp("index") / "made.contexts")


def ratios(index: bb.embeddings.ContextIndex) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The truth is 1 for all; the source is wrong for every third of the first half, and for none of the others."""
    truth = Made(dict.fromkeys(PAIRS, 1.0))
    half = len(PAIRS) // 2
    source = Made({pair: -0.5 if number < half and number % 3 == 0 else 0.5 for number, pair in enumerate(PAIRS)})
    return bb.asymmetry.lar(truth, PAIRS), bb.asymmetry.lar(source, [pair[::-1] for pair in PAIRS])


def test_accuracies_are_those_of_each_half(index: bb.embeddings.ContextIndex) -> None:
    factors = bb.asymmetry.accuracy_by_context(*ratios(index), index, groups=2)
    assert factors["factor"].tolist() == ["contexts", "contexts", "distance", "distance"]
    assert factors["pairs"].tolist() == [14, 14, 14, 14]
    np.testing.assert_allclose(factors["accuracy"], [9 / 14, 1, 9 / 14, 1])
    assert factors["low"].tolist() == [1, 15, 2, 16]
    assert factors["high"].tolist() == [14, 28, 15, 29]
    assert (factors["hdi_low"] < factors["accuracy"]).all()


def test_groups_of_one_width_are_those_of_the_paper(index: bb.embeddings.ContextIndex) -> None:
    factors = bb.asymmetry.accuracy_by_context(*ratios(index), index, width=14)
    contexts = factors[factors["factor"] == "contexts"]
    assert contexts[["low", "high"]].to_numpy().tolist() == [[1, 13], [14, 27]]  # the third has one pair
    with pytest.raises(MeasureError, match=" 10 of the "):
        bb.asymmetry.accuracy_by_context(*ratios(index), index, width=3)


def test_pairs_without_contexts_are_in_no_group(tmp_path: Path, index: bb.embeddings.ContextIndex) -> None:
    texts = [text for text in index.texts(range(index.contexts)) if "k" not in text]
    fewer = bb.embeddings.index_contexts(texts, tmp_path / "fewer.contexts")
    factors = bb.asymmetry.accuracy_by_context(*ratios(index), fewer, groups=1)
    assert factors["pairs"].tolist() == [21, 21]


def test_settings_that_cannot_be_are_errors(index: bb.embeddings.ContextIndex) -> None:
    for wrong in ({"groups": 0}, {"width": 0}, {"gamma": -1}, {"hdi_prob": 2}):
        with pytest.raises(ArgumentError):
            bb.asymmetry.accuracy_by_context(*ratios(index), index, **wrong)  # type: ignore[arg-type]
