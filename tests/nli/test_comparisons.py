"""Models that are compared: what they answer, how often they are right, and what is no comparison."""

import importlib
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError
from bayesbias.nli.comparisons import check_asked, check_several, checked_seed, run_of
from tests.nli.made import few_pairs, trained


def test_a_run_has_the_answers_and_the_accuracy_of_its_model() -> None:
    pairs, model = few_pairs(), trained(0.3, 1)
    run = run_of(model, pairs, None)
    expected = bb.nli.score(pairs, model)
    assert np.sort(np.ravel(run.answers.probabilities[..., 1])) == pytest.approx(np.sort(expected["entailment"]))
    labelled = pd.DataFrame(
        {"premise": "A person ate.", "hypothesis": "A dog ate.", "label": ["neutral"] * 3 + ["entailment"]}
    )
    run = run_of(lambda first, _: np.tile([0.8, 0.1, 0.1], (len(first), 1)), pairs, labelled)
    assert (run.accuracy, run.largest_label) == (0.75, 0.75)


def test_arguments_are_checked_before_a_model_is_called() -> None:
    assert checked_seed("error", 100, 0.89, 5) == 5
    for score, draws, prob, facts in (("E", 100, 0.89, "'E'"), ("error", 99, 0.89, "99"), ("error", 100, 1.5, "1.5")):
        with pytest.raises(ArgumentError, match=facts):
            checked_seed(score, draws, prob, 5)
    check_asked(few_pairs(), None, ("male", "female"))
    with pytest.raises(MeasureError, match="'nobody'"):
        check_asked(few_pairs(), None, ("male", "nobody"))
    with pytest.raises(MeasureError, match="label"):
        check_asked(few_pairs(), few_pairs(), None)


@pytest.mark.parametrize(
    ("names", "facts"), [([], "models .*no"), (["a"], "models .* 1 "), (["a", " "], "models .*' '")]
)
def test_two_names_are_needed(names: list[str], facts: str) -> None:
    check_several(dict.fromkeys("ab"), "models")
    with pytest.raises(MeasureError, match=facts):
        check_several(dict.fromkeys(names), "models")


WORDS = ["he", "she", "man", "woman", "apple", "soup"]
SETS = bb.debias.DebiasWords("gender", [["he", "she"], ["man", "woman"]])


def vectors() -> bb.Embedding:
    return bb.Embedding(tuple(WORDS), np.random.default_rng(1).standard_normal((6, 4)))


def test_each_method_makes_an_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("bayesbias.nli.comparisons")
    calls: list[Any] = []
    monkeypatch.setattr(module, "train_and_compare", lambda *given, **options: calls.append((given, options)))
    method = bb.debias.METHODS["hard"]()
    bb.nli.debias_and_compare(vectors(), {"mine": method}, SETS, pd.DataFrame(), trainings=3)
    ((embeddings, _, test_set), options) = calls[0]
    assert (list(embeddings), test_set, options) == (
        ["original", "mine"],
        "explicit",
        {"score": "error", "trainings": 3},
    )
    np.testing.assert_array_equal(embeddings["original"].vectors, vectors().vectors)
    expected = method.fit(vectors(), SETS).transform(vectors())
    np.testing.assert_array_equal(embeddings["mine"].vectors, expected.vectors)


def test_what_is_no_method_is_named() -> None:
    for methods, facts in (({"original": bb.debias.MISP()}, "'original'"), ({"x": 5}, "'x' is 5")):
        with pytest.raises(MeasureError, match=facts):
            bb.nli.debias_and_compare(vectors(), methods, SETS, pd.DataFrame())
    with pytest.raises(ArgumentError, match="'msip'"):
        bb.nli.debias_and_compare(vectors(), ["msip"], SETS, pd.DataFrame())
