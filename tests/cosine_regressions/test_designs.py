"""Designs: each is checked against the regression that its display writes out, by least squares in NumPy."""

import numpy as np
import pytest

from bayesbias.cosine_regressions.designs import (
    InnerProductDesign,
    binary_design,
    bivariate_design,
    centroid_weights,
    overlapping_bivariate_centroid_design,
    overlapping_design,
    pair_up,
)
from bayesbias.errors import MeasureError

ROWS = 40
SIDE = np.tile([0, 1], ROWS // 2)


def made(*shape: int, seed: int = 0) -> np.ndarray:
    """Return random vectors whose lengths differ."""
    rng = np.random.default_rng(seed)
    return rng.normal(0.3, 1.0, size=shape) * rng.lognormal(0, 0.3, size=(*shape[:-1], 1))


def least_squares(columns: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(columns, outcome)[0]


def constrained(design: InnerProductDesign) -> np.ndarray:
    return least_squares(design.ratio_columns[:, design.constrained_columns], design.pairs.cosine)


def length(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt((vectors**2).sum(axis=-1))


def test_constrained_binary_regression_is_a_difference_of_mean_cosines() -> None:
    a, b = made(2, ROWS, 5)
    cosine = (a * b).sum(1) / length(a) / length(b)
    means = [cosine[side == SIDE].mean() for side in (0, 1)]
    np.testing.assert_allclose(constrained(binary_design(a, b, SIDE)), [means[0], means[1] - means[0]])


def test_unconstrained_with_both_terms_at_zero_is_the_constrained_regression() -> None:
    """With beta_0 = beta_1 = 0 and errors proportional to LNW, the inner products give the cosine regression."""
    a, b = made(2, ROWS, 5)
    inner, lnw = (a * b).sum(1), length(a) * length(b)
    restricted = np.column_stack([lnw, SIDE * lnw])
    weighted = least_squares(restricted / lnw[:, None], inner / lnw)
    np.testing.assert_allclose(constrained(binary_design(a, b, SIDE)), weighted)


def test_binary_regression_is_one_line_for_each_side() -> None:
    a, b = made(2, ROWS, 5)
    design = binary_design(a, b, SIDE)
    beta = dict(zip(design.symbols, least_squares(design.columns, design.pairs.inner), strict=True))
    lines = [np.polyfit(design.pairs.lnw[g == SIDE], design.pairs.inner[g == SIDE], 1) for g in (0, 1)]
    assert [beta["beta_2"], beta["beta_0"]] == pytest.approx(lines[0])
    assert [beta["beta_2"] + beta["beta_3"], beta["beta_0"] + beta["beta_1"]] == pytest.approx(lines[1])


def test_a_words_own_slope_is_its_weat_association() -> None:
    """alpha_1*(i) of the overlapping section: s(w, A, B), the mean cosine with A minus that with B."""
    w, attributes = made(1, 5, seed=4), made(ROWS, 5, seed=5)
    cosine = (attributes @ w[0]) / length(attributes) / length(w)
    slope = constrained(binary_design(np.tile(w, (ROWS, 1)), attributes, SIDE))[1]
    assert slope == pytest.approx(cosine[SIDE == 1].mean() - cosine[SIDE == 0].mean())


def test_units_of_the_embedding_do_not_matter() -> None:
    a, b = made(2, ROWS, 5)
    one, ten = overlapping_design(a, b, SIDE), overlapping_design(10 * a, 10 * b, SIDE)
    np.testing.assert_allclose(one.columns, ten.columns)
    assert ten.pairs.unit == pytest.approx(100 * one.pairs.unit)


def test_overlapping_columns() -> None:
    w, x = made(2, ROWS, 5)
    design = overlapping_design(w, x, SIDE)
    columns = dict(zip(design.terms, design.columns.T, strict=True))
    unit_w, unit_x = (np.exp(np.log(length(side)).mean()) for side in (w, x))
    np.testing.assert_allclose(columns["D ||w||"], SIDE * length(w) / unit_w)
    np.testing.assert_allclose(columns["||x||"], length(x) / unit_x)
    np.testing.assert_allclose(columns["D LNW"], SIDE * length(w) * length(x) / unit_w / unit_x)
    assert design.constrained == ("alpha_0*", "alpha_1*")


def test_bivariate_columns() -> None:
    a, b, c, d = made(4, ROWS, 5)
    design = bivariate_design(a, b, c, d)
    columns = dict(zip(design.symbols, design.columns.T, strict=True))
    cosine = (c * d).sum(1) / length(c) / length(d)
    np.testing.assert_allclose(columns["gamma_3"], cosine)
    np.testing.assert_allclose(columns["gamma_5"] * columns["gamma_4"], cosine)
    np.testing.assert_allclose(columns["gamma_7"], columns["gamma_0"] * columns["gamma_4"])
    np.testing.assert_allclose(columns["gamma_6"], columns["gamma_0"] * columns["gamma_5"])
    left = (a * b).sum(1) / length(a) / length(b)
    np.testing.assert_allclose(constrained(design)[::-1], np.polyfit(cosine, left, 1))


def test_a_shared_word_cancels_and_leaves_six_of_eight_terms() -> None:
    omega_a, omega_b = made(2, 5)
    x = made(ROWS, 5, seed=1)
    repeated = [np.tile(omega, (ROWS, 1)) for omega in (omega_a, omega_b)]
    with pytest.raises(MeasureError, match="collinear"):
        bivariate_design(repeated[0], x, repeated[1], x)
    inner, norm = x @ omega_b, length(x)
    cosine = inner / norm / length(omega_b)
    ratio = length(omega_a) / length(omega_b) * np.ones(ROWS)
    printed = [norm, cosine * norm, np.ones(ROWS), cosine, 1 / norm, inner, inner * norm, ratio]
    assert np.linalg.matrix_rank(np.column_stack(printed)) == 6
    design = overlapping_bivariate_centroid_design(omega_a, omega_b, x)
    both = np.column_stack([design.columns, *printed])
    assert design.columns.shape[1] == np.linalg.matrix_rank(both) == 6


def test_terms_over_lnw_are_what_they_say() -> None:
    design = bivariate_design(*made(4, ROWS, 5))
    left, columns = design.pairs.lnw, dict(zip(design.ratio_terms, design.ratio_columns.T, strict=True))
    np.testing.assert_allclose(columns["1"], 1)
    np.testing.assert_allclose(columns["1/LNW"], 1 / left)
    np.testing.assert_allclose(columns["1/(LNW LNW_R)"], columns["1/LNW_R"] / left)
    np.testing.assert_allclose(columns["inner_R"] / columns["cos_R"], 1 / columns["1/LNW_R"])


def test_too_few_rows() -> None:
    a, b = made(2, 4, 5)
    with pytest.raises(MeasureError, match=r"4 rows .* 4 .* 5"):
        binary_design(a, b, [0, 1, 0, 1])


def test_vectors_of_one_length_in_single_precision_are_collinear() -> None:
    a, b = made(2, ROWS, 5)
    unit = [(side / length(side)[:, None]).astype(np.float32) for side in (a, b)]
    with pytest.raises(MeasureError, match="LNW"):
        binary_design(*unit, SIDE)


def test_a_single_target_word_has_no_length_to_tell() -> None:
    with pytest.raises(MeasureError, match=r"collinear.*\|\|w\|\|"):
        overlapping_design(np.tile(made(1, 5), (ROWS, 1)), made(ROWS, 5, seed=1), SIDE)


@pytest.mark.parametrize("side", [np.zeros(ROWS), SIDE[:-1], SIDE * 2, ["a"] * ROWS])
def test_bad_sides(side: np.ndarray) -> None:
    with pytest.raises(MeasureError, match=r"0 .* 1 .* 40 "):
        binary_design(*made(2, ROWS, 5), side)


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
