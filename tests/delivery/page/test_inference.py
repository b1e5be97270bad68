"""The page of models of inference."""

from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, OutputError
from tests.nli.made import compared


def test_the_page_leads_with_the_answer_and_holds_every_number(tmp_path: Path) -> None:
    found = compared()
    page = bb.write_inference_page(found, tmp_path / "page.html").read_text(encoding="utf-8")
    first = page[: page.index(">Contents<")]
    for part in found.parts[:3]:
        for said in part.statements:
            assert said.text in first
    assert found.parts[-1].statements[0].text in page
    for change in [*found.changes["mean"], *found.values["mean"]]:
        assert f">{change:+.3f}<" in page
    for mean in found.words["mean"]:
        assert f">{mean:.3f}<" in page
    with pytest.raises(OutputError, match="exists"):
        bb.write_inference_page(found, tmp_path / "page.html")


def test_names_are_escaped_and_other_things_refused(tmp_path: Path) -> None:
    found = compared({"original": 0.2, "<b>": 0.1})
    page = bb.write_inference_page(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    with pytest.raises(ArgumentError, match=r"bb\.nli\.compare"):
        bb.write_inference_page("found", tmp_path / "other.html")  # type: ignore[arg-type]
