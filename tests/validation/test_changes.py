"""What `validation/changes` keeps: the text shows the table, and the script runs."""

import json
from collections.abc import Iterator
from types import ModuleType

import pandas as pd
import pytest

from bayesbias.base.checks import HDI_PROB
from tests.validation.numbers import binomial_error, prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "changes"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    load_script("real_contrasts", "real_contrasts")
    load_script("periods", "periods")
    return load_script("changes", "changes")


@pytest.fixture(scope="module")
def cells() -> pd.DataFrame:
    kept = pd.read_csv(KEPT / "cells.csv")
    return kept.assign(lean_removed=kept["removed"].notna() | (kept["drift"] == 1))


def test_readme_shows_the_tables(script: ModuleType, cells: pd.DataFrame) -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    for line in script.markdown(cells).splitlines():
        assert line in text
    of = cells.groupby(["quantity", "level", "lean_removed", "method"])["coverage"].agg(["mean", "min"])
    for quantity, level, name in (
        ("change", "population", "population"),
        ("change", "word", "single words"),
        ("distance", "population", "mean distances, population"),
        ("distance", "word", "mean distances, single words"),
    ):
        for removed, what in ((True, "lean removed"), (False, "noise and drift")):
            vectors, pairs = (of.loc[(quantity, level, removed, method)] for method in script.METHODS)
            (line,) = (line for line in text.splitlines() if line.startswith(f"| {name}, {what}"))
            assert line.endswith(
                f"| {vectors['mean']:.2f} ({vectors['min']:.2f}) | {pairs['mean']:.2f} ({pairs['min']:.2f}) |"
            )


def numbers_of_the_table(cells: pd.DataFrame) -> Iterator[str]:
    run = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))
    yield f"Each cell has {run['samples']} tables: a coverage of the population has an error of " + (
        f"{binomial_error(HDI_PROB, run['samples']):.2f}"
    )
    distances = cells[(cells["quantity"] == "distance") & (cells["level"] == "word") & cells["lean_removed"]]
    of_method = distances.groupby("method")["error"].mean()
    yield f"their error is {of_method['pairs'] / of_method['vectors']:.2f} times that of vectors"
    cells = cells[cells["quantity"] == "change"]
    words = cells[cells["level"] == "word"].set_index("method")
    errors = {
        removed: words.loc["vectors", "error"].lt(words.loc["pairs", "error"].to_numpy(), axis=0)
        for removed, words in ((removed, words[words["lean_removed"] == removed]) for removed in (True, False))
    }
    assert errors[True].all()
    assert (int((~errors[False]).sum()), len(errors[False])) == (4, 5)
    lowest = words.loc["vectors"].query("not lean_removed")["coverage"].min()
    yield f"hold {lowest:.2f} in the worst of them"
    population = cells[(cells["level"] == "population") & (cells["drift"] == 0.5)]
    vectors, pairs = (population.loc[population["method"] == method, "claims"] for method in ("vectors", "pairs"))
    yield "in {:.2f} and {:.2f} of the tables, pairs in {:.2f} and {:.2f}".format(*vectors, *pairs)
    worst = cells[(cells["method"] == "vectors") & (cells["level"] == "population")].sort_values("coverage").iloc[0]
    yield f"{worst['words']} words per group and {worst['attributes']} per list"
    yield "leave out 0"


def test_the_text_says_the_numbers_of_the_table_and_no_others(cells: pd.DataFrame) -> None:
    assert unexplained(prose(KEPT / "README.md"), numbers_of_the_table(cells)) == []


def test_what_the_changelog_says_of_changes(cells: pd.DataFrame) -> None:
    text = " ".join((VALIDATION.parent / "CHANGELOG.md").read_text(encoding="utf-8").split())
    cells = cells[cells["quantity"] == "change"]
    words = cells[cells["lean_removed"] & (cells["level"] == "word")].groupby("method")["coverage"].mean()
    assert (
        f"89 % intervals of single words hold {words['vectors']:.2f} of the truths, formerly {words['pairs']:.2f}"
        in text
    )


@pytest.mark.slow
def test_script_in_short(script: ModuleType) -> None:
    rows = pd.DataFrame(script.run_cell(script.Cell(8, 8, noise=0.3), 5))
    covered = rows[rows["level"] == "word"].groupby("method")["covered"].mean()
    assert covered["vectors"] > 0.75
    assert covered["pairs"] > 0.75
    removed = script.populations(script.CELLS[0])
    before, after = removed.distances
    own = removed.list_of[:, None] == removed.group_of
    # Words of a list are nearer to their own side, and less so without the direction.
    assert before[own].mean() - before[~own].mean() < 2 * (after[own].mean() - after[~own].mean()) < 0
