"""Variation of words' leans beyond covariates, without the chance variation of attribute words.

The residuals of plain leans are those of the words plus chance: r = Q'(t + e), Q an orthonormal basis of the residuals,
with t ~ Normal(0, sd^2 I) and e ~ Normal(0, V), V their covariance over samples of attribute words. The sd has a half-t
prior and is drawn on a grid, from the plain sum of squares of r alone, which is about a scaled chi-square
(Satterthwaite 1946). The likelihood of all of r would give most weight to the combinations of words that hardly vary
between attribute words. Along these, no two lists differ much, and the sd would be too small. Words that depend on each
other have t ~ Normal(0, sd^2 R), R their correlations beyond chance, which leaves less scatter around the regression.
t given r and sd is Normal, with the mean of the variances in V for each of them. Words may have heavier tails than
that: sds in the population are then less certain. How much chance linked attribute words leave depends on how the list
was made: as much as n / d words where clusters were chosen, as n where words were chosen one by one and are linked
by accident. V is therefore taken for several shares of the links, which have the same prior weight.
"""

import numpy as np
from scipy import stats

from bayesbias.estimates.grids import draw_on_grid
from bayesbias.models.multivariate.list_blocks import completed_distances
from bayesbias.models.multivariate.population import shrunk_covariance
from bayesbias.reports.covariates.leans import Leans
from bayesbias.reports.covariates.slopes import Design

_SDS = np.exp(np.linspace(np.log(1e-4), np.log(3.0), 400))
_LINKED_SHARES = np.linspace(0, 1, 5)


def draw_residuals(
    leans: Leans, design: Design, half_t: tuple[float, float], draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the residuals (draws, words) of these words' leans, and the sd (draws,) in words like these.

    `half_t` holds degrees of freedom and scale of the prior of the sd.
    """
    values, vectors = np.linalg.eigh(design.residuals)
    basis = vectors[:, values > 0.5]
    plain = basis.T @ leans.observed
    dependence = design.residual_correlations(basis)
    chances = [_chance_covariance(leans, basis, share) for share in _LINKED_SHARES]
    prior = stats.t(half_t[0], 0, half_t[1]).logpdf(_SDS) + np.log(_SDS)
    log = prior + np.stack([_log_likelihood(plain @ plain, chance, dependence) for chance in chances])
    of_share = np.exp(log - log.max()).sum(axis=1)
    drawn = rng.choice(len(chances), draws, p=of_share / of_share.sum())
    sds = draw_on_grid(_SDS, log[drawn], rng)
    chance = np.array([np.diagonal(one).mean() for one in chances])[drawn][:, None]
    share = sds[:, None] ** 2 / (sds[:, None] ** 2 + chance)
    residuals = share * plain + np.sqrt(share * chance) * rng.standard_normal((draws, len(plain)))
    return residuals @ basis.T, _with_heavy_tails(sds, basis @ plain)


def _log_likelihood(square: float, chance: np.ndarray, dependence: np.ndarray) -> np.ndarray:
    """Return the log likelihood of each of `_SDS`, shape (sds,), from the sum of squares of plain residuals."""
    total = np.trace(chance) + _SDS**2 * np.trace(dependence)
    squares = np.sum(chance**2) + 2 * _SDS**2 * np.sum(chance * dependence) + _SDS**4 * np.sum(dependence**2)
    return np.asarray(stats.chi2(total**2 / squares, scale=squares / total).logpdf(square))


def _with_heavy_tails(sds: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """Return sds spread as far as the excess kurtosis of the plain residuals (words,) asks for, if it is above 0.

    The logarithm of a sample's sd has the variance (excess kurtosis + 2) / (4 n), as Bonett (2006) writes. That of a
    sample is too small, the more the fewer words there are: this is Fisher's G2, which is unbiased for a Normal.
    """
    excess = float(stats.kurtosis(residuals, bias=False)) if residuals.any() else 0.0
    wider = np.sqrt(max(excess / 2 + 1, 1.0))
    logs = np.log(sds)
    return np.asarray(np.exp(logs.mean() + wider * (logs - logs.mean())))


def _chance_covariance(leans: Leans, basis: np.ndarray, linked_share: float) -> np.ndarray:
    """Return the covariance of residuals over samples of attribute words, shape (size, size).

    Links between attribute words count for the share `linked_share`: 0 takes words as independent.
    """
    sample = leans.sample
    distances, counts = completed_distances(sample), np.bincount(sample.list_of)
    effects = 1 + linked_share * (sample.list_effects - 1)
    sizes = np.abs(leans.weights).max(axis=0)
    total = np.zeros((basis.shape[1], basis.shape[1]))
    for kind in range(len(sample.kinds)):
        lists = np.flatnonzero((sample.list_kind == kind) & (sizes > 0))
        rows = []
        for place in lists:
            of_list = distances[sample.list_of == place]
            rows.append((of_list - of_list.mean(axis=0)) * leans.weights[:, place] / sizes[place] @ basis)
        if len(lists):
            covariance = shrunk_covariance(np.concatenate(rows), effects[lists].sum())
            total += covariance * float((sizes[lists] ** 2 * effects[lists] / counts[lists]).sum())
    return total
