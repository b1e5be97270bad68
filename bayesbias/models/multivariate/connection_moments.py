"""Moments of the connection means given the covariances, for refits that need little Monte Carlo error."""

from dataclasses import dataclass

import numpy as np

from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.models.multivariate.list_model import Coordinates, ListStatistics


@dataclass(frozen=True, eq=False)
class ConnectionMoments:
    """Moments of the means of words like these given all covariances: `mean` (C,), `covariance` (draws, C, C)."""

    mean: np.ndarray
    covariance: np.ndarray


def connection_moments(
    sample: AttributeSample, stats: ListStatistics, axes: Coordinates, lean: np.ndarray, word_covariance: np.ndarray
) -> ConnectionMoments | None:
    """Return the moments of the connection means of a whole table of Normal attribute words.

    A connection's mean is the weighted sum of its lists' means to whole groups, sum_L g_L' xi_L. Given Sigma_L it has
    the mean of the plain averages and the variance sum_L g_L' Sigma_L g_L / n_L; words like these add S / J_g for each
    group. `lean` (draws, lists, G, G) are Sigma_L, `word_covariance` (draws, connections, connections) is S. None if
    words of a group have different lists: their means depend on more terms.
    """
    if sample.pattern_of.max() > sample.group_of.max():
        return None
    of_groups = sample.connection_weights[np.unique(sample.group_of, return_index=True)[1]]
    measured = of_groups.sum(axis=2) > 0
    share = measured / measured.sum(axis=0)
    weights = np.einsum("gcl,gc,g->clg", of_groups, share, 1 / np.sqrt(axes.sizes))
    mean = np.einsum("clg,lg->c", weights, stats.centre[0])
    size = weights / np.sqrt(stats.weight[0])[:, None]
    of_attributes = np.einsum("clg,dlgh,elh->dce", size, lean, size, optimize=True)
    of_words = np.einsum("gc,ge,g->ce", share, share, 1 / axes.sizes)
    return ConnectionMoments(mean, of_attributes + of_words * word_covariance)
