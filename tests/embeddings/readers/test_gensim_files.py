"""gensim's native files, against gensim's own loader."""

import pickle
import sys

import numpy as np
import pytest

from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import BayesBiasError, EmbeddingError
from tests.embeddings.files import (
    SENTENCES,
    VECTORS,
    WORDS,
    fasttext_model,
    keyed_vectors,
)


@pytest.mark.gensim
def test_keyed_vectors_file(tmp_path):
    path = tmp_path / "x.kv"
    keyed_vectors().save(str(path))
    embedding = load_embedding(path, allow_pickle=True)
    assert embedding.words == WORDS
    np.testing.assert_array_equal(embedding.vectors, VECTORS)
    assert load_embedding(path, words=["man"], allow_pickle=True, format="gensim").words == ("man",)


@pytest.mark.gensim
@pytest.mark.parametrize("kind", ["word2vec", "fasttext"])
def test_model_files(tmp_path, kind):
    from gensim.models import Word2Vec

    model = fasttext_model() if kind == "fasttext" else Word2Vec(SENTENCES, vector_size=4, min_count=1, seed=1)
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


@pytest.mark.gensim
def test_other_pickles_are_told_about(tmp_path):
    (tmp_path / "x.kv").write_bytes(pickle.dumps({"king": [1.0]}))
    with pytest.raises(EmbeddingError, match="loaded"):
        load_embedding(tmp_path / "x.kv", allow_pickle=True)


@pytest.mark.gensim
def test_files_beside_a_native_file_may_be_missing(tmp_path):
    keyed_vectors().save(str(tmp_path / "x.kv"), sep_limit=0)
    assert load_embedding(tmp_path / "x.kv", allow_pickle=True).words == WORDS
    (tmp_path / "x.kv.vectors.npy").unlink()
    with pytest.raises(EmbeddingError, match=r"FileNotFoundError.*lacks .* \.npy"):
        load_embedding(tmp_path / "x.kv", allow_pickle=True)


@pytest.mark.gensim
def test_a_native_file_cut_at_any_byte_is_an_error(tmp_path):
    keyed_vectors().save(str(tmp_path / "whole"))
    content = (tmp_path / "whole").read_bytes()
    for end in range(len(content)):
        (tmp_path / "x").write_bytes(content[:end])
        with pytest.raises(BayesBiasError, match="x"):
            load_embedding(tmp_path / "x", allow_pickle=True)


@pytest.mark.gensim
def test_native_file_of_something_else(tmp_path):
    from gensim.corpora import Dictionary

    Dictionary(SENTENCES).save(str(tmp_path / "x"))
    with pytest.raises(EmbeddingError, match="Dictionary"):
        load_embedding(tmp_path / "x", allow_pickle=True)


@pytest.mark.gensim
def test_gensim_agrees_that_the_sample_is_read_back(tmp_path):
    from gensim.models import KeyedVectors

    keyed_vectors().save(str(tmp_path / "x.kv"))
    assert list(KeyedVectors.load(str(tmp_path / "x.kv")).index_to_key) == list(WORDS)


def test_without_gensim_the_error_says_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.utils", None)
    (tmp_path / "x.kv").write_bytes(pickle.dumps({"king": [1.0]}))
    with pytest.raises(EmbeddingError, match=r"x\.kv.* needs gensim, .*Python < 3\.14.*save_word2vec_format"):
        load_embedding(tmp_path / "x.kv", allow_pickle=True)
