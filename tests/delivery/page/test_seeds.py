"""The page of a comparison of seeds: the answer first, and no word of a user is markup."""

from pathlib import Path

import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.base.statements import interval_text
from bayesbias.errors import ArgumentError, OutputError
from tests.delivery.page.pages import TAG, Reader


def test_the_page_says_whether_it_is_stable(fitted: xr.DataTree, tmp_path: Path) -> None:
    found = bb.compare_seeds({"one": fitted, "<i>two": fitted}, level="all", random_seed=1)
    page = Reader(bb.write_seeds_page(found, tmp_path / "seeds.html").read_text(encoding="utf-8"))
    shown = " ".join(page.texts)
    assert shown.index(found.verdict.text) < shown.index("Answers")
    assert TAG in shown
    assert len(page.all("img")) == 1
    for _, row in found.contrasts.iterrows():
        assert interval_text(row["next_low"], row["next_high"]) in shown
    for statement in found.parts[-1].statements:
        assert statement.text in shown
    assert all(text in shown for text in found.facts["doubts"])
    with pytest.raises(OutputError, match="exists"):
        bb.write_seeds_page(found, tmp_path / "seeds.html")
    with pytest.raises(ArgumentError, match="what compare_seeds returned"):
        bb.write_seeds_page(fitted, tmp_path / "other.html")  # type: ignore[arg-type]
