"""Sentences on effects of factors: what is settled, in which scope and direction, and what a paper says."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.reports.posterior.factor_statements import (
    FactorDesign,
    Lean,
    answer_statement,
    effect_statements,
    effects_together,
    factors_sentence,
    legend_text,
)
from bayesbias.studies.factor_design import crossing_of
from bayesbias.tables.measures import COSINE_DISTANCE, SURPRISAL
from tests.reports.posterior.made_factors import made_fit, made_study, made_table

RACE = {"black": ["bw", "bm"], "white": ["ww", "wm"]}
GENDER = {"women": ["bw", "ww"], "men": ["bm", "wm"]}
DESIGN = FactorDesign(crossing_of({"race": RACE, "gender": GENDER}), (Lean("good - bad", {"good": 1.0, "bad": -1.0}),))


def _row(source: str, effect: str, low: float, high: float, **changes: Any) -> dict[str, Any]:
    row = {
        **{"lean": "good - bad", "kind": "interaction" if " x " in source else "main effect", "source": source},
        **{"effect": effect, "within": "", "mean": (low + high) / 2, "hdi_low": low, "hdi_high": high},
        **{"these_words_low": low, "these_words_high": high, "borderline": False},
    }
    return row | changes


def test_an_effect_is_told_with_both_scopes_and_its_direction() -> None:
    rows = [
        _row("race", "black - white", 0.01, 0.05),
        _row("gender", "women - men", -0.02, 0.04, these_words_low=0.005),
        _row("race x gender", "(black - white) x (women - men)", -0.001, -0.08, borderline=True),
    ]
    race, gender, both = (one.text for one in effect_statements(pd.DataFrame(rows), DESIGN, COSINE_DISTANCE))
    assert race == (
        "race, black - white: the lean good - bad differs by +0.030 in cosine distance, +0.010 to +0.050 for words "
        "like these; +0.010 to +0.050 for these words. 'white' leans more to good, relative to bad, than 'black'."
    )
    assert "for words like these, not settled, but settled for these words; +0.005 to +0.040" in gender
    assert "borderline" in both
    assert "leans more" not in gender + both
    answer = answer_statement(pd.DataFrame(rows))
    assert answer.text == "Leans are settled to differ by race. Not settled: gender and race x gender."
    assert answer.numbers == {"settled": ["race"], "not_settled": ["gender", "race x gender"]}
    open_ones = answer_statement(pd.DataFrame(rows[1:])).text
    assert open_ones == "It is not settled whether leans differ by gender and race x gender."


def test_settled_effects_of_many_are_judged_together() -> None:
    rows = [_row(f"factor {place}", "a - b", -0.02, 0.03, probability_of_direction=0.6) for place in range(9)]
    rows[3] |= {"hdi_low": 0.02, "probability_of_direction": 0.9999}
    rows.append(rows[3] | {"kind": "simple effect", "source": "other"})
    (statement,) = effects_together(pd.DataFrame(rows), 0.89)
    assert [*statement.numbers["wrong"]] == statement.numbers["chosen"] == ["factor 3: a - b"]
    assert statement.text.startswith("The probability that the settled comparison has no difference or the other sign")
    assert effects_together(pd.DataFrame(rows[:4]), 0.89) == ()


def test_of_many_effects_the_settled_ones_are_told() -> None:
    rows = [_row("race", "black - white", -0.1, 0.1) for _ in range(20)]
    rows[17] |= {"hdi_low": 0.02}
    statements = effect_statements(pd.DataFrame(rows), DESIGN, COSINE_DISTANCE)
    assert len(statements) == 12
    assert statements[0].numbers["hdi_low"] == 0.02


def test_several_leans_are_named() -> None:
    rows = [_row("race", "black - white", 0.01, 0.05, lean=name) for name in ("good - bad", "near - far")]
    design = replace(DESIGN, leans=(*DESIGN.leans, Lean("near - far", {"near": 1.0, "far": -1.0})))
    first, second = effect_statements(pd.DataFrame(rows), design, SURPRISAL)
    assert ": the lean near - far differs by +0.030 nats," in second.text
    assert "the first side of the lean" in legend_text(design, SURPRISAL)
    assert first.numbers["lean"] == "good - bad"


def test_weights_and_trends_are_stated() -> None:
    ages = {"young": ["bw"], "middle": ["bm"], "old": ["ww"]}
    numbers = {"young": 20, "middle": 45, "old": 70}
    weights = {"young": 2, "middle": 1, "old": 1}
    crossing = crossing_of({"age": ages}, {"age": numbers}, {"age": weights})
    design = FactorDesign(crossing, DESIGN.leans)
    assert "have the weights of the study (age: young 50%, middle 25%, old 25%)" in legend_text(design, COSINE_DISTANCE)
    assert "A linear trend is the slope" in legend_text(design, COSINE_DISTANCE)
    text = factors_sentence(design, COSINE_DISTANCE)
    assert "with the weights of the study for levels" in text
    assert "age is ordered" in text
    plain = factors_sentence(DESIGN, COSINE_DISTANCE)
    assert "race (black, white) x gender (women, men) in 4 cells" in plain
    assert "weigh the same" in plain
    assert "ordered" not in plain
    assert "whatever its number of words" in legend_text(DESIGN, COSINE_DISTANCE)


@pytest.mark.slow
def test_sentences_say_which_sources_are_settled_and_in_which_direction() -> None:
    found = bb.factor_effects(made_fit(made_study(), {"g00": 3.0, "g01": 3.0}, draws=1000))
    text = str(found)
    assert found.contents.answer.startswith("Leans are settled to differ by f0.")
    assert "'l0' leans more to near, relative to far, than 'l1'." in text
    statement = next(one for one in found.statements if one.numbers["source"] == "f0")
    assert statement.numbers["mean"] == found.effects["mean"].iloc[1] < 0
    nothing = bb.factor_effects(bb.fit(made_table(made_study(), seed=3), draws=1000, random_seed=1, progress=False))
    assert nothing.contents.answer.startswith("It is not settled whether leans differ by f0")
