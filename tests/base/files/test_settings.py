"""TOML files with declared keys and types: what fits is returned, and all faults are listed."""

from pathlib import Path
from typing import Literal, Required, TypedDict

import pytest

from bayesbias.base.files.settings import kind_of, read_declared_toml, toml_faults
from bayesbias.errors import InputFileError, ModelError


class Articles(TypedDict, total=False):
    before_vowel: Required[str]
    exceptions: dict[str, str]


class Plan(TypedDict, total=False):
    name: Required[str]
    draws: int
    share: float
    quick: bool
    case: Literal["exact", "lower"]
    words: list[str]
    pairs: list[list[str]]
    groups: dict[str, list[str]]
    controls: list[str] | Literal["none"]
    articles: Articles
    rules: list[Articles]
    anything: object


GOOD = """
name = "plan"
draws = 500
share = 1
quick = true
case = "lower"
words = ["nurse"]
pairs = [["he", "she"]]
controls = "none"
anything = 1979-05-27
[groups]
male = ["he"]
[articles]
before_vowel = "an"
exceptions = {SUV = "an"}
[[rules]]
before_vowel = "an"
"""


def read(folder: Path, text: str) -> Plan:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return read_declared_toml(path, Plan, ModelError, what="The plan ")


def test_what_fits_is_returned_as_it_is(tmp_path: Path) -> None:
    plan = read(tmp_path, GOOD)
    assert (plan["name"], plan["draws"], plan["groups"]) == ("plan", 500, {"male": ["he"]})
    assert plan["rules"] == [{"before_vowel": "an"}]
    assert read(tmp_path, 'name = "x"\ncontrols = ["one"]') == {"name": "x", "controls": ["one"]}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("nmae = 1", r"'nmae' \(did you mean 'name'\?\)"),
        ("draws = 1.5", "draws .* not a number"),
        ("draws = true", "draws .* not true or false"),
        ('share = "1"', "share .* not text"),
        ("quick = 1", "quick .* not a number"),
        ('case = "lowr"', r"'lowr' \(did you mean 'lower'\?\)"),
        ("case = 3", "case .* not a number"),
        ('words = "nurse"', "words .* not text"),
        ('words = ["nurse", 3]', r"words \(item 2\) .* not a number"),
        ('pairs = [["he"], "she"]', r"pairs \(item 2\) .* not text"),
        ("groups = {male = 3}", r"groups\.male .* not a number"),
        ("groups = 3", r"\[groups\] .* not a number"),
        ("groups = {}", r"\[groups\] .* not an empty section"),
        ("words = []", "words .* not an empty list"),
        ("case = {}", "case .* section"),
        ("articles = {exceptions = {U.S = 'an'}, before_vowel = 'an'}", r"articles\.exceptions\.U .* quotes"),
        ('controls = "paper"', "controls .* not text"),
        ("articles = {}", r"articles\.before_vowel"),
        ("articles = 3", r"\[articles\] .* before_vowel, exceptions, not a number"),
        ('articles = {before_vowel = "an", exeptions = {}}', r"'exeptions' in \[articles\] \(did you mean"),
        ("rules = [{}]", r"rules \(item 1\)\.before_vowel"),
    ],
)
def test_each_fault_names_file_and_key(tmp_path: Path, line: str, fault: str) -> None:
    with pytest.raises(ModelError, match=fault) as caught:
        read(tmp_path, f'name = "x"\n{line}\n')
    assert str(caught.value).startswith(f"The plan {tmp_path / 'plan.toml'} has 1 fault:")


def test_all_faults_are_listed_at_once(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="3 faults") as caught:
        read(tmp_path, "draws = 1.5\nseed = 1\n")
    assert str(caught.value).count("\n- ") == 3


def test_a_file_that_is_absent_or_no_toml(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"absent\.toml"):
        read_declared_toml(tmp_path / "absent.toml", Plan, ModelError)
    with pytest.raises(ModelError, match="line 1"):
        read(tmp_path, "name = x")


def test_faults_of_a_section_and_kinds_of_values() -> None:
    assert list(toml_faults({"before_vowel": "an"}, Articles, section="articles")) == []
    assert [kind_of(value) for value in ("x", 1, 1.5, {"x": 1}, [1])] == [
        "text",
        "a number",
        "a number",
        "a section",
        "a list",
    ]


def test_a_long_name_is_not_repeated_for_each_of_its_items() -> None:
    faults = toml_faults({"lists": {10**6 * "a": [1, 2]}}, TypedDict("Plan", {"lists": dict[str, list[str]]}))
    assert [len(fault) < 500 for fault in faults] == [True, True]
