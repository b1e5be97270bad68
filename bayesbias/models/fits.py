"""The fit: one DataTree for every sampler; how it is completed, checked and read, and its source."""

import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.base.checks import (
    HDI_PROB,
    check_choice,
    check_count,
    check_items,
    check_path,
    check_probability,
    check_rope,
    resolve_seed,
)
from bayesbias.base.files.inputs import check_seal, file_size, input_file, open_input, sealed
from bayesbias.base.files.outputs import atomic_path, check_output
from bayesbias.base.machine import check_memory
from bayesbias.errors import FitError, InputFileError, raise_faults, worded
from bayesbias.models.coordinates import COVARIANCES, PARAMETERS, bytes_of_draws, draws_dataset
from bayesbias.models.data import ModelData
from bayesbias.models.densities import densities
from bayesbias.models.fit_files import (
    EXTRA_GROUPS,
    GROUPS,
    USER,
    content_faults,
    stored_model,
    stored_rows,
    stored_scale,
)
from bayesbias.models.fit_storage import check_storage, unreadable
from bayesbias.models.numerics.diagnostics import convergence_problems, independent_draws, warn_of_problems
from bayesbias.models.priors import Prior
from bayesbias.models.scales import DISTANCE_ERROR
from bayesbias.models.simulate import draw_distances, draw_parameters
from bayesbias.models.spec import RENAMED, ModelSpec
from bayesbias.tables.codes import code_words
from bayesbias.tables.measures import COSINE_DISTANCE, KEY, Measure, measure_of, other_measure
from bayesbias.tables.schema import ATTRS_KEY, Provenance, provenance, validate_table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


_PACKAGES = ("bayesbias", "numpy", "pandas", "scipy", "xarray")
_PACKAGES_OF_NUTS = ("pymc", "pytensor", "nutpie")

# The samplers' reports on draws, by our names (those of ArviZ), and the samplers' other names for them.
_SAMPLE_STATS = (
    *("diverging", "energy", "tree_depth", "n_steps", "acceptance_rate", "step_size", "lp", "reached_max_treedepth"),
    # Reports of the samplers without chains on their own error.
    *("grid_acceptance", "edge_mass", "envelope_excess"),
    *("importance_efficiency", "importance_ess", "pareto_khat", "points_weighted"),
)
_THEIR_NAMES = {
    "depth": "tree_depth",
    "mean_tree_accept": "acceptance_rate",
    "logp": "lp",
    "maxdepth_reached": "reached_max_treedepth",
}
_PRIOR_SAMPLES = 1000
_BLOCK = 2_000_000


def finish_fit(
    posterior: "xr.Dataset",
    sampler_stats: "xr.Dataset",
    data: ModelData,
    spec: ModelSpec,
    table: pd.DataFrame,
    *,
    settings: dict[str, Any],
) -> "xr.DataTree":
    """Return a sampler's draws and its report on them as the fit's DataTree, with data and provenance.

    `data` are the rows that the model was fitted to, and `table` has no others. `settings` holds the sampler, its
    draws, tuning steps and chains, the seed, the rope if one was given, and the groups that are in no contrast.
    """
    import xarray as xr

    stats = {_THEIR_NAMES.get(str(name), str(name)): values for name, values in sampler_stats.data_vars.items()}
    # A word can be in several lists, so that lists are stored by row; without lists, connections stand for them.
    lists = code_words(table["attribute_group" if "attribute_group" in table else "connection"]).by_appearance()
    observed = xr.Dataset({data.measure.column: ("pair", data.distance)})
    constant = xr.Dataset(
        {
            "protected_index": ("pair", data.protected),
            "connection_index": ("pair", data.connection),
            "attribute_index": ("pair", data.attribute),
            "protected_group": ("protected_word", data.protected_groups),
            "attribute_group_index": ("pair", lists.codes),
            "pair_count": (("protected_word", "connection"), data.pair_counts.copy()),
        },
        coords={
            "protected_word": data.protected_words,
            "connection": np.asarray(data.connections, dtype=str),
            "attribute_word": data.attribute_words,
            "attribute_group": np.asarray(lists.words, dtype=str),
        },
    )
    if data.covariates is not None:
        names = np.asarray(data.covariate_names, dtype=str)
        constant = constant.assign_coords(covariate=names)
        constant["covariate_value"] = ("protected_word", "covariate"), data.covariates
        in_percent = [name in data.percent_covariates for name in data.covariate_names]
        constant["covariate_in_percent"] = "covariate", np.array(in_percent, dtype=np.int8)
    children = {
        "posterior": _plain_coords(
            posterior.drop_vars(["residual_covariance", "other_protected_word"], errors="ignore")
        ),
        "sample_stats": xr.Dataset({name: stats[name] for name in _SAMPLE_STATS if name in stats}),
        "observed_data": observed,
        "constant_data": constant,
    }
    if "residual_covariance" in posterior:
        children[COVARIANCES] = _plain_coords(posterior[["residual_covariance"]])
    fit = xr.DataTree(children={name: xr.DataTree(labelled_group(child)) for name, child in children.items()})
    facts = {
        "versions": _versions((*_PACKAGES, *_further_packages(settings["sampler"], stats))),
        "model": spec.to_dict(),
        "model_hash": spec.digest,
        "table_hash": data.table_hash,
        "table": provenance(table, current_hash=data.table_hash),
        **settings,
        "convergence_problems": [],
        **({"covariates_source": data.covariates_source} if data.covariates_source else {}),
        **({} if data.measure.is_bounded else {"scale": [data.scale.origin, data.scale.unit]}),
    }
    # netCDF attributes hold neither dicts nor bools: every fact is a JSON text.
    fit.attrs = {name: json.dumps(value, ensure_ascii=False) for name, value in facts.items()}
    return fit


def _further_packages(sampler: str, stats: Mapping[str, Any]) -> Iterator[str]:
    """Yield the packages that judged the draws, and those that made them; of the user's, those that were loaded."""
    if not independent_draws(stats):
        yield "arviz"
    if sampler in ("nuts", USER):
        yield from (name for name in _PACKAGES_OF_NUTS if sys.modules.get(name))


@cache
def _versions(packages: tuple[str, ...]) -> dict[str, str]:
    return {name: version(name) for name in packages}


def judge_fit(fit: "xr.DataTree") -> list[str]:
    """Return the problems of a fit's draws, and store them in its attributes."""
    problems = convergence_problems(fit)
    fit.attrs["convergence_problems"] = json.dumps(problems, ensure_ascii=False)
    return problems


def fit_attribute(fit: "xr.DataTree", name: str) -> Any:
    """Return one root attribute of a fit, decoded.

    Parameters
    ----------
    fit
        A fit.
    name
        ``"versions"``, ``"model"``, ``"model_hash"``, ``"table_hash"``, ``"table"``, ``"sampler"``,
        ``"draws"``, ``"tune"``, ``"chains"``, ``"random_seed"``, ``"convergence_problems"`` or, if it was given,
        ``"hdi_prob"`` and ``"rope"``.

    Raises
    ------
    FitError
        If the tree is not a fit of this package.
    """
    facts = check_fit(fit).attrs
    return json.loads(facts[check_choice("name", name, map(str, facts))])


def rope_of(fit: "xr.DataTree", rope: Any) -> tuple[float, float] | None:
    """Return a region of practical equivalence as (low, high): the given one, else that of the fit, if it has one."""
    if rope is None and "rope" in check_fit(fit).attrs:
        rope = fit_attribute(fit, "rope")
    return check_rope(rope)


def hdi_prob_of(fit: "xr.DataTree", hdi_prob: Any) -> float:
    """Return a probability inside intervals: the given one, else that of the fit, else the default."""
    if hdi_prob is None:
        hdi_prob = fit_attribute(fit, "hdi_prob") if "hdi_prob" in check_fit(fit).attrs else HDI_PROB
    return check_probability("hdi_prob", hdi_prob)


def _fit() -> str:
    return worded("bb.fit", "`bayesbias fit`")


def measure_of_fit(fit: "xr.DataTree") -> Measure:
    """Return what the numbers of a fit measure."""
    return measure_of(fit_attribute(fit, "table"))


def measured_in(fit: "xr.DataTree") -> dict[str, dict[str, str]]:
    """Return what numbers other than cosine distances measure, for the settings of a frame; empty for these."""
    measure = measure_of_fit(fit)
    return {} if measure.column == COSINE_DISTANCE.column else {KEY: measure.record()}


def check_cosine(fit: "xr.DataTree", what: str) -> None:
    """Raise a `FitError` if the numbers of a fit are no cosine distances, of which the text or figure `what` speaks."""
    if reason := other_measure(fit_attribute(fit, "table"), what):
        names = worded("bb.contrasts, bb.planned_contrasts and bb.summary", "`bayesbias contrast` and `summary`")
        raise FitError(f"{reason} Use {names}, whose numbers are in the unit of the table.")


def check_fit(fit: Any) -> "xr.DataTree":
    """Return `fit` if it is a fit of this package; raise a `FitError` that names its missing parts otherwise."""
    import xarray as xr

    if not isinstance(fit, xr.DataTree):
        raise FitError(f"A fit is the DataTree that bb.fit returns, not {type(fit).__name__}.")
    missing = [name for name in GROUPS if name not in fit.children]
    missing += [f"attribute {name}" for name in ("model", "sampler", "random_seed") if name not in fit.attrs]
    if missing:
        raise FitError(f"This DataTree is not a fit of bayesbias: it has no {', no '.join(missing)}. Use {_fit()}.")
    if old := [name for name in RENAMED if name in fit["posterior"].data_vars]:
        raise FitError(
            f"This fit was made by an earlier version: its posterior holds {old[0]!r}, which is called "
            f"{RENAMED[old[0]]!r} now. Fit the model again."
        )
    return fit


def write_fit(fit: "xr.DataTree", path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a fit to a netCDF file, completely or not at all.

    Parameters
    ----------
    fit
        A fit, as returned by `fit`.
    path
        Path of the file, ending in ``.nc``.
    overwrite
        Whether an existing file may be replaced.

    Returns
    -------
    pathlib.Path
        The file; any program that reads netCDF 4 opens it, for example ``arviz.from_netcdf``. A checksum follows its
        content, by which `read_fit` detects any changed byte.

    Raises
    ------
    OutputError
        If the file cannot be written.
    FitError
        If `fit` is not a fit, or has groups or forms of storage that `read_fit` refuses.
    """
    target = check_output(path, overwrite=overwrite)
    # In memory first: the HDF5 library crashes the process on a full disk.
    content = bytes(check_fit(fit).to_netcdf(engine="h5netcdf"))
    check_storage(content, target, "Remove it, or its encoding, from the fit.")
    with atomic_path(target, overwrite=overwrite) as temporary:
        temporary.write_bytes(sealed(content))
    return target


def without_covariances(fit: "xr.DataTree") -> "xr.DataTree":
    """Return a fit without the covariances of distances, which are most of its size and only predictions need."""
    return fit.filter(lambda group: group.name != COVARIANCES)


def read_fit(path: str | os.PathLike[str]) -> "xr.DataTree":
    """Return a fit from a file of `write_fit`.

    Parameters
    ----------
    path
        A netCDF file.

    Returns
    -------
    xarray.DataTree
        The fit, in memory; the file is closed.

    Raises
    ------
    InputFileError
        If the file is absent or not netCDF.
    FitError
        If it does not hold a fit, or an incomplete one: texts, variables or positions are missing, or draws are not
        finite. A fit lies whole in its file: links, other files, compression and groups of other programs are refused.
    NotEnoughMemoryError
        If its numbers do not fit into the memory.

    Warns
    -----
    ConvergenceWarning
        If the sampler had not converged, as when it was fitted.
    """
    import xarray as xr

    folder = check_path(path)
    if folder.is_dir():
        has = f"Give {folder / 'fit.nc'}" if (folder / "fit.nc").exists() else "This folder has none"
        writer = worded("`write_fit`", "`bayesbias fit`")
        raise InputFileError(f"{folder} is a folder. A fit is a file that {writer} writes, such as fit.nc. {has}.")
    source = input_file(path)
    check_memory(file_size(source), f"{source}", "Check whether it is the right file.")
    with open_input(source) as stream:
        content = stream.read()
    check_seal(source, content)
    check_storage(content, source, f"Give a file as {worded('bb.write_fit', '`bayesbias fit`')} wrote it.")
    # A fit holds neither times, missing numbers nor letters in arrays; xarray would warn of odd descriptions of them,
    # and decode texts by any codec, some of which take quadratic time.
    steps = ("mask_and_scale", "decode_times", "decode_timedelta", "concat_characters")
    plain: dict[str, Any] = dict.fromkeys(steps, False)
    try:
        with xr.open_datatree(io.BytesIO(content), engine="h5netcdf", **plain) as tree:
            fit = tree.load().copy()  # the numbers are in memory
        for name in ("posterior", COVARIANCES, "constant_data", "prior"):
            if name in fit.children:  # sizes of dimensions may contradict each other
                fit[name] = xr.DataTree(_plain_coords(fit[name].to_dataset()))
    except Exception as error:  # xarray and h5netcdf can raise anything on a damaged file
        raise unreadable(source, error) from error
    for variable in (variable for group in fit.children.values() for variable in group.variables.values()):
        variable.attrs.pop("_FillValue", None)  # xarray writes it with numbers
    raise_faults(FitError, f"{source}, whose model must be fitted again,", list(content_faults(check_fit(fit))))
    warn_of_problems(fit_attribute(fit, "convergence_problems"))
    return fit


def labelled_group(dataset: "xr.Dataset") -> "xr.Dataset":
    """Return a group with the attributes by which ArviZ and other programs identify its origin.

    The time is not among them: the same seed gives the same file.
    """
    attrs: dict[str, Any] = {
        "creation_library": "bayesbias",
        "creation_library_version": version("bayesbias"),
        "creation_library_language": "Python",
        "inference_library": "bayesbias",
        "inference_library_version": version("bayesbias"),
    }
    return dataset.assign_attrs(attrs | ({"sample_dims": ["chain", "draw"]} if "chain" in dataset.dims else {}))


def _plain_coords(dataset: "xr.Dataset") -> "xr.Dataset":
    """Return the dataset with NumPy text coordinates: pandas text arrays break xarray's groupby."""
    texts = {
        name: np.asarray(values, dtype=str) for name, values in dataset.coords.items() if values.dtype.kind in "OT"
    }
    return dataset.assign_coords(texts) if texts else dataset


def fitted_model(fit: "xr.DataTree") -> ModelSpec:
    """Return the model of a fit, with the priors that it was fitted with.

    >>> str(fitted_model(fit).priors["sigma"])
    'Exponential(rate=2)'
    """
    return stored_model(fit_attribute(fit, "model"))


def priors_in_use(fit: "xr.DataTree") -> dict[str, Prior]:
    """Return the priors of the fitted model by parameter, without `list_scale` if all lists are of one kind.

    >>> "list_scale" in priors_in_use(fit)
    False
    """
    has_kinds = "list_scale" in check_fit(fit)["posterior"].data_vars
    return {name: prior for name, prior in fitted_model(fit).priors.items() if has_kinds or name != "list_scale"}


def fitted_rows(fit: "xr.DataTree") -> ModelData:
    """Return the rows that the model was fitted to, as arrays."""
    return stored_rows(check_fit(fit))


def groups_without_contrast(fit: "xr.DataTree") -> dict[str, str]:
    """Return the side that each protected group lacks which is in no contrast, as in "no associated list"."""
    stored: dict[str, str] = fit_attribute(fit, "groups_not_compared")
    return stored


def tied_directions(fit: "xr.DataTree") -> int:
    """Return the number of directions in which the distances to the protected words are tied, in a multivariate fit.

    In these directions the posterior mean of the covariance of attribute words has an sd of at most three times the
    error of a distance for each kind of list: hard debiasing removed the direction, words have the same vector, or
    there are more words than dimensions.
    """
    if COVARIANCES not in fit.children:
        return 0
    draws = fit[COVARIANCES]["residual_covariance"].transpose("chain", "draw", "attribute_group", ...).to_numpy()
    covariance = draws.reshape(-1, *draws.shape[-2:]).mean(axis=0)  # without xarray's copy that looks for NaN
    return int((np.linalg.eigvalsh(covariance) < (3 * DISTANCE_ERROR * stored_scale(fit).unit) ** 2).sum())


def fitted_table(fit: "xr.DataTree") -> "pd.DataFrame":
    """Return the distance table that the model was fitted to, rebuilt from `fit`.

    Returns
    -------
    pandas.DataFrame
        The same rows in the same order, with their provenance.

    Examples
    --------
    >>> rebuilt = bb.models.fitted_table(fit)
    >>> bool((rebuilt["cosine_distance"].to_numpy() == table["cosine_distance"].to_numpy()).all())
    True
    """
    import pandas as pd

    rows = fitted_rows(fit)
    connections = np.asarray(rows.connections, dtype=str)
    table = pd.DataFrame(
        {
            "protected_word": rows.protected_words[rows.protected],
            "protected_group": rows.protected_groups[rows.protected],
            "attribute_word": rows.attribute_words[rows.attribute],
            "connection": connections[rows.connection],
            rows.measure.column: rows.distance,
        }
    )
    facts = fit_attribute(fit, "table")
    constant = fit["constant_data"].to_dataset()
    table["attribute_group"] = constant["attribute_group"].to_numpy()[constant["attribute_group_index"].to_numpy()]
    table.attrs[ATTRS_KEY] = Provenance({name: value for name, value in facts.items() if name != "hash"})
    return validate_table(table)


ARVIZ_GROUPS = EXTRA_GROUPS


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

    from bayesbias.base.machine import threadpool_limits

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
            {data.measure.column: (("chain", "draw", "pair"), values.reshape(sizes["chain"], sizes["draw"], -1))},
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
        of_pairs = np.empty((len(rows), posterior.draws))
        for block in posterior.row_blocks(np.ones(len(rows), dtype=bool)):
            of_pairs[block] = posterior.of_rows(block)
        yield "log_likelihood", of_pairs.T
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
    names = [name for name in PARAMETERS if name in parameters[0] and name != "residual_covariance"]
    prior = draws_dataset({name: np.stack([drawn[name] for drawn in parameters]) for name in names}, data, spec)
    groups = {"prior": prior}
    if predict:
        distances = np.stack([draw_distances(data, spec, drawn, rng=for_distances) for drawn in parameters])
        groups["prior_predictive"] = xr.Dataset(
            {data.measure.column: (("chain", "draw", "pair"), distances[None])},
            coords={name: prior.coords[name] for name in ("chain", "draw")},
        )
    return groups
