"""`Changes`: the same contrast under several conditions, and its contents on a page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import ROUNDING
from bayesbias.base.checks import check_choice, check_count, check_probability, check_rope, resolve_seed
from bayesbias.base.number_text import counted, listed, percent_text, quoted_name
from bayesbias.base.results import (
    BEFORE_ANSWER,
    DOUBTS,
    LIMITS,
    SHOWS,
    ComparedConditions,
    Contents,
    ResultTable,
    alerts_and_others,
)
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.changes.change_code import change_code
from bayesbias.changes.change_contents import (
    change_figures,
    contrasts_table,
    first_tables,
    lacking_table,
    slope_tables,
    slopes_figure,
)
from bayesbias.changes.change_statements import (
    change_answer,
    change_doubts,
    change_estimate,
    change_limits,
    change_statement,
    condition_word,
    distance_statement,
    explanations,
    line_statements,
    methods_statement,
    neighbour_statements,
    sizes_of_conditions,
    word_statements,
)
from bayesbias.changes.many_changes import settled_together
from bayesbias.changes.readings import is_claim, reading_of
from bayesbias.changes.slope_statements import slope_answer, slope_estimate, slope_origins, slope_statements
from bayesbias.estimates.intervals import (
    SCOPES,
    contrast_sides,
    diagnostics_of,
    direction_of,
    is_borderline,
    moments,
)
from bayesbias.models.numerics.contrast_estimate import draws_interval
from bayesbias.models.periods.contrast_draws import (
    ContrastDraws,
    ListDeviations,
    PeriodSample,
    draw_contrast,
    list_deviations,
)
from bayesbias.reports.posterior.estimate_tables import with_ways
from bayesbias.tables.measures import Measure, measure_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_LINE_COLUMNS = ("contrast", "parameter", "observed", "mean", "sd", "hdi_low", "hdi_high", "ess_bulk", "r_hat")
CHAINS = 4
_SIDES = ("first", "second")
_ON_PAGE = ("Slopes", "Trend", "How to read it", "Methods")


@dataclass(frozen=True, eq=False, repr=False)
class Changes(ComparedConditions):
    """A contrast under several conditions, returned by `compare_embeddings` and `trend`; `print` shows conclusions.

    Conditions are embeddings, periods or methods of debiasing. A contrast is the mean distance to associated attribute
    words minus that to others; below 0, associated words are nearer. A change is the contrast under a second condition
    minus that under a first. All are in the unit of the tables: cosine distances, nats, or another.

    Parameters
    ----------
    contrasts : pandas.DataFrame
        One row for each `condition` and contrast, over all words, for each group and for each word: what `contrasts`
        returns for the default model, fitted to the condition's table alone.
    changes : pandas.DataFrame
        One row for each contrast and pair of conditions, `first` and `second`:

        - `protected_group` and `protected_word` are empty in the rows of all words;
        - `observed` is the change of the observed contrast of the averages, lists and groups weighing the same;
        - estimates, `borderline` and `direction` as in `contrasts` (``"equal"`` if no distance differs);
        - `reading` is ``"not settled"`` or ``"borderline"`` by the interval of the change; else, by the contrasts under
          both conditions, ``"smaller"`` (nearer to 0), ``"larger"``, ``"opposite sign"`` (settled on different sides),
          ``"smaller, no longer settled"``, ``"now settled"``, ``"changed"`` (neither contrast is settled); or
          ``"no change"`` (no distance differs).

        The change has the small error of what is paired: it is more reliable than the difference of the two contrasts.
    distances : pandas.DataFrame
        The changes of the mean distance to each `connection`, of all words and of each word, without a reading.
    lines, slopes, neighbours : pandas.DataFrame
        Of periods alone: trends, slopes on numbers of words, and whether neighbouring periods deviate alike.
    lacking : pandas.DataFrame
        Words that some conditions lack: their `list`, the number of `conditions` that have them, those that it `lacks`,
        and the `reason`.
    draws : xarray.Dataset
        Of periods alone: draws of the contrasts of all words, paired over periods, as `population` and `these_words`.
    fits
        Fit of the default model to each condition's table.
    facts
        Numbers of words, settings, the study (`description`), its measure and `unit` of scale, and what raises doubts:
        `equalized` (protected and attribute words that are as near to most others as another word, but not under the
        first), `tied` (directions in which distances are tied), `short_controls` (control lists that its change leaves
        out).
    """

    contrasts: "pd.DataFrame"
    changes: "pd.DataFrame"
    distances: "pd.DataFrame"
    lines: "pd.DataFrame"
    slopes: "pd.DataFrame"
    neighbours: "pd.DataFrame"
    lacking: "pd.DataFrame"
    draws: "xr.Dataset"
    fits: "dict[str, xr.DataTree]"
    facts: dict[str, Any]

    def __repr__(self) -> str:
        return (
            f"Changes({counted(len(self.conditions), 'condition')}, "
            f"{counted(self.facts['protected_words'], 'protected word')})"
        )

    @property
    def conditions(self) -> tuple[str, ...]:
        """Names of the conditions; changes are from the first."""
        return tuple(self.facts["conditions"])

    @property
    def measure(self) -> Measure:
        """What the numbers of the tables measure."""
        return measure_of(self.facts)

    @property
    def _numbers(self) -> str:
        return self.measure.numbers.capitalize()

    @cached_property
    def doubts(self) -> tuple[Statement, ...]:
        """Reasons why a change may not be one of the association alone."""
        return tuple(change_doubts(self.distances, self.lacking, self.facts))

    @cached_property
    def answers(self) -> tuple[Statement, ...]:
        """How contrasts, of groups too, changed between the ends; without contrasts, how mean distances changed."""
        if self.changes.empty:
            return self._distance_statements()
        rows = self.changes[self.changes["protected_word"] == ""]
        first = self.changes["contrast"].iloc[0]
        shown = rows[(rows["protected_group"] == "") | (rows["contrast"] == first)]
        return tuple(change_statement(row, self.contrasts) for row in rows_of(shown) if self._is_end(row))

    @property
    def verdicts(self) -> tuple[Statement, ...]:
        """The first answer about each condition."""
        return tuple({answer.numbers["second"]: answer for answer in reversed(self.answers)}.values())[::-1]

    def _distance_statements(self) -> tuple[Statement, ...]:
        ends, groups = self.distances[self.distances["protected_word"] == ""], self.facts["protected_groups"]
        return tuple(distance_statement(row, groups, self.measure) for row in rows_of(ends))

    @cached_property
    def _together(self) -> tuple[Statement, ...]:
        """What the settled changes of conditions, and of words, are worth together."""
        if self.changes.empty:
            return ()
        ends = self.changes[[self._is_end(row) for row in rows_of(self.changes)]]
        return settled_together(ends.assign(settled=ends["reading"].map(is_claim)), self.facts["hdi_prob"])

    def _is_end(self, row: Any) -> bool:
        """Whether a change is from the first condition, and of periods to the last one."""
        is_last = self.facts["times"] is None or row["second"] == self.conditions[-1]
        return bool(row["first"] == self.conditions[0] and is_last)

    @property
    def _pairs(self) -> int:
        """Number of pairs of conditions whose change of all words is shown."""
        of_all = self.changes[(self.changes["protected_word"] == "") & (self.changes["protected_group"] == "")]
        return len(of_all[["first", "second"]].drop_duplicates())

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        facts = self.facts
        alerts, doubts = alerts_and_others(self.doubts)
        prob = percent_text(facts["hdi_prob"])
        return (
            StatementList(BEFORE_ANSWER, alerts),
            StatementList("Slopes", slope_statements(self.slopes, self.sides, self._origins, self.measure)),
            StatementList(f"What changed ({prob} HPDI, {self.measure.in_unit})", self.answers),
            StatementList(DOUBTS, doubts),
            StatementList(
                "Trend",
                (
                    *line_statements(self.lines, walk=facts["walk"]),
                    *neighbour_statements(self.neighbours, 1 - facts["hdi_prob"]),
                ),
            ),
            StatementList("Settled changes together", self._together),
            StatementList("Words", tuple(word_statements(self.changes)), detail=True),
            StatementList(self._numbers, self._distance_statements() if len(self.changes) else (), detail=True),
            StatementList("How to read it", explanations(self.measure), detail=True),
            StatementList(LIMITS, change_limits(facts, self._pairs), detail=True),
            StatementList("Methods", (methods_statement(facts),), bulleted=False, detail=True),
        )

    @cached_property
    def _origins(self) -> dict[str, str]:
        return slope_origins(self.slopes, self.distances, self.facts)

    @cached_property
    def contents(self) -> Contents:
        """Changes, the trend of periods, words, distances and words that are lacking, with a figure for each pair."""
        facts, changes = self.facts, with_ways(self.changes, self.measure)
        prob = f"{percent_text(facts['hdi_prob'])} HPDI"
        of_words, change = changes["protected_word"] != "", {"mean": "Change"}
        ends = changes[[self._is_end(row) for row in rows_of(changes)]]
        tables = first_tables(ends, self.contrasts, facts, prob, self._together) | {
            "changes": ResultTable(
                changes[~of_words], "Changes", f"Changes of contrasts, {prob}", headings=change, differences=True
            ),
            "words": ResultTable(
                changes[of_words], "Changes", f"Changes of single words, {prob}", headings=change, differences=True
            ),
            "contrasts": contrasts_table(self.contrasts, facts, prob),
            "lines": ResultTable(self.lines, "Trend", f"Trend of the contrasts, {prob}", _LINE_COLUMNS),
            **slope_tables(self.slopes, self.sides, prob, self.measure),
            "neighbours": ResultTable(self.neighbours, "Trend", "Whether neighbouring periods deviate alike"),
            "distances": ResultTable(
                with_ways(self.distances, self.measure),
                self._numbers,
                f"Changes of mean {self.measure.numbers}, {prob}; above 0, {self.measure.farther}",
                headings=change,
                differences=True,
            ),
            "lacking": lacking_table(self.lacking, facts),
        }
        shown = {part.title: part for part in self.parts}
        of_slopes = slope_statements(self.slopes, self.sides, self._origins, self.measure, of_periods=False)
        shown["Slopes"] = StatementList("Slopes", of_slopes)
        if "Trend" in shown:  # those of other contrasts are in the table
            chosen = {"", changes["contrast"].iloc[0]} if len(changes) else {""}
            trend = (text for text in shown["Trend"].statements if text.numbers.get("contrast", "") in chosen)
            shown["Trend"] = StatementList("Trend", tuple(trend))
        return Contents(
            title=self._headline,
            about=f"{f'The study asks: {facts["description"]} ' if facts['description'] else ''}"
            f"{counted(len(self.conditions), condition_word(facts))}. "
            f"{sizes_of_conditions(facts['sizes'])}.{self._meaning}",
            answer=self._answer,
            estimate=self._estimate,
            answers=self.answers,
            parts=tuple(part for name, part in shown.items() if name in (*_ON_PAGE, self._numbers) and part.statements),
            tables={name: table for name, table in tables.items() if len(table.frame)},
            figures={
                **slopes_figure(self.slopes, prob, self.measure),
                **change_figures(ends, self.contrasts, facts, prob, self._alternatives, is_first=self.slopes.empty),
            },
            opened=("Slopes", "Periods", "Trend", "Groups", "Words") if len(changes) else (SHOWS,),
            doubts=self.doubts,
            limits=change_limits(facts, self._pairs),
            settings={
                "Study": facts["study"],
                "Scope": facts["scope"],
                "Trend": ("random walk" if facts["walk"] else "line") if facts["trend"] else "none",
                "Draws": f"{facts['draws']:,} in each of {CHAINS} chains",
                "Seed": str(facts["random_seed"]),
                "Interval": prob,
            },
            code=change_code(facts),
        )

    @property
    def sides(self) -> tuple[str, str]:
        """Names of both sides of the first contrast: of the attribute lists, if each is one list for all words."""
        base, other = contrast_sides(str(self.changes["contrast"].iloc[0])) if len(self.changes) else ("", "")
        lists: Mapping[str, str] = self.facts["lists"]
        return lists.get(base, base), lists.get(other, other)

    @property
    def _meaning(self) -> str:
        """Meaning of associated and different words in a study of one group."""
        meanings = [f"{side} words are those of the list {name}" for side, name in self.facts["lists"].items()]
        return f" Here, {', and '.join(meanings)}." if meanings else ""

    @property
    def _slopes(self) -> list[Mapping[str, Any]]:
        """Slopes of the first contrast's leans on the first covariate, then their change; empty without covariates."""
        if self.slopes.empty:
            return []
        keys = ["contrast", "covariate"]
        return list(rows_of(self.slopes[(self.slopes[keys] == self.slopes[keys].iloc[0]).all(axis=1)]))

    @property
    def _estimate(self) -> str:
        if self.changes.empty:
            return ""
        if rows := self._slopes:
            return slope_estimate(rows, rows[0]["covariate"], self.facts["hdi_prob"], self.measure)
        return change_estimate(self.verdicts[0].numbers, self.contrasts, self.facts)

    @property
    def _answer(self) -> str:
        if rows := self._slopes:
            return slope_answer(rows, rows[0]["covariate"], self.sides, self.measure)
        if self.changes.empty:
            return f"The study has no contrast to compare: only mean {self.measure.numbers} changed, or did not."
        rows = [verdict.numbers for verdict in self.verdicts]
        return change_answer(rows[0]["contrast"], rows[0]["first"], {row["second"]: row["reading"] for row in rows})

    @property
    def _alternatives(self) -> dict[str, str]:
        """What a figure of each condition shows, for readers who do not see it."""
        return {
            name: " ".join(
                ["Points with intervals.", *(str(one) for one in self.answers if one.numbers["second"] == name)]
            )
            for name in self.conditions[1:]
        }

    @property
    def _headline(self) -> str:
        association = f"the association of {self.facts['study']}" if self.facts["study"] else "the association"
        if rows := self._slopes:
            first, second = self.sides
            name = quoted_name(rows[0]["covariate"])
            return f"Does the lean of words towards {first} or {second} words follow {name}, and did that change?"
        if self.facts["times"] is not None:
            return f"How did {association} move?"
        first, *others = self.conditions
        return f"Did {association} change from {first} to {listed(others, 3)}?"


@dataclass(frozen=True)
class Estimation:
    """How changes are estimated: draws of each chain, seed, interval, rope, scope, and baseline of the contrasts."""

    draws: int
    seed: int
    hdi_prob: float
    rope: tuple[float, float] | None = None
    scope: str = "population"
    baseline: str = "associated"

    @classmethod
    def checked(
        cls,
        *,
        draws: int,
        random_seed: int | None,
        hdi_prob: float,
        rope: float | tuple[float, float] | None,
        scope: str = "population",
        baseline: str = "associated",
    ) -> "Estimation":
        """Return what a user's arguments say, or raise `ArgumentError`."""
        check_probability("hdi_prob", hdi_prob)
        check_choice("scope", scope, SCOPES)
        count, seed = check_count("draws", draws, least=100), resolve_seed(random_seed)
        return cls(count, seed, hdi_prob, check_rope(rope), scope, baseline)


@dataclass(frozen=True, eq=False)
class Pairing:
    """Conditions whose distances are one sample, and positions of the pairs that are compared, shape (pairs, 2).

    `all_pairs` are those of all words, `ends` those of groups and of single words. `short_controls` are control lists
    that the sample leaves out, with the number of their words.
    """

    sample: PeriodSample
    times: np.ndarray
    all_pairs: np.ndarray
    ends: np.ndarray
    short_controls: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def list_parts(self) -> list[ListDeviations]:
        """The contribution of each attribute word to the means of its list."""
        return list_deviations(self.sample)

    def draw(self, estimation: Estimation, contrast: tuple[int, int | None]) -> ContrastDraws:
        """Return draws of the contrasts between two connections, or of the mean distances to one."""
        return draw_contrast(
            self.sample,
            self.list_parts,
            self.times,
            contrast,
            draws=CHAINS * estimation.draws,
            chains=CHAINS,
            seed=estimation.seed,
        )


def estimate_rows(
    draws: np.ndarray,
    labels: Mapping[str, Sequence[Any]],
    hdi_prob: float,
    rope: tuple[float, float] | None = None,
    *,
    means: np.ndarray | None = None,
    directions: bool = True,
    unit: float = 1.0,
) -> "pd.DataFrame":
    """Return labels, estimates and directions of each column of draws (draws, rows), chain after chain.

    `means` (rows,) replace the means of the draws where the posterior is symmetric around them, which says more with
    few degrees of freedom: the draws' own can lie outside the interval. Draws that are all 0 have the direction
    ``"equal"`` and no diagnostics. Draws, means and the label `observed` are in the unit of cosine distances, of which
    `unit` is a step in the unit of the tables, that of the rope and of the rows.
    """
    import pandas as pd
    import xarray as xr

    array = xr.DataArray(
        draws.reshape(CHAINS, -1, draws.shape[1]),
        dims=("chain", "draw", "row"),
        coords={"row": np.arange(draws.shape[1])},
    )
    with np.errstate(invalid="ignore", divide="ignore"):  # diagnostics of constant draws are undefined
        numbers = moments(array).drop(columns="row")
    diagnostics = numbers[diagnostics_of(numbers)]
    intervals = [draws_interval(column, hdi_prob) for column in draws.T]
    constant = (numbers["sd"] < ROUNDING).to_numpy()
    frame = pd.DataFrame(dict(labels))
    frame["mean"], frame["sd"] = numbers["mean"] if means is None else means, numbers["sd"]
    ends = {"hdi_low": "low", "hdi_high": "high", "low_se": "low_se", "high_se": "high_se"}
    for column, name in ends.items():
        frame[column] = [getattr(interval, name) for interval in intervals]
    frame["borderline"] = [
        not same and is_borderline(*row)
        for same, row in zip(constant, frame[list(ends)].itertuples(index=False, name=None), strict=True)
    ]
    if directions:
        sides = direction_of(array, None if rope is None else (rope[0] / unit, rope[1] / unit))
        equal = constant & (numbers["mean"].abs() < ROUNDING).to_numpy()
        frame = frame.assign(**sides | {"direction": np.where(equal, "equal", sides["direction"])})
    frame[[name for name in ("observed", "mean", "sd", *ends) if name in frame]] *= unit
    return pd.concat([frame, diagnostics.mask(np.tile(constant[:, None], len(diagnostics.columns)))], axis=1)


def contrast_rows(contrasts_by_condition: "Mapping[str, pd.DataFrame]") -> "pd.DataFrame":
    """Return the contrasts of each condition's own fit, one condition after the other."""
    import pandas as pd

    if not contrasts_by_condition:
        return pd.DataFrame(columns=["condition", "contrast", "protected_group", "protected_word"])
    frame = pd.concat(contrasts_by_condition, names=["condition"]).reset_index(level="condition")
    return frame.reset_index(drop=True)


def change_rows(
    drawn: ContrastDraws, pairing: Pairing, contrasts: "pd.DataFrame", estimation: Estimation
) -> "pd.DataFrame":
    """Return the changes of a contrast with their readings: of all words, of groups, and of single words.

    `contrasts` are the rows of the contrast from `contrast_rows`.
    """
    import pandas as pd

    parts, settings = change_parts(drawn, pairing, estimation.scope), (estimation.hdi_prob, estimation.rope)
    frames = [
        estimate_rows(draws, labels, *settings, means=means, unit=pairing.sample.unit) for draws, labels, means in parts
    ]
    frame = pd.concat(frames, ignore_index=True)
    by_key = {(row["condition"], row["protected_group"], row["protected_word"]): row for row in rows_of(contrasts)}
    frame["reading"] = [
        reading_of(row, *(by_key.get((row[side], row["protected_group"], row["protected_word"])) for side in _SIDES))
        for row in rows_of(frame)
    ]
    return frame


def change_parts(
    drawn: ContrastDraws, pairing: Pairing, scope: str
) -> Iterator[tuple[np.ndarray, dict[str, list[Any]], np.ndarray | None]]:
    """Yield draws of changes (draws, rows), their labels, and the means of symmetric ones: all words, groups, words."""
    sample, ends = pairing.sample, pairing.ends
    same = _unmoved(drawn.observed_words)
    parts = [_labelled(drawn.overall(scope).draws, drawn.observed, pairing.all_pairs, sample, same, {})]
    if len(drawn.group_places) > 1:
        parts += [
            _labelled(
                drawn.groups[:, :, place],
                drawn.observed_groups[:, place],
                ends,
                sample,
                same,
                {"protected_group": sample.groups[group]},
            )
            for place, group in enumerate(drawn.group_places)
        ]
    yield from ((draws, labels, np.array(labels["observed"])) for draws, labels in parts)
    if words := _word_parts(drawn, sample, ends, same):
        yield *words, None


def _unmoved(values: np.ndarray) -> np.ndarray:
    """Return whether observed values (conditions, ...) differ by rounding alone, for each pair of conditions."""
    rows = values.reshape(len(values), -1)
    return np.asarray(np.abs(rows[:, None] - rows[None]).max(axis=2) <= ROUNDING)


def _labelled(
    draws: np.ndarray,
    observed: np.ndarray,
    pairs: np.ndarray,
    sample: PeriodSample,
    same: np.ndarray,
    labels: Mapping[str, str],
) -> tuple[np.ndarray, dict[str, list[Any]]]:
    """Return draws of changes (draws, pairs), and their labels; where no distance differs, all draws are 0."""
    first, second = pairs.T
    texts = {
        "first": [sample.periods[place] for place in first],
        "second": [sample.periods[place] for place in second],
        "protected_group": [labels.get("protected_group", "")] * len(pairs),
        "protected_word": [""] * len(pairs),
        "observed": (observed[second] - observed[first]).tolist(),
    }
    return (draws[:, second] - draws[:, first]) * ~same[first, second], texts


def _word_parts(
    drawn: ContrastDraws, sample: PeriodSample, ends: np.ndarray, same: np.ndarray
) -> tuple[np.ndarray, dict[str, list[Any]]] | None:
    """Return draws of the changes of single words and their labels, or None without words.

    Of one pair of ends, a word that lacks one has the change between the first and the last condition that it has.
    """
    columns: list[np.ndarray] = []
    labels: dict[str, list[Any]] = {
        name: [] for name in ("first", "second", "protected_group", "protected_word", "observed")
    }
    for pair in ends:
        for place, word in enumerate(drawn.word_places):
            has = np.flatnonzero(sample.protected_present[word])
            first, second = (has[0], has[-1]) if len(ends) == 1 and len(has) > 1 else pair
            if not {first, second} <= set(has.tolist()):
                continue
            texts = (
                *(sample.periods[first], sample.periods[second], "", sample.protected_words[word]),
                float(drawn.observed_words[second, place] - drawn.observed_words[first, place]),
            )
            for name, text in zip(labels, texts, strict=True):
                labels[name].append(text)
            columns.append((drawn.words[:, second, place] - drawn.words[:, first, place]) * ~same[first, second])
    return (np.stack(columns, axis=1), labels) if columns else None


def distance_rows(
    drawn: ContrastDraws, pairing: Pairing, estimation: Estimation, *, of_words: bool = True
) -> "pd.DataFrame":
    """Return the changes of the mean distance to one kind of attribute words: of all words, then of single words.

    Without `of_words`, the rows of single words are left out.
    """
    import pandas as pd

    sample, ends = pairing.sample, pairing.ends
    same = _unmoved(drawn.observed_words)
    draws, labels = _labelled(drawn.population.draws, drawn.observed, ends, sample, same, {})
    settings = estimation.hdi_prob, estimation.rope
    frames = [estimate_rows(draws, labels, *settings, means=np.array(labels["observed"]), unit=sample.unit)]
    words = _word_parts(drawn, sample, ends, same) if of_words else None
    if words is not None:
        frames.append(estimate_rows(*words, *settings, unit=sample.unit))
    return pd.concat(frames, ignore_index=True).drop(columns="protected_group")
