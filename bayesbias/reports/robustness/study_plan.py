"""What studies of another size are simulated from: a fit, or assumed values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbias.base.checks import check_choice, check_count, check_number
from bayesbias.errors import ReportError
from bayesbias.models.data import list_kind
from bayesbias.models.fitted.fit_source import fitted_model, fitted_rows
from bayesbias.models.quick import sampler_for
from bayesbias.models.spec import ModelSpec, load_model, renamed_or_similar
from bayesbias.studies.study import CONNECTIONS

# What a multivariate fit says of new attribute and protected words, and what of it only some tables have.
_OF_VECTORS = (
    *("word_covariance", "attribute_sd", "group_attribute_sd", "target_weight"),
    *("sigma", "residual_weight", "slope_sd", "list_scale", "nu"),
)
_OF_SOME_TABLES = ("group_attribute_sd", "list_scale", "nu")
_ASSUMED = ("connection_mean", "word_sd", "sigma", "attribute_sd", "protected_groups", "controls")


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """What studies are simulated from; the leading axis of each array: draws of the parameters.

    `spec` is the model that is fitted, with its caution. `connection_mean`, `word_sd`, `sigma` and `attribute_sd` (0
    without attribute effects) have shape (draws, connections). `groups` is the number of protected groups, `controls`
    the words of each control list; those absent have as many as an attribute list. `vectors` are parameters of a
    multivariate model by name, used in place of `word_sd`, `sigma` and `attribute_sd`.
    """

    spec: ModelSpec
    connections: tuple[str, ...]
    connection_mean: np.ndarray
    word_sd: np.ndarray
    sigma: np.ndarray
    attribute_sd: np.ndarray
    groups: int
    controls: dict[str, int]
    vectors: Mapping[str, np.ndarray] | None = None

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
    if sampler_for(spec) == "nuts":
        raise ReportError(
            f"The model {spec.name!r} is fitted by NUTS only, too slow to be fitted hundreds of times. Plan with a fit "
            "of 'multivariate'."
        )
    if spec.switches["pooling"] == "none":
        raise ReportError(
            f"The model {spec.name!r} has no word_sd, so it does not say how new protected words would differ. Plan "
            "with a fit of 'multivariate'."
        )
    rows = fitted_rows(fit)
    stacked = fit["posterior"].to_dataset().stack(sample=("chain", "draw"))
    places = {"connection": rows.connections, "attribute_list": [list_kind(name) for name in rows.connections]}

    def by_connection(name: str) -> np.ndarray:
        values = stacked[name]
        if dim := next((dim for dim in places if dim in values.dims), None):
            return np.asarray(values.sel({dim: list(places[dim])}).transpose("sample", dim).to_numpy())
        return np.repeat(values.to_numpy()[:, None], len(rows.connections), axis=1)

    def of_vectors() -> dict[str, np.ndarray]:
        if missing := [name for name in _OF_VECTORS if name not in stacked and name not in _OF_SOME_TABLES]:
            raise ReportError(
                f"Each protected group of this fit is one word, so that it does not say how words of a group differ "
                f"({', '.join(missing)}). Plan with a fit of a study whose groups have several words."
            )
        values = {name: stacked[name].transpose("sample", ...).to_numpy() for name in _OF_VECTORS if name in stacked}
        return {"group_attribute_sd": np.zeros_like(values["attribute_sd"])} | values

    mean = by_connection("connection_mean")
    return StudyPlan(
        spec=spec,
        connections=rows.connections,
        connection_mean=mean,
        word_sd=by_connection("word_sd"),
        sigma=by_connection("sigma") if "sigma" in stacked else np.zeros_like(mean),
        attribute_sd=by_connection("attribute_sd") if "attribute_sd" in stacked else np.zeros_like(mean),
        groups=len(set(rows.protected_groups)),
        controls={
            name: len(np.unique(rows.attribute[rows.connection == place]))
            for place, name in enumerate(rows.connections)
            if name in ("human", "neutral")
        },
        vectors=of_vectors() if spec.multivariate else None,
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
        check_choice("connection_mean", name, CONNECTIONS)
    connections = tuple(name for name in CONNECTIONS if name in means)

    def numbers(name: str, keys: Sequence[str], *, above: bool = False) -> np.ndarray:
        given = values[name] if isinstance(values[name], Mapping) else dict.fromkeys(keys, values[name])
        if missing := [key for key in keys if key not in given]:
            raise ReportError(f"{name} has no value for {missing[0]!r}; the model has {', '.join(connections)}.")
        return np.array([[check_number(f"{name} of {key!r}", given[key], low=0, high=2, above=above) for key in keys]])

    per_list = isinstance(values.get("attribute_sd"), Mapping)
    crossed = np.zeros((1, len(connections)))
    if "attribute_sd" in values:
        crossed = numbers("attribute_sd", [list_kind(name) for name in connections])
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
        connection_mean=numbers("connection_mean", connections),
        word_sd=numbers("word_sd", connections),
        sigma=numbers("sigma", connections, above=True),
        attribute_sd=crossed,
        groups=groups,
        controls={name: int(count) for name, count in controls.items()},
    )
