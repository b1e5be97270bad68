"""The words of the bundled test sets: all of those in their sentences, and no others."""

import bayesbias as bb
from bayesbias.nli.trained.bundled_words import bundled_words
from bayesbias.nli.trained.sentences import words_of


def test_they_are_the_words_of_the_sentences() -> None:
    sentences = set()
    for name in bb.nli.list_test_sets():
        frame = bb.nli.test_set(name)
        for column in ("premise", "hypothesis"):
            sentences |= set(frame[column].unique())
    expected = set(words_of("\n".join(sentences)))
    words = bundled_words()
    assert expected <= words
    assert {word for word in words - expected if not word.isalpha()} == set(), "no template is a word"
    assert len(words - expected) < 0.02 * len(words)
