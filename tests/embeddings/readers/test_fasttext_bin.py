"""fastText's .bin, against gensim's reader: what it read is stored, for where it is not installed."""

import json
import struct

import numpy as np
import pytest

from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.readers.fasttext_bin import ngram_hashes
from bayesbias.errors import BayesBiasError, EmbeddingError, InputFileError, NotEnoughMemoryError
from tests.embeddings.files import FASTTEXT_BIN, SENTENCES, fasttext_of_one_word, fasttext_of_words, write_fasttext_bin

# What gensim's ft_ngram_hashes gives, with 2**32 buckets: word, shortest and longest n-gram, hashes.
HASHES = [
    ("a", 3, 6, [2359087600]),
    ("he", 1, 3, [1643565417, 1133188580, 3977000791, 1547363254, 3098816280, 3758891744, 2434458490]),
    ("naïve", 3, 3, [1267806890, 3249590546, 3608356832, 1813711570, 3325088654]),
    ("日本", 2, 4, [745752687, 3018758587, 3315313759, 4164387409, 778196157, 2673885717]),
    ("😀", 1, 6, [2896934818, 1850870420, 604031496, 3812512514]),
    ("", 1, 2, [2482446367]),
]


def test_fasttext_bin_as_gensim_reads_it(tmp_path):
    path = tmp_path / "x.bin"
    write_fasttext_bin(path)
    ours = load_embedding(path)
    theirs = json.loads(FASTTEXT_BIN.with_suffix(".json").read_text(encoding="utf-8"))
    assert list(ours.words) == list(theirs)
    np.testing.assert_allclose(ours.vectors, list(theirs.values()), rtol=1e-6)
    few = load_embedding(path, words=["NAÏVE", "missing"], case="lower", format="fasttext_bin")
    assert few.words == ("naïve",)
    np.testing.assert_array_equal(few["naïve"], ours["naïve"])


@pytest.mark.parametrize(("word", "shortest", "longest", "hashes"), HASHES)
def test_hashes_of_ngrams_are_those_of_gensim(word, shortest, longest, hashes):
    assert list(ngram_hashes(word, shortest, longest)) == hashes


@pytest.mark.gensim
def test_gensim_hashes_and_reads_the_same(tmp_path):
    from gensim.models.fasttext import ft_ngram_hashes, load_facebook_vectors

    random = np.random.default_rng(1)
    for _ in range(500):
        word = "".join(random.choice(list("abcß日é😀"), size=random.integers(0, 9)))
        shortest, more, buckets = random.integers(1, [4, 5, 10**7]).tolist()
        theirs = ft_ngram_hashes(word, shortest, shortest + more, buckets)
        assert [number % buckets for number in ngram_hashes(word, shortest, shortest + more)] == theirs, word
    vectors = load_facebook_vectors(str(FASTTEXT_BIN))
    np.testing.assert_allclose(load_embedding(FASTTEXT_BIN).vectors, vectors.vectors, rtol=1e-6)


@pytest.mark.gensim
def test_fasttext_bin_without_ngrams(tmp_path):
    from gensim.models import FastText
    from gensim.models.fasttext import load_facebook_vectors, save_facebook_model

    model = FastText(SENTENCES, vector_size=4, min_count=1, bucket=20, min_n=0, max_n=0, seed=1, workers=1)
    save_facebook_model(model, str(tmp_path / "x.bin"))
    theirs = load_facebook_vectors(str(tmp_path / "x.bin"))
    np.testing.assert_allclose(load_embedding(tmp_path / "x.bin").vectors, theirs.vectors, rtol=1e-6)


def test_fasttext_bin_cut_at_any_byte_is_an_error(tmp_path):
    write_fasttext_bin(tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    for end in range(len(content)):
        (tmp_path / "x").write_bytes(content[:end])
        with pytest.raises(BayesBiasError, match="x"):
            load_embedding(tmp_path / "x", words=["king"])
        if end >= 4:
            with pytest.raises(EmbeddingError, match=f"byte {end}"):
                load_embedding(tmp_path / "x", words=["king"])


def changed(content: bytes, offset: int, layout: str, value: int) -> bytes:
    return content[:offset] + struct.pack(layout, value) + content[offset + struct.calcsize(layout) :]


@pytest.mark.parametrize(
    ("offset", "layout", "value", "message"),
    [
        (8, "<i", 5, "header"),  # dimensions
        (8, "<i", -1, "header"),
        (8, "<i", 2**31 - 1, "header"),
        (40, "<i", 2**31 - 1, "matrix"),  # buckets
        (40, "<i", -3, "-3 buckets"),
        (44, "<i", 9, r"n-grams .* 9 .* 3"),  # shortest n-gram
        (64, "<i", 2**31 - 1, "supervised"),  # entries
        (72, "<i", 1, "supervised"),  # labels
        (84, "<q", 2, "supervised"),
        (92, "<B", 255, "UTF-8"),
    ],
)
def test_fasttext_headers_that_lie(tmp_path, offset, layout, value, message):
    write_fasttext_bin(tmp_path / "whole")
    (tmp_path / "x").write_bytes(changed((tmp_path / "whole").read_bytes(), offset, layout, value))
    with pytest.raises(EmbeddingError, match=message):
        load_embedding(tmp_path / "x", words=["king"])


def test_ngrams_of_a_word_are_counted_before_they_are_made(tmp_path, monkeypatch):
    (tmp_path / "x.bin").write_bytes(fasttext_of_one_word(9_900, 6))
    assert load_embedding(tmp_path / "x.bin", case="exact", words=["none", "a" * 9_900]).words == ("a" * 9_900,)
    monkeypatch.setattr("bayesbias.embeddings.readers.fasttext_bin.ngram_hashes", None)
    with monkeypatch.context() as patch:
        patch.setattr("bayesbias.base.machine.free_memory", lambda: 1_000_000)
        with pytest.raises(NotEnoughMemoryError, match="n-grams"):
            load_embedding(tmp_path / "x.bin")
    (tmp_path / "x.bin").write_bytes(fasttext_of_one_word(9_900, 9_900))
    with pytest.raises(EmbeddingError, match=r"49,.* n-grams of up to 9,900"):
        load_embedding(tmp_path / "x.bin")


def test_ngrams_that_are_too_short_do_not_count(tmp_path):
    (tmp_path / "x.bin").write_bytes(fasttext_of_one_word(9_900, 15, shortest=6))
    assert len(load_embedding(tmp_path / "x.bin").words) == 1
    (tmp_path / "x.bin").write_bytes(fasttext_of_one_word(9_900, 9_900, shortest=9_900))  # hashed on the way to these
    with pytest.raises(EmbeddingError, match="3 n-grams of up to 9,900"):
        load_embedding(tmp_path / "x.bin")


def test_more_after_the_end_of_fasttext_bin(tmp_path):
    write_fasttext_bin(tmp_path / "x")
    with (tmp_path / "x").open("ab") as file:
        file.write(b"more")
    with pytest.raises(EmbeddingError, match="follow"):
        load_embedding(tmp_path / "x")


def test_no_fasttext_bin(tmp_path):
    (tmp_path / "x").write_bytes(b"something else")
    with pytest.raises(InputFileError, match=r"\.bin"):
        load_embedding(tmp_path / "x", format="fasttext_bin")


def test_ngrams_of_all_words_are_counted_before_they_are_made(tmp_path, monkeypatch):
    write_fasttext_bin(tmp_path / "x.bin")
    whole = load_embedding(tmp_path / "x.bin")
    module = "bayesbias.embeddings.readers.fasttext_bin"
    monkeypatch.setattr(f"{module}._SMALL", 0)  # as in files whose rows are read one by one
    assert load_embedding(tmp_path / "x.bin").digest == whole.digest
    words = [f"{number:02}" + 498 * "a" for number in range(50)]  # 50 words have 5 million n-grams, in 26 kB
    (tmp_path / "x.bin").write_bytes(fasttext_of_words(words, 200))
    assert (tmp_path / "x.bin").stat().st_size < 1 << 15
    monkeypatch.setattr(f"{module}.ngram_hashes", None)
    with pytest.raises(EmbeddingError, match=r"its 50 words have 5,020,000 n-grams of up to 200 letters"):
        load_embedding(tmp_path / "x.bin")


def test_a_fasttext_bin_has_no_fewer_rows_than_words(tmp_path):
    (tmp_path / "x.bin").write_bytes(fasttext_of_words(["king", "queen"], 0, buckets=-1))
    with pytest.raises(EmbeddingError, match="-1 buckets"):
        load_embedding(tmp_path / "x.bin")
