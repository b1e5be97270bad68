"""Errors: one base, the built-in that fits, hints, and lists of faults."""

import tracemalloc
import warnings
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import count
from pathlib import Path
from random import Random

import pytest

import bayesbias as bb
from bayesbias import errors
from tests.refusals import refusals

test_refusals = refusals(
    (lambda: bb.reports.simulate_null(random_seed=-1), ValueError, "random_seed"),
    (lambda tmp_path: bb.load_embedding(tmp_path / "vectors.txt"), OSError, "file"),
    (lambda tmp_path: bb.studies.write_study_template(tmp_path / "no" / "study.toml"), OSError, "exist"),
    (lambda: bb.load_embedding({"king": [1.0]})["queen"], LookupError, "'queen'"),
    (lambda: bb.load_study({name: [name * 2] for name in "abcde"}), ValueError, "5 word"),
)


def test_files_that_are_not_there_keep_their_kind(tmp_path: Path) -> None:
    for wrong in (tmp_path, tmp_path / "empty.toml"):
        (tmp_path / "empty.toml").touch()
        with pytest.raises(errors.InputFileError, match=r"folder|is empty"):
            bb.load_study(wrong)


def test_every_fault_is_listed_or_nothing_is_raised() -> None:
    errors.raise_faults(errors.StudyError, "The study", [])
    with pytest.raises(errors.StudyError) as caught:
        errors.raise_faults(errors.StudyError, "The study", ["One.", "Two."])
    assert str(caught.value) == "The study has 2 faults:\n- One.\n- Two."


def test_of_very_many_faults_a_hundred_are_listed() -> None:
    with pytest.raises(errors.TableError) as caught:
        errors.raise_faults(errors.TableError, "The table", [f"fault {number}" for number in range(2_500)])
    first, *listed, last = str(caught.value).splitlines()
    assert (first, len(listed), last) == ("The table has 2,500 faults:", 100, "- and 2,400 more")


def test_of_an_iterator_no_more_faults_are_looked_for_than_are_listed() -> None:
    drawn: list[int] = []

    def endless() -> Iterator[str]:
        for number in count():
            drawn.append(number)
            yield f"fault {number}"

    with pytest.raises(errors.TableError) as caught:
        errors.raise_faults(errors.TableError, "The table", endless())
    first, *listed, last = str(caught.value).splitlines()
    assert (first, len(listed), last) == ("The table has more than 100 faults:", 100, "- and more")
    assert len(drawn) == 101


def test_a_long_word_of_a_file_is_cut_and_a_long_path_is_not() -> None:
    path = "/".join(["folder"] * 50)
    message = str(errors.InputFileError(f"{path}: {'a' * 10**6} is twice there."))
    assert message == f"{path}: {'a' * 200}... and 999,800 more characters is twice there."


def test_control_characters_of_a_file_do_not_reach_the_terminal() -> None:
    assert str(errors.InputFileError("the word \x1b[31mred\u202e\nis twice there")) == (
        r"the word \x1b[31mred\u202e" + "\nis twice there"
    )
    with pytest.warns(errors.LostWordsWarning) as caught:
        errors.warn_user("lost \x1b]0;title\x07", errors.LostWordsWarning)
    assert str(caught[0].message) == r"lost \x1b]0;title\x07"


def test_messages_end_whatever_a_file_holds() -> None:
    text = str(errors.InputFileError(f"x.csv has {'a' * 10**6!r}."))
    assert len(text) < 100_000
    assert text.endswith("more characters.")
    assert str(errors.OutputError("short")) == "short"


def test_hints_are_looked_for_in_short_names_and_not_in_all() -> None:
    """The time of a comparison grows with the square of the lengths."""
    assert errors.did_you_mean("a" * 1000, ["a" * 999]) == ""
    assert errors.did_you_mean("human", ["human" * 1000, "humen"]) == " (did you mean 'humen'?)"
    assert errors.did_you_mean("human", (f"other {number}" for number in count())) == ""


def test_few_names_of_many_alike_are_compared_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred faults with a hint from 1,000 names of 80 letters took 55 s."""
    compared = []
    ratio = SequenceMatcher.ratio
    monkeypatch.setattr(SequenceMatcher, "ratio", lambda matcher: compared.append(matcher) or ratio(matcher))
    random = Random(1)
    choices = ["".join(random.choices("ab", k=80)) for _ in range(1000)]
    wanted = choices[700]
    assert errors.did_you_mean(f"{wanted[:-2]}cd", choices) == f" (did you mean {wanted!r}?)"
    assert 0 < len(compared) <= 20


def test_hints_and_lists() -> None:
    assert errors.did_you_mean("humen", ["human"]) == " (did you mean 'human'?)"
    assert errors.did_you_mean("x", ["human"]) == ""
    assert errors.name_some(range(10), 3) == "0, 1, 2 and 7 more"


def test_warnings_point_at_the_line_of_the_user() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bb.distance_table(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), "religion", max_lost=0.25)
    assert {Path(warning.filename).name for warning in caught} == {"test_errors.py"}


def test_collected_warnings_of_one_category_leave_the_others_to_the_user() -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        with errors.collected_warnings(errors.LostWordsWarning) as caught:
            errors.warn_user("The pair occurs twice.", errors.DuplicatesWarning)
            errors.warn_user("The word is lost.", errors.LostWordsWarning)
    assert [str(warning.message) for warning in shown] == ["The pair occurs twice."]
    assert [str(warning.message) for warning in caught] == ["The word is lost."]


def test_a_long_name_in_all_faults_takes_no_memory() -> None:
    name = 10**6 * "a"
    tracemalloc.start()
    try:
        with pytest.raises(errors.StudyError) as caught:
            errors.raise_faults(errors.StudyError, "The study", (f"{name} has no list {place}." for place in range(99)))
        _, took = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert took < 10 * len(name)
    assert str(caught.value).endswith(f"- {200 * 'a'}... and 999,800 more characters has no list 98.")
