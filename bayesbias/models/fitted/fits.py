"""The fit: one DataTree for every sampler; how it is completed, checked, read and written."""

import io
import json
import os
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.base.checks import check_choice
from bayesbias.base.files.contents import open_input
from bayesbias.base.files.inputs import check_seal, input_file, sealed
from bayesbias.base.files.outputs import atomic_path, check_output
from bayesbias.base.machine.memory import check_memory
from bayesbias.errors import FitError, raise_faults
from bayesbias.models.data import ModelData
from bayesbias.models.fitted.fit_content import GROUPS, content_faults
from bayesbias.models.fitted.fit_storage import check_storage, unreadable
from bayesbias.models.numerics.diagnostics import convergence_problems, warn_of_problems
from bayesbias.models.spec import RENAMED, ModelSpec
from bayesbias.tables.codes import code_words
from bayesbias.tables.schema import provenance

if TYPE_CHECKING:
    import xarray as xr

_PACKAGES = ("bayesbias", "pymc", "pytensor", "nutpie", "arviz", "numpy", "pandas", "xarray")

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
    draws, tuning steps and chains, the seed, and the groups that are in no contrast.
    """
    import xarray as xr

    stats = {_THEIR_NAMES.get(str(name), str(name)): values for name, values in sampler_stats.data_vars.items()}
    # A word can be in several lists, so that lists are stored by row; without lists, connections stand for them.
    lists = code_words(table["attribute_group" if "attribute_group" in table else "connection"]).by_appearance()
    observed = xr.Dataset({"cosine_distance": ("pair", data.distance)})
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
    children = {
        "posterior": _plain_coords(posterior),
        "sample_stats": xr.Dataset({name: stats[name] for name in _SAMPLE_STATS if name in stats}),
        "observed_data": observed,
        "constant_data": constant,
    }
    fit = xr.DataTree(children={name: xr.DataTree(labelled_group(child)) for name, child in children.items()})
    facts = {
        "versions": _versions(),
        "model": spec.to_dict(),
        "model_hash": spec.digest,
        "table_hash": data.table_hash,
        "table": provenance(table, current_hash=data.table_hash),
        **settings,
        "convergence_problems": [],
    }
    # netCDF attributes hold neither dicts nor bools: every fact is a JSON text.
    fit.attrs = {name: json.dumps(value, ensure_ascii=False) for name, value in facts.items()}
    return fit


@cache
def _versions() -> dict[str, str]:
    return {name: version(name) for name in _PACKAGES}


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
        ``"draws"``, ``"tune"``, ``"chains"``, ``"random_seed"`` or ``"convergence_problems"``.

    Raises
    ------
    FitError
        If the tree is not a fit of this package.
    """
    facts = check_fit(fit).attrs
    return json.loads(facts[check_choice("name", name, map(str, facts))])


def check_fit(fit: Any) -> "xr.DataTree":
    """Return `fit` if it is a fit of this package; raise a `FitError` that names its missing parts otherwise."""
    import xarray as xr

    if not isinstance(fit, xr.DataTree):
        raise FitError(f"A fit is the DataTree that bb.fit returns, not {type(fit).__name__}.")
    missing = [name for name in GROUPS if name not in fit.children]
    missing += [f"attribute {name}" for name in ("model", "sampler", "random_seed") if name not in fit.attrs]
    if missing:
        raise FitError(f"This DataTree is not a fit of bayesbias: it has no {', no '.join(missing)}. Use bb.fit.")
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

    source = input_file(path)
    check_memory(source.stat().st_size, f"{source}", "Check whether it is the right file.")
    with open_input(source) as stream:
        content = stream.read()
    check_seal(source, content)
    check_storage(content, source, "Give a file as bb.write_fit wrote it.")
    # A fit holds neither times nor missing numbers; xarray would warn of odd descriptions of them.
    plain: dict[str, Any] = {"mask_and_scale": False, "decode_times": False, "decode_timedelta": False}
    try:
        with xr.open_datatree(io.BytesIO(content), engine="h5netcdf", **plain) as tree:
            fit = tree.load().copy(deep=True)
        for name in ("posterior", "constant_data", "prior"):
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
