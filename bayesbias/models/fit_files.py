"""The HDF5 file of a fit: what it is made of and must hold, checked before a number in it is used."""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import is_count, is_text, region_ends
from bayesbias.base.files.inputs import parse_json
from bayesbias.base.machine import check_memory
from bayesbias.errors import BayesBiasError, FitError, InputFileError, ModelError
from bayesbias.models.coordinates import COVARIANCES, coordinates, posterior_with_covariances
from bayesbias.models.data import ModelData, joined_names
from bayesbias.models.priors import parse_prior
from bayesbias.models.simulate import parameter_shapes
from bayesbias.models.spec import ModelSpec
from bayesbias.studies.study import CONNECTIONS
from bayesbias.tables.schema import provenance_faults
from bayesbias.tables.word_worths import recorded_links

if TYPE_CHECKING:
    import h5py
    import xarray as xr

USER = "user"
"""The name of the sampler of a fit whose draws the user sampled."""
GROUPS = ("posterior", "sample_stats", "observed_data", "constant_data")
EXTRA_GROUPS = ("log_likelihood", "log_prior", "posterior_predictive", "prior", "prior_predictive")
_INDICES = {
    "protected_index": "protected_word",
    "connection_index": "connection",
    "attribute_index": "attribute_word",
    "attribute_group_index": "attribute_group",
}
_DIMS: dict[str, dict[str, tuple[str, ...]]] = {
    "observed_data": {"cosine_distance": ("pair",)},
    "constant_data": {
        **dict.fromkeys(_INDICES, ("pair",)),
        **{dim: (dim,) for dim in _INDICES.values()},
        "protected_group": ("protected_word",),
        "pair_count": ("protected_word", "connection"),
    },
}
_CHAINS = ("chain", "draw")
# Parameters of some tables only: of several groups, of groups of several words, of several kinds of lists, and of few
# enough words to keep their covariance.
_MAY_LACK = (
    *("group_attribute_sd", "sigma", "residual_weight", "list_effect", "slope_sd", "list_scale"),
    "residual_covariance",
)
_COPIES = 3  # of the numbers in memory: the file, and what xarray makes of it
_NUMBER_BYTES = 8  # of the largest number
_LONGEST_NAME = 256  # bytes, of a dimension
_MOST_TEXTS = 100  # in one attribute
_ADDRESS = 8  # bytes of an address or a length in the file
_NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
# Those of variables that begin with an underscore; others tell libraries how to decode.
_OF_NETCDF = (b"_FillValue", b"_Netcdf4Coordinates", b"_Netcdf4Dimid")

# What follows from the means of lists, for words like these.
_OF_LIKE_THESE = ("connection_mean", "word_sd", "effect_sd", "word_mean", "word_covariance")


def stored_model(stored: dict[str, Any]) -> ModelSpec:
    """Return the model of a fit from its stored texts."""
    return ModelSpec(**{**stored, "priors": {name: parse_prior(prior) for name, prior in stored["priors"].items()}})


def stored_rows(fit: "xr.DataTree") -> ModelData:
    """Return the rows of a fit, as arrays."""
    constant = fit["constant_data"].to_dataset()
    covariates, facts = constant.get("covariate_value"), json.loads(fit.attrs["table"])
    protected_words, protected_groups = constant["protected_word"].to_numpy(), constant["protected_group"].to_numpy()
    attribute_words = constant["attribute_word"].to_numpy()
    lists_of_words = joined_names(
        constant["attribute_index"].to_numpy(),
        constant["attribute_group_index"].to_numpy(),
        constant["attribute_group"].to_numpy(),
        constant.sizes["attribute_word"],
    )
    names = () if covariates is None else tuple(map(str, constant["covariate"].to_numpy()))
    in_percent = np.ravel(constant.get("covariate_in_percent", ())).tolist()
    return ModelData(
        distance=fit["observed_data"]["cosine_distance"].to_numpy(),
        protected=constant["protected_index"].to_numpy(),
        connection=constant["connection_index"].to_numpy(),
        attribute=constant["attribute_index"].to_numpy(),
        protected_words=protected_words,
        protected_groups=protected_groups,
        attribute_words=attribute_words,
        connections=tuple(map(str, constant["connection"].to_numpy())),
        table_hash=json.loads(fit.attrs["table_hash"]),
        attribute_groups=lists_of_words,
        covariates=None if covariates is None else covariates.to_numpy(),
        covariate_names=names,
        percent_covariates=tuple(name for name, is_percent in zip(names, in_percent, strict=False) if is_percent),
        protected_links=recorded_links(facts, "protected", protected_words, protected_groups),
        attribute_links=recorded_links(facts, "attribute", attribute_words, lists_of_words),
    )


def is_users(fit: "xr.DataTree") -> bool:
    """Return whether the user sampled the draws of a fit (`as_fit`)."""
    return bool(fit.attrs.get("sampler") == json.dumps(USER))


def sampler_text(fit: "xr.DataTree") -> str:
    """Return what sampled a fit, with the seed, as in "sampler 'exact', seed 1"."""
    if is_users(fit):
        return f"sampled by {json.loads(fit.attrs['sampled_by'])}"
    return f"sampler {json.loads(fit.attrs['sampler'])!r}, seed {json.loads(fit.attrs['random_seed'])}"


def changed_by_hand(fit: "xr.DataTree") -> str:
    """Return what the user changed in the model of a fit, in a few words; empty for a model as it is."""
    return str(json.loads(fit.attrs.get("change", '""')))


def check_unchanged(fit: "xr.DataTree") -> None:
    """Raise a `FitError` if the user changed the model of a fit, so that its density is not known here."""
    if change := changed_by_hand(fit):
        raise FitError(
            f"The density of this fit's model is not known here, because it was changed by hand ({change}). Use the "
            "predictions and densities of PyMC."
        )


def content_faults(fit: "xr.DataTree") -> Iterator[str]:
    """Yield each missing or impossible part of a fit, as a sentence."""
    faults = [*_fact_faults(fit), *_variable_faults(fit)] or [*_place_faults(fit)]
    yield from faults
    if not faults:
        rows = stored_rows(fit)
        faults = list(_row_faults(fit, rows))
        yield from faults or _posterior_faults(fit, rows)


def _is_model(value: object) -> bool:
    try:
        spec = stored_model(value) if isinstance(value, dict) else None
        return spec is not None and _are_texts([spec.name, spec.description, spec.source, spec.caution, spec.avoid])
    except (ModelError, TypeError, KeyError, AttributeError):
        return False


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


# The description of each attribute, and its check.
_FACTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "versions": ("versions of packages", lambda value: isinstance(value, dict) and _are_texts(list(value.values()))),
    "model": ("a model", _is_model),
    "model_hash": ("a text", lambda value: isinstance(value, str)),
    "table_hash": ("a text", lambda value: isinstance(value, str)),
    "table": ("the provenance of a table", lambda value: not list(provenance_faults(value))),
    "sampler": ("a text", is_text),
    "draws": ("a count", is_count),
    "tune": ("a count", is_count),
    "chains": ("a count", is_count),
    "random_seed": ("a seed", lambda value: is_count(value) and value < 2**32),
    "convergence_problems": ("a list of texts", _are_texts),
    "groups_not_compared": ("texts", lambda value: isinstance(value, dict) and _are_texts([*value, *value.values()])),
}

_SOME_FACTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "sampled_by": ("a text", is_text),
    "change": ("a text", lambda value: isinstance(value, str)),
    "table_file": ("a text", is_text),
    "rope": ("a low and a high number", lambda value: isinstance(value, list) and region_ends(value) is not None),
    "covariates_source": ("a file and a column", lambda value: _are_texts(value) and len(value) in (1, 2)),
}


def _fact_faults(fit: "xr.DataTree") -> Iterator[str]:
    needed = {*fit.attrs, *(("sampled_by", "change") if is_users(fit) else ())}
    for name, (what, is_one) in (_FACTS | {name: _SOME_FACTS[name] for name in _SOME_FACTS if name in needed}).items():
        try:
            value = parse_json(fit.attrs[name])
        except (KeyError, TypeError, ValueError):
            yield f"The attribute {name} is absent or no JSON text."
            continue
        if not is_one(value):
            yield f"The attribute {name} is not {what}."


def _variable_faults(fit: "xr.DataTree") -> Iterator[str]:
    for group, variables in _DIMS.items():
        for name, dims in variables.items():
            if name not in fit[group].variables:
                yield f"{group} has no {name}."
            elif fit[group][name].dims != dims:
                yield f"{group}/{name} has the dims {fit[group][name].dims}, not {dims}."
            elif fit[group][name].size == 0:
                yield f"{group}/{name} is empty."
            elif name in _INDICES and fit[group][name].dtype.kind not in "iu":
                yield f"{group}/{name} holds no places."
    yield from _covariate_faults(fit["constant_data"].to_dataset())
    further = (name for name in (COVARIANCES, *EXTRA_GROUPS) if name in fit.children)
    for group in ("posterior", "observed_data", *further):
        for variable, values in fit[group].data_vars.items():
            if values.size == 0:
                yield f"{group}/{variable} is empty."
            elif not (values.dtype.kind in "fiu" and np.isfinite(values.to_numpy()).all()):
                yield f"{group}/{variable} holds numbers that are not finite."
    for variable, values in fit["sample_stats"].data_vars.items():
        if values.size == 0 or values.dtype.kind not in "fiub":
            yield f"sample_stats/{variable} holds no numbers."


def _covariate_faults(constant: "xr.Dataset") -> Iterator[str]:
    """Yield the faults of covariates, which few fits have."""
    if ("covariate_value" in constant) != ("covariate" in constant.variables):
        yield "constant_data has covariate_value without covariate, or the reverse."
    elif "covariate_value" in constant:
        values, names = constant["covariate_value"], constant["covariate"].to_numpy()
        if values.dims != (dims := ("protected_word", "covariate")):
            yield f"constant_data/covariate_value has the dims {values.dims}, not {dims}."
        elif values.dtype.kind != "f" or values.size == 0 or not np.isfinite(values.to_numpy()).all():
            yield "constant_data/covariate_value holds numbers that are not finite."
        if names.dtype.kind != "U" or not all(map(is_text, names.tolist())) or len(set(names.tolist())) < len(names):
            yield "constant_data/covariate is not made of different texts."


def _place_faults(fit: "xr.DataTree") -> Iterator[str]:
    """Yield the indices that lead to no word or list."""
    constant = fit["constant_data"].to_dataset()
    for index, dim in _INDICES.items():
        places = constant[index].to_numpy()
        if not 0 <= places.min() <= places.max() < constant.sizes[dim]:
            yield f"constant_data/{index} holds places that {dim} does not have."


def _counted(rows: ModelData) -> list[list[int]] | None:
    """Return the pairs of each word and connection, or None if positions are wrong, which is a fault of its own."""
    try:
        counts: list[list[int]] = rows.pair_counts.tolist()
    except (ValueError, IndexError, TypeError):
        return None
    return counts


def _row_faults(fit: "xr.DataTree", rows: ModelData) -> Iterator[str]:
    constant = fit["constant_data"].to_dataset()
    if len(rows.distance) != len(rows.protected):
        yield f"observed_data has {len(rows.distance)} pairs, and constant_data {len(rows.protected)}."
    for name in (*_INDICES.values(), "protected_group"):
        words = constant[name].to_numpy()
        if words.dtype.kind != "U" or not all(map(is_text, words.tolist())):
            yield f"constant_data/{name} is not made of texts."
        elif name != "protected_group" and len(set(words.tolist())) < len(words):
            yield f"constant_data/{name} names one twice."
    if constant["pair_count"].to_numpy().tolist() != _counted(rows):
        yield "constant_data/pair_count is not the number of pairs."
    if unknown := [name for name in rows.connections if name not in CONNECTIONS]:
        yield f"constant_data/connection has {unknown[0]!r}; known are {', '.join(CONNECTIONS)}."


def posterior_shapes(rows: ModelData, spec: ModelSpec, *, sampled: bool = False) -> dict[str, tuple[int, ...]]:
    """Return the shape of each parameter of a posterior, after chains and draws.

    If `sampled`, they are those that NUTS draws: not those that follow, nor those that some tables lack.
    """
    shapes = parameter_shapes(rows, spec)
    words = len(rows.protected_words)
    if spec.multivariate:
        lists = len(coordinates(rows, spec)["attribute_group"])
        shapes["list_mean"] = lists, words
        if sampled:
            return {name: shape for name, shape in shapes.items() if name not in (*_MAY_LACK, *_OF_LIKE_THESE)}
        shapes["word_covariance"] = (len(rows.connections),) * 2
        shapes["residual_covariance"] = lists, words, words
    elif spec.switches["attribute_effects"] != "none":
        shapes["attribute_effect"] = (len(rows.attribute_words),)
    shapes["word_mean"] = words, len(rows.connections)
    return shapes


def own_parameters(rows: ModelData, spec: ModelSpec) -> set[str]:
    """Return the names of the parameters that a posterior of a model can have, without those that a user adds."""
    names = {*posterior_shapes(rows, spec), *posterior_shapes(rows, spec, sampled=True)}
    return names | ({"attribute_weight"} if "nu" in spec.priors else set())


def added_parameters(fit: "xr.DataTree") -> list[str]:
    """Return the parameters of a fit that its model has not: the user added them."""
    if not is_users(fit):
        return []
    of_model = own_parameters(stored_rows(fit), stored_model(json.loads(fit.attrs["model"])))
    return [str(name) for name in fit["posterior"].data_vars if name not in of_model]


def _posterior_faults(fit: "xr.DataTree", rows: ModelData) -> Iterator[str]:
    try:
        spec = stored_model(json.loads(fit.attrs["model"]))
        labels, shapes = coordinates(rows, spec), posterior_shapes(rows, spec)
    except ModelError as error:
        yield f"The rows do not fit the model: {error}"
        return
    if faults := list(_covariance_faults(fit)):
        yield from faults
        return
    posterior = posterior_with_covariances(fit)
    for name, shape in shapes.items():
        if name not in posterior and not (spec.multivariate and name in _MAY_LACK):
            yield f"posterior has no {name}."
        elif name in posterior and (posterior[name].dims[:2], posterior[name].shape[2:]) != (_CHAINS, shape):
            yield f"posterior/{name} has the shape {posterior[name].shape}, not (chains, draws, {str(shape)[1:]}"
    for variable, draws in posterior.data_vars.items():
        if variable not in shapes and is_users(fit):
            if draws.dims[:2] != _CHAINS:
                yield f"posterior/{variable} has the dims {draws.dims}, which do not begin with chain and draw."
        elif unknown := [dim for dim in draws.dims[2:] if dim not in labels or dim not in posterior.coords]:
            yield f"posterior/{variable} has the dim {unknown[0]!r}, which this model lacks, or which has no labels."
    for dim, label in labels.items():
        if dim in posterior.coords and posterior.coords[dim].to_numpy().tolist() != label.tolist():
            yield f"posterior/{dim} has other labels than constant_data."


def _covariance_faults(fit: "xr.DataTree") -> Iterator[str]:
    """Yield the faults of the group of covariances beside the posterior, from which `posterior` leaves them out."""
    posterior = fit["posterior"].to_dataset()
    if "residual_covariance" in posterior:
        yield f"posterior has residual_covariance, whose group is {COVARIANCES}."
    elif COVARIANCES in fit.children:
        covariances = fit[COVARIANCES].to_dataset()
        if list(covariances.data_vars) != ["residual_covariance"]:
            yield f"{COVARIANCES} does not hold residual_covariance alone."
        elif differing := [
            str(dim)
            for dim in covariances.dims
            if dim not in covariances.coords
            or (dim in posterior.coords and not covariances.coords[dim].equals(posterior.coords[dim]))
        ]:
            yield f"{COVARIANCES} has other labels of {differing[0]} than posterior."


# How HDF5 stores a text of any length: its bytes, and their place.
_TEXT = np.dtype([("length", "<u4"), ("address", "<u8"), ("index", "<u4")])


@dataclass(frozen=True)
class _Size:
    """Bytes that a part of a file occupies in the file, and in memory beside a copy of the file."""

    stored: int
    memory: int = 0


class _UnfitError(FitError):
    """A part that no fit has."""


def check_storage(content: bytes, source: Path, advice: str) -> None:
    """Check that a file's content is HDF5 of the kind that `write_fit` writes, and that it fits into the memory.

    HDF5 can take numbers from other files, refer to an object many times, and declare more numbers than a file holds.
    `write_fit` uses none of this, so that it is refused: each object has one name, and all of its content lies in the
    file.

    `advice` ends the error of a file that is of another kind.

    Raises `InputFileError` if it is not HDF5, or damaged. Raises `FitError` if it has a group, a link, a type or a form
    of storage that no fit has, or declares more than it holds. Raises `NotEnoughMemoryError` if its numbers and texts
    do not fit into the memory.
    """
    try:
        total = _total(content)
    except _UnfitError as error:
        raise FitError(f"{source} is not a file of a fit: {error}. {advice}") from error
    except BayesBiasError:
        raise
    except Exception as error:  # h5py can raise anything on a damaged file
        raise unreadable(source, error) from error
    needed = _COPIES * total.stored + total.memory
    check_memory(needed, f"The numbers and texts of {source}", "Check whether it is the right file.")


def unreadable(source: Path, error: BaseException) -> InputFileError:
    """Return the error of a file that a library cannot read."""
    return InputFileError(f"{source} is not a netCDF file, or is cut short ({error}). Fit the model again.")


def _total(content: bytes) -> _Size:
    """Return the size of all parts of a file, whose parts are those of a fit."""
    import h5py

    total = _Size(0)
    with h5py.File(io.BytesIO(content), "r") as file:
        if file.id.get_create_plist().get_sizes() != (_ADDRESS, _ADDRESS) or _has_levels(content):
            raise _UnfitError("it has addresses or lists of names in another form")
        for size in _sizes(file.id, content):
            total = _Size(total.stored + size.stored, total.memory + size.memory)
            if total.stored > len(content):
                raise _UnfitError("it declares more numbers and texts than it holds")
    return total


def _sizes(root: "h5py.h5g.GroupID", content: bytes) -> Iterator[_Size]:
    """Yield the size of each part of a file; raise `_UnfitError` at the first part that no fit has."""
    import h5py

    addresses: set[int] = set()
    yield from _attribute_sizes(root, "the file", content)
    for name in _members(root, "", addresses):
        group = h5py.h5o.open(root, name)
        if name.decode("utf-8", "replace") not in (*GROUPS, COVARIANCES, *EXTRA_GROUPS) or not isinstance(
            group, h5py.h5g.GroupID
        ):
            raise _UnfitError(f"{_text(name)} is not a group of a fit")
        yield from _attribute_sizes(group, f"the group {_text(name)}", content)
        members = _members(group, f"{_text(name)}/", addresses)
        for variable in members:
            where = f"{_text(name)}/{_text(variable)}"
            dataset = h5py.h5o.open(group, variable)
            if not isinstance(dataset, h5py.h5d.DatasetID):
                raise _UnfitError(f"{where} is not a variable, and groups of a fit hold nothing else")
            yield from _attribute_sizes(dataset, where, content)
            yield _dataset_size(dataset, where, content)
            _check_dimensions(dataset, where, set(members.values()))


def _has_levels(content: bytes) -> bool:
    """Return whether a list of names has several levels, as of many names; HDF5 walks shared levels again and again."""
    first_child = 8 + 3 * _ADDRESS  # from the start of a level: a head, two neighbours and a key precede it
    mark = b"TREE\x00"
    start = content.find(mark)  # ten times as fast as a regular expression
    while start >= 0:
        child = content[start + first_child : start + first_child + _ADDRESS]
        # Numbers may look like the start of a level, but hardly with an address inside the file.
        if content[start + len(mark) : start + len(mark) + 1] > b"\x00" and int.from_bytes(child, "little") < len(
            content
        ):
            return True
        start = content.find(mark, start + 1)
    return False


def _members(group: "h5py.h5g.GroupID", where: str, addresses: set[int]) -> dict[bytes, int]:
    """Return the address of each member of a group, all of which are new, and add them to `addresses`."""
    import h5py

    index = _by_order(group.get_create_plist().get_link_creation_order())
    iterate = partial(group.links.iterate, idx_type=index, order=h5py.h5.ITER_NATIVE)
    members = {}
    for name in _distinct(iterate, group.get_num_objs()):
        link = group.links.get_info(name)
        if link.type != h5py.h5l.TYPE_HARD:
            raise _UnfitError(f"{where}{_text(name)} is a link to something else")
        if link.u in addresses:
            raise _UnfitError(f"{where}{_text(name)} is a second name of something")
        addresses.add(link.u)
        members[name] = link.u
    return members


def _distinct(iterate: Callable[[Callable[[bytes], bool | None]], object], count: int) -> list[bytes]:
    """Return the `count` names that an iteration of HDF5 gives; stop at one that comes twice, as in an endless one."""
    names: list[bytes] = []
    different: set[bytes] = set()

    def is_last(name: bytes) -> bool | None:
        names.append(name)
        different.add(name)
        return True if len(different) < len(names) else None

    iterate(is_last)
    if not len(names) == len(different) == count:
        raise _UnfitError("its lists of names are wrong")
    return names


def _by_order(creation_order: int) -> int:
    """Return the index in which h5py looks names up, given the order that a group or variable keeps."""
    import h5py

    return int(h5py.h5.INDEX_CRT_ORDER if creation_order & h5py.h5p.CRT_ORDER_TRACKED else h5py.h5.INDEX_NAME)


def _dataset_size(dataset: "h5py.h5d.DatasetID", where: str, content: bytes) -> _Size:
    """Return the size of a variable, whose type and storage are those of a fit."""
    import h5py

    stored_as = dataset.get_create_plist()
    is_plain = stored_as.get_layout() == h5py.h5d.CONTIGUOUS and not stored_as.get_nfilters()
    if not is_plain or stored_as.get_external_count():
        raise _UnfitError(f"{where} is not stored whole, uncompressed and in the file itself")
    kind, space = dataset.get_type(), dataset.get_space()
    if space.get_simple_extent_type() == h5py.h5s.NULL:
        raise _UnfitError(f"{where} is empty")
    _check_type(kind, where)
    count, offset = space.get_simple_extent_npoints(), dataset.get_offset()
    if not count:
        return _Size(0)
    if offset is None:
        # netCDF stores the length of a dimension without labels as a variable without numbers, which is not read.
        if h5py.h5ds.is_scale(dataset) and h5py.h5ds.get_scale_name(dataset).startswith(_NO_VARIABLE):
            return _Size(0)
        raise _UnfitError(f"{where} has no numbers")
    if not _is_any_length(kind):
        size = count * kind.get_size()
        return _Size(size, _memory_of_texts(1, size) if kind.get_class() == h5py.h5t.STRING else 0)
    if dataset.get_storage_size() != count * _TEXT.itemsize:
        raise _UnfitError(f"{where} has texts in a form that is not supported")
    lengths = np.frombuffer(content, _TEXT, count, offset)["length"]
    size = int(lengths.sum(dtype=np.int64)) + lengths.size * _TEXT.itemsize
    return _Size(size, _memory_of_texts(count, int(lengths.max())))


def _memory_of_texts(count: int, longest: int) -> int:
    """Return the bytes of an array of texts and of a copy: each takes the room of the longest, four bytes a letter."""
    return 2 * 4 * count * longest


def _attribute_sizes(owner: "h5py.h5g.GroupID | h5py.h5d.DatasetID", where: str, content: bytes) -> Iterator[_Size]:
    import h5py

    # References from variables to their dimensions and back, which netCDF stores.
    references = {b"DIMENSION_LIST": h5py.h5t.VLEN, b"REFERENCE_LIST": h5py.h5t.COMPOUND}
    index = _by_order(owner.get_create_plist().get_attr_creation_order())
    iterate = partial(h5py.h5a.iterate, owner, index_type=index, order=h5py.h5.ITER_NATIVE)
    for name in _distinct(iterate, h5py.h5a.get_num_attrs(owner)):
        attribute = h5py.h5a.open(owner, name)
        kind, count = attribute.get_type(), attribute.get_space().get_simple_extent_npoints()
        if isinstance(owner, h5py.h5d.DatasetID) and not _is_safe_for_dimensions(name, attribute, owner.rank):
            raise _UnfitError(f"the attribute {_text(name)} of {where} is not that of a dimension")
        if isinstance(owner, h5py.h5d.DatasetID) and name.startswith(b"_") and name not in _OF_NETCDF:
            raise _UnfitError(f"the attribute {_text(name)} of {where} is not one of a fit")
        if isinstance(owner, h5py.h5d.DatasetID) and references.get(name) == kind.get_class():
            yield _Size(attribute.get_storage_size())
            continue
        _check_type(kind, f"the attribute {_text(name)} of {where}")
        if not _is_any_length(kind):
            yield _Size(attribute.get_storage_size())
            continue
        if count > _MOST_TEXTS:
            raise _UnfitError(f"the attribute {_text(name)} of {where} has more than {_MOST_TEXTS} texts")
        if count > 1:  # texts are read all at once, and each may be as long as the file
            what = f"The texts of the attribute {_text(name)} of {where}"
            check_memory(count * len(content), what, "Check whether it is the right file.")
        texts = np.empty(attribute.shape, dtype=attribute.dtype)
        attribute.read(texts)
        yield _Size(attribute.get_storage_size() + sum(len(text or "") for text in texts.flat))


def _is_safe_for_dimensions(name: bytes, attribute: "h5py.h5a.AttrID", rank: int) -> bool:
    """Return whether an attribute of dimensions has the form that HDF5 takes for granted when it reads it.

    HDF5 writes past the end of its memory if a name is longer, or a list has more axes, than it expects.
    """
    import h5py

    kind, space = attribute.get_type(), attribute.get_space()
    if name in (b"CLASS", b"NAME"):
        is_text = kind.get_class() == h5py.h5t.STRING and not _is_any_length(kind)
        return is_text and kind.get_size() <= _LONGEST_NAME and space.get_simple_extent_type() == h5py.h5s.SCALAR
    if name == b"DIMENSION_LIST":
        is_list = kind.get_class() == h5py.h5t.VLEN and kind.get_super().equal(h5py.h5t.STD_REF_OBJ)
        return bool(is_list and space.shape == (rank,))
    return name != b"DIMENSION_LABELS"


def _check_type(kind: "h5py.h5t.TypeID", where: str) -> None:
    """Raise `_UnfitError` for any type but numbers and texts."""
    import h5py

    is_number = kind.get_class() in (h5py.h5t.INTEGER, h5py.h5t.FLOAT) and kind.get_size() <= _NUMBER_BYTES
    if not is_number and kind.get_class() != h5py.h5t.STRING:
        raise _UnfitError(f"{where} holds something other than numbers or texts")


def _is_any_length(kind: "h5py.h5t.TypeID") -> bool:
    import h5py

    return isinstance(kind, h5py.h5t.TypeStringID) and kind.is_variable_str()


def _check_dimensions(dataset: "h5py.h5d.DatasetID", where: str, addresses: set[int]) -> None:
    """Check that a variable is a dimension, or has one in its group, given by their `addresses`, for each axis."""
    import h5py

    if h5py.h5ds.is_scale(dataset):
        if dataset.rank != 1:
            raise _UnfitError(f"{where} is not the list of labels of a dimension")
        return
    for axis in range(dataset.rank):
        scales: list[h5py.h5d.DatasetID] = []
        if h5py.h5ds.get_num_scales(dataset, axis) == 1:
            h5py.h5ds.iterate(dataset, axis, scales.append)
        if [h5py.h5o.get_info(scale).addr in addresses for scale in scales] != [True]:
            raise _UnfitError(f"{where} does not have a dimension of its group on axis {axis}")


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")
