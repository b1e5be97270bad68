r"""Variance between premises, split into verbs, objects and residuals; arrays in, arrays out.

A row of values of P premises is z = m + v_verb + o_object + e, all Normal with variances V, O and E. For several such
rows with the same variances and separate means, the likelihood depends on V / E and O / E through two small
determinants and quadratic forms, whatever P is: E and the means are integrated out, and the two ratios lie on a grid.

**Prior.** p(m, E) proportional to 1 / E, and the sd of each effect divided by the residual sd half-Cauchy with scale 1
(Andrew Gelman, 2006, Bayesian Analysis 1, 515-534): u = 2 / pi arctan(sd ratio) is uniform, and the grid is in u.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats

_POINTS = 24  # points of the grid along each axis
_ROUNDS = 6  # most times that the grid is refined around the mass
_NEGLIGIBLE = 12.0  # log density below the maximum at which the mass is negligible
_ROUNDING = 1e-12  # rounding error relative to a sum of squares
_LEAST_RESIDUAL = 1e-9  # residual sum of squares, relative to the whole one, that the grid resolves
_FINE = 5.0  # points of a fine enough grid within a standard deviation


@dataclass(frozen=True, eq=False)
class Premises:
    """Verbs and objects of premises.

    Parameters
    ----------
    codes
        Codes of verbs and of objects, each of shape (premises,).
    counts
        Numbers of premises by verb and by object.
    both : array, shape (verbs, objects)
        Numbers of premises by verb and object.
    """

    codes: tuple[NDArray[np.intp], NDArray[np.intp]]
    counts: tuple[Floats, Floats]
    both: Floats

    @classmethod
    def from_codes(cls, verbs: NDArray[np.intp], objects: NDArray[np.intp]) -> "Premises":
        """Return the premises with these codes, which count from 0."""
        both = np.zeros((verbs.max() + 1, objects.max() + 1))
        np.add.at(both, (verbs, objects), 1.0)
        return cls((verbs, objects), (both.sum(axis=1), both.sum(axis=0)), both)

    @property
    def has_variance(self) -> tuple[bool, bool]:
        """Whether the variance of verbs, and that of objects, can be estimated: if they repeat and differ."""
        first, second = (1 < len(count) < len(self.codes[0]) for count in self.counts)
        return first, second

    def variance_of_mean(self, variances: Floats) -> Floats:
        """Return the variance of a mean over these premises, given (..., 3) variances of verbs, objects, residuals."""
        total = len(self.codes[0])
        weights = [float(((count / total) ** 2).sum()) for count in self.counts]
        variance: Floats = variances @ np.array([*weights, 1 / total])
        return variance


def draw_variances(
    rows: Floats, premises: Premises, draws: int, rng: np.random.Generator, prior_scale: float = 1.0
) -> Floats:
    """Return draws of the variances of verbs, objects and residuals, of shape (draws, 3).

    `rows` has the shape (rows, premises). Variances that cannot be estimated are 0. `prior_scale` is the scale of the
    half-Cauchy priors. Where verbs and objects determine the rows up to rounding, the ratios of variances have no
    bound: noise that is small beside them, and large beside rounding, is added.
    """
    rows = rows - rows.mean(axis=1, keepdims=True)
    squares = float((rows**2).sum())
    if not squares > 1e-24 * rows.size:
        return np.zeros((draws, 3))
    drawn = _draw_on_grid(rows, premises, draws, rng, prior_scale, _LEAST_RESIDUAL)
    if drawn is None:
        noise = np.sqrt(10 * _LEAST_RESIDUAL * squares / rows.size) * rng.standard_normal(rows.shape)
        rows = rows + noise - noise.mean(axis=1, keepdims=True)
        drawn = _draw_on_grid(rows, premises, draws, rng, prior_scale, 0.0)
        assert drawn is not None
    return drawn


def _draw_on_grid(
    rows: Floats, premises: Premises, draws: int, rng: np.random.Generator, prior_scale: float, least: float
) -> Floats | None:
    """Return the draws for centred rows, or None if a residual sum of squares is below its least share."""
    from scipy.special import logsumexp

    sums = [np.stack([np.bincount(code, row, len(count)) for row in rows], axis=1)
            for code, count in zip(premises.codes, premises.counts, strict=True)]  # fmt: skip
    squares = float((rows**2).sum())
    has_variance = premises.has_variance
    low, high = np.zeros(2), np.ones(2)
    for _ in range(_ROUNDS):
        edges = [
            np.linspace(a, b, (_POINTS if varies else 1) + 1)
            for a, b, varies in zip(low, high, has_variance, strict=True)
        ]
        middles = [
            (edge[1:] + edge[:-1]) / 2 if varies else np.zeros(1)
            for edge, varies in zip(edges, has_variance, strict=True)
        ]
        density, left = _on_grid(middles[0], middles[1], premises, sums, squares, len(rows))
        if left.min() < least * squares:
            return None
        for axis, varies in enumerate(has_variance):
            if varies:  # the grid already includes the prior of scale 1
                square = np.tan(np.pi / 2 * middles[axis]) ** 2
                more = np.log1p(square) - np.log(prior_scale**2 + square)
                density = density + (more[:, None] if axis == 0 else more)
        weight = np.exp(density - logsumexp(density))
        near = density > density.max() - _NEGLIGIBLE
        done = True
        for axis in (0, 1):
            if not has_variance[axis]:
                continue
            near_places = np.flatnonzero(near.any(axis=1 - axis))
            along = weight.sum(axis=1 - axis)
            mean = along @ middles[axis]
            sd = np.sqrt(along @ (middles[axis] - mean) ** 2)
            step = edges[axis][1] - edges[axis][0]
            if sd < _FINE / 2 * step and len(near_places) + 2 < _POINTS:
                done = False
                low[axis] = edges[axis][max(near_places[0] - 1, 0)]
                high[axis] = edges[axis][min(near_places[-1] + 2, _POINTS)]
        if done:
            break
    cell = rng.choice(weight.size, size=draws, p=weight.ravel())
    places = np.unravel_index(cell, weight.shape)
    ratios = [
        # Uniform within the cell: the density is flat enough there.
        np.tan(np.pi / 2 * (middle[place] + (rng.random(draws) - 0.5) * (edge[1] - edge[0]))) ** 2 if varies
        else np.zeros(draws)
        for middle, place, edge, varies in zip(middles, places, edges, has_variance, strict=True)
    ]  # fmt: skip
    rest_variance = left[places] / rng.chisquare(rows.shape[0] * (rows.shape[1] - 1), size=draws)
    return np.stack([ratios[0] * rest_variance, ratios[1] * rest_variance, rest_variance], axis=1)


def _on_grid(
    verb_places: Floats, object_places: Floats, premises: Premises, sums: list[Floats], squares: float, rows: int
) -> tuple[Floats, Floats]:
    """Return log densities with the means and E integrated out, and residual sums of squares, both (verbs', objects').

    With D the diagonal matrix of ratios and Z the indicators, the covariance over E is I + Z D Z'. Its inverse and
    determinant follow from I + D^1/2 Z'Z D^1/2: a diagonal block of objects, and then a matrix of the size of the
    verbs, whose eigenvalues serve all ratios of the verbs.
    """
    verb, thing = (np.tan(np.pi / 2 * places) ** 2 for places in (verb_places, object_places))
    of_verbs, of_objects = premises.counts
    total = of_verbs.sum()
    block = 1 + thing[:, None] * of_objects
    over = thing[:, None] / block
    across = over[:, None] * premises.both
    values, vectors = np.linalg.eigh(np.diag(of_verbs) - across @ premises.both.T)
    # First axis: ratios of objects; second axis: ratios of verbs.
    scaled = 1 + verb[:, None] * np.maximum(values, 0.0)[:, None]
    weights = verb[:, None] / scaled
    # The centred rows, and the constant.
    right = np.column_stack([sums[1], of_objects])
    of_rows, of_one = right[:, :-1], right[:, -1]
    base = vectors.mT @ (np.column_stack([sums[0], of_verbs]) - across @ right)
    base_rows, base_one = base[..., :-1], base[..., -1:]
    constant = total - (over @ of_one**2)[:, None] - (weights @ base_one**2)[..., 0]
    constant = np.maximum(constant, _ROUNDING * total)
    cross = ((over * of_one) @ of_rows)[:, None] + weights @ (base_rows * base_one)
    explained = (over @ (of_rows**2).sum(axis=1))[:, None] + (weights @ (base_rows**2).sum(axis=-1)[..., None])[..., 0]
    left = squares - explained
    # Only rounding remains where verbs and objects determine everything.
    left = np.maximum(left - (cross**2).sum(axis=-1) / constant, _ROUNDING * squares)
    determinant = np.log(block).sum(axis=1)[:, None] + np.log(scaled).sum(axis=-1)
    density = -0.5 * rows * (determinant + np.log(constant)) - 0.5 * rows * (total - 1) * np.log(left)
    return density.T, left.T
