"""The multivariate model in closed form, with means and covariances integrated out.

Orthonormal coordinates of the J protected words: x = y W, one for each of the groups (sum of its words over the root of
their number) and one for each covariate (its values around the means of groups; of several covariates, the orthonormal
vectors that are nearest to them), G in all, and c = y N, the p = J - G contrasts of words within groups. For attribute
word j of list L, of kind k,

    x_j ~ Normal(xi_L, Sigma_L / w_j)                      xi_L flat
    c_j ~ Normal(alpha + eta_L + B (x_j - x0), s_k^2 E / w_j)    alpha flat, eta_L ~ Normal(0, kappa E)
    Sigma_L ~ InverseWishart(v_k + G + 1, v_k T_k)         T_k = omega_k^2 jj' + diag(psi_k^2 d)
    E ~ InverseWishart(v J + p + 1, v J sigma^2 I)         B | E ~ MatrixNormal(0, beta^2 / (sigma^2 J) I, E)

with w_j = 1 for Normal attribute words. Words of a list that depend on each other count as fewer: each has the share
1 / d of an independent one, d being the design effect of its list (`estimates/dependence.py`). The likelihood of each
word has this power, so that a list of n words has the mean of all of them, with the error and the freedom of n / d.
For the coordinate of a group j_g = sqrt(J_g) and d_g = J_g; for that of a covariate j_g = 0 and d_g = J. psi_k holds an
sd of leans to groups (one for all, absent with one group) and, for each covariate, one of slopes on it, as if its sd
were 1: attribute words may differ much along one covariate and little along another. What a question is about is free,
so that means to groups, and plain least-squares slopes, are not shrunk.

A list has a covariance of its own. Its variances are scaled inverse chi-square around those of T_k with v_k + 2 degrees
of freedom: few give nearly Student's t of the list's own words, many pool the lists of the kind, and the data choose.
Without the 2, a list of one or two words would have no sd.

Given the distances, the two halves are independent, and so are the kinds of lists in the first: control words do not
change the means of stereotype lists to whole groups, nor their error.

Distances are known to within DISTANCE_ERROR: its square, times the number of attribute words, is added to each scatter
matrix. Equal vectors, and more protected words than dimensions, are then not singular.

All functions take points (logarithms of hyperparameters) with a leading axis, and statistics whose leading axis has the
same length or 1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from scipy.special import gammaln

from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.models.numerics.proposals import LogDensity
from bayesbias.models.priors import Prior
from bayesbias.models.scales import DISTANCE_ERROR
from bayesbias.models.spec import prior_name

_LEAST_PRECISION = 1e-9
_ROUNDED = 1e-12
# Below this share of its length, a covariate's part that no group or other covariate has is rounding.
_COLLINEAR = 1e-8
# Size of the largest array of a step.
LARGEST_ARRAY = 20_000_000
LEAN = ("attribute_sd", "group_attribute_sd", "covariate_attribute_sd", "target_weight")
REGRESSION = ("sigma", "residual_weight", "list_effect", "slope_sd")


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Orthonormal coordinates of the protected words.

    `between` (words, free) is W: one column for each group, then those of covariates, whose places among all covariates
    are `covariates`. `within` (words, contrasts) are the columns of N along which the distances of this table vary, at
    most one an attribute word; along `unseen` further columns of N they do not. `sizes` (groups,) are the numbers of
    words.
    """

    between: np.ndarray
    within: np.ndarray
    unseen: int
    sizes: np.ndarray
    covariates: tuple[int, ...] = ()

    @property
    def free(self) -> int:
        """Number of coordinates whose means are free, G."""
        return int(self.between.shape[1])

    @cached_property
    def levels(self) -> np.ndarray:
        """Change of each free coordinate if all distances grow by 1, j, shape (free,)."""
        return np.concatenate([np.sqrt(self.sizes), np.zeros(self.free - len(self.sizes))])

    @cached_property
    def spreads(self) -> np.ndarray:
        """Variance of each free coordinate if attribute words' leans have variance 1, d, shape (free,)."""
        return np.concatenate([self.sizes, np.full(self.free - len(self.sizes), self.words)]).astype(float)

    @cached_property
    def lean_scales(self) -> np.ndarray:
        """The part of `spreads` that each scale psi multiplies, shape (scales, free): groups, then each covariate."""
        groups = len(self.sizes)
        owner = np.repeat(np.arange(1 + self.free - groups), [groups, *[1] * (self.free - groups)])
        first = 0 if groups > 1 else 1  # with one group, its scale is omega alone
        return np.asarray(np.equal.outer(np.arange(first, owner[-1] + 1), owner) * self.spreads)

    @property
    def contrasts(self) -> int:
        """Number of contrasts of words within groups, p."""
        return int(self.within.shape[1]) + self.unseen

    @property
    def words(self) -> int:
        """Number of protected words, J."""
        return len(self.between)


def coordinates_of(distances: np.ndarray, group_of: np.ndarray, covariates: np.ndarray | None = None) -> Coordinates:
    """Return the coordinates for distances (attribute words, words) and covariates (words, covariates).

    A covariate that follows from groups and other covariates has no coordinate. With more contrasts than attribute
    words, the distances are 0 in all directions but as many as attribute words. The priors have no direction, so that
    only these need linear algebra.
    """
    sizes = np.bincount(group_of)
    words, groups = len(group_of), len(sizes)
    between = np.zeros((words, groups))
    between[np.arange(words), group_of] = 1 / np.sqrt(sizes[group_of])
    places: tuple[int, ...] = ()
    if covariates is not None:
        of_covariates, places = _within_groups(covariates, between)
        between = np.column_stack([between, of_covariates])
    free = between.shape[1]
    if words - free <= len(distances):
        within = np.linalg.qr(between, mode="complete")[0][:, free:]
        return Coordinates(between, np.ascontiguousarray(within), 0, sizes, places)
    residual = distances - distances @ between @ between.T
    within = np.linalg.svd(residual, full_matrices=False)[2].T
    within = np.linalg.qr(within - between @ (between.T @ within))[0]
    return Coordinates(between, within, words - free - within.shape[1], sizes, places)


def _within_groups(covariates: np.ndarray, of_groups: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return the orthonormal vectors nearest to the covariates' variation within groups, and these covariates' places.

    Nearest (Löwdin 1950), so that no covariate's vector depends on their order.
    """
    scaled = covariates - covariates.mean(axis=0)
    scaled = scaled / np.maximum(np.linalg.norm(scaled, axis=0), np.finfo(float).tiny)
    around = scaled - of_groups @ (of_groups.T @ scaled)
    taken, basis = [], np.zeros((len(scaled), 0))
    for place, column in enumerate(around.T):
        left = column - basis @ (basis.T @ column)
        if (length := np.linalg.norm(left)) > _COLLINEAR:
            taken.append(place)
            basis = np.column_stack([basis, left / length])
    directions = around[:, taken] / np.linalg.norm(around[:, taken], axis=0)
    # In the exact basis, so that nearly collinear covariates lose no digits.
    left_vectors, _, right_vectors = np.linalg.svd(basis.T @ directions)
    return basis @ (left_vectors @ right_vectors), tuple(taken)


@dataclass(frozen=True, eq=False)
class LeanStatistics:
    """Sufficient statistics of the first half, x; leading axis: copies of the table, such as imputed ones.

    `centre` (copies, lists, G) are the means of x by list, `scatter` (copies, lists, G, G) the products around them,
    `weight` (copies, lists) the sums of w_j; `counts` (lists,) what the lists are worth in independent words, `kinds`
    (lists, kinds) whether a list is of a kind.
    """

    centre: np.ndarray
    scatter: np.ndarray
    weight: np.ndarray
    counts: np.ndarray
    kinds: np.ndarray

    def lists_of(self, kind: int) -> np.ndarray:
        """Return the positions of the lists of a kind."""
        return np.flatnonzero(self.kinds[:, kind])


@dataclass(frozen=True, eq=False)
class ListStatistics(LeanStatistics):
    """Sufficient statistics of the distances.

    With the design Z = (1, lists, x - x0), `zz`, `zc`, `cc` (copies, kinds, ...) are the products of Z and c by kind;
    `origin` is x0 (copies, G).
    """

    zz: np.ndarray
    zc: np.ndarray
    cc: np.ndarray
    origin: np.ndarray


def lean_statistics(
    sample: AttributeSample, x: np.ndarray, weights: np.ndarray, shares: np.ndarray | None = None
) -> LeanStatistics:
    """Return the statistics of x (copies, attribute words, G), otherwise as `list_statistics`."""
    shares = sample.word_shares if shares is None else shares
    list_of, list_kind = sample.list_of, sample.list_kind
    lists, kinds = np.eye(len(list_kind))[list_of], np.eye(int(list_kind.max()) + 1)[list_kind]
    weights = weights * shares
    weight = weights @ lists
    centre = np.swapaxes(lists[None] * weights[..., None], 1, 2) @ x / weight[..., None]
    residual = x - centre[:, list_of]
    scatter = _products(residual, residual, weights, lists)
    return LeanStatistics(centre, scatter, weight, counts=shares @ lists, kinds=kinds)


def _products(left: np.ndarray, right: np.ndarray, weights: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Return weighted products of two arrays (copies, attribute words, ...), by columns of `member`."""
    by_member = [np.swapaxes(left[:, rows] * weights[:, rows, None], 1, 2) @ right[:, rows] for rows in member.T > 0]
    return np.stack(by_member, axis=1)


def list_statistics(
    sample: AttributeSample,
    distances: np.ndarray,
    weights: np.ndarray,
    axes: Coordinates,
    shares: np.ndarray | None = None,
) -> ListStatistics:
    """Return the statistics of distances (copies, attribute words, words) with weights (copies, attribute words).

    `sample` holds the lists of the attribute words, `shares` (attribute words,) say what each is worth; None: those of
    the sample.
    """
    shares = sample.word_shares if shares is None else shares
    x, c = distances @ axes.between, distances @ axes.within
    lean = lean_statistics(sample, x, weights, shares)
    lists, origin = np.eye(len(lean.kinds))[sample.list_of], lean.centre.mean(axis=1)
    ones = np.ones((len(x), len(lists), 1))
    z = np.concatenate([ones, np.broadcast_to(lists, (len(x), *lists.shape)), x - origin[:, None]], axis=2)
    weights, in_kind = weights * shares, lists @ lean.kinds
    zz, zc, cc = (_products(left, right, weights, in_kind) for left, right in ((z, z), (z, c), (c, c)))
    return ListStatistics(**vars(lean), zz=zz, zc=zc, cc=cc, origin=origin)


@dataclass(frozen=True, eq=False)
class InverseWishart:
    """Inverse-Wishart distributions: freedom (points,), scale (points, size, size)."""

    freedom: np.ndarray
    scale: np.ndarray

    def roots(self, rng: np.random.Generator, repeats: int = 1) -> np.ndarray:
        """Return roots R of draws R R', shape (repeats * points, size, size): all points in turn, then again."""
        points, size, _ = self.scale.shape
        lower = np.linalg.cholesky(self.scale)
        freedom = np.broadcast_to(self.freedom, (repeats, points))
        return np.asarray((lower @ standard_roots(freedom, size, rng)).reshape(-1, size, size))


def standard_roots(freedom: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return roots R of inverse-Wishart draws R R' of scale 1, shape (*freedom's, size, size)."""
    places = np.arange(size)
    bartlett = np.where(places[:, None] > places, rng.standard_normal((*freedom.shape, size, size)), 0.0)
    bartlett[..., places, places] = np.sqrt(2 * rng.standard_gamma((freedom[..., None] - places) / 2))
    return np.asarray(np.swapaxes(np.linalg.inv(bartlett), -1, -2))


@dataclass(frozen=True, eq=False)
class Regression:
    """The posterior of (alpha, eta, B) and E given hyperparameters: Theta | E ~ MatrixNormal(mean, matrix^-1, E)."""

    mean: np.ndarray
    matrix: np.ndarray
    residual: InverseWishart
    unseen_scale: np.ndarray


def log_determinant(matrix: np.ndarray) -> np.ndarray:
    """Return the log determinants of positive definite matrices; infinity where rounding left them indefinite."""
    if matrix.shape[1] == 2:  # as with two groups: the formula takes a tenth of the time
        product = matrix[:, 0, 0] * matrix[:, 1, 1]
        determinant = product - matrix[:, 0, 1] * matrix[:, 1, 0]
        # A smaller share of the product is rounding, of which one draw far out would get all weight.
        sign, value = np.sign(determinant - _ROUNDED * product), np.log(np.abs(determinant))
    else:
        sign, value = np.linalg.slogdet(matrix)
    return np.asarray(np.where(sign > 0, value, np.inf))


def log_multigamma(halves: np.ndarray, size: int) -> np.ndarray:
    """Return the logarithm of the multivariate gamma function of matrices of a size, up to a constant."""
    return np.asarray(gammaln(halves[:, None] - np.arange(size) / 2).sum(axis=1))


def lean_target(points: np.ndarray, axes: Coordinates) -> np.ndarray:
    """Return T of points (points, omega and each psi), shape (points, G, G)."""
    scales = np.exp(2 * points)
    diagonal = scales[:, 1:] @ axes.lean_scales
    target = scales[:, :1, None] * np.outer(axes.levels, axes.levels) + diagonal[:, None] * np.eye(axes.free)
    return np.asarray(target)


def lean_posterior(points: np.ndarray, place: int, stats: LeanStatistics, axes: Coordinates) -> InverseWishart:
    """Return the posterior of a list's Sigma_L at points (log omega, log of each psi, log v)."""
    strength, free = np.exp(points[:, -1]), axes.free
    error = DISTANCE_ERROR**2 * stats.weight[:, place, None, None] * np.eye(free)
    scale = strength[:, None, None] * lean_target(points[:, :-1], axes) + stats.scatter[:, place] + error
    return InverseWishart(strength + free + stats.counts[place], scale)


Terms = dict[bytes, np.ndarray]
"""Terms of log densities at the same points, by the statistics that determine them."""


def lean_log_density(
    points: np.ndarray, kind: int, stats: LeanStatistics, axes: Coordinates, terms: Terms | None = None
) -> np.ndarray:
    """Return log p(x of a kind of lists | points), with xi and Sigma_L integrated out, up to a constant.

    `terms` are those of lists at these points from earlier calls; new ones are added.
    """
    terms, free = {} if terms is None else terms, axes.free
    if (key := b"prior") not in terms:
        prior = np.exp(points[:, -1]) + free + 1
        omega, psi, groups = points[:, 0], points[:, 1:-1], len(axes.sizes)
        determinants = free * points[:, -1] + np.log(axes.spreads).sum()
        determinants = determinants + 2 * psi @ np.count_nonzero(axes.lean_scales, axis=1)
        if groups == 1:
            determinants = determinants + 2 * omega
        else:  # omega^2 jj' + psi^2 diag(d), with j_g^2 = d_g for groups: a rank beside a diagonal
            determinants = determinants + np.log1p(groups * np.exp(2 * (omega - psi[:, 0])))
        terms[key] = 0.5 * prior * determinants - log_multigamma(prior / 2, free)
    of_prior, value = terms[key], np.zeros(len(points))
    for place in stats.lists_of(kind):
        numbers = (stats.scatter[:, place], stats.weight[:, place], stats.counts[place])
        if (key := b"".join(number.tobytes() for number in numbers)) not in terms:
            posterior = lean_posterior(points, place, stats, axes)
            of_list = log_multigamma(posterior.freedom / 2, free)
            terms[key] = of_list - 0.5 * posterior.freedom * log_determinant(posterior.scale)
        value = value + of_prior + terms[key]
    return value


def residual_precisions(points: np.ndarray, kinds: int) -> np.ndarray:
    """Return 1 / s_k^2 of each kind of lists, shape (points, kinds); the last kind's is 1."""
    return np.exp(-2 * np.concatenate([points[:, 4 : 4 + kinds - 1], np.zeros((len(points), 1))], axis=1))


def _weighted_sum(precision: np.ndarray, products: np.ndarray) -> np.ndarray:
    """Return the sum over kinds of products, shape (copies, kinds, ...), by the precision of each point and kind."""
    # One copy serves all points, or each has its own: a row of precisions times the products of its copy.
    rows = precision[None] if len(products) == 1 else precision[:, None]
    return np.asarray((rows @ products.reshape(*products.shape[:2], -1)).reshape(-1, *products.shape[2:]))


def _add_to_diagonal(matrix: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Add values (points, size or 1) to the diagonals of matrices, in place, and return them."""
    matrix[:, (places := np.arange(matrix.shape[1])), places] += values
    return matrix


def _unseen_scale(points: np.ndarray, precision: np.ndarray, stats: ListStatistics, axes: Coordinates) -> np.ndarray:
    """Return the scale of E in directions without variation, shape (points,): that of the prior and the rounding."""
    error = DISTANCE_ERROR**2 * (precision * (stats.weight @ stats.kinds)).sum(axis=1)
    return np.asarray(np.exp(points[:, 1]) * axes.words * np.exp(2 * points[:, 0]) + error)


def _residual_freedom(points: np.ndarray, stats: ListStatistics, axes: Coordinates) -> np.ndarray:
    return np.asarray(np.exp(points[:, 1]) * axes.words + axes.contrasts + 1 + stats.counts.sum() - 1)


def regression_posterior(points: np.ndarray, stats: ListStatistics, axes: Coordinates) -> Regression:
    """Return the posterior of the regression at points (log sigma, log v, log kappa, log beta, log s_1, ...)."""
    precision = residual_precisions(points, stats.kinds.shape[1])
    prior = regression_prior(points, len(stats.counts), axes.free, axes.words)
    matrix, cross, total = (_weighted_sum(precision, products) for products in (stats.zz, stats.zc, stats.cc))
    mean = np.linalg.solve(_add_to_diagonal(matrix, prior), cross)
    left = total - np.swapaxes(cross, 1, 2) @ mean
    unseen = _unseen_scale(points, precision, stats, axes)
    scale = _add_to_diagonal((left + np.swapaxes(left, 1, 2)) / 2, unseen[:, None])
    return Regression(mean, matrix, InverseWishart(_residual_freedom(points, stats, axes), scale), unseen)


def regression_prior(points: np.ndarray, lists: int, free: int, words: int) -> np.ndarray:
    """Return the prior precisions of (alpha, eta, B) over that of E, shape (points, 1 + lists + free)."""
    eta = np.exp(-points[:, 2:3]) * np.ones(lists)
    slope = np.exp(2 * (points[:, :1] - points[:, 3:4])) * words * np.ones(free)
    # No precision is exactly 0: lists of one word each carry no information on their effects.
    informative = np.maximum(np.concatenate([eta, slope], axis=1), _LEAST_PRECISION)
    return np.concatenate([np.zeros((len(points), 1)), informative], axis=1)


def statistics_of(stats: ListStatistics, copies: np.ndarray) -> ListStatistics:
    """Return the statistics of some copies of the table; a single copy serves all."""
    if len(stats.zz) == 1:
        return stats
    of_copies = ("centre", "scatter", "weight", "zz", "zc", "cc", "origin")
    return replace(stats, **{name: getattr(stats, name)[copies] for name in of_copies})


def regression_log_density(points: np.ndarray, stats: ListStatistics, axes: Coordinates) -> np.ndarray:
    """Return log p(c | x, points), with alpha, eta, B and E integrated out, up to a constant."""
    count = -(-len(points) * axes.words**2 // LARGEST_ARRAY)
    if count == 1:  # as nearly always: a part would be a copy of all statistics
        return _regression_log_density(points, stats, axes)
    parts = np.array_split(np.arange(len(points)), count)
    return np.concatenate([_regression_log_density(points[part], statistics_of(stats, part), axes) for part in parts])


def _regression_log_density(points: np.ndarray, stats: ListStatistics, axes: Coordinates) -> np.ndarray:
    contrasts, seen = axes.contrasts, axes.within.shape[1]
    precision = residual_precisions(points, stats.kinds.shape[1])
    prior_weight = np.exp(points[:, 1]) * axes.words
    prior_freedom, freedom = prior_weight + contrasts + 1, _residual_freedom(points, stats, axes)
    prior = regression_prior(points, len(stats.counts), axes.free, axes.words)
    of_matrix = log_determinant(_add_to_diagonal(_weighted_sum(precision, stats.zz), prior))
    unseen = _unseen_scale(points, precision, stats, axes)
    determinant = axes.unseen * np.log(unseen)
    if seen:
        # The scale is a Schur complement: the determinant of the whole is its product with that of the matrix.
        joint = np.block([[stats.zz, stats.zc], [np.swapaxes(stats.zc, 2, 3), stats.cc]])
        added = np.concatenate([prior, np.repeat(unseen[:, None], seen, axis=1)], axis=1)
        determinant = determinant + log_determinant(_add_to_diagonal(_weighted_sum(precision, joint), added))
        determinant = determinant - np.where(np.isfinite(of_matrix), of_matrix, 0.0)
    value = 0.5 * contrasts * np.log(precision) @ (stats.counts @ stats.kinds)
    value += 0.5 * contrasts * (np.log(prior[:, 1:]).sum(axis=1) - of_matrix)
    value += 0.5 * prior_freedom * contrasts * (np.log(prior_weight) + 2 * points[:, 0]) - 0.5 * freedom * determinant
    return np.asarray(value + log_multigamma(freedom / 2, contrasts) - log_multigamma(prior_freedom / 2, contrasts))


# Beyond this, logarithms of hyperparameters have no appreciable posterior, and the log density is set this low.
_FAR, _NOTHING = 14.0, -1e6


@dataclass(frozen=True, eq=False)
class Block:
    """Hyperparameters that are independent of all others: their names, their priors, and their likelihood."""

    names: tuple[str, ...]
    priors: Mapping[str, Prior]
    likelihood: Callable[..., np.ndarray]

    def log_density(self, points: np.ndarray, stats: LeanStatistics, **options: Terms) -> np.ndarray:
        """Return the unnormalised log posterior of logarithms (points, names), given the statistics of a table.

        Options are those of the likelihood.
        """
        near = np.clip(points, -_FAR, _FAR)
        with np.errstate(all="ignore"):
            value = self._log_prior(near) + self.likelihood(near, stats=stats, **options)
        inside = np.isfinite(value) & (np.abs(points) < _FAR).all(axis=1)
        return np.where(inside, value, _NOTHING)

    def _log_prior(self, points: np.ndarray) -> np.ndarray:
        columns = zip(self.names, points.T, strict=True)
        prior = [self.priors[prior_name(name)].log_density(np.exp(column)) for name, column in columns]
        return np.asarray(np.sum(prior, axis=0) + points.sum(axis=1))


def _lean_names(axes: Coordinates) -> tuple[str, ...]:
    counts = 1, int(len(axes.sizes) > 1), axes.free - len(axes.sizes), 1
    return tuple(np.repeat(LEAN, counts).tolist())


def blocks_of(sample: AttributeSample, priors: Mapping[str, Prior], axes: Coordinates) -> list[Block]:
    """Return a block for each kind of lists, and one for the regression of words."""
    names, kinds = _lean_names(axes), range(len(sample.kinds))
    blocks = [Block(names, priors, partial(lean_log_density, kind=kind, axes=axes)) for kind in kinds]
    if axes.contrasts:
        of_words = (*REGRESSION, *["list_scale"] * (len(kinds) - 1))
        blocks.append(Block(of_words, priors, partial(regression_log_density, axes=axes)))
    return blocks


def completed_distances(sample: AttributeSample) -> np.ndarray:
    """Return the distances with lost ones replaced by the sum of the effects of list, word and attribute word."""
    distances = sample.distances.copy()
    lost = np.isnan(distances)
    if not lost.any():
        return distances
    distances[lost] = np.nanmean(distances)
    for _ in range(20):
        of_word = distances.mean(axis=1, keepdims=True)
        residual = distances - of_word
        of_list = np.stack([residual[sample.list_of == place].mean(axis=0) for place in range(len(sample.lists))])
        distances[lost] = (of_word + of_list[sample.list_of])[lost]
    return distances


def named_hyperparameters(
    points: list[np.ndarray], sample: AttributeSample, axes: Coordinates
) -> dict[str, np.ndarray]:
    """Return hyperparameters by name, from points of each block."""
    kinds, names = len(sample.kinds), np.array(_lean_names(axes))
    lean = np.exp(np.stack(points[:kinds], axis=1))
    named = {name: lean[..., names == name] for name in dict.fromkeys(names.tolist())}
    named |= {name: values[..., 0] for name, values in named.items() if name != "covariate_attribute_sd"}
    if axes.contrasts:
        named |= {name: np.exp(points[kinds][:, column]) for column, name in enumerate(REGRESSION)}
        if kinds > 1:
            named["list_scale"] = np.exp(points[kinds][:, 4:])
    return named


def hyperparameter_points(
    named: Mapping[str, np.ndarray], sample: AttributeSample, axes: Coordinates
) -> list[np.ndarray]:
    """Return points of each block from hyperparameters by name: the inverse of `named_hyperparameters`."""
    points = lean_points(named, axes)
    if axes.contrasts:
        scales = [named["list_scale"]] if len(sample.kinds) > 1 else []
        points.append(np.log(np.column_stack([*(named[name] for name in REGRESSION), *scales])))
    return points


def lean_points(named: Mapping[str, np.ndarray], axes: Coordinates) -> list[np.ndarray]:
    """Return points (log omega, log of each psi, log v) of each kind of lists from hyperparameters by name."""
    columns = [named[name].reshape(*named["attribute_sd"].shape, -1) for name in dict.fromkeys(_lean_names(axes))]
    return list(np.moveaxis(np.log(np.concatenate(columns, axis=2)), 1, 0))


def metropolis_root(points: np.ndarray) -> np.ndarray:
    """Return the root of the covariance of Metropolis steps for a posterior with these draws."""
    size = points.shape[1]
    return np.asarray(2.4 / np.sqrt(size) * np.linalg.cholesky(np.cov(points.T) + 1e-9 * np.eye(size)))


def metropolis(
    points: np.ndarray, log_density: LogDensity, step: np.ndarray, rng: np.random.Generator, steps: int = 1
) -> np.ndarray:
    """Return points after so many Metropolis steps each."""
    density = log_density(points)
    for _ in range(steps):
        proposed = points + rng.standard_normal(points.shape) @ step.T
        of_proposed = log_density(proposed)
        accept = np.log(rng.random(len(points))) < of_proposed - density
        points, density = np.where(accept[:, None], proposed, points), np.where(accept, of_proposed, density)
    return points
