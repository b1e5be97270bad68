"""What `validation/real_contrasts` keeps: the text shows the tables, and the script runs."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from bayesbias.base.checks import HDI_PROB
from tests.validation.numbers import binomial_error, prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "real_contrasts"
EMBEDDINGS = VALIDATION.parents[1] / "shared" / "data" / "embeddings"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("real_contrasts", "real_contrasts")


@pytest.mark.parametrize("name", ["cells.csv", "others.csv"])
def test_readme_shows_the_tables(script: ModuleType, name: str) -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    cells = pd.read_csv(KEPT / name)
    parts = [cells]
    if name == "cells.csv":
        parts = [cells[~script.unequal(cells)], cells[script.unequal(cells)]]
    for part in parts:
        for line in script.markdown(part).splitlines():
            assert line in text


def test_contrasts_weigh_the_other_lists_alike(script: ModuleType) -> None:
    means = np.array([[0.9, 1.0, 1.2], [0.8, 0.7, 1.0]])
    np.testing.assert_allclose(script.contrasts(means, np.array([0, 2])), [0.9 - 1.1, 1.0 - 0.75])


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not EMBEDDINGS.exists(), reason="the reference data are absent")
def test_script_in_short(script: ModuleType, tmp_path: Path) -> None:
    cell = script.Cell("glove", "pc2", 0.5, 2, 3, 4, 0)
    rows = script.run_cell(cell, EMBEDDINGS, EMBEDDINGS.parent / "wordlists", 12, ["multivariate"])
    table = script.summarise(rows).set_index(["method", "level"])
    assert set(table.index) == {
        *(("plain_t", level) for level in ("these_words", "word")),
        *(("multivariate", level) for level in script.LEVELS),
    }
    these = table.loc[("multivariate", "these_words")]
    assert these["coverage"] > 0.6
    assert these["plain_outside"] == 0
    assert these["error_over_plain"] == pytest.approx(1, abs=0.1)


def numbers_of_the_worst_cells(script: ModuleType) -> Iterator[str]:
    cells = pd.read_csv(KEPT / "cells.csv")
    table = cells[~script.unequal(cells)]
    keys = ["vectors", "axis", "noise", "groups", "words", "attributes", "controls", "contrast"]
    by_method = {
        name: part.set_index(["level", *keys]).sort_index() for name, part in table.groupby("method", sort=False)
    }
    own, plain = by_method["multivariate"], by_method["plain_t"]
    yield f"({own.loc['word', 'error_over_plain'].max():.2f} in the worst cell)"
    these_words = own.loc["these_words"].assign(
        behind=100 * (plain.loc["these_words", "claims"] - own.loc["these_words", "claims"])
    )
    axes = these_words.index.get_level_values("axis")
    gendered, drawn = these_words[axes.str.endswith(", gendered words")], these_words[~axes.str.contains(",")]
    yield (
        f"the sd is {gendered['sd_over_error'].mean():.2f} times the error, {gendered['coverage'].mean():.2f} of the "
        f"intervals contain the truth, and the power is {gendered['behind'].mean():.0f} points below that of the plain "
        f"interval on average, {these_words['behind'].max():.0f} in the worst cell"
    )
    assert these_words["behind"].idxmax() in gendered.index
    yield (
        f"the sd is {drawn['sd_over_error'].mean():.2f} times the error, the coverage {drawn['coverage'].mean():.2f}, "
        f"and the power {drawn['behind'].mean():.0f} point below"
    )
    # Of the table of 2026-11-23, which the history of the repository has.
    yield "the sd was 1.22 times the error over all cells, and the power at most 4 points below"
    yield f"contains the truth in {these_words['coverage'].mean():.2f} of the tables"
    bias = own["bias_in_sd"].abs()
    yield f"at most {bias.max():.2f} posterior sds in a cell, {bias.loc['these_words'].mean():.2f} on average"
    of_15 = own.loc["population"].query("words == 15")["sd_over_error"].mean()
    yield f"With 15 words per group the ratio is {of_15:.2f}."
    means = table.groupby(["method", "level"])[["coverage", "sd_over_error", "error_over_plain"]].mean()
    these, word, population = (means.loc[("multivariate", level)] for level in ("these_words", "word", "population"))
    # Student's t of two lists of so many words is wider than a Normal with its scale.
    wider = {size: np.sqrt((size - 1) / (size - 2)) for size in (4, 8, 15)}
    plain_ratio = means.loc[("plain_t", "these_words"), "sd_over_error"]
    over_cells = own.loc["these_words"].index.get_level_values("attributes").map(wider).to_numpy().mean()
    yield (
        f"Its sd is {these['sd_over_error']:.2f} times the error because it holds the tails of Student's t: "
        f"{wider[4]:.2f} times the standard error for 4 words per list, {wider[8]:.2f} for 8, {wider[15]:.2f} for 15, "
        f"which is {over_cells:.2f} over these cells, times the {plain_ratio:.2f} of"
    )
    yield f"have {word['error_over_plain']:.2f} times the observed difference's error"
    yield f"and {word['coverage']:.2f} of the intervals hold"
    outside = table[(table["method"] == "multivariate") & (table["level"] == "word")]["plain_outside"].mean()
    assert outside == pytest.approx(1 / 20, abs=0.005)
    yield (
        f"{population['coverage']:.2f} contain the truth, and the posterior sd is {population['sd_over_error']:.2f} "
        "times the error"
    )
    yield "a covariance of 8 attribute words"
    curated = plain.loc["these_words"].query("axis.str.contains(',') and attributes == 8")["sd_over_error"]
    lists_of_people = curated[curated.index.get_level_values("axis").str.endswith("gendered words")].sort_values()
    yield "`plain_t` shows the same there ({:.2f} and {:.2f})".format(*lists_of_people)
    guide = " ".join((VALIDATION.parent / "docs" / "guide" / "models.md").read_text(encoding="utf-8").split())
    coverage = (100 * own["coverage"].groupby("level").mean()).round().astype(int)
    assert f"contain the truth in {coverage['these_words']} % of cases for these words" in guide
    assert f"{coverage['word']} % for single words, and {coverage['population']} % for words like these" in guide


def numbers_of_unequal_lists(script: ModuleType) -> Iterator[str]:
    cells = pd.read_csv(KEPT / "cells.csv")
    these = cells[script.unequal(cells) & (cells["level"] == "these_words")]
    both = (these["first"] > 0) & (these["spread"] > 1)
    own = these["method"] == "multivariate"
    yield f"contain the truth in {these[own & ~both]['coverage'].min():.2f} of the cases and more"
    by_spread = these[both].pivot_table(index="spread", columns="method", values="coverage")
    two, three = by_spread.loc[2.0], by_spread.loc[3.0]
    yield f"in {two['multivariate']:.2f} ({two['plain_t']:.2f} with `plain_t`)"
    yield f"in {three['multivariate']:.2f} ({three['plain_t']:.2f})"
    kinds = {name: these[own & where] for name, where in {"short": these["spread"] == 1, "both": both}.items()}
    (short,), lengths = set(kinds["short"]["first"]), sorted(set(kinds["short"]["attributes"]))
    (wide,) = these[own & (these["first"] == 0)].to_dict("records")
    yield (
        f"A first list of {short} words beside one of {lengths[0]} or {lengths[1]}, and two lists of "
        f"{wide['attributes']} words of which one spreads twice as far"
    )
    assert wide["spread"] == 2
    twice, thrice = kinds["both"].sort_values("spread").to_dict("records")
    assert (twice["spread"], thrice["spread"]) == (2, 3)
    yield f"With {twice['first']} words of twice the spread beside {twice['attributes']}"
    yield f"with {thrice['first']} words of three times the spread beside {thrice['attributes']}"
    yield "at least 8 words per list"


def numbers_of_settings(script: ModuleType) -> Iterator[str]:
    run = json.loads((KEPT / "cells.json").read_text(encoding="utf-8"))
    others = pd.read_csv(KEPT / "others.csv")
    samples = others["samples"].unique().item()
    first, second, third = sorted({int(cell.axis[2:]) for cell in script.CELLS if cell.axis.startswith("pc")})
    yield f"(principal components {first}, {second} and {third} of the vocabulary"
    noises = sorted({cell.noise for cell in script.CELLS} - {0, 99})
    yield "noise on the lean is {:g}, {:g} or {:g} sds".format(*noises)
    yield f"With noise {max(cell.noise for cell in script.CELLS)}, attribute lists"
    yield f"a *constant* one ({script.CONTRAST})"
    yield f"one *independent* for each word (sd {script.CONTRAST_SD} around {script.CONTRAST})"
    yield f"A coverage of a cell has an error of {binomial_error(HDI_PROB, run['samples']):.2f}"
    yield f"With {samples} tables per cell, a coverage has an error of about {binomial_error(HDI_PROB, samples):.2f}"
    yield "leave out 0"
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    cells = others.drop_duplicates(["vectors", "axis", "noise", "groups", "words", "attributes", "controls"])
    assert f"{run['samples']} tables per cell: the" in text
    assert f"{samples} tables in each of {len(cells)} cells" in text


def numbers_of_the_former_default() -> Iterator[str]:
    others = pd.read_csv(KEPT / "others.csv")
    former = others[others["method"] == "former default"].set_index("level")
    yield f"up to {former.loc['these_words', 'bias_in_sd'].abs().max():.2f} posterior sds from the truth"
    yield f"in {former.loc['word', 'plain_outside'].mean():.2f} of the cases"


def numbers_of_whole_lists(script: ModuleType) -> Iterator[str]:
    whole = json.loads((KEPT / "cells.json").read_text(encoding="utf-8"))["attribute_words_of_whole_lists"]
    few = {tuple(sorted(sizes)) for cell, sizes in whole.items() if not cell.endswith("valence")}
    assert len(few) > len({tuple(sizes) for cell, sizes in whole.items() if cell.endswith("valence")})
    yield f"have {min(min(sizes) for sizes in few)} to {max(max(sizes) for sizes in few)} words:"
    cells = [cell for cell in script.CELLS if cell.axis.endswith(", gendered words") and cell.attributes == 8]
    # Without replacement, and if the words of both lists spread alike.
    varies = {tuple(sorted(whole[f"{cell.vectors}: {cell.axis}"])): cell.attributes for cell in cells if not cell.first}
    less = {sizes: 1 - np.sqrt(np.mean([1 - taken / size for size in sizes])) for sizes, taken in varies.items()}
    (small, least), (large, most) = sorted(less.items(), key=lambda item: item[1])
    (taken,) = set(varies.values())
    yield (
        f"by {100 * least:.0f} and {100 * most:.0f} % where tables take {taken} words of two lists of {small[0]} and "
        f"{small[1]}, or of {large[0]} and {large[1]}, whose"
    )


@pytest.mark.shared
@pytest.mark.skipif(not EMBEDDINGS.exists(), reason="the reference data are absent")
def test_the_run_says_the_sizes_of_whole_lists(script: ModuleType) -> None:
    whole = json.loads((KEPT / "cells.json").read_text(encoding="utf-8"))["attribute_words_of_whole_lists"]
    assert script.list_sizes(EMBEDDINGS, EMBEDDINGS.parent / "wordlists") == whole


def test_the_text_says_the_numbers_of_the_tables_and_no_others(script: ModuleType) -> None:
    computed = [*numbers_of_the_worst_cells(script), *numbers_of_unequal_lists(script), *numbers_of_settings(script)]
    computed += numbers_of_the_former_default()
    computed += numbers_of_whole_lists(script)
    assert unexplained(prose(KEPT / "README.md"), computed) == []
