"""The changes of a contrast between conditions, from the draws of one sample of paired distances."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias import __version__
from bayesbias.base.arrays import column_rank, is_constant
from bayesbias.base.checks import check_path
from bayesbias.base.files.spreadsheets import numbers_only, read_csv
from bayesbias.base.machine import check_memory
from bayesbias.base.progress import with_progress
from bayesbias.base.statements import Statement
from bayesbias.changes.change_contents import lacking_rows
from bayesbias.changes.change_statements import SLOPE, change_doubts, equalized_words
from bayesbias.changes.result import (
    CHAINS,
    Changes,
    Estimation,
    Pairing,
    change_parts,
    change_rows,
    contrast_rows,
    distance_rows,
)
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.periods import period_files
from bayesbias.errors import (
    ArgumentError,
    LostWordsWarning,
    ReportError,
    TableError,
    collected_warnings,
    name_some,
    worded,
)
from bayesbias.estimates.frames import EstimateFrame
from bayesbias.estimates.intervals import SCOPES, check_baseline, contrast_name
from bayesbias.models.data import SIDES, lacking_sides
from bayesbias.models.fits import fit_attribute, tied_directions
from bayesbias.models.multivariate.attribute_sample import has_both
from bayesbias.models.periods.contrast_draws import FEWEST_WORDS, ContrastDraws, PeriodSample, period_sample
from bayesbias.models.sampling import fit
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.posterior.doubts import sizes_text, word_lists
from bayesbias.studies.faults import CONTROLS
from bayesbias.studies.study import StudyLike, load_study
from bayesbias.tables.build import distance_table
from bayesbias.tables.measures import COSINE_DISTANCE, KEY, measure_of
from bayesbias.tables.schema import (
    FrameLike,
    as_frame,
    drop_duplicates,
    table_facts,
    validate_table,
)
from bayesbias.tables.table_files import is_table_name, read_table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


_PAIR = ["protected_word", "attribute_word"]
# Arrays of draws of all words under all conditions that are in memory at once.
_ARRAYS = 5
# Columns of a frame without rows that reports look at.
_EMPTY = ("contrast", "first", "second", "protected_group", "protected_word", "reading")
_COUNTED = ("protected_words", "attribute_words")
_LINES = ("lines", "slopes", "neighbours")


def checked_tables(tables: Mapping[str, FrameLike]) -> "dict[str, pd.DataFrame]":
    """Return valid tables of one study without repetitions, by condition, or raise an error that names the fault."""
    import pandas as pd

    if not isinstance(tables, Mapping) or len(tables) < 2:
        size = f"a mapping of {len(tables)}" if isinstance(tables, Mapping) else f"a {type(tables).__name__}"
        raise ReportError(
            worded(
                f"tables is {size}. Give at least two by name, such as {{'original': table, 'debiased': other}}.",
                "Give at least two files of distance tables.",
            )
        )
    checked = {}
    for name, table in tables.items():
        if not isinstance(name, str) or not name.strip():
            raise ReportError(f"The key {name!r} of tables is not the name of an embedding. Give a non-blank string.")
        table = as_frame(table)
        if not isinstance(table, pd.DataFrame):
            raise TableError(f"The table {name!r} is not a pandas DataFrame but {type(table).__name__}.")
        try:
            valid = validate_table(table)
        except TableError as error:
            raise TableError(f"Table {name!r}: {error}") from error
        checked[name] = drop_duplicates(valid, "drop")[0].reset_index(drop=True)
    _check_measures(checked)
    _check_connections(checked)
    return checked


def _check_measures(tables: "Mapping[str, pd.DataFrame]") -> None:
    """Raise `TableError` if the tables do not hold numbers of one measure."""
    measures = {name: measure_of(table_facts(table)) for name, table in tables.items()}
    first = next(iter(measures))
    for name, measure in measures.items():
        if measure != measures[first]:
            raise TableError(
                f"Table {first!r} holds {measures[first].of_means}, and table {name!r} {measure.of_means}. Compare "
                "tables of one measure."
            )


def short_controls(tables: "Mapping[str, pd.DataFrame]") -> dict[str, int]:
    """Return the control lists of too few words for an error of a change, and how many a condition has at least.

    None are returned if the tables have no other lists.
    """
    import pandas as pd

    lists = [
        table.groupby(table["attribute_group"].astype(str))["attribute_word"].nunique() for table in tables.values()
    ]
    fewest = pd.concat(lists, axis=1).fillna(0).min(axis=1)
    short = fewest[fewest.index.isin(CONTROLS) & (fewest < FEWEST_WORDS)]
    return {} if len(short) == len(fewest) else {str(name): int(count) for name, count in short.items()}


def tables_by_period(periods: Any, study: StudyLike | None, case: Any, max_lost: float) -> "dict[str, pd.DataFrame]":
    """Return valid tables by period, in the order of time.

    `periods` is a folder, or a mapping of periods to tables or to embeddings, which need the study; `max_lost` limits
    what these lose.
    """
    if isinstance(periods, str | os.PathLike):
        periods = period_files(periods)
    if not isinstance(periods, Mapping) or len(periods) < 2:
        size = f"a mapping of {len(periods)}" if isinstance(periods, Mapping) else f"a {type(periods).__name__}"
        raise ReportError(
            f"periods is {size}. Give a folder with one file per period, or at least two tables or embeddings by "
            "period, such as {1900: table, 1990: other}."
        )
    names = [str(name).strip() for name in periods]
    if len(set(names)) < len(names) or not all(names):
        raise ReportError(
            f"The names of periods are {name_some(map(repr, names))}. Give each period a name of its own."
        )
    tables: dict[str, Any] = {}
    for name, source in zip(names, periods.values(), strict=True):
        is_path = isinstance(source, str | os.PathLike)
        table = read_table(source) if is_path and is_table_name(source) else as_frame(source)
        if hasattr(table, "columns") and "attribute_word" in table.columns:
            tables[name] = table
        elif study is None:
            raise ReportError(
                f"The period {name!r} is not a distance table but {type(source).__name__}. Give the study, too, to "
                "build the tables of embeddings."
            )
        else:
            tables[name] = _table(source, study, case, max_lost, name)
    checked = checked_tables(tables)
    order = sorted(checked, key=dict(zip(names, times_of(names), strict=True)).__getitem__)
    return {name: checked[name] for name in order}


def _table(source: Any, study: StudyLike, case: Any, max_lost: float, name: str) -> "pd.DataFrame":
    """Return the table of an embedding; words that it lacks are listed by the report and not warned of here."""
    loaded = load_study(study)
    embedding = load_embedding(source, words=loaded.words, case=case, name=name)
    with collected_warnings(LostWordsWarning):
        return distance_table(embedding, loaded, max_lost=max_lost)


def _check_connections(tables: "Mapping[str, pd.DataFrame]") -> None:
    """Raise `TableError` if a pair has another connection, or a word another list, in a later period."""
    first: dict[tuple[str, ...], tuple[str, str]] = {}
    for period, table in tables.items():
        facts = [table[name].astype(str) for name in (*_PAIR, "connection")]
        for pair in zip(*facts, strict=True):
            stored, before = first.setdefault(pair[:2], (pair[2], period))
            if stored != pair[2]:
                raise TableError(
                    f"The pair {pair[0]!r} and {pair[1]!r} is {stored} in {before!r} and {pair[2]} in {period!r}. "
                    "Build all tables from the same study."
                )
        for word_column, list_column in zip(_PAIR, ("protected_group", "attribute_group"), strict=True):
            lists = table[[word_column, list_column]].drop_duplicates().astype(str)
            for word, name in lists.itertuples(index=False, name=None):
                stored, before = first.setdefault((word_column, word), (name, period))
                if stored != name and list_column == "protected_group":
                    raise TableError(
                        f"The word {word!r} is in {stored!r} in {before!r} and in {name!r} in {period!r}. Build all "
                        "tables from the same study."
                    )


def times_of(names: list[str]) -> np.ndarray:
    """Return the names of periods as numbers, or 0, 1, 2, ... if some are not numbers.

    >>> times_of(["1900", "1950"]).tolist(), times_of(["before", "after"]).tolist()
    ([1900.0, 1950.0], [0.0, 1.0])
    """
    try:
        times = np.array([float(name) for name in names])
    except ValueError:
        return np.arange(len(names), dtype=float)
    usable = np.isfinite(times).all() and len(np.unique(times)) == len(times)
    return times if usable else np.arange(len(names), dtype=float)


def covariates_by_period(covariates: Any, periods: tuple[str, ...], period_column: str | None = None) -> "pd.DataFrame":
    """Return covariates as a frame with one row per period, in their order.

    `covariates` is a frame whose index has the periods, the path of a CSV file with a column `period`, which may be
    called `period_column`, a mapping of names to mappings of periods to numbers, or None.
    """
    import pandas as pd

    if covariates is None:
        return pd.DataFrame(index=list(periods))
    if isinstance(covariates, pd.Series):
        covariates = covariates.to_frame("covariate" if covariates.name is None else covariates.name)
    if isinstance(covariates, str | os.PathLike):
        source, advice = check_path(covariates, "covariates"), "Give a column 'period' and columns of numbers."
        content = read_csv(source, advice, keys=("period",), given={"period": period_column})
        covariates = numbers_only(content, ("period",), str(source))
    frame = as_frame(covariates)
    if isinstance(frame, Mapping):
        frame = pd.DataFrame({str(name): pd.Series(values) for name, values in frame.items()})
    if not isinstance(frame, pd.DataFrame):
        raise ArgumentError(
            f"covariates is a {type(covariates).__name__}. Give a frame whose index has the periods, or a mapping "
            "such as {'share_of_women': {1900: 0.2, 1990: 0.5}}."
        )
    frame = frame.rename(columns={period_column: "period"})
    frame = frame.set_index("period") if "period" in frame.columns else frame
    frame = frame.set_axis([period_name(label) for label in frame.index], axis=0)
    if lacking := [name for name in periods if name not in frame.index]:
        raise ArgumentError(f"covariates lacks {name_some(map(repr, lacking))}. Give a number for each period.")
    frame = frame.loc[list(periods)]
    for name in frame:
        numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=float)
        if len(numbers) != len(periods) or not np.isfinite(numbers).all():
            raise ArgumentError(f"The covariate {name!r} is not one finite number for each period. Correct it.")
        if is_constant(numbers):
            raise ArgumentError(f"The covariate {name!r} is {numbers[0]:g} in all periods, so it has no slope.")
        frame = frame.assign(**{str(name): numbers})
    return frame


def period_name(label: Any) -> str:
    """Return a period as a text; whole numbers without decimals."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label).strip()


def trend_design(covariates: "pd.DataFrame", times: np.ndarray, *, walk: bool) -> "pd.DataFrame | None":
    """Return time and covariates as columns, or None if there are too few periods for a trend without covariates."""
    design = covariates.copy()
    if not walk:
        design.insert(0, SLOPE, times / np.ptp(times))
    design = design - design.mean()
    free = len(times) - 1 - design.shape[1]
    if free < 1:
        if not len(covariates.columns):
            return None
        raise ReportError(
            f"{len(times)} periods are too few for a trend with {len(covariates.columns)} covariates: at least "
            f"{design.shape[1] + 2} are needed. Leave covariates out, or add periods."
        )
    if column_rank(design.to_numpy()) < design.shape[1]:
        raise ReportError(
            "The covariates determine each other or are a line in time, so their slopes cannot be separated. Leave "
            "one out, or use walk=True."
        )
    return design


type Lines = Callable[[ContrastDraws, tuple[str, str]], Mapping[str, "pd.DataFrame"]]
"""What periods add for a contrast, given its two connections: frames `lines`, `slopes` and `neighbours`."""


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
    """Return the changes of contrasts between conditions, given checked tables by condition.

    Changes of periods are of one sample: of all words between any two of them, of groups and words from the first to
    the last. Other conditions have no order: each is compared with the first, whatever the others are.
    """
    pairings = list(paired_conditions(tables, periods))
    for pairing in pairings:
        _check_room(pairing.sample, estimation)
    has_contrast = any(compared_connections(pairing.sample, estimation.baseline) for pairing in pairings)
    if periods is not None and not has_contrast:
        raise _without_contrast(periods.sample, estimation.baseline)
    fits: dict[str, xr.DataTree] = {}
    for name, table in with_progress(list(tables.items()), "Fitting conditions", progress=progress):
        fits[name] = fit(table, draws=estimation.draws, chains=CHAINS, random_seed=estimation.seed, progress=False)
    in_conditions = contrast_rows(
        {name: condition_contrasts(fitted, estimation) for name, fitted in fits.items()} if has_contrast else {}
    )
    frames: dict[str, list[pd.DataFrame]] = {name: [] for name in ("changes", "distances", *_LINES)}
    drawn: dict[str, ContrastDraws] = {}
    for pairing in with_progress(pairings, "Comparing conditions", progress=progress):
        for place in compared_connections(pairing.sample, estimation.baseline):
            name = contrast_name(estimation.baseline, pairing.sample.connections[place])
            base = pairing.sample.connections.index(estimation.baseline)
            drawn[name] = pairing.draw(estimation, (base, place))
            parts = {
                "changes": change_rows(
                    drawn[name], pairing, in_conditions[in_conditions["contrast"] == name], estimation
                )
            }
            sides = estimation.baseline, pairing.sample.connections[place]
            parts |= {} if periods is None else periods.lines(drawn[name], sides)
            for key, frame in parts.items():
                frame.insert(0, "contrast", name)
                frames[key].append(frame)
        frames["distances"] += [
            distances_to(connection, pairing, estimation) for connection in pairing.sample.connections
        ]
    notes = {name: dict(table_facts(table)) for name, table in tables.items()}
    return Changes(
        contrasts=EstimateFrame(in_conditions),
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
            **{"covariates": [], "word_covariates": [], "percent_covariates": [], "walk": False, "trend": False},
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


def changes_of_contrasts(
    pairing: Pairing, of_fits: "Mapping[str, pd.DataFrame]", estimation: Estimation
) -> "tuple[pd.DataFrame, np.ndarray]":
    """Return the changes between two conditions as rows of `Changes.changes`, and their draws (draws, rows).

    `of_fits` has the contrasts of each condition's fit.
    """
    import pandas as pd

    every, frames, draws = contrast_rows(of_fits), [], []
    for place in compared_connections(pairing.sample, estimation.baseline):
        base = pairing.sample.connections.index(estimation.baseline)
        drawn = pairing.draw(estimation, (base, place))
        name = contrast_name(estimation.baseline, pairing.sample.connections[place])
        frames.append(change_rows(drawn, pairing, every[every["contrast"] == name], estimation))
        frames[-1].insert(0, "contrast", name)
        draws += [part * pairing.sample.unit for part, *_ in change_parts(drawn, pairing, estimation.scope)]
    if not frames:
        raise _without_contrast(pairing.sample, estimation.baseline)
    return pd.concat(frames, ignore_index=True), np.concatenate(draws, axis=1)


def distances_to(connection: str, pairing: Pairing, estimation: Estimation, *, of_words: bool = True) -> "pd.DataFrame":
    """Return the rows of `Changes.distances` of a connection; without `of_words`, those of all words alone."""
    drawn = pairing.draw(estimation, (pairing.sample.connections.index(connection), None))
    frame = distance_rows(drawn, pairing, estimation, of_words=of_words)
    frame.insert(0, "connection", connection)
    return frame


def doubts_about_words(
    pairing: Pairing, tables: "Mapping[str, pd.DataFrame]", second: "xr.DataTree"
) -> tuple[Statement, ...]:
    """Return the doubts that the words and the fit of a second condition raise about the changes from the first.

    They are about words that it lacks, equalized or tied; `tables` are checked tables by condition.
    """
    import pandas as pd

    name = list(tables)[-1]
    facts = _facts(tables, [pairing.sample], {}, {name: second})
    facts["short_controls"] = {name: pairing.short_controls} if pairing.short_controls else {}
    distances = pd.DataFrame(columns=["first", "second", "protected_word"])
    return tuple(change_doubts(distances, lacking_rows(tables, {}), facts))


def paired_conditions(tables: "Mapping[str, pd.DataFrame]", periods: Periods | None = None) -> Iterator[Pairing]:
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


def _without_contrast(sample: PeriodSample, baseline: str) -> ReportError:
    check_baseline(baseline, sample.connections, "tables")
    return ReportError(
        f"No protected word has both {baseline} and other attribute words, so there is no contrast. Give a group "
        "lists of both kinds."
    )


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
    """Return the draws of the contrasts of all words by scope, with dims chain, draw, contrast and condition."""
    import xarray as xr

    if periods is None:
        return xr.Dataset()
    size, dims, unit = len(periods.times), ("chain", "draw", "contrast", "condition"), periods.sample.unit
    overall = {
        scope: [unit * one.overall(scope).draws.reshape(CHAINS, -1, size) for one in drawn.values()] for scope in SCOPES
    }
    return xr.Dataset(
        {scope: (dims, np.stack(of_scope, 2)) for scope, of_scope in overall.items()},
        coords={"contrast": list(drawn), "condition": list(periods.sample.periods)},
    )


def compared_connections(sample: PeriodSample, baseline: str) -> list[int]:
    """Return the positions of the connections that are compared with the baseline; none if no word has both."""
    if baseline not in sample.connections:
        return []
    base = sample.connections.index(baseline)
    return [place for place in range(len(sample.connections)) if place != base and has_both(sample, base, place).any()]


def condition_contrasts(fitted: "xr.DataTree", estimation: Estimation) -> "pd.DataFrame":
    """Return the contrasts of a condition's fit at all levels."""
    return contrasts(
        fitted,
        baseline=estimation.baseline,
        level="all",
        scope=estimation.scope,
        hdi_prob=estimation.hdi_prob,
        rope=estimation.rope,
    )


def _list_names(table: "pd.DataFrame") -> dict[str, str]:
    """Return the list of associated and of different words, if there is one protected group and one list of each."""
    if table["protected_group"].nunique() > 1 or "attribute_group" not in table:
        return {}
    names = {side: table.loc[table["connection"] == side, "attribute_group"].astype(str).unique() for side in SIDES}
    return (
        {side: str(lists[0]) for side, lists in names.items()} if all(len(one) == 1 for one in names.values()) else {}
    )


def _facts(
    tables: "Mapping[str, pd.DataFrame]",
    samples: Sequence[PeriodSample],
    notes: Mapping[str, Mapping[str, Any]],
    fits: "Mapping[str, xr.DataTree]",
) -> dict[str, Any]:
    studies = list(dict.fromkeys(str(of_table["study"]) for of_table in notes.values() if "study" in of_table))
    descriptions = {str(of_table.get("description", "")) for of_table in notes.values()}
    first, *others = tables
    roles, compared = ("protected_word", "attribute_word"), tables[first][tables[first]["connection"].isin(SIDES)]
    measure = measure_of(table_facts(tables[first]))
    vectors = others if measure.column == COSINE_DISTANCE.column else []  # methods equalize those alone
    equalized = {name: tuple(equalized_words(tables[first], tables[name], role) for role in roles) for name in vectors}
    return {
        KEY: measure.record(),
        "unit": samples[0].unit,
        "context_errors": any("context_errors" in of_table for of_table in notes.values()),
        "study": ", ".join(studies),
        "description": descriptions.pop() if len(descriptions) == 1 else "",
        "conditions": list(tables),
        **{name: len({word for sample in samples for word in getattr(sample, name)}) for name in _COUNTED},
        "compared_words": {role.removesuffix("_word"): compared[role].astype(str).unique().tolist() for role in roles},
        "sizes": {
            name: sizes_text(word_lists(fitted), recorded="lost_words" in notes.get(name, {}))
            for name, fitted in fits.items()
        },
        "protected_groups": len({group for sample in samples for group in sample.groups}),
        "lists": _list_names(tables[first]),
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
