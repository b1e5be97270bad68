"""The registry of scores of a whole embedding, whose entries stand beside their functions, and `score_embedding`."""

from inspect import signature
from typing import Any

from bayesbias.base.checks import HDI_PROB, check_flag, check_probability, resolve_seed
from bayesbias.base.registries import registered
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, did_you_mean, name_some
from bayesbias.metrics.embedding_scores.result import EmbeddingScore
from bayesbias.metrics.measure_entry import EmbeddingMeasure
from bayesbias.metrics.shared_parameters import shared_parameters


def _is_embedding_measure(value: Any) -> bool:
    return isinstance(value, EmbeddingMeasure)


EMBEDDING_MEASURES: dict[str, EmbeddingMeasure] = registered(
    _is_embedding_measure, "bayesbias.metrics.intrinsic", "bayesbias.metrics.quality"
)
"""Name -> `EmbeddingMeasure`, for every score of a whole embedding."""


@shared_parameters()
def score_embedding(
    name: str,
    embedding: EmbeddingLike,
    data: Any = None,
    *,
    reference: EmbeddingLike | None = None,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
    progress: bool = True,
    **options: Any,
) -> EmbeddingScore:
    """Return the score of an embedding by the measure of a given name.

    Parameters
    ----------
    name
        Name in `EMBEDDING_MEASURES`.
    data
        Data that the measure needs besides the embedding: a path, names or words, as its entry's `data` says.
    reference
        Embedding before debiasing, for measures that choose words or directions in it; others ignore it.
    **options
        Other options of the measure's function, such as `threshold`, `splits`, `components`.

    Raises
    ------
    MeasureError
        If there is no such measure or option, its data is missing, or it cannot be computed.

    Examples
    --------
    >>> path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> round(bb.metrics.score_embedding("vocabulary_direct_bias", path, random_seed=1).value, 3)
    0.077
    """
    common_options = {
        "random_seed": resolve_seed(random_seed),
        "hdi_prob": check_probability("hdi_prob", hdi_prob),
        "progress": check_flag("progress", progress),
        "reference": reference,
    }
    entry = find_embedding_measure(name)
    if data is None and entry.required:
        raise MeasureError(f"{name} needs {entry.needs}. Give it as data.")
    parameter_names = list(signature(entry.function).parameters)
    for option in options:
        if option not in parameter_names or option in ("embedding", entry.data, *common_options):
            hint = did_you_mean(option, parameter_names)
            raise MeasureError(f"{name} has no option {option!r}{hint}; it has {name_some(parameter_names, 20)}.")
    accepted_options = {option: value for option, value in common_options.items() if option in parameter_names}
    return entry.function(embedding, **{entry.data: data}, **accepted_options, **options)


def find_embedding_measure(name: str) -> EmbeddingMeasure:
    """Return the entry of a measure in `EMBEDDING_MEASURES`, or raise `MeasureError`.

    >>> find_embedding_measure("sembias").better
    'higher'
    """
    if not isinstance(name, str) or name not in EMBEDDING_MEASURES:
        hint = did_you_mean(str(name).lower().replace("-", "_"), EMBEDDING_MEASURES)
        raise MeasureError(
            f"There is no score of an embedding {name!r}{hint}. Known are {', '.join(EMBEDDING_MEASURES)}."
        )
    return EMBEDDING_MEASURES[name]
