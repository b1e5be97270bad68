"""Factors of a study: what is refused, with the words and cells that are at fault, and that files keep factors."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bayesbias as bb
from bayesbias.errors import StudyError
from bayesbias.studies.faults import factor_faults, plain_factors
from bayesbias.studies.study import study_text

GROUPS = {name: [f"{name}1", f"{name}2"] for name in ("black women", "black men", "white women", "white men")}
RACE = {"black": ["black women", "black men"], "white": ["white women", "white men"]}
GENDER = {"women": ["black women", "white women"], "men": ["black men", "white men"]}


def crossed(**sections: Any) -> bb.Study:
    """Return a study of race by gender, with some sections changed."""
    return bb.Study(
        name="names",
        protected=GROUPS,
        attributes={"good": ["love"], "bad": ["war"], "other": ["thing"]},
        associated=[("white men", "good")],
        human="none",
        **{"factors": {"race": RACE, "gender": GENDER}} | sections,
    )


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"factors": ["race"]}, r"factors must be a section .* not a list"),
    ({"factors": {"race": ["black"]}}, r"factor 'race' must have levels.* not a list"),
    ({"factors": {"race": {"black": ["black men"]}}}, r"factor 'race' has 1 level: give two"),
    ({"factors": {"race": {}}}, r"factor 'race' has no levels"),
    ({"factors": {" ": RACE}}, r"factor named ' '"),
    ({"factors": {"race": RACE | {"x ": ["black men"]}}}, r"level named 'x '"),
    ({"factors": {"race": RACE | {"black": "black men"}}}, r"level 'black' of factor 'race' must be a list"),
    ({"factors": {"race": RACE | {"black": []}}}, r"level 'black' .* not an empty list"),
    ({"factors": {"race": RACE | {"black": ["black men", 3]}}}, r"level 'black' .* a number: put each name"),
    ({"factors": {"race": RACE | {"black": ["black men"] * 2}}}, r"level 'black' .* names 'black men' twice"),
    ({"factors": {"race": RACE | {"white": ["white mem"]}}}, r"'white mem', .*no protected group.*'white men'"),
    ({"factors": {"race": RACE | {"white": ["white men1"]}}}, r"'white men1', a word of protected group 'white men'"),
    (
        {"factors": {"race": RACE | {"white": ["white women", "white men", "black men"]}}},
        r"'black men' \(black men1, black men2\) is in the levels 'black', 'white' of factor 'race'",
    ),
    (
        {"factors": {"race": RACE, "gender": GENDER | {"men": ["black men"]}}},
        r"'white men' \(white men1, white men2\) is in no level of factor 'gender', but in one of 'race'",
    ),
    (
        {"factors": {"race": RACE | {"white": ["white women"]}, "gender": GENDER | {"men": ["black men"]}}},
        r"the cell race = 'white', gender = 'men' has no protected group",
    ),
    ({"attribute_factors": {"race": {"a": ["good"], "b": ["bad"]}}}, r"'race' is in factors and in attribute_factors"),
    ({"attribute_factors": {"v": {"a": ["good"], "b": ["human"]}}}, r"'human', but there is no attribute list"),
    (
        {"factors": {f"f{place}": RACE for place in range(60)}},
        r"cross in 1,152,921,504,606,846,976 cells, at most 100 are compared",
    ),
    ({"trends": {"race": {"black": 1, "white": 2}}}, r"trend of 'race': .* two levels"),
    ({"trends": {"age": {}}}, r"trends has 'age', but there is no factor"),
    ({"trends": {"race": [1, 2]}}, r"trends of 'race' must give each level a number"),
    ({"level_weights": {"gendr": {}}}, r"'gendr', .*did you mean 'gender'"),
    ({"level_weights": {"gender": {"women": 1}}}, r"level_weights of 'gender' has no number for 'men'"),
    ({"level_weights": {"gender": {"women": 1, "men": 0}}}, r"'gender' has 0: give numbers above 0"),
    ({"level_weights": {"gender": {"women": True, "men": 1}}}, r"'gender' has True"),
    ({"level_weights": {"gender": {"women": float("inf"), "men": 1}}}, r"'gender' has inf"),
    ({"level_weights": {"gender": {"women": 1, "men": 1, "man": 1}}}, r"'man', which is no level of it"),
    ({"level_weights": [1]}, r"level_weights must be a section"),
]


@pytest.mark.parametrize(("sections", "message"), FAULTS)
def test_faults_name_what_is_at_fault(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        crossed(**sections)


def test_equal_numbers_make_no_order() -> None:
    ages = {"young": ["black women"], "middle": ["black men"], "old": ["white women"]}
    numbers = {"young": 1, "middle": 1, "old": 2}
    with pytest.raises(StudyError, match="same number for two levels"):
        crossed(factors={"age": ages}, trends={"age": numbers})
    assert crossed(factors={"age": ages}, trends={"age": numbers | {"middle": 0}}).trends["age"]["middle"] == 0.0


def test_all_faults_are_listed_at_once() -> None:
    with pytest.raises(StudyError, match="has 3 faults"):
        crossed(factors={"race": 3, "gender": {"men": ["black men"]}}, level_weights={"x": {}})


def test_a_word_in_two_levels_is_named_with_its_groups() -> None:
    with pytest.raises(
        StudyError, match=r"'jamal' is in protected group 'black men' and in protected group 'white men'"
    ):
        replace(crossed(), protected=GROUPS | {"black men": ["jamal"], "white men": ["jamal"]})


def test_control_lists_may_be_in_levels_of_attribute_factors() -> None:
    study = crossed(attribute_factors={"v": {"a": ["good"], "b": ["neutral"]}})
    assert study.attribute_factors["v"]["b"] == ["neutral"]


def test_a_file_keeps_the_factors(tmp_path: Path) -> None:
    study = crossed(
        factors={"race": RACE, "gen der": GENDER},
        attribute_factors={"v": {"a": ["good"], "b": ["bad"]}},
        level_weights={"gen der": {"women": 2, "men": 1}},
    )
    path = tmp_path / "names.toml"
    path.write_text(study_text(study), encoding="utf-8")
    read = bb.load_study(path)
    assert plain_factors(vars(read)) == plain_factors(vars(study)) != {}
    path.write_text(study_text(study).replace('["good"]', '["goood"]'), encoding="utf-8")
    with pytest.raises(StudyError, match=r"(?s)names.toml has 1 fault.*'goood'.*'good'"):
        bb.load_study(path)


def test_a_key_in_a_section_of_factors_is_moved_above(tmp_path: Path) -> None:
    path = tmp_path / "names.toml"
    path.write_text(f'[factors]\ndescription = "x"\n{study_text(crossed())}', encoding="utf-8")
    with pytest.raises(StudyError, match=r"'description' is inside \[factors\]"):
        bb.load_study(path)


def test_a_table_records_the_factors_and_a_study_without_them_records_none() -> None:
    study = crossed()
    vectors = {word: [1.0, place] for place, word in enumerate(study.without_controls().words)}
    table = bb.distance_table(vectors, study.without_controls())
    assert table.attrs["bayesbias"]["factors"] == {"factors": {"race": RACE, "gender": GENDER}}
    plain = bb.distance_table(vectors, replace(study, factors={}, neutral="none"))
    assert "factors" not in plain.attrs["bayesbias"]


def test_nothing_is_a_fault_of_a_study_without_factors() -> None:
    assert not list(factor_faults({}, {"factors": {}, "attribute_factors": {}}))


def test_the_bundled_study_crosses_race_and_gender() -> None:
    study = bb.load_study("names_race_gender")
    assert {factor: list(levels) for factor, levels in study.factors.items()} == {
        "race": ["white", "black"],
        "gender": ["women", "men"],
    }
    weat = bb.load_study("weat4")
    names = {word for words in weat.protected.values() for word in words}
    assert set(study.protected_words) == names | {"Jay", "Kristen", "Latonya", "Tremayne"}
    assert study.attributes == weat.attributes
    assert "class" in study.notes
    assert "age" in study.notes
