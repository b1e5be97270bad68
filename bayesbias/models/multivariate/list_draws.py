"""Draws of all means and covariances of the multivariate model, given hyperparameters."""

import numpy as np

from bayesbias.models.multivariate.list_model import (
    LARGEST_ARRAY,
    Coordinates,
    InverseWishart,
    ListStatistics,
    Regression,
    lean_posterior,
    regression_posterior,
    residual_precisions,
    statistics_of,
)


def draw_lean_roots(
    points: np.ndarray, kind: int, stats: ListStatistics, axes: Coordinates, rng: np.random.Generator, draws: int
) -> np.ndarray:
    """Return roots of draws of Sigma_L of the lists of a kind, shape (draws, lists, G, G); points are taken in turn."""
    repeats = -(-draws // len(points))
    roots = [lean_posterior(points, place, stats, axes).roots(rng, repeats)[:draws] for place in stats.lists_of(kind)]
    return np.stack(roots, axis=1)


def draw_lists(
    points: list[np.ndarray], stats: ListStatistics, axes: Coordinates, seed: int, *, draws: int, covariances: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Draw the means of lists (draws, L, J) and, if wanted, the covariances of their attribute words (draws, L, J, J).

    `points` are those of each block of hyperparameters, taken in turn until there are enough draws. The means of groups
    and single words have generators of their own, so that the first do not depend on the number of draws of the second:
    control words leave the means of stereotype lists unchanged, draw by draw.
    """
    between, within = np.random.default_rng([seed, 100]), np.random.default_rng([seed, 101])
    (lists_count, kinds), free = stats.kinds.shape, axes.free
    centre = np.broadcast_to(stats.centre, (draws, *stats.centre.shape[1:]))
    xi = np.empty((draws, lists_count, free))
    lean = np.empty((draws, lists_count, free, free))
    for kind in range(kinds):
        roots, members = draw_lean_roots(points[kind], kind, stats, axes, between, draws), stats.lists_of(kind)
        lean[:, members] = roots @ np.swapaxes(roots, 2, 3)
        noise = (roots @ between.standard_normal((draws, len(members), free, 1)))[..., 0]
        xi[:, members] = centre[:, members] + noise / np.sqrt(stats.weight[:, members, None])
    lists, image, residual = xi @ axes.between.T, axes.between[None], None
    if axes.contrasts:
        theta, residual = _draw_regression(points[kinds], stats, axes, within, draws=draws, keep_residual=covariances)
        of_lists, slopes = theta[:, 1 : 1 + lists_count], theta[:, 1 + lists_count :]
        lists += theta[:, :1] + of_lists
        lists += (xi - stats.origin[:, None]) @ slopes
        # The change in distances to words for one unit of x.
        image = image + np.swapaxes(slopes, 1, 2)
    if not covariances:
        return lists, None
    spread = image[:, None] @ lean @ np.swapaxes(image, 1, 2)[:, None]
    if residual is not None:
        precision = np.resize(residual_precisions(points[kinds], kinds), (draws, kinds)) @ stats.kinds.T
        spread += residual[:, None] / precision[:, :, None, None]
    return lists, spread


def _draw_regression(
    points: np.ndarray,
    stats: ListStatistics,
    axes: Coordinates,
    rng: np.random.Generator,
    *,
    draws: int,
    keep_residual: bool,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return draws of (alpha, eta, B) in the space of words, shape (draws, 1 + L + G, J), and of N E N' if it is kept.

    Without E, the coefficients are drawn from their matrix t distribution, which needs roots of the scale alone.
    """
    rows, repeats = 1 + len(stats.counts) + axes.free, -(-draws // len(points))
    theta = np.empty((repeats, len(points), rows, axes.words))
    residual = np.empty((repeats, len(points), axes.words, axes.words)) if keep_residual else None
    for part in np.array_split(np.arange(len(points)), -(-len(points) * axes.words**2 // LARGEST_ARRAY)):
        posterior = regression_posterior(points[part], statistics_of(stats, part), axes)
        if residual is not None:
            theta[:, part], residual[:, part] = _draw_with_covariance(posterior, axes, rng, repeats)
        else:
            theta[:, part] = _draw_without_covariance(posterior, axes, rng, repeats)
    flat = theta.reshape(-1, rows, axes.words)[:draws]
    return flat, None if residual is None else residual.reshape(-1, axes.words, axes.words)[:draws]


def _draw_with_covariance(
    posterior: Regression, axes: Coordinates, rng: np.random.Generator, repeats: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients, shape (repeats, points, rows, J), and N E N', with no unseen directions."""
    points, rows, seen = posterior.mean.shape
    upper = np.swapaxes(np.linalg.cholesky(posterior.matrix), 1, 2)
    roots = posterior.residual.roots(rng, repeats).reshape(repeats, points, seen, seen)
    noise = np.linalg.solve(upper, rng.standard_normal((repeats, points, rows, seen))) @ np.swapaxes(roots, 2, 3)
    in_words = axes.within @ roots
    return (posterior.mean + noise) @ axes.within.T, in_words @ np.swapaxes(in_words, 2, 3)


def _draw_without_covariance(
    posterior: Regression, axes: Coordinates, rng: np.random.Generator, repeats: int
) -> np.ndarray:
    """Return coefficients, shape (repeats, points, rows, J).

    They are matrix t: matrix^-1/2 Omega^-1/2 Z scale^1/2, with Omega ~ Wishart(freedom - p + rows, I).
    """
    points, rows, seen = posterior.mean.shape
    upper = np.swapaxes(np.linalg.cholesky(posterior.matrix), 1, 2)
    freedom = posterior.residual.freedom - axes.contrasts + rows
    wishart = InverseWishart(freedom, np.broadcast_to(np.eye(rows), (points, rows, rows))).roots(rng, repeats)
    left = np.linalg.solve(upper, wishart.reshape(repeats, points, rows, rows))
    roots = np.swapaxes(np.linalg.cholesky(posterior.residual.scale), 1, 2)
    theta = (posterior.mean + left @ (rng.standard_normal((repeats, points, rows, seen)) @ roots)) @ axes.within.T
    if axes.unseen:
        free = rng.standard_normal((repeats, points, rows, axes.words))
        for basis in (axes.between, axes.within):
            free -= (free @ basis) @ basis.T
        theta += left @ (free * np.sqrt(posterior.unseen_scale)[:, None, None])
    return np.asarray(theta)
