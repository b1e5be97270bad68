"""A linear regression with groupings (algorithms, corpora) and repeated units (words), by importance sampling.

Given the standard deviations of effects, units and errors, all coefficients and effects are Normal and are integrated
out. The few standard deviations are drawn by `importance`, then coefficients and effects given each draw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.machine.threads import threadpool_limits
from bayesbias.models.numerics.diagnostics import ESS_PER_CHAIN
from bayesbias.models.numerics.importance import KHAT_MAX, fit_proposal, importance_report, poor_weights, resample

if TYPE_CHECKING:
    import xarray as xr

_CHAINS = 4
# The range of the logarithms of standard deviations in which modes are searched.
_LIMITS = (-9.0, 3.0)


@dataclass(frozen=True, eq=False)
class Stratum:
    """Rows with one error standard deviation, reduced to their sufficient statistics.

    Parameters
    ----------
    design : array, shape (k, columns)
        The R of the design's QR decomposition, k at most the number of columns.
    response : array, shape (k,)
        Q'y.
    residual_squares
        |y|^2 - |Q'y|^2.
    rows
        Number of rows before the reduction.
    """

    design: Floats
    response: Floats
    residual_squares: float
    rows: int


def split_rows(design: Floats, response: Floats, repeats: int) -> list[Stratum]:
    """Split rows into means of units and deviations from them, each reduced by QR.

    `design` and `response`, of shape (units * repeats, ...), have the rows of a unit one after the other. With an error
    of each unit (sd u) and of each row (sd s), the means times sqrt(repeats) have the variance s^2 + repeats u^2 and
    the deviations s^2, independently: the likelihood is that of the rows, at a cost that does not grow with them.

    >>> means, deviations = split_rows(np.ones((6, 1)), np.array([1.0, 3, 2, 4, 3, 5]), repeats=2)
    >>> float(round(means.residual_squares, 6)), means.rows, deviations.rows
    (4.0, 3, 3)
    """
    units = len(response) // repeats
    X, y = design.reshape(units, repeats, -1), response.reshape(units, repeats)
    means = X.mean(axis=1), y.mean(axis=1)
    first = _reduced(means[0] * np.sqrt(repeats), means[1] * np.sqrt(repeats), units)
    if repeats == 1:
        return [first]
    deviations = (X - means[0][:, None]).reshape(-1, X.shape[2]), (y - means[1][:, None]).reshape(-1)
    return [first, _reduced(*deviations, units * (repeats - 1))]


def _reduced(design: Floats, response: Floats, rows: int) -> Stratum:
    Q, R = np.linalg.qr(design)
    projected = Q.T @ response
    return Stratum(R, projected, max(float(response @ response - projected @ projected), 0.0), rows)


@dataclass(frozen=True, eq=False)
class MixedRegression:
    """The regression of a standardised response on `fixed` columns, and on levels of groupings.

    Priors, in standard deviations of the response: coefficients Normal(0, 1), every standard deviation HalfNormal(1).

    Parameters
    ----------
    strata
        Those of `split_rows`. The columns of their designs are those of `fixed`, then the levels of each grouping.
    fixed
        Names of columns with a coefficient.
    groupings
        Names of the levels of each grouping.
    repeats
        Rows of each unit; with more than one, units have an effect.
    """

    strata: Sequence[Stratum]
    fixed: Sequence[str]
    groupings: Mapping[str, Sequence[str]]
    repeats: int

    @property
    def sds(self) -> list[str]:
        """Return the names of the standard deviations: of each grouping, of errors, and of units."""
        units = ["word_sd"] if len(self.strata) > 1 else []
        return [*(f"{name}_sd" for name in self.groupings), "sigma", *units]

    @property
    def sizes(self) -> list[int]:
        """Return the number of fixed columns, and of levels of each grouping."""
        return [len(self.fixed), *(len(levels) for levels in self.groupings.values())]

    def log_density(self, points: Floats) -> Floats:
        """Return the log density of logarithms of the standard deviations, shape (points,), up to a constant."""
        factor, fitted, _, variances = self._given(points)
        density = points.sum(axis=1) - 0.5 * np.exp(2 * points).sum(axis=1)
        for stratum, variance in zip(self.strata, variances, strict=True):
            squares = stratum.response @ stratum.response + stratum.residual_squares
            density -= 0.5 * (stratum.rows * np.log(variance) + squares / variance)
        density -= np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        return np.asarray(density + 0.5 * np.square(fitted).sum(axis=1))

    def draw_columns(self, points: Floats, rng: np.random.Generator) -> Floats:
        """Draw coefficients and effects, shape (points, columns), given logarithms of the standard deviations."""
        factor, fitted, scale, _ = self._given(points)
        noisy = fitted + rng.standard_normal(fitted.shape)
        return np.asarray(scale * np.linalg.solve(np.swapaxes(factor, 1, 2), noisy[..., None])[..., 0])

    def _given(self, points: Floats) -> tuple[Floats, Floats, Floats, list[Floats]]:
        """Return, at each point, the Cholesky factor of the columns' precision, and their whitened mean.

        Columns are divided by their prior scales, which are returned too, as are the variances of the strata.
        """
        sds = np.exp(points)
        scale = np.concatenate([np.ones((len(sds), 1)), sds[:, : len(self.groupings)]], axis=1)
        scale = scale.repeat(self.sizes, axis=1)
        noise = np.square(sds[:, len(self.groupings)])
        # Of the scaled means of units, and of the deviations from them.
        variances = [noise] if len(self.strata) == 1 else [noise + self.repeats * np.square(sds[:, -1]), noise]
        precision, linear = np.zeros((*scale.shape, scale.shape[1])), np.zeros(scale.shape)
        for stratum, variance in zip(self.strata, variances, strict=True):
            precision += stratum.design.T @ stratum.design / variance[:, None, None]
            linear += stratum.design.T @ stratum.response / variance[:, None]
        inner = np.eye(scale.shape[1]) + scale[:, :, None] * precision * scale[:, None]
        factor = np.linalg.cholesky(inner)
        fitted = np.linalg.solve(factor, (scale * linear)[..., None])[..., 0]
        return factor, fitted, scale, variances


def sample_mixed(regression: MixedRegression, *, draws: int, seed: int) -> "xr.DataTree":
    """Return draws of the standard deviations, of `coefficient`, and of the effects of each grouping.

    `draws` is their number in each of four chains. These are labels: draws are independent.
    """
    import xarray as xr

    rng, size = np.random.default_rng(seed), len(regression.sds)
    with threadpool_limits(1):  # threads cost more than they save with small matrices
        starts = [np.full(size, -1.0), np.where(np.arange(size) < len(regression.groupings), -4.0, -1.0)]
        proposal = fit_proposal(regression.log_density, starts, limits=_LIMITS)
        drawn = resample(regression.log_density, proposal, draws=draws * _CHAINS, rng=rng)
        columns = np.concatenate(
            [
                regression.draw_columns(block, rng)
                for block in np.array_split(drawn.points, 1 + len(drawn.points) // 2000)
            ]
        )
    names = [*regression.sds, "coefficient", *(f"{name}_effect" for name in regression.groupings)]
    dims = [()] * len(regression.sds) + [("column",), *((name,) for name in regression.groupings)]
    parts = [*np.exp(drawn.points.T), *np.split(columns, np.cumsum(regression.sizes)[:-1], axis=1)]
    variables = {
        name: (("chain", "draw", *dim), part.reshape(_CHAINS, draws, *part.shape[1:]))
        for name, dim, part in zip(names, dims, parts, strict=True)
    }
    coords = {"column": list(regression.fixed)} | {name: list(levels) for name, levels in regression.groupings.items()}
    groups = {"posterior": xr.Dataset(variables, coords=coords), "sample_stats": xr.Dataset(importance_report([drawn]))}
    return xr.DataTree.from_dict(groups)


def weight_problems(fit: "xr.DataTree") -> list[str]:
    """Return what is wrong with the importance weights of `sample_mixed`, a sentence each; empty if nothing is."""
    stats = {str(name): float(value) for name, value in fit["sample_stats"].items()}
    problems = []
    if not stats["pareto_khat"] <= KHAT_MAX:
        why = poor_weights(stats["pareto_khat"], KHAT_MAX)
        problems.append(f"{why.capitalize()}: do not trust the intervals. Leave out factors, or use more words.")
    if stats["importance_ess"] < _CHAINS * ESS_PER_CHAIN:
        few = f"Fewer than {_CHAINS * ESS_PER_CHAIN} effective draws ({stats['importance_ess']:.0f})"
        problems.append(f"{few}: the numbers are noisy. Use more draws.")
    return problems
