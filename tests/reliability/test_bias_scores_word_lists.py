import json

import pytest

import bayesbias as bb
from bayesbias.base.files.inputs import bundled, read_toml
from bayesbias.errors import InputFileError, MeasureError
from bayesbias.metrics import load_base_pairs
from bayesbias.reliability import load_queries, load_target_words


def test_sizes_are_those_of_the_paper():
    """Section 5.1 of Du, Fang and Nguyen (2021): 320, 76 and 230 words, 23 base pairs, six queries of eight."""
    sizes = {name: len(set(load_target_words(name))) for name in ("occ16", "occ18", "adj")}
    assert sizes == {"occ16": 320, "occ18": 76, "adj": 230}
    assert len(set(load_base_pairs())) == 23
    queries = load_queries()
    assert list(queries) == ["career", "family", "arts", "arts_2", "math", "science"]
    assert {len(set(words)) for words in queries.values()} == {8}


def test_queries_are_those_of_the_bundled_studies():
    """WEAT 6, 7 and 8 hold the same words, some of them capitalised."""
    queries, weat = load_queries(), {number: bb.load_study(f"weat{number}") for number in (6, 7, 8)}
    lists = {"career": weat[6].attributes, "family": weat[6].attributes, "math": weat[7].protected}
    lists |= {"arts": weat[7].protected, "science": weat[8].protected}
    for name, groups in lists.items():
        assert queries[name] == tuple(word.lower() for word in groups[name])
    assert queries["arts_2"] == tuple(word.lower() for word in weat[8].protected["arts"])


def test_every_bundled_list_names_its_source():
    for path in bundled("data", "reliability").rglob("*.toml"):
        document = read_toml(path, MeasureError)
        assert document["name"] == path.stem
        assert "Du, Qixiang Fang and Dong Nguyen (2021)" in document["source"]


@pytest.mark.shared
def test_lists_are_those_of_the_published_code(shared):
    folder = shared / "data" / "wordlists"
    assert list(load_target_words("occ16")) == json.loads((folder / "nlpsoc_professions.json").read_text())
    assert list(load_target_words("occ18")) == (folder / "nlpsoc_occupations1950.txt").read_text().split()
    assert list(load_target_words("adj")) == (folder / "nlpsoc_adjectives_williamsbest.txt").read_text().split()


def test_lists_of_ones_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('words = ["cat", "dog"]\npairs = [["he", "she"]]\n[queries]\npets = ["cat", "dog"]\n')
    assert load_target_words(path) == load_target_words(str(path)) == ("cat", "dog")
    assert load_base_pairs(path) == load_base_pairs(str(path)) == (("he", "she"),)
    assert load_queries(str(path)) == {"pets": ("cat", "dog")}


def test_bad_input(tmp_path):
    with pytest.raises(MeasureError, match=r"'occ17'.*occ18"):
        load_target_words("occ17")
    with pytest.raises(MeasureError, match=r"'gendr'.*'gender'"):
        load_queries("gendr")
    path = tmp_path / "bad.toml"
    for load in (load_target_words, load_queries, load_base_pairs):
        with pytest.raises(InputFileError, match=r"bad\.toml"):
            load(path)
    contents = {
        "": (load_target_words, load_queries, load_base_pairs),
        'words = "cat"\npairs = "he"\nqueries = ["cat"]': (load_target_words, load_queries, load_base_pairs),
        'words = []\npairs = []\n[queries]\npets = ["cat"]': (load_target_words, load_queries, load_base_pairs),
        'pairs = [["he"]]\n[queries]\npets = ["cat", "cat"]': (load_queries, load_base_pairs),
        "words = [": (load_target_words,),
    }
    for content, loads in contents.items():
        path.write_text(content)
        for load in loads:
            with pytest.raises(MeasureError):
                load(path)
