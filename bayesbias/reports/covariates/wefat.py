"""WEFAT: the statistic of each word, and its correlations with covariates."""

import numpy as np

from bayesbias.reports.covariates.slopes import CovariateDesign, Leans


def association_statistics(leans: Leans) -> np.ndarray:
    """Return the statistic of WEFAT of each word, shape (words,), NaN if all similarities of the word are equal.

    With the first kind of attribute words as A and the second as B, it is (mean cos(w, a) - mean cos(w, b)) / sd of
    the cosines of w with A and B together, with n - 1: above 0, the word is nearer to A (Caliskan, Bryson and Narayanan
    2017).
    """
    sample = leans.sample
    in_lean = (leans.weights != 0)[:, sample.list_of] & np.isfinite(sample.distances.T)
    counts = in_lean.sum(axis=1)
    distances = np.where(in_lean, sample.distances.T, 0.0)
    deviations = np.where(in_lean, distances - (distances.sum(axis=1) / counts)[:, None], 0.0)
    sds = np.sqrt(np.square(deviations).sum(axis=1) / np.maximum(counts - 1, 1))
    return np.asarray(np.where(sds > 1e-12, -leans.observed / np.maximum(sds, 1e-12), np.nan))


def statistic_correlations(statistics: np.ndarray, design: CovariateDesign) -> np.ndarray:
    """Return the Pearson correlation of words' statistics with each covariate, within the groups of the design.

    NaN if a statistic is missing, or none differs within its group.

    >>> from bayesbias.reports.covariates.slopes import design_of
    >>> design = design_of(np.array([[0.0], [1.0], [2.0], [4.0]]), np.zeros(4, dtype=int))
    >>> statistic_correlations(np.array([0.1, 0.4, 0.2, 0.9]), design).round(3)
    array([0.877])
    """
    means = np.eye(design.group_of.max() + 1)[design.group_of]
    centred = statistics - means @ (means.T @ statistics / means.sum(axis=0))
    lengths = np.linalg.norm(centred) * np.linalg.norm(design.deviations, axis=0)
    products = design.deviations.T @ centred
    return np.asarray(np.divide(products, lengths, out=np.full(len(products), np.nan), where=lengths > 0))
