"""New protected and attribute words like those of a fit, from the moments of its own lists.

Hyperparameters say how covariances of lists vary, which a fit with few lists hardly knows: covariances drawn from them
are those of some other study, and wider. New words are of the same lists instead:

    mean distance of group g to attribute word j of list L:    Normal(mean, C_L),    C_L of the fitted list
    distance of word i around it:                              sqrt(w_Lg) f_i' z_j,    z_j ~ Normal(0, I)
    mean distance of word i for a connection, around its mean: f_i' u,    with the covariance of the fitted words

The loadings f_i ~ Normal(0, diag(p)) are those of a word's vector on directions that attribute words share, with
p_k proportional to k^-a. The exponent follows from the fitted table: it says in how many directions the words of a
group differ. Words differ in their means in the directions in which they differ for single attribute words; drawn
independently, the variation of means would be mistaken for less chance and more spread of words than real tables have.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.models.multivariate.list_blocks import completed_distances
from bayesbias.models.multivariate.list_model import coordinates_of, lean_posterior, list_statistics
from bayesbias.models.multivariate.simulation import root_of

# Directions of new words' loadings: about as many as common embeddings have dimensions.
_DIRECTIONS = 300
_EXPONENTS = np.linspace(0, 2, 81)


@dataclass(frozen=True, eq=False)
class ListMoments:
    """Covariances of the distances of an attribute word by list; draws are the leading axis.

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
    covariances, variances = [], []
    for place, kind in enumerate(sample.list_kind):
        names = ("attribute_sd", *(("group_attribute_sd",) if axes.free > 1 else ()), "target_weight")
        points = np.log(np.stack([parameters[name][:, kind] for name in names], axis=1))
        roots = lean_posterior(points, place, stats, axes).roots(rng)
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
    for position, name in enumerate(connections):
        yield (name, -1), np.flatnonzero(share[:, position].any(axis=0))
        for group in range(sample.group_of.max() + 1):
            yield (name, group), np.flatnonzero(share[sample.group_of == group, position].any(axis=0))
