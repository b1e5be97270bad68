"""What `validation/asymmetry` keeps: coverage in short, and the tables that its text shows."""

import json
import re
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from bayesbias.asymmetry.agreement import CLEAR
from bayesbias.asymmetry.asymmetry_report import COVERAGE
from bayesbias.base.checks import HDI_PROB
from tests.validation.numbers import listed, template_prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

STORED = VALIDATION / "asymmetry"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("asymmetry", "make_asymmetry")


@pytest.mark.slow
@pytest.mark.parametrize("world", [("zipf", 150, 2), ("log-normal", 40, 1), ("softmax, sharp", 150, 2)])
def test_intervals_of_ratios_hold_what_they_say_in_worlds_that_the_prior_does_not_know(
    script: ModuleType, world: tuple[str, int, int]
) -> None:
    frame = script.intervals(*world, np.random.default_rng(21))
    both, one = (frame[frame["seen"] == seen] for seen in ("both", "one"))
    # Pairs of one world share words: stored worlds differ by 0.01.
    assert both["held"].mean() == pytest.approx(HDI_PROB, abs=0.04)
    assert one["held"].mean() > HDI_PROB - 0.04
    if world[0] == "softmax, sharp":  # the former prior ignored the other direction
        assert one["before_held"].mean() < 0.75
    sure = frame[frame["direction"] >= 0.95]
    assert sure["right"].mean() == pytest.approx(sure["direction"].mean(), abs=0.015)


@pytest.mark.slow
def test_differences_of_cam_hold_what_they_say(script: ModuleType) -> None:
    rng = np.random.default_rng(24)
    studies = pd.DataFrame([script.difference(True, 30, (0.5, 0.2), rng) for _ in range(150)])
    assert studies["held"].mean() == pytest.approx(HDI_PROB, abs=3.5 * np.sqrt(HDI_PROB * (1 - HDI_PROB) / 150))
    assert studies["sd"].mean() / studies["error"].std() == pytest.approx(1, abs=0.25)


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
        assert ((truth > 0) == (truth > 0).T).all()
        totals = truth.sum(axis=1)
        np.testing.assert_allclose(totals[totals > 0], 6 / 7)
        assert (totals > 0).mean() > 0.95
        norms = script.norms(truth, 50, 2, rng)
        assert norms["count"].min() == 2
        assert norms.groupby("cue")["count"].sum().max() <= 50


def test_readme_is_the_template_filled_from_the_tables() -> None:
    assert (STORED / "README.md").read_text(encoding="utf-8") == load_script("asymmetry", "fill_text").filled()


def numbers_of_the_template(script: ModuleType) -> Iterator[str]:
    norms, statistics = (pd.read_csv(STORED / f"{name}.csv") for name in ("norms", "statistics"))
    worlds = load_script("asymmetry", "worlds")
    assert len(worlds.WORLDS) == norms["world"].nunique() == 9
    yield f"Nine worlds of {worlds.WORDS} words"
    many, *some, few = sorted(norms["participants"].unique(), reverse=True)
    least = norms.groupby("participants")["least_count"].unique().map(sorted).to_dict()
    assert least == {few: [1], **{participants: [1] for participants in some}, many: [1, 2]}
    yield f"Participants number {many}, {', '.join(map(str, some))} or {few}"
    yield f"counts from 1 or, with {many} participants, also from 2 on"
    yield f"no count of {many} people"
    assert "1,000 times rarer" in worlds.WORLDS["one way"]
    yield "1,000 times rarer"
    yield f"a probability of at least {CLEAR:g}"
    yield f"Three relations of {listed(statistics['pairs'])} pairs"
    yield f"where {statistics['pairs'].max()} pairs share words"
    yield f"with a correlation of {script.CORRELATION}"
    yield f"distribution with {script.DEGREES} degrees of freedom"
    dimensions, words = re.findall(r"\d+", load_script("random_lists", "random_list_cells").VECTORS["glove"])[1:]
    # The end is of the paper's own GloVe.
    yield f"({dimensions} dimensions, {int(words):,} words; the paper's has 300 and 1.9 million)"
    yield from ("tables 1, 2 and 5, column FA", "Beta(1/2, 1/2)", "too near to 0", "of length 1", "at length 1")


def test_the_template_says_the_numbers_of_the_design_and_no_others(script: ModuleType) -> None:
    assert (
        unexplained(
            template_prose(STORED / "template.md").replace("At length", "at length"), numbers_of_the_template(script)
        )
        == []
    )


def test_the_text_of_the_page_has_the_ranges_of_the_table() -> None:
    norms = pd.read_csv(STORED / "norms.csv")
    for seen, (low, high) in COVERAGE.items():
        shares = norms.loc[norms["seen"] == seen, "coverage"]
        assert low == pytest.approx(np.floor(shares.min() * 100) / 100)
        assert high == pytest.approx(np.ceil(shares.max() * 100) / 100)


def test_the_guide_quotes_the_tables() -> None:
    """Every decimal of the guide outside its code is a number of a table here."""
    text = (STORED.parents[1] / "docs" / "guide" / "asymmetry.md").read_text(encoding="utf-8")
    # A figure's caption, in italics, quotes what the page's code prints: tests/test_docs.py.
    prose = " ".join(re.sub(r"```.*?```|^\*[^*\s][^*]*\*$", "", text, flags=re.DOTALL | re.MULTILINE).split())
    fill = load_script("asymmetry", "fill_text")
    norms = fill.norms_texts()
    whole = fill.table("agreement")
    whole = whole[(whole["relation"] == "SA") & (whole["seen"] == "both")].set_index("source")
    google, unit = whole.loc["google_news"], whole.loc["google_news, unit length"]
    paper = fill.table("paper").set_index("relation")
    reverse = fill.table("prior")
    reverse = reverse[reverse["what"] == "reverse listed"]
    (low, high), (low_both, high_both) = COVERAGE["one"], COVERAGE["both"]
    clear = {world: fill.clear_rates(part) for world, part in fill.table("norms").groupby("world")}
    alike = clear.pop("softmax")
    right = [rates["right"] for rates in clear.values()]
    assert all(rates["right"] == pytest.approx(rates["said"], abs=0.005) for rates in clear.values())
    expected = [
        f"called clear if its probability is at least {CLEAR:g}. Of the clear directions of a world, {min(right):.3f} "
        f"to {max(right):.3f} are right",
        f"{alike['right']:.3f} of them are right where the probabilities say {alike['said']:.3f}",
        f"{low_both:.2f} to {high_both:.2f} of the pairs listed in both directions, and in {low:.2f} to {high:.2f} of "
        f"those listed in one (on average {norms['both_mean']} and {norms['one_mean']})",
        f"from {reverse['observed'].iloc[0]:.2f} for a count of 2 to {reverse['observed'].iloc[-1]:.2f} above 64",
        f"CAM with USF is {google['cam']:.2f} ({google['hdi_low']:.2f} to {google['hdi_high']:.2f}); at length 1 it is "
        f"{unit['cam']:.2f} ({unit['hdi_low']:.2f} to {unit['hdi_high']:.2f})",
        f"The paper's skip-gram has {paper.loc['SA', 'word2vec']:.2f}",
    ]
    for sentence in expected:
        assert sentence in prose
        prose = prose.replace(sentence, "")
    # 0.001 to 0.1 are thresholds, 3.0 and 4.0 versions of licences.
    assert set(re.findall(r"\d+\.\d+", prose)) <= {"0.001", "0.01", "0.1", "3.0", "4.0"}


def test_the_notebook_quotes_the_coverage() -> None:
    cells = json.loads((STORED.parents[1] / "notebooks" / "asymmetry.ipynb").read_text(encoding="utf-8"))["cells"]
    prose = " ".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    ranges = [f"{low:.2f} to {high:.2f}" for low, high in COVERAGE.values()]
    assert all(text in prose for text in ranges)
    numbers = set(re.findall(r"\d+\.\d+", prose))
    assert numbers <= {number for text in ranges for number in text.split(" to ")}


def test_the_paper_s_numbers_are_those_of_its_tables() -> None:
    """The column FA of tables 1, 2 and 5: a few cells by hand."""
    paper = pd.read_csv(STORED / "paper.csv").set_index("relation")
    assert paper.loc["IsA", ["pairs", "alar", "word2vec", "glove"]].tolist() == [342, 31.59, 0.23, 0.44]
    assert paper.loc["SA", ["word2vec", "context", "glove"]].tolist() == [0.17, 0.29, 0.39]
