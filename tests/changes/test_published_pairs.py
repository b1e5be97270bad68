"""Comparisons of the published vectors with their debiased form, against plain averages of the authors' tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.changes.compare import compare_embeddings


def plain_average(rows: pd.DataFrame) -> float:
    """Return the mean distance of some pairs, with equal weights of lists, words of a group, and groups."""
    distances = rows.astype(dict.fromkeys(["protected_group", "protected_word", "attribute_group"], str))
    distances = distances.groupby(["protected_group", "protected_word", "attribute_group"])["cosine_distance"].mean()
    for levels in (["protected_group", "protected_word"], ["protected_group"]):
        distances = distances.groupby(level=levels).mean()
    return float(distances.mean())


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.DuplicatesWarning", "ignore::bayesbias.errors.LostWordsWarning")
@pytest.mark.truth
@pytest.mark.parametrize(
    "study",
    [
        "race",
        "gender",  # all its words are equalized in pairs, and tied
        "religion",
    ],
)
def test_published_pairs(study: str, shared: Path) -> None:
    """The authors' debiasing of Reddit vectors: hard, with equalized words."""
    folder = shared / "data" / "published" / "tables"
    before, after = (bb.read_table(folder / f"{study}_reddit_{kind}_pair.csv.gz") for kind in ("original", "debiased"))
    comparison = compare_embeddings({"original": before, "debiased": after}, random_seed=1)
    change = comparison.distances.query("protected_word == ''").set_index("connection")
    # Plain averages of the pairs, and what the model makes of them.
    for connection, row in change.iterrows():
        averages = [plain_average(table[table["connection"] == connection]) for table in (before, after)]
        assert row["observed"] == pytest.approx(averages[1] - averages[0])
        assert row["mean"] == row["observed"]
    assert change.loc["associated", "hdi_low"] > 0
    assert set(comparison.facts["equalized"]["debiased"][0]) == set(before["protected_word"])
    contrasts = comparison.changes.query("protected_word == '' and protected_group == ''").set_index("contrast")
    contrast = contrasts.loc["associated - different"]
    after_contrast = comparison.contrasts.query("condition == 'debiased'").iloc[0]
    assert after_contrast["hdi_low"] < 0 < after_contrast["hdi_high"]
    # Beside the paired t interval of the words' observed contrasts, which knows nothing of the uncertainty of each.
    moves = (after["cosine_distance"] - before["cosine_distance"]).groupby(
        [before["protected_word"].astype(str), before["connection"].astype(str)]
    )
    by_word = moves.mean().unstack()
    plain = by_word["associated"] - by_word["different"]
    se = plain.std(ddof=1) / np.sqrt(len(plain))
    assert contrast["mean"] == pytest.approx(plain.mean(), abs=0.5 * se)
    # It can be smaller: effects of attribute words, which the model knows, are part of how observed contrasts differ.
    assert 0.6 < contrast["sd"] / se < 2
    assert contrasts.loc["associated - neutral", "hdi_low"] > 0
