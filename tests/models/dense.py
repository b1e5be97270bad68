"""The crossed and the hierarchical model written out as one large Normal distribution: slow, and plainly right."""

import numpy as np
from scipy.stats import multivariate_normal

from bayesbias.models.data import ModelData


def design(data: ModelData, tau: np.ndarray, omega: np.ndarray, prior_sd: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrix from standard Normal causes to distances, and that from causes to (mu, m, b).

    The causes are one for each group mean, each word mean and each attribute word; `omega` has one value an
    attribute word (0 for none).
    """
    words, count, attributes = len(data.protected_words), len(data.connections), len(data.attribute_words)
    cells = words * count
    connection = np.tile(np.arange(count), words)
    group = np.zeros((count, count + cells + attributes))
    group[:, :count] = prior_sd * np.eye(count)
    word = group[connection].copy()
    word[:, count : count + cells] = np.diag(tau[connection])
    effect = np.zeros((attributes, group.shape[1]))
    effect[:, count + cells :] = np.diag(omega)
    cell = data.protected.astype(int) * count + data.connection
    return word[cell] + effect[data.attribute], np.vstack([group, word, effect])


def log_density(
    data: ModelData, tau: np.ndarray, sigma: np.ndarray, omega: np.ndarray, prior: tuple[float, float]
) -> float:
    """Return log p(distances | scales), locations integrated out."""
    rows, _ = design(data, tau, omega, prior[1])
    covariance = rows @ rows.T + np.diag(sigma[data.connection] ** 2)
    return float(multivariate_normal(np.full(len(rows), prior[0]), covariance).logpdf(data.distance))


def locations(
    data: ModelData, tau: np.ndarray, sigma: np.ndarray, omega: np.ndarray, prior: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of (mu, m, b) given scales and distances; mu and m counted from the prior mean."""
    rows, causes = design(data, tau, omega, prior[1])
    precision = np.eye(rows.shape[1]) + rows.T @ (rows / sigma[data.connection][:, None] ** 2)
    covariance = np.linalg.inv(precision)
    mean = covariance @ rows.T @ ((data.distance - prior[0]) / sigma[data.connection] ** 2)
    return causes @ mean, causes @ covariance @ causes.T
