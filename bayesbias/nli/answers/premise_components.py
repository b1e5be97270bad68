r"""Variance between premises: of their verbs, of their objects, and of what is left; arrays in, arrays out.

A row of values of P premises is z = m + v_verb + o_object + e, all Normal with variances V, O and E. Of several such
rows with the same variances, each with a mean of its own, the likelihood depends on V / E and O / E through two small
determinants and quadratic forms, whatever P is: E and the means are integrated out, and the two ratios lie on a grid.

**Prior.** p(m, E) proportional to 1 / E, and each sd of an effect over the sd of what is left half-Cauchy with scale 1
(Andrew Gelman, 2006, Bayesian Analysis 1, 515-534): u = 2 / pi arctan(sd ratio) is uniform, and the grid is in u.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats

_POINTS = 24  # of the grid along each axis
_ROUNDS = 6  # times at most that the grid is laid closer around what counts
_NEGLIGIBLE = 12.0  # log density below the largest
_ROUNDING = 1e-12  # of a sum of squares
_FINE = 5.0  # points of the grid within a standard deviation


@dataclass(frozen=True, eq=False)
class Premises:
    """Which verb and object each premise has, as far as these can be told from the premise itself.

    Parameters
    ----------
    codes
        Of verbs and of objects, each of shape (premises,).
    counts
        Of premises by verb and by object.
    both : array, shape (verbs, objects)
        Counts of premises.
    """

    codes: tuple[NDArray[np.intp], NDArray[np.intp]]
    counts: tuple[Floats, Floats]
    both: Floats

    @classmethod
    def of(cls, verbs: NDArray[np.intp], objects: NDArray[np.intp]) -> "Premises":
        """Return the premises with these codes, 0 to one less than the number of verbs or objects."""
        both = np.zeros((verbs.max() + 1, objects.max() + 1))
        np.add.at(both, (verbs, objects), 1.0)
        return cls((verbs, objects), (both.sum(axis=1), both.sum(axis=0)), both)

    @property
    def told(self) -> tuple[bool, bool]:
        """Whether verbs, and objects, repeat, and differ: else they have no variance that could be estimated."""
        first, second = (1 < len(count) < len(self.codes[0]) for count in self.counts)
        return first, second

    def variance_of_mean(self, variances: Floats) -> Floats:
        """Return the variance of a mean over these premises, of (..., 3) variances of verbs, objects and the rest."""
        total = len(self.codes[0])
        weights = [float(((count / total) ** 2).sum()) for count in self.counts]
        found: Floats = variances @ np.array([*weights, 1 / total])
        return found


def draw_variances(
    rows: Floats, premises: Premises, draws: int, rng: np.random.Generator, prior_scale: float = 1.0
) -> Floats:
    """Draw from the posterior of the variances of verbs, objects and the rest, of shape (draws, 3).

    `rows` have the shape (rows, premises); those of a factor that cannot be told are 0. `prior_scale` is that of the
    half-Cauchy priors.
    """
    from scipy.special import logsumexp

    rows = rows - rows.mean(axis=1, keepdims=True)
    if not (rows**2).sum() > 1e-24 * rows.size:
        return np.zeros((draws, 3))
    sums = [np.stack([np.bincount(code, row, len(count)) for row in rows], axis=1)
            for code, count in zip(premises.codes, premises.counts, strict=True)]  # fmt: skip
    squares = (rows**2).sum()
    told = premises.told
    low, high = np.zeros(2), np.ones(2)
    for _ in range(_ROUNDS):
        edges = [np.linspace(a, b, (_POINTS if each else 1) + 1) for a, b, each in zip(low, high, told, strict=True)]
        middles = [(edge[1:] + edge[:-1]) / 2 if each else np.zeros(1) for edge, each in zip(edges, told, strict=True)]
        found = np.stack([_along(middles[0], w, premises, sums, squares, len(rows)) for w in middles[1]], axis=1)
        density = found[..., 0]
        for axis, each in enumerate(told):
            if each:  # the grid has the scale 1 in it
                square = np.tan(np.pi / 2 * middles[axis]) ** 2
                more = np.log1p(square) - np.log(prior_scale**2 + square)
                density = density + (more[:, None] if axis == 0 else more)
        weight = np.exp(density - logsumexp(density))
        near = density > density.max() - _NEGLIGIBLE
        done = True
        for axis in (0, 1):
            if not told[axis]:
                continue
            kept = np.flatnonzero(near.any(axis=1 - axis))
            along = weight.sum(axis=1 - axis)
            mean = along @ middles[axis]
            sd = np.sqrt(along @ (middles[axis] - mean) ** 2)
            step = edges[axis][1] - edges[axis][0]
            if sd < _FINE / 2 * step and len(kept) + 2 < _POINTS:
                done = False
                low[axis] = edges[axis][max(kept[0] - 1, 0)]
                high[axis] = edges[axis][min(kept[-1] + 2, _POINTS)]
        if done:
            break
    at = rng.choice(weight.size, size=draws, p=weight.ravel())
    places = np.unravel_index(at, weight.shape)
    ratios = [
        # Anywhere in its cell: the density is flat enough there.
        np.tan(np.pi / 2 * (middle[place] + (rng.random(draws) - 0.5) * (edge[1] - edge[0]))) ** 2 if each
        else np.zeros(draws)
        for middle, place, edge, each in zip(middles, places, edges, told, strict=True)
    ]  # fmt: skip
    rest = found[places][:, 1] / rng.chisquare(rows.shape[0] * (rows.shape[1] - 1), size=draws)
    return np.stack([ratios[0] * rest, ratios[1] * rest, rest], axis=1)


def _along(
    verb_places: Floats, object_place: float, premises: Premises, sums: list[Floats], squares: float, rows: int
) -> Floats:
    """Return log densities, the means and E integrated out, and sums of squares in units of E, of shape (places, 2).

    With D the diagonal ratios and Z the indicators, V / E = I + Z D Z', whose inverse and determinant are those of
    I + D^1/2 Z'Z D^1/2: a diagonal block of objects, and after it a matrix of the size of the verbs, whose eigenvalues
    serve all ratios of the verbs.
    """
    verb, thing = np.tan(np.pi / 2 * verb_places) ** 2, np.tan(np.pi / 2 * object_place) ** 2
    of_verbs, of_objects = premises.counts
    total = of_verbs.sum()
    block = 1 + thing * of_objects
    across = thing * premises.both / block
    values, vectors = np.linalg.eigh(np.diag(of_verbs) - across @ premises.both.T)
    scaled = 1 + verb[:, None] * np.maximum(values, 0.0)
    weights = verb[:, None] / scaled
    # The rows, which have the mean 0, and the constant.
    right = np.column_stack([sums[1], of_objects])
    of_rows, of_one = right[:, :-1], right[:, -1]
    base = vectors.T @ (np.column_stack([sums[0], of_verbs]) - across @ right)
    over = thing / block
    constant = np.maximum(total - over @ of_one**2 - weights @ base[:, -1] ** 2, _ROUNDING * total)
    cross = (over * of_one) @ of_rows + weights @ (base[:, :-1] * base[:, -1:])
    left = squares - (over @ of_rows**2).sum() - weights @ (base[:, :-1] ** 2).sum(axis=1)
    # Nothing is left but rounding where verbs and objects say all.
    left = np.maximum(left - (cross**2).sum(axis=1) / constant, _ROUNDING * squares)
    determinant = np.log(block).sum() + np.log(scaled).sum(axis=1)
    density = -0.5 * rows * (determinant + np.log(constant)) - 0.5 * rows * (total - 1) * np.log(left)
    found: Floats = np.stack([density, left], axis=1)
    return found
