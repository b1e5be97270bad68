"""The difference of two sources' CAM, on the pairs that both have: against SciPy, a bootstrap, and known truths."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.errors import MeasureError


def frames(
    seed: int, pairs: int = 300, *, shared: float = 0.0, slopes: tuple[float, float] = (0.5, 0.3)
) -> list[pd.DataFrame]:
    """Return the LARs of people and of two sources; `shared` is what the errors of the sources have in common."""
    rng = np.random.default_rng(seed)
    people, common, *errors = rng.standard_normal((4, pairs))
    labels = pd.DataFrame({"a": [f"a{pair}" for pair in range(pairs)], "b": [f"b{pair}" for pair in range(pairs)]})
    labels = labels.assign(sd=0.0, probability_of_direction=1.0, left_out="")
    sources = [
        slope * people + np.sqrt(1 - slope**2) * (np.sqrt(shared) * common + np.sqrt(1 - shared) * error)
        for slope, error in zip(slopes, errors, strict=True)
    ]
    return [labels.assign(lar=values) for values in (people, *sources)]


def test_the_difference_is_that_of_two_rank_correlations_on_the_common_pairs() -> None:
    people, first, second = frames(1)
    people["relation"] = ["IsA"] * 100 + ["RelatedTo"] * 200
    first.loc[:19, "left_out"] = "lost"
    second = second.iloc[:-30].rename(columns={"a": "b", "b": "a"})
    second["lar"] = -second["lar"]
    rows = bb.asymmetry.cam_difference(people, first, second).set_index("relation")
    by_hand = {}
    for name, places in (("IsA", range(20, 100)), ("RelatedTo", range(100, 270))):
        sides = [spearmanr(people["lar"][places], side[places]).statistic for side in (first["lar"], -second["lar"])]
        assert rows.loc[name, ["cam_first", "cam_second"]].tolist() == pytest.approx(sides)
        by_hand[name] = sides[0] - sides[1], len(places)
    assert rows["pairs"].to_dict() == {"RelatedTo": 170, "IsA": 80, "SA": 250, "SR": 80}
    whole = np.average([difference for difference, _ in by_hand.values()], weights=[80, 170])
    assert rows.loc["SA", "difference"] == pytest.approx(whole)
    assert rows.loc["SR", "difference"] == pytest.approx(by_hand["IsA"][0])


@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_the_sd_is_that_of_a_bootstrap_of_pairs(shared: float) -> None:
    data = frames(2, shared=shared)
    row = bb.asymmetry.cam_difference(*data).loc[0]
    rng = np.random.default_rng(3)
    people, first, second = (frame["lar"].to_numpy() for frame in data)
    repeats = []
    for _ in range(1500):
        rows = rng.integers(0, len(people), len(people))
        repeats.append(spearmanr(people[rows], first[rows]).statistic - spearmanr(people[rows], second[rows]).statistic)
    assert row["sd"] == pytest.approx(np.std(repeats), rel=0.12)
    apart = bb.asymmetry.cam(data[0], data[1]), bb.asymmetry.cam(data[0], data[2])
    widths = [(frame["hdi_high"] - frame["hdi_low"])[0] for frame in apart]
    narrower = (row["hdi_high"] - row["hdi_low"]) / np.hypot(*widths)
    assert narrower < 0.6 if shared else 0.85 < narrower < 1.1


@pytest.mark.slow
@pytest.mark.parametrize("slopes", [(0.4, 0.4), (0.5, 0.2)])
def test_its_interval_holds_the_truth(slopes: tuple[float, float]) -> None:
    """Spearman's correlation of Normal variables is 6 / pi arcsin(rho / 2) (Pearson 1907)."""
    truth = np.subtract(*(6 / np.pi * np.arcsin(np.array(slopes) / 2)))
    repeats, pairs = 400, 60
    people, first, second = frames(1, repeats * pairs, shared=0.5, slopes=slopes)
    # Each study is a relation of one table, which takes a tenth of the time of as many tables.
    people["relation"] = np.repeat([f"study {number}" for number in range(repeats)], pairs)
    rows = bb.asymmetry.cam_difference(people, first, second).query("relation != 'SA'")
    assert rows["pairs"].tolist() == [pairs] * repeats
    held = ((rows["hdi_low"] < truth) & (truth < rows["hdi_high"])).mean()
    assert held == pytest.approx(HDI_PROB, abs=3 * np.sqrt(HDI_PROB * (1 - HDI_PROB) / repeats))


def test_a_source_and_itself_do_not_differ() -> None:
    people, first, _ = frames(4)
    row = bb.asymmetry.cam_difference(people, first, first).loc[0]
    assert row[["difference", "sd", "hdi_low", "hdi_high"]].tolist() == pytest.approx([0, 0, 0, 0])
    assert row["probability_of_direction"] == 0.5


def test_too_few_common_pairs_and_sources_that_do_not_vary() -> None:
    people, first, second = frames(5, 30)
    with pytest.raises(MeasureError, match="5 pairs"):
        bb.asymmetry.cam_difference(people, first.head(20), second.tail(15))
    with pytest.raises(MeasureError, match="second are all 2"):
        bb.asymmetry.cam_difference(people, first, second.assign(lar=2.0))
