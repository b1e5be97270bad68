"""The comparison with NUTS: its kept table says what its text says, and it runs."""

from pathlib import Path

import pandas as pd
import pytest

from tests.models.tables import small
from tests.validation.numbers import prose, unexplained
from tests.validation.scripts import load_script

FOLDER = Path(__file__).resolve().parents[2] / "validation" / "nuts"


def test_the_readme_shows_the_table() -> None:
    kept, text = pd.read_csv(FOLDER / "nuts.csv"), (FOLDER / "README.md").read_text(encoding="utf-8")
    shown = [line for line in text.splitlines() if line.startswith("|") and "errors |" in line]
    assert len(shown) == len(kept)
    for line, row in zip(shown, kept.to_dict("records"), strict=True):
        assert line.endswith(
            f"| {row['rows']:,} | {row['own_seconds']:.1f} | {row['own_ess']:,.0f} | {row['nuts_seconds']:.1f} | "
            f"{row['nuts_ess']:,.0f} | {row['times_faster']:.0f} | {row['overall_mean_difference']:.3f} sd | "
            f"{row['overall_sd_ratio']:.3f} | {row['worst_mean_errors']:.1f} errors | "
            f"{row['worst_sd_errors']:.1f} errors |"
        )
    assert kept["overall_mean_difference"].max() < 0.05
    assert (kept["overall_sd_ratio"] - 1).abs().max() < 0.05
    assert kept["nuts_divergent"].eq(0).all()


def test_the_text_says_the_numbers_of_the_table_and_no_others() -> None:
    kept = pd.read_csv(FOLDER / "nuts.csv")
    means, sds = (kept[f"worst_{name}_errors"] for name in ("mean", "sd"))
    computed = [
        f"differ by at most {kept['overall_mean_difference'].max():.2f} posterior sds and the sds by at most "
        f"{100 * (kept['overall_sd_ratio'] - 1).abs().max():.0f} %",
        f"Of all {kept['contrasts'].min()} to {kept['contrasts'].max()} contrasts, the largest difference of means is "
        f"{means.min():.1f} to {means.max():.1f} Monte Carlo errors",
        f"that of sds is {sds.min():.1f} to {sds.max():.1f}:",
        f"R-hat of {kept['nuts_r_hat'].max():.3f} at most",
        f"**{kept['times_faster'].min():.0f} to {kept['times_faster'].max():.0f} times",
        "not the 300 that were aimed at",
    ]
    assert unexplained(prose(FOLDER / "README.md"), computed) == []


@pytest.mark.truth
@pytest.mark.slow
def test_the_script_compares_a_table() -> None:
    row = load_script("nuts", "compare_nuts").compared(small(6, 6), draws=500, tune=500)
    assert row["overall_mean_difference"] < 0.2
    assert row["worst_mean_errors"] < 5
    assert row["own_ess"] > 400
