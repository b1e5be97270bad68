"""Bayesian linear regression of inner products and cosines: conjugate given the word effects' scales.

With kappa the scales of word effects over the residual standard deviation, the outcome is Normal::

    y ~ Normal(X beta, sigma^2 V),    V = I + Z diag(kappa^2) Z'
    beta ~ Normal(0, (k sigma)^2),    sigma^2 ~ Scaled-Inv-ChiSquare(nu, s^2),    kappa ~ HalfCauchy(1)

with Z the rows' words; everything but kappa integrates out (Gelman et al., Bayesian Data Analysis, chapter 14).
Without word effects V = I, and the draws come from the posterior itself. With them, kappa is drawn by `importance`.

Rows that share a word are not independent. Independent errors, as in Kindel's regressions, make the posterior of all
coefficients too narrow if a word is in several rows; word effects correct this.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_choice
from bayesbias.base.machine import threadpool_limits
from bayesbias.base.number_text import counted
from bayesbias.cosine_regressions.designs import InnerProductDesign
from bayesbias.errors import MeasureError, ModelError, SamplerWarning, warn_user
from bayesbias.models.numerics.proposals import KHAT_MAX, fit_proposal, resample

if TYPE_CHECKING:
    import xarray as xr


# The range of log kappa: word effects from a 150th to 20 times the residual standard deviation.
_LIMITS = (-5.0, 3.0)
# Draws of the coefficients for each draw of kappa, which costs a hundred times as much.
_DRAWS_A_SCALE = 4


class WordEffects(NamedTuple):
    """Words with a Normal effect each.

    - `words`: word of each row, of shape (rows,), of any type that can be compared.
    - `by`: factor of the effect: a number, or one for each row. With the side coded -1/2 and 1/2, words differ in the
      difference of the sides.
    """

    words: ArrayLike
    by: ArrayLike = 1.0


@dataclass(frozen=True)
class LinearPrior:
    """Prior of a linear regression's coefficients and residual standard deviation.

    Parameters
    ----------
    coefficient_sd
        Prior standard deviation of each coefficient (mean 0), in residual standard deviations; infinity for a
        flat prior.
    sigma
        Guess of the residual standard deviation, in units of a cosine similarity.
    rows
        Weight of the guess, in rows; 0 for none: p(sigma^2) proportional to 1 / sigma^2.

    Raises
    ------
    ModelError
        If a number is negative or not a number.
    """

    coefficient_sd: float
    sigma: float
    rows: float

    def __post_init__(self) -> None:
        if not (self.coefficient_sd > 0 and 0 < self.sigma < np.inf and 0 <= self.rows < np.inf):
            raise ModelError(f"{self}: standard deviations must be above 0, rows 0 or more.")


# weak: at the guess of 0.05, a usual residual standard deviation of cosines, a coefficient has a standard deviation of
# 1, the largest possible cosine; sigma has the information of one row.
# flat: p(beta, sigma^2) proportional to 1 / sigma^2: least squares estimates and their t distributions.
PRIORS: dict[str, LinearPrior] = {
    "weak": LinearPrior(coefficient_sd=20.0, sigma=0.05, rows=1.0),
    "flat": LinearPrior(coefficient_sd=np.inf, sigma=1.0, rows=0.0),
}


@dataclass(frozen=True, eq=False)
class LinearDraws:
    """Independent draws of a linear regression.

    - `coefficients`: array of shape (draws, coefficients).
    - `sigma`: residual standard deviation, of shape (draws,).
    - `word_sd`: standard deviation of each kind of word effects, of shape (draws, effects).
    """

    coefficients: Floats
    sigma: Floats
    word_sd: Floats


def find_prior(prior: str | LinearPrior) -> LinearPrior:
    """Return a prior by its name in `PRIORS`, or unchanged."""
    if isinstance(prior, LinearPrior):
        return prior
    return PRIORS[check_choice("prior", prior, PRIORS)]


def linear_draws(
    outcome: ArrayLike,
    columns: ArrayLike,
    *,
    effects: Sequence[WordEffects] = (),
    prior: str | LinearPrior = "weak",
    draws: int = 4000,
    rng: np.random.Generator,
) -> LinearDraws:
    """Draw from the posterior of a linear regression of `outcome` (rows,) on `columns` (rows, coefficients).

    `columns` must contain any intercept; there must be more rows than coefficients. The ratio of each word effect's
    standard deviation to sigma has a half-Cauchy(1) prior, and a draw of these ratios serves four draws of the
    coefficients. `prior` is a name in `PRIORS` or a `LinearPrior`. Gelman, Carlin, Stern, Dunson, Vehtari and Rubin
    (2013), Bayesian Data Analysis, sections 14.2 (flat prior), 14.8 (conjugate prior) and 5.7 (half-Cauchy priors of
    standard deviations).

    >>> x = np.column_stack([np.ones(50), np.arange(50)])
    >>> y = 2 + 0.5 * x[:, 1] + np.random.default_rng(0).normal(size=50)
    >>> fitted = linear_draws(y, x, prior="flat", rng=np.random.default_rng(1))
    >>> np.abs(fitted.coefficients.mean(axis=0) - np.linalg.lstsq(x, y)[0]).max() < 0.02
    np.True_
    """
    y, x = np.asarray(outcome, dtype=np.float64), np.asarray(columns, dtype=np.float64)
    if x.ndim != 2 or y.shape != x.shape[:1] or len(y) <= x.shape[1]:
        raise MeasureError(f"{y.shape} outcomes and columns {x.shape}: give more rows than coefficients.")
    model = _Conjugate(y, x, effects, find_prior(prior))
    if not effects:
        return model.draw(np.zeros((1, 0)), np.zeros(draws, dtype=np.int64), rng)
    with threadpool_limits(1):  # threads cost more than they save with small matrices
        proposal = fit_proposal(model.log_densities, [np.full(len(effects), -0.5)], limits=_LIMITS)
        drawn = resample(model.log_densities, proposal, draws=-(-draws // _DRAWS_A_SCALE), rng=rng)
        if not drawn.khat <= KHAT_MAX:
            warn_user(
                f"The scales of the word effects were drawn with a Pareto k-hat of {drawn.khat:.2f}, above {KHAT_MAX}: "
                "do not trust the last digits of the intervals.",
                SamplerWarning,
            )
        nodes = np.exp(drawn.points)
        # Draws that share a node are adjacent, so that effective sample sizes account for it.
        return model.draw(nodes, np.repeat(np.arange(len(nodes)), _DRAWS_A_SCALE)[:draws], rng)


def regression_draws(
    design: InnerProductDesign,
    *,
    effects: Sequence[WordEffects] = (),
    prior: str | LinearPrior = "weak",
    draws: int = 1000,
    chains: int = 4,
    random_seed: int,
) -> "xr.Dataset":
    """Draw from the three regressions of a design: inner product, corrected ratio, constrained cosine.

    The result has variables `inner_product` and `corrected_ratio` (dims chain, draw, coefficient), `constrained` (dims
    chain, draw, constrained_coefficient), and for each of them its `..._sigma` and, with effects, `..._word_sd`.
    Without `effects`, errors are independent. The units of `prior` are those of cosine similarities. Chains are labels:
    no draw depends on the one before.

    Kindel (2023), supplement, "Binary difference-in-cosines": the constrained model (alpha_0*, alpha_1*), the
    local inner product regression and the corrected ratio model (beta_0 to beta_3; in the latter beta_0 and
    beta_1 multiply 1/LNW and X/LNW, beta_2 and beta_3 multiply 1 and X).

    >>> from bayesbias.cosine_regressions.designs import binary_design
    >>> a, b = np.random.default_rng(0).normal(size=(2, 12, 3))
    >>> dict(regression_draws(binary_design(a, b, [0, 1] * 6), draws=10, random_seed=1).sizes)
    {'chain': 4, 'draw': 10, 'coefficient': 4, 'constrained_coefficient': 2}
    """
    import xarray as xr

    labels = {"coefficient": list(design.symbols), "constrained_coefficient": list(design.constrained_symbols)}
    models = {
        "inner_product": (design.pairs.inner, design.columns, "coefficient"),
        "corrected_ratio": (design.pairs.cosine, design.ratio_columns, "coefficient"),
        "constrained": (
            design.pairs.cosine,
            design.ratio_columns[:, design.constrained_columns],
            "constrained_coefficient",
        ),
    }
    variables: dict[str, Any] = {}
    seeds = np.random.SeedSequence(random_seed).spawn(len(models))
    for (name, (outcome, columns, dim)), seed in zip(models.items(), seeds, strict=True):
        rng = np.random.default_rng(seed)
        drawn = linear_draws(outcome, columns, effects=effects, prior=prior, draws=draws * chains, rng=rng)
        shape = (chains, draws)
        variables[name] = (("chain", "draw", dim), drawn.coefficients.reshape(*shape, -1))
        variables[f"{name}_sigma"] = (("chain", "draw"), drawn.sigma.reshape(shape))
        if effects:
            variables[f"{name}_word_sd"] = (("chain", "draw", "effect"), drawn.word_sd.reshape(*shape, -1))
    return xr.Dataset(variables, coords={"chain": np.arange(chains), "draw": np.arange(draws), **labels})


def distortion_slopes(design: InnerProductDesign) -> Floats:
    """Return the share of each coefficient in the slope of the constrained cosine regression, (coefficients,).

    The shares are the slopes of the corrected ratio model's columns on the constrained regression's regressor, and
    ``slopes @ coefficients`` is alpha_1*. For a binary design: 1 for beta_3, 0 for beta_2, cov(X, 1/LNW) / var(X) for
    beta_0, cov(X, X/LNW) / var(X) for beta_1.

    Kindel (2023), supplement, "Some useful decompositions", total scale distortion, prints
    ``alpha_1* = beta_1 + beta_2 cov(X, 1/LNW)/var(X) + beta_3 cov(X, X/LNW)/var(X)``. There beta_1 is the coefficient
    of X, and beta_2 and beta_3 those of 1/LNW and X/LNW; in the corrected ratio model of the page before, they are
    called beta_3, beta_0 and beta_1. Names here are those of that model, with which the sum is exact.
    """
    regressors = design.ratio_columns[:, design.constrained_columns]
    slopes: Floats = np.linalg.lstsq(regressors, design.ratio_columns)[0][1]
    return slopes


def global_shares(design: InnerProductDesign) -> Floats:
    """Return the columns whose sum, weighted by the coefficients, is the global discrepancy delta of each pair.

    ``delta = (beta_0 + beta_1 X) / LNW``, and ``sim_local = cos - delta``; designs with more terms include all those
    that the constrained cosine regression omits. Shape (rows, coefficients), 0 in the columns of the local similarity.
    Kindel (2023), supplement, "Some useful decompositions", local similarity estimation:
    sim_local(A_i, B_i), sim_global(A_i, B_i) and cos(A_i, B_i) = sim_local(A_i, B_i) + delta(A_i, B_i).
    """
    if design.side is None:
        raise MeasureError(f"Local similarity compares two sides, but the {design.name} design has none.")
    shares: Floats = design.ratio_columns.copy()
    shares[:, design.constrained_columns] = 0.0
    return shares


class _Conjugate:
    """Posterior of coefficients and sigma, given the scales of word effects.

    The columns are first made orthogonal, X = Q R, so that their scales and near collinearity cost no precision.
    """

    def __init__(self, y: Floats, x: Floats, effects: Sequence[WordEffects], prior: LinearPrior) -> None:
        q, self.triangle = np.linalg.qr(x)
        inverse = np.linalg.solve(self.triangle, np.eye(x.shape[1]))
        flat = np.isinf(prior.coefficient_sd)
        self.precision = inverse.T @ inverse / prior.coefficient_sd**2
        # A flat prior lacks the factor sigma^-p that a Normal one has.
        self.df = prior.rows + len(y) - (x.shape[1] if flat else 0)
        self.guess = prior.rows * prior.sigma**2
        both = np.column_stack([q, y])
        blocks = [_one_column_a_word(effect, len(y)) for effect in effects]
        self.effect = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
        z = np.hstack([np.zeros((len(y), 0)), *blocks])
        self.gram, self.zz, self.z_both = both.T @ both, z.T @ z, z.T @ both

    def solve(self, ratios: Floats) -> tuple[Floats, Floats, float, float]:
        """Return mean and Cholesky factor of the precision (of R beta), sum of squares, and log likelihood of `ratios`.

        `ratios` are kappa: standard deviation of word effects over sigma, one for each kind.
        """
        scale = ratios[self.effect]
        inner = np.eye(len(scale)) + scale[:, None] * self.zz * scale
        lower = np.linalg.cholesky(inner)
        absorbed = np.linalg.solve(lower, scale[:, None] * self.z_both)
        gram = self.gram - absorbed.T @ absorbed
        precision = gram[:-1, :-1] + self.precision
        root = np.linalg.cholesky(precision)
        mean = np.linalg.solve(precision, gram[:-1, -1])
        squares = float(self.guess + gram[-1, -1] - gram[:-1, -1] @ mean)
        if squares <= 1e-14 * max(self.gram[-1, -1], self.guess):
            raise MeasureError("The outcome is a sum of the columns without error: there is nothing to estimate.")
        log_density = -np.log(np.diag(lower)).sum() - np.log(np.diag(root)).sum() - self.df / 2 * np.log(squares)
        return mean, root, squares, float(log_density)

    def log_densities(self, points: Floats) -> Floats:
        """Return the log density of log kappa at points of shape (points, effects)."""
        ratios = np.exp(points)
        prior = (points - np.log1p(np.square(ratios))).sum(axis=1)  # half-Cauchy, in log kappa
        densities: Floats = prior + np.array([self.solve(ratio)[3] for ratio in ratios])
        return densities

    def draw(self, nodes: Floats, which: NDArray[np.integer[Any]], rng: np.random.Generator) -> LinearDraws:
        """Return a draw for each element of `which`, given the ratios ``nodes[element]``."""
        sigma = np.sqrt(1 / rng.chisquare(self.df, size=len(which)))
        noise = rng.normal(size=(len(which), len(self.triangle)))
        coefficients = np.empty_like(noise)
        for node in np.unique(which):
            mean, root, squares, _ = self.solve(nodes[node])
            rows = which == node
            sigma[rows] *= np.sqrt(squares)
            spread = np.linalg.solve(root.T, noise[rows].T).T
            coefficients[rows] = np.linalg.solve(self.triangle, (mean + sigma[rows, None] * spread).T).T
        return LinearDraws(coefficients, sigma, nodes[which] * sigma[:, None])


def _one_column_a_word(effect: WordEffects, rows: int) -> Floats:
    """Return the columns of Z of one kind of word effects."""
    words = np.asarray(effect.words)
    if words.shape != (rows,):
        raise MeasureError(
            f"The word effects have words of shape {words.shape}: give one for each of {counted(rows, 'row')}."
        )
    codes = np.unique(words, return_inverse=True)[1]
    columns: Floats = np.zeros((rows, codes.max() + 1))
    columns[np.arange(rows), codes] = effect.by
    return columns
