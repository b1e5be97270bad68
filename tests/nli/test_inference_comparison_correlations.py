"""Correlations of answers with measures of the vectors."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError
from tests.nli.made import compared

CONTRASTS = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1, "e": 0.0}


@pytest.fixture(scope="module")
def comparison() -> bb.nli.InferenceComparison:
    return compared(CONTRASTS)


def test_they_are_pearsons_of_the_means(comparison: bb.nli.InferenceComparison) -> None:
    measures = pd.DataFrame({"contrast": CONTRASTS, "other": {"a": 1, "b": 5, "c": 2, "d": 4}})
    rows = bb.nli.correlations(comparison, measures, quantity="male - female").set_index("measure")
    values = comparison.values.query("quantity == 'male - female' and scope == 'these_words'")["mean"].to_numpy()
    assert rows.loc["contrast", "correlation"] == pytest.approx(np.corrcoef(list(CONTRASTS.values()), values)[0, 1])
    assert rows["embeddings"].tolist() == [5, 4]
    r, n = rows.loc["other", ["correlation", "embeddings"]]
    assert tuple(rows.loc["other", ["hdi_low", "hdi_high", "probability_of_direction"]]) == (
        bb.estimates.correlation_interval(float(r), int(n))
    )
    assert 0.9 < rows.loc["contrast", "reliability"] < 1


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ({"m": {"a": 1, "b": 2, "c": 3}}, "'m' .* 3 .* 4 "),
        ({"m": dict.fromkeys("abcde", 1)}, "'m' .* 5 .* 1 "),
        ({"m": {"a": 1, "x": 2}}, "measures .* x, "),
        ({"m": {"a": "one", "b": 2}}, "'m'"),
        ({"m": {"a": np.inf, "b": 2.0}}, "'m'"),
    ],
)
def test_what_has_no_correlation(
    comparison: bb.nli.InferenceComparison, measures: dict[str, object], message: str
) -> None:
    with pytest.raises(MeasureError, match=message):
        bb.nli.correlations(comparison, pd.DataFrame(measures))


def test_numbers_too_large_or_small_to_square(comparison: bb.nli.InferenceComparison) -> None:
    plain = bb.nli.correlations(comparison, pd.DataFrame({"m": CONTRASTS}))
    for scale in (1e300, 1e-300):
        scaled = bb.nli.correlations(
            comparison, pd.DataFrame({"m": {name: contrast * scale for name, contrast in CONTRASTS.items()}})
        )
        assert scaled.loc[0, "correlation"] == pytest.approx(plain.loc[0, "correlation"])
        assert scaled.loc[0, "hdi_low"] == pytest.approx(plain.loc[0, "hdi_low"])


def test_wrong_arguments(comparison: bb.nli.InferenceComparison) -> None:
    with pytest.raises(ArgumentError, match="measures"):
        bb.nli.correlations(comparison, {"m": CONTRASTS})  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="quantity"):
        bb.nli.correlations(comparison, pd.DataFrame({"m": CONTRASTS}), quantity="E")
