"""Text files: lines, words with spaces, and everything that may be wrong with a row."""

import numpy as np
import pytest

from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.readers.text import count_numbers, parse_header
from bayesbias.errors import BayesBiasError, EmbeddingError
from tests.embeddings.files import WORDS, write_glove, write_text
from tests.refusals import refusals

GLOVE = b"the 0.1 0.2 0.3\nof 0.4 0.5 0.6\n"
TEXT = b"2 3\n" + GLOVE


def load(tmp_path, content, **options):
    path = tmp_path / "x.txt"
    path.write_bytes(content)
    return load_embedding(path, **options)


@pytest.mark.parametrize("write", [write_text, write_glove])
def test_crlf_and_byte_order_mark(tmp_path, write):
    write(tmp_path / "x")
    content = (tmp_path / "x").read_bytes()
    unix = load(tmp_path, content)
    windows = load(tmp_path, b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))
    assert windows.words == unix.words == WORDS
    np.testing.assert_array_equal(windows.vectors, unix.vectors)


def test_words_may_hold_spaces(tmp_path):
    rows = [". . . 1 2 3", "at name@domain.com 4 5 6", "of 7 8 9", "• x 1 1 1"]
    embedding = load(tmp_path, ("\n".join(rows) + "\n").encode())
    assert embedding.words == (". . .", "at name@domain.com", "of", "• x")
    assert embedding["at name@domain.com"].tolist() == [4, 5, 6]
    assert load(tmp_path, ("\n".join(["4 3", *rows]) + "\n").encode()).words == embedding.words
    assert load(tmp_path, ("\n".join(rows) + "\n").encode(), words=[". . ."]).words == (". . .",)
    assert load(tmp_path, GLOVE + b"a  1 2 3\n").words == ("the", "of", "a")


def test_words_may_be_numbers_or_odd_unicode(tmp_path):
    words = ("1984", "nan", "\u00a0", "\u3000x", "\u2028", "a\tb", "\x85")
    content = "".join(f"{word} 1 2\n" for word in words).encode()
    assert load(tmp_path, content).words == words


def test_empty_lines_are_allowed_at_the_end_only(tmp_path):
    assert len(load(tmp_path, TEXT + b"\n\r\n")) == 2
    with pytest.raises(EmbeddingError, match=r"line 3 .* empty"):
        load(tmp_path, TEXT.replace(b"\nof", b"\n\nof"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            GLOVE + b"a 1 2\n",
            r"line 3 \('a 1 2'\.\.\.\) .* 2 fields .* first .* 3",
        ),
        (GLOVE + b"a 1 2 3 4\n", r"line 3 .* 4 fields"),
        (GLOVE + b"a b 1 2 x\n", r"line 3 .* 4 fields"),
        (GLOVE + b"a\n", r"line 3 .* 0 fields"),
        (TEXT.replace(b"0.5 ", b""), r"line 3 .* 2 fields .* header .* 3"),
        (TEXT.replace(b"2 3", b"2 4"), r"line 2 .* header .* 4"),
        (TEXT.replace(b"2 3", b"3 3"), r"header .* 3 words, .* 2 rows"),
        (TEXT.replace(b"2 3", b"1 3"), r"header .* 1 words, .* 2 rows"),
        (GLOVE.replace(b"0.5", b"0,5"), r"'of' .* line 2 .* b'0,5'"),
        (GLOVE.replace(b"0.5", b""), r"'of' .* line 2 .* b''"),
        (GLOVE.replace(b"0.5", b"1e99"), r"'of' .* line 2 .* 32 bits"),
        (GLOVE.replace(b"0.5", b"NaN"), r"'of' .* line 2 .* NaN"),
        (GLOVE.replace(b"0.5", b"inf"), r"'of' .* line 2 .* infinity"),
        (GLOVE + b"zero 0 0 0\n", r"'zero' .* line 3 .* zero"),
        (GLOVE + b"the 0.1 0.2 0.4\n", r"'the' .* line 1 .* line 3"),
        (GLOVE + b"na\xefve 1 2 3\n", r"word b'na\\xefve' .* line 3 .* UTF-8.*iconv"),
        (GLOVE[:-1], r"line 2, .* 1"),
        (b"the,1,2\nof,3,4\n ", r"within line 3"),
        (TEXT[:-3], r"line 3, .* 1 .* rows \(the header promises 2 words\)"),
    ],
)
def test_damage_is_told_with_its_line(tmp_path, content, message):
    with pytest.raises(EmbeddingError, match=message):
        load(tmp_path, content)


def test_words_and_lengths_are_checked_in_rows_that_are_not_kept(tmp_path):
    for row in (b"na\xefve 1 2 3\n", b"a 1 2\n"):
        with pytest.raises(EmbeddingError, match="line 3"):
            load(tmp_path, GLOVE + row, words=["the"])


def test_bad_vectors_of_other_words_do_not_matter(tmp_path):
    content = GLOVE + b"a 0 0 0\nb nan 0 0\nc x y z\nof 1 1 1\n"
    assert load(tmp_path, content, words=["the"]).words == ("the",)


def test_a_repeat_with_the_same_vector_is_kept_once(tmp_path):
    assert load(tmp_path, GLOVE + b"the 0.10 2e-1 0.3\n").words == ("the", "of")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"the 0.1\n", r"first line is b'the 0\.1\\n', not two whole numbers.*format='glove'"),
        (b"2 3", "two whole numbers"),
        (b"0 3\n", r"0 words .* 3 dimensions"),
        (b"2 0\n", r"2 words .* 0 dimensions"),
        (b"9999999 999999999999\n" + GLOVE, "header"),
        (b"99999999999999999 3\n" + GLOVE, r"99999999999999999 words, .* 2 rows"),
        (b"9" * 5000 + b" 3\n" + GLOVE, "two whole numbers"),
        (b"-2 3\n" + GLOVE, "two whole numbers"),
    ],
)
def test_wrong_headers(tmp_path, content, message):
    with pytest.raises(EmbeddingError, match=message):
        load(tmp_path, content, format="word2vec_text")


test_refusals = refusals(
    (lambda tmp_path: load(tmp_path, b"once upon a time\n", format="glove"), EmbeddingError, "numbers"),
    (lambda tmp_path: load(tmp_path, b"a" + b" 1" * 100_001 + b"\n", format="glove"), EmbeddingError, "header"),
    (lambda tmp_path: load(tmp_path, GLOVE + b"x" * (5 << 20), format="glove"), EmbeddingError, r"line 3 .* \d+"),
    (lambda tmp_path: load(tmp_path, TEXT + b"\n" * 5000), EmbeddingError, r"line 4 .* 1,000 "),
)


def test_a_cut_at_any_byte_is_an_error(tmp_path):
    write_text(tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    for end in range(len(content)):
        for form in ("auto", "word2vec_text"):
            with pytest.raises(BayesBiasError, match=r"x\.txt"):
                load(tmp_path, content[:end], format=form)


def test_glove_cut_at_any_byte_is_an_error_or_whole_rows(tmp_path):
    write_glove(tmp_path / "whole")
    whole = load_embedding(tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    read = []
    for end in range(len(content)):
        if end and content[end - 1 : end] == b"\n":
            part = load(tmp_path, content[:end])
            assert part.words == whole.words[: len(part)]
            np.testing.assert_array_equal(part.vectors, whole.vectors[: len(part)])
            read.append(len(part))
        else:
            with pytest.raises(BayesBiasError, match=r"x\.txt"):
                load(tmp_path, content[:end])
    assert read == [1, 2, 3, 4]


def test_what_makes_a_header():
    assert parse_header(b"10 3\r\n") == (10, 3)
    assert parse_header(b"10 3 \n") == (10, 3)
    assert parse_header(b"10 3 4\n") is None
    assert parse_header(b"10\n") is None


def test_numbers_at_the_end_of_a_line():
    assert count_numbers(b"1 2 3\r\n") == 2
    assert count_numbers(b"word\n") == 0
    assert count_numbers(b"") == 0
