"""What `validation/random_lists` keeps: the text shows the tables; the script runs; its oracle keeps its promise."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from tests.validation.numbers import prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "random_lists"
EMBEDDINGS = VALIDATION.parents[1] / "shared" / "data" / "embeddings"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("random_lists", "random_lists")


def test_readme_shows_the_tables(script: ModuleType) -> None:
    table = pd.read_csv(KEPT / "claims.csv")
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    for line in script.markdown(table).splitlines():
        assert line in text


def test_the_texts_name_the_range_of_claims() -> None:
    table = pd.read_csv(KEPT / "claims.csv")
    null = table[(table["contrast"] == 0) & (table["vectors"] != "all")].assign(
        percent=lambda rows: 100 * rows["claims"]
    )
    least, most = (null.groupby("method")["percent"].agg(which).round().astype(int) for which in ("min", "max"))
    others = ["crossed_per_list", "hierarchical"]
    package = " ".join((VALIDATION.parent / "docs" / "guide" / "models.md").read_text(encoding="utf-8").split())
    assert f"in {least[others].min()} to {most[others].max()} % of the samples" in package
    assert f"and the default in {least['multivariate']} to {most['multivariate']} %" in package
    own = null[null["method"] == "multivariate"]
    for name in ("these_words", "word", "protected_group"):
        # No more than is promised, within three Monte Carlo errors, in any cell.
        assert (own[f"{name}_claims"] < 0.11 + 3 * own[f"{name}_claims_se"]).all()


def numbers_of_means(script: ModuleType) -> Iterator[str]:
    table = pd.read_csv(KEPT / "claims.csv")
    means = script.pooled(table).set_index(["method", "contrast", "controls"]).sort_index()

    def both(method: str, column: str) -> list[float]:
        return [means.loc[(method, 0.0, controls), column] for controls in (0, 100)]

    without, with_controls = both("multivariate", "sd_to_error")
    said = f"is {without:.2f} times the actual error without controls and {with_controls:.2f} with 100"
    these = both("multivariate", "these_words_sd_to_error")
    religions = table.query("vectors == 'google_news' and protected == 'religion' and contrast == 0")
    few_words = religions[religions["method"] == "multivariate"].sort_values("controls")["sd_to_error"]
    yield "({:.1f} and {:.1f} times the error there)".format(*few_words)
    yield f"{said} ({these[0]:.2f} and {these[1]:.2f} for these words)"
    yield "oracle ({:.2f} and {:.2f}) knows".format(*both("oracle", "sd_to_error"))
    power = {contrast: 100 * means.loc[("multivariate", contrast), "claims"] for contrast in (-0.03, -0.08)}
    small, large = ([f"{value:.0f}" for value in power[contrast]] for contrast in (-0.03, -0.08))
    yield f"{' to '.join(dict.fromkeys(small))} % for a contrast of -0.03 and {' to '.join(large)} % for -0.08"
    behind = 100 * means.loc[("oracle_plain_difference", -0.03), "claims"] - power[-0.03]
    yield f"That is {behind.mean():.0f} points behind"
    null = table[(table["contrast"] == 0) & (table["method"] == "multivariate")]
    shares = {name: 100 * null[name].mean() for name in ("claims", "these_words_claims", "protected_group_claims")}
    said = "{:.0f} % for words like these, {:.0f} % for these words, {:.0f} % for groups".format(*shares.values())
    yield f"{said} and {100 * null['word_claims'].mean():.0f} % for single words"
    worst = {name: 100 * null.loc[null[name].idxmax(), [name, f"{name}_se"]] for name in [*shares, "word_claims"]}
    most = {name: "at most {:.0f} ± {:.0f} %".format(*numbers) for name, numbers in worst.items()}
    yield f"({most['claims']}; for these words"
    yield f", {most['these_words_claims']}; single words {most['word_claims']};"
    yield f"groups {most['protected_group_claims']}:"
    weat = {f"{100 * share:.0f} %" for share in means.loc[("weat", 0.0), "claims"]}
    yield f"WEAT's p is below 0.05 in {weat.pop()}: its nominal 5 %"
    yield f"WEAT's higher power comes with its {100 * means.loc[('weat', 0.0), 'claims'].mean():.0f} % of false claims"
    assert not weat
    oracle = {contrast: 100 * means.loc[("oracle", contrast), "claims"] for contrast in (-0.03, -0.08)}
    assert oracle[-0.08].min() > 99
    yield f"The oracle ({oracle[-0.03].mean():.0f} %, above 99 %)"


def numbers_of_other_models() -> Iterator[str]:
    table = pd.read_csv(KEPT / "claims.csv")
    others = table[(table["contrast"] == 0) & table["method"].isin(["crossed_per_list", "hierarchical"])]
    worst = others.loc[others["claims"].idxmax()]
    assert (worst["vectors"], worst["protected"], worst["method"]) == ("google_news", "names", "crossed_per_list")
    assert worst["sd_to_error"] == pytest.approx(0.5, abs=0.05)
    wide = others[others["vectors"].isin(["bundled", "glove"]) & others["protected"].isin(["gender", "religion"])]
    assert wide["claims"].max() < 0.02
    ratios = wide["sd_to_error"]
    yield (
        f"from {100 * others['claims'].min():.0f} % with a posterior sd of about {ratios.min():.0f} to "
        f"{ratios.max():.0f} times the error"
    )
    yield f"up to {100 * worst['claims']:.0f} % with half the error"


def numbers_of_settings(script: ModuleType) -> Iterator[str]:
    run = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))
    (samples,) = set(run["samples"].values())
    (controls,) = set(pd.read_csv(KEPT / "claims.csv")["controls"]) - {0}
    small, large = script.CONTRASTS[1:]
    yield f"{script.LIST} attribute words for each protected group, and {controls} controls or none"
    yield f"on all {samples} samples of a cell"
    yield f"on the first {script.OTHER_SAMPLES};"
    assert run["samples_of_other_models"] == script.OTHER_SAMPLES
    yield f"{small} and {large} are added"
    yield f"at most {load_script('random_lists', 'random_list_cells').EACH} (`PROTECTED`"
    words = 2 * script.LIST
    yield f"With a covariance estimated from {words} attribute words"
    degrees = words - 2
    yield f"a posterior sd of about {np.sqrt(degrees / (degrees - 2)):.2f} times the error"
    yield f"because {words} attribute words leave"
    drawn_from = pd.Series({cell: of["drawn_from"] for cell, of in run["words"].items()})
    ranges = []
    for vectors, title in (("google_news", "Google News"), ("glove", "GloVe"), ("bundled", "bundled")):
        of_vectors = drawn_from[drawn_from.index.str.startswith(vectors)]
        ranges.append(f"{title} {of_vectors.min():,} to {of_vectors.max():,}")
    yield f"({', '.join(ranges)})"
    yield "only {}, {} and {} words of the religions".format(
        *run["words"]["google_news_religion"]["protected_words"].values()
    )


def test_the_text_says_the_numbers_of_the_tables_and_no_others(script: ModuleType) -> None:
    computed = [*numbers_of_means(script), *numbers_of_other_models(), *numbers_of_settings(script)]
    # Nominal rates, and definitions.
    computed += ["(nominal 11 %), WEAT where p < 0.05 (nominal 5 %)", "errors above 11 %)", "nominal are 11 %"]
    computed += ["(nominal 11; WEAT 5)", "leaves out 0", "is 0 for each protected word", "of the estimate: 1 if"]
    assert unexplained(prose(KEPT / "README.md"), computed) == []


def test_the_text_says_which_aims_are_reached(script: ModuleType) -> None:
    table = pd.read_csv(KEPT / "claims.csv")
    means = script.pooled(table).set_index(["method", "contrast"]).loc[[("multivariate", 0.0), ("oracle", 0.0)]]
    null = table[(table["contrast"] == 0) & (table["method"] == "multivariate")]
    single_words = np.exp(np.log(null["word_sd_to_error"]).groupby(null["controls"]).mean())
    shown = {
        name: "{:.0f} and {:.0f} %".format(*(100 * (ratios - 1)))
        for name, ratios in {
            "these_words": means.loc["multivariate", "these_words_sd_to_error"],
            "words": single_words,
            "population": means.loc["multivariate", "sd_to_error"],
            "oracle": means.loc["oracle", "sd_to_error"],
        }.items()
    }
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    assert (
        f"for these words ({shown['these_words']}) and single words ({shown['words']}); for words like these "
        f"{shown['population']} too wide (the oracle: {shown['oracle']})"
    ) in text
    power = table[table["contrast"] == -0.03].set_index(["method", "vectors", "protected", "controls"])["claims"]
    behind = 100 * (power["oracle_plain_difference"] - power["multivariate"])
    assert f"{behind.mean():.0f} points behind on average, {behind.max():.0f} in the worst cell" in text


@pytest.mark.parametrize(
    "vectors", ["bundled", *(pytest.param(name, marks=pytest.mark.shared) for name in ("google_news", "glove"))]
)
def test_the_run_says_the_numbers_of_words(script: ModuleType, vectors: str) -> None:
    if vectors != "bundled" and not EMBEDDINGS.exists():
        pytest.skip("the reference data are absent")
    run = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))
    found = script.sizes(list(script.cells(EMBEDDINGS, [vectors])))
    assert found == {cell: of for cell, of in run["words"].items() if cell.startswith(vectors)}


def test_who_knows_the_covariance_claims_as_often_as_promised(script: ModuleType) -> None:
    """Lists of the bundled vectors: a difference with its known sd, Normal by the mean of many distances."""
    cell = next(script.cells(Path(), ["bundled"]))
    rows = [list(script.oracle_rows(cell, cell.distances(sample)))[2] for sample in range(300)]
    claims = np.mean([row["low"] > 0 or row["high"] < 0 for row in rows])
    assert abs(claims - 0.11) < 4 * np.sqrt(0.11 * 0.89 / 300)
    error = np.sqrt(np.mean([row["mean"] ** 2 for row in rows]))
    assert rows[0]["sd"] == pytest.approx(error, rel=4 / np.sqrt(2 * 300))


@pytest.mark.slow
def test_script_in_short(script: ModuleType, tmp_path: Path) -> None:
    cells = [cell for cell in script.cells(Path(), ["bundled"]) if cell.words in ("gender", "religion")]
    script.run(cells, 2, tmp_path)
    fits = script.read_fits(tmp_path)
    assert len(fits) == 2 * (2 * 7 + 2 * 6)
    script.run(cells, 2, tmp_path)
    pd.testing.assert_frame_equal(script.read_fits(tmp_path), fits)
    table = script.summarise(fits)
    assert set(table["method"]) >= {"multivariate", "crossed_per_list", "hierarchical", "oracle", "weat"}
    # With a contrast added, more is claimed; a refit of the shifted distances says the same as the shifted fit.
    claims = table[table["method"] == "multivariate"].groupby("contrast")["claims"].mean()
    assert claims[-0.08] > claims[0.0]
    assert script.refits(cells[:1], 1)[["mean", "low", "high"]].abs().to_numpy().max() < 0.5
