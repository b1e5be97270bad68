"""The single numbers of a page: those of the measures, and why there are none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.delivery.page.blocks import Paragraph, Table
from bayesbias.delivery.page.fit.single_numbers import single_numbers_section
from bayesbias.metrics.associations.weat import weat
from bayesbias.reports.fit_report import FitReport, table_of


def about(fit: xr.DataTree) -> FitReport:
    return FitReport(fit=fit, table=table_of(fit, None), comparison=None, rope=None, hdi_prob=0.89, random_seed=1)


def test_weat_is_that_of_the_embedding() -> None:
    """The measure from vectors goes another way than the page, which has only the distances."""
    study = replace(bb.load_study("weat7"), human="none", neutral="none")
    embedding = bb.load_embedding(
        bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), words=study.words, case=("exact", "lower")
    )
    fit = bb.fit(bb.distance_table(embedding, study), "hierarchical", draws=50, chains=2, random_seed=1)
    section = single_numbers_section(about(fit))
    tables = [block for block in section.blocks if isinstance(block, Table)]
    (numbers,) = [block for block in tables if block.caption.startswith("WEAT: math and arts against male and female")]
    expected = weat(embedding, study, statistic="mean")
    assert numbers.rows[0][1] == f"{expected.effect_size:+.3f}"
    assert numbers.rows[2][1] == f"{expected.p_value:.4f}"
    assert np.isfinite(expected.effect_size)
    (mac,) = [block for block in tables if block.caption.startswith("MAC")]
    assert mac.rows[1][0] == "raw"


def test_weat_says_why_it_is_not_shown(table: pd.DataFrame) -> None:
    one = table[table["protected_group"] == "math"]
    section = single_numbers_section(about(bb.fit(one, "hierarchical", draws=50, chains=2, random_seed=1)))
    texts = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert any(
        text == "WEAT is not shown: it compares two groups of protected words, and there are 1." for text in texts
    )
    assert any(text.startswith("Two groups are not tested") for text in texts)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda table: table.iloc[1:], "The table lacks 1 of 256 pairs of words: math - male."),
        (lambda table: table[table["attribute_group"] != "female"], "associates 'arts' with 0 attribute groups"),
    ],
)
def test_weat_says_what_is_missing(table: pd.DataFrame, change: object, reason: str) -> None:
    fit = bb.fit(change(table), "hierarchical", draws=50, chains=2, random_seed=1)  # type: ignore[operator]
    texts = [block.text for block in single_numbers_section(about(fit)).blocks if isinstance(block, Paragraph)]
    assert any(text.startswith("WEAT is not shown: ") and reason in text for text in texts), texts
