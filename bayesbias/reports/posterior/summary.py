"""Summaries of the posterior of each parameter."""

from collections import Counter
from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_choice
from bayesbias.errors import ReportError
from bayesbias.estimates.intervals import (
    MOMENTS,
    diagnostics_of,
    estimates,
    independent_draws,
)
from bayesbias.models.fits import check_fit, fit_attribute, groups_without_contrast, hdi_prob_of, measured_in
from bayesbias.models.spec import NO_UNIT
from bayesbias.tables.measures import Measure
from bayesbias.tables.schema import source_name

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


LEVELS = ("all", "overall", "protected_group", "word", "attribute")


def units_text(measure: Measure, parameters: Iterable[str]) -> str:
    """Return the units of parameters, for captions.

    >>> from bayesbias.tables.measures import SURPRISAL
    >>> units_text(SURPRISAL, ["sigma", "nu", "slope_sd"])
    'in nats, but without a unit for slope_sd, nu'
    """
    shown = set(parameters)
    without = [name for name in NO_UNIT if name in shown]
    return f"{measure.in_unit}, but without a unit for {', '.join(without)}" if without else measure.in_unit


def summary(fit: "xr.DataTree", *, level: str = "all", hdi_prob: float | None = None) -> "pd.DataFrame":
    """Return the posterior estimates of a fit by connection and by protected word.

    Parameters
    ----------
    fit
        Fit returned by `fit`.
    level
        ``"overall"``: `connection_mean`, `word_sd`, `sigma` and the other parameters with one value for all words;
        ``"word"``: `word_mean` of each protected word and connection; ``"all"``: both; ``"protected_group"``:
        `group_mean`, the mean over the words of each group; ``"attribute"``: `attribute_effect` of each attribute word.
    hdi_prob
        Probability inside the highest posterior density interval. None: that of the fit.

    Returns
    -------
    pandas.DataFrame
        One row per parameter, in the unit of the table except for parameters without a unit. Its `settings` are
        `hdi_prob` and the `source`, study and embedding.

        - `parameter`, `connection`, `protected_word`, `protected_group` (empty for parameters of all words), and
          `effect`, `attribute_list` and `attribute_word` if the model has them; a group that is in no contrast has no
          rows for connections that it lacks;
        - `pairs`: rows of the table behind the estimate; 0 if it rests on the prior and the other words alone, as of a
          word that lost its pairs;
        - `mean`, `sd`, `hdi_low`, `hdi_high`, `ess_bulk`, `ess_tail` and, of chains, `r_hat`.

    Raises
    ------
    FitError, ReportError, ArgumentError
        If `fit` is not a fit, its model has no attribute effects, or `level` or `hdi_prob` is not usable.

    Examples
    --------
    >>> bb.summary(fit, level="overall").query("parameter == 'connection_mean'")[["connection", "pairs"]]
       connection  pairs
    0  associated    128
    1   different    128
    2       human   1248
    3     neutral   1328
    """
    import pandas as pd

    from bayesbias.estimates.frames import EstimateFrame

    posterior, prob = check_fit(fit)["posterior"].to_dataset(), hdi_prob_of(fit, hdi_prob)
    if check_choice("level", level, LEVELS) == "protected_group":
        posterior, level = _group_means(fit), "overall"
    frames = []
    for parameter, draws in posterior.data_vars.items():
        if _level(draws) not in (("overall", "word") if level == "all" else (level,)):
            continue
        frame = estimates(draws, hdi_prob=prob, independent=independent_draws(fit))
        frame = frame.rename(columns={"scaled_list": "attribute_list"})
        frame.insert(0, "parameter", str(parameter))
        frames.append(frame)
    if not frames:
        raise ReportError(
            f"The model {fit_attribute(fit, 'model')['name']!r} has no attribute effects. Use a crossed model."
        )
    result = pd.concat(frames, ignore_index=True)
    labels = ["connection", "protected_word", "protected_group", "effect", "attribute_list", "attribute_word"]
    groups = fit["constant_data"]["protected_group"].to_series().astype(str)
    if "protected_word" in result:
        of_words = result["protected_word"].map(groups)
        result["protected_group"] = of_words.fillna(result.get("protected_group", ""))
    # Dims that the user gave a parameter of the model.
    labels += [dim for dim in map(str, posterior.dims) if dim in result and dim not in labels]
    for name in labels:
        result[name] = result[name].fillna("") if name in result else ""
    result["pairs"] = _pair_counts(fit, result)
    result = result[~_without_pairs_by_design(fit, result)]
    shown = [name for name in labels if name in labels[:3] or (result[name] != "").any()]
    result = EstimateFrame(result[["parameter", *shown, "pairs", *MOMENTS, *diagnostics_of(result)]])
    result.settings = {"hdi_prob": prob, "source": source_name(fit_attribute(fit, "table")), **measured_in(fit)}
    return result


def _group_means(fit: "xr.DataTree") -> "xr.Dataset":
    """Return the draws of the mean distance of each protected group, in which its words weigh the same."""
    import xarray as xr

    means, groups = fit["posterior"]["word_mean"], fit["constant_data"]["protected_group"].to_numpy().astype(str)
    names = list(dict.fromkeys(groups.tolist()))
    member = np.equal.outer(np.array(names), groups).astype(float)
    weights = xr.DataArray(
        member / member.sum(axis=1, keepdims=True),
        dims=("protected_group", "protected_word"),
        coords={"protected_group": names, "protected_word": means.coords["protected_word"]},
    )
    return xr.Dataset({"group_mean": xr.dot(means, weights, dim="protected_word")})


def _without_pairs_by_design(fit: "xr.DataTree", rows: "pd.DataFrame") -> "pd.Series[bool]":
    """Return which rows are means of words whose group is in no contrast, for a connection that it lacks.

    No distance is behind these means: they follow from those of other groups.
    """
    not_compared = rows["protected_group"].isin(list(groups_without_contrast(fit)))
    return not_compared & (rows["connection"] != "") & (rows["pairs"] == 0)


def _level(draws: "xr.DataArray") -> str:
    if "other_connection" in draws.dims or "other_protected_word" in draws.dims:
        return "covariance"
    if "attribute_group" in draws.dims:
        return "list"
    if "protected_word" in draws.dims:
        return "word"
    return "attribute" if "attribute_word" in draws.dims else "overall"


_COUNTED = "protected_word", "protected_group", "connection"


def _pair_counts(fit: "xr.DataTree", rows: "pd.DataFrame") -> list[int]:
    """Return the number of the table's rows behind each estimate; an empty name stands for all."""
    counts = fit["constant_data"]["pair_count"].transpose("protected_word", "connection")
    words, connections = (counts[dim].to_numpy().astype(str).tolist() for dim in counts.dims)
    groups = fit["constant_data"]["protected_group"].to_numpy().astype(str)
    numbers: dict[tuple[str, str, str], int] = Counter()
    for connection, of_words in zip(connections, counts.to_numpy().T.tolist(), strict=True):
        for word, group, count in zip(words, groups, of_words, strict=True):
            for key in product({word, ""}, {group, ""}, {connection, ""}):
                numbers[key] += count
    return [numbers[key] for key in zip(*(rows[name] for name in _COUNTED), strict=True)]
