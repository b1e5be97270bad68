"""What `validation/covariates` keeps: the text shows the tables, and the script runs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.base.statements import rows_of
from tests.validation.numbers import binomial_error, prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "covariates"
DATA = VALIDATION.parents[1] / "shared" / "data"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("covariates", "covariates")


@pytest.fixture(scope="module")
def text() -> str:
    return (KEPT / "README.md").read_text(encoding="utf-8")


def test_readme_shows_the_table(script: ModuleType, text: str) -> None:
    assert script.markdown(pd.read_csv(KEPT / "cells.csv")) in text


def numbers_of_coverage_and_claims() -> Iterator[str]:
    cells = pd.read_csv(KEPT / "cells.csv")
    coverage = cells.groupby("method")["coverage"].mean()
    names = ("population", "these_words", "least squares", "two-way")
    population, these, least, two_way = (f"{coverage[name]:.2f}" for name in names)
    yield f"tables, {population} of the intervals for the population contain the truth, and {these} of those"
    yield f"least squares {least}, and of two-way clustered errors {two_way}."
    claims = cells.groupby(["related", "method"])["claims"].mean()
    for related, start in ((False, "Without a relation"), (True, "With one")):
        yield f"{start}, {claims[related, 'population']:.2f}"
        yield f"least squares {claims[related, 'least squares']:.2f}, two-way {claims[related, 'two-way']:.2f})"
    of_population = cells[cells["method"] == "population"]
    unrelated = cells[~cells["related"]].groupby("method")["claims"].max()
    yield f"and at most {unrelated['population']:.2f} in any cell (two-way {unrelated['two-way']:.2f})"
    by_size = [f"{power:.2f}" for power in of_population[of_population["related"]].groupby("words")["claims"].mean()]
    yield f"{by_size[0]} of those of 10 words, {by_size[1]} of 20, {by_size[2]} of 40."
    lowest = of_population.loc[of_population["coverage"].idxmin()]
    assert (lowest["covariate"], lowest["words"]) == ("uneven", 40)
    yield f"In the lowest cell, {lowest['coverage']:.2f} of the intervals for the population"
    rated = cells[(cells["covariate"] == "ratings") & (cells["words"] == 20)].set_index("method")["coverage"]
    yield f"{rated['population']:.2f} contain the truth, {rated['least squares']:.2f} of least squares"


def numbers_of_correlations_and_sds() -> Iterator[str]:
    cells = pd.read_csv(KEPT / "cells.csv")
    coverage = cells.groupby("method")["coverage"].agg(["mean", "min"])
    of_correlation, of_sd = (coverage.loc[name].map("{:.2f}".format) for name in ("correlation", "residual sd"))
    yield f"are in {of_correlation['mean']} and {of_sd['mean']} of their intervals on average"
    yield f"{of_correlation['min']} and {of_sd['min']} in their lowest cells"
    lowest = cells.loc[cells.groupby("method")["coverage"].idxmin()].set_index("method")
    assert lowest.loc["correlation", ["covariate", "words", "attribute_words"]].tolist() == ["noise", 10, 4]
    assert lowest.loc["residual sd", ["covariate", "attributes", "words"]].tolist() == ["noise", "gendered", 40]
    yield "without a relation, with 10 words and 4 attribute words a list"
    yield "gendered words, with 40 words"
    claims = cells[~cells["related"] & (cells["method"] == "correlation")]["claims"]
    yield f"leave out 0 in {claims.mean():.2f} of the tables"
    yield f"and in up to {claims.max():.2f} of those of a cell"
    guide = " ".join((VALIDATION.parent / "docs" / "guide" / "covariates.md").read_text(encoding="utf-8").split())
    means = f"in {of_correlation['mean']} and {of_sd['mean']} of the tables"
    assert f"{means}, and in as few as {of_correlation['min']} and {of_sd['min']} where" in guide


def numbers_of_linked_words() -> Iterator[str]:
    cells = pd.read_csv(KEPT / "cells.csv").query("words == 40")
    means = cells.groupby([cells["attributes"] == "gendered", "method"])["coverage"].mean()
    linked, others = means[True], means[False]
    yield (
        f"residual sds are in {linked['residual sd']:.2f} of their intervals and correlations in "
        f"{linked['correlation']:.2f}, slopes in {linked['population']:.2f} and those of these words in "
        f"{linked['these_words']:.2f}; with other attribute words residual sds are in {others['residual sd']:.2f} and "
        f"correlations in {others['correlation']:.2f}"
    )
    yield "With 40 words and gendered attribute words"
    clusters = pd.read_csv(KEPT / "cells.csv").query("attributes == 'clustered'").groupby("method")["coverage"].mean()
    yield (
        f"residual sds in {clusters['residual sd']:.2f} of their intervals, correlations in "
        f"{clusters['correlation']:.2f}, slopes in {clusters['population']:.2f})"
    )
    # Of the tables of 2026-11-24, which the history of the repository has.
    yield ("had 0.75 and 0.77, and with 40 words and gendered ones they were in 0.87 and 0.81")
    yield "Counted one each, they gave -0.73"


def numbers_of_two_covariates() -> Iterator[str]:
    script, table = load_script("covariates", "two_covariates"), pd.read_csv(KEPT / "two_covariates.csv")
    table["second"] = table["second"].fillna("none")
    assert script.markdown(table) in (KEPT / "README.md").read_text(encoding="utf-8")
    ((words, few), (same, some)), samples = script.SIZES, table["samples"].unique().item()
    assert words == same
    cells = len(script.SIZES) * len(script.POPULATIONS) * len(script.SECONDS)
    assert len(table.groupby(["vectors", "second", "attribute_words"])) == cells
    yield (
        f"Tables have {words} protected words, with {few} or {some} attribute words a list: {samples} tables in each "
        f"of {cells} cells."
    )
    yield f"The coverage of a cell has an error of {binomial_error(HDI_PROB, samples):.2f}"
    yield "(correlation 0.7)"  # of the columns that the script makes, which another test computes
    means = table.groupby(["vectors", "slope"])["coverage"].mean().map("{:.2f}".format)
    yield f"In GloVe, {means['glove', 'first']} of the intervals of the first slope contain the truth"
    yield f"and {means['glove', 'second']} of those of the second"
    yield f"at least {table.query("vectors == 'glove'")['coverage'].min():.2f} in any cell"
    yield f"in Google News {means['google_news', 'first']} and {means['google_news', 'second']}, since"
    population = (
        table[table["scope"] == "population"].groupby(["vectors", "slope", "second"])[["claims", "width"]].mean()
    )
    first = population.loc["glove", "first"]
    noise, together = "noise", "noise that goes with the first"
    yield f"{first['claims']['none']:.2f} of the slopes of the population are claimed in GloVe"
    yield f"without one, {first['claims'][noise]:.2f} beside noise"
    yield f"(correlation 0.7), {first['claims'][together]:.2f} are"
    yield f"intervals are {first['width'][together] / first['width']['none']:.2f} times as wide"
    second = population["claims"].xs("second", level="slope").groupby("vectors").mean()
    yield f"claimed in {second['glove']:.2f} of the tables in GloVe"
    yield f"and in {second['google_news']:.2f} in Google News (nominal {1 - HDI_PROB:.2f})"


def numbers_of_figure_1() -> Iterator[str]:
    effects = pd.read_csv(KEPT / "garg.csv").query("scope == 'population'")
    slope, link = (rows_of(effects[effects["quantity"] == name])[0] for name in ("slope", "correlation"))
    yield f"is {link['observed']:.2f}, so that the share explains {link['observed'] ** 2:.2f}"
    plain = f"({slope['least_squares_low']:.3f} to {slope['least_squares_high']:.3f} by plain least squares)"
    yield f"The slope is {slope['observed']:.3f} {plain}"
    yield f"the interval is {slope['hdi_low']:.3f} to {slope['hdi_high']:.3f}"
    yield f"{link['mean']:.2f} ({link['hdi_low']:.2f} to {link['hdi_high']:.2f})"
    script = load_script("covariates", "covariates")
    yield f"their {len(script.FEMALE)} female and {len(script.MALE)} male words"
    yield "count as {} and {}".format(*worths_of_the_lists_of_garg())


def worths_of_the_lists_of_garg() -> tuple[str, ...]:
    """Return what `bb.effective_words` says of their female and male words; a test with the vectors compares them."""
    return "6.1", "5.7"


def numbers_of_wefat() -> Iterator[str]:
    table = pd.read_csv(KEPT / "wefat.csv")
    assert load_script("covariates", "wefat").markdown(table) in (KEPT / "README.md").read_text(encoding="utf-8")
    rows = {(row["vectors"], row["occupations"]): row for row in rows_of(table)}
    news, glove = rows["google_news", "paper"], rows["glove", "paper"]
    of_paper = len(set(load_script("covariates", "wefat").OCCUPATIONS))
    yield from (f"women in {of_paper} occupations", f"{news['with_share']} of the paper's {of_paper} occupations")
    billion, dimensions = re.findall(r"\d+", load_script("covariates", "wefat").VECTORS["glove"])[:2]
    yield f"({billion} billion words, {dimensions} dimensions)"
    yield f"{news['words']} are left in Google News, {glove['words']} in GloVe"
    yield f"{news['wefat_correlation']:.2f} in Google News and {glove['wefat_correlation']:.2f} in this GloVe"
    of_all = [f"{rows[name, 'all']['wefat_correlation']:.2f}" for name in ("google_news", "glove")]
    yield f"{of_all[0]} and {of_all[1]} for all occupations with a share"
    yield f"({news['correlation']:.2f} and {news['wefat_correlation']:.2f})"
    yield f"({glove['correlation']:.2f} and {glove['wefat_correlation']:.2f})"
    yield f"to women only, {news['slope']:.3f} in Google News"
    assert (table["wefat_correlation"] > 0).all()
    assert (table["hdi_high"] < 0).tolist() == [
        (row["vectors"], row["occupations"]) != ("glove", "paper") for row in rows_of(table)
    ]
    yield "reaches across 0"
    quoted = f"{news['wefat_correlation']:.2f} for {news['words']} of the paper's"
    guide = VALIDATION.parent / "docs" / "guide" / "covariates.md"
    assert quoted in " ".join(guide.read_text(encoding="utf-8").split())


def numbers_of_settings(script: ModuleType) -> Iterator[str]:
    cells = pd.read_csv(KEPT / "cells.csv")
    samples = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))["samples"]
    populations = len(cells) // cells["method"].nunique()
    assert cells["samples"].eq(samples).all()
    (few, few_attributes), (some, some_attributes), (many, many_attributes) = sorted(script.SIZES)
    yield (
        f"Tables have {few}, {some} or {many} protected words, with {few_attributes}, {some_attributes} or "
        f"{many_attributes} attribute words a list: {samples} tables in each of {populations} cells. The coverage of a "
        f"cell has an error of {binomial_error(HDI_PROB, samples):.2f}, that of all cells one of "
        f"{binomial_error(HDI_PROB, samples * populations):.3f}"
    )
    yield f"Over all {samples * populations:,}"
    yield f"(nominal {1 - HDI_PROB:.2f}; "
    yield f"{script._COMMON_WORDS:,} most common words"
    yield f"{script._END_WORDS} words at each end of a principal component"
    yield f"lists of {len(script.FEMALE)} words each"
    assert len(script.FEMALE) == len(script.MALE)
    occupations = pd.read_csv(KEPT / "garg.csv")["words"].unique().item()
    vocabulary = int(re.findall(r"\d+", script.VECTORS["google_news"])[-1])
    yield f"the {occupations} occupations whose vectors Google News ({vocabulary:,} words) has"
    yield from ("tables have 40 words", "ratings with 20 words", "of the population is 0")


def test_the_text_says_the_numbers_of_the_tables_and_no_others(script: ModuleType) -> None:
    computed = [*numbers_of_settings(script), *numbers_of_coverage_and_claims(), *numbers_of_correlations_and_sds()]
    computed += [*numbers_of_two_covariates(), *numbers_of_linked_words(), *numbers_of_figure_1(), *numbers_of_wefat()]
    # What the paper reports of its own vectors.
    computed += ["r = 0.90 for GloVe of 840 billion words (300 dimensions)"]
    assert unexplained(prose(KEPT / "README.md"), computed) == []


@pytest.mark.shared
@pytest.mark.skipif(not DATA.exists(), reason="the reference data are absent")
def test_the_lists_of_garg_are_worth_as_many_words_as_the_text_says(script: ModuleType) -> None:
    vectors = bb.load_embedding(DATA / "embeddings" / script.VECTORS["google_news"])
    table = bb.distance_table(
        vectors, {"occupations": ["nurse", "doctor", "janitor"], "female": script.FEMALE, "male": script.MALE}
    )
    worth = bb.effective_words(table).set_index("list")["effective_words"]
    assert (f"{worth['female']:.1f}", f"{worth['male']:.1f}") == worths_of_the_lists_of_garg()


@pytest.mark.shared
@pytest.mark.skipif(not DATA.exists(), reason="the reference data are absent")
def test_wefat_of_the_table_is_that_of_the_written_out_formula() -> None:
    script, table = load_script("covariates", "wefat"), pd.read_csv(KEPT / "wefat.csv")
    shares = script.shares_of_women(DATA / "covariates")
    counted = [len(set(script.OCCUPATIONS) & set(shares.index)), len(shares)] * 2
    assert table["with_share"].tolist() == counted
    with np.load(DATA / "embeddings" / script.VECTORS["google_news"]) as stored:
        vectors = dict(zip(stored["words"].tolist(), stored["vectors"].astype(float), strict=True))

    def cosines(word: str, listed: tuple[str, ...]) -> list[float]:
        lengths = [np.linalg.norm(vectors[word]) * np.linalg.norm(vectors[other]) for other in listed]
        return [vectors[word] @ vectors[other] / length for other, length in zip(listed, lengths, strict=True)]

    words = [word for word in script.OCCUPATIONS if word in vectors and word in shares.index]
    statistics = []
    for word in words:
        near, far = cosines(word, script.FEMALE), cosines(word, script.MALE)
        statistics.append((np.mean(near) - np.mean(far)) / np.std([*near, *far], ddof=1))
    row = rows_of(table[(table["vectors"] == "google_news") & (table["occupations"] == "paper")])[0]
    assert len(words) == row["words"]
    assert stats.pearsonr(statistics, shares[words]).statistic == pytest.approx(row["wefat_correlation"], abs=6e-5)


def test_plain_intervals_are_those_of_scipy_and_of_written_out_clusters(script: ModuleType) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal(12)
    first, second = 1 + rng.standard_normal((12, 5)), rng.standard_normal((12, 5)) + 0.2 * x[:, None]
    coefficients = (x - x.mean()) / np.square(x - x.mean()).sum()
    plain, clustered = script.plain_intervals(first, second, coefficients)
    line = stats.linregress(x, first.mean(axis=1) - second.mean(axis=1))
    reach = stats.t.ppf(0.945, 10) * line.stderr
    assert plain == pytest.approx((line.slope, line.slope - reach, line.slope + reach))
    assert clustered[0] == pytest.approx(line.slope)
    assert clustered[1] < line.slope < clustered[2]


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the reference data are absent")
def test_script_in_short(script: ModuleType) -> None:
    folders: tuple[Path, Path, Path] = (DATA / "embeddings", DATA / "covariates", DATA / "wordlists")
    cell = script.Cell("google_news", "occupations", "gendered", "shares")
    table = script.summarise(script.run_cell(cell, (10, 4), folders, 8, 200)).set_index("method")
    assert table.loc["these_words", "coverage"] >= 0.5
    assert table.loc["population", "width"] > table.loc["these_words", "width"]
    assert table.loc["population", "truth"] == pytest.approx(-0.13, abs=0.03)


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the reference data are absent")
def test_script_of_two_covariates_in_short() -> None:
    script = load_script("covariates", "two_covariates")
    folders: tuple[Path, Path, Path] = (DATA / "embeddings", DATA / "covariates", DATA / "wordlists")
    rows = script.run_cell(script.POPULATIONS[0], (10, 4), "noise that goes with the first", folders, 4, 100)
    assert rows.groupby(["slope", "scope"]).size().eq(4).all()
    table = script.summarise(rows).set_index(["slope", "scope"])
    assert (table["width"] > 0).all()
    # The second covariate has no relation to the leans of 3,000 words but by way of the first.
    assert table.loc[("second", "population"), "truth"] == pytest.approx(0, abs=0.003)
    whole = script.population_of(script.POPULATIONS[0], folders, np.random.default_rng(1))
    values = script.covariates_of(whole, "noise that goes with the first", np.random.default_rng(2))
    assert np.corrcoef(values.T)[0, 1] == pytest.approx(0.7, abs=0.04)
