"""Comparisons of models over trainings, as users see them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError
from bayesbias.estimates.intervals import probability_of_direction
from tests.nli.made import CONTRASTS, compared, few_pairs, trained


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    return few_pairs()


@pytest.fixture(scope="module")
def comparison() -> bb.nli.InferenceComparison:
    return compared()


def row(frame: pd.DataFrame, embedding: str, quantity: str, scope: str = "these_words") -> pd.Series:
    chosen = frame[(frame["embedding"] == embedding) & (frame["quantity"] == quantity)]
    return chosen[chosen["scope"] == scope].iloc[0]


def test_values_are_those_of_the_plain_averages(comparison: bb.nli.InferenceComparison) -> None:
    plain = comparison.runs.groupby("embedding")[["overall", "contrast", "distance"]].mean()
    for name in CONTRASTS:
        for quantity, column in (("overall", "overall"), ("male - female", "contrast"), ("distance", "distance")):
            one = row(comparison.values, name, quantity)
            assert abs(one["mean"] - plain.loc[name, column]) < 5 * one["sd"] / np.sqrt(4000)
    assert (comparison.runs["accuracy"] == 0).sum() + (comparison.runs["accuracy"] == 1).sum() == 15


def test_one_run_is_what_error_and_distance_say(pairs: pd.DataFrame, comparison: bb.nli.InferenceComparison) -> None:
    scores = bb.nli.score(pairs, trained(0.3, 0))
    first = comparison.runs.iloc[0]
    assert first["overall"] == pytest.approx(bb.nli.neutral_error(scores)["error"][0], rel=1e-12)
    assert first["distance"] == pytest.approx(bb.nli.distance(scores, random_seed=1).distance, rel=1e-12)


def test_what_was_lowered_is_told_from_what_was_not(comparison: bb.nli.InferenceComparison) -> None:
    hard, nothing = (row(comparison.changes, name, "size of the contrast") for name in ("hard", "nothing"))
    assert hard["hdi_high"] < 0
    assert hard["probability_of_direction"] > 0.99
    assert nothing["hdi_low"] < 0 < nothing["hdi_high"]
    # Of E = sqrt(2) times what is entailed here.
    assert hard["hdi_low"] < -0.2 * np.sqrt(2) < hard["hdi_high"]
    assert row(comparison.changes, "hard", "male - female", "population")["hdi_high"] < 0


def test_the_size_of_no_contrast_can_be_0(pairs: pd.DataFrame) -> None:
    models = {name: [trained(contrast, s) for s in range(3)] for name, contrast in (("none", 0.0), ("wide", 0.3))}
    values = bb.nli.compare_answers(models, pairs, random_seed=1).values
    none, wide = (row(values, name, "size of the contrast") for name in ("none", "wide"))
    contrast = row(values, "none", "male - female")
    assert contrast["hdi_low"] < 0 < contrast["hdi_high"]
    assert none["hdi_low"] == 0 < none["hdi_high"]
    assert wide["hdi_low"] > 0


def test_single_words(comparison: bb.nli.InferenceComparison) -> None:
    words = comparison.words.set_index(["embedding", "word"])
    assert len(words) == 3 * 8
    assert words.loc[("original", "guy"), "mean"] > words.loc[("original", "lady"), "hdi_high"]
    assert words.loc[("original", "guy"), "group"] == "male"


def test_two_words_are_compared_on_their_premises(comparison: bb.nli.InferenceComparison) -> None:
    pairs = comparison.word_pairs.set_index(["embedding", "first", "second"])
    assert len(pairs) == 3 * 4 * 4
    one = pairs.loc[("original", "guy", "lady")]
    words = comparison.words.set_index(["embedding", "word"])["mean"]
    assert one["mean"] == pytest.approx(words["original", "guy"] - words["original", "lady"], abs=0.01)
    assert one["hdi_low"] < 0.3 * np.sqrt(2) < one["hdi_high"]
    assert one["hdi_low"] > 0.3


def test_it_is_printed(comparison: bb.nli.InferenceComparison) -> None:
    text = str(comparison)
    assert "hard: E is lower" in text
    assert "the contrast male - female is smaller" in text
    assert "nothing: whether E is lower or higher is not settled" in text
    assert "accuracy" in text
    assert "Always giving the most frequent label has " in text
    assert comparison.contrast == "male - female"
    assert comparison.to_dict()["settings"]["Embeddings"] == "original, hard, nothing"


def test_models_that_know_hardly_more_than_the_labels_are_named(pairs: pd.DataFrame) -> None:
    def neutral(premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        return np.tile([0.8, 0.1, 0.1], (len(premises), 1))

    def knowing(premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        same = np.array([first == second for first, second in zip(premises, hypotheses, strict=True)])
        return np.column_stack([~same, same, 0 * same]).astype(float)

    hypotheses = ["He ate."] * 6 + ["A person ate."] * 4
    labels = ["neutral"] * 6 + ["entailment"] * 4
    test = pd.DataFrame({"premise": "A person ate.", "hypothesis": hypotheses, "label": labels})
    ignorant = bb.nli.compare_answers({"a": [neutral] * 3, "b": [neutral] * 3}, pairs, test_pairs=test, random_seed=1)
    assert ignorant.runs["largest_label"].tolist() == [0.6] * 6
    text = " ".join(str(ignorant).split())
    assert "most frequent label has an accuracy of 0.600." in text
    assert "6 of 6 trainings are hardly better" in text
    better = bb.nli.compare_answers({"a": [neutral] * 3, "b": [knowing] * 3}, pairs, test_pairs=test, random_seed=1)
    assert "3 of 6 trainings are hardly better" in " ".join(str(better).split()), (
        "the best does not speak for the others"
    )
    all_know = bb.nli.compare_answers({"a": [knowing] * 3, "b": [knowing] * 3}, pairs, test_pairs=test, random_seed=1)
    assert "most frequent label has an accuracy of 0.600." in str(all_know)
    assert "are hardly better" not in " ".join(str(all_know).split())


def test_a_seed_repeats(pairs: pd.DataFrame) -> None:
    few = pairs[pairs["object"].isin(["apple", "soup"])]
    models = {name: [trained(contrast, s) for s in range(3)] for name, contrast in (("a", 0.1), ("b", 0.2))}
    first, again = (bb.nli.compare_answers(models, few, "entailment", random_seed=5) for _ in range(2))
    assert first.values.equals(again.values)
    assert first.changes.equals(again.changes)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"a": [trained(0.1, 1)] * 3}, "1 embedding"),
        ({"a": [trained(0.1, 1)] * 3, "b": [trained(0.1, 1)] * 2}, "'b'.* 2 .* 3,"),
        ({"a": trained(0.1, 1), "b": [trained(0.1, 1)] * 3}, r"models\['a'\]"),
        ({"a": "xyz", "b": [trained(0.1, 1)] * 3}, r"models\['a'\]"),
    ],
)
def test_what_is_no_comparison(pairs: pd.DataFrame, models: dict[str, object], message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        bb.nli.compare_answers(models, pairs)


def test_other_wrong_arguments(pairs: pd.DataFrame) -> None:
    models = {name: [trained(0.1, s) for s in range(3)] for name in "ab"}
    with pytest.raises(ArgumentError, match="models"):
        bb.nli.compare_answers(list(models.values()), pairs)
    with pytest.raises(ArgumentError, match="score='E'"):
        bb.nli.compare_answers(models, pairs, "E")
    with pytest.raises(MeasureError, match="label"):
        bb.nli.compare_answers(models, pairs, test_pairs=pairs)


def test_equal_answers_have_either_direction_with_a_probability_of_one_half() -> None:
    assert probability_of_direction(np.zeros(10)) == 0.5
    assert probability_of_direction(np.array([-1.0, 0.0, 1.0, 1.0])) == 0.625
