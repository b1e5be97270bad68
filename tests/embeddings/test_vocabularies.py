"""The forms of a word that are looked up."""

from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.vocabularies import (
    FORMS,
    Spellings,
    _inner_words,
    case_rule,
    case_text,
    forms,
    scripts,
    spelling_hint,
    spelling_rule,
)
from bayesbias.errors import ArgumentError


@pytest.mark.parametrize(
    ("form", "word", "made"),
    [
        ("exact", "McDonald", "McDonald"),
        ("lower", "İZMİR", "i̇zmi̇r"),
        ("title", "new-york", "New-York"),
        ("title", "don't", "Don't"),
        ("title", "SOUTH AFRICAN", "South African"),
        ("title", "north_american", "North_American"),
        ("upper", "straße", "STRASSE"),
        ("unaccented", "Zoë Çelik", "Zoe Celik"),
        ("unaccented", "naïve", "naive"),
        ("unaccented", "Łódź", "Łodz"),  # a stroke is no mark of its own
    ],
)
def test_each_form(form: str, word: str, made: str) -> None:
    assert FORMS[form](word) == made


def test_forms_are_tried_in_their_order_and_each_once() -> None:
    assert forms("he", ("exact", "lower", "upper", "title")) == ("he", "HE", "He")
    embedding = bb.Embedding(words=("HE", "He"), vectors=np.eye(2), case=("exact", "title", "upper"))
    assert embedding.match("he") == "He"
    assert bb.Embedding(words=("HE", "He"), vectors=np.eye(2), case="upper,title").match("he") == "HE"


def test_capitalised_nationalities_are_found() -> None:
    """As in cased embeddings, where a list of 15 in lower case finds none under the rule exact."""
    vectors = {"Mexican": [1.0, 0.0], "Italian": [0.0, 1.0], "apple": [1.0, 1.0]}
    words = ["mexican", "italian", "apple", "martian"]
    lookup = bb.load_embedding(vectors, words=words, case=("exact", "lower", "title")).lookup(words)
    assert lookup.matches == {"mexican": "Mexican", "italian": "Italian", "apple": "apple"}
    assert lookup.lost == ("martian",)


def test_a_function_of_ones_own_is_a_form() -> None:
    def stemmed(word: str) -> str:
        return word.removesuffix("s")

    embedding = bb.load_embedding({"cat": [1.0, 0.0]}, words=["cats"], case=["exact", stemmed])
    assert (embedding.match("cats"), embedding.case_text) == ("cat", "exact, stemmed")
    with pytest.raises(ArgumentError, match=r"<lambda> .* 3 .* 'cat'"):
        bb.load_embedding({"cat": [1.0, 0.0]}, words=["cat"], case=lambda word: len(word))


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("Lower", r"'Lower' \(did you mean 'lower'\?\)"),
        ("exact, ", "''"),
        ([], "empty"),
        (["exact", 3], "3"),
        (None, "names"),
    ],
)
def test_other_rules_are_refused(case: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        case_rule(case)


def test_a_rule_in_words_is_a_rule() -> None:
    assert case_rule(case_text(tuple(FORMS))) == tuple(FORMS)


VOCABULARY = ("Männer", "haus", "strasse", "grun", "fuer", "New_York", "Wi-Fi", "file", "kinder", "kindes", "Muenchen")


@pytest.mark.parametrize(
    ("word", "reason", "near"),
    [
        ("männer", "case", ("Männer",)),
        ("HAUS", "case", ("haus",)),
        ("straße", "accents", ("strasse",)),
        ("grün", "accents", ("grun",)),
        ("für", "accents", ("fuer",)),
        ("MÜNCHEN", "accents and case", ("Muenchen",)),
        ("New York", "spaces", ("New_York",)),
        ("Wi Fi", "spaces", ("Wi-Fi",)),
        ("\ufb01le", "normal form", ("file",)),  # the ligature fi
        ("женщина", "script (CYRILLIC; the vocabulary is LATIN)", ()),
        ("kindеr", "mixed scripts (CYRILLIC, LATIN)", ()),  # with a Cyrillic letter that looks like an e
        ("kinderr", "absent", ("kinder",)),
        ("zzz", "absent", ()),
        ("rote Bete", "several words", ()),
    ],
)
def test_a_lost_word_has_a_reason(word: str, reason: str, near: tuple[str, ...]) -> None:
    spellings = Spellings({name: place for place, name in enumerate(VOCABULARY, 1)})
    reason_given, near_given = spellings.reason(word)
    assert (reason_given, near_given[:1]) == (reason, near)


def test_scripts_of_one_writing_system_count_as_one() -> None:
    assert scripts("食べる") == scripts("カメラ") == {"CJK"}
    assert scripts("한국") == {"HANGUL"}


def test_one_word_that_fits_by_chance_is_no_rule() -> None:
    words = ["gov", *(f"word{number}" for number in range(30))]
    assert not spelling_hint(words, ["gov.", "the", "of"]).options
    assert spelling_hint(words[:5], ["gov.", "the", "of"]).options == {"suffix": "."}


def test_a_rule_of_a_plan_does_not_make_millions_of_forms() -> None:
    many = [f"{number}{{lower}}" for number in range(101)]
    for rule in (lambda: case_rule(many), lambda: spelling_rule("exact", 201 * "a")):
        with pytest.raises(ArgumentError, match="at most 100 forms"):
            rule()
    assert len(case_rule(many[:100])) == 100


def test_an_entry_of_signs_has_no_words() -> None:
    assert len(list(_inner_words("/c/en/new_york_city/n"))) == 27
    assert not list(_inner_words(59 * "-"))


def test_long_words_are_not_compared_letter_by_letter() -> None:
    for length, near in ((50, 1), (80, 0)):
        entry = "".join(map(chr, range(0x4E00, 0x4E00 + length)))
        assert len(Spellings({entry: 1}).reason(f"{entry[:-1]}\u4e00")[1]) == near


def test_spellings_of_very_many_words_are_sought_among_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesbias.embeddings.vocabularies._MOST_COMPARED", 5)
    spellings = Spellings({"nurse": 1, "nurze": 2})
    near = [spellings.reason(f"nurs{letter}") for letter in "abcd"]
    assert near == [("absent", ("nurse",))] * 3 + [("absent", ())]  # two, two, one and no comparison
