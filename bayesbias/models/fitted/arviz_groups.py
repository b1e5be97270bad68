"""The groups that ArviZ's functions read beside the posterior: pointwise densities, the prior, and predictions."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_choice, check_count, check_items, resolve_seed
from bayesbias.base.memory import check_memory
from bayesbias.models.coordinates import PARAMETERS, coordinates
from bayesbias.models.data import ModelData
from bayesbias.models.fitted.fit_content import EXTRA_GROUPS
from bayesbias.models.fitted.fit_source import fitted_model, fitted_rows
from bayesbias.models.fitted.fits import check_fit, fit_attribute, labelled_group
from bayesbias.models.likelihood import densities
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
    """Return a fit with the groups that ArviZ's functions need.

    Parameters
    ----------
    fit
        What `fit` or `read_fit` returned; it is not changed.
    groups
        Which are added, or made anew: ``"log_likelihood"`` (for ``az.loo``, ``az.compare``, ``az.plot_loo_pit``),
        ``"posterior_predictive"`` (``az.plot_ppc_dist``), ``"prior"`` and ``"prior_predictive"``
        (``az.plot_prior_posterior``).
    samples
        Draws of the prior, as one chain.
    random_seed
        Of what is drawn: 0 to 2**32 - 1. None takes the fit's own seed, so that the same fit gives the same numbers.

    Returns
    -------
    xarray.DataTree
        The fit's groups and the new ones. `cosine_distance` of `log_likelihood` and of the predictions has the dims
        (chain, draw, pair), in the order of `observed_data`; in `prior` are the parameters of the posterior that the
        prior can draw, by the same names.

    Raises
    ------
    FitError, ArgumentError, NotEnoughMemoryError
        If `fit` is not a fit, a group or a setting is not usable, or the numbers do not fit into the memory.

    Notes
    -----
    The density of a pair is given all parameters, those of its attribute word included: its effect in crossed models,
    its other pairs in multivariate ones. So ``az.loo`` says how well a pair is predicted that is missing from a known
    attribute word. The question is mostly one of unseen attribute words, which `compare_models` leaves out whole.

    References
    ----------
    Vehtari, Gelman and Gabry (2017), Practical Bayesian model evaluation using leave-one-out cross-validation; the
    groups are those of the InferenceData schema of ArviZ.

    Examples
    --------
    >>> whole = bb.models.add_groups(fit, ["prior", "prior_predictive"], samples=100)
    >>> whole["prior"]["connection_mean"].dims, whole["prior_predictive"]["cosine_distance"].shape
    (('chain', 'draw', 'connection'), (1, 100, 2832))
    """
    import xarray as xr
    from threadpoolctl import threadpool_limits

    from bayesbias.models.sampling import bytes_of_draws  # which imports this module

    given = None if random_seed is None else resolve_seed(random_seed)
    wanted = check_groups(groups)
    count = check_count("samples", samples)
    seed = resolve_seed(fit_attribute(check_fit(fit), "seed") if given is None else given)
    data, spec = fitted_rows(fit), fitted_model(fit)
    sizes = fit["posterior"].sizes
    drawn = {"prior": 0, "prior_predictive": count}
    numbers = sum(drawn.get(name, sizes["chain"] * sizes["draw"]) for name in wanted) * len(data.distance)
    words = len(data.protected_words), len(data.connections), len(data.attribute_words)
    needed = 3 * 8 * numbers + (bytes_of_draws(spec, count, *words) if set(drawn) & set(wanted) else 0)
    check_memory(needed, f"{numbers:,} numbers of {', '.join(wanted)}", "Take fewer groups, or fewer draws or samples.")
    made: dict[str, xr.Dataset] = {}
    for group, values in _of_posterior(fit, data, wanted, np.random.default_rng([seed, 1])):
        made[group] = xr.Dataset(
            {DISTANCE: (("chain", "draw", "pair"), values.reshape(sizes["chain"], sizes["draw"], -1))},
            coords={name: fit["posterior"].coords[name] for name in ("chain", "draw")},
        )
    if set(drawn) & set(wanted):
        rng, predict = np.random.default_rng([seed, 2]), "prior_predictive" in wanted
        with threadpool_limits(1, "blas"):  # the matrices are small: threads would cost more than they do
            made |= _from_prior(data, spec, count, rng, predict=predict)
    whole = fit.copy()
    for name in wanted:
        whole[name] = xr.DataTree(labelled_group(made[name]))
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
    found, rows = densities(fit, data), np.arange(len(data.distance))
    if "log_likelihood" in wanted:
        yield "log_likelihood", np.concatenate([found.of_rows(block) for block in found.row_blocks()]).T
    if "posterior_predictive" in wanted:
        blocks = np.array_split(np.arange(found.draws), max(1, found.draws * len(rows) // _BLOCK))
        yield "posterior_predictive", np.concatenate([found.replicate(block, rows, rng) for block in blocks])


def _from_prior(
    data: ModelData, spec: ModelSpec, count: int, rng: np.random.Generator, *, predict: bool
) -> "dict[str, xr.Dataset]":
    """Return draws of the parameters from their prior, and, to `predict`, a table of distances from each."""
    import xarray as xr

    for_parameters, for_distances = rng.spawn(2)
    parameters = [draw_parameters(data, spec, rng=for_parameters) for _ in range(count)]
    coords = {"chain": np.arange(1), "draw": np.arange(count)}
    variables = {}
    for name in (name for name in PARAMETERS if name in parameters[0]):
        values = np.stack([drawn[name] for drawn in parameters])[None]
        variables[name] = (("chain", "draw", *PARAMETERS[name][: values.ndim - 2]), values)
    labels = coordinates(data, spec)
    used = {dim for dims, _ in variables.values() for dim in dims}
    labelled = coords | {dim: label for dim, label in labels.items() if dim in used}
    made = {"prior": xr.Dataset(variables, coords=labelled)}
    if predict:
        distances = np.stack([draw_distances(data, spec, drawn, rng=for_distances) for drawn in parameters])
        made["prior_predictive"] = xr.Dataset({DISTANCE: (("chain", "draw", "pair"), distances[None])}, coords=coords)
    return made
