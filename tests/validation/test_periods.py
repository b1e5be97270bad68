"""What `validation/periods` keeps: the text shows the table, and the script runs."""

import json
from collections.abc import Iterator
from types import ModuleType

import pandas as pd
import pytest

from bayesbias.base.checks import HDI_PROB
from tests.validation.numbers import binomial_error, prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "periods"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("periods", "periods")


@pytest.mark.parametrize(("name", "table"), [("periods", "cells"), ("slopes", "slopes"), ("trends", "trends")])
def test_readme_shows_the_tables(name: str, table: str) -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    for line in load_script("periods", name).markdown(pd.read_csv(KEPT / f"{table}.csv")).splitlines():
        assert line in text


def numbers_of_changes() -> Iterator[str]:
    cells = pd.read_csv(KEPT / "cells.csv")
    changes = cells[cells["quantity"] == "change"].set_index(["method", "level"])
    population, clustered = changes.loc[("periods", "population")], changes.loc[("two_way_clustered", "population")]
    means = {
        level: changes.loc[("periods", level), "coverage"].mean() for level in ("population", "these_words", "word")
    }
    yield (
        f"in {means['population']:.2f} of the intervals, those of these words in {means['these_words']:.2f}, of single "
        f"words in {means['word']:.2f}."
    )
    yield f"Two-way clustered errors cover {clustered['coverage'].mean():.2f}."
    lost = population.loc[population["lost"] > 0, "coverage"]
    yield f"With lost words, {lost.min():.2f} to {lost.max():.2f} contain the truth"
    still, still_clustered = (rows.loc[rows["drift"] == 0, "claims"] for rows in (population, clustered))
    yield f"claimed in {still.mean():.2f} of the tables, at most {still.max():.2f} in a cell"
    yield f"errors claim {still_clustered.mean():.2f}, at most {still_clustered.max():.2f}."
    moved, moved_clustered = (rows[rows["drift"] > 0] for rows in (population, clustered))
    yield f"{moved['claims'].mean():.2f} on average for changes"
    yield (f"claim {moved_clustered['claims'].mean():.2f} at a coverage of {moved_clustered['coverage'].mean():.2f}.")
    of_three = population[population["words"] == 3].set_index("attributes")["coverage"]
    contrasts = cells[
        (cells["method"] == "periods") & (cells["level"] == "population") & (cells["quantity"] == "contrast")
    ]
    yield f"Contrasts of words like these are in {contrasts['coverage'].mean():.2f} of the intervals"
    clustered_of_three = clustered[clustered["words"] == 3].set_index("attributes")["coverage"]
    yield f"({clustered_of_three[15]:.2f} with clustered errors)"
    yield f"With 3 words per group and 4 per list, {of_three[4]:.2f} of the changes"
    yield f"{of_three[15]:.2f} of the changes of words like these with 3 words per group, 15 per list"
    samples = json.loads((KEPT / "cells.json").read_text(encoding="utf-8"))["samples"]
    assert cells["samples"].max() == samples
    yield (
        f"has {len(population)} cells with {samples} tables each: a coverage of a cell has an error of "
        f"{binomial_error(HDI_PROB, samples):.2f}"
    )


def numbers_of_trends() -> Iterator[str]:
    trends = pd.read_csv(KEPT / "trends.csv")
    whole = trends[trends["level"] == "population"].set_index(["method", "quantity"])
    slopes, plain = (whole.loc[(method, "covariate")] for method in ("periods", "least_squares"))
    right, plain_right = (rows[rows["walk"] == rows["wanders"]] for rows in (slopes, plain))
    still, moved = plain_right.groupby(plain_right["effect"] > 0)["coverage"].mean()
    noise = right.loc[right["effect"] == 0, "claims"]
    power, plain_power = (rows.loc[rows["effect"] > 0, "claims"].mean() for rows in (right, plain_right))
    yield f"slopes of covariates are in {right['coverage'].mean():.2f} of the intervals, and {noise.mean():.2f} of"
    yield f"are claimed, at most {noise.max():.2f} in a cell."
    yield f"Least squares covers {plain_right['coverage'].mean():.2f}: {still:.2f} where the covariate has no effect"
    yield f"{moved:.2f} where it has one"
    yield f"Power is {power:.2f}; that of least squares is {plain_power:.2f}."
    yield f"without chance, 0 in {(slopes['effect'] == 0).sum()} of the {len(slopes)} cells"
    few = slopes[slopes["periods"] == 5]
    yield f"With 5 periods, {few['coverage'].item():.2f} of the intervals contain the slope"
    wandering = [rows[rows["wanders"] & ~rows["walk"]] for rows in (whole.loc[("periods", "time")], slopes)]
    over_time, slope = (rows[rows["periods"] == 20].iloc[0] for rows in wandering)
    yield f"with 20 periods, the change over time is in {over_time['coverage']:.2f} of them"
    guide = (VALIDATION.parent / "docs" / "guide" / "periods.md").read_text(encoding="utf-8")
    assert f"{over_time['coverage']:.2f} of the intervals of a line contained the change over time" in guide
    yield f"the slope of the covariate in {slope['coverage']:.2f}, and {slope['claims']:.2f} of covariates"
    line = slopes[~slopes["walk"]]
    warns = line.groupby(["wanders", "periods"])["warns"].mean()
    yield f"with p below {1 - HDI_PROB:.2f}"
    yield f"does so in {line.loc[~line['wanders'], 'warns'].mean():.2f} of the tables; where contrasts wander, in"
    yield f"{warns[True, 10]:.2f} of those with 10 periods and {warns[True, 20]:.2f} of those with 20"
    assert f"in {warns[True, 20]:.2f} of these tables, and in {warns[True, 10]:.2f} of those with 10 periods" in guide
    careful = slopes[slopes["walk"] & ~slopes["wanders"]]
    yield f"slopes are in {careful['coverage'].mean():.2f} of the intervals, and {careful['claims'].mean():.2f} of"
    seconds = json.loads((KEPT / "trends.json").read_text(encoding="utf-8"))["seconds"]
    yield f"`trends.csv` ({seconds / 60:.0f} minutes)"


def numbers_of_slopes() -> Iterator[str]:
    cells = pd.read_csv(KEPT / "slopes.csv")
    sizes = sorted(cells["words"].unique())
    yield "Tables have {}, {} or {} words".format(*sizes)
    yield "the true slope is 0"
    whole = cells[cells["level"] == "population"].set_index(["method", "quantity"])
    rows = [whole.loc[("periods", quantity)] for quantity in ("slope", "change")]
    plain = [whole.loc[("least_squares", quantity)] for quantity in ("slope", "change")]
    slope, change = (of["coverage"].mean() for of in rows)
    yield f"slopes are in {slope:.2f} of the intervals, changes of a slope in {change:.2f}"
    yield "the lowest cells have {:.2f} and {:.2f}".format(*(of["coverage"].min() for of in rows))
    nothing = [lambda of: ~of["related"], lambda of: ~of["related"] | (of["drift"] == 0)]
    claims, plain_claims = (
        [of.loc[is_nothing(of), "claims"].mean() for of, is_nothing in zip(parts, nothing, strict=True)]
        for parts in (rows, plain)
    )
    yield "{:.2f} of the slopes and {:.2f} of the changes are claimed".format(*claims)
    yield "least squares claims {:.2f} and {:.2f}".format(*plain_claims)
    power, plain_power = (
        [of.loc[~is_nothing(of), "claims"].mean() for of, is_nothing in zip(parts, nothing, strict=True)]
        for parts in (rows, plain)
    )
    yield "{:.2f} for slopes and {:.2f} for changes".format(*power)
    yield "has {:.2f} and {:.2f}".format(*plain_power)
    yield "Least squares covers {:.2f} and {:.2f}".format(*(of["coverage"].mean() for of in plain))
    few = rows[1][(rows[1]["attributes"] == 4) & (rows[1]["words"] == 10)]["coverage"].item()
    yield f"with 4 words per list, {few:.2f} of the changes are covered in 10 words"
    seconds = json.loads((KEPT / "slopes.json").read_text(encoding="utf-8"))["seconds"]
    yield f"`slopes.csv` ({seconds / 60:.0f} minutes)"


@pytest.mark.slow
def test_slopes_in_short() -> None:
    """With the bundled vectors: slopes that follow a covariate, and their change, are inside most intervals."""
    script = load_script("periods", "slopes")
    cell = script.Cell("bundled", 3, 12, 6, 0.6, related=True, spread=0.3)
    rows = script.summarise(pd.DataFrame(script.run_cell(cell, VALIDATION, 10)))
    of_model = rows[rows["method"] == "periods"].set_index(["level", "quantity"])
    assert (of_model["coverage"] > 0.75).all()
    truth = of_model.loc["population", "truth"]
    assert truth["change"] < 0 < truth["slope"], "the lean follows the covariate, less and less"


def test_the_text_says_the_numbers_of_the_tables_and_no_others() -> None:
    of_definitions = [
        "a vector of length 1)",
        "Student's t has 3 to 6 degrees of freedom",
    ]
    of_definitions += ["leave out 0: false claims where the truth is 0", "drift of its own around 0"]
    assert (
        unexplained(
            prose(KEPT / "README.md"),
            [*numbers_of_changes(), *numbers_of_trends(), *numbers_of_slopes(), *of_definitions],
        )
        == []
    )


@pytest.mark.slow
def test_trends_in_short() -> None:
    """With the bundled vectors, as lines and as random walks: what a covariate does is inside most intervals."""
    script = load_script("periods", "trends")
    for walk in (False, True):
        cell = script.Cell("bundled", 6, 6, 6, 0.2, walk=walk, wanders=walk, drift=0.0 if walk else 0.3)
        rows = script.summarise(script.run_cell(cell, VALIDATION, 16))
        of_model = rows[(rows["method"] == "periods") & (rows["quantity"] == "covariate")]
        assert of_model["level"].tolist() == ["population", "these_words"]
        assert (of_model["truth"] != 0).all()
        assert (of_model["coverage"] > 0.7).all()
        assert set(rows["quantity"]) == ({"covariate"} if walk else {"time", "covariate"})


@pytest.mark.slow
def test_script_in_short(script: ModuleType) -> None:
    """With the bundled vectors; the truth of a planted drift is inside most intervals."""
    cell = script.Cell("bundled", 3, 6, 6, 0.5, 0.3, 0.3, lost=0.1)
    table = script.summarise(script.run_cell(cell, VALIDATION, 8)).set_index(["method", "level", "quantity"])
    assert set(table.index) == {
        ("periods", level, quantity)
        for level in ("population", "these_words", "word")
        for quantity in script.QUANTITIES
    }
    assert table["coverage"].mean() > 0.75
    assert table.loc[("periods", "these_words", "change"), "truth"] != 0
