"""The specification of a model: its switches and priors, read from one TOML file."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Required, TypedDict

from bayesbias.base.checks import check_type
from bayesbias.base.files.inputs import bundled, input_file, printable, read_toml
from bayesbias.base.files.settings import toml_faults
from bayesbias.base.statements import Described, Facts
from bayesbias.errors import ModelError, did_you_mean, raise_faults
from bayesbias.models.priors import Prior, parse_prior

# The switches of models whose sample are the attribute words: they go together.
MULTIVARIATE = {"pooling": "regression", "attribute_effects": "covariance"}
# The bundled model whose intervals have their stated coverage with and without an association
# (validation/real_contrasts, validation/random_lists).
DEFAULT_MODEL = "multivariate"
# The ranges of the parameters with priors: distances, their sds, and numbers without a unit.
_REACH = {"location": (-10.0, 10.0), "scale": (1e-5, 100.0), "no unit": (1e-6, 1e6)}
NO_UNIT = ("target_weight", "residual_weight", "list_effect", "slope_sd", "list_scale", "nu")
# Earlier names of parameters, and their present ones.
RENAMED = {"group_mean": "connection_mean"}
# Facts that are shown for a model.
_SHOWN = ("name", "description", "switches", "priors")


class Switches(TypedDict):
    """The switches of a model and their values."""

    pooling: Literal["partial", "none", "regression"]
    attribute_effects: Literal["none", "one", "per_list", "covariance"]
    likelihood: Literal["normal", "student_t"]


class _ModelFile(TypedDict, total=False):
    name: str
    description: str
    source: str
    caution: str
    avoid: str
    switches: Required[Switches]
    priors: Required[dict[str, object]]


# The parameters of these models with a prior; the means of lists have a flat one.
LIST_MODEL_PARAMETERS = (
    *("attribute_sd", "group_attribute_sd", "target_weight", "sigma", "residual_weight"),
    *("list_effect", "slope_sd", "list_scale", "effect_sd"),
)


MEANINGS = {
    "connection_mean": "mean distance of all protected words to the attribute words of a connection",
    "word_sd": "standard deviation of the words' mean distances around it",
    "attribute_sd": "standard deviation of the attribute words' mean distances to all protected words",
    "group_attribute_sd": "standard deviation of the attribute words' leans to single groups, and of their slopes on a "
    "covariate (covariate_attribute_sd, one for each)",
    "target_weight": "v in the prior InverseWishart(v + G + 1, v T) of a list's covariance over the G groups, where T "
    "has these two standard deviations and counts as much as v attribute words",
    "sigma": "residual standard deviation of the distances",
    "residual_weight": "v in the prior InverseWishart(v J + p + 1, v J sigma^2 I) of the residual covariance over the "
    "p = J - G differences of the J protected words within groups: sigma counts as much as v J attribute words",
    "list_effect": "variance of a list's means of single words around their regression on the groups, divided by the "
    "residual variance",
    "slope_sd": "standard deviation of the slopes of that regression, where a slope of 1 follows the group fully",
    "list_scale": "residual standard deviation of a kind of list (stereotype, human, neutral), divided by that of the "
    "last kind",
    "effect_sd": "standard deviation, over words like these, of the level of a word's distances and of each of its "
    "differences",
    "nu": "degrees of freedom of the Student t distribution of attribute words",
}
"""Parameter with a prior -> what it is."""


@dataclass(frozen=True, repr=False)
class ModelSpec(Described):
    """A model: its name, its source, its switches and its priors.

    Parameters
    ----------
    name, description, source
        Texts for readers.
    caution
        Note for readers of its results, repeated by every report. May be empty.
    avoid
        Conditions under which another model is the better choice. May be empty.
    switches
        For each switch, one of its values in `Switches`.
    priors
        A `Prior` for each parameter that the switches require.

    Raises
    ------
    ModelError
        Listing all faults at once.

    Examples
    --------
    >>> spec = load_model("hierarchical")
    >>> spec.switches["pooling"], str(spec.priors["sigma"])
    ('partial', 'Exponential(rate=2)')
    """

    name: str
    switches: Mapping[str, str]
    priors: Mapping[str, Prior]
    description: str = ""
    source: str = ""
    caution: str = ""
    avoid: str = ""

    @property
    def _facts(self) -> Facts:
        stored = self.to_dict()
        return {name: stored[name] for name in _SHOWN}

    def __post_init__(self) -> None:
        faults = _switch_faults(self.switches)
        if not faults:
            faults = _prior_faults(self)
        raise_faults(ModelError, f"The model {self.name!r}", faults)

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as plain texts, as stored in a fit."""
        return {
            **asdict(self),
            "switches": dict(self.switches),
            "priors": {name: str(prior) for name, prior in self.priors.items()},
        }

    @property
    def multivariate(self) -> bool:
        """Whether attribute words, each with one vector of distances, are the independent units."""
        return self.switches["attribute_effects"] == "covariance"

    def check_reach(self, written: "ModelSpec") -> None:
        """Raise a `ModelError` if a prior, in the unit of cosine distances, leaves nothing that a sampler can use.

        `written` has the same priors in the unit of the table, for the message.
        """
        needed = needed_priors(self.switches)
        faults = [
            f"the prior of {name}, {written.priors[name]}: {fault}; no sampler can use it"
            for name, prior in self.priors.items()
            if (fault := prior.reach_fault(*_REACH["no unit" if name in NO_UNIT else needed[name]]))
        ]
        raise_faults(ModelError, f"The model {self.name!r}", faults)

    @property
    def digest(self) -> str:
        """Short hash of switches and priors: models that differ in them have different ones."""
        relevant = {key: self.to_dict()[key] for key in ("switches", "priors")}
        return hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()[:16]


def renamed_or_similar(name: str, names: Iterable[str]) -> str:
    """Return a hint for an unknown parameter: its present name, or a similar one.

    >>> renamed_or_similar("group_mean", ["connection_mean"]), renamed_or_similar("sigm", ["sigma"])
    (" (it is called 'connection_mean' now)", " (did you mean 'sigma'?)")
    """
    return f" (it is called {RENAMED[name]!r} now)" if name in RENAMED else did_you_mean(name, names)


def prior_name(parameter: str) -> str:
    """Return the name of the prior of a parameter: slopes on a covariate have that of leans to a group.

    >>> prior_name("covariate_attribute_sd"), prior_name("sigma")
    ('group_attribute_sd', 'sigma')
    """
    return "group_attribute_sd" if parameter == "covariate_attribute_sd" else parameter


def needed_priors(switches: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters that these switches require, and whether each is a location or a scale."""
    if switches["attribute_effects"] == "covariance":
        needed = dict.fromkeys(LIST_MODEL_PARAMETERS, "scale")
    else:
        needed = {"connection_mean": "location"}
        if switches["pooling"] != "none":
            needed["word_sd"] = "scale"
        needed["sigma"] = "scale"
        if switches["attribute_effects"] != "none":
            needed["attribute_sd"] = "scale"
    if switches["likelihood"] == "student_t":
        needed["nu"] = "scale"
    return needed


def list_models() -> list[str]:
    """Return the names of the bundled models.

    >>> list_models()
    ['crossed', ..., 'multivariate', ...]
    """
    return sorted(path.stem for path in bundled("models").glob("*.toml"))


def load_model(model: str | os.PathLike[str] | ModelSpec, *, priors: Mapping[str, Any] | None = None) -> ModelSpec:
    """Return a bundled model, or one described by a TOML file, with some of its priors changed.

    Parameters
    ----------
    model
        A name of `list_models`, the path of a TOML file, or a `ModelSpec`.
    priors
        Priors that replace the model's own, such as ``{"connection_mean": "Normal(1, 0.2)"}``.

    Raises
    ------
    ModelError
        If there is no such model, or its description has faults; all are listed at once.

    Examples
    --------
    >>> str(load_model("hierarchical", priors={"sigma": "HalfNormal(0.2)"}).priors["sigma"])
    'HalfNormal(sigma=0.2)'
    """
    check_type("model", model, (str, os.PathLike, ModelSpec), "the name of a model, the path of a file, or a ModelSpec")
    spec = model if isinstance(model, ModelSpec) else _read(_path(model))
    if priors is not None:
        check_type("priors", priors, Mapping, "a mapping of parameters to priors")
    if not priors:
        return spec
    unknown = [name for name in priors if name not in spec.priors]
    if unknown:
        hint = renamed_or_similar(str(unknown[0]), spec.priors)
        having = [name for name in list_models() if unknown[0] in _read(_path(name)).priors]
        others = f" The parameter belongs to {', '.join(map(repr, having))}." if having else ""
        raise ModelError(
            f"The model {spec.name!r} has no parameter {unknown[0]!r}{hint}; "
            f"its priors are for {', '.join(spec.priors)}.{others}"
        )
    changed = {name: parse_prior(prior) for name, prior in priors.items()}
    return replace(spec, priors={**spec.priors, **changed})


def model_code(spec: ModelSpec) -> str:
    """Return the arguments with which Python code gives a model to `bayesbias.fit`: its name, and changed priors.

    >>> print(model_code(load_model("crossed", priors={"sigma": "HalfNormal(0.2)"})))
    "crossed", priors={"sigma": "HalfNormal(sigma=0.2)"}
    """
    usual = load_model(spec.name) if spec.name in list_models() else None
    if usual is None or usual.switches != spec.switches:
        return json.dumps(f"PATH of the model {spec.name}", ensure_ascii=False)
    changed = {name: str(prior) for name, prior in spec.priors.items() if prior != usual.priors[name]}
    return f"{json.dumps(spec.name)}{f', priors={json.dumps(changed)}' if changed else ''}"


def _path(model: str | os.PathLike[str]) -> Path:
    name = os.fspath(model)
    if name in list_models():
        return bundled("models", f"{name}.toml")
    if not name.endswith(".toml"):
        raise ModelError(
            f"There is no model {name!r}{did_you_mean(name, list_models())}. Known are {', '.join(list_models())}; "
            "or give the path of a .toml file."
        )
    return input_file(model)


def _read(path: Path) -> ModelSpec:
    return model_of_document(read_toml(path, ModelError), printable(path.stem), str(path))


def model_of_document(content: Mapping[str, Any], name: str, what: str) -> ModelSpec:
    """Return the model of a TOML document, which may be a section of a file.

    `name` is that of the model if the document has none, and `what` says in errors what has the faults. Raises
    `ModelError` if the document has faults; the message lists all of them.
    """
    priors = content.get("priors")
    written, parsed = priors if isinstance(priors, dict) else {}, dict[str, Prior]()

    def prior_faults() -> Iterator[str]:
        for parameter, text in written.items():
            try:
                parsed[parameter] = parse_prior(text)
            except ModelError as error:
                yield f"The prior of {parameter}: {error}"

    raise_faults(ModelError, what, chain(toml_faults(content, _ModelFile), prior_faults()))
    return ModelSpec(**{"name": name, **content, "priors": parsed})


def _switch_faults(switches: Mapping[str, Any]) -> list[str]:
    faults = list(toml_faults(switches, Switches, section="switches"))
    together = [f'{name} = "{value}"' for name, value in MULTIVARIATE.items()]
    if not faults and 0 < sum(switches[name] == value for name, value in MULTIVARIATE.items()) < len(together):
        faults.append(f"{' and '.join(together)} go together: set both, or none")
    elif not faults and switches["likelihood"] == "student_t" and switches["attribute_effects"] != "covariance":
        faults.append(f'likelihood = "student_t" is only for models with {" and ".join(together)}')
    return faults


def _prior_faults(spec: ModelSpec) -> list[str]:
    needed = needed_priors(spec.switches)
    faults = [f"no prior for {name}" for name in needed if name not in spec.priors]
    for name, prior in spec.priors.items():
        if name not in needed:
            faults.append(f"a prior for {name!r}, which this model does not have{renamed_or_similar(name, needed)}")
        elif needed[name] == "scale" and not prior.positive:
            faults.append(f"{name} cannot be negative, and {prior} allows negative values")
    if spec.multivariate and not faults and spec.priors["effect_sd"].distribution != "HalfStudentT":
        faults.append("effect_sd of a model with correlated word effects must be a HalfStudentT")
    return faults


def model_equations(spec: ModelSpec) -> list[str]:
    """Return the equations of a model as lines of text, with the names of its parameters.

    Indices are i (protected word), j (attribute word), c (connection), l (list).
    """
    switches = spec.switches
    if spec.multivariate:
        family = "StudentT(nu, {})" if switches["likelihood"] == "student_t" else "Normal({})"
        return [
            f"distance[·, j] ~ Multivariate{family.format('mean[·, l(j)], covariance[l(j)]')}",
            "mean[group, l] ~ Flat",
            "words like these: levels, contrasts and effects on controls of single words have sds effect_sd",
            "mean[i, l] | mean[group(i), l]: a regression of single words on their group, with",
            "    slopes of mean 0 and sd slope_sd, and variance list_effect times the residual variance for each list",
            "covariance[l]: around a target of attribute_sd² (all protected words), group_attribute_sd² (groups), and",
            "    sigma² list_scale[l]² (single words), with weights target_weight and residual_weight",
        ]
    effect = {"none": "", "one": "attribute_sd", "per_list": "attribute_sd[l(j)]"}[switches["attribute_effects"]]
    location = f"word_mean[i, c]{' + attribute_effect[j]' if effect else ''}"
    pooled = (
        "Normal(connection_mean[c], word_sd[c])" if switches["pooling"] == "partial" else "the prior of connection_mean"
    )
    return [
        f"distance[i, j] ~ Normal({location}, sigma[c])    with c = connection(i, j)",
        f"word_mean[i, c] ~ {pooled}",
        *([f"attribute_effect[j] ~ Normal(0, {effect})"] if effect else []),
    ]
