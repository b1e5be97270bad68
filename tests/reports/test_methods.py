"""The methods section: every number in it is that of the fit, and follows the fit's settings."""

from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.base.files.inputs import read_toml
from bayesbias.base.number_text import digits_text
from bayesbias.errors import ArgumentError, FitError, ReportError
from bayesbias.models.spec import MEANINGS
from bayesbias.reports.checks.posterior_check import statistic_name
from bayesbias.reports.methods import bundled_origin
from tests.reports.made import made_fit


def test_the_data_are_those_of_the_table(short_fit: xr.DataTree, short_table: pd.DataFrame) -> None:
    data = bb.methods(short_fit).split("\n\n")[0]
    facts = short_table.attrs["bayesbias"]
    assert facts["embedding"]["name"] in data
    assert f"The word lists are those of the study {facts['study']!r}:" in data
    hashes = facts["embedding"]["hash"], bb.models.fit_attribute(short_fit, "table_hash")
    words_read = "embedding (of the words that were read)"
    assert f"Hashes: {words_read} `{hashes[0]}`, table `{hashes[1]}`, model `" in bb.methods(short_fit)
    assert facts["embedding"]["hash"] not in data
    for side in ("protected", "attribute"):
        for name, words in short_table.groupby(f"{side}_group")[f"{side}_word"]:
            assert f"'{name}': {words.nunique()}" in data
    assert f"{len(short_table):,} pairs" in data
    assert (
        "The hypothesis associates 'math' with 'male', and 'arts' with 'female'."
        in bb.methods(short_fit).split("\n\n")[1]
    )
    lost = bb.lost_words(short_table)
    assert f"{len(lost):,} words" in data
    assert all(word in data for word in lost.query("list == 'human'")["word"])


def test_bundled_vectors_have_their_origin(short_fit: xr.DataTree) -> None:
    assert "These vectors have 300 dimensions and were trained by word2vec on Google News" in bb.methods(short_fit)
    file = bb.bundled("data", "vectors", "origin.toml")
    origins = read_toml(file, ReportError)["vectors"]
    stems = {path.stem for path in file.parent.glob("*.npz")}
    assert stems <= {name for origin in origins for name in origin["names"]}
    vectors = bb.load_embedding(file.parent / "wikipedia2018_skipgram_seed1.npz")
    assert f"These vectors have {vectors.dimensions} dimensions" in " ".join(bundled_origin(vectors.name))
    assert list(bundled_origin("my vectors")) == []


def test_the_name_of_a_model_is_text(short_table: pd.DataFrame) -> None:
    named = replace(bb.load_model("hierarchical"), name="a`b` *c*")
    fit = bb.fit(short_table, named, draws=20, random_seed=1, progress=False)
    assert "We fitted a Bayesian model (a\\`b\\` \\*c\\*)." in bb.methods(fit)


def test_every_setting_shows(table: pd.DataFrame, short_table: pd.DataFrame) -> None:
    usual = {"model": "hierarchical", "draws": 400, "chains": 2, "random_seed": 1, "progress": False}

    def text(table: pd.DataFrame = short_table, **changed: object) -> str:
        return bb.methods(bb.fit(table, **(usual | changed)))

    first = text()
    assert "We took 800 draws from the posterior" in first
    assert "with the random seed 1." in first
    changes = {
        "We took 900 draws from the posterior": text(draws=300, chains=3),
        "with the random seed 7": text(random_seed=7),
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
    *_, software, _, entries = bb.methods(short_fit).partition("\n```\n")[0].split("\n\n")
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
    assert f"about people, but about no protected group ({count} words, from the lists of Dobrzeniecka" in question
    assert "minus that to different, human or neutral words, with equal weights of the protected groups: " in question
    renamed = table["attribute_word"].where(table["connection"] != "human", "other " + table["attribute_word"])
    own = table.assign(attribute_word=renamed)
    own.attrs = {}
    pairs = own[own["connection"].isin(["associated", "different", "human"])]
    text = bb.methods(bb.fit(pairs, "hierarchical", draws=100, random_seed=1, progress=False))
    assert "Neutral" not in text
    assert "words, from" not in text
    assert "equal weights" not in text, "the mean of a model of rows is that of words"


@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
def test_gibbs_draws_of_a_table_with_gaps_are_chains(short_table: pd.DataFrame) -> None:
    table = short_table[short_table["connection"].isin(["associated", "different"])].iloc[2:]
    text = bb.methods(bb.fit(table, draws=100, tune=100, chains=2, random_seed=1, progress=False))
    assert "Gibbs" in text
    assert "100 tuning steps" in text


def test_no_word_is_markup() -> None:
    fit = made_fit(words=("*he*", "<b>she"), draws=50)
    fit.attrs["table"] = '{"study": "*pets*", "study_source": "a_b", "embedding": {"name": "<i>first"}}'
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


def test_each_prior_is_defined(short_fit: xr.DataTree) -> None:
    for name in bb.list_models():
        assert set(bb.load_model(name).priors) <= set(MEANINGS), name
    text = bb.methods(short_fit)
    for name, prior in bb.models.fit_attribute(short_fit, "model")["priors"].items():
        assert f"`{name}` ~ {prior} ({MEANINGS[name]})" in text


def test_scope_net_and_effective_words_are_said(table: pd.DataFrame) -> None:
    fit = bb.fit(table, draws=100, random_seed=1, progress=False)
    _, question, scope, *_ = bb.methods(fit).split("\n\n")
    assert "The net contrast of a group or word leaves out what all groups share" in question
    assert "about words like these" in scope
    assert "about exactly these protected words" in scope
    worths = bb.effective_words(table).set_index("list")
    for name in ("math", "arts", "male", "female"):
        assert f"'{name}' {worths.loc[name, 'effective_words']:.1f} of {worths.loc[name, 'words']}" in scope
    one_group = table[table["protected_group"] == "math"]
    of_one = bb.methods(bb.fit(one_group, draws=100, random_seed=1, progress=False))
    assert "net contrast" not in of_one
    by_rows = bb.methods(bb.fit(table, "hierarchical", draws=100, random_seed=1, progress=False))
    assert "net contrast" not in by_rows
    assert "Each word counts in full" in by_rows


def test_the_questions_of_the_study_are_said(table: pd.DataFrame) -> None:
    asked = table.copy()
    sides = [["math", "male"], ["arts", "male"]]
    asked.attrs["bayesbias"] = dict(table.attrs["bayesbias"]) | {"questions": {"male_first": sides}}
    text = bb.methods(bb.fit(asked, draws=100, random_seed=1, progress=False))
    means = "the mean distance of 'math' to 'male' minus the mean distance of 'arts'"
    assert f"We also asked about 'male first': {means}" in text
    asked.attrs["bayesbias"]["questions"] = {"both": [*sides, ["math", "female"], ["arts", "female"]]}
    text = bb.methods(bb.fit(asked, draws=100, random_seed=1, progress=False))
    assert "'arts' to 'male') minus (the mean distance of 'math' to 'female' minus" in text


def test_what_the_predictive_check_found_is_said(table: pd.DataFrame) -> None:
    """A model that lacks effects of attribute words fails; its failures are named with their numbers."""
    fit = bb.fit(table, "hierarchical", draws=200, random_seed=1, progress=False)
    check = bb.check_posterior(fit, random_seed=1, progress=False)
    failed = [
        row for problem in check.problems if problem.kind == "statistics" for row in problem.numbers["statistics"]
    ]
    assert failed
    text = bb.methods(fit, check=check)
    assert text == bb.methods(fit), "the check has the seed of the fit"
    assert f"The model failed to replicate {len(failed)} of them" in text
    for row in failed:
        assert f"{statistic_name(row)}: {digits_text(row['observed'])}, replicated" in text
    sound = bb.methods(fit, check=replace(check, problems=()))
    assert "The model replicated all of these statistics." in sound
    assert "failed to replicate" not in sound
    few = bb.methods(bb.fit(table, "hierarchical", draws=10, random_seed=1, progress=False))
    assert "We made no posterior predictive check.\n" in few


def test_the_region_of_practical_equivalence_is_that_of_the_fit(short_table: pd.DataFrame) -> None:
    settings = {"model": "hierarchical", "draws": 100, "random_seed": 1, "progress": False}
    plain, fit = bb.fit(short_table, **settings), bb.fit(short_table, **settings, rope=0.02)
    assert "too small to matter" not in bb.methods(plain)
    assert "Differences from -0.020 to +0.020 count as too small to matter" in bb.methods(fit)
    assert "Differences from -0.010 to +0.050 count as" in bb.methods(fit, rope=(-0.01, 0.05))
