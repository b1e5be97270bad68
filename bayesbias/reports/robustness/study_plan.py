"""Plans for simulated studies of other sizes, from a fit or from assumed values."""

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

# Parameters of a multivariate fit that describe new words, and those among them that only some tables have.
_VECTOR_PARAMETERS = (
    *("word_covariance", "attribute_sd", "group_attribute_sd", "target_weight"),
    *("sigma", "residual_weight", "slope_sd", "list_scale", "nu"),
)
_OPTIONAL_PARAMETERS = ("group_attribute_sd", "list_scale", "nu")
_ASSUMED = ("connection_mean", "word_sd", "sigma", "attribute_sd", "protected_groups", "controls")


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """Parameters that studies are simulated from; draws are the leading axis of each array.

    `spec` is the model to fit, with its caution. `connection_mean`, `word_sd`, `sigma` and `attribute_sd` (0 without
    attribute effects) have shape (draws, connections). `groups` is the number of protected groups, `controls` the
    number of words of each control list (by default as many as an attribute list has). `vectors` are parameters of a
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
        """Yield the kind, protected group (-1 for none) and number of words of each attribute list."""
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
    """Return the plan that the posterior of a fit describes, with the groups that are in its contrasts."""
    spec = fitted_model(fit)
    if sampler_for(spec) == "nuts":
        raise ReportError(
            f"The model {spec.name!r} is fitted by NUTS only, which is too slow for hundreds of fits. Plan with a fit "
            "of 'multivariate'."
        )
    if spec.switches["pooling"] == "none":
        raise ReportError(
            f"The model {spec.name!r} has no word_sd, so it does not describe new protected words. Plan with a fit of "
            "'multivariate'."
        )
    rows = fitted_rows(fit)
    stacked = fit["posterior"].to_dataset().stack(sample=("chain", "draw"))
    places = {"connection": rows.connections, "attribute_list": [list_kind(name) for name in rows.connections]}

    def by_connection(name: str) -> np.ndarray:
        values = stacked[name]
        if dim := next((dim for dim in places if dim in values.dims), None):
            return np.asarray(values.sel({dim: list(places[dim])}).transpose("sample", dim).to_numpy())
        return np.repeat(values.to_numpy()[:, None], len(rows.connections), axis=1)

    def vector_parameters() -> dict[str, np.ndarray]:
        if missing := [name for name in _VECTOR_PARAMETERS if name not in stacked and name not in _OPTIONAL_PARAMETERS]:
            raise ReportError(
                f"Each protected group of this fit has one word, so parameters of words within a group are missing: "
                f"{', '.join(missing)}. Plan with a fit of a study whose groups have several words."
            )
        values = {
            name: stacked[name].transpose("sample", ...).to_numpy() for name in _VECTOR_PARAMETERS if name in stacked
        }
        return {"group_attribute_sd": np.zeros_like(values["attribute_sd"])} | values

    mean = by_connection("connection_mean")
    return StudyPlan(
        spec=spec,
        connections=rows.connections,
        connection_mean=mean,
        word_sd=by_connection("word_sd"),
        sigma=by_connection("sigma") if "sigma" in stacked else np.zeros_like(mean),
        attribute_sd=by_connection("attribute_sd") if "attribute_sd" in stacked else np.zeros_like(mean),
        groups=len(set(rows.protected_groups[rows.compared])),
        controls={
            name: len(np.unique(rows.attribute[rows.connection == place]))
            for place, name in enumerate(rows.connections)
            if name in ("human", "neutral")
        },
        vectors=vector_parameters() if spec.multivariate else None,
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
        by_key = values[name] if isinstance(values[name], Mapping) else dict.fromkeys(keys, values[name])
        if missing := [key for key in keys if key not in by_key]:
            raise ReportError(f"{name} has no value for {missing[0]!r}; the model has {', '.join(connections)}.")
        return np.array([[check_number(f"{name} of {key!r}", by_key[key], low=0, high=2, above=above) for key in keys]])

    per_list = isinstance(values.get("attribute_sd"), Mapping)
    attribute_sd = np.zeros((1, len(connections)))
    if "attribute_sd" in values:
        attribute_sd = numbers("attribute_sd", [list_kind(name) for name in connections])
    groups, controls = check_count("protected_groups", values.get("protected_groups", 2)), values.get("controls", {})
    if not isinstance(controls, Mapping):
        raise ReportError(f"controls={controls!r}: give a mapping from 'human' and 'neutral' to numbers of words.")
    for name, count in controls.items():
        check_choice("controls", name, ("human", "neutral"))
        check_count(f"controls of {name!r}", count)
    if groups > 1 and "different" in connections and "associated" not in connections:
        raise ReportError("The assumed model has 'different' without 'associated' words. Give both, or one group.")
    model = "crossed_per_list" if per_list else "crossed" if attribute_sd.any() else "hierarchical"
    return StudyPlan(
        spec=load_model(model),
        connections=connections,
        connection_mean=numbers("connection_mean", connections),
        word_sd=numbers("word_sd", connections),
        sigma=numbers("sigma", connections, above=True),
        attribute_sd=attribute_sd,
        groups=groups,
        controls={name: int(count) for name, count in controls.items()},
    )
