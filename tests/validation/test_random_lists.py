"""What `validation/random_lists` keeps: the text shows the tables; the script runs; its oracle keeps its promise."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "random_lists"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("random_lists", "random_lists")


def test_readme_shows_the_tables(script: ModuleType) -> None:
    table = pd.read_csv(KEPT / "claims.csv")
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    for line in script.markdown(table).splitlines():
        assert line in text


def test_the_texts_name_the_range_of_claims() -> None:
    table = pd.read_csv(KEPT / "claims.csv")
    null = table[(table["gap"] == 0) & (table["vectors"] != "all")].assign(percent=lambda rows: 100 * rows["claims"])
    least, most = (null.groupby("method")["percent"].agg(which).round().astype(int) for which in ("min", "max"))
    others = ["crossed_per_list", "hierarchical"]
    package = " ".join((VALIDATION.parent / "docs" / "guide" / "models.md").read_text(encoding="utf-8").split())
    assert f"in {least[others].min()} to {most[others].max()} % of the samples" in package
    assert f"and the default in {least['multivariate']} to {most['multivariate']} %" in package
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    assert f"(at most {most['multivariate']} ± " in text
    own = null[null["method"] == "multivariate"]
    for name in ("these_words", "word", "protected_group"):
        assert f"at most {100 * own[f'{name}_claims'].max():.0f} ± " in text
        # No more than is promised, within three Monte Carlo errors, in any cell.
        assert (own[f"{name}_claims"] < 0.11 + 3 * own[f"{name}_claims_se"]).all()


def test_the_text_says_the_means_over_all_cells(script: ModuleType) -> None:
    text = " ".join((KEPT / "README.md").read_text(encoding="utf-8").split())
    table = pd.read_csv(KEPT / "claims.csv")
    means = script.pooled(table).set_index(["method", "gap", "controls"]).sort_index()

    def both(method: str, column: str) -> list[float]:
        return [means.loc[(method, 0.0, controls), column] for controls in (0, 100)]

    without, with_controls = both("multivariate", "sd_to_error")
    said = f"is {without:.2f} times the actual error without controls and {with_controls:.2f} with 100"
    these = both("multivariate", "these_words_sd_to_error")
    assert f"{said} ({these[0]:.2f} and {these[1]:.2f} for these words)" in text
    assert "oracle ({:.2f} and {:.2f}) knows".format(*both("oracle", "sd_to_error")) in text
    power = {gap: 100 * means.loc[("multivariate", gap), "claims"] for gap in (-0.03, -0.08)}
    small, large = ([f"{value:.0f}" for value in power[gap]] for gap in (-0.03, -0.08))
    assert f"{' to '.join(dict.fromkeys(small))} % for a gap of -0.03 and {' to '.join(large)} % for -0.08" in text
    behind = 100 * means.loc[("oracle_plain_difference", -0.03), "claims"] - power[-0.03]
    assert f"That is {behind.mean():.0f} points behind" in text
    null = table[(table["gap"] == 0) & (table["method"] == "multivariate")]
    shares = {name: 100 * null[name].mean() for name in ("claims", "these_words_claims", "protected_group_claims")}
    said = "{:.0f} % for words like these, {:.0f} % for these words, {:.0f} % for groups".format(*shares.values())
    assert f"{said} and {100 * null['word_claims'].mean():.0f} % for single words" in text


def test_who_knows_the_covariance_claims_as_often_as_promised(script: ModuleType) -> None:
    """Lists of the bundled vectors: a difference with its known sd, Normal by the mean of many distances."""
    cell = next(script.cells(Path(), ["bundled"]))
    rows = [list(script.oracle_rows(cell, cell.distances(sample)))[2] for sample in range(300)]
    claims = np.mean([row["low"] > 0 or row["high"] < 0 for row in rows])
    assert abs(claims - 0.11) < 4 * np.sqrt(0.11 * 0.89 / 300)
    error = np.sqrt(np.mean([row["mean"] ** 2 for row in rows]))
    assert rows[0]["sd"] == pytest.approx(error, rel=4 / np.sqrt(2 * 300))


@pytest.mark.slow
def test_script_in_short(script: ModuleType, tmp_path: Path) -> None:
    cells = [cell for cell in script.cells(Path(), ["bundled"]) if cell.words in ("gender", "religion")]
    script.run(cells, 2, tmp_path)
    fits = script.read_fits(tmp_path)
    assert len(fits) == 2 * (2 * 7 + 2 * 6)
    script.run(cells, 2, tmp_path)
    pd.testing.assert_frame_equal(script.read_fits(tmp_path), fits)
    table = script.summarise(fits)
    assert set(table["method"]) >= {"multivariate", "crossed_per_list", "hierarchical", "oracle", "weat"}
    # With a gap added, more is claimed; a refit of the shifted distances says the same as the shifted fit.
    claims = table[table["method"] == "multivariate"].groupby("gap")["claims"].mean()
    assert claims[-0.08] > claims[0.0]
    assert script.refits(cells[:1], 1)[["mean", "low", "high"]].abs().to_numpy().max() < 0.5
