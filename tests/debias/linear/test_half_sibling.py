"""Half-sibling regression: the source's equation, and scikit-learn's ridge regression."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias import HalfSibling
from bayesbias.errors import ArgumentError, MeasureError
from tests.debias.made import PAIRS, WORDS, made_embedding


def test_the_matrix_is_the_equation_of_the_source() -> None:
    """Yang and Feng (2020), algorithm 1: V_N - V_D (V_D' V_D + alpha 1)^-1 V_D' V_N, with words as columns."""
    embedding = made_embedding()
    biased = list(dict.fromkeys(word for words in (*PAIRS, *WORDS.sides) for word in words))
    others = [word for word in embedding.words if word not in biased]
    d, n = embedding.matrix(biased).T, embedding.matrix(others).T
    expected = n - d @ np.linalg.inv(d.T @ d + 7 * np.eye(d.shape[1])) @ d.T @ n
    after = HalfSibling(penalty=7).fit(embedding, WORDS).transform(embedding)
    assert np.allclose(after.matrix(others).T, expected)
    assert (after.matrix(biased) == embedding.matrix(biased)).all()


def test_it_is_what_ridge_regression_leaves() -> None:
    ridge = pytest.importorskip("sklearn.linear_model").Ridge(alpha=3.0, fit_intercept=False)
    embedding = made_embedding()
    predictors = embedding.matrix([word for pair in PAIRS for word in pair]).T
    ridge.fit(predictors, embedding["word3"])
    left = embedding["word3"] - ridge.predict(predictors)
    assert np.allclose(HalfSibling(penalty=3).fit(embedding, PAIRS).transform(embedding)["word3"], left)


def test_wrong_penalties_and_words_that_the_vectors_lack() -> None:
    for penalty in (0, -1, np.nan, "60", np.inf):
        with pytest.raises(ArgumentError, match="penalty"):
            HalfSibling(penalty=penalty)  # type: ignore[arg-type]
    with pytest.raises(MeasureError, match="1 of the 2 words"):
        HalfSibling().fit(bb.load_embedding({"he": [1.0, 0], "cook": [2.0, 0]}), [["he", "she"]])
    alike = {"he": [1.0, 0], "she": [1.0, 0], "man": [0.5, 1], "woman": [0.5, 1], "cook": [2.0, 0]}
    with pytest.raises(MeasureError, match="'custom words'"):
        HalfSibling().fit(alike, [["he", "she"], ["man", "woman"]])
    HalfSibling().fit(alike | {"woman": [0.5, 0.9]}, [["he", "she"], ["man", "woman"]])


@pytest.mark.parametrize(("length", "penalty"), [(1e150, 60.0), (1.0, 1e-40)])
def test_words_whose_squares_cannot_be_inverted(length: float, penalty: float) -> None:
    """Both words have one direction, which all but goes; what rounding leaves of a second does not count."""
    vectors = {"he": [length, length, 0], "she": [3 * length, 3 * length, 0], "cook": [3.0, 4, 5]}
    method = HalfSibling(penalty=penalty)
    after = method.fit(bb.load_embedding(vectors), [["he", "she"]]).transform(bb.load_embedding(vectors))
    assert after["cook"] == pytest.approx([-0.5, 0.5, 5])
