"""Faults of studies and their files, each with its facts, and all at once."""

from pathlib import Path
from typing import Any

import pytest

from bayesbias.errors import StudyError
from bayesbias.studies.study import Study, load_study


def make(**changes: Any) -> Study:
    """Return a sound study, with some fields changed."""
    fields: dict[str, Any] = {
        "name": "weather",
        "protected": {"summer": ["july", "august"], "winter": ["january"]},
        "attributes": {"warm": ["hot", "sunny"], "cold": ["snow", "ice"]},
        "associated": [("summer", "warm"), ("winter", "cold")],
    }
    return Study(**fields | changes)


GOOD_TOML = """
associated = [["summer", "warm"], ["winter", "cold"]]
[protected]
summer = ["july", "august"]
winter = ["january"]
[attributes]
warm = ["hot", "sunny"]
cold = ["snow", "ice"]
"""


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"name": " "}, "name is empty"),
    ({"name": 3}, "name .* not a number"),
    ({"notes": ["x"]}, "notes .* not a list"),
    ({"name": "half\ud83d"}, r"name is 'half\\ud83d'.*surrogate"),
    ({"source": "\udc80"}, r"source is '\\udc80'.*surrogate"),
    ({"protected": {}}, "protected .* no groups"),
    ({"protected": ["july"]}, "protected .* not a list"),
    ({"attributes": {}}, "attributes .* no groups"),
    ({"protected": {"summer": [], "winter": ["january"]}}, "protected group 'summer' .* empty"),
    ({"protected": {"summer": "july", "winter": ["january"]}}, "'summer' .* not text"),
    (
        {"protected": {"summer": ["july"], "winter": ["january"], " ": ["x"]}},
        "protected .* ' '",
    ),
    ({"protected": {"summer": ["july"], "winter": ["january"], 7: ["x"]}}, "protected .* 7:"),
    (
        {"protected": {"summer": ["july"], "winter": ["january"], "half\ud83d": ["x"]}},
        r"protected .* 'half\\ud83d'",
    ),
    (
        {"attributes": {"warm": ["hot"], "cold": ["ice"], "two\nlines": ["x"]}},
        r"attributes .* 'two\\nlines'",
    ),
    ({"protected": {"summer": ["july", "july"], "winter": ["x"]}}, "group 'summer' .* 'july' 2 times"),
    ({"protected": {"summer": ["july", 8], "winter": ["x"]}}, "group 'summer' .* a number in place 2"),
    ({"protected": {"summer": ["july", ""], "winter": ["x"]}}, "group 'summer' .* '':"),
    ({"protected": {"summer": ["july "], "winter": ["x"]}}, "group 'summer' .* 'july ':"),
    (
        {"protected": {"summer": ["july"], "winter": ["july"]}},
        "'july' .* protected group 'summer' .* protected group 'winter'",
    ),
    (
        {"attributes": {"warm": ["hot"], "cold": ["july"]}},
        "'july' .* protected group 'summer' .* attribute group 'cold'",
    ),
    (
        {"attributes": {"warm": ["hot"], "cold": ["hot"]}},
        "'hot' .* attribute group 'warm' .* attribute group 'cold'",
    ),
    (
        {"attributes": {"warm": ["hot"], "cold": ["ice"], "human": ["x"]}},
        "attributes .* 'human'",
    ),
    ({"neutral": ["july"]}, "'july' .* protected group 'summer' .* control list 'neutral'"),
    ({"human": ["a"], "neutral": ["a"]}, "'a' .* control list 'human' .* control list 'neutral'"),
    ({"human": []}, "control list 'human' .* empty .* none"),
    ({"human": "papr"}, r"human .* 'papr' \(did you mean 'paper'\?\)"),
    ({"neutral": 3}, "control list 'neutral' .* not a number"),
    ({"associated": []}, "associated .* empty"),
    ({"associated": "summer"}, "associated .* not text"),
    ({"associated": ("summer", "warm")}, "associated .* place 2"),
    ({"associated": [("summer",)]}, "associated .* place 1"),
    ({"associated": [("summer", "warm")] * 2}, r"associated .* \['summer', 'warm'\] 2 times"),
    (
        {"associated": [("sumer", "warm")]},
        r"no protected group 'sumer' \(did you mean 'summer'\?\)",
    ),
    ({"associated": [("summer", "worm")]}, r"no attribute group 'worm' \(did you mean 'warm'\?\)"),
]


@pytest.mark.parametrize(("changes", "message"), FAULTS)
def test_each_fault_has_its_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message) as caught:
        make(**changes)
    assert str(caught.value).encode(), "it can be written"


def test_all_faults_are_listed_one_a_line() -> None:
    with pytest.raises(StudyError) as caught:
        make(
            name="",
            protected={"summer": ["july", "july"], "winter": []},
            attributes={"warm": ["july"], "neutral": ["ice"]},
            associated=[("sumer", "warm"), ("summer", "cold")],
            human="no",
        )
    first, *faults = str(caught.value).split("\n- ")
    assert first == "Study '' has 8 faults:"
    assert len(faults) == 8
    assert not any("\n" in fault for fault in faults)


def test_all_faults_of_a_file_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "weather.toml"
    path.write_text(
        'sorce = "me"\nhuman = "none"\nassociated = [["sumer", "warm"]]\n'
        '[protected]\nsummer = ["july", "july"]\nnotes = "x"\n'
        '[attributes]\nwarm = []\n[controls]\nnutral = "none"\n'
    )
    with pytest.raises(StudyError) as caught:
        load_study(path)
    message = str(caught.value)
    assert message.startswith(f"Study file {path} has 8 faults:")
    for fault in (
        "Unknown key 'sorce' (did you mean 'source'?)",
        "'human' is outside its section",
        "'notes' is inside [protected]",
        "Unknown key 'nutral' in [controls] (did you mean 'neutral'?)",
        "protected group 'summer' holds 'july' 2 times",
        "protected group 'notes' must be a list of words",
        "attribute group 'warm' is an empty list",
        "no protected group 'sumer' (did you mean 'summer'?)",
    ):
        assert f"\n- {fault}" in message or fault in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\n', "protected .* no groups"),
        (GOOD_TOML + 'associated = [["summer", "warm"]]\n', r"'associated' .* \[attributes\]"),
        ("controls = 3\n" + GOOD_TOML, r"controls.* human, neutral, not a number"),
        ("protected = 3\nattributes = 4\nassociated = 5\n", "has 3 faults"),
        ("[protected.summer]\njuly = 1\n", "'summer' .* not a section"),
        ("name = 1979-05-27\n" + GOOD_TOML, "name .* not a date"),
        ("name = true\n" + GOOD_TOML, "name .* not true or false"),
    ],
)
def test_wrong_shapes_in_a_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "weather.toml"
    path.write_text(text)
    with pytest.raises(StudyError, match=message) as caught:
        load_study(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ("why", "questions .* section.* not text"),
        ({"": [["x", "a"], ["y", "a"]]}, "questions .* '':"),
        ({" q": [["x", "a"], ["y", "a"]]}, "questions .* ' q':"),
        ({"q": [["x", "a"], ["x", "a"]]}, "'q' .* 'x' .* 0"),
        ({"q": [["x", "a"]]}, "'q' .* two or four"),
        ({"q": [["x", "a"], "ya"]}, "'q' .* pair"),
        ({"q": [["x", "a"], ["z", "a"]]}, "no protected group 'z'"),
        ({"q": [["x", "a"], ["y", "human"]]}, "no attribute list 'human'"),
        ({"q": 3}, "'q' .* two or four"),
    ],
)
def test_questions_that_cannot_be_asked_are_faults(questions: Any, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        Study(
            name="s", protected={"x": ["one"], "y": ["two"]}, attributes={"a": ["three"], "b": ["four"]},
            associated=[("x", "a")], human="none", neutral="none", questions=questions,
        )  # fmt: skip
