"""What `validation/templates` keeps: the text shows the tables, the error over templates is right, the script runs."""

import pandas as pd
import pytest
from scipy import stats

from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "templates"
TEXT = (KEPT / "README.md").read_text(encoding="utf-8")
FIXED, DRAWN = (pd.read_csv(KEPT / name) for name in ("fixed.csv", "drawn.csv"))


def test_the_text_shows_the_tables() -> None:
    script = load_script("templates", "trial")
    for frame in (FIXED, DRAWN):
        assert script.markdown(frame, 4) in TEXT
    text = " ".join(TEXT.split())
    ratio = FIXED["context_sd"] / FIXED["error"]
    assert f"{FIXED['coverage'].min():.2f} to {FIXED['coverage'].max():.2f} of the intervals" in text
    assert f"`context_sd` is {ratio.min():.2f} to {ratio.max():.2f} times" in text
    assert f"{stats.t.ppf(0.945, 1) / stats.norm.ppf(0.945):.1f} times as narrow" in text
    biases = FIXED["bias"] / FIXED["question"].map(DRAWN.groupby("question")["truth"].first().abs())
    for count in (2, 14):
        first, second = biases[FIXED["templates"] == count]
        assert f"{first:.2f} and {second:.2f}" in text
    few = DRAWN[DRAWN["templates"] <= 4]
    assert f"cover in {few['coverage'].mean():.2f} of the cases" in text
    assert f"with it in {few['coverage_with'].mean():.2f}" in text
    work = DRAWN[DRAWN["question"] == "gendered work"].set_index("templates")
    for count, words in ((2, "from {:.2f} to {:.2f}"), (14, "{:.2f} and {:.2f}")):
        assert words.format(*work.loc[count, ["claims", "claims_with"]]) in text


def test_intervals_with_the_error_hold_the_truth() -> None:
    assert FIXED["coverage"].between(0.84, 0.95).all()
    assert (DRAWN["coverage_with"] >= 0.89).all()
    assert (FIXED["bias"] > 0).all()  # the truths are below 0: few sentences make contrasts smaller


@pytest.mark.slow
def test_script_in_short() -> None:
    script = load_script("templates", "trial")
    rows = script.fixed_words(script.Population(), "gendered work", 8, 40)
    # Of 40 tables of two draws of words, with a margin of four standard errors.
    assert rows["covered"].mean() >= 0.69
    assert rows["sd"].mean() == pytest.approx(FIXED.loc[2, "context_sd"], rel=0.5)
