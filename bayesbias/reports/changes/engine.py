"""The changes of a gap between conditions, from the draws of one sample of paired distances."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import with_progress
from bayesbias.base.machine.memory import check_memory
from bayesbias.errors import ReportError
from bayesbias.estimates.estimate_frame import EstimateFrame
from bayesbias.estimates.intervals import check_baseline, contrast_name
from bayesbias.models.data import lacking_sides
from bayesbias.models.fitted.fit_source import tied_directions
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.models.multivariate.attribute_sample import has_both
from bayesbias.models.periods.contrast_draws import ContrastDraws, draw_contrast
from bayesbias.models.periods.gap_draws import list_deviations
from bayesbias.models.periods.period_sample import PeriodSample
from bayesbias.models.sampling import fit
from bayesbias.reports.changes.doubts import equalized_words
from bayesbias.reports.changes.frames import (
    CHAINS,
    Estimation,
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
_LINES = ("lines", "slopes", "neighbours")

type Lines = Callable[[ContrastDraws], Mapping[str, "pd.DataFrame"]]
"""What periods add for a contrast: frames `lines`, `slopes` and `neighbours`."""


def changes_of(
    tables: "Mapping[str, pd.DataFrame]",
    sample: PeriodSample,
    estimation: Estimation,
    *,
    times: np.ndarray | None = None,
    lines: Lines | None = None,
    facts: Mapping[str, Any] | None = None,
    progress: bool = False,
) -> Changes:
    """Return the changes of gaps between conditions, given checked tables by condition and the sample of them.

    With `times`, conditions are periods: changes of all words are between any two of them, those of groups and words
    from the first to the last. Otherwise all are from the first condition to each other one. `facts` are further facts.
    """
    import pandas as pd
    import xarray as xr

    from bayesbias import __version__

    words, size = len(sample.protected_words), len(sample.periods)
    check_memory(
        8 * CHAINS * estimation.draws * size * words * _ARRAYS,
        f"{CHAINS} chains of {estimation.draws:,} draws of {words:,} words under {size} conditions",
        "Take fewer draws or words, or allow more memory.",
    )
    compared = _compared(sample, estimation.baseline)
    if times is not None and not compared:
        check_baseline(estimation.baseline, sample.connections, "tables")
        raise ReportError(
            f"No protected word has both {estimation.baseline} and other attribute words, so there is no gap. Give a "
            "group lists of both kinds."
        )
    order = np.arange(float(size)) if times is None else times
    pairs = _pairs(size, is_time=times is not None)
    fits: dict[str, xr.DataTree] = {}
    for name, table in with_progress(list(tables.items()), "Fitting conditions", progress=progress):
        fits[name] = fit(table, draws=estimation.draws, chains=CHAINS, random_seed=estimation.seed, progress=False)
    gaps = gap_rows({name: _own_gaps(fitted, estimation) for name, fitted in fits.items()} if compared else {})
    list_parts = list_deviations(sample)

    def drawn(contrast: tuple[int, int | None]) -> ContrastDraws:
        return draw_contrast(
            sample,
            list_parts,
            order,
            contrast,
            draws=CHAINS * estimation.draws,
            chains=CHAINS,
            seed=estimation.seed,
        )

    frames: dict[str, list[pd.DataFrame]] = {name: [] for name in ("changes", "distances", *_LINES)}
    overall: dict[str, list[np.ndarray]] = {name: [] for name in SCOPES}
    names = []
    for place in with_progress(compared, "Drawing contrasts", progress=progress):
        name = contrast_name(estimation.baseline, sample.connections[place])
        names.append(name)
        contrast = drawn((sample.connections.index(estimation.baseline), place))
        of_contrast = gaps[gaps["contrast"] == name]
        parts = {"changes": change_rows(contrast, sample, of_contrast, pairs, estimation)}
        parts |= {} if lines is None else lines(contrast)
        for key, frame in parts.items():
            frame.insert(0, "contrast", name)
            frames[key].append(frame)
        for key in SCOPES:
            overall[key].append(contrast.overall(key).draws.reshape(CHAINS, -1, size))
    for place, connection in enumerate(sample.connections):
        frame = distance_rows(drawn((place, None)), sample, pairs[1], estimation)
        frame.insert(0, "connection", connection)
        frames["distances"].append(frame)
    table_notes = {name: dict(table_facts(table)) for name, table in tables.items()}
    dims = ("chain", "draw", "contrast", "condition")
    return Changes(
        gaps=EstimateFrame(gaps),
        **{
            key: EstimateFrame(pd.concat(parts, ignore_index=True)) if parts else pd.DataFrame(columns=_EMPTY)
            for key, parts in frames.items()
        },
        lacking=lacking_rows(sample, table_notes, _lists_of(tables)),
        draws=xr.Dataset(
            {key: (dims, np.stack(parts, axis=2)) for key, parts in overall.items() if parts},
            coords={"contrast": names, "condition": list(sample.periods)},
        ),
        fits=fits,
        facts={
            **_facts(tables, sample, table_notes, fits),
            "times": None if times is None else times.tolist(),
            **{"covariates": [], "word_covariates": [], "walk": False, "trend": False},
            **(facts or {}),
            "scope": estimation.scope,
            "baseline": estimation.baseline,
            "draws": estimation.draws,
            "random_seed": estimation.seed,
            "hdi_prob": estimation.hdi_prob,
            "rope": estimation.rope,
            "version": __version__,
        },
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


def _pairs(size: int, *, is_time: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of conditions of all words, and those of groups and single words."""
    if not is_time:
        from_first = np.array([[0, place] for place in range(1, size)])
        return from_first, from_first
    return np.column_stack(np.triu_indices(size, 1)), np.array([[0, size - 1]])


def _facts(
    tables: "Mapping[str, pd.DataFrame]",
    sample: PeriodSample,
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
        "conditions": list(sample.periods),
        "protected_words": len(sample.protected_words),
        "protected_groups": len(sample.groups),
        "attribute_words": len(sample.attribute_words),
        "groups_not_compared": lacking_sides(
            sample.compared,
            sample.connection_weights.any(axis=2),
            np.array(sample.groups)[sample.group_of],
            sample.connections,
        ),
        "equalized": {name: words for name, words in equalized.items() if any(words)},
        "tied": {name: tied for name, fitted in fits.items() if (tied := tied_directions(fitted))},
        "convergence_problems": [
            f"The fit of {name!r}: {problem}"
            for name, fitted in fits.items()
            for problem in fit_attribute(fitted, "convergence_problems")
        ],
    }


def _lists_of(tables: "Mapping[str, pd.DataFrame]") -> dict[str, str]:
    """Return the list of each word."""
    lists: dict[str, str] = {}
    for table in tables.values():
        for words, names in (("attribute_word", "attribute_group"), ("protected_word", "protected_group")):
            pairs = table[[words, names]].drop_duplicates().astype(str)
            lists |= dict(pairs.itertuples(index=False, name=None))
    return lists
