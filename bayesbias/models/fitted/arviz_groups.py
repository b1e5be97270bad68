"""The groups that ArviZ's functions read beside the posterior: pointwise densities, the prior, and predictions."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_choice, check_count, check_items, resolve_seed
from bayesbias.base.machine.memory import check_memory
from bayesbias.models.coordinates import PARAMETERS, bytes_of_draws, draws_dataset
from bayesbias.models.data import ModelData
from bayesbias.models.densities import densities
from bayesbias.models.fitted.fit_content import EXTRA_GROUPS
from bayesbias.models.fitted.fit_source import fitted_model, fitted_rows
from bayesbias.models.fitted.fits import check_fit, fit_attribute, labelled_group
from bayesbias.models.simulate import draw_distances, draw_parameters
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import xarray as xr

ARVIZ_GROUPS = EXTRA_GROUPS
DISTANCE = "cosine_distance"
_PRIOR_SAMPLES = 1000
_BLOCK = 2_000_000


def add_groups(
    fit: "xr.DataTree",
    groups: Iterable[str] | str = ARVIZ_GROUPS,
    *,
    samples: int = _PRIOR_SAMPLES,
    random_seed: int | None = None,
) -> "xr.DataTree":
    """Return a fit with the additional groups that ArviZ's functions need.

    Parameters
    ----------
    fit
        What `fit` or `read_fit` returned; it is not changed.
    groups
        Groups to add or replace: ``"log_likelihood"`` (for ``az.loo``, ``az.compare``, ``az.plot_loo_pit``),
        ``"log_prior"`` (with ``"log_likelihood"`` for ``az.psense_summary``), ``"posterior_predictive"``
        (``az.plot_ppc_dist``), ``"prior"`` and ``"prior_predictive"`` (``az.plot_prior_posterior``).
    samples
        Number of draws of the prior, in one chain.
    random_seed
        Seed of the draws, 0 to 2**32 - 1. None takes the fit's own seed, so that the same fit gives the same numbers.

    Returns
    -------
    xarray.DataTree
        The fit's groups and the new ones. `cosine_distance` of `log_likelihood` and of the predictions has the dims
        (chain, draw, pair), in the order of `observed_data`; `prior` holds the parameters of the posterior that the
        prior can draw, by the same names.

    Raises
    ------
    FitError, ArgumentError, NotEnoughMemoryError
        If `fit` is not a fit, a group or a setting cannot be used, or the numbers do not fit into the memory.

    Notes
    -----
    The density of a pair is conditional on all parameters, including those of its attribute word: its effect in crossed
    models, its other pairs in multivariate ones. So ``az.loo`` measures how well a missing pair of a known attribute
    word is predicted. Most questions are about new attribute words, which `compare_models` leaves out whole.

    `log_prior` has the log density of each parameter with a proper prior of its own (the model's `priors`), at the
    draws of the posterior. Priors of words and attribute words given these are no part of it, as Kallioinen et al.
    advise; nor are the means of lists in the multivariate models, whose prior is flat. In these models the densities of
    pairs, which are conditional on other pairs, do not add up to the likelihood: of ``az.psense_summary`` read the
    column `prior`.

    References
    ----------
    Kallioinen, Paananen, Buerkner and Vehtari (2024), Detecting and diagnosing prior and likelihood sensitivity with
    power-scaling.
    Vehtari, Gelman and Gabry (2017), Practical Bayesian model evaluation using leave-one-out cross-validation; the
    groups follow the InferenceData schema of ArviZ.

    Examples
    --------
    >>> whole = bb.models.add_groups(fit, ["prior", "prior_predictive"], samples=100)
    >>> whole["prior"]["connection_mean"].dims, whole["prior_predictive"]["cosine_distance"].shape
    (('chain', 'draw', 'connection'), (1, 100, 2832))
    """
    import xarray as xr

    from bayesbias.base.machine.threads import threadpool_limits

    chosen_seed = None if random_seed is None else resolve_seed(random_seed)
    wanted = check_groups(groups)
    count = check_count("samples", samples)
    seed = resolve_seed(fit_attribute(check_fit(fit), "random_seed") if chosen_seed is None else chosen_seed)
    data, spec = fitted_rows(fit), fitted_model(fit)
    sizes = fit["posterior"].sizes
    prior_draws = {"prior": 0, "prior_predictive": count}
    posterior_draws = sizes["chain"] * sizes["draw"]
    by_pair = [name for name in wanted if name != "log_prior"]
    numbers = sum(prior_draws.get(name, posterior_draws) for name in by_pair) * len(data.distance)
    words = len(data.protected_words), len(data.connections), len(data.attribute_words)
    from_prior = set(prior_draws) & set(wanted)
    needed = 3 * 8 * numbers + (bytes_of_draws(spec, count, *words) if from_prior else 0)
    check_memory(needed, f"{numbers:,} numbers of {', '.join(wanted)}", "Take fewer groups, or fewer draws or samples.")
    new_groups: dict[str, xr.Dataset] = {}
    for group, values in _of_posterior(fit, data, wanted, np.random.default_rng([seed, 1])):
        new_groups[group] = xr.Dataset(
            {DISTANCE: (("chain", "draw", "pair"), values.reshape(sizes["chain"], sizes["draw"], -1))},
            coords={name: fit["posterior"].coords[name] for name in ("chain", "draw")},
        )
    if "log_prior" in wanted:
        new_groups["log_prior"] = _log_prior(fit, spec)
    if from_prior:
        rng, predict = np.random.default_rng([seed, 2]), "prior_predictive" in wanted
        with threadpool_limits(1, "blas"):  # threads cost more than they save with small matrices
            new_groups |= _from_prior(data, spec, count, rng, predict=predict)
    whole = fit.copy()
    for name in wanted:
        whole[name] = xr.DataTree(labelled_group(new_groups[name]))
    return whole


def check_groups(groups: Iterable[str] | str) -> list[str]:
    """Return the names of groups as a list.

    >>> check_groups("loglikelihood")
    Traceback (most recent call last):
        ...
    bayesbias.errors.ArgumentError: groups='loglikelihood' (did you mean 'log_likelihood'?): use log_likelihood, ...
    """
    names = [groups] if isinstance(groups, str) else check_items("groups", groups, "a list of groups")
    return [check_choice("groups", name, ARVIZ_GROUPS) for name in names]


def _of_posterior(
    fit: "xr.DataTree", data: ModelData, wanted: list[str], rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the groups that come from the posterior's draws, each of shape (draws, pairs)."""
    if not {"log_likelihood", "posterior_predictive"} & set(wanted):
        return
    posterior, rows = densities(fit, data), np.arange(len(data.distance))
    if "log_likelihood" in wanted:
        yield "log_likelihood", np.concatenate([posterior.of_rows(block) for block in posterior.row_blocks()]).T
    if "posterior_predictive" in wanted:
        blocks = np.array_split(np.arange(posterior.draws), max(1, posterior.draws * len(rows) // _BLOCK))
        yield "posterior_predictive", np.concatenate([posterior.replicate(block, rows, rng) for block in blocks])


def _log_prior(fit: "xr.DataTree", spec: ModelSpec) -> "xr.Dataset":
    """Return the log density of each parameter's own prior at the posterior's draws."""
    import xarray as xr

    posterior = fit["posterior"].to_dataset()
    densities_by_name = {}
    for name, prior in spec.priors.items():
        # Without pooling, this is the prior of each word's mean.
        of_words = name == "connection_mean" and spec.switches["pooling"] == "none"
        if name in posterior:  # a model of few words or lists has not all parameters
            draws = posterior["word_mean" if of_words else name]
            densities_by_name[name] = draws.copy(data=prior.log_density(draws.to_numpy()))
    return xr.Dataset(densities_by_name)


def _from_prior(
    data: ModelData, spec: ModelSpec, count: int, rng: np.random.Generator, *, predict: bool
) -> "dict[str, xr.Dataset]":
    """Return draws of the parameters from their prior and, if `predict`, a table of distances from each."""
    import xarray as xr

    for_parameters, for_distances = rng.spawn(2)
    parameters = [draw_parameters(data, spec, rng=for_parameters) for _ in range(count)]
    names = [name for name in PARAMETERS if name in parameters[0]]
    prior = draws_dataset({name: np.stack([drawn[name] for drawn in parameters]) for name in names}, data, spec)
    groups = {"prior": prior}
    if predict:
        distances = np.stack([draw_distances(data, spec, drawn, rng=for_distances) for drawn in parameters])
        groups["prior_predictive"] = xr.Dataset(
            {DISTANCE: (("chain", "draw", "pair"), distances[None])},
            coords={name: prior.coords[name] for name in ("chain", "draw")},
        )
    return groups
