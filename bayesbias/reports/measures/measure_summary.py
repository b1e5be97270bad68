"""Summaries of a measure's values: observed, expected, repeated, and if nothing is associated."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.estimates.intervals import MOMENTS, diagnostics_of, estimates
from bayesbias.metrics.similarities import Similarities
from bayesbias.reports.measures.measure_draws import Values
from bayesbias.reports.measures.null_simulation import rate

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

NULL_TAILS = (0.025, 0.975)
WORDS = " words"
_COLUMNS = (
    "observed", *MOMENTS, "repeated_low", "repeated_high", "null_mean", "null_low", "null_high", "null_se",
    "null_share", "null_share_se", "beyond_null", "beyond_null_se",
)  # fmt: skip


def dataset_of_values(parts: tuple[Values, ...], chains: tuple[int, int]) -> "xr.Dataset":
    """Return the dataset of observed, expected, repeated and null values of all statistics."""
    import xarray as xr

    names = [name for name in parts[0] if name != WORDS]
    observed, expected, repeated, null = (np.stack([part[name] for name in names], axis=-1) for part in parts)
    by_draw = ("chain", "draw", "statistic")
    return xr.Dataset(
        {
            "observed": ("statistic", observed),
            "expected": (by_draw, expected.reshape(*chains, -1)),
            "repeated": (by_draw, repeated.reshape(*chains, -1)),
            "null": (("sample", "statistic"), null),
        },
        coords={"statistic": names},
    )


def summary_of_values(draws: "xr.Dataset", hdi_prob: float, independent: float | None) -> "pd.DataFrame":
    """Return the summary, one row per statistic."""
    frame = estimates(draws["expected"], hdi_prob=hdi_prob, independent=independent)
    frame["observed"] = draws["observed"].to_numpy()
    repeated = draws["repeated"].to_numpy().reshape(-1, len(frame))
    null = draws["null"].to_numpy()
    tails = np.array([(1 - hdi_prob) / 2, (1 + hdi_prob) / 2])
    frame["repeated_low"], frame["repeated_high"] = np.quantile(repeated, tails, axis=0)
    frame["null_mean"] = null.mean(axis=0)
    frame["null_low"], frame["null_high"] = np.quantile(null, NULL_TAILS, axis=0)
    frame["null_se"] = _error_of_ends(null)
    far = [_share(values, value) for values, value in zip(null.T, frame["observed"], strict=True)]
    frame["null_share"], frame["null_share_se"] = zip(*far, strict=True)
    outside = (repeated < frame["null_low"].to_numpy()) | (repeated > frame["null_high"].to_numpy())
    frame["beyond_null"], frame["beyond_null_se"] = zip(*map(rate, outside.T), strict=True)
    result = frame[["statistic", *_COLUMNS, *diagnostics_of(frame)]]
    result.attrs = {"hdi_prob": hdi_prob}
    return result


def _error_of_ends(null: np.ndarray) -> np.ndarray:
    """Return the larger Monte Carlo standard error of the two ends of the null's interval."""
    errors = []
    for tail in NULL_TAILS:
        rank_error = np.sqrt(tail * (1 - tail) / len(null))
        low, high = np.quantile(null, [max(0.0, tail - rank_error), min(1.0, tail + rank_error)], axis=0)
        errors.append((high - low) / 2)
    return np.asarray(np.max(errors, axis=0))


def _share(null: np.ndarray, value: float) -> tuple[float, float]:
    """Return twice the smaller tail beyond a value, at most 1, and its Monte Carlo standard error."""
    tail, error = min(rate(null >= value), rate(null <= value))
    return min(1.0, 2 * tail), 2 * error


def summary_of_words(
    observed: Similarities,
    parts: tuple[Values, ...],
    chains: tuple[int, int],
    hdi_prob: float,
    independent: float | None,
) -> "pd.DataFrame":
    """Return the summary of single words, one row per value."""
    import pandas as pd

    if WORDS not in parts[0]:
        return pd.DataFrame(columns=["word", "group", *_COLUMNS])
    labels = pd.DataFrame({"word": observed.words, "group": observed.groups})
    shape = parts[0][WORDS].shape
    if len(shape) == 2:
        labels = labels.merge(pd.DataFrame({"attribute_group": list(observed.attributes)}), how="cross")
    by_word = []
    for part in parts:
        values = part[WORDS]
        flat = values.reshape(*values.shape[: values.ndim - len(shape)], len(labels))
        by_word.append({str(place): flat[..., place] for place in range(len(labels))})
    frame = summary_of_values(dataset_of_values(tuple(by_word), chains), hdi_prob, independent).drop(
        columns="statistic"
    )
    return pd.concat([labels, frame], axis=1)


def share_with_error_text(value: float, error: float) -> str:
    """Return a share and its Monte Carlo standard error as percentages.

    >>> share_with_error_text(0.0227, 0.0015), share_with_error_text(0.9999, 0.0002)
    ('2.3% ± 0.1%', '100% ± 0.02%')
    """
    return f"{float(f'{100 * value:.2g}'):g}% ± {100 * error:.1g}%"
