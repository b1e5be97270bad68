"""Fits from draws that the user sampled, of a model of this package or of one that was changed by hand."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_count, check_type, resolve_seed
from bayesbias.errors import FitError, name_some, raise_faults
from bayesbias.models.coordinates import COVARIANCES, PARAMETERS, coordinates, draws_dataset
from bayesbias.models.data import ModelData, compared_part, groups_not_compared, model_data
from bayesbias.models.fit_files import EXTRA_GROUPS, USER, own_parameters, posterior_shapes
from bayesbias.models.fits import finish_fit, judge_fit, labelled_group
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.posterior_draws import with_population
from bayesbias.models.numerics.diagnostics import warn_of_problems
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.models.units import in_unit
from bayesbias.tables.schema import FrameLike, as_frame

if TYPE_CHECKING:
    import xarray as xr

# Variables of our PyMC models that no report needs: other forms of parameters, and what has a number for each pair.
_INTERNAL = ("word_offset", "attribute_offset", "pair_mean", "list_group_mean", "regression", "missing_distance")
# Of our samplers, whose draws are independent: reports take them for that.
_OF_INDEPENDENT = ("edge_mass", "importance_ess", "pareto_khat")
_CHAINS = ("chain", "draw")


def as_fit(
    idata: Any,
    table: FrameLike,
    model: str | os.PathLike[str] | ModelSpec = DEFAULT_MODEL,
    *,
    priors: Mapping[str, Any] | None = None,
    change: str = "",
    random_seed: int | None = None,
) -> "xr.DataTree":
    """Return a fit from draws that you sampled, which `summary`, `contrasts`, `conclusions` and pages take.

    Parameters
    ----------
    idata
        What ``pm.sample`` returned for the model of `pymc_model`, or for one that you made from it: a DataTree, or an
        object with the group `posterior` as attribute. Its groups `sample_stats`, `log_likelihood`,
        `posterior_predictive`, `prior` and `prior_predictive` are kept.
    table
        The distance table that the model was made for.
    model, priors
        Model that was sampled, or that yours was made from, as for `pymc_model`.
    change
        What your model has that `model` has not, in a few words, such as ``"a slope on log frequency"``: reports say
        it. Needed if the posterior has further variables; give it for any other change too, which no variable shows.
    random_seed
        Seed of the draws, to be recorded. None: a number made from the draws, for what reports draw at random.

    Returns
    -------
    xarray.DataTree
        The fit, as from `fit`. Its posterior has the model's parameters (`word_mean` with the dims protected_word and
        connection, `connection_mean`, and those of its priors), then your further variables. Reports that need the
        density of the model, or fits of parts of the table, leave out a model that was changed.

    Raises
    ------
    FitError, ArgumentError
        If `idata` has no posterior, its distances or words are not those of the table, a parameter is missing, has
        other dims or is not finite, or further variables have no `change` that explains them. All faults are listed.

    Warns
    -----
    ConvergenceWarning
        If R-hat, effective draws or divergences show that the draws cannot be trusted.

    Examples
    --------
    >>> draws = bb.fit(table, "hierarchical", draws=1000, random_seed=1)  # stands for what pm.sample returns
    >>> fit = bb.as_fit(draws, table, "hierarchical", change="none: an example")
    >>> bb.summary(fit, level="overall")["mean"].head(2).round(2).tolist()
    [0.93, 0.94]
    """
    frame = as_frame(table)
    chosen_seed = None if random_seed is None else resolve_seed(random_seed)
    change = check_type("change", change, str, "a text").strip().rstrip(".")
    whole = model_data(frame)
    spec = in_unit(load_model(model, priors=priors), whole.scale)
    not_compared = groups_not_compared(whole)
    data = whole if spec.multivariate else compared_part(whole)
    if data is not whole:
        frame = frame[whole.compared[whole.protected]]
    groups = _groups(idata)
    posterior = groups["posterior"].drop_vars(_INTERNAL, errors="ignore")
    if COVARIANCES in groups:  # of a fit of this package
        posterior = posterior.merge(groups[COVARIANCES], join="exact")
    faults = [*_table_faults(groups, data), *_draws_faults(posterior, data, spec)]
    raise_faults(FitError, "idata", faults)
    posterior = posterior.assign({name: posterior[name].transpose(*dims) for name, dims in _dims(data, spec).items()})
    of_model = own_parameters(data, spec)
    further = [str(name) for name in posterior.data_vars if name not in of_model]
    if further and not change:
        raise FitError(
            f"The posterior has {name_some(further)}, which the model {spec.name!r} has not. Say what you changed: "
            'change="a slope on log frequency".'
        )
    parameters = posterior[[*(name for name in PARAMETERS if name in of_model & set(posterior)), *further]].drop_attrs()
    seed = _seed_of(parameters) if chosen_seed is None else chosen_seed
    if spec.multivariate:
        parameters = _with_words(parameters, data, spec, seed)
    if change:
        caution = (
            f"The model was changed by hand: {change}. Means and contrasts are those of its parameters: where a "
            f"predictor was added, they hold at its value 0. {spec.caution}"
        )
        spec = replace(spec, name=f"{spec.name} (changed)", caution=caution.strip())
    settings = {
        "sampler": USER,
        "draws": parameters.sizes["draw"],
        "tune": _tuning_steps(posterior),
        "chains": parameters.sizes["chain"],
        "random_seed": seed,
        "groups_not_compared": not_compared,
        "sampled_by": _library(posterior) + ("" if random_seed is None else f", with the seed {seed}"),
        "change": change,
    }
    import xarray as xr

    stats = groups.get("sample_stats", xr.Dataset()).drop_vars(_OF_INDEPENDENT, errors="ignore")
    fitted = finish_fit(parameters, stats, data, spec, frame, settings=settings)
    column = data.measure.column
    for name in EXTRA_GROUPS:
        if name in groups:
            group = groups[name].drop_attrs()
            fitted[name] = xr.DataTree(labelled_group(group[[column]] if column in group else group))
    warn_of_problems(judge_fit(fitted))
    return fitted


def _groups(idata: Any) -> "dict[str, xr.Dataset]":
    """Return the groups of what a sampler returned, as datasets."""
    names = ("posterior", COVARIANCES, "sample_stats", "observed_data", *EXTRA_GROUPS)
    if not hasattr(idata, "posterior"):
        raise FitError(
            f"idata: draws have the group posterior, which this {type(idata).__name__} lacks. Give what pm.sample "
            "returned."
        )
    parts = {name: getattr(idata, name) for name in names if hasattr(idata, name)}
    return {name: part.to_dataset() if hasattr(part, "to_dataset") else part for name, part in parts.items()}


def _table_faults(groups: "Mapping[str, xr.Dataset]", data: ModelData) -> Iterator[str]:
    """Yield the differences between the observed distances and those of the table."""
    name = data.measure.column
    observed = groups["observed_data"].get(name) if "observed_data" in groups else None
    if observed is None:
        yield f"It has no observed {name}: add the likelihood by this name, with observed=model['distance']."
        return
    distances = observed.to_numpy()
    if distances.shape != data.distance.shape:
        yield f"It was sampled for {distances.size:,} pairs, and the table has {len(data.distance):,}."
    elif (place := np.flatnonzero(distances != data.distance)).size:
        protected = str(data.protected_words[data.protected[place[0]]])
        attribute = str(data.attribute_words[data.attribute[place[0]]])
        there, here = (f"{values[place[0]]:.6g}" for values in (distances, data.distance))
        yield (
            f"It was sampled for another table, or its rows had another order: pair {place[0] + 1:,} of the table, "
            f"{protected!r} and {attribute!r}, has the distance {there} there and {here} here. Give the table that "
            "bb.pymc_model got."
        )


def _dims(data: ModelData, spec: ModelSpec) -> dict[str, tuple[str, ...]]:
    """Return the dims of each parameter that NUTS draws."""
    shapes = posterior_shapes(data, spec, sampled=True)
    return {name: (*_CHAINS, *PARAMETERS[name][: len(shape)]) for name, shape in shapes.items()}


def _draws_faults(posterior: "xr.Dataset", data: ModelData, spec: ModelSpec) -> Iterator[str]:
    """Yield the parameters that are missing, have other dims or labels, or are not finite."""
    labels, wanted = coordinates(data, spec), _dims(data, spec)
    if missing := [name for name in wanted if name not in posterior]:
        yield (
            f"Its posterior has no {', '.join(missing)}; it has {name_some(map(str, posterior.data_vars))}. Keep them "
            "by their names, in the model and in var_names of pm.sample; or give the model that the draws are of, if "
            f"it is not {spec.name!r}."
        )
    for name, dims in wanted.items():
        if name in posterior and set(posterior[name].dims) != set(dims):
            yield f"Its {name} has the dims {', '.join(map(str, posterior[name].dims))}, not {', '.join(dims)}."
    for variable, values in posterior.data_vars.items():
        if "/" in str(variable):
            yield f"Its {variable} has a slash in its name, as no variable of a fit may have. Rename it."
        if values.dtype.kind not in "fiub" or not np.isfinite(values.to_numpy()).all():
            yield f"Its {variable} has values that are not finite numbers."
    for dim, names in labels.items():
        if dim in posterior.coords and posterior.coords[dim].to_numpy().tolist() != names.tolist():
            there, here = (name_some(texts, 3) for texts in (posterior.coords[dim].to_numpy().tolist(), names.tolist()))
            yield (
                f"Its {dim} has other labels than the table, or another order: {there} there and {here} here. Give the "
                "table that bb.pymc_model got."
            )


def _seed_of(posterior: "xr.Dataset") -> int:
    """Return a seed that is the same for the same draws."""
    digest = hashlib.sha256()
    for name, values in posterior.data_vars.items():
        digest.update(str(name).encode())
        digest.update(np.ascontiguousarray(values.to_numpy(), dtype=float).tobytes())
    return int.from_bytes(digest.digest()[:4], "little")


def _with_words(posterior: "xr.Dataset", data: ModelData, spec: ModelSpec, seed: int) -> "xr.Dataset":
    """Return draws of the multivariate model with the means of words and of words like these, which follow."""
    if "word_mean" in posterior:
        return posterior
    means = posterior["list_mean"].to_numpy()
    flat = means.reshape(-1, *means.shape[2:])
    drawn = with_population(flat, attribute_sample(data), spec.priors, data.connections, seed)
    words = draws_dataset(drawn, data, spec, means.shape[0])
    return posterior.assign({name: words[name].variable for name in words.data_vars}).assign_coords(words.coords)


def _tuning_steps(posterior: "xr.Dataset") -> int:
    steps = posterior.attrs.get("tuning_steps", 0)
    return check_count("tuning_steps", int(steps), least=0)


def _library(posterior: "xr.Dataset") -> str:
    """Return the program that sampled, with its version, as its draws name it."""
    name, version = (posterior.attrs.get(f"inference_library{part}") for part in ("", "_version"))
    return f"{name} {version}" if name and version else str(name or "a program that the draws do not name")
