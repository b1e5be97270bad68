"""The methods section: every number in it is that of the fit, and follows the fit's settings."""

from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ArgumentError, FitError
from tests.reports.made import made_fit


def test_the_data_are_those_of_the_table(short_fit: xr.DataTree, short_table: pd.DataFrame) -> None:
    data = bb.methods(short_fit).split("\n\n")[0]
    facts = short_table.attrs["bayesbias"]
    assert facts["embedding"]["name"] in data
    assert f"The study is '{facts['study']}':" in data
    hashes = facts["embedding"]["hash"], bb.models.fit_attribute(short_fit, "table_hash")
    words_read = "embedding (of the words that were read)"
    assert f"Hashes: {words_read} `{hashes[0]}`, table `{hashes[1]}`, model `" in bb.methods(short_fit)
    assert facts["embedding"]["hash"] not in data
    for side in ("protected", "attribute"):
        for name, words in short_table.groupby(f"{side}_group")[f"{side}_word"]:
            assert f"{name}: {words.nunique()}" in data
    assert f"{len(short_table):,} pairs" in data
    assert "male (for math), female (for arts)" in bb.methods(short_fit).split("\n\n")[1]
    lost = bb.lost_words(short_table)
    assert f"{len(lost):,} words" in data
    assert all(word in data for word in lost.query("list == 'human'")["word"])


def test_every_setting_shows(table: pd.DataFrame, short_table: pd.DataFrame) -> None:
    usual = {"model": "hierarchical", "draws": 400, "chains": 2, "random_seed": 1, "progress": False}

    def text(table: pd.DataFrame = short_table, **changed: object) -> str:
        return bb.methods(bb.fit(table, **(usual | changed)))

    first = text()
    assert "2 chains of 400 draws, with the random seed 1" in first
    changes = {
        "3 chains of 300 draws, with the random seed 7": text(draws=300, chains=3, random_seed=7),
        "`sigma` ~ HalfNormal(sigma=0.2)": text(priors={"sigma": "HalfNormal(0.2)"}),
        "`attribute_sd` ~ Exponential(rate=2)": text(model="crossed"),
        "2,832 pairs": text(table),
        "Pareto k": text(model="multivariate"),
    }
    assert changes["Pareto k"].count("flat prior") == 1
    for fact, changed in changes.items():
        assert fact in changed
        assert fact not in first
    fit = bb.fit(short_table, **usual)
    assert "intervals of 50%" in bb.methods(fit, hdi_prob=0.5)
    assert "intervals of 89%" in bb.methods(fit)


def test_chains_have_their_diagnostics_and_their_faults() -> None:
    fit = made_fit(draws=200)
    fit["sample_stats"] = xr.DataTree(xr.Dataset({"diverging": (("chain", "draw"), np.eye(4, 200, dtype=bool))}))
    frame, text = bb.summary(fit), bb.methods(fit)
    assert f"R-hat is {frame['r_hat'].max():.3f}" in text
    assert f"{frame['ess_bulk'].min():,.0f} in the bulk and {frame['ess_tail'].min():,.0f} in the tails" in text
    assert "Divergent transitions: 4" in text
    fit.attrs["convergence_problems"] = '["The chains <disagree>."]'
    assert "The chains &lt;disagree&gt;." in bb.methods(fit)


def test_version_and_citation_are_those_of_the_package(short_fit: xr.DataTree) -> None:
    *_, software, _, entries = bb.methods(short_fit).split("\n\n")
    assert f"bayesbias {version('bayesbias')}" in software
    assert f"numpy {version('numpy')}" in software
    assert "Cite" not in software, "an instruction to the author is no text of a paper"
    assert "(The bayesbias developers)" in software
    for field in ("title: ", "family-names: ", "journal: ", "year: ", "volume: "):
        lines = bb.bundled("CITATION.cff").read_text(encoding="utf-8").splitlines()
        values = [line.partition(field)[2].strip('" ') for line in lines if field in line]
        assert values
        assert all(value in entries.replace("{Bayesian}", "Bayesian") for value in values)


def test_the_question_is_said_in_words(table: pd.DataFrame) -> None:
    """What is compared, whose controls, and which groups weigh the same: a reader has not seen the glossary."""
    fit = bb.fit(table, draws=100, random_seed=1, progress=False)
    question = bb.methods(fit).split("\n\n")[1]
    count = table.loc[table["connection"] == "human", "attribute_word"].nunique()
    assert f"related to people, but to no protected group ({count} words, of Dobrzeniecka" in question
    assert "minus that to different, human or neutral words, with equal weights of the protected groups: " in question
    renamed = table["attribute_word"].where(table["connection"] != "human", "other " + table["attribute_word"])
    own = table.assign(attribute_word=renamed)
    own.attrs = {}
    pairs = own[own["connection"].isin(["associated", "different", "human"])]
    text = bb.methods(bb.fit(pairs, "hierarchical", draws=100, random_seed=1, progress=False))
    assert "Neutral" not in text
    assert "words, of D" not in text
    assert "equal weights" not in text, "the mean of a model of rows is that of words"


@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
def test_gibbs_draws_of_a_table_with_gaps_are_chains(short_table: pd.DataFrame) -> None:
    table = short_table[short_table["connection"].isin(["associated", "different"])].iloc[2:]
    text = bb.methods(bb.fit(table, draws=100, tune=100, chains=2, random_seed=1, progress=False))
    assert "Gibbs" in text
    assert "100 tuning steps" in text


def test_no_word_is_markup() -> None:
    fit = made_fit(words=("*he*", "<b>she"), draws=50)
    fit.attrs["table"] = '{"study": "*pets*", "embedding": {"name": "<i>first"}}'
    text = bb.methods(fit)
    assert r"\*pets\*" in text
    assert "&lt;i&gt;first" in text


def test_mistakes(short_fit: xr.DataTree) -> None:
    with pytest.raises(ArgumentError, match=r"hdi_prob=2"):
        bb.methods(short_fit, hdi_prob=2)
    with pytest.raises(FitError, match="DataTree"):
        bb.methods("fit.nc")  # type: ignore[arg-type]


def test_means_of_words_are_said() -> None:
    """By the methods, and by the conclusions, so on the page and the terminal."""
    lists = {"pets": ["cat", "big dog"], "good": ["good", "nice"], "bad": ["bad", "sad"]}
    words = ("cat", "big", "dog", "good", "nice", "bad", "sad")
    vectors = np.random.default_rng(1).standard_normal((len(words), 8))
    entries = [word for entries in lists.values() for word in entries]
    embedding = bb.load_embedding((words, vectors), words=entries, phrases="mean")
    fit = bb.fit(bb.distance_table(embedding, lists), draws=50, random_seed=1)
    assert "Entries of several words without a vector have the mean vector of their words: big dog." in bb.methods(fit)
    assert (
        "Entries of several words, which have the mean vector of their words: big dog."
        in bb.conclusions(fit).about.text
    )
