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
    times = pd.concat([pd.read_csv(path) for path in sorted(KEPT.glob("times_*.csv"))])
    for (algorithm, kind), part in times[times["trainings"] > 1].groupby(["algorithm", "kind"]):
        assert f"{part['seconds'].sum() / part['trainings'].sum():.1f} s" in text, (algorithm, kind)
