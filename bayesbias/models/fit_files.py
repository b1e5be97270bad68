"""The file of a fit: what it is made of and must hold, checked before a number in it is used."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import is_count, is_number, is_text, region_ends
from bayesbias.base.files.inputs import parse_json
from bayesbias.errors import FitError, ModelError
from bayesbias.models.coordinates import COVARIANCES, coordinates, posterior_with_covariances
from bayesbias.models.data import ModelData, joined_names
from bayesbias.models.priors import parse_prior
from bayesbias.models.scales import COSINE, Scale
from bayesbias.models.simulate import parameter_shapes
from bayesbias.models.spec import ModelSpec
from bayesbias.studies.study import CONNECTIONS
from bayesbias.tables.measures import LARGEST, measure_of
from bayesbias.tables.schema import provenance_faults
from bayesbias.tables.word_worths import recorded_links

if TYPE_CHECKING:
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
    "constant_data": {
        **dict.fromkeys(_INDICES, ("pair",)),
        **{dim: (dim,) for dim in _INDICES.values()},
        "protected_group": ("protected_word",),
        "pair_count": ("protected_word", "connection"),
    },
}
_CHAINS = ("chain", "draw")
# Parameters of some tables only: of several groups, of covariates, of groups of several words, of several kinds of
# lists, and of few enough words to keep their covariance.
_MAY_LACK = (
    *("group_attribute_sd", "covariate_attribute_sd", "sigma", "residual_weight", "list_effect", "slope_sd"),
    *("list_scale", "residual_covariance"),
)
# What follows from the means of lists, for words like these.
_OF_LIKE_THESE = ("connection_mean", "word_sd", "effect_sd", "word_mean", "word_covariance")


def stored_model(stored: dict[str, Any]) -> ModelSpec:
    """Return the model of a fit from its stored texts."""
    return ModelSpec(**{**stored, "priors": {name: parse_prior(prior) for name, prior in stored["priors"].items()}})


def stored_rows(fit: "xr.DataTree") -> ModelData:
    """Return the rows of a fit, as arrays."""
    constant = fit["constant_data"].to_dataset()
    covariates, facts = constant.get("covariate_value"), json.loads(fit.attrs["table"])
    measure = measure_of(facts)
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
        distance=fit["observed_data"][measure.column].to_numpy(),
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
        scale=stored_scale(fit),
        measure=measure,
    )


def stored_scale(fit: "xr.DataTree") -> Scale:
    """Return the scale of the numbers of a fit."""
    return Scale(*json.loads(fit.attrs["scale"])) if "scale" in fit.attrs else COSINE


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
    faults = list(_fact_faults(fit)) or [*_variable_faults(fit)] or [*_place_faults(fit)]
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


def _are_sentences(value: Any) -> bool:
    return _are_texts(value) and all(len(sentence.splitlines()) == 1 for sentence in value)


def _is_scale(value: Any) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2 and all(map(is_number, value))
    return is_pair and abs(value[0]) <= LARGEST and 0.01 / LARGEST <= value[1] <= 100 * LARGEST


_LONGEST_FACT = 8_000_000  # letters, those of a hundred thousand lost words: facts are parsed again and again
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
    "convergence_problems": ("a list of sentences", _are_sentences),
    "groups_not_compared": ("texts", lambda value: isinstance(value, dict) and _are_texts([*value, *value.values()])),
}

_SOME_FACTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "sampled_by": ("a text", is_text),
    "change": ("a text", lambda value: isinstance(value, str)),
    "table_file": ("a text", is_text),
    "scale": (f"two numbers, up to {LARGEST:g}, the second above 0", _is_scale),
    "hdi_prob": ("a probability", lambda value: is_number(value) and 0 < value < 1),
    "rope": ("a low and a high number", lambda value: isinstance(value, list) and region_ends(value) is not None),
    "covariates_source": ("a file and columns", lambda value: _are_texts(value) and len(value) > 0),
}


def _fact_faults(fit: "xr.DataTree") -> Iterator[str]:
    needed = {*fit.attrs, *(("sampled_by", "change") if is_users(fit) else ())}
    for name, (what, is_one) in (_FACTS | {name: _SOME_FACTS[name] for name in _SOME_FACTS if name in needed}).items():
        try:
            if len(fit.attrs[name]) > _LONGEST_FACT:
                yield f"The attribute {name} has more than {_LONGEST_FACT:,} letters."
                continue
            value = parse_json(fit.attrs[name])
        except (KeyError, TypeError, ValueError):
            yield f"The attribute {name} is absent or no JSON text."
            continue
        if not is_one(value):
            yield f"The attribute {name} is not {what}."


def _variable_faults(fit: "xr.DataTree") -> Iterator[str]:
    measure = measure_of(json.loads(fit.attrs["table"]))
    column = measure.column
    if measure.is_bounded == ("scale" in fit.attrs):
        yield f"The attribute scale is {'not for' if measure.is_bounded else 'absent, for'} a {measure.name}."
    for group, variables in (_DIMS | {"observed_data": {column: ("pair",)}}).items():
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
        elif unknown := [dim for dim in draws.dims[2:] if dim not in labels or dim not in posterior.indexes]:
            yield f"posterior/{variable} has the dim {unknown[0]!r}, which this model lacks, or which has no labels."
    for dim, label in labels.items():
        if dim in posterior.indexes and posterior.indexes[dim].to_numpy().tolist() != label.tolist():
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
