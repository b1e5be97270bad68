"""Frames of a trend: gaps by period, changes between periods, the line, the words that moved, the words lacking."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.estimates.intervals import DIRECTION_COLUMNS, directed_estimates, settled
from bayesbias.models.periods.contrast_draws import ContrastDraws
from bayesbias.models.periods.period_line import LineDraws
from bayesbias.models.periods.period_sample import PeriodSample
from bayesbias.reports.embeddings.difference_frames import reading_of

if TYPE_CHECKING:
    import pandas as pd

CHAINS = 4


def estimate_rows(
    draws: np.ndarray,
    labels: Mapping[str, Sequence[Any]],
    hdi_prob: float,
    rope: tuple[float, float] | None = None,
    *,
    means: np.ndarray | None = None,
    directions: bool = True,
) -> "pd.DataFrame":
    """Return labels, estimates and directions of each column of draws (draws, rows), chain after chain.

    `means` (rows,) replace the means of the draws where the posterior is symmetric around them, which says more with
    few degrees of freedom: the draws' own can lie outside the interval.
    """
    import pandas as pd
    import xarray as xr

    array = xr.DataArray(
        draws.reshape(CHAINS, -1, draws.shape[1]),
        dims=("chain", "draw", "row"),
        coords={"row": np.arange(draws.shape[1])},
    )
    numbers = directed_estimates(array, hdi_prob=hdi_prob, rope=rope).drop(columns="row")
    if means is not None:
        numbers["mean"] = means
    if not directions:
        numbers = numbers.drop(columns=list(DIRECTION_COLUMNS))
    return pd.concat([pd.DataFrame(dict(labels)), numbers], axis=1)


def gap_rows(
    drawn: ContrastDraws, sample: PeriodSample, scope: str, hdi_prob: float, rope: tuple[float, float] | None
) -> "pd.DataFrame":
    """Return the gap of all words, and of each group if there are several, in each period."""
    import pandas as pd

    overall = drawn.overall(scope).draws
    counts = sample.protected_present[drawn.word_places]
    group_of = sample.group_of[drawn.word_places]
    frames = []
    for group in (None, *(range(len(drawn.group_places)) if len(drawn.group_places) > 1 else ())):
        members = slice(None) if group is None else group_of == drawn.group_places[group]
        labels = {
            "period": sample.periods,
            "protected_group": [""] * len(sample.periods)
            if group is None
            else [sample.groups[drawn.group_places[group]]] * len(sample.periods),
            "words": counts[members].sum(axis=0),
            "observed": drawn.plain if group is None else drawn.plain_groups[:, group],
        }
        draws = overall if group is None else drawn.groups[:, :, group]
        frames.append(estimate_rows(draws, labels, hdi_prob, rope, means=labels["observed"]))
    return pd.concat(frames, ignore_index=True)


def change_rows(
    drawn: ContrastDraws,
    sample: PeriodSample,
    gaps: "pd.DataFrame",
    scope: str,
    hdi_prob: float,
    rope: tuple[float, float] | None,
) -> "pd.DataFrame":
    """Return the changes between any two periods, of all words, and of each group between the first and the last."""
    import pandas as pd

    periods, overall = sample.periods, drawn.overall(scope).draws
    pairs = np.array(list(combinations(range(len(periods)), 2)))

    def rows(draws: np.ndarray, plain: np.ndarray, pairs: np.ndarray, group: str) -> "pd.DataFrame":
        first, second = pairs.T
        labels = {
            "first": [periods[place] for place in first],
            "second": [periods[place] for place in second],
            "protected_group": [group] * len(pairs),
            "observed": plain[second] - plain[first],
        }
        moved = draws[:, second] - draws[:, first]
        frame = estimate_rows(moved, labels, hdi_prob, rope, means=labels["observed"])
        by_period = gaps[gaps["protected_group"] == group].set_index("period")
        frame["reading"] = [
            reading_of(
                {
                    **row,
                    **_ends("baseline", by_period.loc[row["first"]]),
                    **_ends("other", by_period.loc[row["second"]]),
                }
            )
            for row in frame.to_dict("records")
        ]
        return frame

    frames = [rows(overall, drawn.plain, pairs, "")]
    if len(drawn.group_places) > 1:
        ends = np.array([[0, len(periods) - 1]])
        frames += [
            rows(drawn.groups[:, :, place], drawn.plain_groups[:, place], ends, sample.groups[group])
            for place, group in enumerate(drawn.group_places)
        ]
    return pd.concat(frames, ignore_index=True)


def _ends(side: str, gap: "pd.Series[Any]") -> dict[str, Any]:
    return {f"{side}_gap": gap["mean"], f"{side}_low": gap["hdi_low"], f"{side}_high": gap["hdi_high"]}


def word_rows(drawn: ContrastDraws, sample: PeriodSample, hdi_prob: float) -> "pd.DataFrame":
    """Return the change of each word from the first to the last period that it has, largest first."""
    labels: dict[str, list[Any]] = {
        "protected_word": [],
        "protected_group": [],
        "first": [],
        "second": [],
        "observed": [],
    }
    columns = []
    for place, word in enumerate(drawn.word_places):
        has = np.flatnonzero(sample.protected_present[word])
        if len(has) < 2:
            continue
        first, second = has[0], has[-1]
        values = (
            sample.protected_words[word],
            sample.groups[sample.group_of[word]],
            sample.periods[first],
            sample.periods[second],
            drawn.plain_words[second, place] - drawn.plain_words[first, place],
        )
        for name, value in zip(labels, values, strict=True):
            labels[name].append(value)
        columns.append(drawn.words[:, second, place] - drawn.words[:, first, place])
    draws = np.stack(columns, axis=1) if columns else np.empty((CHAINS, 0))
    frame = estimate_rows(draws, labels, hdi_prob)
    return frame.sort_values("mean", key=abs, ascending=False, ignore_index=True)


def line_rows(line: LineDraws, names: Sequence[str], sd_name: str, hdi_prob: float) -> "pd.DataFrame":
    """Return the coefficients of a trend, and the sd of periods around it."""
    draws = np.column_stack([line.coefficients, line.period_sd])
    labels = {"parameter": [*names, sd_name], "observed": [*line.plain, np.nan]}
    frame = estimate_rows(draws, labels, hdi_prob, directions=False)
    # The sd has no mean with few periods, but always a median.
    frame["mean"] = [*line.plain, np.median(line.period_sd)]
    frame["settled"] = [settled(low, high) for low, high in zip(frame["hdi_low"], frame["hdi_high"], strict=True)]
    frame.loc[len(names), "settled"] = False
    return frame


def lacking_rows(
    sample: PeriodSample, facts: Mapping[str, Mapping[str, Any]], list_of: Mapping[str, str]
) -> "pd.DataFrame":
    """Return a row for each word that a period lacks, and for each that no period has."""
    import pandas as pd

    records = []
    for role, words, present in (
        ("protected", sample.protected_words, sample.protected_present),
        ("attribute", sample.attribute_words, sample.attribute_present),
    ):
        for word, has in zip(words, present, strict=True):
            if not has.all():
                lacks = [period for period, there in zip(sample.periods, has, strict=True) if not there]
                records.append((word, role, list_of[word], int(has.sum()), ", ".join(lacks)))
    stored = {*sample.protected_words, *sample.attribute_words}
    lost = {
        entry["word"]: (entry["role"], entry["list"])
        for of_period in facts.values()
        for entry in of_period.get("lost_words", [])
    }
    records += [(word, *where, 0, "all periods") for word, where in lost.items() if word not in stored]
    return pd.DataFrame(records, columns=["word", "role", "list", "periods", "lacks"])
