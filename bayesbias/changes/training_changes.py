"""Paired changes of contrasts in the embeddings of each seed, such as those of a debiasing method."""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import ROUNDING, Floats
from bayesbias.base.number_text import counted, interval_text, share_text, signed_text
from bayesbias.base.statements import Statement
from bayesbias.changes.change_statements import reading_text
from bayesbias.changes.engine import changes_of_contrasts, checked_tables
from bayesbias.changes.result import Estimation, reading_of
from bayesbias.errors import ReportError, name_some, setting
from bayesbias.models.fits import fitted_table
from bayesbias.reports.posterior.contrasts import contrasts

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

ORIGINAL = "original"
"""Name of the first condition: the embeddings as they were trained."""


def second_condition(changed: Any, seeds: Mapping[Hashable, Any]) -> "tuple[str, Mapping[Hashable, xr.DataTree]]":
    """Return the name of the second condition, and its fits in the order of the seeds.

    Raises `ReportError` if there is not one, or a seed lacks one of the conditions.
    """
    if not isinstance(changed, Mapping) or len(changed) != 1 or not isinstance(next(iter(changed.values())), Mapping):
        raise ReportError(
            "changed: give the fits of one second condition under its name, such as {'hard': {1: fit, 2: other}}."
        )
    ((name, fits),) = changed.items()
    if not isinstance(name, str) or name.strip() in ("", ORIGINAL):
        raise ReportError(f"changed: {name!r} is not the name of a second condition. Give one, such as 'hard'.")
    if alone := [seed for seed in {**seeds, **fits} if (seed in seeds) != (seed in fits)]:
        raise ReportError(
            f"Changes are paired by seed, and these have one condition only: {name_some(map(repr, alone))}. Give both "
            "conditions of each seed."
        )
    return name, {seed: fits[seed] for seed in seeds}


def seed_changes(
    fits: "Mapping[Hashable, xr.DataTree]",
    changed: "Mapping[Hashable, xr.DataTree]",
    name: str,
    estimation: Estimation,
    level: str,
) -> "tuple[dict[Hashable, pd.DataFrame], list[Floats]]":
    """Return the paired changes of each seed as rows of `Changes.changes`, and their draws (draws, rows)."""
    frames, draws = {}, []
    for seed, fit in fits.items():
        both = {ORIGINAL: fit, name: changed[seed]}
        tables = checked_tables({condition: fitted_table(of_condition) for condition, of_condition in both.items()})
        gaps = {condition: _gaps(of_condition, estimation) for condition, of_condition in both.items()}
        frame, drawn = changes_of_contrasts(tables, gaps, estimation)
        is_word, is_group = frame["protected_word"] != "", frame["protected_group"] != ""
        levels = np.where(is_word, "word", np.where(is_group, "protected_group", "overall"))
        every = ("overall", "protected_group", "word") if level == "all" else (level,)
        rows = [row for one in every for row in np.flatnonzero(levels == one).tolist()]
        if not rows:
            raise ReportError(f"There is no change of a contrast for {setting('level', level)}. Give another level.")
        frames[seed] = frame.iloc[rows].reset_index(drop=True)
        draws.append(drawn[:, rows])
    return frames, draws


def _gaps(fit: "xr.DataTree", estimation: Estimation) -> "pd.DataFrame":
    return contrasts(
        fit, baseline=estimation.baseline, level="all", scope=estimation.scope, hdi_prob=estimation.hdi_prob
    )


def change_over_seeds(row: Mapping[Any, Any]) -> str:
    """Return how a gap changed on average over seeds, as a reading of `Changes.changes`.

    `row` has the change (`mean`, `hdi_low`, `hdi_high`) and the gaps on average over seeds, whose columns begin with
    ``original_`` and ``changed_``.
    """
    sides = [
        {"borderline": False, **{column: row[f"{side}_{column}"] for column in ("mean", "hdi_low", "hdi_high")}}
        for side in (ORIGINAL, "changed")
    ]
    same = abs(row["mean"]) < ROUNDING and row["sd"] < ROUNDING
    return reading_of({**row, "borderline": False, "direction": "equal" if same else ""}, *sides)


def change_text(row: Mapping[Any, Any], second: str) -> str:
    """Return how a gap changed on average over seeds, and in how many seeds, with both gaps."""
    words = row["protected_word"] or row["protected_group"]
    counts = {"below 0": row["nearer"], "above 0": row["farther"], "not settled": row["not_settled"]}
    shown = ", ".join(f"{text} in {count}" for text, count in counts.items() if count)
    if text := next((text for text, count in counts.items() if count == row["seeds"]), ""):
        shown = f"{text} in {'any seed' if text == 'not settled' else 'all seeds'}"
    gaps = [
        f"{signed_text(row[f'{side}_mean'])} "
        f"({interval_text(row[f'{side}_hdi_low'], row[f'{side}_hdi_high'])}) in {condition}"
        for side, condition in ((ORIGINAL, ORIGINAL), ("changed", second))
        if np.isfinite(row[f"{side}_mean"])
    ]
    return (
        f"The gap {row['contrast']}{f' of {words}' if words else ''}, from {ORIGINAL} to {second}: "
        f"{reading_text(row['change'], second)}. On average over {counted(row['seeds'], 'seed')}, the change is "
        f"{signed_text(row['mean'])}, interval {interval_text(row['hdi_low'], row['hdi_high'])}; it is {shown}. "
        f"For one more seed, the interval is {interval_text(row['next_low'], row['next_high'])}."
        f"{f' The gap is {" and ".join(gaps)}.' if gaps else ''}"
    )


def change_over_seeds_statement(row: Mapping[Any, Any], second: str) -> Statement:
    """Return how a gap changed over seeds, and the seed's share of the variance of the change in one seed."""
    return Statement(
        "change over seeds",
        f"{change_text(row, second)} The seed accounts for {share_text(row['seed_share'])} of the variance of the "
        f"change in one seed ({share_text(row['seed_share_low'])} to {share_text(row['seed_share_high'])}).",
        dict(row),
    )
