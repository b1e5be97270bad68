"""word2vec binary: both ways of writing it, blocks, and damage."""

import tracemalloc

import numpy as np
import pytest

from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import BayesBiasError, EmbeddingError
from tests.embeddings.files import VECTORS, write_gensim_binary, write_google_binary


def load(tmp_path, content, **options):
    path = tmp_path / "x.bin"
    path.write_bytes(content)
    return load_embedding(path, format="word2vec_binary", **options)


def row(word, *numbers):
    return word + b" " + np.array(numbers, dtype="<f4").tobytes()


TWO = b"2 2\n" + row(b"a", 1, 2) + row(b"b", 3, 4)


@pytest.mark.gensim
def test_gensim_reads_the_same_from_googles_layout(tmp_path):
    from gensim.models import KeyedVectors

    write_google_binary(tmp_path / "x")
    theirs = KeyedVectors.load_word2vec_format(str(tmp_path / "x"), binary=True)
    ours = load_embedding(tmp_path / "x")
    assert list(ours.words) == theirs.index_to_key
    np.testing.assert_array_equal(ours.vectors, theirs.vectors)


@pytest.mark.parametrize("block", [7, 64, 1000])
def test_rows_across_the_ends_of_blocks(tmp_path, monkeypatch, block):
    monkeypatch.setattr("bayesbias.embeddings.readers.word2vec_binary._CHUNK", block)
    random = np.random.default_rng(1)
    vectors = random.standard_normal((200, 5), dtype=np.float32)
    words = [f"w{number}" * int(random.integers(1, 9)) for number in range(200)]
    for end in (b"", b"\n"):
        rows = b"".join(row(word.encode(), *vector) + end for word, vector in zip(words, vectors, strict=True))
        embedding = load(tmp_path, b"200 5\n" + rows)
        assert embedding.words == tuple(words)
        np.testing.assert_array_equal(embedding.vectors, vectors)
        np.testing.assert_array_equal(load(tmp_path, b"200 5\n" + rows, words=[words[77]]).vectors, vectors[[77]])


@pytest.mark.parametrize("write", [pytest.param(write_gensim_binary, marks=pytest.mark.gensim), write_google_binary])
def test_a_cut_at_any_byte_is_an_error(tmp_path, write):
    write(tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    for end in range(len(content)):
        path = tmp_path / "x.bin"
        path.write_bytes(content[:end])
        for form in ("auto", "word2vec_binary"):
            with pytest.raises(BayesBiasError, match=r"x\.bin"):
                load_embedding(path, format=form)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            TWO.replace(b"2 2", b"3 2"),
            r"3 words .* 2 dimensions, .* 31 bytes, .* 24",
        ),
        (TWO.replace(b"2 2", b"1 2"), r"byte 14, .* 1 words"),
        (TWO + b"x", r"byte 24"),
        (TWO.replace(b"2 2", b"2 3"), r"30 bytes"),
        (TWO[:-1] + b"", r"22 bytes, .* 23|ends .* row 2, .* byte 14"),
        (b"2 2\n" + row(b"a", 1, 2) + row(b"\xff", 3, 4), r"b'\\xff' .* row 2 .* byte 14 .* UTF-8"),
        (b"2 2\n" + row(b"a", 1, 2) + row(b"b", np.nan, 4), r"'b' .* byte 14 .* NaN"),
        (b"2 2\n" + row(b"a", 1, 2) + row(b"b", 0, 0), r"'b' .* byte 14 .* zero"),
        (
            b"2 2\n" + row(b"a", 1, 2) + row(b"a", 1, 3),
            r"'a' .* byte 4 .* byte 14",
        ),
        (b"2 2\n" + b"a" * 20_000, r"row 1 .* byte 4 .* 10000 bytes"),
        (b"x 2\n" + b"a" * 20, "two whole numbers"),
        (b"2 2" + b"a" * 20, "two whole numbers"),
        (b"0 2\n", "0 words"),
        (b"2 100001\n" + b"a" * 20, "header"),
    ],
)
def test_damage_is_told_with_its_byte(tmp_path, content, message):
    with pytest.raises(EmbeddingError, match=message):
        load(tmp_path, content)


def test_rows_that_are_not_kept_are_checked_for_utf8(tmp_path):
    with pytest.raises(EmbeddingError, match=r"byte 14 .* UTF-8"):
        load(tmp_path, b"2 2\n" + row(b"a", 1, 2) + row(b"\xff", 3, 4), words=["a"])


def test_a_repeat_with_the_same_vector_is_kept_once(tmp_path):
    assert load(tmp_path, b"3 1\n" + row(b"a", 1) + row(b"b", 2) + row(b"a", 1)).words == ("a", "b")


@pytest.mark.parametrize("gz", [False, True])
@pytest.mark.parametrize("header", [b"999999999999999999 2\n", b"2 99999\n", b"999999999 99999\n"])
def test_a_header_that_lies_costs_no_memory(tmp_path, header, gz):
    import gzip

    content = header + TWO[4:] * 1000
    tracemalloc.start()
    with pytest.raises(EmbeddingError, match="header"):
        load(tmp_path, gzip.compress(content, mtime=0) if gz else content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10e6


def test_memory_is_that_of_the_words_kept(tmp_path):
    vectors = np.random.default_rng(1).standard_normal((40_000, 100), dtype=np.float32)
    content = b"40000 100\n" + b"".join(row(b"w%d" % number, *vectors[number]) for number in range(40_000))
    path = tmp_path / "x.bin"
    path.write_bytes(content)
    del content
    tracemalloc.start()
    embedding = load_embedding(path, words=["w5", "w19999"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The sample of the vocabulary takes 2,000 of the 40,000 rows, and a few times as many while it is drawn.
    assert peak < 10e6 < path.stat().st_size
    np.testing.assert_array_equal(embedding.vectors, vectors[[5, 19_999]])


def test_sample_vectors_are_little_endian(tmp_path):
    write_google_binary(tmp_path / "x")
    assert VECTORS.astype("<f4")[0].tobytes() in (tmp_path / "x").read_bytes()


@pytest.mark.parametrize("kind", ["normal", "halves", "long"])
def test_big_endian_numbers_are_recognised(tmp_path, kind):
    random = np.random.default_rng(1)
    numbers = {
        "normal": random.normal(size=(20, 5)),
        "halves": random.integers(1, 9, size=(20, 5)) / 2,
        "long": 1e6 * random.normal(size=(20, 5)),
    }[kind]
    for order in "><":
        rows = (b"w%d " % place + numbers[place].astype(f"{order}f4").tobytes() for place in range(20))
        content = b"20 5\n" + b"".join(rows)
        if order == ">":
            with pytest.raises(EmbeddingError, match="big-endian"):
                load(tmp_path, content)
        else:
            np.testing.assert_array_equal(load(tmp_path, content).vectors, numbers.astype(np.float32))


@pytest.mark.parametrize("ends", [b"\n", b""], ids=["line ends", "no line ends"])
@pytest.mark.parametrize("phrase", ["a b", "new york", "x y z", "to  be"])
def test_a_space_in_one_word_is_an_error_or_harms_no_other_word(tmp_path, phrase, ends):
    rng, named = np.random.default_rng(1), 0
    for trial in range(40):
        count, dimensions = int(rng.integers(5, 40)), int(rng.choice([2, 3, 10, 100]))
        words = [f"w{place}" for place in range(count)]
        words[int(rng.integers(count))] = phrase
        vectors = (rng.standard_normal((count, dimensions)) * rng.choice([0.1, 5])).astype("<f4")
        rows = [word.encode() + b" " + vector.tobytes() + ends for word, vector in zip(words, vectors, strict=True)]
        others = None if trial % 2 else [word for word in words[:5] if word != phrase]
        try:
            read = load(tmp_path, f"{count} {dimensions}\n".encode() + b"".join(rows), words=others)
        except EmbeddingError as error:
            named += "seems to hold a space" in str(error)
            continue
        right = dict(zip(words, vectors, strict=True))
        assert all(np.array_equal(right[word], vector) for word, vector in zip(read.words, read.vectors, strict=True))
    assert named >= 38
