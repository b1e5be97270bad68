"""The page "From WEFE", and what WEFE itself gave for it (`validation/wefe`)."""

import json
from typing import Any

import pytest

import bayesbias as bb
from tests.validation.scripts import VALIDATION

FOLDER = VALIDATION / "wefe"
KEPT = json.loads((FOLDER / "wefe.json").read_text(encoding="utf-8"))
ON_PAGE = json.loads((FOLDER / "page.json").read_text(encoding="utf-8"))
PAGE = (VALIDATION.parent / "docs" / "from_wefe.md").read_text(encoding="utf-8")
PROSE = " ".join(PAGE.split())  # the page without its line breaks
MEASURES, RIPA, LOOK_UP, DEBIAS = (KEPT[name] for name in ("measures", "ripa", "look_up", "debias"))
TARGETS, ATTRIBUTES = MEASURES["lists"]["targets"], MEASURES["lists"]["attributes"]
FLOAT32 = 1e-6  # what cosines in float32 leave of the digits


def vectors(seed: int = 1, **options: Any) -> bb.Embedding:
    name = f"wikipedia2018_skipgram_seed{seed}"
    return bb.load_embedding(bb.bundled("data", "vectors", f"{name}.npz"), **options)


def ours(name: str, study: Any = "weat7", **options: Any) -> Any:
    return bb.metrics.measure(name, vectors(), study, **options)


def near(theirs: Any) -> Any:
    """Return what equals WEFE's numbers, except for what cosines in float32 leave out."""
    return pytest.approx(theirs, abs=FLOAT32)


def with_attributes(case: str) -> dict[str, list[str]]:
    """Return the targets that a case of the look-up of words had, with the attributes of WEAT 7."""
    return {**LOOK_UP[case]["targets"], **ATTRIBUTES}


def stated(text: str) -> None:
    """Check that the page says something in these words."""
    assert text in PROSE
