"""What studies of another size are simulated from: a fit, or assumed values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbias.arguments import check_choice, check_count, check_number
from bayesbias.errors import ReportError, did_you_mean
from bayesbias.models.data import list_kind
from bayesbias.models.fit_source import fitted_model
from bayesbias.models.quick import sampler_for
from bayesbias.models.spec import ModelSpec, load_model, renamed_or_similar
from bayesbias.studies import CONNECTIONS

_ASSUMED = ("connection_mean", "word_sd", "sigma", "attribute_sd", "protected_groups", "controls")


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """What studies are simulated from; the leading axis of each array: draws of the parameters.

    Parameters
    ----------
    spec
        The model that is fitted, with its caution.
    connections : tuple of str
    connection_mean, word_sd, sigma : arrays, shape (draws, connections)
    attribute_sd : array, shape (draws, connections)
        0 without attribute effects.
    groups
        Number of protected groups.
    controls : dict
        Words of each control list; those absent have as many as an attribute list.
    """

    spec: ModelSpec
    connections: tuple[str, ...]
    connection_mean: np.ndarray
    word_sd: np.ndarray
    sigma: np.ndarray
    attribute_sd: np.ndarray
    groups: int
    controls: dict[str, int]

    def lists(self, attributes: int) -> Iterator[tuple[str, int, int]]:
        """Yield kind, protected group (-1: none) and number of words of each attribute list."""
        stereotypes = [name for name in ("associated", "different") if name in self.connections]
        if self.groups == 1:
            for name in stereotypes:
                yield name, 0, attributes
        elif stereotypes:
            for group in range(self.groups):
                yield "stereotype", group, attributes
        for control in ("human", "neutral"):
            if control in self.connections:
                yield control, -1, self.controls.get(control, attributes)


def plan_from_fit(fit: Any) -> StudyPlan:
    """Return the plan that the posterior of a fit describes."""
    spec = fitted_model(fit)
    _check_spec(spec)
    posterior = fit["posterior"].to_dataset()
    connections = tuple(str(name) for name in posterior["connection"].values)
    stacked = posterior.stack(sample=("chain", "draw"))
    mean = stacked["connection_mean"].transpose("sample", "connection").to_numpy()

    def by_connection(name: str) -> np.ndarray:
        values = stacked[name]
        if "connection" in values.dims:
            return np.asarray(values.transpose("sample", "connection").to_numpy())
        return np.repeat(values.to_numpy()[:, None], len(connections), axis=1)

    attribute_sd = np.zeros_like(mean)
    if spec.switches["attribute_effects"] == "one":
        attribute_sd = np.repeat(stacked["attribute_sd"].to_numpy()[:, None], len(connections), axis=1)
    elif spec.switches["attribute_effects"] == "per_list":
        values = [stacked["attribute_sd"].sel(attribute_list=list_kind(name)).to_numpy() for name in connections]
        attribute_sd = np.stack(values, axis=-1)
    data = fit["constant_data"].to_dataset()
    words = {
        name: len(np.unique(data["attribute_index"].to_numpy()[data["connection_index"].to_numpy() == place]))
        for place, name in enumerate(str(name) for name in data["connection"].values)
    }
    return StudyPlan(
        spec=spec,
        connections=connections,
        connection_mean=mean,
        word_sd=by_connection("word_sd"),
        sigma=by_connection("sigma"),
        attribute_sd=attribute_sd,
        groups=len(np.unique(np.asarray(data["protected_group"], dtype=str))),
        controls={name: words[name] for name in ("human", "neutral") if name in words},
    )


def _check_spec(spec: ModelSpec) -> None:
    if sampler_for(spec) == "nuts":
        raise ReportError(
            f"The model {spec.name!r} is fitted by NUTS only, too slow to be fitted hundreds of times. Plan with a fit "
            "of 'crossed'."
        )
    if spec.switches["pooling"] != "partial":
        raise ReportError(
            f"The model {spec.name!r} has no word_sd, so it does not say how new protected words would differ. Plan "
            "with a fit of 'crossed'."
        )


def assumed_plan(values: Mapping[str, Any]) -> StudyPlan:
    """Return the plan that a mapping of parameter values describes."""
    for name in values:
        if name not in _ASSUMED:
            raise ReportError(
                f"An assumed model has no {name!r}{renamed_or_similar(str(name), _ASSUMED)}; it has "
                f"{', '.join(_ASSUMED)}."
            )
    if missing := [name for name in ("connection_mean", "word_sd", "sigma") if name not in values]:
        raise ReportError(f"The assumed model has no {', no '.join(missing)}. Give a number for each connection.")
    means = values["connection_mean"]
    if not isinstance(means, Mapping):
        raise ReportError(f"connection_mean={means!r}: give a mapping from connection to mean distance.")
    for name in means:
        if name not in CONNECTIONS:
            raise ReportError(
                f"connection_mean has an unknown connection {name!r}{did_you_mean(str(name), CONNECTIONS)}: known are "
                f"{', '.join(CONNECTIONS)}."
            )
    connections = tuple(name for name in CONNECTIONS if name in means)

    def numbers(name: str, keys: Sequence[str], *, zero: bool) -> np.ndarray:
        given = values[name]
        row = []
        for key in keys:
            if isinstance(given, Mapping) and key not in given:
                raise ReportError(f"{name} has no value for {key!r}; the assumed model has {', '.join(connections)}.")
            value = given[key] if isinstance(given, Mapping) else given
            row.append(check_number(f"{name} of {key!r}", value, low=0, high=2, above=not zero))
        return np.array([row])

    effects = values.get("attribute_sd", 0.0)
    per_list = isinstance(effects, Mapping)
    crossed = np.zeros((1, len(connections)))
    if "attribute_sd" in values:
        crossed = numbers("attribute_sd", [list_kind(name) for name in connections], zero=True)
    groups, controls = check_count("protected_groups", values.get("protected_groups", 2)), values.get("controls", {})
    if not isinstance(controls, Mapping):
        raise ReportError(f"controls={controls!r}: give a mapping from 'human' and 'neutral' to numbers of words.")
    for name, count in controls.items():
        check_choice("controls", name, ("human", "neutral"))
        check_count(f"controls of {name!r}", count)
    if groups > 1 and "different" in connections and "associated" not in connections:
        raise ReportError("The assumed model has 'different' without 'associated' words. Give both, or one group.")
    model = "crossed_per_list" if per_list else "crossed" if crossed.any() else "hierarchical"
    return StudyPlan(
        spec=load_model(model),
        connections=connections,
        connection_mean=numbers("connection_mean", connections, zero=True),
        word_sd=numbers("word_sd", connections, zero=True),
        sigma=numbers("sigma", connections, zero=False),
        attribute_sd=crossed,
        groups=groups,
        controls={name: int(count) for name, count in controls.items()},
    )
