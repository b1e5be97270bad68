"""The registry of measures, defined beside their functions, and `measure`, which runs one by its name."""

from typing import Any

from bayesbias.base.lazy_loading import registered
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, did_you_mean, name_some
from bayesbias.metrics.measure_entry import Measure, shared_parameters
from bayesbias.metrics.measure_result import MeasureResult

_ROOMS = ("associations", "directions", "subspaces", "intrinsic")


def _is_measure(value: Any) -> bool:
    return isinstance(value, Measure)


MEASURES: dict[str, Measure] = registered(_is_measure, *(f"bayesbias.metrics.{room}" for room in _ROOMS))
"""Name -> `Measure`, for every measure of a study in an embedding and every score of a whole embedding."""


@shared_parameters()
def measure(name: str, embedding: EmbeddingLike, data: Any = None, **options: Any) -> MeasureResult:
    """Return the result of the measure of a given name.

    Parameters
    ----------
    name
        Name in `MEASURES`.
    data
        Data that the measure needs besides the embedding, as its entry says (`needs`): a study, or the path of a file,
        names or words.
    **options
        Options of the measure's function, such as `targets`, `ddof`, `base_pairs`, `reference`, `random_seed`.

    Raises
    ------
    MeasureError
        If there is no such measure or option, its data are missing, or it cannot be computed.
    ArgumentError
        If the value of an option is not usable.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> round(measure("mac", vectors, "weat7").mac, 4)
    0.7561
    >>> round(measure("vocabulary_direct_bias", vectors, random_seed=1).value, 3)
    0.077
    """
    entry = find_measure(name)
    if data is None and entry.required:
        raise MeasureError(f"{name} needs {entry.needs}. Give it as data.")
    for option in options:
        if option not in entry.option_names:
            hint = did_you_mean(option, entry.option_names)
            raise MeasureError(f"{name} has no option {option!r}{hint}; it has {name_some(entry.option_names, 20)}.")
    return entry.function(embedding, data, **entry.options, **options)


def find_measure(name: str, *about: str) -> Measure:
    """Return the entry of a measure in `MEASURES`, of some kinds (`Measure.about`) only, or raise `MeasureError`.

    >>> find_measure("ect").range
    '-1 to 1'
    >>> find_measure("sembias", "bias", "quality").better
    'higher'
    """
    names = [entry.name for entry in MEASURES.values() if not about or entry.about in about]
    if name not in names:
        hint = did_you_mean(str(name).lower().replace("-", "_"), names)
        kind = f" of {' or '.join(about)}" if about else ""
        raise MeasureError(f"There is no measure {name!r}{kind}{hint}. Known are {', '.join(names)}.")
    return MEASURES[name]
