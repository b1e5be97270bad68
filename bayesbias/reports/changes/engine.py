"""The changes of a gap between conditions, from the draws of one sample of paired distances."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias import __version__
from bayesbias.base.machine.memory import check_memory
from bayesbias.base.progress import with_progress
from bayesbias.errors import ReportError
from bayesbias.estimates.estimate_frame import EstimateFrame
from bayesbias.estimates.intervals import check_baseline, contrast_name
from bayesbias.models.data import lacking_sides
from bayesbias.models.fitted.fit_source import tied_directions
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.models.multivariate.attribute_sample import has_both
from bayesbias.models.periods.contrast_draws import ContrastDraws
from bayesbias.models.periods.period_sample import PeriodSample, period_sample
from bayesbias.models.sampling import fit
from bayesbias.reports.changes.conditions import short_controls
from bayesbias.reports.changes.doubts import equalized_words
from bayesbias.reports.changes.frames import (
    CHAINS,
    Estimation,
    Pairing,
    change_rows,
    distance_rows,
    gap_rows,
    lacking_rows,
)
from bayesbias.reports.changes.result import Changes
from bayesbias.reports.posterior.contrasts import SCOPES, contrasts
from bayesbias.tables.schema import table_facts

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# Arrays of draws of all words under all conditions that are in memory at once.
_ARRAYS = 5
# Columns of a frame without rows that reports look at.
_EMPTY = ("contrast", "first", "second", "protected_group", "protected_word", "reading")
_COUNTED = ("protected_words", "attribute_words")
_LINES = ("lines", "slopes", "neighbours")

type Lines = Callable[[ContrastDraws], Mapping[str, "pd.DataFrame"]]
"""What periods add for a contrast: frames `lines`, `slopes` and `neighbours`."""


@dataclass(frozen=True, eq=False)
class Periods:
    """Conditions that are periods: their sample and times, what they add to each contrast, and facts about that."""

    sample: PeriodSample
    times: np.ndarray
    lines: Lines
    facts: Mapping[str, Any]


def changes_of(
    tables: "Mapping[str, pd.DataFrame]",
    estimation: Estimation,
    *,
    periods: Periods | None = None,
    progress: bool = False,
) -> Changes:
    """Return the changes of gaps between conditions, given checked tables by condition.

    Changes of periods are of one sample: of all words between any two of them, of groups and words from the first to
    the last. Other conditions have no order: each is compared with the first, whatever the others are.
    """
    pairings = list(_pairings(tables, periods))
    for pairing in pairings:
        _check_room(pairing.sample, estimation)
    has_gap = any(_compared(pairing.sample, estimation.baseline) for pairing in pairings)
    if periods is not None and not has_gap:
        check_baseline(estimation.baseline, periods.sample.connections, "tables")
        raise ReportError(
            f"No protected word has both {estimation.baseline} and other attribute words, so there is no gap. Give a "
            "group lists of both kinds."
        )
    fits: dict[str, xr.DataTree] = {}
    for name, table in with_progress(list(tables.items()), "Fitting conditions", progress=progress):
        fits[name] = fit(table, draws=estimation.draws, chains=CHAINS, random_seed=estimation.seed, progress=False)
    gaps = gap_rows({name: _own_gaps(fitted, estimation) for name, fitted in fits.items()} if has_gap else {})
    frames: dict[str, list[pd.DataFrame]] = {name: [] for name in ("changes", "distances", *_LINES)}
    drawn: dict[str, ContrastDraws] = {}
    for pairing in with_progress(pairings, "Comparing conditions", progress=progress):
        for place in _compared(pairing.sample, estimation.baseline):
            name = contrast_name(estimation.baseline, pairing.sample.connections[place])
            base = pairing.sample.connections.index(estimation.baseline)
            drawn[name] = pairing.draw(estimation, (base, place))
            parts = {"changes": change_rows(drawn[name], pairing, gaps[gaps["contrast"] == name], estimation)}
            parts |= {} if periods is None else periods.lines(drawn[name])
            for key, frame in parts.items():
                frame.insert(0, "contrast", name)
                frames[key].append(frame)
        for place, connection in enumerate(pairing.sample.connections):
            frame = distance_rows(pairing.draw(estimation, (place, None)), pairing, estimation)
            frame.insert(0, "connection", connection)
            frames["distances"].append(frame)
    notes = {name: dict(table_facts(table)) for name, table in tables.items()}
    return Changes(
        gaps=EstimateFrame(gaps),
        **{key: _stacked(parts) for key, parts in frames.items()},
        lacking=lacking_rows(tables, notes),
        draws=_draws(drawn, periods),
        fits=fits,
        facts={
            **_facts(tables, [pairing.sample for pairing in pairings], notes, fits),
            "short_controls": {
                pairing.sample.periods[-1]: short for pairing in pairings if (short := pairing.short_controls)
            },
            "times": None if periods is None else periods.times.tolist(),
            **{"covariates": [], "word_covariates": [], "walk": False, "trend": False},
            **({} if periods is None else periods.facts),
            "scope": estimation.scope,
            "baseline": estimation.baseline,
            "draws": estimation.draws,
            "random_seed": estimation.seed,
            "hdi_prob": estimation.hdi_prob,
            "rope": estimation.rope,
            "version": __version__,
        },
    )


def _pairings(tables: "Mapping[str, pd.DataFrame]", periods: Periods | None) -> Iterator[Pairing]:
    """Yield the periods together, or the first condition with each other one."""
    if periods is not None:
        size = len(periods.times)
        ends = np.array([[0, size - 1]])
        yield Pairing(periods.sample, periods.times, np.column_stack(np.triu_indices(size, 1)), ends)
        return
    first, *others = tables
    pair = np.array([[0, 1]])
    for name in others:
        both = {first: tables[first], name: tables[name]}
        short = short_controls(both)
        if short:
            both = {name: table[~table["attribute_group"].isin(list(short))] for name, table in both.items()}
        yield Pairing(period_sample(both), np.arange(2.0), pair, pair, short)


def _check_room(sample: PeriodSample, estimation: Estimation) -> None:
    words, size = len(sample.protected_words), len(sample.periods)
    check_memory(
        8 * CHAINS * estimation.draws * size * words * _ARRAYS,
        f"{CHAINS} chains of {estimation.draws:,} draws of {words:,} words under {size} conditions",
        "Take fewer draws or words, or allow more memory.",
    )


def _stacked(frames: "list[pd.DataFrame]") -> "pd.DataFrame":
    import pandas as pd

    return EstimateFrame(pd.concat(frames, ignore_index=True)) if frames else pd.DataFrame(columns=_EMPTY)


def _draws(drawn: Mapping[str, ContrastDraws], periods: Periods | None) -> "xr.Dataset":
    """Return the draws of the gaps of all words by scope, with dims chain, draw, contrast and condition."""
    import xarray as xr

    if periods is None:
        return xr.Dataset()
    size, dims = len(periods.times), ("chain", "draw", "contrast", "condition")
    return xr.Dataset(
        {
            scope: (dims, np.stack([one.overall(scope).draws.reshape(CHAINS, -1, size) for one in drawn.values()], 2))
            for scope in SCOPES
        },
        coords={"contrast": list(drawn), "condition": list(periods.sample.periods)},
    )


def _compared(sample: PeriodSample, baseline: str) -> list[int]:
    """Return the positions of the connections that are compared with the baseline; none if no word has both."""
    if baseline not in sample.connections:
        return []
    base = sample.connections.index(baseline)
    return [place for place in range(len(sample.connections)) if place != base and has_both(sample, base, place).any()]


def _own_gaps(fitted: "xr.DataTree", estimation: Estimation) -> "pd.DataFrame":
    return contrasts(
        fitted,
        baseline=estimation.baseline,
        level="all",
        scope=estimation.scope,
        hdi_prob=estimation.hdi_prob,
        rope=estimation.rope,
    )


def _facts(
    tables: "Mapping[str, pd.DataFrame]",
    samples: Sequence[PeriodSample],
    notes: Mapping[str, Mapping[str, Any]],
    fits: "Mapping[str, xr.DataTree]",
) -> dict[str, Any]:
    """Return the facts of the tables and of their fits."""
    studies = list(dict.fromkeys(str(of_table["study"]) for of_table in notes.values() if "study" in of_table))
    first, *others = tables
    roles = ("protected_word", "attribute_word")
    equalized = {name: tuple(equalized_words(tables[first], tables[name], role) for role in roles) for name in others}
    return {
        "study": ", ".join(studies),
        "conditions": list(tables),
        **{name: len({word for sample in samples for word in getattr(sample, name)}) for name in _COUNTED},
        "protected_groups": len({group for sample in samples for group in sample.groups}),
        "groups_not_compared": {
            group: text
            for sample in samples
            for group, text in lacking_sides(
                sample.compared,
                sample.connection_weights.any(axis=2),
                np.array(sample.groups)[sample.group_of],
                sample.connections,
            ).items()
        },
        "equalized": {name: words for name, words in equalized.items() if any(words)},
        "tied": {name: tied for name, fitted in fits.items() if (tied := tied_directions(fitted))},
        "convergence_problems": [
            f"The fit of {name!r}: {problem}"
            for name, fitted in fits.items()
            for problem in fit_attribute(fitted, "convergence_problems")
        ],
    }
