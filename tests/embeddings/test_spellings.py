"""Reasons for lost words, and near spellings."""

import pytest

from bayesbias.embeddings.spellings import Spellings, scripts

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
