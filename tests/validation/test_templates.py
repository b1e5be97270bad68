"""What `validation/templates` keeps: the text shows the tables, the error over templates is right, the script runs."""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayesbias.base.checks import HDI_PROB
from tests.validation.numbers import binomial_error, prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "templates"
FIXED, DRAWN = (pd.read_csv(KEPT / name) for name in ("fixed.csv", "drawn.csv"))


def numbers_of_words_that_stay() -> Iterator[str]:
    ratio, truth = FIXED["context_sd"] / FIXED["error"], FIXED["truth"].abs()
    yield f"{FIXED['coverage'].min():.2f} to {FIXED['coverage'].max():.2f} of the intervals"
    yield f"`context_sd` is {ratio.min():.2f} to {ratio.max():.2f} times"
    yield f"{stats.t.ppf(0.945, 1) / stats.norm.ppf(0.945):.1f} times as narrow"
    two, four, fourteen = (FIXED["templates"] == count for count in (2, 4, 14))
    plain = FIXED["plain_bias"] / truth
    yield "`plain_bias` is towards 0 in every row, {:.2f} and {:.2f} times the truth with two".format(*plain[two])
    yield "{:.2f} and {:.2f} with 14. What".format(*plain[fourteen])
    yield f"`bias` is at most {(FIXED['bias'].abs() / truth).max():.2f} times the truth"
    errors = FIXED["error"] / FIXED["plain_error"]
    yield "`error` is {:.2f} and {:.2f} times `plain_error` with two".format(*errors[two])
    yield "{:.2f} and {:.2f} times with four".format(*errors[four])


def numbers_of_drawn_words() -> Iterator[str]:
    few, many = (DRAWN[where] for where in (DRAWN["templates"] <= 4, DRAWN["templates"] >= 8))
    yield (
        f"cover in {few['coverage'].mean():.2f} of the cases on average (nominal {HDI_PROB}), with it in "
        f"{few['coverage_with'].mean():.2f}. With 8 and more sentences they cover in {many['coverage'].mean():.2f} and "
        f"{many['coverage_with'].mean():.2f}:"
    )
    work = DRAWN[DRAWN["question"] == "gendered work"].set_index("templates")[["claims", "claims_with"]]
    yield "claims of gendered work fall from {:.2f} to {:.2f}".format(*work.loc[2])
    yield "With 14 sentences they are {:.2f} and {:.2f}".format(*work.loc[14])


def numbers_of_settings() -> Iterator[str]:
    script = load_script("templates", "trial")
    run = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))
    with np.load(KEPT / "minilm.npz") as stored:
        words, sentences, components = stored["vectors"].shape
        lists, share = len(stored["lists"]), stored["share"].item()
    yield (
        f"gives to {words} nouns in each of {sentences} sentences, reduced to {components} principal components "
        f"({share:.3f} of the squared length)"
    )
    yield f"all {words // lists} words per list, over all {sentences} sentences"
    yield f"has {script.WORDS} words per list and {min(script.COUNTS)} to {max(script.COUNTS)} sentences"
    yield f"{run['fixed']} draws of sentences per row, for {run['fixed'] // 20} draws of words"  # a draw for each 20
    yield f"{run['samples']} fits of the default model per row"
    yield f"A coverage has an error of {binomial_error(HDI_PROB, run['samples']):.2f}"
    yield from ("(Apache-2.0)", "leave out 0, the power")


def test_the_text_says_the_numbers_of_the_tables_and_no_others() -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    for frame in (FIXED, DRAWN):
        assert load_script("templates", "trial").markdown(frame, 4) in text
    computed = [*numbers_of_words_that_stay(), *numbers_of_drawn_words(), *numbers_of_settings()]
    assert unexplained(prose(KEPT / "README.md"), computed) == []


def test_the_guide_says_how_many_sentences_were_drawn() -> None:
    counts = DRAWN["templates"]
    guide = prose(VALIDATION.parent / "docs" / "guide" / "encoders.md")
    assert f"a hundred sentences are the population, of which {counts.min()} to {counts.max()} are drawn" in guide


def test_intervals_with_the_error_hold_the_truth() -> None:
    assert FIXED["coverage"].between(0.77, 0.95).all()
    assert (DRAWN["coverage_with"] >= 0.89 - 2 * binomial_error(HDI_PROB, DRAWN["tables"].min())).all()


def test_the_correction_removes_the_bias_of_few_sentences() -> None:
    """The truths are below 0: a bias above 0 makes contrasts smaller. It is known to a twentieth of the error."""
    assert (FIXED["plain_bias"] > 0).all()
    assert (FIXED["bias"].abs() <= 4 * FIXED["error"] / np.sqrt(FIXED["tables"])).all()
    many = FIXED[FIXED["templates"] >= 8]
    np.testing.assert_allclose(many["error"], many["plain_error"], rtol=0.06)  # "the same with more"


@pytest.mark.slow
def test_script_in_short() -> None:
    script = load_script("templates", "trial")
    rows = script.fixed_words(script.Population(), "gendered work", 8, 40)
    # Of 40 tables of two draws of words, with a margin of four standard errors.
    assert rows["covered"].mean() >= 0.69
    assert rows["sd"].mean() == pytest.approx(FIXED.loc[2, "context_sd"], rel=0.5)
