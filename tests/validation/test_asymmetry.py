"""What `validation/asymmetry` keeps: coverage in short, and the tables that its text shows."""

from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from bayesbias.base.checks import HDI_PROB
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "asymmetry"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("asymmetry", "make_asymmetry")


@pytest.mark.slow
@pytest.mark.parametrize("world", [("zipf", 150, 2), ("log-normal", 40, 1)])
def test_intervals_of_ratios_hold_what_they_say_in_worlds_that_the_prior_does_not_know(
    script: ModuleType, world: tuple[str, int, int]
) -> None:
    found = script.intervals(*world, np.random.default_rng(21))
    both = found[found["seen"] == "both"]
    # Pairs of one world share words: kept worlds differ by 0.01.
    assert both["held"].mean() == pytest.approx(HDI_PROB, abs=0.04)
    assert found.loc[found["seen"] == "one", "held"].mean() > HDI_PROB - 0.04
    sure = found[found["direction"] >= 0.95]
    assert sure["right"].mean() == pytest.approx(sure["direction"].mean(), abs=0.015)


@pytest.mark.slow
def test_intervals_of_means_and_correlations_hold_what_they_say(script: ModuleType) -> None:
    rng = np.random.default_rng(22)
    held = pd.DataFrame([script.study(True, 200, False, rng) for _ in range(60)])
    # Sixty studies of three relations: 180 intervals, of which some share little.
    assert (held.mean() - HDI_PROB).abs().max() < 3.5 * np.sqrt(HDI_PROB * (1 - HDI_PROB) / 180)


def test_made_worlds_are_what_they_say(script: ModuleType) -> None:
    rng = np.random.default_rng(23)
    for kind in script.WORLDS:
        truth = script.world(kind, rng)
        assert ((truth > 0) == (truth > 0).T).all() or kind == "dirichlet"  # where some underflow
        np.testing.assert_allclose(truth.sum(axis=1), 6 / 7)
        norms = script.norms(truth, 50, 2, rng)
        assert norms["count"].min() == 2
        assert norms.groupby("cue")["count"].sum().max() <= 50


def numbers_of_readme() -> dict[tuple[str, ...], list[float]]:
    """Labels of the rows of the README's tables, and their numbers."""
    found = {}
    for line in (KEPT / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        numeric = [cell for cell in cells if _number(cell) is not None and "." in cell]
        if line.startswith("| ") and len(numeric) >= 3:
            found[tuple(cells[: len(cells) - len(numeric)])] = list(map(float, numeric))
    return found


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def test_readme_shows_the_tables() -> None:
    shown = numbers_of_readme()
    norms = pd.read_csv(KEPT / "norms.csv").astype({"participants": str, "least_count": str})
    expected: dict[tuple[str, ...], list[float]] = {
        (row["world"], row["participants"], row["least_count"], row["seen"]): [
            row[name] for name in ("coverage", "jeffreys", "clear_said", "clear_right")
        ]
        for row in norms.to_dict("records")
    }
    statistics = pd.read_csv(KEPT / "statistics.csv").astype({"pairs": str})
    expected |= {
        (row["words"], row["pairs"], row["tails"]): [
            row[name] for name in ("alar", "alar_pooled", "cam", "cam_corrected")
        ]
        for row in statistics.to_dict("records")
    }
    agreement = pd.read_csv(KEPT / "agreement.csv")
    whole = agreement[agreement["relation"] == "SA"]
    expected |= {
        (row["source"], row["seen"]): [row[name] for name in ("cam", "hdi_low", "hdi_high", "cam_corrected")]
        for row in whole.to_dict("records")
    }
    assert shown.keys() == expected.keys()
    for key, numbers in shown.items():
        np.testing.assert_allclose(numbers, expected[key], atol=0.00051 if len(key) > 2 else 0.0051, err_msg=str(key))


def test_the_paper_s_numbers_are_those_of_its_tables() -> None:
    """The column FA of tables 1, 2 and 5: a few cells by hand."""
    paper = pd.read_csv(KEPT / "paper.csv").set_index("relation")
    assert paper.loc["IsA", ["pairs", "alar", "word2vec", "glove"]].tolist() == [342, 31.59, 0.23, 0.44]
    assert paper.loc["SA", ["word2vec", "context", "glove"]].tolist() == [0.17, 0.29, 0.39]
