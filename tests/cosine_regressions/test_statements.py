"""Statements of a cosine regression: numbers of small frames, by hand."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import xarray as xr

from bayesbias.cosine_regressions.statements import dependence, restrictions, weak_data


def coefficients() -> pd.DataFrame:
    """Return the coefficients of a model with two terms, and of the one that has two more."""
    rows = [
        ("constrained", "b0", "intercept", 0.1, 0.0, 0.2, 0.1),
        ("constrained", "b3", "side", 0.3, 0.2, 0.4, 0.1),
        ("corrected_ratio", "b0", "intercept", 0.1, 0.05, 0.2, 0.1),
        ("corrected_ratio", "b3", "side", 0.5, 0.2, 0.8, 0.6),
        ("corrected_ratio", "b1", "LNW", -0.4, -0.7, -0.1, 0.2),
        ("corrected_ratio", "b2", "product", 0.1, -0.2, 0.4, 0.9),
    ]
    columns = ["model", "symbol", "term", "mean", "hdi_low", "hdi_high", "prior_share"]
    return pd.DataFrame(rows, columns=columns)


def test_restrictions_count_the_omitted_terms_whose_interval_excludes_0() -> None:
    parts = xr.Dataset({
        "comparison": ("draw", [0.5, 0.1, -0.2, 0.4]),
        "distortion": ("draw", [-0.2, -0.3, 0.1, 0.0]),
        "absolute distortion": ("draw", [0.2, 0.3, 0.1, 0.0]),
        "sum": ("draw", [0.3, -0.2, -0.1, 0.4]),
    })  # fmt: skip
    design: Any = SimpleNamespace(constrained=("b0", "b3"))
    statement = restrictions(parts, coefficients(), design, 0.89)
    assert statement.numbers == {
        "mean": 0.3,
        "hdi_low": 0.2,
        "hdi_high": 0.4,
        "comparison": pytest.approx(0.2),
        "distortion": pytest.approx(-0.1),
        "absolute distortion": pytest.approx(0.15),
        "opposite_signs": 0.25,
        "omitted": 2,
        "omitted_away_from_0": ["b1"],
    }
    assert "b1 (LNW)" in statement.text
    assert "89%" in statement.text


def test_weak_data_names_the_terms_that_are_mostly_prior() -> None:
    (statement,) = weak_data(coefficients())
    assert statement.numbers == {"b3": 0.6, "b2": 0.9}
    assert weak_data(coefficients().assign(prior_share=0.5)) == ()


def test_dependence_names_the_word_effects() -> None:
    built: Any = SimpleNamespace(effects=("target_word", "attribute_word"))
    assert "(target_word, attribute_word)" in dependence(built, True).text
    assert "word_effects=True" in dependence(built, False).text
    centroids: Any = SimpleNamespace(effects=())
    assert "word_effects" not in dependence(centroids, True).text
