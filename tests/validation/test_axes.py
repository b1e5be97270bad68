"""What `validation/axes` keeps: the text shows the tables, and the script runs."""

from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "axes"
DATA = VALIDATION.parents[1] / "shared" / "data"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("axes", "axes")


@pytest.fixture(scope="module")
def text() -> str:
    return (KEPT / "README.md").read_text(encoding="utf-8")


def test_readme_shows_the_tables(script: ModuleType, text: str) -> None:
    for name, columns in (("cells.csv", script.CELL_COLUMNS), ("ratings.csv", script.RATING_COLUMNS)):
        for line in script.markdown(pd.read_csv(KEPT / name), columns).splitlines():
            assert line in text


def test_what_the_text_says_of_the_tables(text: str) -> None:
    cells, ratings = pd.read_csv(KEPT / "cells.csv"), pd.read_csv(KEPT / "ratings.csv")
    nothing = cells[cells["pairs"].isin(["antonyms in random order", "random words"])]
    named = cells.drop(nothing.index)
    projections = cells["projection"]
    assert f"{projections.mean():.3f} on average ({projections.min():.2f} to {projections.max():.2f})" in text
    assert abs(projections.mean() - 0.89) < 0.03
    assert f"{100 * nothing['claims'].mean():.1f} % of words" in text
    assert f"{100 * nothing.loc[nothing['size'] > 4, 'agree'].mean():.0f} % of axes" in text
    cosines = named["cosine"].dropna()
    assert f"{cosines.mean():.3f} on average ({cosines.min():.2f} to {cosines.max():.2f})" in text
    assert f"the axis of the whole set in {cells['bootstrap'].mean():.2f} on average" in text
    sixteen = named[named["size"] == 16]
    assert f"power is {named.loc[named['size'] == 6, 'power'].mean():.2f} with 6 pairs" in text
    assert f"{sixteen['power'].mean():.2f} with 16" in text
    rated = ratings[(ratings["rating"] != "noise")]
    assert f"{rated['correlation'].mean():.2f} on average over {len(rated)} cells" in text
    noise = ratings[(ratings["rating"] == "noise") & ratings["pairs"].isin(["gender", "valence"])]
    assert f"{100 * noise['claims'].mean():.0f} % of numbers drawn at random" in text


def test_what_the_guide_says_of_ratings() -> None:
    guide = " ".join((VALIDATION.parent / "docs" / "guide" / "against_what.md").read_text(encoding="utf-8").split())
    (row,) = (
        pd.read_csv(KEPT / "ratings.csv")
        .query("vectors == 'google_news' and rating == 'occupations'")
        .drop_duplicates(["population", "truth"])
        .to_dict("records")
    )
    assert (
        f"the feminine side of {row['population']} pairs of gender, with a correlation of {-row['truth']:.2f}" in guide
    )


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the reference data are absent")
def test_script_in_short(script: ModuleType) -> None:
    rng = np.random.default_rng(1)
    embedding = bb.load_embedding(DATA / "embeddings" / script.VECTORS["glove"])
    lists, relations = DATA / "wordlists", DATA / "relations" / "evalution_1.0.csv.gz"
    sets = script.pair_sets(embedding, lists, relations, rng)
    assert list(sets) == list(script.SETS)
    ratings = DATA / "covariates" / "mturk_stereotypes.csv"
    whole = script.population(embedding, "random words", sets["random words"], ratings, rng)
    cell = script.run_cell(whole, 8, 20, rng)
    assert cell["projection"] == pytest.approx(0.89, abs=0.1)
    assert cell["claims"] < 0.25
    whole = script.population(embedding, "valence", sets["valence"], ratings, rng)
    row = script.run_ratings(whole, "opinion words", 6, 20, 10, rng)
    assert row["correlation"] > 0.5
    assert row["truth"] > 0.5
