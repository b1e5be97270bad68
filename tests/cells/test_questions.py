"""What is asked for is read and checked before any work."""

from typing import Any

import pytest

import bayesbias as bb
from bayesbias.cells.questions import (
    check_measures,
    lost_lists,
    named_embeddings,
    question_errors,
    raise_if_too_many_lost,
    raise_unless_distinct,
    read_embeddings,
    read_studies,
)
from bayesbias.errors import ArgumentError, BayesBiasError, LostWordsError, MeasureError, ReportError
from tests.cells import pets


def test_measures_are_names_of_the_registry() -> None:
    model = bb.load_model("crossed")
    assert check_measures("weat", [None]) == ("weat",)
    assert check_measures(["contrast", "mac"], [model]) == ("contrast", "mac")
    for measures, models, fact in (
        (["wheat"], [model], "'wheat'.*'weat'"),
        ([], [model], r"measures=\[\]"),
        (["mac", "mac"], [model], "'mac', 'mac'"),
        (["contrast"], [model, None], "'contrast'"),
    ):
        with pytest.raises((ReportError, MeasureError), match=fact):
            check_measures(measures, models)


def test_one_study_or_several() -> None:
    study = pets.study()
    assert [one.name for one in read_studies(study)] == ["pets"]
    assert [one.name for one in read_studies("weat7")] == ["weat7"]
    assert [one.name for one in read_studies([study, "weat7"])] == ["pets", "weat7"]
    with pytest.raises(ReportError, match=r"studies: .*'pets'"):
        read_studies([study, pets.study()])
    with pytest.raises(ReportError, match="studies"):
        read_studies([])


def test_distinct_names() -> None:
    raise_unless_distinct("seeds", [1, 2])
    with pytest.raises(ReportError, match=r"seeds: .*2"):
        raise_unless_distinct("seeds", [1, 2, 2])


@pytest.mark.parametrize("wrong", [5, {"": pets.embedding(1)}, {" ": pets.embedding(1)}, {3: pets.embedding(1)}])
def test_what_is_no_set_of_embeddings(wrong: Any) -> None:
    with pytest.raises((ReportError, ArgumentError), match="embeddings"):
        named_embeddings(wrong)


def test_embeddings_have_the_names_that_they_were_given() -> None:
    first, second = pets.embedding(1), pets.embedding(2, case=("exact", "lower"))
    assert named_embeddings(first) == [(None, first)]
    read = read_embeddings(named_embeddings({"one": first, "two": second}), None, "exact")
    assert list(read) == ["one", "two"]
    assert read["two"].case == ("exact", "lower")
    with pytest.raises(ReportError, match="'E1'"):
        read_embeddings(named_embeddings([first, pets.embedding(1)]), None, "exact")


def test_lost_words_are_counted_by_list_and_refused_at_once() -> None:
    kept = [word for word in pets.WORDS if word not in ("tom", "howl", "growl")]
    vectors = {word: [1.0, float(place)] for place, word in enumerate(kept)}
    embedding = bb.load_embedding(vectors, name="few")
    lists = lost_lists({"few": embedding}, [pets.study()])
    assert [len(words.lost) for words in lists["few", "pets"]] == [1, 0, 0, 2]
    raise_if_too_many_lost(lists, 0.7, ["weat"])
    with pytest.raises(LostWordsError, match=r"^1 .* 50% .*max_lost=0\.5.*loud"):
        raise_if_too_many_lost(lists, 0.5, ["weat"])
    with pytest.raises(LostWordsError, match=r"^2 .*max_lost=0\.2.*cats.*loud"):
        raise_if_too_many_lost(lists, 0.2, ["weat"])
    errors = question_errors({"few": embedding, "whole": pets.embedding(1)}, [pets.study()], 0.2)
    assert [type(error) for error in errors] == [LostWordsError]
    assert all(isinstance(error, BayesBiasError) for error in errors)
