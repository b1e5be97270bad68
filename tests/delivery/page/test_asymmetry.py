"""The page of asymmetry: the answer first, and no word of a user is markup."""

from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, OutputError
from tests.asymmetry.made import made_norms, made_relations, made_vectors
from tests.delivery.page.pages import Reader

WORDS = tuple(f"<b>w{at:02}" for at in range(30))


@pytest.mark.parametrize("related", [True, False])
def test_the_page_says_what_the_report_says(tmp_path: Path, related: bool) -> None:
    people = bb.asymmetry.evocation(made_norms(words=WORDS), name="<i>people")
    sources = {"<u>vectors": bb.asymmetry.static(made_vectors(words=(*WORDS[:28], "x", "y")))}
    found = bb.asymmetry.report(people, sources, made_relations(WORDS) if related else None, random_seed=1)
    page = Reader(bb.write_asymmetry_page(found, tmp_path / "asymmetry.html").read_text(encoding="utf-8"))
    shown = " ".join(page.texts)
    (agreed,) = found.parts[1].statements
    assert shown.index(agreed.text) < shown.index("What it does not show")
    assert {*found.ratios["a"], *found.ratios["b"]} & set(page.texts)
    assert "made lacks '<b>w29'" in shown
    assert len(page.all("img")) == 1 + related  # relations have a figure of their own
    assert ("Mean log asymmetry ratio (ALAR)" in shown) == related
    with pytest.raises(OutputError, match="exists"):
        bb.write_asymmetry_page(found, tmp_path / "asymmetry.html")
    with pytest.raises(ArgumentError, match=r"what bb\.asymmetry\.report returned"):
        bb.write_asymmetry_page(people, tmp_path / "other.html")  # type: ignore[arg-type]
