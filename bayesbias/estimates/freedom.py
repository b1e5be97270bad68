"""Degrees of freedom of sums of errors, and Student's t of Normal draws."""

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats


def welch_freedom(variances: Floats, freedom: ArrayLike) -> Floats:
    """Return the degrees of freedom of sums (Satterthwaite 1946, Welch 1947) of independent parts, in rows.

    Parameters
    ----------
    variances
        Variance of each part, shape (parts, sums).
    freedom
        Its degrees of freedom, of a shape that broadcasts to that of `variances`.

    Examples
    --------
    >>> welch_freedom(np.array([[1.0, 1.0], [1.0, 0.0]]), 4.0).tolist()
    [8.0, 4.0]
    """
    largest = variances.max(axis=0)
    shares = variances / np.where(largest > 0, largest, 1.0)  # squares of variances in any unit are numbers
    every = np.broadcast_to(freedom, variances.shape)
    joint = shares.sum(axis=0) ** 2 / np.where(largest > 0, (shares**2 / every).sum(axis=0), 1.0)
    return np.where(largest > 0, joint, every.min(axis=0))


def student_scales(quantiles: Floats, freedom: Floats) -> Floats:
    """Return what makes Student's t of Normal draws, shape (draws, quantities).

    Quantities with different degrees of freedom share the `quantiles` (draws,) of their chi-squares, so that they are
    multivariate t where these agree.

    >>> student_scales(np.array([0.05, 0.5]), np.array([4.0, 100.0])).round(2).tolist()
    [[2.37, 1.13], [1.09, 1.0]]
    """
    from scipy.special import gammaincinv

    scales: Floats = np.sqrt(freedom / 2 / gammaincinv(freedom / 2, quantiles[:, None]))
    return scales
