"""Doubts about slopes that single words decide."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.reports.covariates.slopes import design_of
from tests.reports.covariates.made import made_table


def test_few_evenly_spaced_values_are_not_told_to_be_ranks() -> None:
    even = {f"<b>w{n}": float(n) for n in range(5)}
    few = bb.fit(made_table(words=5), covariates={"x": even}, random_seed=1, progress=False)
    (text,) = (doubt.text for doubt in bb.covariate_effect(few).doubts if doubt.kind == "leverage")
    assert "take more words" in text
    assert "ranks" not in text


def test_an_outlying_word_is_named() -> None:
    table = made_table()
    table["share"] = np.where(table["protected_word"] == "<b>w3", 50.0, table["share"])
    fit = bb.fit(table, covariates="share", draws=100, random_seed=1, progress=False)
    doubts = bb.covariate_effect(fit).doubts
    assert "leverage" in [doubt.kind for doubt in doubts]


def test_a_word_that_turns_the_slope_is_named_as_text() -> None:
    table = made_table(noise=0.0)
    first = table["protected_word"] == "<b>w8"
    near = table["attribute_group"] == "near"
    turned = table["cosine_distance"] + np.where(first & near, 0.6, 0.0)
    fit = bb.fit(table.assign(cosine_distance=turned), covariates="share", draws=250, random_seed=1, progress=False)
    statements = {doubt.kind: doubt for doubt in bb.covariate_effect(fit).doubts}
    assert statements["influence"].numbers["word"] == "<b>w8"
    assert "Without '<b>w8'," in statements["influence"].text


def test_a_word_that_turns_the_slope_need_not_be_the_most_influential() -> None:
    """One word pulls the slope up further than the other pulls it down; only without the first, its sign is another."""
    design = design_of(np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 6.0, -6.0])[:, None], np.zeros(7, dtype=int))
    leans = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.75])
    slope = float((design.coefficients @ leans)[0])
    shifts = (design.coefficients * (design.residuals @ leans) / design.unexplained)[0]
    turning = int(np.argmax(shifts * np.sign(slope)))
    others = np.delete(np.arange(7), turning)
    without = np.polyfit(np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 6.0, -6.0])[others], leans[others], 1)[0]
    assert without == pytest.approx(slope - shifts[turning])
    assert np.sign(without) != np.sign(slope)


def test_of_two_influential_words_the_one_that_turns_the_slope_is_named() -> None:
    """Without w2 the slope moves further, away from 0; without w4 it turns."""
    rng = np.random.default_rng(9)
    words = [f"w{place}" for place in range(10)]
    covariate, axis = rng.normal(size=10), np.eye(30)[0]
    pairs = zip(words, covariate, strict=True)
    vectors = {word: rng.normal(size=30) * 0.3 + 0.05 * value * axis for word, value in pairs}
    lists = {name: [f"{name}{place}" for place in range(6)] for name in "ab"}
    for name, side in (("a", axis), ("b", -axis)):
        for word in lists[name]:
            vectors[word] = rng.normal(size=30) * 0.2 + side
    table = bb.distance_table(vectors, {"p": words, **lists})
    values = {"x": dict(zip(words, covariate, strict=True))}
    fit = bb.fit(table, covariates=values, random_seed=1, progress=False, draws=500)
    (doubt,) = (doubt for doubt in bb.covariate_effect(fit).doubts if doubt.kind == "influence")
    assert doubt.numbers["word"] == "w4"
