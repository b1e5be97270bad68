"""The words of measures of a whole embedding, against plain loops."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from bayesbias.metrics.intrinsic.clustering import axis, most_biased_words, neutral_words, projections, unique_words

RANDOM = np.random.default_rng(3)
WORDS = ("she", "he", *(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(400)))
VECTORS = RANDOM.normal(size=(402, 20))
VECTORS[0], VECTORS[1] = np.eye(20)[0] * 3, -np.eye(20)[0] * 3
ORIGINAL = bb.Embedding(WORDS, VECTORS, name="original")


def test_the_words_are_those_of_a_plain_loop() -> None:
    along = {}
    for word in WORDS[2:]:
        vector = ORIGINAL[word] / np.sqrt((ORIGINAL[word] ** 2).sum())
        along[word] = vector[0]
    ordered = sorted(along, key=lambda word: -along[word])
    first, second = most_biased_words(ORIGINAL, WORDS, ("she", "he"), 60)
    assert (list(first), list(second)) == (ordered[:30], ordered[-30:])


def test_neutral_words_are_of_letters_and_not_specific() -> None:
    words = ("the", "she", "New_York", "2nd", "Zoë", "U.S.", "man")
    assert neutral_words((words, np.eye(7)), ["SHE"]) == ("the", "Zoë", "man")
    assert neutral_words((words, np.eye(7)), most=2) == ("the", "she")


def test_words_of_one_vector_count_once() -> None:
    embedding = bb.Embedding(("cat", "dog"), np.eye(2), case="lower")
    assert unique_words(embedding, ["Cat", "dog", "cat", "owl"]) == (("Cat", "dog"), ("owl",))
    with pytest.raises(MeasureError, match=" 1 of the words"):
        unique_words(embedding, ["cat", "owl"])


def test_projections_on_the_axis_are_those_of_a_plain_loop() -> None:
    direction = axis(ORIGINAL, ("waa", "wab"))
    difference = VECTORS[2] / np.linalg.norm(VECTORS[2]) - VECTORS[3] / np.linalg.norm(VECTORS[3])
    np.testing.assert_allclose(direction, difference / np.linalg.norm(difference), atol=1e-12)
    for scaled in (True, False):
        expected = [row @ direction / (np.linalg.norm(row) if scaled else 1.0) for row in VECTORS]
        np.testing.assert_allclose(projections(ORIGINAL, WORDS, direction, scaled=scaled), expected, atol=1e-12)


def test_bad_input() -> None:
    with pytest.raises(MeasureError, match=r"words_in_all=5000.* 400 words"):
        most_biased_words(ORIGINAL, WORDS, ("she", "he"), 5000)
    shifted = bb.Embedding(WORDS, VECTORS + 2 * np.eye(20)[0] * (np.arange(402) > 1)[:, np.newaxis])
    with pytest.raises(MeasureError, match="190 words"):
        most_biased_words(shifted, WORDS, ("she", "he"), 380)
    with pytest.raises(MeasureError, match="'waa'"):
        axis(ORIGINAL, ("waa", "waa"))
    with pytest.raises(MeasureError, match="lacks hers"):
        axis(ORIGINAL, ("hers", "he"))


@pytest.mark.parametrize("pair", [[("she", "he")], None, 3])
def test_what_is_no_pair(pair: object) -> None:
    with pytest.raises(MeasureError, match="pair"):
        most_biased_words(bb.Embedding(("he", "she"), [[1.0, 0.0], [0.0, 1.0]]), ["he"], pair, 2)  # type: ignore[arg-type]
