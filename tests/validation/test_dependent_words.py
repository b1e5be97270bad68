"""What `validation/dependent_words` keeps: the text shows the table, and the script runs."""

import json
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from tests.validation.numbers import prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "dependent_words"
DATA = VALIDATION.parents[1] / "shared" / "data"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("dependent_words", "dependent_words")


@pytest.fixture(scope="module")
def cells() -> pd.DataFrame:
    return pd.read_csv(KEPT / "cells.csv", keep_default_na=False, na_values=[""]).fillna({"model": ""})


def test_readme_shows_the_tables_and_says_what_they_show(script: ModuleType, cells: pd.DataFrame) -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    assert script.markdown(cells) in text
    assert script.averages_markdown(cells) in text
    assert " ".join(script.findings(cells).split()) in " ".join(text.split())


def test_the_text_says_no_other_numbers(script: ModuleType, cells: pd.DataFrame) -> None:
    settings = json.loads((KEPT / "cells.json").read_text(encoding="utf-8"))
    computed = [*script.findings(cells).replace("- **", "**").splitlines(), f"{settings['samples']} tables"]
    computed += ["8 protected words", "40 nearest", "contrast is 0", f"{settings['other_samples']} tables"]
    assert unexplained(prose(KEPT / "README.md"), [" ".join(line.split()) for line in computed]) == []


def test_intervals_over_clusters_are_right(script: ModuleType, cells: pd.DataFrame) -> None:
    """The aims that the design was made for, and those for what was left out until it was fixed."""
    kinds = script.averages(cells).set_index("kind")
    assert kinds.loc["clusters", list(script.LEVELS)].mean() > 0.86
    assert kinds.loc["clusters, left out", list(script.LEVELS)].mean() > 0.84
    assert kinds.loc["clusters of 8", "these_words"] > 0.8
    assert kinds.loc["independent words", "width"] < 1.05
    assert 0.87 < kinds.loc["independent words", "these_words"] < 0.93


def test_weights_of_clusters_are_those_of_many_draws(script: ModuleType) -> None:
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((30, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    words = script.Words(None, vectors, np.argsort(-(vectors @ vectors.T), axis=1), {}, {})
    among = np.arange(20)
    counts = np.zeros(30)
    for _ in range(4000):
        counts[script.near_cluster(words, 3, set(), rng, among)] += 1
    np.testing.assert_allclose(counts / counts.sum(), script.cluster_weights(words, among, 3), atol=0.006)


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the reference data are absent")
def test_script_in_short(script: ModuleType) -> None:
    relations = DATA / "relations" / "evalution_1.0.csv.gz"
    words = script.words_of("glove", DATA / "embeddings", DATA / "wordlists", relations)
    summary = script.summarise(script.run_cell(script.Cell("glove", "random", 8, 4), words, 30))
    coverage = summary.set_index(["method", "level"])["coverage"]
    assert coverage["default", "these_words"] > 0.7
    assert coverage["plain_t", "these_words"] < 0.7
    for name in ("inflections", "synonyms"):
        table = script.drawn_table(words, script.Cell("glove", name, 8, 2), 0)
        assert [len(rows) for rows in (*table.groups, *table.lists)] == [8, 8, 8, 8]
    table = script.drawn_table(words, script.Cell("glove", "opinion", 8, 2), 0)
    plain = [words.vectors[rows].mean(axis=0) for rows in table.lists]
    true = script.truths(words, table)
    assert len(true["word"]) == 16
    assert abs(true["these_words"][0]) < 2 * np.linalg.norm(plain[0] - plain[1])


def test_cells_of_the_design_are_none_that_were_left_out(script: ModuleType) -> None:
    kinds = {cell: script.kind_of(pd.Series(vars(cell))) for cell in script.CELLS}
    assert kinds[script.Cell("google_news", "random", 8, 2)] == "clusters"
    assert kinds[script.Cell("google_news", "gender", 8, 2)] == "clusters, left out"
    assert kinds[script.Cell("skipgram", "random", 24, 4)] == "clusters, left out"
    assert kinds[script.Cell("encoder", "random", 24, 8)] == "clusters of 8"
    assert kinds[script.Cell("encoder", "random", 24, 1)] == "independent words"
    assert kinds[script.Cell("bundled", "random", 8, 4)] == "clusters, words of studies alone"
