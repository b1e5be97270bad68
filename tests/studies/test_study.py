"""Studies: what is bundled, what is refused and how it is said, and that no input gets past the checks."""

import json
import pickle
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import StudyError
from bayesbias.studies import study as studies
from bayesbias.studies.study import control_list, list_studies, load_study, write_study_template
from bayesbias.tables.study_pairs import StudyPairs
from tests.studies.made import make

# Words in each group as the sources count them: Caliskan et al. (2017), Table 1; Manzini et al. (2019), word
# lists; Dobrzeniecka and Urbaniak (2024), appendix. In natural order: weat2 precedes weat10.
SIZES = {
    "gender": ([7, 7], [12, 13]),
    "names_race_gender": ([9, 9, 9, 9], [25, 25]),
    "race": ([3, 4, 3], [5, 6, 4]),
    "religion": ([5, 5, 5], [4, 3, 4]),
    "weat1": ([25, 25], [25, 25]),
    "weat2": ([25, 25], [25, 25]),
    "weat3": ([32, 32], [25, 25]),
    "weat4": ([16, 16], [25, 25]),
    "weat5": ([16, 16], [8, 8]),
    "weat6": ([8, 8], [8, 8]),
    "weat7": ([8, 8], [8, 8]),
    "weat8": ([8, 8], [8, 8]),
    "weat9": ([6, 6], [7, 7]),
    "weat10": ([8, 8], [8, 8]),
}


def test_bundled_studies_are_listed_in_natural_order() -> None:
    assert list_studies() == list(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_bundled_study_has_the_sizes_of_its_source(name: str) -> None:
    study = load_study(name)
    assert study.name == name
    assert study.description.endswith("?")
    assert re.search(r"\(\d{4}\)", study.source)
    protected, attributes = SIZES[name]
    assert [len(words) for words in study.protected.values()] == protected
    assert [len(words) for words in study.attributes.values()] == attributes
    assert len(study.associated) == len(protected)
    assert study.connections == studies.CONNECTIONS


def test_control_lists_are_the_papers() -> None:
    assert len(set(control_list("human"))) == 85
    assert len(set(control_list("neutral"))) == 226
    assert not set(control_list("human")) & set(control_list("neutral"))
    with pytest.raises(StudyError, match=r"'humen'.*'human'"):
        control_list("humen")


@pytest.mark.parametrize("name", [name for name in SIZES if name != "weat10"])
def test_bundled_studies_use_the_whole_control_lists(name: str) -> None:
    study = load_study(name)
    assert (len(study.human), len(study.neutral), study.left_out_controls) == (85, 226, ())


def test_a_control_word_that_a_study_uses_is_left_out_whatever_its_case() -> None:
    study = load_study("weat10")
    assert "Billy" in study.protected["young_names"]
    assert study.left_out_controls == ("billy",)
    assert "billy" not in study.neutral
    assert len(study.neutral) == 225
    assert make(human=["clock"]).left_out_controls == ("clock",)
    assert make(attributes={"warm": ["eat"], "cold": ["ice", "grass"]}).left_out_controls == ("eat", "grass")


def test_words_connections_and_lists() -> None:
    study = make(human="none", neutral=["table"])
    assert study.protected_words == ("july", "august", "january")
    assert study.attribute_words == ("hot", "sunny", "snow", "ice")
    assert study.words == ("july", "august", "january", "hot", "sunny", "snow", "ice", "table")
    assert study.attribute_lists == {"warm": ("hot", "sunny"), "cold": ("snow", "ice"), "neutral": ("table",)}
    assert study.human == ()
    assert study.connections == ("associated", "different", "neutral")
    assert study.connection("summer", "warm") == "associated"
    assert study.connection("winter", "warm") == "different"
    assert study.connection("winter", "neutral") == "neutral"
    with pytest.raises(StudyError, match=r"'sumer' .*'summer'"):
        study.connection("sumer", "warm")
    with pytest.raises(StudyError, match=r"attribute .*'human'"):
        study.connection("summer", "human")


def test_no_different_where_everything_is_associated() -> None:
    study = make(protected={"summer": ["july"]}, associated=[("summer", "warm"), ("summer", "cold")])
    assert study.connections == ("associated", "human", "neutral")


def test_groups_without_an_association_and_shared_group_names_are_fine() -> None:
    study = make(protected={"warm": ["july"], "winter": ["january"]}, associated=[("warm", "warm")])
    assert study.connection("winter", "cold") == "different"


def test_a_study_is_frozen_tuples_and_survives_pickling() -> None:
    study = make()
    assert study.protected == {"summer": ("july", "august"), "winter": ("january",)}
    assert study.associated == (("summer", "warm"), ("winter", "cold"))
    assert pickle.loads(pickle.dumps(study)) == study
    assert load_study(study) is study
    assert len(repr(study)) < 300
    with pytest.raises(AttributeError):
        study.name = "other"  # type: ignore[misc]


@pytest.mark.shared
def test_words_are_those_of_the_published_lists_and_tables(shared: Path) -> None:
    lists = shared / "data" / "wordlists"
    wefe = json.loads((lists / "weat_wefe.json").read_text())
    names = {
        "weat1": ("flowers", "insects", "pleasant_5", "unpleasant_5a"),
        "weat2": ("instruments", "weapons", "pleasant_5", "unpleasant_5a"),
        "weat3": ("european_american_names_5", "african_american_names_5", "pleasant_5", "unpleasant_5b"),
        "weat4": ("european_american_names_7", "african_american_names_7", "pleasant_5", "unpleasant_5b"),
        "weat5": ("european_american_names_7", "african_american_names_7", "pleasant_9", "unpleasant_9"),
        "weat6": ("male_names", "female_names", "career", "family"),
        "weat7": ("math", "arts", "male_terms", "female_terms"),
        "weat8": ("science", "arts_2", "male_terms_2", "female_terms_2"),
        "weat9": ("mental_disease", "physical_disease", "temporary", "permanent"),
        "weat10": ("young_people_names", "old_people_names", "pleasant_9", "unpleasant_9"),
    }
    # Where ours follow Caliskan et al. and WEFE's do not.
    swapped = {"weat10": {"Bill": "Billy"}}
    too_rare = {"Jay", "Kristen", "Tremayne", "Latonya"}
    removed = {"weat4": too_rare, "weat5": too_rare}
    for name, keys in names.items():
        study = load_study(name)
        for words, key in zip([*study.protected.values(), *study.attributes.values()], keys, strict=True):
            theirs = [swapped.get(name, {}).get(word, word) for word in wefe[key]]
            assert list(words) == [word for word in theirs if word not in removed.get(name, ())]

    for name in ("religion", "race", "gender"):
        study = load_study(name)
        manzini = json.loads((lists / f"manzini_{name}_attributes_optm.json").read_text())
        assert set(study.protected_words) == {word for row in manzini["definite_sets"] for word in row}
        (groups,) = manzini["analogy_templates"].values()
        for group, words in groups.items():
            ours = study.attributes[f"{group}_stereotype"]
            assert list(ours) == ["critical" if word == "judgemental" else word for word in words]

    tables = shared / "data" / "published" / "tables"
    for path in sorted(tables.glob("*.csv.gz")):
        table = pd.read_csv(path)
        study = load_study(path.name.split("_")[0])
        assert set(table["protected_word"]) == set(study.protected_words)
        group_of = {word: group for group, words in study.protected.items() for word in words}
        list_of = {word: name for name, words in study.attribute_lists.items() for word in words}
        connection = table["connection"].replace("none", "neutral")
        controls = connection.isin(["human", "neutral"])
        if not path.name.endswith("_pair.csv.gz"):  # those hold an earlier version of the control lists
            for control in ("human", "neutral"):
                theirs = set(table.loc[connection == control, "word_to_compare"])
                assert theirs == set(study.attribute_lists[control])
        assert set(table.loc[~controls, "word_to_compare"]) == set(study.attribute_words)
        expected = [
            study.connection(group_of[row.protected_word], list_of[row.word_to_compare])
            for row in table[~controls].itertuples()
        ]
        assert connection[~controls].tolist() == expected


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "published"),
    [("weat1", 1.54), ("weat2", 1.63), ("weat6", 1.89), ("weat7", 0.97), ("weat8", 1.24), ("weat9", 1.30)],
)
def test_words_reproduce_the_published_effect_sizes(shared: Path, name: str, published: float) -> None:
    with np.load(shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz") as file:
        words, vectors = file["words"].tolist(), file["vectors"].astype(float)
    unit = dict(zip(words, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), strict=True))
    study = load_study(name)
    lists = [*study.protected.values(), *study.attributes.values()]
    first, second, a, b = (np.array([unit[word] for word in words if word in unit]) for words in lists)
    scores = [(targets @ a.T).mean(axis=1) - (targets @ b.T).mean(axis=1) for targets in (first, second)]
    effect = (scores[0].mean() - scores[1].mean()) / np.concatenate(scores).std(ddof=1)
    assert effect == pytest.approx(published, abs=0.01)


def test_questions_travel_from_the_file_to_the_table_and_back(tmp_path: Path) -> None:
    path = write_study_template(tmp_path / "mine.toml")
    path.write_text(
        path.read_text(encoding="utf-8").replace('# "science against', '"science against'), encoding="utf-8"
    )
    study = load_study(path)
    assert study.questions == {"science against arts, to male words": (("science", "male"), ("arts", "male"))}
    vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    with pytest.warns(bb.errors.LostWordsWarning):
        table = bb.distance_table(vectors, study)
    bb.write_table(table, tmp_path / "t.csv")
    stored = bb.read_table(tmp_path / "t.csv").attrs["bayesbias"]["questions"]
    assert stored == {"science against arts, to male words": [["science", "male"], ["arts", "male"]]}


@pytest.mark.parametrize("neutral", ["none", "paper", ["chair"]])
def test_a_study_can_be_copied_with_a_change(neutral: Any) -> None:
    study = make(human="none", neutral=neutral)
    changed = replace(study, name="seasons")
    assert changed.name == "seasons"
    assert (changed.human, changed.neutral, changed.attribute_lists) == ((), study.neutral, study.attribute_lists)
    assert changed.connections == study.connections
    assert replace(changed, human=["person"]).human == ("person",)


def test_a_copy_keeps_the_bundled_controls_that_were_left_out() -> None:
    study = make(attributes={"warm": ["arm", "dallas"], "cold": ["snow"]})
    assert study.left_out_controls == ("arm", "dallas")
    copy = replace(pickle.loads(pickle.dumps(study)), name="seasons")
    assert (copy.left_out_controls, copy.human, copy.neutral) == (study.left_out_controls, study.human, study.neutral)
    changed = replace(study, attributes={"warm": ["toy"], "cold": ["snow"]})
    assert changed.left_out_controls == ("toy",)
    assert "arm" in changed.human


def test_bundled_controls_serve_english_only() -> None:
    lists: dict[str, Any] = {"protected": {"m": ["männer"]}, "attributes": {"a": ["arm"]}, "associated": [("m", "a")]}
    with pytest.raises(StudyError, match=r"human is.*'de'.*human = \"none\"") as refused:
        bb.Study(name="armut", language="de", **lists)
    assert "neutral is" in str(refused.value)
    study = bb.Study(name="armut", language="de", human=["hand"], neutral="none", **lists)
    assert (study.human, study.neutral, study.left_out_controls) == (("hand",), (), ())
    assert len(bb.Study(name="s", language="en-GB", **lists).human) == 84  # 85 without "arm"
    for tag in ("", "de_AT", "ü", 5):
        with pytest.raises(StudyError, match="language is"):
            bb.Study(name="armut", language=tag, human="none", neutral="none", **lists)  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="'de'"):
        replace(make(), language="de")


def test_a_study_file_keeps_its_language(tmp_path: Path) -> None:
    study = make(language="de", human="none", neutral="none")
    (tmp_path / "s.toml").write_text(studies.study_text(study))
    assert load_study(tmp_path / "s.toml") == study
    assert "language" not in studies.study_text(make())


def test_words_are_stored_in_one_normal_form() -> None:
    composed, decomposed = "m\u00e4nner", "ma\u0308nner"
    lists: dict[str, Any] = {"attributes": {"warm": ["hot"], "cold": [decomposed]}, "human": [decomposed + "n"]}
    study = make(**lists)
    assert study.attributes["cold"] == (composed,)
    assert study.human == (composed + "n",)
    with pytest.raises(StudyError, match="2 times"):
        make(attributes={"warm": ["hot"], "cold": [composed, decomposed]})


def test_word_lists_are_those_of_their_sources() -> None:
    # Sizes: the files of the code of Garg et al. (words once), and the 6,789 words of Hu and Liu's two files.
    eds, opinions = bb.studies.load_word_lists("eds"), bb.studies.load_word_lists("bing_liu")
    assert {name: len(words) for name, words in opinions.items()} == {"positive_words": 2006, "negative_words": 4783}
    assert len(eds) == 21
    assert {len(eds[f"names_{group}"]) for group in ("asian", "black", "hispanic", "russian", "white")} == {20}
    assert (len(eds["names_chinese"]), len(eds["words_islam"]), len(eds["words_terrorism"])) == (17, 18, 46)
    assert all(len(set(words)) == len(words) for lists in (eds, opinions) for words in lists.values())
    assert {"naïve", "2-faced", "zombie"} < set(opinions["negative_words"])
    assert set.intersection(*map(set, opinions.values())) == {"envious", "enviously", "enviousness"}
    study = make(protected={"b": eds["names_black"][3:], "r": eds["names_russian"]}, associated=[("b", "warm")])
    assert study.protected["r"] == eds["names_russian"]
    with pytest.raises(StudyError, match=r"'bing_lui'.*'bing_liu'"):
        bb.studies.load_word_lists("bing_lui")


def test_a_study_of_many_groups_takes_no_cubic_time():
    names = range(600)
    study = bb.Study(
        name="many",
        protected={f"p{name}": [f"word {name}"] for name in names},
        attributes={f"a{name}": [f"other {name}"] for name in names},
        associated=[(f"p{name}", f"a{other}") for name in names for other in names[:50]],
        human="none",
        neutral="none",
    )
    start = time.process_time()
    assert study.connections == ("associated", "different")
    connections = StudyPairs.from_words(study, study.words).connections
    assert time.process_time() - start < 5  # without sets, three minutes
    assert sum(connection == "associated" for connection in connections.values()) == 600 * 50
    assert replace(study, associated=[("p1", "a1")]).connection("p1", "a2") == "different"


def test_connections_are_those_of_all_pairs_of_lists():
    whole = bb.Study(name="x", protected={"p": ["a"]}, attributes={"q": ["b"]}, associated=[("p", "q")], neutral="none")
    assert whole.connections == ("associated", "human")
