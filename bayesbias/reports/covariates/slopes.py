"""Least-squares slopes of words' leans on covariates, for these words and for words like these.

Given the leans of words, slopes are plain least squares. For words like these, an error for the choice of words is
added, with the heteroscedasticity-robust HC2 variance of the residuals and the degrees of freedom of Bell and McCaffrey
(2002), as Imbens and Kolesar (2016) recommend for few observations. Neither a straight line nor equal variances are
assumed. Words that depend on each other count as what they are worth: with the correlations R beyond chance, the
variance of a slope with the weights b is b' R b / b' b times as large, with as many times fewer degrees of freedom.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.arrays import COLLINEAR, CONSTANT, column_rank
from bayesbias.base.number_text import counted
from bayesbias.errors import ReportError, name_some
from bayesbias.estimates.intervals import contrast_name, draw_on_grid
from bayesbias.models.data import SIDES, ModelData
from bayesbias.models.fits import fitted_rows
from bayesbias.models.multivariate.attribute_sample import (
    AttributeSample,
    attribute_sample,
    list_weights,
    observed_list_means,
)
from bayesbias.models.multivariate.marginal_likelihood import completed_distances
from bayesbias.models.multivariate.population import shrunk_covariance

if TYPE_CHECKING:
    import xarray as xr


# A word with a larger leverage determines its own fitted value, and has no residual.
_ALONE = 1 - 1e-9


@dataclass(frozen=True, eq=False)
class CovariateDesign:
    """The regression of words' leans on covariates, with a mean for each group of words.

    `coefficients` (covariates, words) give the slopes of leans, `deviations` (words, covariates) are the covariates
    around the means of groups, `residuals` (words, words) takes leans to residuals, `freedom` is the number of words
    minus that of coefficients, and `group_of` (words,) the group of each. `correlations` (words, words) are those of
    dependent words beyond chance; None if words are independent.
    """

    coefficients: np.ndarray
    deviations: np.ndarray
    residuals: np.ndarray
    freedom: int
    group_of: np.ndarray
    correlations: np.ndarray | None = None

    @property
    def effects(self) -> np.ndarray:
        """How many times larger dependent words make the variance of each slope, at least 1, shape (covariates,)."""
        if self.correlations is None:
            return np.ones(len(self.coefficients))
        dependent = np.einsum("cj,jl,cl->c", self.coefficients, self.correlations, self.coefficients)
        independent = np.square(self.coefficients).sum(axis=1)
        return np.asarray(np.maximum(dependent / np.maximum(independent, np.finfo(float).tiny), 1.0))

    def residual_correlations(self, basis: np.ndarray) -> np.ndarray:
        """Return the correlations of residuals in an orthonormal basis of them, (words, size): shape (size, size)."""
        return np.eye(basis.shape[1]) if self.correlations is None else basis.T @ self.correlations @ basis

    def of_covariate(self, place: int) -> "CovariateDesign":
        """Return the regression on one covariate alone."""
        return design_of(self.deviations[:, [place]], self.group_of, self.correlations)

    @property
    def leverage(self) -> np.ndarray:
        """Share of each word in its own fitted value, shape (words,)."""
        return np.asarray(1 - np.diagonal(self.residuals))

    @property
    def unexplained(self) -> np.ndarray:
        """One minus the leverage of each word, infinite for a word that has no residual, shape (words,)."""
        return np.where(self.leverage < _ALONE, 1 - np.minimum(self.leverage, _ALONE), np.inf)

    @property
    def weights(self) -> np.ndarray:
        """Weights of squared residuals in the HC2 variance of each slope, shape (covariates, words).

        A word without a residual, such as the only one with a covariate, is taken to vary as the others do.
        """
        squares = np.square(self.coefficients)
        alone = np.where(np.isinf(self.unexplained), squares, 0.0).sum(axis=1, keepdims=True)
        return np.asarray(squares / self.unexplained + alone / self.freedom)

    @property
    def sole(self) -> np.ndarray:
        """Whether a slope rests on a word without a residual, shape (covariates, words)."""
        shares = np.square(self.coefficients) / np.square(self.coefficients).sum(axis=1, keepdims=True)
        return np.isinf(self.unexplained) & (shares > COLLINEAR)


def design_of(covariates: np.ndarray, group_of: np.ndarray, correlations: np.ndarray | None = None) -> CovariateDesign:
    """Return the regression on covariates (words, covariates) with a mean for each group in `group_of` (words,).

    `correlations` are those of `CovariateDesign`.

    >>> design = design_of(np.array([[0.0], [1.0], [2.0]]), np.zeros(3, dtype=int))
    >>> (design.coefficients @ [1.0, 3.0, 5.0]).round(6).tolist(), design.freedom
    ([2.0], 1)
    """
    means = np.eye(group_of.max() + 1)[group_of]
    deviations = covariates - means @ (means.T @ covariates / means.sum(axis=0)[:, None])
    # Covariates are scaled to an sd of 1, so that shares and numbers of inhabitants are computed equally accurately.
    scale = np.maximum(deviations.std(axis=0), np.finfo(float).tiny)
    design = np.column_stack([means, deviations / scale])
    inverse = np.linalg.pinv(design)
    return CovariateDesign(
        coefficients=inverse[means.shape[1] :] / scale[:, None],
        deviations=deviations,
        residuals=np.eye(len(design)) - design @ inverse,
        freedom=len(design) - design.shape[1],
        group_of=group_of,
        correlations=correlations,
    )


def least_squares_intervals(leans: np.ndarray, design: CovariateDesign, hdi_prob: float) -> list[tuple[float, float]]:
    """Return the interval of each slope by plain least squares, which ignores the error of each lean."""
    from scipy.stats import t

    slopes = design.coefficients @ leans
    residual_sd = np.sqrt(np.square(design.residuals @ leans).sum() / design.freedom)
    sds = residual_sd * np.linalg.norm(design.coefficients, axis=1)
    reach = t.ppf((1 + hdi_prob) / 2, design.freedom) * sds
    return list(zip((slopes - reach).tolist(), (slopes + reach).tolist(), strict=True))


def slopes_of_population(
    slopes: np.ndarray, residuals: np.ndarray, design: CovariateDesign, rng: np.random.Generator
) -> np.ndarray:
    """Draw the slopes in words like these, shape (draws, covariates).

    `slopes` (draws, covariates) and `residuals` (draws, words) are draws of those of these words.
    """
    variances = np.square(residuals) @ design.weights.T * design.effects
    noise = np.column_stack([rng.standard_t(freedom, len(slopes)) for freedom in robust_freedom(design)])
    return np.asarray(slopes + noise * np.sqrt(variances))


def robust_freedom(design: CovariateDesign) -> np.ndarray:
    """Return the degrees of freedom of the HC2 variance of each slope (Bell and McCaffrey 2002), shape (covariates,).

    The variance is e' diag(w) e with residuals e = M y; for equal variances its mean and variance are those of a
    chi-square with sum(l)^2 / sum(l^2) degrees of freedom, l the eigenvalues of diag(w)^1/2 M diag(w)^1/2. With
    dependent words they are fewer by the factor of the slope's variance.

    >>> robust_freedom(design_of(np.arange(10.0)[:, None], np.zeros(10, dtype=int))).round(1)
    array([4.4])
    """
    weights = design.weights
    roots = np.sqrt(weights / weights.max(axis=1, keepdims=True))  # in any unit
    matrices = roots[:, :, None] * design.residuals * roots[:, None]
    squares = np.square(matrices).sum(axis=(1, 2))
    traces = np.trace(matrices, axis1=1, axis2=2)
    freedom = traces**2 / np.maximum(squares, np.finfo(float).tiny) / design.effects
    return np.asarray(np.maximum(freedom, 1.0))


def one_unit(is_percent: bool) -> str:
    """Return what a slope is for: one percentage point if the covariate is a percentage."""
    return "one percentage point" if is_percent else "one unit"


def correlations_of(
    slopes: np.ndarray, residual_squares: np.ndarray, covariate_squares: np.ndarray | float
) -> np.ndarray:
    """Return correlations from slopes on one covariate and sums of squares: of residuals, and of the covariate.

    >>> correlations_of(np.array([0.5]), np.array([3.0]), np.array([4.0]))
    array([0.5])
    """
    explained = slopes * np.sqrt(covariate_squares)
    return np.asarray(explained / np.maximum(np.sqrt(explained**2 + residual_squares), np.finfo(float).tiny))


def check_design(design: CovariateDesign, names: tuple[str, ...], largest: np.ndarray) -> None:
    """Raise a `ReportError` if there are too few words, or covariates do not vary or follow from each other.

    `largest` (covariates,) are the largest numbers of the covariates.
    """
    # Student's t with one degree of freedom has no mean.
    if design.freedom < 2:
        raise ReportError(
            f"{counted(len(design.residuals), 'protected word')}: too few for {counted(len(names), 'covariate')} and "
            f"{counted(int(design.group_of.max()) + 1, 'group mean')}. Take more words or fewer covariates."
        )
    constant = np.abs(design.deviations).max(axis=0) <= CONSTANT * largest
    if constant.any() or column_rank(design.deviations) < len(names):
        raise ReportError(
            f"Within groups, the covariates {', '.join(names)} do not all vary, or follow from each other. Use "
            "within_groups=False, or fewer covariates."
        )


@dataclass(frozen=True, eq=False)
class Leans:
    """Leans of words: the mean distance to the `first` kind of attribute words minus that to the `second`.

    `draws` (chains * draws, words) are those of a fit, `observed` (words,) the observed leans; `weights` (words, lists)
    are those of the lists of `sample` in the lean of a word; `unit` is
    what a cosine distance of 1 is in the unit of the table.
    """

    draws: np.ndarray
    observed: np.ndarray
    weights: np.ndarray
    sample: AttributeSample
    first: str
    second: str
    unit: float = 1.0

    @property
    def name(self) -> str:
        """Name of the contrast."""
        return contrast_name(self.first, self.second)


def leans_of(
    fit: "xr.DataTree", rows: ModelData, lists: tuple[str, str] | None, connections: tuple[str, str] = SIDES
) -> Leans:
    """Return the leans of a fit: one of two `connections` minus the other, or one of two attribute lists.

    If each connection has one list, the lean is named after the lists.

    Raises a `ReportError` if the fit lacks a list or a connection, or a word has no pairs with it.
    """
    sample = attribute_sample(rows)
    if lists is None:
        if absent := [name for name in connections if name not in rows.connections]:
            raise ReportError(
                f"The fit has no {absent[0]} pairs. Name two attribute lists to compare, such as lists=('male', "
                "'female')."
            )
        sides = [sample.connection_weights[:, rows.connections.index(name)] for name in connections]
        first, second = _only_lists(sample, sides) or connections
    else:
        first, second = lists
        if first == second:
            raise ReportError(f"lists={lists!r} names the same list twice. Name two lists.")
        sides = [np.tile(list_weights(sample, rows, name), (len(rows.protected_words), 1)) for name in lists]
    weights, plain = sides[0] - sides[1], observed_list_means(sample)
    lacking = ~np.all([side.any(axis=1) for side in sides], axis=0) | (np.isnan(plain) & (weights.T != 0)).any(axis=0)
    if lacking.any():
        without = name_some(rows.protected_words[lacking])
        raise ReportError(
            f"{contrast_name(first, second)}: words have no pairs on one side: {without}. Leave these words out."
        )
    means = fit["posterior"]["list_mean"].transpose("chain", "draw", "attribute_group", "protected_word").to_numpy()
    return Leans(
        draws=np.einsum("dlw,wl->dw", means.reshape(-1, *means.shape[2:]), weights),
        observed=np.asarray((np.nan_to_num(plain) * weights.T).sum(axis=0)),
        weights=weights,
        sample=sample,
        first=first,
        second=second,
        unit=rows.scale.unit,
    )


def lean_sides(fit: "xr.DataTree") -> tuple[str, str]:
    """Return the names of both sides of the lean that a fit has by default."""
    rows = fitted_rows(fit)
    if any(name not in rows.connections for name in SIDES):
        return "one list of", "another list of"
    sample = attribute_sample(rows)
    sides = [sample.connection_weights[:, rows.connections.index(name)] for name in SIDES]
    return _only_lists(sample, sides) or SIDES


def _only_lists(sample: AttributeSample, sides: list[np.ndarray]) -> tuple[str, str] | None:
    """Return the names of the lists of both sides if each is one list, the same for all words."""
    places = [np.flatnonzero(side.any(axis=0)) for side in sides]
    if any(len(place) != 1 or not side[:, place].all() for place, side in zip(places, sides, strict=True)):
        return None
    return sample.lists[places[0][0]], sample.lists[places[1][0]]


def rows_with_covariates(fit: "xr.DataTree") -> tuple[ModelData, np.ndarray]:
    """Return the rows of a fit and the values of its covariates, shape (words, covariates)."""
    rows = fitted_rows(fit)
    if rows.covariates is None:
        raise ReportError(
            "The fit has no covariates. Fit the model with them: bb.fit(table, covariates=frame), where frame has the "
            "column 'word' and a column of numbers."
        )
    return rows, rows.covariates


_SDS = np.exp(np.linspace(np.log(1e-4), np.log(3.0), 400))
_LINKED_SHARES = np.linspace(0, 1, 5)


def draw_residuals(
    leans: Leans, design: CovariateDesign, half_t: tuple[float, float], draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the residuals (draws, words) of these words' leans, and the sd (draws,) in words like these.

    The residuals of observed leans are those of the words plus chance: r = Q'(t + e), Q an orthonormal basis of the
    residuals, with t ~ Normal(0, sd^2 I) and e ~ Normal(0, V), V their covariance over samples of attribute words. The
    sd has a half-t prior and is drawn on a grid, from the plain sum of squares of r alone, which is about a scaled
    chi-square (Satterthwaite 1946). The likelihood of all of r would give most weight to the combinations of words that
    hardly vary between attribute words. Along these, no two lists differ much, and the sd would be too small. Words
    that depend on each other have t ~ Normal(0, sd^2 R), R their correlations beyond chance, which leaves less scatter
    around the regression. t given r and sd is Normal, with the mean of the variances in V for each of them. Words may
    have heavier tails than that: sds in the population are then less certain. How much chance linked attribute words
    leave depends on how the list was made: as much as n / d words where clusters were chosen, as n where words were
    chosen one by one and are linked by accident. V is therefore taken for several shares of the links, which have the
    same prior weight.

    `half_t` holds degrees of freedom and scale of the prior of the sd.
    """
    from scipy import stats

    values, vectors = np.linalg.eigh(design.residuals)
    grid = _SDS * leans.unit
    basis = vectors[:, values > 0.5]
    plain = basis.T @ leans.observed
    dependence = design.residual_correlations(basis)
    chances = [_chance_covariance(leans, basis, share) for share in _LINKED_SHARES]
    prior = stats.t(half_t[0], 0, half_t[1]).logpdf(grid) + np.log(grid)
    log = prior + np.stack([_log_likelihood(grid, plain @ plain, chance, dependence) for chance in chances])
    of_share = np.exp(log - log.max()).sum(axis=1)
    drawn = rng.choice(len(chances), draws, p=of_share / of_share.sum())
    sds = draw_on_grid(grid, log[drawn], rng)
    chance = np.array([np.diagonal(one).mean() for one in chances])[drawn][:, None]
    share = sds[:, None] ** 2 / (sds[:, None] ** 2 + chance)
    residuals = share * plain + np.sqrt(share * chance) * rng.standard_normal((draws, len(plain)))
    return residuals @ basis.T, _with_heavy_tails(sds, basis @ plain)


def _log_likelihood(sds: np.ndarray, square: float, chance: np.ndarray, dependence: np.ndarray) -> np.ndarray:
    """Return the log likelihood of `sds`, shape (sds,), from the sum of squares of plain residuals."""
    from scipy import stats

    total = np.trace(chance) + sds**2 * np.trace(dependence)
    squares = np.sum(chance**2) + 2 * sds**2 * np.sum(chance * dependence) + sds**4 * np.sum(dependence**2)
    return np.asarray(stats.chi2(total**2 / squares, scale=squares / total).logpdf(square))


def _with_heavy_tails(sds: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """Return sds spread as far as the excess kurtosis of the plain residuals (words,) asks for, if it is above 0.

    The logarithm of a sample's sd has the variance (excess kurtosis + 2) / (4 n), as Bonett (2006) writes. That of a
    sample is too small, the more the fewer words there are: this is Fisher's G2, which is unbiased for a Normal.
    """
    from scipy import stats

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
