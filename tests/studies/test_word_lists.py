"""The bundled collections of word lists."""

import pytest

import bayesbias as bb
from bayesbias.errors import StudyError
from tests.studies.made import make


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
