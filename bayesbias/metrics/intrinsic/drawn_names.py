"""Draws of MIDB's directions, whose spread comes from the choice of names."""

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.machine.threads import threadpool_limits

NAME_DRAWS = 1000
"""Number of draws of names' weights; the error of an interval's ends is about a fifteenth of its half-width."""


def drawn_weighted_directions(
    first: Floats, second: Floats, weights: tuple[Floats, Floats], components: int, *, centred: bool = False
) -> Floats:
    """Return sum_i a_i g_i of `bayesbias.geometry.weighted_directions` for each draw of the names' weights.

    Parameters
    ----------
    first, second
        Vectors of names, of shapes (first names, dimensions) and (second names, dimensions).
    weights
        Weights of the first and of the second names, of shapes (draws, first names) and (draws, second names). A name
        with a weight of 2 counts as two.
    components, centred
        Arguments of `weighted_directions`.

    Returns
    -------
    array
        Sums of directions, of shape (draws, dimensions).

    Examples
    --------
    >>> names = np.array([[2.0, 1.0], [2.0, -1.0]]), np.array([[0.0, 1.0], [0.0, -1.0]])
    >>> directions, shares = bb.geometry.weighted_directions(*names, components=2)
    >>> drawn = drawn_weighted_directions(*names, (np.ones((1, 2)), np.ones((1, 2))), 1)
    >>> np.allclose(drawn, shares[:1] @ directions[:1])
    True
    """
    from scipy.linalg import eigh

    axes = np.linalg.svd(np.vstack([first, second]), full_matrices=False)[2]
    lists = [rows @ axes.T for rows in (first, second)]
    count = len(axes)
    weighted = np.empty((len(weights[0]), first.shape[1]))
    with threadpool_limits(1, "blas"):  # the matrices are so small that threads would cost more than they gain
        for draw, (first_weights, second_weights) in enumerate(zip(*weights, strict=True)):
            shares = [name_weights / name_weights.sum() for name_weights in (first_weights, second_weights)]
            means = [share @ rows for share, rows in zip(shares, lists, strict=True)]
            difference = means[0] - means[1]
            within = [
                (rows - mean) * np.sqrt(share)[:, np.newaxis]
                for rows, mean, share in zip(lists, means, shares, strict=True)
            ]
            stacked = np.vstack([*within, difference * (not centred)])
            squares = stacked.T @ stacked
            sizes, eigenvectors = eigh(squares, subset_by_index=[count - components, count - 1])
            directions = eigenvectors.T @ axes
            largest = directions[range(components), np.abs(directions).argmax(axis=1)]
            sides = largest if centred else directions @ (difference @ axes)
            weighted[draw] = (np.where(sides < 0, -1.0, 1.0) * sizes / np.trace(squares)) @ directions
    return weighted
