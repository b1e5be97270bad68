"""Row spaces and angles against R's cancor, against the textbook's eigenvalue problem and by identities."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from bayesbias.geometry import (
    canonical_congruences,
    canonical_subspace_similarity,
    condition_number,
    joint_coordinates,
    projectors,
    rank,
    row_space,
    unit_vectors,
    weighted_directions,
)
from tests.refusals import refusals

GOOGLE_NEWS = ("data", "embeddings", "googlenews_word2vec_300d_13784.npz")


def made(words: int, dimensions: int, a: int, b: int, modulus: int) -> np.ndarray:
    """Return small whole numbers that R makes too.

    made <- function(words, dims, a, b, m)
      outer(1:words, 1:dims, function(i, j) (a*i*i*j + b*i*j*j + i + j) %% m - m %/% 2)
    """
    i, j = np.arange(1, words + 1)[:, np.newaxis], np.arange(1, dimensions + 1)
    return ((a * i * i * j + b * i * j * j + i + j) % modulus - modulus // 2).astype(float)


A, B, C = made(8, 20, 3, 5, 17), made(8, 20, 2, 7, 19), made(3, 20, 4, 1, 13)
DEPENDENT = np.vstack([A[:4], A[0] - 2 * A[1]])

# R 4.2.2: sprintf("%.16f", cancor(t(A), t(B), xcenter = FALSE, ycenter = FALSE)$cor)
OF_R = [
    (A, B, [0.8886108171504050, 0.8836028064520542, 0.7890912154302937, 0.6953250233814815,
            0.5715347030292849, 0.4749082704827238, 0.3227414200529001, 0.1255291059560808]),
    (C, B, [0.8112350761314788, 0.6432437235194765, 0.4927748989388017]),
    (DEPENDENT, B, [0.7720123939127819, 0.6785150408102160, 0.5715539748770406, 0.3727682475333977]),
    (A[:1], B[:1], [0.1891007810901659]),
]  # fmt: skip

# The same of the words of WEAT 7 (male, female) and WEAT 5 (pleasant, unpleasant) in Google News.
OF_R_IN_GOOGLE_NEWS = {
    ("male", "pleasant"): [
        0.6617777318187948, 0.2985306308059541, 0.2058443438264281, 0.1692641404256215,
        0.1555603112117471, 0.0733621465980767, 0.0442195695242870, 0.0283651487149426],
    ("female", "pleasant"): [
        0.6120439649630025, 0.2874256232708034, 0.1944930443103119, 0.1572021491268044,
        0.1228565766413165, 0.0843404001645721, 0.0479531299790084, 0.0224130667486997],
    ("male", "unpleasant"): [
        0.3257898229457580, 0.2646949136173422, 0.2276061449637937, 0.1653007179987319,
        0.1023250304788214, 0.0778997776444229, 0.0453115477147803, 0.0377820871554389],
    ("female", "unpleasant"): [
        0.3141498784466410, 0.2384030513567007, 0.1880224408239924, 0.1471846135482605,
        0.0928564446076102, 0.0564136090517460, 0.0288479105166073, 0.0048893142812492],
}  # fmt: skip


@pytest.mark.parametrize(("a", "b", "of_r"), OF_R)
def test_congruences_are_those_of_cancor(a: np.ndarray, b: np.ndarray, of_r: list[float]) -> None:
    computed = canonical_congruences(a, b)
    assert computed.shape == (min(len(a), len(b)),)
    np.testing.assert_allclose(computed[: len(of_r)], of_r, atol=1e-10, rtol=0)
    assert not computed[len(of_r) :].any()
    assert canonical_subspace_similarity(a, b) == pytest.approx(np.square(of_r).sum(), abs=1e-10)


@pytest.mark.shared
def test_congruences_in_google_news_are_those_of_cancor(shared: Path) -> None:
    embedding = bb.load_embedding(shared.joinpath(*GOOGLE_NEWS))
    lists = {**bb.load_study("weat7").attributes, **bb.load_study("weat5").attributes}
    for (first, second), of_r in OF_R_IN_GOOGLE_NEWS.items():
        pair = embedding.matrix(lists[first]), embedding.matrix(lists[second])
        np.testing.assert_allclose(canonical_congruences(*pair), of_r, atol=1e-10, rtol=0)
        assert canonical_subspace_similarity(*pair) == pytest.approx(np.square(of_r).sum(), abs=1e-10)


@pytest.mark.parametrize(("words_a", "words_b"), [(1, 1), (2, 5), (6, 6), (1, 7)])
def test_textbook_eigenvalue_problem(words_a: int, words_b: int) -> None:
    rng = np.random.default_rng(words_a)
    a, b = rng.normal(size=(words_a, 12)), rng.normal(size=(words_b, 12))
    product = np.linalg.inv(a @ a.T) @ (a @ b.T) @ np.linalg.inv(b @ b.T) @ (b @ a.T)
    squares = np.sort(np.linalg.eigvals(product).real)[::-1][: min(words_a, words_b)]
    np.testing.assert_allclose(canonical_congruences(a, b) ** 2, squares, atol=1e-10)
    assert canonical_subspace_similarity(a, b) == pytest.approx(squares.sum(), abs=1e-10)


def test_the_hadamard_sum_of_the_projectors_is_the_trace_of_their_product() -> None:
    by_inverse = [rows.T @ np.linalg.inv(rows @ rows.T) @ rows for rows in (A, B)]
    np.testing.assert_allclose(projectors(A), by_inverse[0], atol=1e-10)
    expected = np.trace(by_inverse[0] @ by_inverse[1])
    assert (projectors(A) * projectors(B)).sum() == pytest.approx(expected, abs=1e-10)
    assert canonical_subspace_similarity(A, B) == pytest.approx(expected, abs=1e-10)


def test_one_to_one_is_the_squared_cosine() -> None:
    a, b = A[0], B[3]
    cosine = a @ b / np.sqrt((a @ a) * (b @ b))
    assert canonical_subspace_similarity([a], [b]) == pytest.approx(cosine**2, abs=1e-15)
    assert canonical_subspace_similarity([a], [b], scaled=True) == pytest.approx(cosine**2, abs=1e-15)


@pytest.mark.parametrize("rows", [A, C, DEPENDENT, A[:1], np.vstack([A, A[::-1]]), np.eye(3)[[0, 0, 0]]])
def test_self_similarity_is_the_rank(rows: np.ndarray) -> None:
    true_rank = np.linalg.matrix_rank(rows)
    assert rank(rows) == true_rank
    assert canonical_subspace_similarity(rows, rows) == pytest.approx(true_rank, abs=1e-12)
    assert canonical_subspace_similarity(rows, rows) <= true_rank
    assert canonical_subspace_similarity(rows, rows, scaled=True) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(canonical_congruences(rows, rows)[:true_rank], 1, atol=1e-7)


def test_between_zero_and_the_smaller_rank() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        words = rng.integers(1, 9, 2)
        a, b = (rng.normal(size=(n, 10)) for n in words)
        assert 0 <= canonical_subspace_similarity(a, b) <= words.min()
        assert 0 <= canonical_subspace_similarity(a, b, scaled=True) <= np.sqrt(words.min() / words.max())
        assert canonical_subspace_similarity(a, b) >= words.sum() - 10 - 1e-10  # the spaces must meet
    assert canonical_subspace_similarity(np.eye(6)[:2], np.eye(6)[2:5]) == 0
    assert canonical_subspace_similarity(np.eye(6)[:2], np.eye(6)[:3], scaled=True) == pytest.approx(np.sqrt(2 / 3))


@pytest.mark.parametrize(("a", "b"), [(A, B), (C, B), (DEPENDENT, B), (DEPENDENT, DEPENDENT[:3])])
def test_symmetric_and_invariant(a: np.ndarray, b: np.ndarray) -> None:
    rng = np.random.default_rng(2)
    rotation = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    scales = np.array([1e-6, -1.0, 3.0, 1e6, 1.0, 2.0, 5.0, 7.0])[: len(a), np.newaxis]
    mixed = rng.normal(size=(len(a), len(a))) @ a
    for scaled in (False, True):
        expected = canonical_subspace_similarity(a, b, scaled=scaled)
        for pair in ((b, a), (a @ rotation, b @ rotation), (a * scales, b), (mixed, b), (a[::-1], b)):
            assert canonical_subspace_similarity(*pair, scaled=scaled) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("smallest", [1e-2, 1e-3, 1e-4, 1e-5])
def test_vectors_that_nearly_depend_keep_their_space(smallest: float) -> None:
    rng = np.random.default_rng(3)
    orthonormal = np.linalg.qr(rng.normal(size=(30, 6)))[0].T
    mixing = np.linalg.qr(rng.normal(size=(6, 6)))[0] * np.geomspace(1, smallest, 6)
    other = rng.normal(size=(6, 30))
    expected = canonical_subspace_similarity(orthonormal, other)
    # As exact as the condition allows, and not its square.
    assert canonical_subspace_similarity(mixing @ orthonormal, other) == pytest.approx(expected, abs=1e-14 / smallest)
    basis = row_space(mixing @ orthonormal)
    np.testing.assert_allclose(basis @ basis.T, np.eye(6), atol=1e-14)


def test_stored_in_single_precision_dependent_vectors_still_depend() -> None:
    rows = np.random.default_rng(4).normal(size=(4, 50))
    dependent = np.vstack([rows, rows[0] + rows[1]]).astype(np.float32)
    assert np.linalg.matrix_rank(dependent.astype(float)) == 5  # taken literally
    assert rank(dependent) == 4
    assert canonical_subspace_similarity(dependent, dependent) == pytest.approx(4, abs=1e-6)


def test_stacks_are_loops() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(3, 4, 5, 9)), rng.normal(size=(4, 6, 9))
    a[1, 2, 4] = a[1, 2, 0]  # one dependent list among sound ones
    a[0, 0] = rng.normal(size=9) + 1e-6 * rng.normal(size=(5, 9))  # and one that nearly is
    for scaled in (False, True):
        looped = [[canonical_subspace_similarity(a[i, j], b[j], scaled=scaled) for j in range(4)] for i in range(3)]
        np.testing.assert_allclose(canonical_subspace_similarity(a, b, scaled=scaled), looped, atol=1e-12)
    looped = [[canonical_congruences(a[i, j], b[j]) for j in range(4)] for i in range(3)]
    np.testing.assert_allclose(canonical_congruences(a, b), looped, atol=1e-7)
    assert rank(a)[1, 2] == 4
    np.testing.assert_allclose(condition_number(a), [[condition_number(rows) for rows in row] for row in a])


def test_more_words_than_dimensions_fill_the_space() -> None:
    rows = np.random.default_rng(6).normal(size=(7, 3))
    assert row_space(rows).shape == (3, 3)
    assert rank(rows) == 3
    assert canonical_subspace_similarity(rows, [[1.0, 2.0, 3.0]]) == pytest.approx(1)


def test_joint_coordinates_keep_inner_products() -> None:
    a, b = joint_coordinates(A, B)
    assert a.shape == b.shape == (8, 16)
    np.testing.assert_allclose(a @ b.T, A @ B.T, atol=1e-10)
    np.testing.assert_allclose(a @ a.T, A @ A.T, atol=1e-10)
    a, b = joint_coordinates(A, np.vstack([B, C, B]))
    assert a.shape == (8, 20)  # no more than there were
    np.testing.assert_allclose(b @ b.T, np.vstack([B, C, B]) @ np.vstack([B, C, B]).T, atol=1e-9)


def test_condition_number() -> None:
    units = unit_vectors(A)
    assert condition_number(A) == pytest.approx(np.linalg.cond(units @ units.T))
    assert condition_number(DEPENDENT) == np.inf
    assert condition_number(A[:, :5]) == np.inf


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.array([[1.0, 0.0], [0.0, 0.0]]), r"1 \(counted from 0\) .* zero"),
        (np.array([[[1.0, 0.0]], [[0.0, 0.0]]]), r"0 .* \(1,\)"),
        (np.array([[1.0, np.nan]]), "NaN"),
        (np.array([[1.0, 1e200]]), "square"),
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((0, 3)), r"shape \(0, 3\)"),
    ],
)
def test_vectors_without_direction(rows: np.ndarray, message: str) -> None:
    for measure in (canonical_subspace_similarity, canonical_congruences):
        with pytest.raises(MeasureError, match=message):
            measure(rows, np.ones((1, 2)))
    with pytest.raises(MeasureError, match=message):
        condition_number(rows)


test_refusals = refusals(
    (lambda: canonical_subspace_similarity(np.ones((1, 2)), np.ones((1, 3))), MeasureError, r"2 .* 3 dimensions"),
    (lambda: canonical_congruences(np.ones((1, 2)), np.ones((1, 3))), MeasureError, r"2 .* 3 dimensions"),
    (lambda: joint_coordinates(np.ones((1, 2)), np.ones((1, 3))), MeasureError, r"2 .* 3 dimensions"),
    (lambda: joint_coordinates(np.ones((2, 2, 2))), MeasureError, r"\(words, dimensions\)"),
    (lambda: weighted_directions(A[:2], B[:2]), MeasureError, r"3 dimensions, .* components=4"),
    (lambda: weighted_directions(A[:1], A[:1], components=1), MeasureError, "0 dimensions"),
)


@pytest.mark.parametrize("centred", [False, True])
def test_weighted_directions_are_principal_components_of_all_differences(centred: bool) -> None:
    differences = (A[:, np.newaxis] - B[:5]).reshape(-1, A.shape[1])
    if centred:
        differences = differences - differences.mean(axis=0)
    values, vectors = np.linalg.eigh(differences.T @ differences)
    directions, weights = weighted_directions(A, B[:5], components=4, centred=centred)
    np.testing.assert_allclose(weights, values[::-1][:4] / values.sum(), rtol=1e-10)
    np.testing.assert_allclose(np.abs(directions @ vectors[:, ::-1][:, :4]), np.eye(4), atol=1e-8)


def test_weighted_directions_are_those_of_scikit_learn_where_centred() -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    differences = (A[:, np.newaxis] - B).reshape(-1, A.shape[1])
    computed = decomposition.PCA(n_components=4).fit(differences)
    directions, weights = weighted_directions(A, B, centred=True)
    np.testing.assert_allclose(weights, computed.explained_variance_ratio_, rtol=1e-10)
    np.testing.assert_allclose(np.abs((directions * computed.components_).sum(axis=1)), 1.0, rtol=1e-10)


def test_weighted_directions_point_to_the_first_list() -> None:
    directions, _ = weighted_directions(A, B)
    assert (directions @ (A.mean(axis=0) - B.mean(axis=0)) > 0).all()
    turned, _ = weighted_directions(B, A)
    np.testing.assert_allclose(turned, -directions, atol=1e-10)
