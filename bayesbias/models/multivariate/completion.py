"""Lost pairs and the weights of Student t attribute words, drawn given the means and covariances of lists.

Arrays have a leading axis of copies, one a chain.
"""

import numpy as np
from scipy.special import gammaln

from bayesbias.estimates.grids import draw_on_grid
from bayesbias.models.multivariate.list_model import DISTANCE_ERROR
from bayesbias.models.priors import Prior

_FREEDOMS = np.exp(np.linspace(np.log(0.5), np.log(500), 160))


def lost_pairs(distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of distances (attribute words, protected words) that have NaN, and its columns, padded with -1.

    >>> lost_pairs(np.array([[1.0, np.nan], [1.0, 1.0]]))
    (array([0]), array([[1]]))
    """
    attribute = np.flatnonzero(np.isnan(distances).any(axis=1))
    gone = np.isnan(distances[attribute])
    places = np.argsort(~gone, axis=1, kind="stable")[:, : int(gone.sum(axis=1).max(initial=0))]
    return attribute, np.where(np.take_along_axis(gone, places, axis=1), places, -1)


def fill_lost_pairs(
    distances: np.ndarray,
    lost: tuple[np.ndarray, np.ndarray],
    mean: np.ndarray,
    precision: np.ndarray,
    list_of: np.ndarray,
    weights: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Draw the distances that `lost_pairs` names, given the others of their attribute word, into `distances`.

    `mean` (copies, attribute words, words) and `precision` (copies, lists, words, words) are those of attribute words.
    With precision P, the lost distances given the observed are Normal with precision P_LL and mean
    m_L - P_LL^-1 P_LO r_O.
    """
    words, protected = lost
    if not len(words):
        return
    real = protected >= 0
    places = np.where(real, protected, 0)
    row, column = np.nonzero(real)
    place = places[row, column]
    residual = distances[:, words] - mean[:, words]
    residual[:, row, place] = 0.0
    of_word = precision[:, list_of[words]]
    pull = np.einsum("cwij,cwj->cwi", of_word, residual, optimize=True)
    pull = np.take_along_axis(pull, places[None], axis=2) * real
    rows = np.arange(len(words))[:, None, None]
    block = of_word[:, rows, places[:, :, None], places[:, None, :]]
    block = np.where(real[:, :, None] & real[:, None, :], block, np.eye(places.shape[1]))
    lower = np.linalg.cholesky(block)
    noise = rng.standard_normal(pull.shape) / np.sqrt(weights[:, words, None])
    drawn = np.linalg.solve(np.swapaxes(lower, 2, 3), noise[..., None])
    drawn = (drawn - np.linalg.solve(block, pull[..., None]))[..., 0]
    distances[:, words[row], place] = mean[:, words[row], place] + drawn[:, row, column]


def draw_weights(
    distances: np.ndarray,
    mean: np.ndarray,
    precision: np.ndarray,
    list_of: np.ndarray,
    freedom: np.ndarray,
    shares: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw the precision weight of each attribute word, of a Student t with `freedom` (copies,).

    `shares` (attribute words,) are what the words are worth beside independent ones.
    """
    residual = distances - mean
    square = np.empty(residual.shape[:2])
    for place in range(precision.shape[1]):
        of_list = list_of == place
        part = residual[:, of_list]
        square[:, of_list] = ((part @ precision[:, place]) * part).sum(axis=2)
        square[:, of_list] += DISTANCE_ERROR**2 * np.trace(precision[:, place], axis1=1, axis2=2)[:, None]
    rate = (freedom[:, None] + shares * square) / 2
    return np.asarray(rng.standard_gamma((freedom[:, None] + shares * residual.shape[2]) / 2, square.shape) / rate)


def draw_freedom(weights: np.ndarray, prior: Prior, rng: np.random.Generator) -> np.ndarray:
    """Draw the degrees of freedom given the weights (copies, attribute words)."""
    half = _FREEDOMS / 2
    total = (np.log(weights) - weights).sum(axis=1, keepdims=True)
    log = weights.shape[1] * (half * np.log(half) - gammaln(half)) + half * total
    log = log + prior.log_density(_FREEDOMS) + np.log(_FREEDOMS)
    return draw_on_grid(_FREEDOMS, log, rng)
