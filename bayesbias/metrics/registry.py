"""The registry of measures, whose entries stand beside their functions, and `measure`, which runs one by its name."""

from inspect import Parameter, signature
from typing import Any

from bayesbias.base.registries import registered
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, did_you_mean, name_some
from bayesbias.metrics.measure_entry import Measure
from bayesbias.metrics.result import MeasureResult
from bayesbias.metrics.shared_parameters import shared_parameters
from bayesbias.studies.study import StudyLike


def _is_measure(value: Any) -> bool:
    return isinstance(value, Measure)


MEASURES: dict[str, Measure] = registered(
    _is_measure, "bayesbias.metrics.associations", "bayesbias.metrics.directions", "bayesbias.metrics.subspaces"
)
"""Name -> `Measure`, for every measure of a study in an embedding."""


@shared_parameters()
def measure(name: str, embedding: EmbeddingLike, study: StudyLike, **options: Any) -> MeasureResult:
    """Return the result of the measure of a given name.

    Parameters
    ----------
    name
        Name in `MEASURES`.
    **options
        Options of the measure's function, such as `targets`, `attributes`, `ddof`, `base_pairs`.

    Raises
    ------
    MeasureError
        If there is no such measure or option, or the measure cannot be computed.
    ArgumentError
        If the value of an option is not usable.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> round(measure("mac", vectors, "weat7").mac, 4)
    0.7561
    """
    entry = find_measure(name)
    optional_parameters = [
        parameter
        for parameter in signature(entry.function).parameters.values()
        if parameter.default is not Parameter.empty
    ]
    option_names = [parameter.name for parameter in optional_parameters if parameter.name not in entry.options]
    for option in options:
        if option not in option_names:
            hint = did_you_mean(option, option_names)
            raise MeasureError(f"{name} has no option {option!r}{hint}; it has {name_some(option_names, 20)}.")
    return entry.function(embedding, study, **entry.options, **options)


def find_measure(name: str) -> Measure:
    """Return the entry of a measure in `MEASURES`, or raise `MeasureError`.

    >>> find_measure("ect").range
    '-1 to 1'
    """
    if not isinstance(name, str) or name not in MEASURES:
        raise MeasureError(
            f"There is no measure {name!r}{did_you_mean(str(name).lower().replace('-', '_'), MEASURES)}. "
            f"Known are {', '.join(MEASURES)}."
        )
    return MEASURES[name]
