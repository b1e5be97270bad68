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
    cells = pd.read_csv(KEPT / "cells.csv").set_index(["algorithm", "matrix"])
    summary, detail = script.compare(KEPT, "glove", "word vectors")
    for name in ("rms_between_slices_sd", "rms_resampled_sd", "rms_closed_sd", "held_out_slice"):
        assert cells.loc[("glove", "word vectors"), name] == pytest.approx(summary[name], abs=2e-5)
    assert (detail["document_sd"] > 0).all()


def numbers_of_the_tables() -> Iterator[str]:
    cells = pd.read_csv(KEPT / "cells.csv").set_index(["algorithm", "matrix"])
    closed = cells.loc[("glove", "word vectors")]
    yield f"{closed['rms_closed_sd'] / closed['rms_between_slices_sd']:.1f} times"
    for key, name in ((("skipgram", "vectors"), "skip-gram"), (("glove", "vectors"), "GloVe")):
        row = cells.loc[key]
        ratio = row["rms_resampled_sd"] / row["rms_between_slices_sd"]
        yield f"{ratio:.2f} for {name}"
        yield f"{row['held_out_slice']:.2f} for {name}"
    skipgram, glove = cells.loc[("skipgram", "vectors")], cells.loc[("glove", "vectors")]
    yield f"is {skipgram['resampled_ratio']:.2f} times that between independent slices for skip-gram"
    yield f"and {glove['resampled_ratio']:.2f} times for GloVe"
    yield f"alone hold it in {skipgram['without_prior']:.2f} and {glove['without_prior']:.2f}"
    values = pd.read_csv(KEPT / "trainings_glove.csv.gz").query("matrix == 'vectors' and kind == 'plain' and seed == 1")
    variances = values.groupby("contrast")["value"].var()
    share = 100 * variances.max() / variances.sum()
    yield f"one contrast, {variances.idxmax()}, makes {share:.0f} % of the variance"
    yield f"miss the aim of {HDI_PROB}"
    yield f"about {100 * (1 - math.exp(-1)):.0f} % of the documents"
    trained = cells.loc[[("skipgram", "vectors"), ("glove", "vectors")]]
    seeds, slices = trained["seeds_alone"], trained["held_out_slice"]
    yield f"hold it in {seeds.iloc[0]:.2f} and {seeds.iloc[1]:.2f} only"
    yield f"rank correlation with that over contrasts is {closed['rank_closed']:.2f}"
    yield f"that of resampling is {closed['rank_resampled']:.2f}"
    guide = " ".join((VALIDATION.parent / "docs" / "guide" / "against_what.md").read_text(encoding="utf-8").split())
    assert f"in {100 * slices.min():.0f} to {100 * slices.max():.0f} % of cases" in guide
    assert f"those over seeds alone in {100 * seeds.min():.0f} to {100 * seeds.max():.0f} %" in guide
    assert f"standard deviations were {closed['rms_closed_sd'] / closed['rms_between_slices_sd']:.1f} times" in guide
    times = pd.concat([pd.read_csv(path) for path in sorted(KEPT.glob("times_*.csv"))])
    several = times[times["trainings"] > 1].groupby(["algorithm", "kind"])[["seconds", "trainings"]].sum()
    seconds = several["seconds"] / several["trainings"]
    yield (
        f"{seconds['skipgram', 'resampled']:.1f} s against {seconds['skipgram', 'plain']:.1f} s for skip-gram, "
        f"{seconds['glove', 'resampled']:.1f} s against {seconds['glove', 'plain']:.1f} s for GloVe"
    )
    facts = {
        name: json.loads((KEPT / f"run_{name}.json").read_text(encoding="utf-8")) for name in ("glove", "skipgram")
    }
    glove, skipgram = (facts[name].pop("settings") for name in ("glove", "skipgram"))
    assert facts["glove"] == facts["skipgram"]
    run = facts["glove"]
    (articles,) = set(run["documents_a_slice"])
    trainings = times[times["trainings"] > 1].groupby("kind")["trainings"].max()
    yield f"The first {run['documents']:,} articles"
    yield f"{run['slices']} slices of {articles} articles ({{:,}} to {{:,}} words)".format(*run["tokens_a_slice"])
    yield f"{closed['slices']:.0f} of them with three seeds, and on {trainings['resampled']} draws"
    assert trainings["plain"] == 3
    yield f"{closed['contrasts']:.0f} contrasts"
    yield (
        f"Skip-gram has {skipgram['dimensions']} dimensions and {skipgram['epochs']} passes; GloVe "
        f"{glove['dimensions']}, {glove['epochs']} and a window of {glove['window']}."
    )
    yield f"the misfit of {glove['dimensions']} dimensions"


def test_the_text_says_the_numbers_of_the_tables_and_no_others() -> None:
    assert unexplained(prose(KEPT / "README.md"), numbers_of_the_tables()) == []
