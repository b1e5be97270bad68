"""What `validation/corpora` keeps: the text shows the tables, and the tables follow from the trainings."""

import json
import math
from collections.abc import Iterator
from types import ModuleType

import pandas as pd
import pytest

from bayesbias.base.checks import HDI_PROB
from tests.validation.numbers import prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "corpora"
GUIDE = prose(VALIDATION.parent / "docs" / "guide" / "corpora.md")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("corpora", "corpora")


@pytest.fixture(scope="module")
def text() -> str:
    return (KEPT / "README.md").read_text(encoding="utf-8")


def test_readme_shows_the_table(script: ModuleType, text: str) -> None:
    for line in script.markdown(pd.read_csv(KEPT / "cells.csv")).splitlines():
        assert line in text


def test_the_table_follows_from_the_trainings(script: ModuleType) -> None:
    cells = pd.read_csv(KEPT / "cells.csv").set_index(["algorithm", "documents", "matrix"])
    summary, detail = script.compare(KEPT, "glove_3300", "word vectors")
    for name in ("rms_between_slices_sd", "rms_resampled_sd", "rms_closed_sd", "held_out_slice"):
        assert cells.loc[("glove", 3300, "word vectors"), name] == pytest.approx(summary[name], abs=2e-5)
    assert (detail["document_sd"] > 0).all()


ALGORITHMS = ("skipgram", "glove")
SMALL, LARGE = 600, 3300


def numbers_of_the_tables() -> Iterator[str]:
    cells = pd.read_csv(KEPT / "cells.csv").set_index(["algorithm", "documents", "matrix"])
    small, large = ([cells.loc[(name, size, "vectors")] for name in ALGORITHMS] for size in (SMALL, LARGE))
    inside, ratios = "{:.2f} for skip-gram and {:.2f} for GloVe", "{:.2f} and {:.2f}"
    yield inside.format(*(row["held_out_slice"] for row in large))
    yield f"the aim is {HDI_PROB}"
    yield "alone contain it in " + ratios.format(*(row["without_prior"] for row in large))
    yield "{:.2f} times as large for skip-gram and {:.2f} times for GloVe".format(
        *(row["resampled_ratio"] for row in large)
    )
    yield f"In slices of {SMALL} articles these ratios are " + ratios.format(*(row["resampled_ratio"] for row in small))
    yield "hold the held-out slice in " + ratios.format(*(row["held_out_slice"] for row in small))
    yield f"about {100 * (1 - math.exp(-1)):.0f} % of the documents"
    yield "contain it in " + ratios.format(*(row["seeds_alone"] for row in large)) + " only"
    yield from closed_form(cells)
    yield from settings(cells)
    for quoted in (
        "in {:.0f} and {:.0f} % of cases".format(*(100 * row["held_out_slice"] for row in large)),
        "those over seeds alone in {:.0f} and {:.0f} %".format(*(100 * row["seeds_alone"] for row in large)),
        "with {} articles the intervals contained it in {:.0f} and {:.0f} % of cases".format(
            SMALL, *(100 * row["held_out_slice"] for row in small)
        ),
    ):
        assert quoted in GUIDE


def closed_form(cells: pd.DataFrame) -> Iterator[str]:
    small, large = (cells.loc[("glove", size, "word vectors")] for size in (SMALL, LARGE))
    times = [row["rms_closed_sd"] / row["rms_between_slices_sd"] for row in (small, large)]
    yield f"is {times[1]:.1f} times that between slices"
    yield f"over contrasts is {large['rank_closed']:.2f}, where that of resampling is {large['rank_resampled']:.2f}"
    yield f"In slices of {SMALL} articles the three numbers are {times[0]:.1f}, {small['rank_closed']:.2f} and " + (
        f"{small['rank_resampled']:.2f}"
    )
    values = pd.read_csv(KEPT / f"trainings_glove_{SMALL}.csv.gz")
    variances = values.query("matrix == 'vectors' and kind == 'plain' and seed == 1").groupby("contrast")["value"].var()
    share = 100 * variances.max() / variances.sum()
    yield f"In slices of {SMALL} articles one contrast, {variances.idxmax()}, makes {share:.0f} % of GloVe's variance"
    assert f"standard deviations were {times[1]:.1f} times" in GUIDE


def settings(cells: pd.DataFrame) -> Iterator[str]:
    run_files = {
        (name, size): json.loads((KEPT / f"run_{name}_{size}.json").read_text(encoding="utf-8"))
        for name in ALGORITHMS
        for size in (SMALL, LARGE)
    }
    for size in (SMALL, LARGE):
        skipgram, glove = (
            {key: value for key, value in run_files[name, size].items() if key not in ("algorithm", "settings")}
            for name in ALGORITHMS
        )
        assert skipgram == glove
        assert skipgram["documents_a_slice"] == [size, size]
    run = run_files["glove", LARGE]
    times = pd.concat([pd.read_csv(KEPT / f"times_{name}_{LARGE}.csv") for name in ALGORITHMS])
    several = times[times["trainings"] > 1].groupby(["algorithm", "kind"])[["seconds", "trainings"]].sum()
    seconds = several["seconds"] / several["trainings"]
    yield (
        f"{seconds['skipgram', 'resampled']:.1f} s against {seconds['skipgram', 'plain']:.1f} s for skip-gram, "
        f"{seconds['glove', 'resampled']:.1f} s against {seconds['glove', 'plain']:.1f} s for GloVe"
    )
    trainings = times[times["trainings"] > 1].groupby("kind")["trainings"].max()
    row = cells.loc[("glove", LARGE, "vectors")]
    yield f"The first {run['documents']:,} articles"
    yield f"{run['slices']} slices of {LARGE:,} articles ({{:,}} to {{:,}} words)".format(*run["tokens_a_slice"])
    yield f"Larger corpora than {LARGE:,} articles"
    yield f"in slices of {run_files['glove', SMALL]['documents_a_slice'][0]} articles."
    yield f"{row['slices']:.0f} of them with three seeds, and on {trainings['resampled']} draws"
    assert trainings["plain"] == 3
    yield f"{row['contrasts']:.0f} contrasts"
    skipgram, glove = (run_files[name, LARGE]["settings"] for name in ALGORITHMS)
    yield (
        f"Skip-gram has {skipgram['dimensions']} dimensions and {skipgram['epochs']} passes; GloVe "
        f"{glove['dimensions']}, {glove['epochs']} and a window of {glove['window']}."
    )
    yield f"the misfit of {glove['dimensions']} dimensions"


def test_the_text_says_the_numbers_of_the_tables_and_no_others() -> None:
    assert unexplained(prose(KEPT / "README.md"), numbers_of_the_tables()) == []
