"""The paper: its numbers are those of the folders that its paragraphs name, and its references exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAPER = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
BODY = PAPER.split("---\n", 2)[2]
# A paragraph, an item of a list or a row of a table, each with what it names.
PARTS = [part for part in re.split(r"\n\n|\n(?=- |\|)", BODY) if re.search("`(validation|docs)/", part)]
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)*(?![\w.]*\d)")
# No results: a probability of intervals and tests, and names.
_NAMES = re.compile(r"\b89 %|WEAT 7|0\.05\b|Python 3\.8|\bv?\d+\.\d+\.\d+\b|\[@[^\]]*\]|@\w+|`[^`]*`")


@pytest.mark.parametrize("part", PARTS, ids=lambda part: " ".join(part.split())[:40])
def test_numbers_are_those_of_the_folders_that_are_named(part: str) -> None:
    """Tests of the validation compute the numbers of its READMEs, and tests of the site those of its first page."""
    named = [path.rstrip("/") for path in re.findall(r"`((?:validation|docs)/[\w./]+)`", part)]
    paths = [ROOT / path / "README.md" if (ROOT / path).is_dir() else ROOT / path for path in named]
    numbers = {number for path in paths for number in _NUMBER.findall(path.read_text(encoding="utf-8"))}
    assert [number for number in _NUMBER.findall(_NAMES.sub(" ", part)) if number not in numbers] == []


def test_other_paragraphs_have_no_results() -> None:
    """But for counts of packages and models in words."""
    others = [part for part in re.split(r"\n\n|\n(?=- |\|)", BODY) if part not in PARTS]
    without_versions = re.sub(r"(sweater|FMAT|conText) [\d.]+\d", "", "\n\n".join(others))
    assert _NUMBER.findall(_NAMES.sub(" ", without_versions)) == []


def test_references_are_those_that_are_cited() -> None:
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"@([a-z]+\d*)", BODY)) == set(entries)


def test_entries_that_the_package_cites_too_are_the_same() -> None:
    files = [ROOT / "paper" / "paper.bib", ROOT / "data" / "references.bib"]
    entries = [
        dict(re.findall(r"^(@\w+\{\w+),(.*?)^\}", path.read_text("utf-8"), re.MULTILINE | re.DOTALL)) for path in files
    ]
    shared = entries[0].keys() & entries[1].keys()
    assert {"@article{caliskan2017", "@article{dobrzeniecka2024"} <= shared
    assert {key: entries[0][key] for key in shared} == {key: entries[1][key] for key in shared}


def test_the_paper_has_the_sections_of_its_journal() -> None:
    titles = re.findall(r"^# (.+)$", BODY, re.MULTILINE)
    assert {"Summary", "Statement of need", "State of the field", "Software design", "References"} <= set(titles)
    assert 250 <= len(BODY.split()) <= 1750
