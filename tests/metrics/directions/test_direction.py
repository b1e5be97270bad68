"""The gender direction: against a right angle solved by hand, its sign, and pairs that determine none."""

import numpy as np
import pytest

from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.associations.semaxis import axis_scores
from bayesbias.metrics.directions.direction import GENDER_PAIRS, as_direction, gender_direction
from bayesbias.metrics.directions.word_scores import raise_if_parallel, ripa

# Unit vectors: the words of a pair differ by (1.2, 0, 0), and by (0, 1.6, 0).
VECTORS = {
    "she": [0.6, 0.0, 0.8], "he": [-0.6, 0.0, 0.8], "queen": [0.0, 4.0, 3.0], "king": [0.0, -4.0, 3.0],
    "aunt": [1.0, 0.0, 0.0], "uncle": [5.0, 0.0, 0.0],
}  # fmt: skip
PAIRS = [("she", "he"), ("queen", "king")]


def test_orthogonal_differences_give_the_longer_one() -> None:
    """The squares of 1.6 and 1.2 are 2.56 and 1.44, of which the shares are 0.64 and 0.36."""
    direction = gender_direction(VECTORS, PAIRS)
    np.testing.assert_allclose(direction.vector, [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(direction.explained, [0.64, 0.36])
    swapped = gender_direction(VECTORS, [(second, first) for first, second in PAIRS])
    np.testing.assert_allclose(swapped.vector, [0.0, -1.0, 0.0], atol=1e-12)


def test_pairs_of_which_a_word_is_lost_are_left_out() -> None:
    with pytest.warns(LostWordsWarning, match=" gal: .* 1 of the 2 pairs"):
        direction = gender_direction(VECTORS, [("she", "he"), ("gal", "king")])
    assert (direction.pairs, direction.lost_words) == ((("she", "he"),), ("gal",))
    np.testing.assert_allclose(direction.vector, [1.0, 0.0, 0.0], atol=1e-12)
    with pytest.raises(MeasureError, match=" gal, "):
        gender_direction(VECTORS, [("gal", "king")])


def test_pairs_that_determine_no_direction() -> None:
    with pytest.raises(MeasureError, match="'aunt', 'uncle'"):
        gender_direction(VECTORS, [*PAIRS, ("aunt", "uncle")])
    tied = VECTORS | {"queen": [0.0, 0.6, 0.8], "king": [0.0, -0.6, 0.8]}
    with pytest.raises(MeasureError, match="two directions"):
        gender_direction(tied, PAIRS)


def test_the_pairs_of_bolukbasi() -> None:
    """Ten pairs, of women first."""
    assert len(set(GENDER_PAIRS)) == 10
    women = {"woman", "girl", "she", "mother", "daughter", "gal", "female", "her", "herself", "Mary"}
    assert {first for first, _ in GENDER_PAIRS} == women


@pytest.mark.parametrize("value", ["up", [1.0, 2.0], [0.0, 0.0, 0.0], [1.0, np.nan, 0.0], [[1.0, 2.0, 3.0]]])
def test_a_direction_is_a_vector_of_finite_numbers(value: object) -> None:
    with pytest.raises(MeasureError, match="vector of 3 "):
        as_direction(value, 3)  # type: ignore[arg-type]
    assert as_direction([1, 0, 2], 3).tolist() == [1.0, 0.0, 2.0]


def test_words_that_differ_by_the_rounding_of_float32_have_one_direction() -> None:
    he, she = np.array([1.0, 0.0, 0.0]), np.array([1.0, 3e-7, 0.0])
    with pytest.raises(MeasureError, match="'he', 'she'"):
        gender_direction({"he": he, "she": she}, [("he", "she")])
    with pytest.raises(MeasureError, match="he ~ she"):
        raise_if_parallel([("he", "she")], he[None], she[None])
    with pytest.raises(MeasureError, match="direction"):
        ripa([he], [1e6 * he], [1e6 * she])
    with pytest.raises(MeasureError, match="axis"):
        axis_scores([he], [he], [she])
    assert axis_scores([he], [he], [[1.0, 1e-3, 0.0]]).shape == (1,)
