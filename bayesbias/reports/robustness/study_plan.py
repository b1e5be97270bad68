"""What studies are simulated from: parameters of a fit or assumed ones, and words like those of a fit."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_choice, check_count, check_number
from bayesbias.errors import ReportError
from bayesbias.models.coordinates import posterior_with_covariances
from bayesbias.models.data import ModelData, list_kind
from bayesbias.models.fits import check_cosine, fitted_model, fitted_rows
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.population import ListMoments, list_moments, places_of_lists, without_inflation
from bayesbias.models.samplers.registry import sampler_for
from bayesbias.models.spec import ModelSpec, load_model, renamed_or_similar
from bayesbias.studies.study import CONNECTIONS

if TYPE_CHECKING:
    import xarray as xr


# Hyperparameters of a multivariate fit from which moments of large lists are drawn.
_LEANS = ("attribute_sd", "group_attribute_sd", "target_weight", "nu")
_ASSUMED = ("connection_mean", "word_sd", "sigma", "attribute_sd", "protected_groups", "controls")


@dataclass(frozen=True, eq=False)
class VectorPlan:
    """Words like those of a multivariate fit; draws are the leading axis of each array.

    `word_covariance` (draws, connections, connections) is that of the means of protected words, `moments` are those of
    the fitted lists, `places` of lists by connection and group, and `nu` (draws,) are degrees of freedom of Student t
    attribute words, if they are.
    """

    word_covariance: np.ndarray
    moments: ListMoments
    places: Mapping[tuple[str, int], np.ndarray]
    nu: np.ndarray | None

    def like(self, kind: str, owner: int) -> np.ndarray:
        """Return the places of the fitted lists that a new list of a kind, of a group, is like."""
        of_group = self.places.get(("associated" if kind == "stereotype" else kind, owner), np.zeros(0, dtype=int))
        if len(of_group):
            return of_group
        of_any = [self.places[name, -1] for name in ("associated", "different") if (name, -1) in self.places]
        return np.unique(np.concatenate(of_any))


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """Parameters that studies are simulated from; draws are the leading axis of each array.

    `spec` is the model to fit, with its caution. `connection_mean`, `word_sd`, `sigma` and `attribute_sd` (0 without
    attribute effects) have shape (draws, connections). `groups` is the number of protected groups, `controls` the
    number of words of each control list (by default as many as an attribute list has). `vectors` describes words of a
    multivariate model, in place of `word_sd`, `sigma` and `attribute_sd`. An attribute list of n words is worth n /
    `design_effect` independent ones, and a protected group n / `group_effect`, as those of the fit.
    """

    spec: ModelSpec
    connections: tuple[str, ...]
    connection_mean: np.ndarray
    word_sd: np.ndarray
    sigma: np.ndarray
    attribute_sd: np.ndarray
    groups: int
    controls: dict[str, int]
    vectors: VectorPlan | None = None
    design_effect: float = 1.0
    group_effect: float = 1.0

    def independent_words(self, attributes: int) -> int:
        """Return how many independent attribute words a list of so many words is worth."""
        return max(round(attributes / self.design_effect), min(attributes, 2))

    def independent_protected(self, protected: int) -> int:
        """Return how many independent protected words a group of so many words is worth."""
        return max(round(protected / self.group_effect), min(protected, 2))

    def pairs(self, protected: int, attributes: int) -> int:
        """Return the number of pairs of a study with so many words per group and list."""
        return self.groups * protected * sum(count for _, _, count in self.lists(attributes))

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
    check_cosine(fit, "A plan")
    rows = fitted_rows(fit)
    stacked = posterior_with_covariances(fit).stack(sample=("chain", "draw"))
    places = {"connection": rows.connections, "attribute_list": [list_kind(name) for name in rows.connections]}

    def by_connection(name: str) -> np.ndarray:
        values = stacked[name]
        if dim := next((dim for dim in places if dim in values.dims), None):
            return np.asarray(values.sel({dim: list(places[dim])}).transpose("sample", dim).to_numpy())
        return np.repeat(values.to_numpy()[:, None], len(rows.connections), axis=1)

    if spec.multivariate and max(Counter(rows.protected_groups.tolist()).values()) == 1:
        raise ReportError(
            "Each protected group of this fit has one word, so the spread of words within a group is unknown. Plan "
            "with a fit of a study whose groups have several words."
        )
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
        vectors=_vector_plan(rows, stacked) if spec.multivariate else None,
        **_effects(rows) if spec.multivariate else {},
    )


def _effects(rows: ModelData) -> dict[str, float]:
    """Return the mean design effects of the lists of the question and of the groups that are compared."""
    sample = attribute_sample(rows)
    lists = [place for place, kind in enumerate(sample.list_kind) if sample.kinds[kind] == "stereotype"]
    groups = np.unique(sample.group_of[sample.compared])
    return {
        "design_effect": float(sample.list_effects[lists].mean()) if lists else 1.0,
        "group_effect": float(sample.group_effects[groups].mean()),
    }


def _vector_plan(rows: ModelData, stacked: "xr.Dataset") -> VectorPlan:
    """Return words like those of a multivariate fit, given its draws with the dim sample."""
    sample, count = attribute_sample(rows), stacked.sizes["sample"]
    if "residual_covariance" in stacked:
        covariances = stacked["residual_covariance"].transpose("sample", "attribute_group", ...)
        parameters = {"residual_covariance": covariances.to_numpy()}
    else:
        parameters = {name: stacked[name].transpose("sample", ...).to_numpy() for name in _LEANS if name in stacked}
    word_covariance = stacked["word_covariance"].transpose("sample", ...).to_numpy()
    return VectorPlan(
        word_covariance=without_inflation(word_covariance, harmonic=False),
        moments=list_moments(sample, parameters, np.random.default_rng(count)),
        places=dict(places_of_lists(sample, rows.connections)),
        nu=stacked["nu"].to_numpy() if "nu" in stacked else None,
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
