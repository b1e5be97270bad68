"""The spread of MIDB's directions, which comes from the choice of names."""

import numpy as np
from threadpoolctl import threadpool_limits

from bayesbias.base.arrays import Floats

NAME_DRAWS = 1000
"""Draws of names' weights: the ends of an interval are then off by about a fifteenth of its half-width."""


def drawn_weighted_directions(
    first: Floats, second: Floats, weights: tuple[Floats, Floats], components: int, *, centred: bool = False
) -> Floats:
    """Return sum_i a_i g_i of `bayesbias.geometry.weighted_directions` for each draw of the names' weights.

    Parameters
    ----------
    first, second
        Vectors of names, of shapes (first names, dimensions) and (second names, dimensions).
    weights
        Of the first and of the second names, of shapes (draws, first names) and (draws, second names). A name of the
        weight 2 counts as two.
    components, centred
        As for `weighted_directions`.

    Returns
    -------
    array
        Of shape (draws, dimensions).

    Examples
    --------
    >>> names = np.array([[2.0, 1.0], [2.0, -1.0]]), np.array([[0.0, 1.0], [0.0, -1.0]])
    >>> directions, shares = bb.geometry.weighted_directions(*names, components=2)
    >>> found = drawn_weighted_directions(*names, (np.ones((1, 2)), np.ones((1, 2))), 1)
    >>> np.allclose(found, shares[:1] @ directions[:1])
    True
    """
    from scipy.linalg import eigh

    axes = np.linalg.svd(np.vstack([first, second]), full_matrices=False)[2]
    lists = [rows @ axes.T for rows in (first, second)]
    count = len(axes)
    found = np.empty((len(weights[0]), first.shape[1]))
    with threadpool_limits(1, "blas"):  # the matrices are small: threads would cost more than they do
        for at, (ours, theirs) in enumerate(zip(*weights, strict=True)):
            shares = [each / each.sum() for each in (ours, theirs)]
            means = [share @ rows for share, rows in zip(shares, lists, strict=True)]
            difference = means[0] - means[1]
            within = [
                (rows - mean) * np.sqrt(share)[:, np.newaxis]
                for rows, mean, share in zip(lists, means, shares, strict=True)
            ]
            stacked = np.vstack([*within, difference * (not centred)])
            squares = stacked.T @ stacked
            sizes, found_axes = eigh(squares, subset_by_index=[count - components, count - 1])
            directions = found_axes.T @ axes
            largest = directions[range(components), np.abs(directions).argmax(axis=1)]
            sides = largest if centred else directions @ (difference @ axes)
            found[at] = (np.where(sides < 0, -1.0, 1.0) * sizes / np.trace(squares)) @ directions
    return found
