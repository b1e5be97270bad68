"""The regressions of a report on reliability: what explains the reliability of target words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.base.number_text import counted
from bayesbias.errors import EmbeddingError, LostWordsError, ReportError
from bayesbias.reliability.reliability_drivers import ReliabilityRegression, drivers
from bayesbias.reliability.stability import word_features

if TYPE_CHECKING:
    import pandas as pd

_FREQUENCY = ["log_frequency", "log_frequency_squared"]


def explained(
    tables: "Mapping[str, pd.DataFrame]",
    embeddings: Mapping[str, Mapping[Any, Any]],
    *,
    counts: Mapping[str, int] | None,
    properties: Any,
    settings: Mapping[str, Any],
) -> tuple[dict[str, ReliabilityRegression], tuple[str, ...]]:
    """Return what explains reliability over seeds and over rules, and why a regression or feature is left out."""
    import pandas as pd

    words = list(dict.fromkeys(tables["words_over_seeds"]["target_word"]))
    try:
        features = pd.concat(
            [
                word_features(seeds, counts=counts, words=words, properties=properties).assign(vectors=name)
                for name, seeds in embeddings.items()
            ]
        )
    except (EmbeddingError, LostWordsError, ReportError) as error:
        return {}, (f"What explains reliability is not estimated. {error}",)
    names = [name for name in features.columns if name not in ("word", "vectors")]
    missing = features[names].isna().mean()
    reasons = [
        f"{name} is not a factor: {share:.0%} of the words lack it.".replace("%", " %")
        for name, share in missing[missing > 0.5].items()
    ]
    names = [name for name in names if missing[name] <= 0.5 and features[name].dropna().nunique() > 1]
    complete = features.dropna(subset=names)
    if lost := features["word"].nunique() - complete["word"].nunique():
        reasons.append(
            f"{counted(lost, 'word that lacks a feature is', 'words that lack a feature are')} not in the regressions."
        )
    results = {}
    for kind in ("over seeds", "over rules"):
        frame = tables[f"words_{kind.replace(' ', '_')}"]
        if not len(frame):
            continue
        cells = [name for name in ("rule", "vectors", "target_word") if name in frame]
        data = frame.drop_duplicates(cells).rename(columns={"target_word": "word", "estimate": "reliability"})
        data = data[["word", "vectors", "reliability", *(["rule"] if "rule" in frame else [])]]
        rules = ["rule"] if "rule" in frame and frame["rule"].nunique() > 1 else []
        try:
            results[kind] = drivers(
                data.merge(complete, on=["word", "vectors"]),
                [*rules, *names],
                groupings=["vectors"] if len(embeddings) > 1 else [],
                joint_drops={"frequency": _FREQUENCY} if set(_FREQUENCY) <= set(names) else None,
                **settings,
            )
        except ReportError as error:
            reasons.append(f"What explains reliability {kind} is not estimated. {error}")
    return results, tuple(reasons)
