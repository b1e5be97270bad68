"""What `validation/corpora` keeps: the text shows the tables, and the tables follow from the trainings."""

from types import ModuleType

import pandas as pd
import pytest

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


def test_what_the_text_says_of_the_tables(text: str) -> None:
    cells = pd.read_csv(KEPT / "cells.csv").set_index(["algorithm", "matrix"])
    closed = cells.loc[("glove", "word vectors")]
    assert f"{closed['rms_closed_sd'] / closed['rms_between_slices_sd']:.1f} times" in text
    for key, name in ((("skipgram", "vectors"), "skip-gram"), (("glove", "vectors"), "GloVe")):
        row = cells.loc[key]
        ratio = row["rms_resampled_sd"] / row["rms_between_slices_sd"]
        assert f"{ratio:.2f} for {name}" in text
        assert f"{row['held_out_slice']:.2f} for {name}" in text
    trained = cells.loc[[("skipgram", "vectors"), ("glove", "vectors")]]
    seeds, slices = trained["seeds_alone"], trained["held_out_slice"]
    assert f"hold it in {seeds.iloc[0]:.2f} and {seeds.iloc[1]:.2f} only" in text
    assert f"rank correlation with that over contrasts is {closed['rank_closed']:.2f}" in text
    assert f"that of resampling is {closed['rank_resampled']:.2f}" in text
    guide = " ".join((VALIDATION.parent / "docs" / "guide" / "against_what.md").read_text(encoding="utf-8").split())
    assert f"in {100 * slices.min():.0f} to {100 * slices.max():.0f} % of cases" in guide
    assert f"those over seeds alone in {100 * seeds.min():.0f} to {100 * seeds.max():.0f} %" in guide
    assert f"standard deviations were {closed['rms_closed_sd'] / closed['rms_between_slices_sd']:.1f} times" in guide
    times = pd.concat([pd.read_csv(path) for path in sorted(KEPT.glob("times_*.csv"))])
    for (algorithm, kind), part in times[times["trainings"] > 1].groupby(["algorithm", "kind"]):
        assert f"{part['seconds'].sum() / part['trainings'].sum():.1f} s" in text, (algorithm, kind)
