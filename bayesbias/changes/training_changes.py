"""Paired changes of contrasts in the embeddings of each seed, such as those of a debiasing method."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import counted, interval_text, signed_text
from bayesbias.base.statements import Statement, rows_of
from bayesbias.changes.change_statements import CONTROLS_DIFFER, in_rope_text, moved_controls, shifts_text
from bayesbias.changes.engine import (
    changes_of_contrasts,
    checked_tables,
    condition_contrasts,
    distances_to,
    doubts_about_words,
    paired_conditions,
)
from bayesbias.changes.readings import claims_text, reading_of
from bayesbias.changes.result import Estimation
from bayesbias.changes.training_spread import KEYS, OverSeeds
from bayesbias.changes.training_statements import both_intervals_text, condition_label, counts_text, original_sd_text
from bayesbias.errors import ReportError, name_some
from bayesbias.models.data import SIDES
from bayesbias.models.fits import fitted_table
from bayesbias.reports.posterior.contrasts import contrast_draws
from bayesbias.tables.measures import COSINE_DISTANCE

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

ORIGINAL = "original"
"""Default name of the first condition: the embeddings as they were trained."""


def second_conditions(
    changed: Any, seeds: Mapping[Hashable, Any], first: str
) -> "dict[str, dict[Hashable, xr.DataTree]]":
    """Return the fits of each second condition by its name, in the order of the seeds.

    Raises `ReportError` if there is none, one has the name of the `first`, or a seed lacks one of the conditions.
    """
    if not isinstance(first, str) or not first.strip():
        raise ReportError(f"first={first!r}: give the name of the first condition, such as 'original'.")
    fits_by_name = changed if isinstance(changed, Mapping) else {}
    named = [isinstance(name, str) and isinstance(one, Mapping) for name, one in fits_by_name.items()]
    if not named or not all(named):
        raise ReportError(
            "changed: give the fits of each second condition under its name, such as {'hard': {1: fit, 2: other}}."
        )
    for name, fits in fits_by_name.items():
        if name.strip() in ("", first):
            raise ReportError(
                f"changed: {name!r} is not the name of a second condition; the first is {first!r}. Give one, such as "
                "'hard'."
            )
        if alone := [seed for seed in {**seeds, **fits} if (seed in seeds) != (seed in fits)]:
            raise ReportError(
                f"Changes are paired by seed, and these have one condition only: {name_some(map(repr, alone))}. Give "
                "both conditions of each seed."
            )
    return {name: {seed: fits[seed] for seed in seeds} for name, fits in fits_by_name.items()}


@dataclass(frozen=True, eq=False)
class FittedContrasts:
    """The fits of a condition, its `name`, by seed, and their contrasts at all levels."""

    name: str
    fits: "Mapping[Hashable, xr.DataTree]"
    contrasts: "Mapping[Hashable, pd.DataFrame]"

    @classmethod
    def of_fits(cls, name: str, fits: "Mapping[Hashable, xr.DataTree]", estimation: Estimation) -> "FittedContrasts":
        """Return fits with their contrasts."""
        return cls(name, fits, {seed: condition_contrasts(fit, estimation) for seed, fit in fits.items()})

    def over_seeds(self, estimation: Estimation, level: str) -> OverSeeds:
        """Return the contrasts of all seeds at a level, with their draws."""
        options = {"baseline": estimation.baseline, "level": level, "scope": estimation.scope}
        draws = [contrast_draws(fit, **options) for fit in self.fits.values()]
        return OverSeeds.of_contrasts(self.contrasts, draws, level)


def seed_changes(
    first: FittedContrasts, second: FittedContrasts, estimation: Estimation, level: str
) -> tuple[OverSeeds, tuple[Statement, ...]]:
    """Return the paired changes of each seed at a level, from the fits of both conditions, and doubts about words.

    The doubts are about control words that changed, and words that the second condition lost, equalized or tied, as in
    `Changes.doubts`. Rows that a seed lacks, such as those of a word that debiasing lost there, are left out.
    """
    frames, draws, doubts, controls = {}, [], {}, []
    conditions = {first.name: first, second.name: second}
    for seed in first.fits:
        tables = checked_tables({label: fitted_table(one.fits[seed]) for label, one in conditions.items()})
        (pairing,) = paired_conditions(tables)
        contrasts = {label: one.contrasts[seed] for label, one in conditions.items()}
        frames[seed], drawn = changes_of_contrasts(pairing, contrasts, estimation)
        draws.append(drawn)
        doubts[seed] = doubts_about_words(pairing, tables, second.fits[seed])
        connections = pairing.sample.connections
        for name in set(connections) - set(SIDES):
            controls += rows_of(distances_to(name, pairing, estimation, of_words=False))
    shifted = _controls_over_seeds(controls, first.name, second.name, set(connections) & set(SIDES), estimation)
    return OverSeeds.of_changes(frames, draws, level), (*shifted, *_over_seeds(doubts))


def _controls_over_seeds(
    rows: Sequence[Mapping[str, Any]], first: str, second: str, sides: set[str], estimation: Estimation
) -> Iterator[Statement]:
    """Yield whether control words changed, given the changes of their mean distances in all seeds."""
    moved = [row["connection"] for row in moved_controls(rows, estimation.hdi_prob)]
    numbers = {}
    for name in sorted(set(moved)):
        changes = [row["mean"] for row in rows if row["connection"] == name]
        numbers[name] = {"mean": float(np.mean(changes)), "settled": moved.count(name), "seeds": len(changes)}
    if numbers and sides:
        shifts = {
            name: f"by {signed_text(one['mean'])} on average over seeds (settled in {one['settled']} of {one['seeds']})"
            for name, one in numbers.items()
        }
        yield Statement(CONTROLS_DIFFER, shifts_text(shifts, first, second, COSINE_DISTANCE, sides), numbers)


def _over_seeds(doubts: Mapping[Hashable, tuple[Statement, ...]]) -> Iterator[Statement]:
    """Yield each doubt once; one that some seeds alone raise begins with their names."""
    for text, doubt in {doubt.text: doubt for of_seed in doubts.values() for doubt in of_seed}.items():
        seeds = [str(seed) for seed, of_seed in doubts.items() if text in {one.text for one in of_seed}]
        some = "" if len(seeds) == len(doubts) else f"{'Seed' if len(seeds) == 1 else 'Seeds'} {name_some(seeds)}: "
        yield replace(doubt, text=f"{some}{text}")


def estimated_changes(
    original: FittedContrasts, conditions: Sequence[FittedContrasts], estimation: Estimation, level: str
) -> "tuple[pd.DataFrame, pd.DataFrame, list[Statement]]":
    """Return the changes over seeds of all conditions, those of each seed, and doubts about the words of conditions.

    The rows of a contrast follow each other, in the order of the conditions.
    """
    import pandas as pd

    columns = ["mean", "hdi_low", "hdi_high", "seed_sd", "seed_sd_low", "seed_sd_high"]
    before = original.over_seeds(estimation, level).estimates(estimation)
    frames, by_seed = [], []
    doubts: list[Statement] = []
    for second in conditions:
        changes, raised = seed_changes(original, second, estimation, level)
        frame = changes.estimates(estimation)
        for side, contrasts in (
            (ORIGINAL, before),
            ("changed", second.over_seeds(estimation, level).estimates(estimation)),
        ):
            named = contrasts[KEYS + columns].rename(columns={column: f"{side}_{column}" for column in columns})
            frame = frame.merge(named, "left")
        frame.insert(len(KEYS), "first", original.name)
        frame.insert(len(KEYS) + 1, "second", second.name)
        same = np.all([of_seed["direction"] == "equal" for of_seed in changes.frames.values()], axis=0)
        readings = [change_over_seeds(row, same=equal) for row, equal in zip(rows_of(frame), same, strict=True)]
        frame.insert(len(KEYS) + 2, "change", readings)
        frames.append(frame)
        by_seed.append(changes.by_seed)
        doubts += raised
    every = pd.concat(frames, ignore_index=True)
    place = {key: place for place, key in enumerate(dict.fromkeys(every[KEYS].itertuples(index=False, name=None)))}
    order = [place[key] for key in every[KEYS].itertuples(index=False, name=None)]
    every = every.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)
    return every, pd.concat(by_seed, ignore_index=True), doubts


def change_over_seeds(row: Mapping[Any, Any], *, same: bool) -> str:
    """Return how a contrast changed on average over seeds, as a reading of `Changes.changes`.

    `row` has the change (`mean`, `hdi_low`, `hdi_high`) and the contrasts on average over seeds, whose columns begin
    with ``original_`` and ``changed_``; `same` is whether no distance behind it changed in any seed.
    """
    sides = [
        {"borderline": False, **{column: row[f"{side}_{column}"] for column in ("mean", "hdi_low", "hdi_high")}}
        for side in (ORIGINAL, "changed")
    ]
    return reading_of({**row, "borderline": row.get("borderline", False), "direction": "equal" if same else ""}, *sides)


def change_over_seeds_statement(row: Mapping[Any, Any], rank: str = "", *, whole: bool = True) -> Statement:
    """Return how a contrast changed on average over seeds; a `whole` statement has each interval and each seed.

    Its kind is the `reading` of the row. `rank` is that of the vectors under the second condition, if it is known.
    """
    words = row["protected_word"] or row["protected_group"]
    words = f"{words}, for exactly these words," if row["protected_group"] else words
    contrasts = [
        f"{signed_text(row[f'{side}_mean'])} "
        f"({interval_text(row[f'{side}_hdi_low'], row[f'{side}_hdi_high'])}) in {condition}"
        for side, condition in ((ORIGINAL, row["first"]), ("changed", row["second"]))
        if np.isfinite(row[f"{side}_mean"])
    ]
    claim = claims_text({condition_label(row): row["change"]}, 1)
    text = f"Compared with {row['first']}, the contrast {row['contrast']}{f' of {words}' if words else ''} {claim}"
    now = f" The contrast is {' and '.join(contrasts)}." if contrasts else ""
    if whole:
        text += (
            f". On average over {counted(row['seeds'], 'seed')}, it changes by {signed_text(row['mean'])} in cosine "
            f"distance, {both_intervals_text(row)}. By their own intervals, it is {counts_text(row)}; the interval of "
            f"one more seed is {interval_text(row['next_low'], row['next_high'])}.{in_rope_text(row)}{now}"
            f"{original_sd_text(row)}{f' The vectors of {row["second"]} still span {rank} dimensions.' if rank else ''}"
        )
    else:
        interval = interval_text(row["hdi_low"], row["hdi_high"])
        text += f": {signed_text(row['mean'])}, interval {interval}.{in_rope_text(row)}{now}"
    return Statement(row["reading"], text, dict(row))
