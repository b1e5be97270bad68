"""Checks of the crossed model: quiet where it is right, loud where it is not."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError
from tests.nli.made import few_pairs


def scores_of(values: np.ndarray) -> pd.DataFrame:
    """Return scores of the small test set whose probability of entailment is given, (words, premises)."""
    pairs = few_pairs()
    place = pairs.groupby(["premise", "verb", "object"], sort=False).ngroup().to_numpy()
    word = pairs["word"].map({name: code for code, name in enumerate(pairs["word"].unique())}).to_numpy()
    entailed = values[word, place]
    return pairs.assign(neutral=1 - entailed, entailment=entailed, contradiction=0.0)


def crossed_values(rng: np.random.Generator) -> np.ndarray:
    pairs = few_pairs()
    premises = pairs.drop_duplicates(["verb", "object"])
    verb, thing = (premises[name].factorize()[0] for name in ("verb", "object"))
    words = 0.5 + 0.03 * rng.standard_normal((8, 1))
    shared = 0.03 * rng.standard_normal(verb.max() + 1)[verb] + 0.03 * rng.standard_normal(thing.max() + 1)[thing]
    return words + shared + 0.02 * rng.standard_normal((8, len(premises)))


def test_scores_of_the_model_fit_as_often_as_they_should() -> None:
    inside = total = named = 0
    for seed in range(8):
        checked = bb.nli.check(scores_of(crossed_values(np.random.default_rng(seed))), "entailment", random_seed=seed)
        rows = checked.statistics
        inside += int(rows["observed"].between(rows["low"], rows["high"]).sum())
        total += len(rows)
        named += sum(problem.kind != "prior" for problem in checked.problems)
    assert inside / total > 0.8
    # Some of many statistics lie outside by chance, which is no problem yet.
    assert named <= 2
    assert named < total - inside


def test_what_does_not_fit_is_named_with_advice() -> None:
    rng = np.random.default_rng(1)
    values = crossed_values(rng)
    values[0] += 0.1 * rng.standard_normal(values.shape[1])  # one word varies more than all others
    values[:, 3] = 0.99
    checked = bb.nli.check(scores_of(values.clip(0, 1)), "entailment", random_seed=1)
    kinds = {problem.kind for problem in checked.problems}
    assert {"ratio of the words' sds", "kurtosis"} <= kinds
    assert all(problem.text.endswith(".") and ":" in problem.text for problem in checked.problems)
    assert "Problems".upper() in str(checked)


def test_priors_decide_nothing_where_there_are_enough_premises_and_something_where_there_are_not() -> None:
    values = crossed_values(np.random.default_rng(2))
    many = bb.nli.check(scores_of(values), "entailment", random_seed=1)
    assert "prior" not in {problem.kind for problem in many.problems}
    assert many.priors["prior_scale"].tolist() == [0.25, 1.0, 4.0]
    pairs = scores_of(values)
    pronouns = pairs[pairs["word"].isin(["He", "She"]) & pairs["verb"].isin(pairs["verb"].unique()[:3])]
    few = bb.nli.check(pronouns, "entailment", groups=("male", "female"), random_seed=1)
    assert few.priors["sd"][2] > few.priors["sd"][0]


def test_it_repeats_and_refuses() -> None:
    scores = scores_of(crossed_values(np.random.default_rng(3)))
    first, again = (bb.nli.check(scores, "entailment", random_seed=4) for _ in range(2))
    assert first.statistics.equals(again.statistics)
    assert first.priors.equals(again.priors)
    with pytest.raises(ArgumentError, match="samples"):
        bb.nli.check(scores, samples=3)
