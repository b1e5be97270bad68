"""Each citation in a text has an entry of BibTeX, and each entry is cited."""

import re

import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.models.samplers.registry import SAMPLERS
from bayesbias.reports.posterior.references import PACKAGES, WORKS, Bibliography, references
from bayesbias.studies.study import list_studies
from tests.reports.made import made_fit

# A name before a year: "Huang and Wand (2013)", "Kumar et al. 2019", "Lindley and Smith 1972".
_CITATION = re.compile(r"([^\W\d_][\w-]*|et al\.) \(?((?:19|20)\d\d)\b(?!\.)")


def without_entry(text: str, entries: list[str]) -> list[tuple[str, str]]:
    """Return the citations of a text that no entry has: an entry has the year, and the name unless it is et al."""
    return [
        (name, year)
        for name, year in _CITATION.findall(text)
        if not any(year in entry and (name == "et al." or name in entry) for entry in entries)
    ]


@pytest.mark.parametrize("name", [*list_studies(), *bb.list_models(), *PACKAGES, "nutpie", "pytensor", "bayesbias"])
def test_each_citation_of_a_model_study_or_package_has_an_entry(name: str) -> None:
    cited = Bibliography()
    if name in WORKS:
        source = bb.load_study(name).source if name in list_studies() else bb.load_model(name).source
        text = cited.source(source)
        assert text == source.strip().rstrip(".")
    else:
        text = cited.package(name, "1.2.3")
    assert cited.keys, text
    assert without_entry(text, [references()[key].entry for key in cited.keys]) == []
    for key in cited.keys:
        reference = references()[key]
        assert key == name or all(part in text for part in (reference.families[0], reference.year)), text


def test_the_source_of_a_copy_has_its_entries_and_another_source_has_none() -> None:
    cited = Bibliography()
    cited.source(f"{bb.load_model('crossed').source}\n")
    assert cited.keys == ["baayen2008", "dobrzeniecka2024"]
    other = Bibliography()
    assert other.source("Lindley and Smith (1972), and a sentence of the user.") == (
        "Lindley and Smith (1972), and a sentence of the user"
    )
    assert (other.keys, other.bibtex) == ([], "")


@pytest.mark.parametrize("model", ["multivariate", "crossed", "hierarchical", "no_pooling"])
def test_methods_have_an_entry_for_each_citation_and_cite_each_entry(model: str) -> None:
    fit = bb.fit(_table(), model, draws=200, random_seed=1, progress=False)
    before, _, after = bb.methods(fit).partition("```bibtex")
    block, _, tables = after.partition("```")
    text = before + tables
    entries = re.findall(r"^@.*?^\}", block, re.MULTILINE | re.DOTALL)
    assert without_entry(text, entries) == []
    for entry in entries:
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE))
        year = fields.get("year", "")
        family = fields["author"].partition(",")[0] if year else re.findall(r"\{(\w+),", entry)[0]
        assert re.search(rf"{family}.{{0,80}}{year}", text), entry


def test_samplers_by_chains_and_packages_of_nuts_are_cited() -> None:
    fit: xr.DataTree = made_fit(draws=50)
    fit.attrs["sampler"] = '"nuts"'
    versions = bb.models.fit_attribute(fit, "versions") | {"pymc": "6.0.0", "pytensor": "3.0.0", "nutpie": "0.16.0"}
    fit.attrs["versions"] = str(versions).replace("'", '"')
    text = bb.methods(fit)
    for key in ("hoffman2014", "vehtari2021", "abrilpla2023", "nutpie", "pytensor"):
        assert re.search(rf"^@\w+\{{{key},$", text, re.MULTILINE)
    assert "gelfand1990" not in text
    fit.attrs["sampler"] = '"collapsed"'
    assert "collapsed" in SAMPLERS
    assert "gelfand1990" in bb.methods(fit)


def test_no_entry_is_without_use_and_each_is_complete() -> None:
    in_sentences = {"gelfand1990", "hoffman2014", "vehtari2021", "vehtari2024", "bell2002", "kish1965", "kruschke2021"}
    packages = {*PACKAGES.values(), "nutpie", "pytensor", "bayesbias"}
    assert in_sentences | packages | {key for keys in WORKS.values() for key in keys} == set(references())
    for key, entry in references().items():
        fields = set(re.findall(r"^  (\w+) = ", entry.entry, re.MULTILINE))
        kind = entry.entry.partition("{")[0]
        needed = {
            "@article": {"author", "title", "journal", "volume", "pages", "year"},
            "@inproceedings": {"author", "title", "booktitle", "pages", "year"},
            "@book": {"author", "title", "publisher", "year"},
            "@software": {"author", "title"},
        }[kind]
        assert needed <= fields, key
        assert entry.entry.count("{") == entry.entry.count("}"), key
        assert not entry.year or key.startswith(re.sub(r"[^a-z]", "", entry.families[0].lower())), key


def _table() -> "object":
    return bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
