"""Words like these: the population whose sample the protected words are.

Within its group, a word's effects (level, contrast, human, neutral) are a sample: Normal(mean of its population, S_g).
The population's mean is the mean of these words plus Normal(0, S_g / n_g), with n_g what the group's words are worth in
independent words. The vectors of these words are known, so that attribute words carry no further information on the
population, and the means of these words do not depend on it.

Groups differ in their spread: a few first names may spread twice as far as many words of one topic. S_g has the sds
s_g = s exp(t z_g), z_g ~ Normal(0, 1), for each effect: s has a half-t prior, and t a half-Normal one, so that groups
are pooled as far as they spread alike. They are learnt from the variation of plain effects beyond the chance variation
of attribute words: within a group plain effects are Normal(0, s_g^2 I + V_g), with V_g their covariance over samples of
attribute words. Correlations of effects are those of all groups, with an inverse-Wishart prior under which each of them
is uniform. Control words change neither V nor the sds of the effects on associated and different words.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesbias.estimates.dependence import LEAST_FREEDOM
from bayesbias.models.multivariate.attribute_sample import AttributeSample, effects_basis
from bayesbias.models.multivariate.marginal_likelihood import (
    completed_distances,
    coordinates_of,
    lean_points,
    lean_posterior,
    list_statistics,
    standard_roots,
)
from bayesbias.models.multivariate.prior_draws import root_of

_SDS = np.exp(np.linspace(np.log(1e-4), np.log(3.0), 300))
# Nodes of the common sd s, and of t, the sd of the logarithms of groups' sds; and the scale of its prior.
_COMMON, _RATIOS, _RATIO_SCALE = _SDS[::3], np.linspace(0.1, 1.5, 8), 0.5
# Directions of new words' loadings: about as many as common embeddings have dimensions.
_DIRECTIONS = 300


@dataclass(frozen=True, eq=False)
class ObservedEffects:
    """Effects of these words from plain means of lists, as contrasts of words within groups.

    `effects` has shape (effects, contrasts); `covariances` (effects, contrasts, contrasts) are theirs over samples of
    attribute words. `group_of` (contrasts,) is the group whose words a contrast compares, `design_effects` (groups,)
    say how far the words of a group depend on each other.
    """

    effects: np.ndarray
    covariances: np.ndarray
    group_of: np.ndarray
    design_effects: np.ndarray

    def freedom(self, group: int) -> float:
        """Return the degrees of freedom of a group's contrasts: independent words less one."""
        count = int((self.group_of == group).sum())
        return max((count + 1) / float(self.design_effects[group]) - 1, LEAST_FREEDOM) if count else 0.0


def word_means(lists: np.ndarray, connection_weights: np.ndarray) -> np.ndarray:
    """Return the mean distance of each word for each connection, shape (draws, words, connections).

    `lists` (draws, lists, words) are means of lists, `connection_weights` as in an `AttributeSample`. The mean is 0 for
    a connection that a word lacks.
    """
    return np.asarray(np.einsum("dlj,jcl->djc", lists, connection_weights, optimize=True))


def observed_effects(
    sample: AttributeSample,
    distances: np.ndarray,
    connections: Sequence[str],
    earlier: dict[tuple[Any, ...], Any] | None = None,
) -> ObservedEffects:
    """Return the plain effects of the words that have all connections, from distances without gaps.

    `earlier` are the weights of contrasts of earlier calls; new ones are added.
    """
    earlier = {} if earlier is None else earlier
    whole = sample.connection_weights.any(axis=2).all(axis=1)
    arrays = sample.pattern_of, sample.group_of, sample.connection_weights
    if (key := ("contrasts", *connections, *(array.tobytes() for array in arrays))) not in earlier:
        within = group_contrasts(sample.pattern_of[whole])
        of_group = sample.group_of[whole][np.abs(within).argmax(axis=0)] if within.size else np.empty(0, dtype=np.intp)
        basis = np.linalg.inv(effects_basis(connections))
        weights = np.einsum("ec,jcl->ejl", basis, sample.connection_weights[whole])
        # The weights of a contrast: words of one group have the same lists, except for lost pairs.
        earlier[key] = within, of_group, np.einsum("jp,ejl->epl", within**2, weights)
    within, of_group, weights = earlier[key]
    columns = distances[:, whole] @ within
    means = np.stack([columns[sample.list_of == place].mean(axis=0) for place in range(len(sample.lists))])
    residual, kind_of = columns - means[sample.list_of], sample.list_kind[sample.list_of]
    lost = np.bincount(sample.list_kind, sample.list_effects)
    covariances = [shrunk_covariance(residual[kind_of == kind], count) for kind, count in enumerate(lost.tolist())]
    of_means = np.stack(covariances)[sample.list_kind] / sample.list_worths[:, None, None]
    effects = np.einsum("epl,lp->ep", weights, means)
    covariance = np.einsum("epl,eql,lpq->epq", weights, weights, of_means, optimize=True)
    return ObservedEffects(effects, covariance, of_group, sample.group_effects)


def group_contrasts(group_of: np.ndarray) -> np.ndarray:
    """Return orthonormal contrasts of words, each of words of one group, shape (words, words - groups).

    >>> group_contrasts(np.array([0, 1, 1])).round(3)
    array([[ 0.   ],
           [-0.707],
           [ 0.707]])
    """
    blocks = []
    for group in np.unique(group_of):
        members = np.flatnonzero(group_of == group)
        block = np.zeros((len(group_of), len(members) - 1))
        block[members] = np.linalg.qr(np.ones((len(members), 1)), mode="complete")[0][:, 1:]
        blocks.append(block)
    return np.concatenate([np.zeros((len(group_of), 0)), *blocks], axis=1)


def shrunk_covariance(residual: np.ndarray, lost: float) -> np.ndarray:
    """Return the covariance of residuals, shape (rows, size), after `lost` degrees of freedom went to means.

    It is shrunk toward equal variances without correlations (Chen, Wiesel, Eldar and Hero 2010, OAS), so that it has
    an inverse for any number of rows.
    """
    rows, size = max(len(residual) - lost, 1.0), residual.shape[1]
    covariance = residual.T @ residual / rows
    total, square = np.trace(covariance), np.sum(covariance**2)
    spread = (rows + 1 - 2 / max(size, 1)) * (square - total**2 / max(size, 1))
    share = min(((1 - 2 / max(size, 1)) * square + total**2) / spread, 1.0) if spread > 0 else 1.0
    return np.asarray((1 - share) * covariance + share * total / max(size, 1) * np.eye(size))


def draw_effect_covariances(
    observed: ObservedEffects,
    half_t: tuple[float, float],
    draws: int,
    rng: np.random.Generator,
    earlier: dict[tuple[Any, ...], Any] | None = None,
) -> np.ndarray:
    """Draw S_g of each group, shape (draws, groups, effects, effects).

    `half_t` holds degrees of freedom and scale of the prior of the common sd s of each effect. `earlier` are the sds
    and random numbers that calls with the same state of `rng` drew; new ones are added.
    """
    size, groups = len(observed.effects), len(observed.design_effects)
    common, sds = np.empty((draws, size)), np.empty((draws, groups, size))
    earlier = {} if earlier is None else earlier
    freedom = 1.0 + size + sum(observed.freedom(group) for group in range(groups))
    if (random := ("random", draws, size, groups, freedom)) not in earlier:
        uniforms = rng.random((size, 1 + 2 * groups, draws))
        earlier[random] = uniforms, standard_roots(np.full(draws, freedom), size, rng)
    uniforms, standard = earlier[random]
    for effect in range(size):
        of_effect = observed.effects[effect], observed.covariances[effect], observed.group_of, observed.design_effects
        key = "sds", effect, half_t, *(values.tobytes() for values in of_effect)
        if key not in earlier:
            likelihood = np.stack([_log_likelihood(observed, effect, group) for group in range(groups)])
            earlier[key] = _draw_sds(likelihood, half_t, uniforms[effect])
        common[:, effect], sds[:, :, effect] = earlier[key]
    shares = 1 / observed.design_effects[observed.group_of]
    scatter = (observed.effects * shares) @ observed.effects.T + common[:, :, None] ** 2 * np.eye(size)
    roots = np.linalg.cholesky(scatter) @ standard
    correlation = roots / np.linalg.norm(roots, axis=2, keepdims=True)
    of_groups = sds[..., None] * correlation[:, None]
    return np.asarray(of_groups @ np.swapaxes(of_groups, 2, 3))


def _log_likelihood(observed: ObservedEffects, effect: int, group: int) -> np.ndarray:
    """Return log p(plain effects of a group | s_g) at the nodes of `_SDS`.

    Words that depend on each other count as what they are worth: their squares have the share of independent words, and
    the determinant has the freedom of these.
    """
    members = np.flatnonzero(observed.group_of == group)
    if not len(members):
        return np.zeros(len(_SDS))
    spread, axes = np.linalg.eigh(observed.covariances[effect][np.ix_(members, members)])
    variance = np.maximum(spread, 0) + _SDS[:, None] ** 2
    squares = (np.square(axes.T @ observed.effects[effect, members]) / variance).sum(axis=1)
    determinant = np.log(variance).sum(axis=1) * observed.freedom(group) / len(members)
    return np.asarray(-0.5 * (determinant + squares / observed.design_effects[group]))


def _draw_sds(
    log_likelihood: np.ndarray, half_t: tuple[float, float], uniforms: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Draw s (draws,) and s_g (draws, groups), given log p(data of a group | s_g) at the nodes, (groups, nodes).

    `uniforms` (1 + 2 * groups, draws) choose the nodes of s and t, and of each group the node of s_g and its place
    around it.
    """
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    # p(data of a group | s, t), summed over the nodes of s_g.
    of_nodes = _spreads().reshape(-1, len(_SDS))
    evidence = of_nodes @ likelihood.T
    weight = _prior(half_t) * np.exp(np.log(np.maximum(evidence, np.finfo(float).tiny)).sum(axis=1))
    cumulative = np.cumsum(weight / weight.sum())
    node = np.searchsorted(cumulative / cumulative[-1], uniforms[0], side="right")
    sds = np.empty((len(node), len(likelihood)))
    step = np.log(_SDS[1] / _SDS[0])
    drawn_nodes, row = np.unique(node, return_inverse=True)
    spreads = of_nodes[drawn_nodes]
    for group, of_group in enumerate(likelihood):
        cumulative = np.cumsum(spreads * of_group, axis=1)
        cumulative /= cumulative[:, -1:]
        # One search for all draws: row i of the cumulative distributions lies between i and i + 1.
        ordered = (cumulative + np.arange(len(drawn_nodes))[:, None]).ravel()
        of_node, around = uniforms[1 + 2 * group : 3 + 2 * group]
        cell = np.searchsorted(ordered, row + of_node) - row * len(_SDS)
        sds[:, group] = _SDS[cell.clip(0, len(_SDS) - 1)] * np.exp(step * (around - 0.5))
    return _COMMON[node % len(_COMMON)], sds


@cache
def _prior(half_t: tuple[float, float]) -> np.ndarray:
    """Return p(s, t) at the nodes, times the width of those of s, shape (nodes of t * nodes of s,)."""
    nu, scale = half_t
    log_constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi) - np.log(scale)
    of_common = np.exp(log_constant - (nu + 1) / 2 * np.log1p((_COMMON / scale) ** 2 / nu)) * _COMMON
    return np.asarray(of_common * np.exp(-0.5 * (_RATIOS / _RATIO_SCALE)[:, None] ** 2)).ravel()


@cache
def _spreads() -> np.ndarray:
    """Return p(s_g | s, t) at the nodes: shape (nodes of t, nodes of s, nodes of s_g)."""
    distance = np.log(_SDS) - np.log(_COMMON)[:, None]
    densities = np.exp(-0.5 * (distance / _RATIOS[:, None, None]) ** 2)
    return np.asarray(densities / densities.sum(axis=2, keepdims=True))


def draw_population(
    means: np.ndarray,
    measured: np.ndarray,
    group_of: np.ndarray,
    shares: np.ndarray,
    basis: np.ndarray,
    between: np.ndarray,
    worths: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw the mean distances of words like these, shape (draws, connections).

    `means` (draws, words, connections) are those of these words; unmeasured ones are drawn in place, given the measured
    ones of their word. `measured` (words, connections) holds which words have which connections, `shares` (groups,
    connections) are the weights of groups (`group_shares`), `basis` is that of `effects_basis`, `between` (draws,
    groups, effects, effects) are S_g, and `worths` (groups,) the numbers of independent words.
    """
    member = np.eye(group_of.max() + 1)[group_of]
    of_groups = np.einsum("gj,djc->dgc", member.T, means * measured) / (member.T @ measured).clip(1)
    noise = rng.standard_normal((len(means), len(shares), len(basis), 1))
    noise = (np.linalg.cholesky(between) @ noise)[..., 0] @ basis.T / np.sqrt(worths)[:, None]
    population = np.asarray(((of_groups + noise) * shares).sum(axis=1))
    _draw_unmeasured(means, measured, population, basis @ between @ basis.T, group_of, rng)
    return population


def _draw_unmeasured(
    means: np.ndarray,
    measured: np.ndarray,
    population: np.ndarray,
    covariances: np.ndarray,
    group_of: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Draw the means of words for connections that they lack, given those that they have, in place."""
    for word in np.flatnonzero(~measured.all(axis=1)):
        have, lack = np.flatnonzero(measured[word]), np.flatnonzero(~measured[word])
        covariance = covariances[:, group_of[word]]
        cross = covariance[:, lack[:, None], have]
        gain = cross @ np.linalg.inv(covariance[:, have[:, None], have])
        left = covariance[:, lack[:, None], lack] - gain @ np.swapaxes(cross, 1, 2)
        values, vectors = np.linalg.eigh(left)
        noise = vectors * np.sqrt(np.maximum(values, 0))[:, None]
        centre = population[:, lack] + (gain @ (means[:, word, have] - population[:, have])[..., None])[..., 0]
        means[:, word, lack] = centre + (noise @ rng.standard_normal((len(means), len(lack), 1)))[..., 0]


_EXPONENTS = np.linspace(0, 2, 81)


@dataclass(frozen=True, eq=False)
class ListMoments:
    """Covariances of the distances of an attribute word by list; draws are the leading axis.

    Hyperparameters say how covariances of lists vary, which a fit with few lists hardly knows: covariances drawn from
    them are those of some other study, and wider. New words are of the same lists instead:

        mean distance of group g to attribute word j of list L:    Normal(mean, C_L),    C_L of the fitted list
        distance of word i around it:                              sqrt(w_Lg) f_i' z_j,    z_j ~ Normal(0, I)
        mean distance of word i for a connection, around its mean: f_i' u,    with the covariance of the fitted words

    The loadings f_i ~ Normal(0, diag(p)) are those of a word's vector on directions that attribute words share, with
    p_k proportional to k^-a. The exponent follows from the fitted table: it says in how many directions the words of a
    group differ. Words differ in their means in the directions in which they differ for single attribute words; drawn
    independently, the variation of means would be mistaken for less chance and more spread of words than real tables
    have.

    `group_covariance` (draws, lists, groups, groups) is that of the mean distances to the words of each group,
    `word_variance` (draws, lists, groups) the variance of a word's distance around what words of its group share,
    `sizes` (groups,) the numbers of words behind these means, and `shares` (directions,) what each direction in which
    words of a group differ has of that variance.
    """

    group_covariance: np.ndarray
    word_variance: np.ndarray
    sizes: np.ndarray
    shares: np.ndarray

    def loadings(self, words: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the loadings of new protected words, with variance 1 in all, shape (words, directions)."""
        return np.asarray(rng.standard_normal((words, len(self.shares))) * np.sqrt(self.shares))

    def effects(self, loadings: np.ndarray, covariance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the means of new words around those of words like these, shape (words, connections).

        They follow the words' loadings, and have the `covariance` (connections, connections).
        """
        slopes = rng.standard_normal((len(self.shares), len(covariance)))
        values, vectors = np.linalg.eigh(slopes.T @ (self.shares[:, None] * slopes))
        return np.asarray(loadings @ slopes @ (vectors / np.sqrt(values)) @ vectors.T @ root_of(covariance).T)

    def deviations(
        self,
        draw: int,
        place: int,
        group_of: np.ndarray,
        loadings: np.ndarray,
        attributes: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Draw deviations of new words' distances from their means, shape (protected words, attribute words).

        `group_of` holds the group of each new protected word, and `place` the list whose moments attribute words have.
        A mean of more words than the fit has varies less.
        """
        counts = np.bincount(group_of, minlength=len(self.sizes))
        variance = self.word_variance[draw, place]
        covariance = self.group_covariance[draw, place] + np.diag(variance * (1 / counts - 1 / self.sizes))
        shared = root_of(covariance) @ rng.standard_normal((len(counts), attributes))
        member = np.eye(len(counts))[group_of]
        around = loadings - member @ (member.T @ loadings / counts[:, None])
        single = around @ rng.standard_normal((loadings.shape[1], attributes))
        return np.asarray(shared[group_of] + np.sqrt(variance)[group_of, None] * single)


def list_moments(
    sample: AttributeSample, parameters: Mapping[str, np.ndarray], rng: np.random.Generator
) -> ListMoments:
    """Return the moments of each list, draw by draw.

    `parameters` are draws of a posterior by name, with the draws as the leading axis. They come from
    `residual_covariance` if the fit has it. A large fit has not: its moments of groups are then drawn from their
    posterior given the hyperparameters, and the variances of words are those of the table.
    """
    sizes = np.bincount(sample.group_of)
    if "residual_covariance" in parameters:
        group_covariance, mean_variance = _of_covariances(sample, parameters["residual_covariance"])
    else:
        group_covariance, mean_variance = _of_hyperparameters(sample, parameters, rng)
    around = np.maximum(mean_variance - np.diagonal(group_covariance, axis1=2, axis2=3), 0)
    several = sizes > 1
    word_variance = around * sizes / np.maximum(sizes - 1, 1)
    # A group of one word says nothing of words around its mean: their share is that of the other groups.
    share = word_variance[..., several].sum(axis=2) / mean_variance[..., several].sum(axis=2)
    word_variance = np.where(several, word_variance, share[..., None] * mean_variance)
    group_covariance = without_inflation(group_covariance, harmonic=True)
    return ListMoments(group_covariance, word_variance, sizes, direction_shares(sample))


def without_inflation(covariances: np.ndarray, *, harmonic: bool) -> np.ndarray:
    """Return draws of covariances (draws, ..., size, size), scaled so that their mean sd is that of a typical draw.

    A posterior of few words has a long upper tail, for which intervals are wider than the sd would make them. Studies
    simulated from it would have the tail twice: in their covariances, and again in the intervals of their fits. The
    typical draw has the harmonic mean of the variances, which is that of the sample if the posterior is an inverse
    chi-square; or the geometric mean, for a posterior that reaches down to 0. The draws still vary, as the sd is not
    known.
    """
    size = covariances.shape[-1]
    centre = np.eye(size) - (1 / size if size > 1 else 0)
    variances = np.maximum(np.einsum("ab,...ba->...", centre, covariances), np.finfo(float).tiny)
    typical = 1 / (1 / variances).mean(axis=0) if harmonic else np.exp(np.log(variances).mean(axis=0))
    return np.asarray(covariances * (typical / np.sqrt(variances).mean(axis=0) ** 2)[..., None, None])


def direction_shares(sample: AttributeSample) -> np.ndarray:
    """Return the variance of words' loadings in each direction, which sum to 1, shape (directions,).

    Their inverse number, sum p_k^2, is that of the table without what a sample of so many attribute words adds to the
    squares of a covariance, and without what so few protected words do.
    """
    distances = completed_distances(sample)
    lists, member = (np.eye(places.max() + 1)[places] for places in (sample.list_of, sample.group_of))
    residual = distances - lists @ (lists.T @ distances / lists.sum(axis=0)[:, None])
    residual = residual - (residual @ member / member.sum(axis=0)) @ member.T
    rows, size = lists.shape[0] - lists.shape[1], member.shape[0] - member.shape[1]
    inner = residual @ residual.T / max(rows, 1)
    total, squares = np.trace(inner), np.sum(inner**2)
    if rows < 2 or size < 1 or total <= 0:
        return np.full(_DIRECTIONS, 1 / _DIRECTIONS)
    squares = (squares - total**2 / rows) * rows**2 / ((rows - 1) * (rows + 2))
    inverse_number = squares / total**2 - 1 / size
    shares = np.arange(1, _DIRECTIONS + 1) ** -_EXPONENTS[:, None]
    shares = shares / shares.sum(axis=1, keepdims=True)
    nearest = np.argmin(np.abs(np.square(shares).sum(axis=1) - inverse_number))
    return np.asarray(shares[nearest])


def _of_covariances(sample: AttributeSample, covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return covariances of group means and the mean variances of words, from those of words."""
    mean_of = np.eye(sample.group_of.max() + 1)[sample.group_of] / np.bincount(sample.group_of)
    return mean_of.T @ covariances @ mean_of, np.diagonal(covariances, axis1=2, axis2=3) @ mean_of


def _of_hyperparameters(
    sample: AttributeSample, parameters: Mapping[str, np.ndarray], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return covariances of group means drawn given hyperparameters, and the mean variances of words in the table."""
    distances = completed_distances(sample)
    axes = coordinates_of(distances, sample.group_of)
    stats = list_statistics(sample, distances[None], np.ones((1, len(distances))), axes)
    scale = np.outer(np.sqrt(axes.sizes), np.sqrt(axes.sizes))
    # Outlying words widen the plain spread, and a Student t has its scale for the rest.
    nu = parameters.get("nu")
    narrower = np.ones(len(parameters["target_weight"])) if nu is None else np.maximum(nu - 2, 0.5) / nu
    mean_of = np.eye(len(axes.sizes))[sample.group_of] / axes.sizes
    points = lean_points(parameters, axes)
    covariances, variances = [], []
    for place, kind in enumerate(sample.list_kind):
        roots = lean_posterior(points[kind], place, stats, axes).roots(rng)
        covariances.append(roots @ np.swapaxes(roots, 1, 2) / scale * narrower[:, None, None])
        residual = distances[sample.list_of == place]
        residual = residual - residual.mean(axis=0)
        of_groups = residual @ mean_of
        around = np.square(residual - of_groups[:, sample.group_of]).sum(axis=0) / max(len(residual) - 1, 1)
        of_words = (around @ mean_of) * narrower[:, None]
        variances.append(of_words + np.diagonal(covariances[-1], axis1=1, axis2=2))
    return np.stack(covariances, axis=1), np.stack(variances, axis=1)


def places_of_lists(
    sample: AttributeSample, connections: tuple[str, ...]
) -> Iterator[tuple[tuple[str, int], np.ndarray]]:
    """Yield connections with a group (its place, or -1 for any), and the places of the lists that have them.

    >>> from bayesbias.models.data import model_data
    >>> from bayesbias.models.multivariate.attribute_sample import attribute_sample
    >>> data = model_data(table)
    >>> places = dict(places_of_lists(attribute_sample(data), data.connections))
    >>> places["associated", 0].tolist(), places["human", -1].tolist()
    ([1], [2])
    """
    share = sample.connection_weights > 0
    of_groups = np.zeros((sample.group_of.max() + 1, *share.shape[1:]), dtype=bool)
    np.logical_or.at(of_groups, sample.group_of, share)
    for position, name in enumerate(connections):
        yield (name, -1), np.flatnonzero(of_groups[:, position].any(axis=0))
        for group, lists_of_connections in enumerate(of_groups):
            yield (name, group), np.flatnonzero(lists_of_connections[position])
