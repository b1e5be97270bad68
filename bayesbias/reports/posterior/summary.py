"""Summaries of the posterior of each parameter."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_choice
from bayesbias.base.number_text import estimate_text, interval_text, percent_text, signed_text
from bayesbias.base.results import Contents, Result, ResultTable
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import ReportError
from bayesbias.estimates.intervals import (
    MOMENTS,
    diagnostics_of,
    estimates,
    independent_draws,
    scope_text,
    settled_text,
)
from bayesbias.models.fits import check_fit, fit_attribute, groups_without_contrast

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


LEVELS = ("all", "overall", "protected_group", "word", "attribute")
UNITS = "in units of cosine distance except for weights, list_effect, slope_sd, list_scale and nu, which have no unit"
"""Units of the parameters, for captions."""


def summary(fit: "xr.DataTree", *, level: str = "all", hdi_prob: float = HDI_PROB) -> "pd.DataFrame":
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
        Probability inside the highest posterior density interval.

    Returns
    -------
    pandas.DataFrame
        One row per parameter, in its unit (`UNITS`). Its `settings` hold `hdi_prob`.

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

    posterior = check_fit(fit)["posterior"].to_dataset()
    if check_choice("level", level, LEVELS) == "protected_group":
        posterior, level = _group_means(fit), "overall"
    frames = []
    for parameter, draws in posterior.data_vars.items():
        if _level(draws) not in (("overall", "word") if level == "all" else (level,)):
            continue
        frame = estimates(draws, hdi_prob=hdi_prob, independent=independent_draws(fit))
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
    result.settings = {"hdi_prob": hdi_prob}
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


# Columns of a table in a paper; its .csv has all columns.
_IN_PAPERS = (
    *("contrast", "question", "parameter", "connection", "effect", "attribute_list", "attribute_word"),
    *("protected_group", "protected_word", "pairs", "observed", "mean", "sd", "hdi_low", "hdi_high"),
    *("probability_of_direction", "probability_in_rope"),
)


def estimate_table(frame: "pd.DataFrame", columns: tuple[str, ...] = ()) -> ResultTable:
    """Return a frame of `summary`, `contrasts` or `planned_contrasts` with its caption, which states the interval.

    `columns` are those that a page shows; all if empty.

    >>> estimate_table(bb.contrasts(fit)).caption
    'Contrasts, 89% HPDI, ...; below 0, associated words are nearer; rows over all words are about words like these'
    """
    if "hdi_prob" not in (settings := getattr(frame, "settings", {})) or "mean" not in frame:
        raise ReportError(
            "The frame does not state the probability of its intervals (settings['hdi_prob']). Write a frame that "
            "bb.summary, bb.contrasts or bb.planned_contrasts returned, or rows of it."
        )
    prob = f"{percent_text(settings['hdi_prob'])} HPDI, in units of cosine distance"
    if "contrast" in frame:
        caption = f"Contrasts, {prob}; below 0, {settings['baseline']} words are nearer{_about_rows(frame, settings)}"
        return ResultTable(frame, "Contrasts", caption, columns, differences=True)
    if "question" in frame:
        return ResultTable(frame, "Questions", f"Questions of the study, {prob}", columns, differences=True)
    if frame["parameter"].str.endswith("_mean").all():
        return ResultTable(frame, "Means", f"Mean distances, {prob}", columns)
    parameters = f"Parameters, {percent_text(settings['hdi_prob'])} HPDI, {UNITS}"
    return ResultTable(frame, "Parameters", parameters, columns)


def _about_rows(frame: "pd.DataFrame", settings: Mapping[str, Any]) -> str:
    """Return which words the rows over all words are about, and the region of practical equivalence, for a caption."""
    about = scope_text(settings["scope"])
    over_all = f"; rows over all words are about {about}" if (frame["protected_group"] == "").any() else ""
    if not (rope := settings["rope"]):
        return over_all
    return f"{over_all}; from {rope[0]:g} to {rope[1]:g} a contrast is too small to matter"


@dataclass(frozen=True, eq=False, repr=False)
class EstimateTables(Result):
    """Frames of estimates by name, which `bayesbias.write` writes as tables."""

    frames: "Mapping[str, pd.DataFrame]"

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        captions = tuple(Statement("caption", table.caption) for table in self.contents.tables.values())
        return StatementList("", (self._answer,), bulleted=False), StatementList("", captions)

    @property
    def _answer(self) -> Statement:
        """The first row that has a sentence: a contrast or a question, else a mean distance or a parameter."""
        frames = [frame for frame in self.frames.values() if len(frame)]
        frame = next((one for one in frames if "parameter" not in one), frames[0]) if frames else None
        if frame is None:
            return Statement("answer", "The tables have no rows.")
        row = rows_of(frame.iloc[[0]])[0]
        prob = percent_text(frame.settings["hdi_prob"])
        what = "borderline" if row.get("borderline") else settled_text(row["hdi_low"], row["hdi_high"])
        ends = interval_text(row["hdi_low"], row["hdi_high"])
        if "contrast" in row:
            about = f" for {row['protected_word'] or row['protected_group']}" if row.get("protected_group") else ""
            text = f"{row['contrast']}{about}: {signed_text(row['mean'])}, {prob} interval {ends}, {what}."
        elif "question" in row:
            text = f"{row['question']}: {signed_text(row['mean'])}, {prob} interval {ends}, {what}."
        else:
            name = " ".join(filter(None, (row["parameter"], row["connection"], row.get("protected_word", ""))))
            text = f"{name}: {estimate_text(row)}, {prob} interval in brackets."
        return Statement("answer", text, row)

    @cached_property
    def contents(self) -> Contents:
        """The tables."""
        tables = {name: estimate_table(frame, _IN_PAPERS) for name, frame in self.frames.items()}
        prob = ", ".join({f"{percent_text(frame.settings['hdi_prob'])} HPDI": None for frame in self.frames.values()})
        title = " and ".join(table.section for table in tables.values())
        return Contents(
            title=title,
            answer=self._answer.text,
            tables=tables,
            opened=tuple(table.section for table in tables.values()),
            settings={"Interval": prob},
        )
