"""Words of sentences, how they are looked up, and those that the vectors lack."""

import warnings

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsError, LostWordsWarning, MeasureError
from bayesbias.nli.sentences import FIRST, NULL, WordVectors, _pieces, checked_sentences, words_of

WORDS = ("he", "is", "not", "Adam", "adam", "US", "well", "known", "n't")
EMBEDDING = bb.load_embedding((WORDS, np.random.default_rng(1).standard_normal((len(WORDS), 6))), name="toy")


def forms(vectors: WordVectors, sentence: str) -> list[str]:
    rows = vectors.rows(sentence)
    assert rows[0] == NULL
    return [vectors.forms[row - FIRST] if row >= FIRST else "?" for row in rows[1:]]


def test_words_are_letters_and_digits() -> None:
    assert words_of("“He isn’t 3-year-old”, said Zoë - twice... x_y") == [
        *("He", "isn't", "3-year-old", "said", "Zoë", "twice", "x", "y")
    ]


def test_words_are_looked_up_in_lower_case_then_as_written_then_in_parts() -> None:
    vectors = WordVectors.from_embedding(EMBEDDING)
    with pytest.warns(LostWordsWarning):
        vectors.learn(["He isn't Adam of the well-known US", "HE"], "the pairs")
    assert forms(vectors, "He isn't Adam of the well-known US") == [
        *("he", "is", "n't", "adam", "?", "?", "well", "known", "US")
    ]
    assert forms(vectors, "HE") == ["he"]


@pytest.mark.parametrize("sign", ["-", "'"])
def test_a_word_of_thousands_of_parts_ends_in_a_message(sign: str) -> None:
    """Each part called the function again, and a word of 3,000 ended in a RecursionError."""
    vectors = WordVectors.from_embedding(EMBEDDING)
    calls = 0

    def no_form(_: str) -> None:
        nonlocal calls
        calls += 1

    parts = _pieces(sign.join(["zz"] * 900), no_form)
    assert "".join(part for part, _ in parts) == ("" if sign == "-" else sign).join(["zz"] * 900)
    assert len(parts) == 900
    calls = 0
    word = sign.join(["zz"] * 100_000)
    assert len(_pieces(word, no_form)) == 1002
    assert calls < 2010
    with pytest.warns(LostWordsWarning):
        vectors.learn([f"he {word}"], "the pairs")
    with pytest.raises(MeasureError, match="1,003 words; the limit is 1,000"):
        vectors.rows(f"he {word}")


def test_an_embedding_with_a_case_rule_is_asked_by_it() -> None:
    vectors = WordVectors.from_embedding(bb.load_embedding(EMBEDDING, case=("exact", "lower")))
    vectors.learn(["Adam HE"], "the pairs")
    assert forms(vectors, "Adam HE") == ["Adam", "he"]


def test_vectors_have_the_length_one_and_the_direction_of_the_embedding() -> None:
    vectors = WordVectors.from_embedding(EMBEDDING)
    vectors.learn(["He is not Adam"], "the pairs")
    assert np.linalg.norm(vectors.matrix, axis=1) == pytest.approx(1, abs=1e-6)
    rows = vectors.matrix[vectors.rows("He is")[1:]]
    expected = [EMBEDDING[word] / np.linalg.norm(EMBEDDING[word]) for word in ("he", "is")]
    assert rows == pytest.approx(np.array(expected), abs=1e-6)


def test_lost_words_share_random_vectors_and_are_told_once() -> None:
    vectors = WordVectors.from_embedding(EMBEDDING)
    with pytest.warns(LostWordsWarning, match=r"'toy' .* 2 .* 4 .* 60\.0% .*: slicing, rope\."):
        vectors.learn(["He is slicing rope", "slicing"], "the pairs")
    assert vectors.lost == ("slicing", "rope")
    other = WordVectors.from_embedding(EMBEDDING)
    with pytest.warns(LostWordsWarning):
        other.learn(["not rope"], "the pairs")
    row = int(other.rows("rope")[1])
    assert NULL < row < FIRST
    assert np.array_equal(other.matrix[row], vectors.matrix[vectors.rows("rope")[1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectors.learn(["He is slicing rope"], "the pairs")
    vectors.look_up(["kiwi"])
    with pytest.warns(LostWordsWarning, match=" 1 .* 2 "):
        vectors.learn(["not kiwi"], "the test set")


def test_words_that_are_all_lost_and_words_of_a_file() -> None:
    with pytest.raises(LostWordsError, match=r"'toy' .*Katzen, schlafen"):
        WordVectors.from_embedding(EMBEDDING).learn(["Katzen schlafen"], "the pairs")
    vectors = WordVectors.from_embedding(EMBEDDING)
    vectors.learn(["he is"], "the pairs")
    vectors.embedding = None
    vectors.learn(["is he"], "the sentences")
    with pytest.raises(LostWordsError, match=r" 2 .*: not, Adam\. .*embedding="):
        vectors.learn(["he is not Adam"], "the sentences")


def test_sentences_that_are_none() -> None:
    vectors = WordVectors.from_embedding(EMBEDDING)
    vectors.learn(["he " * 1001], "the pairs")
    for sentence, message in (("...", r"'\.\.\.'"), ("he " * 1001, "1,001 .*1,000")):
        with pytest.raises(MeasureError, match=message):
            vectors.rows(sentence)
    assert len(vectors.rows("he " * 1000)) == 1001
    with pytest.raises(MeasureError, match="premises "):
        checked_sentences("premises", "he is")
    with pytest.raises(MeasureError, match=r"hypotheses, number 1, .*5"):
        checked_sentences("hypotheses", ["he", 5])  # type: ignore[list-item]
    with pytest.raises(MeasureError, match="premises, number 1,"):
        checked_sentences("premises", ["he", " "])
    with pytest.raises(MeasureError, match=r"premises .*None"):
        checked_sentences("premises", None)  # type: ignore[arg-type]
