"""Training: repeatable, and clear about having too little text."""

import numpy as np
import pytest

from bayesbias.embeddings import tokenize, train_skipgram
from bayesbias.errors import ArgumentError, EmbeddingError

TEXTS = ["The king and the queen.", "A queen, a king; a child!", ""] * 20


def train(seed):
    return train_skipgram(TEXTS, dimensions=8, epochs=2, random_seed=seed, name="tiny")


def test_the_same_seed_gives_the_same_vectors_and_another_does_not():
    first, second, other = train(1), train(1), train(2)
    np.testing.assert_array_equal(first.vectors, second.vectors)
    assert first.digest == second.digest != other.digest
    assert set(first.words) == {"the", "king", "and", "queen", "a", "child"}
    assert first.dimensions == 8
    assert first.name == "tiny"


def test_texts_may_be_read_once_only():
    assert train_skipgram(iter(TEXTS), dimensions=8, epochs=2, random_seed=1).digest == train(1).digest


def test_a_seed_that_was_drawn_is_in_the_name():
    drawn = train(None)
    name, _, seed = drawn.name.partition(", seed ")
    assert name == "tiny"
    np.testing.assert_array_equal(train(int(seed)).vectors, drawn.vectors)


@pytest.mark.parametrize("name", ["dimensions", "window", "negative", "min_count", "epochs"])
def test_counts_are_whole_numbers(name):
    with pytest.raises(ArgumentError, match=f"{name}=0"):
        train_skipgram(TEXTS, random_seed=1, **{name: 0})


@pytest.mark.parametrize("texts", [[], ["a b c"], ["1 2 3"]])
def test_too_little_text(texts):
    with pytest.raises(EmbeddingError, match=r"No word occurs 5 times in the [01] texts.*smaller min_count"):
        train_skipgram(texts, random_seed=1)


def test_words_keep_inner_hyphens_and_apostrophes():
    assert tokenize("O'Neill’s co-op -- naïve 'quote'") == ["o'neill’s", "co-op", "naïve", "quote"]
