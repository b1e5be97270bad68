"""Sentences on slopes and their changes, for rows with a plain conclusion."""

from typing import Any

import pandas as pd
import pytest

from bayesbias.changes.readings import change_mark
from bayesbias.changes.slope_statements import (
    slope_answer,
    slope_claim,
    slope_estimate,
    slope_origins,
    slope_statements,
)
from bayesbias.tables.measures import COSINE_DISTANCE

SIDES = ("female", "male")
SLOPES = pd.DataFrame({"contrast": ["associated - different"]})


@pytest.mark.parametrize(
    ("reading", "text", "mark"),
    [
        ("smaller", "the slope is smaller in 1990.", "● → smaller"),
        ("larger", "the slope is larger in 1990.", "● → larger"),
        ("changed", "the slope changed in 1990, though neither slope is settled.", "● → changed"),
        ("opposite sign", "the slope has the opposite sign in 1990.", "● → opposite sign"),
        ("borderline", "the slope has a borderline change in 1990.", "⊙ → borderline"),
        ("not settled", "the slope has no settled change in 1990.", "○ not settled"),
    ],
)
def test_a_change_is_called_smaller_or_larger(reading: str, text: str, mark: str) -> None:
    slope = {"mean": -0.1, "settled": True, "borderline": False, "period": "1990"}
    assert slope_answer([slope, slope, {"reading": reading}], "share", SIDES, COSINE_DISTANCE).endswith(text)
    assert change_mark({"reading": reading, "mean": 0.1}) == mark


def test_names_of_covariates_are_written_as_people_write_them() -> None:
    row = {"contrast": "associated - different", "covariate": "share_of_women", "unit": "one unit", "words": 9}
    row |= {"mean": -0.1, "hdi_low": -0.2, "hdi_high": -0.05, "settled": True, "borderline": False}
    rows = [row | {"period": name, "reading": ""} for name in ("1910", "1990")]
    rows.append(row | {"period": "1910 to 1990", "reading": "smaller"})
    name = "share_of_women"
    statements = slope_statements(pd.DataFrame(rows), SIDES, {}, COSINE_DISTANCE)
    texts = [
        slope_answer(rows, name, SIDES, COSINE_DISTANCE),
        slope_estimate(rows, name, 0.89, COSINE_DISTANCE),
        *map(str, statements),
    ]
    others: tuple[dict[str, bool], ...] = ({}, {"settled": False}, {"borderline": True})
    texts += [slope_claim(row | change, name, SIDES, COSINE_DISTANCE) for change in others]
    assert [text for text in texts if "share of women" not in text] == []


@pytest.mark.parametrize(
    ("direction", "changed", "expected"),
    [
        ("equal", ["share"], "comes from the numbers of 'share' alone"),
        ("equal", [], "and so are the numbers of 'share'"),
        ("farther", ["share"], "can come from either"),
        ("farther", [], None),
    ],
)
def test_what_changed_a_slope_is_said(direction: str, changed: list[str], expected: str | None) -> None:
    rows = {"protected_word": "", "first": "1910", "second": "1990", "direction": direction}
    distances = pd.DataFrame([rows | {"connection": name} for name in ("associated", "different")])
    facts: dict[str, Any] = {
        "conditions": ["1910", "1990"],
        "word_covariates": ["share"],
        "changed_covariates": changed,
    }
    origins = slope_origins(SLOPES, distances, facts)
    assert expected in origins["share"] if expected else origins == {}
