"""A linear regression with groupings (algorithms, corpora) and repeated units (words), as a PyMC model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.models.sampling import Settings, exact_arithmetic

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


@dataclass(frozen=True, eq=False)
class Stratum:
    """Rows with one error standard deviation, reduced to their sufficient statistics.

    Parameters
    ----------
    design : array, shape (k, columns)
        The R of the design's QR decomposition, k at most the number of columns.
    response : array, shape (k,)
        Q'y.
    residual_squares
        |y|^2 - |Q'y|^2.
    rows
        Number of rows before the reduction.
    """

    design: Floats
    response: Floats
    residual_squares: float
    rows: int


def split_rows(design: Floats, response: Floats, repeats: int) -> list[Stratum]:
    """Split rows into means of units and deviations from them, each reduced by QR.

    `design` and `response`, of shape (units * repeats, ...), have the rows of a unit one after the other. With an error
    of each unit (sd u) and of each row (sd s), the means times sqrt(repeats) have the variance s^2 + repeats u^2 and
    the deviations s^2, independently: the likelihood is that of the rows, at a cost that does not grow with them.

    >>> means, deviations = split_rows(np.ones((6, 1)), np.array([1.0, 3, 2, 4, 3, 5]), repeats=2)
    >>> float(round(means.residual_squares, 6)), means.rows, deviations.rows
    (4.0, 3, 3)
    """
    units = len(response) // repeats
    X, y = design.reshape(units, repeats, -1), response.reshape(units, repeats)
    means = X.mean(axis=1), y.mean(axis=1)
    first = _reduced(means[0] * np.sqrt(repeats), means[1] * np.sqrt(repeats), units)
    if repeats == 1:
        return [first]
    deviations = (X - means[0][:, None]).reshape(-1, X.shape[2]), (y - means[1][:, None]).reshape(-1)
    return [first, _reduced(*deviations, units * (repeats - 1))]


def _reduced(design: Floats, response: Floats, rows: int) -> Stratum:
    Q, R = np.linalg.qr(design)
    projected = Q.T @ response
    return Stratum(R, projected, max(float(response @ response - projected @ projected), 0.0), rows)


def mixed_model(strata: Sequence[Stratum], *, fixed: int, groupings: Mapping[str, int], repeats: int) -> "pm.Model":
    """Return the PyMC model of the standard deviations in a regression of a standardised response.

    `strata` are those of `split_rows`; the columns of their designs are `fixed` coefficients and then the levels of
    each grouping, whose numbers are in `groupings`. Priors, in standard deviations of the response: coefficients
    Normal(0, 1), every standard deviation HalfNormal(1). Coefficients and effects, Normal given the standard
    deviations, are integrated out: samplers cope badly with effects that are known much better, or much worse, than
    their scales.
    """
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        sds = {name: pm.HalfNormal(f"{name}_sd", 1) for name in groupings}
        sigma = pm.HalfNormal("sigma", 1)
        word_sd = pm.HalfNormal("word_sd", 1) if len(strata) > 1 else None
        scale = pm.math.concatenate(
            [np.ones(fixed), *(sds[name] * np.ones(levels) for name, levels in groupings.items())]
        )
        precision, linear, deviance = 0.0, 0.0, 0.0
        for stratum, variance in zip(strata, _variances(sigma**2, word_sd, repeats), strict=True):
            precision += stratum.design.T @ stratum.design / variance
            linear += stratum.design.T @ stratum.response / variance
            squares = float(stratum.response @ stratum.response) + stratum.residual_squares
            deviance += stratum.rows * pt.log(variance) + squares / variance
        size = fixed + sum(groupings.values())
        factor = pt.linalg.cholesky(np.eye(size) + scale[:, None] * precision * scale)
        fitted = pt.linalg.solve_triangular(factor, scale * linear, lower=True)
        pm.Potential(
            "marginal", -0.5 * deviance - pm.math.log(factor[np.diag_indices(size)]).sum() + 0.5 * (fitted**2).sum()
        )
    return model


def sample_mixed(
    strata: Sequence[Stratum],
    *,
    columns: Sequence[str],
    groupings: Mapping[str, Sequence[str]],
    repeats: int,
    settings: Settings,
) -> "xr.DataTree":
    """Return draws of the standard deviations, by nutpie, and of `coefficient` and the effects of each grouping."""
    import nutpie
    import xarray as xr

    model = mixed_model(
        strata, fixed=len(columns), groupings={name: len(levels) for name, levels in groupings.items()}, repeats=repeats
    )
    with exact_arithmetic():
        tree: xr.DataTree = nutpie.sample(
            nutpie.compile_pymc_model(model),
            draws=settings.draws,
            tune=settings.tune,
            chains=settings.chains,
            seed=settings.random_seed,
            progress_bar=settings.progress,
            save_warmup=False,
            target_accept=0.95,
        )
    posterior = tree["posterior"].to_dataset()
    rng = np.random.default_rng(settings.random_seed)
    theta = conditional_draws(strata, posterior, len(columns), groupings, repeats, rng)
    posterior["coefficient"] = (("chain", "draw", "column"), theta[..., : len(columns)])
    first = len(columns)
    for name, levels in groupings.items():
        posterior[f"{name}_effect"] = (("chain", "draw", name), theta[..., first : first + len(levels)])
        first += len(levels)
    tree["posterior"] = xr.DataTree(posterior.assign_coords({"column": list(columns), **groupings}))
    return tree


def _variances(noise: Any, word_sd: Any, repeats: int) -> list[Any]:
    """Return the variance of each stratum: of the scaled means of units, and of the deviations from them."""
    return [noise] if word_sd is None else [noise + repeats * word_sd**2, noise]


def conditional_draws(
    strata: Sequence[Stratum],
    posterior: "xr.Dataset",
    fixed: int,
    groupings: Mapping[str, Sequence[str]],
    repeats: int,
    rng: np.random.Generator,
) -> Floats:
    """Draw coefficients and effects given each draw of the standard deviations."""
    drawn = {str(name): values.transpose("chain", "draw").to_numpy() for name, values in posterior.items()}
    noise = drawn["sigma"] ** 2
    prior = [np.ones((*noise.shape, fixed))]
    prior += [
        np.repeat(drawn[f"{name}_sd"][..., None] ** -2, len(levels), axis=-1) for name, levels in groupings.items()
    ]
    weights = np.concatenate(prior, axis=-1)
    precision = np.zeros((*weights.shape, weights.shape[-1]))
    linear = np.zeros(weights.shape)
    for stratum, variance in zip(strata, _variances(noise, drawn.get("word_sd"), repeats), strict=True):
        precision += stratum.design.T @ stratum.design / variance[..., None, None]
        linear += stratum.design.T @ stratum.response / variance[..., None]
    precision += weights[..., None] * np.eye(weights.shape[-1])
    factor = np.linalg.cholesky(precision)
    mean = np.linalg.solve(precision, linear[..., None])[..., 0]
    noisy = np.linalg.solve(np.swapaxes(factor, -1, -2), rng.standard_normal((*weights.shape, 1)))[..., 0]
    return np.asarray(mean + noisy)
