"""Pairs of vectors: the supplement's identities, by plain arithmetic."""

import numpy as np
import pytest

from bayesbias.cosine_regressions.vector_pairs import centroid_weights, pair_up
from bayesbias.errors import MeasureError


def test_lengths_have_geometric_mean_one_and_cosines_do_not_change() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 9, 4))
    pairs = pair_up(a, b)
    plain = [x @ y / np.sqrt((x @ x) * (y @ y)) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(pairs.cosine, plain)
    np.testing.assert_allclose([np.log(pairs.length_a).mean(), np.log(pairs.length_b).mean()], 0, atol=1e-12)
    np.testing.assert_allclose(pairs.inner * pairs.unit, [x @ y for x, y in zip(a, b, strict=True)])


def test_weight_of_a_sum_is_that_of_the_display() -> None:
    """LNW(A + B, C) = sqrt(||A||^2 + ||B||^2 + 2 <A, B>) ||C||."""
    a, b, c = np.random.default_rng(1).normal(size=(3, 7, 4))
    pairs = pair_up(a + b, c)
    g = np.sqrt((a**2).sum(1) + (b**2).sum(1) + 2 * (a * b).sum(1))
    np.testing.assert_allclose(pairs.lnw * pairs.unit, g * np.sqrt((c**2).sum(1)))


def test_centroid_cosine_is_the_weighted_mean_of_the_components_cosines() -> None:
    rng = np.random.default_rng(2)
    omega, x = rng.normal(size=(5, 4)), rng.normal(size=4)
    components = pair_up(omega, np.tile(x, (5, 1))).cosine
    centroid = pair_up(omega.mean(axis=0)[None], x[None]).cosine[0]
    assert np.mean(components / centroid_weights(omega)) == pytest.approx(centroid)
    assert centroid_weights([[1.0, 2.0], [1.0, 2.0]]) == pytest.approx([1.0, 1.0])


def test_weights_shrink_with_the_number_of_components() -> None:
    """As the supplement says, mean vectors are mechanically shortened by the number of components."""
    omega = np.random.default_rng(3).normal(size=(64, 300))
    assert centroid_weights(omega[:4]).mean() > 1.5 * centroid_weights(omega[:16]).mean()


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([[1.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]], "Vector 1 .*zero"),
        ([[1.0, 0.0]], [[1.0, np.nan]], "Vector 0 .*NaN"),
        ([[1.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]], r"shapes \(1, 2\) and \(2, 2\)"),
        ([1.0, 0.0], [[1.0, 1.0]], r"shape \(2,\)"),
    ],
)
def test_bad_vectors(a: list, b: list, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        pair_up(a, b)
