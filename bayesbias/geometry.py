"""Geometry of lists of vectors: row spaces, the angles between them, the canonical subspace metric.

Functions take and return arrays. A list of words is an array of shape (words, dimensions), one vector per row; most
functions also take stacks of lists, of shape (..., words, dimensions).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.arrays import (
    Floats,
    checked_rows,
    checked_vectors,
    raise_unless_same_dimensions,
    unit_rows,
    unit_vectors,
)
from bayesbias.base.checks import check_count, check_flag
from bayesbias.errors import MeasureError

__all__ = [
    "RANK_TOLERANCE", "canonical_congruences", "canonical_subspace_similarity", "checked_rows", "checked_vectors",
    "condition_number", "joint_coordinates", "projectors", "rank", "row_space", "unit_rows", "unit_vectors",
    "weighted_directions",
]  # fmt: skip


RANK_TOLERANCE = 1e-6
"""Singular values of unit vectors below this share of the largest one count as zero; rounding to single precision
alone moves a combination of stored vectors by about 1e-7."""

# A squared condition number: above 10,000, Gram matrices lose too many digits.
_WELL_CONDITIONED = 1e-8


def row_space(vectors: ArrayLike) -> Floats:
    """Return an orthonormal basis of the space that a list's vectors span.

    Vectors are not centred: the space contains the origin. Well-conditioned lists are made orthonormal by two passes of
    Cholesky-QR, which is then as accurate as QR and several times as fast on stacks; all others by a singular value
    decomposition, which finds their rank.

    Parameters
    ----------
    vectors
        Of shape (..., words, dimensions).

    Returns
    -------
    array
        Orthonormal rows, of shape (..., min(words, dimensions), dimensions); if the vectors are linearly dependent
        (see `RANK_TOLERANCE`), some rows are zero.

    Raises
    ------
    MeasureError
        If a vector has no direction.

    References
    ----------
    Yusaku Yamamoto, Yuji Nakatsukasa, Yuka Yanagisawa and Takeshi Fukaya (2015). Roundoff error analysis of the
    CholeskyQR2 algorithm. Electronic Transactions on Numerical Analysis 44, 306-326.

    Examples
    --------
    >>> basis = row_space([[2.0, 0.0, 0.0], [5.0, 5.0, 0.0]])
    >>> (basis @ basis.T).round(12) + 0.0
    array([[1., 0.],
           [0., 1.]])
    >>> int(np.any(row_space([[1.0, 2.0], [2.0, 4.0]]), axis=-1).sum())  # the rank
    1
    """
    units = unit_vectors(vectors)
    words, dimensions = units.shape[-2:]
    if words > dimensions:
        return _row_space_by_svd(units)
    squares = np.linalg.eigvalsh(units @ units.swapaxes(-1, -2))
    sound = squares[..., 0] > _WELL_CONDITIONED * squares[..., -1]
    if sound.all():
        return _orthonormalised(_orthonormalised(units))
    basis = np.empty_like(units)
    basis[sound] = _orthonormalised(_orthonormalised(units[sound]))
    basis[~sound] = _row_space_by_svd(units[~sound])
    return basis


def rank(vectors: ArrayLike) -> NDArray[np.integer[Any]]:
    """Return the dimension of the space that each list of `vectors`, (..., words, dimensions), spans, of shape (...).

    >>> int(rank([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 3.0, 0.0]]))
    2
    """
    return _basis_rank(row_space(vectors))


def canonical_congruences(A: ArrayLike, B: ArrayLike) -> Floats:
    """Return the cosines of the principal angles between the spaces that two lists span.

    Parameters
    ----------
    A, B
        Of shapes (..., words of A, dimensions) and (..., words of B, dimensions); stacks are broadcast.

    Returns
    -------
    array
        From 1 to 0 in descending order, of shape (..., min(words of A, words of B, dimensions)). There are as many
        principal angles as the smaller rank; further entries are 0.

    Raises
    ------
    MeasureError
        If a vector has no direction, or the vectors of the two lists differ in length.

    Notes
    -----
    They are the canonical correlations of the columns of A' and B' without centring, in R
    ``cancor(t(A), t(B), xcenter = FALSE, ycenter = FALSE)$cor``.

    References
    ----------
    Kindel (2023), canonical congruences: the singular values of the product of the projectors. Ake Bjorck and Gene H.
    Golub (1973). Numerical methods for computing angles between linear subspaces. Mathematics of Computation 27.

    Examples
    --------
    >>> canonical_congruences([[1, 0, 0], [0, 1, 0]], [[5, 0, 0], [0, 3, 4]]).round(3)
    array([1. , 0.6])
    """
    singular = np.linalg.svd(_cross(row_space(A), row_space(B)), compute_uv=False)
    congruences: Floats = np.clip(singular, 0.0, 1.0)
    return congruences


def canonical_subspace_similarity(A: ArrayLike, B: ArrayLike, *, scaled: bool = False) -> Floats:
    """Return the overlap of the spaces that two lists span: the trace of the product of their projectors.

    It equals the sum of the squared canonical congruences, and is computed as the sum of the squared products of the
    two orthonormal bases.

    Parameters
    ----------
    A, B
        Of shapes (..., words of A, dimensions) and (..., words of B, dimensions); stacks are broadcast.
    scaled
        Whether to divide by the geometric mean of the two ranks. The result is then 1 for equal spaces, and at most
        ``sqrt(smaller rank / larger rank)``.

    Returns
    -------
    array
        Between 0 and the smaller rank (scaled: between 0 and 1), of shape (...).

    Raises
    ------
    MeasureError
        If a vector has no direction, or the vectors of the two lists differ in length.

    References
    ----------
    Alexander T. Kindel (2023). Geometrically consistent estimation of multidimensional word associations in text
    corpora: equation Sim_CCA;k(W_a, W_b) = <P(W_a), P(W_b)>_F = tr(P(W_a)' P(W_b)), its scaled version
    (Tucker's congruence coefficient, the RV coefficient), and supplement, "Computing the canonical subspace metric".

    Examples
    --------
    >>> similarity = canonical_subspace_similarity([[1, 0, 0], [0, 1, 0]], [[5, 0, 0], [0, 3, 4]])
    >>> round(float(similarity), 12)  # 1 + 0.6 ** 2
    1.36
    >>> round(float(canonical_subspace_similarity([[1, 0]], [[3, 4]])), 12)  # one to one: the squared cosine
    0.36
    """
    basis_a, basis_b = row_space(A), row_space(B)
    rank_a, rank_b = _basis_rank(basis_a), _basis_rank(basis_b)
    product = np.square(_cross(basis_a, basis_b)).sum(axis=(-2, -1))
    similarity: Floats = np.minimum(product, np.minimum(rank_a, rank_b))
    return similarity / np.sqrt(rank_a * rank_b) if scaled else similarity


def projectors(vectors: ArrayLike) -> Floats:
    """Return the orthogonal projectors onto the spaces that lists span, of shape (..., dimensions, dimensions).

    `vectors` have the shape (..., words, dimensions). The sum of the elementwise product of two projectors is their
    canonical subspace similarity, so that the similarities of all pairs of two stacks are one matrix product. Reduce
    the dimensions first (`joint_coordinates`).

    References
    ----------
    Kindel (2023), equation P(A) = A(A'A)^-1 A'; computed here from an orthonormal basis, without the inverse.

    Examples
    --------
    >>> projectors([[3.0, 0.0], [5.0, 0.0]])
    array([[1., 0.],
           [0., 0.]])
    """
    basis = row_space(vectors)
    product: Floats = basis.swapaxes(-1, -2) @ basis
    return product


def joint_coordinates(*lists: ArrayLike) -> tuple[Floats, ...]:
    """Return lists of vectors in an orthonormal basis of the space that they span jointly.

    Inner products are unchanged, and there are no more dimensions than vectors.

    Parameters
    ----------
    lists
        Arrays of shape (words, dimensions).

    Raises
    ------
    MeasureError
        If a vector has no direction, or the vectors of two lists differ in length.

    Examples
    --------
    >>> a, b = joint_coordinates(np.eye(300)[:2], np.eye(300)[:3] * 2.0)
    >>> a.shape, b.shape
    ((2, 5), (3, 5))
    >>> np.abs(a @ b.T).round(12)
    array([[2., 0., 0.],
           [0., 2., 0.]])
    """
    arrays = [checked_rows(vectors) for vectors in lists]
    for array in arrays:
        raise_unless_same_dimensions(arrays[0], array)
    triangle = np.linalg.qr(np.concatenate(arrays).T, mode="r")
    ends = np.cumsum([len(array) for array in arrays])[:-1]
    return tuple(np.split(np.ascontiguousarray(triangle.T), ends))


def condition_number(vectors: ArrayLike) -> Floats:
    """Return the condition number (2-norm) of the matrix of cosine similarities of a list.

    Parameters
    ----------
    vectors
        Of shape (..., words, dimensions).

    Returns
    -------
    array
        Largest over smallest eigenvalue: 1 for orthogonal vectors, infinite for dependent ones (`RANK_TOLERANCE`); of
        shape (...).

    References
    ----------
    Kindel (2023), Figure 1, right panel: a heuristic predictor of inconsistency.

    Examples
    --------
    >>> round(float(condition_number([[1.0, 0.0], [0.6, 0.8]])), 12)  # (1 + 0.6) / (1 - 0.6)
    4.0
    """
    units = unit_vectors(vectors)
    sizes = np.linalg.svd(units, compute_uv=False)
    largest, smallest = sizes[..., 0], sizes[..., -1]
    full = (smallest > RANK_TOLERANCE * largest) & (units.shape[-2] <= units.shape[-1])
    squares = np.full(largest.shape, np.inf)
    np.divide(largest, smallest, out=squares, where=full)
    condition: Floats = squares**2
    return condition


def weighted_directions(
    female_vectors: ArrayLike, male_vectors: ArrayLike, components: int = 4, *, centred: bool = False
) -> tuple[Floats, Floats]:
    """Return the directions in which two lists of vectors differ most, and their weights.

    The directions are the first principal components of all differences between a vector of the first list and one of
    the second: g_i and a_i of Dawkins (2021), section 4.

    Parameters
    ----------
    female_vectors, male_vectors
        Of shapes (first words, dimensions) and (second words, dimensions).
    components
        Number of directions, at most the rank of the differences.
    centred
        Whether to subtract the mean difference first, as most programs for principal components do. The components
        are then those of the spread *within* the lists, without the difference between them.

    Returns
    -------
    directions, weights
        Orthonormal rows, of shape (components, dimensions), pointing on average from the second list to the first (if
        `centred`, their largest number is positive); and the share of the squared differences along each.

    Examples
    --------
    >>> directions, weights = weighted_directions([[2.0, 1.0], [2.0, -1.0]], [[0.0, 1.0], [0.0, -1.0]], components=2)
    >>> directions.round(12) + 0.0, weights.round(3)
    (array([[1., 0.],
           [0., 1.]]), array([0.667, 0.333]))
    """
    count, keep_mean = check_count("components", components), not check_flag("centred", centred)
    first, second = checked_rows(female_vectors), checked_rows(male_vectors)
    raise_unless_same_dimensions(first, second)
    mean_difference = first.mean(axis=0) - second.mean(axis=0)
    # The mean square of the differences is the sum of both lists' covariances and of the squared mean difference.
    within = [(rows - rows.mean(axis=0)) / np.sqrt(len(rows)) for rows in (first, second)]
    _, sizes, directions = np.linalg.svd(np.vstack([*within, mean_difference * keep_mean]), full_matrices=False)
    longest = max(np.abs(first).max(), np.abs(second).max())
    span = int((sizes > RANK_TOLERANCE * max(sizes[0], 1e-6 * longest)).sum())
    if count > span:
        raise MeasureError(
            f"The differences span {span} dimensions, but components={count}. Give more words, or fewer components."
        )
    directions = directions[:count]
    towards, largest = directions @ mean_difference, directions[range(count), np.abs(directions).argmax(axis=1)]
    sides = np.where(keep_mean & (np.abs(towards) > RANK_TOLERANCE * longest), towards, largest)
    weights: Floats = sizes[:count] ** 2 / (sizes**2).sum()
    return directions * np.where(sides < 0, -1.0, 1.0)[:, np.newaxis], weights


def _orthonormalised(rows: Floats) -> Floats:
    """Return independent rows made orthonormal, with rounding errors that grow with their squared condition number."""
    factor = np.linalg.cholesky(rows @ rows.swapaxes(-1, -2))
    orthonormal: Floats = np.linalg.solve(factor, rows)
    return orthonormal


def _row_space_by_svd(units: Floats) -> Floats:
    _, sizes, directions = np.linalg.svd(units, full_matrices=False)
    nonzero = sizes > RANK_TOLERANCE * sizes[..., :1]
    basis: Floats = directions * nonzero[..., np.newaxis]
    return basis


def _basis_rank(basis: Floats) -> NDArray[np.integer[Any]]:
    count: NDArray[np.integer[Any]] = np.any(basis != 0, axis=-1).sum(axis=-1)
    return count


def _cross(basis_a: Floats, basis_b: Floats) -> Floats:
    raise_unless_same_dimensions(basis_a, basis_b)
    product: Floats = basis_a @ basis_b.swapaxes(-1, -2)
    return product
