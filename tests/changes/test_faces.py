"""One change has one answer: `compare_embeddings`, `trend` and `debias_report` say the same of the same tables."""

import warnings
from typing import Any

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.changes.result import Changes
from bayesbias.errors import LostWordsWarning

SETTINGS: dict[str, Any] = {"draws": 1000, "random_seed": 1, "progress": False}


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    """Real vectors before and after hard debiasing, which equalizes words and shifts control words."""
    vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostWordsWarning)
        hard = bb.debias.HardDebias().fit(vectors, "gender_bolukbasi").transform(vectors)
        return {
            name: bb.distance_table(embedding, "weat7", max_lost=0.4)
            for name, embedding in (("original", vectors), ("hard", hard))
        }


@pytest.fixture(scope="module")
def comparison(tables: dict[str, pd.DataFrame]) -> Changes:
    return bb.compare_embeddings(tables, **SETTINGS)


def test_a_trend_of_two_periods_is_the_comparison(tables: dict[str, pd.DataFrame], comparison: Changes) -> None:
    moved = bb.trend(tables, **SETTINGS)
    for name in ("contrasts", "changes", "distances", "lacking"):
        pd.testing.assert_frame_equal(getattr(moved, name), getattr(comparison, name))
    texts = [str(one).replace("period", "condition").split() for one in (moved, comparison)]
    assert texts[0] == texts[1]
    for name in ("doubts", "answer", "estimate", "answers", "limits"):
        said, expected = (getattr(one.contents, name) for one in (moved, comparison))
        assert [str(one).replace("period", "condition") for one in said] == [str(one) for one in expected]


def test_equalized_words_and_shifted_controls_are_doubts_of_both(comparison: Changes) -> None:
    assert {"controls differ", "zero by construction", "lost words"} <= {doubt.kind for doubt in comparison.doubts}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_a_report_on_debiasing_has_the_rows_and_the_doubts_of_the_comparison(comparison: Changes) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    report = bb.debias_report(
        {"wikipedia": vectors},
        "weat7",
        ["hard"],
        sets="gender_bolukbasi",
        measures=["vocabulary_direct_bias"],
        max_lost=0.4,
        **SETTINGS,
    )
    (row,) = report.table.query("method == 'hard' and kind == 'association'").to_dict("records")
    change = comparison.changes.iloc[0]
    contrast = comparison.contrasts[comparison.contrasts["condition"] == "hard"].iloc[0]
    # Its seed is another one: numbers agree within the Monte Carlo error of 1,000 draws.
    assert row["change_observed"] == pytest.approx(change["observed"])
    assert row["observed"] == pytest.approx(contrast["observed"])
    assert [row["change_low"], row["change_high"]] == pytest.approx(
        [change["hdi_low"], change["hdi_high"]], abs=6 * max(change["low_se"], change["high_se"])
    )
    assert row["reading"] == change["reading"]
    (doubts,) = report.doubts.values()
    texts = {str(doubt) for doubt in doubts}
    kinds = [doubt for doubt in comparison.doubts if doubt.kind != "controls differ"]
    assert {str(doubt) for doubt in kinds} <= texts
    assert any("control" in text or "human words" in text for text in texts)
