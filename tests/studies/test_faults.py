"""Faults of studies and their files, each with its facts, and all at once."""

from typing import Any

import pytest

from bayesbias.errors import StudyError
from bayesbias.studies.faults import question_faults
from bayesbias.studies.study import Study
from tests.studies.made import make

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


def test_questions_have_a_limit() -> None:
    """A fit answers each with draws of its own: 3,000 took 27 s."""
    questions = {f"q{number}": [["x", "a"], ["y", "a"]] for number in range(501)}
    assert list(question_faults(questions)) == [
        "questions has 501, at most 500 are answered: divide them among studies."
    ]
    del questions["q0"]
    assert list(question_faults(questions)) == []
