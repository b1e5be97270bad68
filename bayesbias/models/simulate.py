"""Distance tables simulated from a model: for calibration, coverage and planning."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.checks import check_type, resolve_seed
from bayesbias.errors import ModelError, TableError, did_you_mean
from bayesbias.models.coordinates import PARAMETERS, coordinates
from bayesbias.models.data import ModelData, attribute_lists, list_kinds, model_data
from bayesbias.models.multivariate.prior_draws import MEAN_PRIOR, draw_means_and_covariances, draw_vectors, row_sds
from bayesbias.models.scales import COSINE
from bayesbias.models.spec import ModelSpec, load_model, needed_priors, prior_name, renamed_or_similar
from bayesbias.models.units import in_unit, scaled_prior
from bayesbias.tables.schema import FrameLike, as_frame, validate_table, with_provenance
from bayesbias.tables.word_worths import KEY as DEPENDENT_WORDS

_PAIR = ["protected_word", "attribute_word"]


def simulate_table(
    design_or_table: FrameLike,
    model: str | os.PathLike[str] | ModelSpec = "crossed",
    *,
    parameters: Mapping[str, Any] | None = None,
    random_seed: int | None = None,
) -> pd.DataFrame:
    """Return a distance table with the pairs of another table and distances simulated from a model.

    Parameters
    ----------
    design_or_table
        A distance table, or a frame with its columns of words and `connection` only; its distances are not used, and
        repeated pairs are dropped.
    model
        A name of `list_models`, the path of a TOML file, or a `ModelSpec`.
    parameters
        True values of the model's `connection_mean`, `word_sd`, `sigma`, `attribute_sd` and `nu`. Each is one number,
        one number for each connection of the table in the schema's order (for each kind of list for the `attribute_sd`
        of ``"crossed_per_list"``), or a mapping from their names to numbers. Absent ones are drawn from their priors.
        Word means and attribute effects are always drawn; without pooling, the word means are drawn given that their
        average is `connection_mean`.
    random_seed
        Seed, 0 to 2**32 - 1. The same seed gives the same table on the same machine. None draws a seed and records it.

    Returns
    -------
    pandas.DataFrame
        A distance table. Its distances may lie outside 0 to 2: ``table.attrs["bayesbias"]["simulated"]`` is True, which
        allows this in `fit` and `write_table`. Also there are `model`, `model_hash`, `random_seed` and the true
        `parameters`.

    Raises
    ------
    TableError
        If the pairs break the schema.
    ModelError
        If the model cannot be used, or a parameter is unknown, of the wrong length, or impossible.
    ArgumentError
        If the seed cannot be used.
    FitError
        If an attribute word is in several lists and the model needs a single one.

    References
    ----------
    Talts, Betancourt, Simpson, Vehtari and Gelman (2018), Validating Bayesian inference algorithms with
    simulation-based calibration.

    Examples
    --------
    >>> simulated = bb.models.simulate_table(table, "crossed", parameters={"attribute_sd": 0.05}, random_seed=1)
    >>> simulated["attribute_word"].equals(table["attribute_word"])
    True
    >>> simulated.attrs["bayesbias"]["parameters"]["attribute_sd"]
    0.05
    """
    design_or_table = as_frame(design_or_table)
    seed = resolve_seed(random_seed)
    if not isinstance(design_or_table, pd.DataFrame):
        raise TableError(
            f"A design is a distance table (a pandas DataFrame), not {type(design_or_table).__name__}. Make one with "
            "bb.distance_table or bb.read_table."
        )
    spec = in_unit(load_model(model), COSINE)
    design = design_or_table.drop(columns=["cosine_distance", "cosine_similarity"], errors="ignore")
    if set(_PAIR) <= set(design.columns):
        design = design.drop_duplicates([name for name in (*_PAIR, "connection") if name in design])
    design = design.reset_index(drop=True)
    design.attrs = {}
    # Placeholders that pass every check, until the true distances are drawn.
    design["cosine_distance"] = np.linspace(0.5, 1.5, len(design))
    design = validate_table(design)
    data = model_data(design)
    rng = np.random.default_rng(seed)
    true = draw_parameters(data, spec, rng=rng, given=given_parameters(data, spec, parameters or {}))
    design["cosine_distance"] = draw_distances(data, spec, true, rng=rng)
    design["cosine_similarity"] = 1.0 - design["cosine_distance"]
    facts = {
        "simulated": True,
        "model": spec.name,
        "model_hash": spec.digest,
        "random_seed": seed,
        DEPENDENT_WORDS: {"measured": "simulated", "lists": []},
        "parameters": {
            name: dict(zip(names, true[name].tolist(), strict=True)) if names else float(true[name])
            for name, names in parameter_labels(data, spec).items()
        },
    }
    return with_provenance(design, facts)


def draw_parameters(
    data: ModelData, spec: ModelSpec, *, rng: np.random.Generator, given: Mapping[str, np.ndarray] | None = None
) -> dict[str, np.ndarray]:
    """Draw the parameters of a model that are not given from its prior; distances of `data` are not used.

    `given` has values of top-level parameters, in the shapes of `given_parameters`. The result has the names and shapes
    of one posterior draw: `connection_mean`, `word_sd`, `sigma` (connections,) or () if it is common, `word_mean`
    (protected words, connections), `attribute_sd` () or (lists,), `attribute_effect` (attribute words,), `nu` (). A
    multivariate model also has `effect_sd` (effects,), the scales of its priors, `word_covariance`, `list_mean` and
    `residual_covariance`; its means, whose prior is flat, are drawn from Normal(1, 0.3). Without pooling, a given
    `connection_mean` is a `ModelError` if its prior is not Normal.
    """
    given, priors = given or {}, spec.priors
    mean_prior = scaled_prior(MEAN_PRIOR, data.scale, is_mean=True)
    shapes = parameter_shapes(data, spec)
    words, count = len(data.protected_words), len(data.connections)
    partial = spec.switches["pooling"] == "partial"
    drawn: dict[str, np.ndarray] = {}
    for name, shape in shapes.items():
        if name in given:
            drawn[name] = np.asarray(given[name], dtype=float)
        elif spec.switches["pooling"] != "none" or name != "connection_mean":
            drawn[name] = priors.get(prior_name(name), mean_prior).draw(shape, rng).reshape(shape)
    if spec.multivariate:
        one = {name: np.asarray(values)[None] for name, values in drawn.items()}
        drawn |= {name: values[0] for name, values in draw_means_and_covariances(data, one, rng=rng).items()}
    elif partial:
        drawn["word_mean"] = drawn["connection_mean"] + drawn["word_sd"] * rng.standard_normal((words, count))
    else:
        word_mean = priors["connection_mean"].draw((words, count), rng)
        share = data.pair_counts > 0
        average = (word_mean * share).sum(axis=0) / share.sum(axis=0)
        if "connection_mean" in given:
            if priors["connection_mean"].distribution != "Normal":
                raise ModelError(
                    f"Without pooling, connection_mean can be given only if its prior is Normal, not "
                    f"{priors['connection_mean']}. Leave it out."
                )
            # Independent Normal numbers given their average are Normal numbers shifted to it.
            word_mean = np.where(share, word_mean + drawn["connection_mean"] - average, word_mean)
        else:
            drawn["connection_mean"] = average
        drawn["word_mean"] = word_mean
    if "attribute_sd" in drawn and not spec.multivariate:
        sd = drawn["attribute_sd"]
        of_word = sd[attribute_lists(data)] if sd.ndim else sd
        drawn["attribute_effect"] = of_word * rng.standard_normal(len(data.attribute_words))
    return drawn


def draw_distances(
    data: ModelData, spec: ModelSpec, parameters: Mapping[str, np.ndarray], *, rng: np.random.Generator
) -> np.ndarray:
    """Draw a distance for each row of `data`, given all parameters in the form of `draw_parameters`."""
    mean, sigma = row_moments(data, parameters)
    if spec.multivariate:
        return np.asarray(mean + draw_vectors(data, spec, parameters, rng=rng))
    distance: np.ndarray = mean + sigma * rng.standard_normal(len(mean))
    return distance


def row_moments(data: ModelData, parameters: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and scale of each row's distance given all parameters, in the form of `draw_parameters`.

    They may have a leading axis of draws.
    """
    mean = parameters["word_mean"][..., data.protected, data.connection]
    if "residual_covariance" in parameters:
        return mean, row_sds(data, parameters["residual_covariance"])
    if "attribute_effect" in parameters:
        mean = mean + parameters["attribute_effect"][..., data.attribute]
    return mean, parameters["sigma"][..., data.connection]


def parameter_shapes(data: ModelData, spec: ModelSpec) -> dict[str, tuple[int, ...]]:
    """Return the top-level parameters of a model and their shapes for these data."""
    named = parameter_labels(data, spec)
    shapes: dict[str, tuple[int, ...]] = {name: (len(names),) if names else () for name, names in named.items()}
    if spec.multivariate and data.covariates is not None:
        labels, name = coordinates(data, spec), "covariate_attribute_sd"
        shapes[name] = tuple(len(labels[dim]) for dim in PARAMETERS[name])
    return shapes


def given_parameters(data: ModelData, spec: ModelSpec, parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return a user's values of top-level parameters as arrays of `parameter_shapes`.

    Raises a `ModelError` if a parameter is unknown, of the wrong length, or impossible.
    """
    check_type("parameters", parameters, Mapping, "a mapping of parameters to their values")
    places = parameter_labels(data, spec)
    arrays = {}
    for name, value in parameters.items():
        if name not in places:
            raise ModelError(
                f"The model {spec.name!r} has no parameter {name!r}{renamed_or_similar(str(name), places)}; "
                f"its parameters are {', '.join(places)}."
            )
        array = _array(name, value, places[name])
        wanted = {"connection_mean": "", "nu": " that are positive"}.get(name, " of at least 0")
        too_low = (wanted and (array < 0).any()) or (name == "nu" and (array <= 0).any())
        if not np.isfinite(array).all() or too_low:
            raise ModelError(f"{name}={value!r}: give finite numbers{wanted}.")
        arrays[name] = array
    return arrays


def parameter_labels(data: ModelData, spec: ModelSpec) -> dict[str, tuple[str, ...]]:
    """Return the top-level parameters of a model and the names of each one's values; () for a single number."""
    parameters = tuple(needed_priors(spec.switches))
    if spec.multivariate:
        labels = {dim: tuple(names.tolist()) for dim, names in coordinates(data, spec).items()}
        # With one kind of lists there is no relative scale.
        dims = {name: PARAMETERS[name] for name in ("connection_mean", *parameters)}
        dims |= {"sigma": ()}
        return {name: labels[dim[0]] if dim else () for name, dim in dims.items() if not dim or labels[dim[0]]}
    places = dict.fromkeys(parameters, data.connections)
    if "attribute_sd" in places:
        places["attribute_sd"] = list_kinds(data) if spec.switches["attribute_effects"] == "per_list" else ()
    return places


def _array(name: str, value: Any, places: tuple[str, ...]) -> np.ndarray:
    if isinstance(value, Mapping):
        if not places:
            raise ModelError(f"{name}={dict(value)!r}: {name} is one number in this model.")
        for key in value:
            if key not in places:
                hint = did_you_mean(str(key), places)
                raise ModelError(f"{name} has no value for {key!r}{hint}; it has one for {', '.join(places)}.")
        missing = [place for place in places if place not in value]
        if missing:
            raise ModelError(f"{name} lacks a value for {', '.join(missing)}.")
        value = [value[place] for place in places]
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{name}={value!r} is neither a number nor a list of numbers.") from error
    if array.ndim == 0 or (array.shape == (1,) and not places):
        return np.full(len(places), float(array)) if places else array.reshape(())
    if array.shape != (len(places),):
        wanted = f"{len(places)} numbers, for {', '.join(places)}" if places else "one number"
        raise ModelError(f"{name}={value!r}: give one number" + (f" or {wanted}." if places else "."))
    return array
