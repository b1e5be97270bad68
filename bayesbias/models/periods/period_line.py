"""A trend through gaps by period: a line or a random walk, with covariates by period.

The coefficients are least squares with weights that do not depend on the data: of the gaps for a line, of the steps for
a random walk. They are never generalised least squares over the covariance of the gaps, for the same reason as with
words: combinations of gaps that hardly vary between attribute words say nothing about the trend. A coefficient's error
has two parts: that of the gaps, draw by draw, and that of periods, whose sd is learnt from what the trend leaves, net
of the error of the gaps.
"""

from dataclasses import dataclass

import numpy as np

_ROUNDING = 1e-12  # in units of cosine distance


@dataclass(frozen=True, eq=False)
class LineDraws:
    """Draws of coefficients (draws, coefficients) and of the sd of periods around the trend (draws,).

    `plain` (coefficients,) are those of the plain gaps, `mean` (coefficients,) the posterior means: those of the draws
    without the error of periods, whose mean is 0, and which has no mean in draws with one degree of freedom.
    """

    coefficients: np.ndarray
    period_sd: np.ndarray
    plain: np.ndarray
    mean: np.ndarray


def draw_line(
    plain: np.ndarray, draws: np.ndarray, design: np.ndarray, times: np.ndarray, *, walk: bool, seed: int
) -> LineDraws:
    """Return draws of the coefficients of a trend.

    Parameters
    ----------
    plain, draws
        Plain gaps (periods,) and their draws (draws, periods).
    design
        Time and covariates by period, shape (periods, coefficients), without a constant.
    times
        Times of the periods, increasing.
    walk
        Whether the gap is a random walk around the covariates, with a variance of a step in proportion to its time;
        otherwise periods vary independently around the line.
    seed
        Seed.
    """
    rng = np.random.default_rng([seed, 2000])
    gain, left, root = _least_squares(design, times, walk=walk)
    free = len(times) - 1 - design.shape[1]
    residual = float(np.square(left @ plain).sum())
    gap_error = float(np.square((draws - draws.mean(axis=0)) @ left.T).sum(axis=1).mean())
    variance = np.maximum(residual / rng.chisquare(free, len(draws)) - gap_error / free, 0)
    noise = rng.standard_normal((len(draws), design.shape[1])) @ root.T
    period_sd = np.sqrt(variance)
    of_gaps = draws @ gain.T
    return LineDraws(of_gaps + period_sd[:, None] * noise, period_sd, gain @ plain, of_gaps.mean(axis=0))


def _least_squares(design: np.ndarray, times: np.ndarray, *, walk: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what takes gaps to coefficients and to residuals, and a root of the coefficients' covariance over sd^2."""
    if walk:
        steps = np.diff(np.eye(len(times)), axis=0) / np.sqrt(np.diff(times))[:, None]
    else:
        steps = np.eye(len(times)) - 1 / len(times)
    whitened = steps @ design
    units = np.abs(whitened).max(axis=0)  # covariates have any unit
    whitened = whitened / units
    gain = np.linalg.pinv(whitened) @ steps
    root = np.linalg.cholesky(np.linalg.inv(whitened.T @ whitened))
    return gain / units[:, None], steps - whitened @ gain, root / units[:, None]


@dataclass(frozen=True)
class NeighbourTest:
    """Durbin-Watson statistic of deviations from a line, and the share of independent deviations with a smaller one."""

    durbin_watson: float
    p_value: float


def neighbour_test(
    line: LineDraws, plain: np.ndarray, draws: np.ndarray, design: np.ndarray, times: np.ndarray, *, seed: int
) -> NeighbourTest | None:
    """Return whether neighbouring periods deviate from a line more alike than independent deviations do.

    None if the gaps are on the line up to rounding.

    The statistic is that of Durbin and Watson (1950), each squared difference of neighbours over its time, relative to
    the mean of these weights. Independent deviations are simulated with the sd of periods, plus the error of the gaps,
    which neighbouring periods may share. The arguments are those of `draw_line`.
    """
    rng = np.random.default_rng([seed, 3000])
    _, left, _ = _least_squares(design, times, walk=False)
    simulated = draws - draws.mean(axis=0) + line.period_sd[:, None] * rng.standard_normal(draws.shape)
    weights = 1 / np.diff(times)
    weights /= weights.mean()

    deviations = np.vstack([plain, simulated]) @ left.T
    if np.abs(deviations[0]).max() < _ROUNDING:
        return None
    statistics = np.square(np.diff(deviations)) @ weights / np.square(deviations).sum(axis=1)
    # The share counts the observed statistic too, so that it is never 0.
    return NeighbourTest(float(statistics[0]), float(np.mean(statistics <= statistics[0])))
