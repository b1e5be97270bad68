"""A trend through contrasts by period: a line or a random walk, with covariates by period.

The coefficients are least squares with weights that do not depend on the data: of the contrasts for a line, of the
steps for a random walk. They are never generalised least squares over the covariance of the contrasts, for the same
reason as with words: combinations of contrasts that hardly vary between attribute words say nothing about the trend. A
coefficient's error has two parts: that of the contrasts, and that of periods, with the variance that the trend leaves,
net of the error of the contrasts. Both together have the degrees of freedom of Satterthwaite (1946).
"""

from dataclasses import dataclass

import numpy as np

from bayesbias.estimates.intervals import student_scales, welch_freedom
from bayesbias.models.periods.contrast_draws import OverallContrasts

_ROUNDING = 1e-12  # in units of cosine distance


@dataclass(frozen=True, eq=False)
class LineDraws:
    """Draws of coefficients (draws, coefficients) and of the sd of periods around the trend (draws,).

    `observed` (coefficients,) are those of the observed contrasts, around which the draws are symmetric.
    """

    coefficients: np.ndarray
    period_sd: np.ndarray
    observed: np.ndarray


def draw_line(
    contrasts: OverallContrasts, design: np.ndarray, times: np.ndarray, *, walk: bool, seed: int
) -> LineDraws:
    """Return draws of the coefficients of a trend.

    - `design`: time and covariates by period, shape (periods, coefficients), without a constant.
    - `times`: times of the periods, increasing.
    - `walk`: whether the contrast is a random walk around the covariates, with a variance of a step in proportion to
      its time; otherwise periods vary independently around the line.
    """
    rng = np.random.default_rng([seed, 2000])
    gain, left, root = _least_squares(design, times, walk=walk)
    free, count = len(times) - 1 - design.shape[1], len(contrasts.errors)

    def beside_trend(errors: np.ndarray) -> float:
        """Return the mean square of errors around the trend."""
        return float(np.square(errors @ left.T).sum(axis=1).mean() / free)

    residual, contrast_error = (
        beside_trend(contrasts.observed[None]),
        beside_trend(contrasts.errors + contrasts.word_errors),
    )
    period_variance = max(residual - contrast_error, 0.0)
    errors, size = contrasts.errors @ gain.T, np.square(root).sum(axis=1)
    # Parts of the variance of errors and periods, each with its degrees of freedom. That of periods is net of the error
    # of contrasts, which is in several parts, with its sign.
    parts = np.stack([np.zeros_like(size), errors.var(axis=0), np.zeros_like(size)])
    if period_variance > 0:
        of_contrasts = beside_trend(contrasts.errors)
        parts += size * np.array([[residual], [-of_contrasts], [of_contrasts - contrast_error]])
    freedom = welch_freedom(parts, np.array([[free], [contrasts.freedom], [np.inf]]))
    freedom = np.maximum(freedom, min(free, contrasts.freedom))
    noise = rng.standard_normal((count, design.shape[1])) @ root.T
    drawn = (errors + np.sqrt(period_variance) * noise) * student_scales(contrasts.quantiles, freedom)
    period_sd = np.sqrt(np.maximum(residual * free / rng.chisquare(free, count) - contrast_error, 0))
    return LineDraws(
        gain @ contrasts.observed + drawn + contrasts.word_errors @ gain.T, period_sd, gain @ contrasts.observed
    )


def _least_squares(design: np.ndarray, times: np.ndarray, *, walk: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return maps of contrasts to coefficients and to residuals, and a root of the coefficients' covariance / sd^2."""
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
    line: LineDraws, contrasts: OverallContrasts, design: np.ndarray, times: np.ndarray, *, seed: int
) -> NeighbourTest | None:
    """Return whether neighbouring periods deviate from a line more alike than independent deviations do.

    None if the contrasts are on the line up to rounding.

    The statistic is that of Durbin and Watson (1950), each squared difference of neighbours over its time, relative to
    the mean of these weights. Independent deviations are simulated with the sd of periods, plus the error of the
    contrasts, which neighbouring periods may share. The arguments are those of `draw_line`.
    """
    rng, draws = np.random.default_rng([seed, 3000]), contrasts.draws
    _, left, _ = _least_squares(design, times, walk=False)
    simulated = draws - draws.mean(axis=0) + line.period_sd[:, None] * rng.standard_normal(draws.shape)
    weights = 1 / np.diff(times)
    weights /= weights.mean()

    deviations = np.vstack([contrasts.observed, simulated]) @ left.T
    if np.abs(deviations[0]).max() < _ROUNDING:
        return None
    statistics = np.square(np.diff(deviations)) @ weights / np.square(deviations).sum(axis=1)
    # The share counts the observed statistic too, so that it is never 0.
    return NeighbourTest(float(statistics[0]), float(np.mean(statistics <= statistics[0])))
