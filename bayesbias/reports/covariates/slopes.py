"""Least-squares slopes of words' leans on covariates, for these words and for words like these.

Given the leans of words, slopes are plain least squares. For words like these, an error for the choice of words is
added, with the heteroscedasticity-robust HC2 variance of the residuals and the degrees of freedom of Bell and McCaffrey
(2002), as Imbens and Kolesar (2016) recommend for few observations. Neither a straight line nor equal variances are
assumed. Words that depend on each other count as what they are worth: with the correlations R beyond chance, the
variance of a slope with the weights b is b' R b / b' b times as large, with as many times fewer degrees of freedom.
"""

from dataclasses import dataclass

import numpy as np

from bayesbias.base.arrays import COLLINEAR, CONSTANT, column_rank
from bayesbias.base.number_text import counted
from bayesbias.errors import ReportError

# A word with a larger leverage determines its own fitted value, and has no residual.
_ALONE = 1 - 1e-9


@dataclass(frozen=True, eq=False)
class Design:
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

    def of_covariate(self, place: int) -> "Design":
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


def design_of(covariates: np.ndarray, group_of: np.ndarray, correlations: np.ndarray | None = None) -> Design:
    """Return the regression on covariates (words, covariates) with a mean for each group in `group_of` (words,).

    `correlations` are those of `Design`.

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
    return Design(
        coefficients=inverse[means.shape[1] :] / scale[:, None],
        deviations=deviations,
        residuals=np.eye(len(design)) - design @ inverse,
        freedom=len(design) - design.shape[1],
        group_of=group_of,
        correlations=correlations,
    )


def slopes_of_population(
    slopes: np.ndarray, residuals: np.ndarray, design: Design, rng: np.random.Generator
) -> np.ndarray:
    """Draw the slopes in words like these, shape (draws, covariates).

    `slopes` (draws, covariates) and `residuals` (draws, words) are draws of those of these words.
    """
    variances = np.square(residuals) @ design.weights.T * design.effects
    noise = np.column_stack([rng.standard_t(freedom, len(slopes)) for freedom in robust_freedom(design)])
    return np.asarray(slopes + noise * np.sqrt(variances))


def robust_freedom(design: Design) -> np.ndarray:
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


def correlations_of(
    slopes: np.ndarray, residual_squares: np.ndarray, covariate_squares: np.ndarray | float
) -> np.ndarray:
    """Return correlations from slopes on one covariate and sums of squares: of residuals, and of the covariate.

    >>> correlations_of(np.array([0.5]), np.array([3.0]), np.array([4.0]))
    array([0.5])
    """
    explained = slopes * np.sqrt(covariate_squares)
    return np.asarray(explained / np.maximum(np.sqrt(explained**2 + residual_squares), np.finfo(float).tiny))


def check_design(design: Design, names: tuple[str, ...], largest: np.ndarray) -> None:
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
