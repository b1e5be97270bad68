"""word2vec and fastText: gensim gets the corpus as it is, and the settings that are asked for."""

import numpy as np
import pytest

from bayesbias.embeddings.training.corpus import read_corpus
from bayesbias.embeddings.training.gensim_trainers import LONGEST_DOCUMENT, Documents, cbow, fasttext, skipgram
from bayesbias.errors import NotEnoughMemoryError
from tests.embeddings.training.texts import documents

models = pytest.importorskip("gensim.models", reason="gensim needs Python < 3.14")
WORD2VEC = {
    **{"dimensions": 6, "min_count": 72, "window": 3, "epochs": 2, "negative": 4},
    **{"sample": 1e-3, "learning_rate": 0.025, "last_learning_rate": 1e-4},
}
FASTTEXT = {**WORD2VEC, "min_n": 3, "max_n": 4, "buckets": 500}
OWN = {"vector_size": 6, "min_count": 72, "window": 3, "epochs": 2, "negative": 4, "workers": 1, "seed": 7}


@pytest.mark.parametrize(
    ("train", "settings", "model"),
    [
        (skipgram, WORD2VEC, lambda texts: models.Word2Vec(texts, sg=1, **OWN)),
        (cbow, WORD2VEC, lambda texts: models.Word2Vec(texts, sg=0, **OWN)),
        (fasttext, FASTTEXT, lambda texts: models.FastText(texts, sg=1, min_n=3, max_n=4, bucket=500, **OWN)),
    ],
)
def test_it_is_gensim_on_the_texts_themselves(train, settings, model):
    """gensim alone, on lists of words: the same vectors bit for bit, though some words are rare."""
    texts, words = documents(), []
    corpus = read_corpus(texts, min_count=settings["min_count"])
    assert 2 < len(corpus.words) < 10
    arrays = train(corpus, settings, 1)(7, words.append)
    trained = model(texts)
    expected = trained.wv
    assert corpus.words == tuple(expected.index_to_key)
    np.testing.assert_array_equal(arrays["vectors"], expected.vectors)
    np.testing.assert_array_equal(arrays["context_vectors"], trained.syn1neg)
    assert sum(words) == 2 * corpus.tokens


def test_long_documents_are_given_in_pieces():
    text = ["a", "b", "rare"] * 8000
    corpus = read_corpus([text, ["a", "b"]], min_count=8001)
    given = list(Documents(corpus, lambda _: None))
    assert [len(piece) for piece in given] == [LONGEST_DOCUMENT, LONGEST_DOCUMENT, 4000, 2]
    assert [word for piece in given for word in piece][:3] == ["a", "b", "\0"]
    assert sum(word in ("a", "b") for piece in given for word in piece) == 2 * 8001


@pytest.mark.parametrize(("train", "settings"), [(skipgram, WORD2VEC), (fasttext, FASTTEXT)])
def test_vectors_that_do_not_fit_are_refused_before_training(train, settings, monkeypatch: pytest.MonkeyPatch):
    corpus = read_corpus(documents(), min_count=1)
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 10)
    with pytest.raises(NotEnoughMemoryError, match=r"10 .* 6 "):
        train(corpus, settings, 1)
