"""gensim's native files and fastText's .bin, against gensim's own loaders."""

import pickle
import struct

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from gensim.models.fasttext import load_facebook_vectors

from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import BayesBiasError, EmbeddingError, InputFileError, NotEnoughMemoryError
from tests.embeddings.files import (
    SENTENCES,
    VECTORS,
    WORDS,
    fasttext_model,
    fasttext_of_one_word,
    keyed_vectors,
    write_fasttext_bin,
)


def test_keyed_vectors_file(tmp_path):
    path = tmp_path / "x.kv"
    keyed_vectors().save(str(path))
    embedding = load_embedding(path, allow_pickle=True)
    assert embedding.words == WORDS
    np.testing.assert_array_equal(embedding.vectors, VECTORS)
    assert load_embedding(path, words=["man"], allow_pickle=True, format="gensim").words == ("man",)


@pytest.mark.parametrize("model", [Word2Vec(SENTENCES, vector_size=4, min_count=1, seed=1), fasttext_model()])
def test_model_files(tmp_path, model):
    model.save(str(tmp_path / "x.model"))
    embedding = load_embedding(tmp_path / "x.model", allow_pickle=True)
    assert list(embedding.words) == model.wv.index_to_key
    np.testing.assert_array_equal(embedding.vectors, model.wv.vectors)


@pytest.mark.parametrize("form", ["auto", "gensim"])
def test_a_pickle_is_not_loaded_unless_allowed(tmp_path, form):
    class Trap:
        def __reduce__(self):
            return (exec, ("raise AssertionError('the pickle was loaded')",))

    (tmp_path / "x.kv").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(EmbeddingError, match=r"pickle .* allow_pickle=True"):
        load_embedding(tmp_path / "x.kv", format=form)


def test_other_pickles_are_told_about(tmp_path):
    (tmp_path / "x.kv").write_bytes(pickle.dumps({"king": [1.0]}))
    with pytest.raises(EmbeddingError, match="loaded"):
        load_embedding(tmp_path / "x.kv", allow_pickle=True)


def test_files_beside_a_native_file_may_be_missing(tmp_path):
    keyed_vectors().save(str(tmp_path / "x.kv"), sep_limit=0)
    assert load_embedding(tmp_path / "x.kv", allow_pickle=True).words == WORDS
    (tmp_path / "x.kv.vectors.npy").unlink()
    with pytest.raises(EmbeddingError, match=r"FileNotFoundError.*lacks .* \.npy"):
        load_embedding(tmp_path / "x.kv", allow_pickle=True)


def test_a_native_file_cut_at_any_byte_is_an_error(tmp_path):
    keyed_vectors().save(str(tmp_path / "whole"))
    content = (tmp_path / "whole").read_bytes()
    for end in range(len(content)):
        (tmp_path / "x").write_bytes(content[:end])
        with pytest.raises(BayesBiasError, match="x"):
            load_embedding(tmp_path / "x", allow_pickle=True)


def test_native_file_of_something_else(tmp_path):
    from gensim.corpora import Dictionary

    Dictionary(SENTENCES).save(str(tmp_path / "x"))
    with pytest.raises(EmbeddingError, match="Dictionary"):
        load_embedding(tmp_path / "x", allow_pickle=True)


def test_fasttext_bin_as_gensim_reads_it(tmp_path):
    path = tmp_path / "x.bin"
    write_fasttext_bin(path)
    theirs = load_facebook_vectors(str(path))
    ours = load_embedding(path)
    assert list(ours.words) == theirs.index_to_key
    np.testing.assert_allclose(ours.vectors, theirs.vectors, rtol=1e-6)
    few = load_embedding(path, words=["NAÏVE", "missing"], case="lower", format="fasttext_bin")
    assert few.words == ("naïve",)
    np.testing.assert_array_equal(few["naïve"], ours["naïve"])


def test_fasttext_bin_without_ngrams(tmp_path):
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

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
        (40, "<i", -3, "matrix"),
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
    monkeypatch.setattr("gensim.models.fasttext.ft_ngram_hashes", None)
    with monkeypatch.context() as patch:
        patch.setattr("bayesbias.base.machine.free_memory", lambda: 1_000_000)
        with pytest.raises(NotEnoughMemoryError, match="n-grams"):
            load_embedding(tmp_path / "x.bin")
    (tmp_path / "x.bin").write_bytes(fasttext_of_one_word(9_900, 9_900))
    with pytest.raises(EmbeddingError, match=r"49,.* n-grams of 1 to 9,900"):
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


def test_gensim_agrees_that_the_sample_is_read_back(tmp_path):
    keyed_vectors().save(str(tmp_path / "x.kv"))
    assert list(KeyedVectors.load(str(tmp_path / "x.kv")).index_to_key) == list(WORDS)
