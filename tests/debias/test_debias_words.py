"""Word sets: bundled ones, files and lists; and what is wrong with them."""

import json
import tomllib
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.debias import DebiasWords, list_debias_words, load_debias_words
from bayesbias.debias.debias_words import check_disjoint
from bayesbias.errors import InputFileError, MeasureError


@pytest.mark.parametrize("name", list_debias_words())
def test_bundled_sets_are_usable_and_name_their_source(name: str) -> None:
    sets = load_debias_words(name)
    assert sets.name in name
    assert "arXiv:1" in sets.source
    assert sets.description
    assert sets.specific
    check_disjoint(sets.equalize or ())
    content = tomllib.loads(bb.bundled("data", "debias", f"{name}.toml").read_text(encoding="utf-8"))
    assert [list(words) for words in sets.definitional] == content["definitional"]


@pytest.mark.shared
def test_bundled_sets_are_the_published_ones(shared: Path) -> None:
    def published(file: str) -> object:
        return json.loads((shared / "data" / "wordlists" / file).read_text())

    def plain(sets: object) -> list[list[str]]:
        return [list(words) for words in sets]  # type: ignore[attr-defined]

    bolukbasi = load_debias_words("gender_bolukbasi")
    assert plain(bolukbasi.definitional) == published("bolukbasi_definitional_pairs.json")
    assert plain(bolukbasi.equalize) == published("bolukbasi_equalize_pairs.json")
    assert list(bolukbasi.specific) == published("bolukbasi_gender_specific_seed.json")
    for kind in ("gender", "race", "religion"):
        content = published(f"manzini_{kind}_attributes_optm.json")
        assert isinstance(content, dict)
        sets = load_debias_words(f"{kind}_manzini")
        assert plain(sets.definitional) == content["definite_sets"]
        assert plain(sets.equalize) == content["eval_targets"]
    assert list(load_debias_words("religion_manzini").specific) == published("manzini_religion_specific.json")


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "age.toml"
    path.write_text('definitional = [["young", "old"]]\n')
    assert load_debias_words(path) == DebiasWords("age", [["young", "old"]])
    for text, message in (
        ("definitional = 3", "definitional .*not a number"),
        ("definitional = [3]", r"definitional \(item 1\) .*not a number"),
        ("definitional = []", "definitional .*not an empty list"),
        ("", r"definitional is missing.*\[\[\"one\", \"two\"\]"),
        ("definitonal = []", "'definitonal' .*'definitional'"),
        ('sets = [["he", "she"]]', r"'sets'.* name, .* concept"),
        ("definitional = [[", "TOML"),
        ('definitional = [["a", "b"]]\nname = 3', "name .*not a number"),
    ):
        path.write_text(text)
        with pytest.raises(MeasureError, match=message):
            load_debias_words(path)
    with pytest.raises(InputFileError):
        load_debias_words(tmp_path / "absent.toml")


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([], "definitional set"),
        ([["he"]], r"definitional set 1 .*\['he'\]"),
        ([["he", "he"]], r"definitional set 1 .*\['he', 'he'\]"),
        (["he"], "definitional set 1 .*'he'"),
        ("he", "definitional sets .*'he'"),
        ([["he", 3]], "definitional set 1 .*3"),
        ([["he", " "]], "definitional set 1 .*' '"),
    ],
)
def test_bad_sets(sets: object, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        DebiasWords("x", sets)  # type: ignore[arg-type]


def test_unknown_names() -> None:
    with pytest.raises(MeasureError, match="'gender_manzini'"):
        load_debias_words("gender_manzin")
