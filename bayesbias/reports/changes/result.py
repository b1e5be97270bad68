"""`Changes`: the same gap under several conditions, and its contents on a page."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.number_text import counted, percent_text
from bayesbias.base.results import Contents, Result, ResultFigure, ResultTable, call_options
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.reports.changes.doubts import change_doubts
from bayesbias.reports.changes.statements import (
    change_statement,
    distance_statement,
    explanations,
    limits,
    line_statements,
    methods,
    neighbour_statements,
    slope_statements,
    word_statements,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

DRAWS = 1000
_ON_PAGE = ("Trend", "Slopes", "Words", "Distances", "How to read it", "Methods")
_LINE_COLUMNS = ("contrast", "parameter", "observed", "mean", "sd", "hdi_low", "hdi_high", "ess_bulk", "r_hat")
_SLOPE_COLUMNS = ("contrast", "covariate", "quantity", "period", "observed", "mean", "hdi_low", "hdi_high", "settled")


@dataclass(frozen=True, eq=False, repr=False)
class Changes(Result):
    """The same gap under several conditions, returned by `compare_embeddings` and `trend`; `print` shows conclusions.

    Conditions are embeddings, periods or methods of debiasing. A gap is a contrast under one condition: the distance to
    associated attribute words minus that to others; below 0, associated words are nearer. A change is the gap under a
    second condition minus that under a first. All are in units of cosine distance.

    Parameters
    ----------
    gaps : pandas.DataFrame
        One row for each `condition` and contrast, over all words, for each group and for each word: what `contrasts`
        returns for the default model, fitted to the condition's table alone.
    changes : pandas.DataFrame
        One row for each contrast and pair of conditions, `first` and `second`:

        - `protected_group` and `protected_word` are empty in the rows of all words;
        - `observed` is the change of the plain gap of the averages, lists and groups weighing the same;
        - estimates, `borderline` and `direction` as in `contrasts` (``"equal"`` if no distance differs);
        - `reading` is ``"not settled"`` or ``"borderline"`` by the interval of the change; else, by the gaps of both
          conditions, ``"narrower"``, ``"wider"``, ``"reversed"`` (settled on different sides), ``"first only"``
          (narrower, and not settled any more), ``"second only"``, ``"neither"``; or ``"equal"``.

        The change has the small error of what is paired: it is more reliable than the difference of the two gaps.
    distances : pandas.DataFrame
        The changes of the mean distance to each `connection`, of all words and of each word, without a reading.
    lines, slopes, neighbours : pandas.DataFrame
        Of periods alone (see `trend`): the trend of each contrast, slopes on numbers of words, and whether neighbouring
        periods deviate alike. Else empty.
    lacking : pandas.DataFrame
        Words that some conditions lack, with their `list`, the number of `conditions` that have them, and those it
        `lacks`.
    draws : xarray.Dataset
        Of periods alone: draws of the gaps of all words, paired over periods, from which any other number follows, in
        variables `population` and `these_words` with dims `chain`, `draw`, `contrast`, `condition`. Else empty.
    fits
        Fit of the default model to each condition's table.
    facts
        `study`, `conditions`, `times` (None where conditions are no periods), `protected_words`, `attribute_words`,
        `equalized` (by condition, words that are as near to most others as another word, but not under the first
        condition: protected and attribute words), `tied` (by condition, directions in which distances are tied),
        `short_controls` (by condition, control lists that its change leaves out, with their words),
        `convergence_problems`, and settings.
    """

    gaps: "pd.DataFrame"
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

    @cached_property
    def doubts(self) -> tuple[Statement, ...]:
        """Reasons why a change may not be one of the association alone."""
        return tuple(change_doubts(self.distances, self.lacking, self.facts))

    @cached_property
    def answers(self) -> tuple[Statement, ...]:
        """What happened to the gaps, of groups too, between the ends; without gaps, to the mean distances."""
        if self.changes.empty:
            return self._distance_statements()
        rows = self.changes[self.changes["protected_word"] == ""]
        first = self.changes["contrast"].iloc[0]
        shown = rows[(rows["protected_group"] == "") | (rows["contrast"] == first)]
        return tuple(change_statement(row, self.gaps) for row in rows_of(shown) if self._is_end(row))

    @property
    def verdicts(self) -> tuple[Statement, ...]:
        """The first answer about each condition."""
        return tuple({answer.numbers["second"]: answer for answer in reversed(self.answers)}.values())[::-1]

    def _answers_about(self, condition: str) -> list[Statement]:
        return [answer for answer in self.answers if answer.numbers["second"] == condition]

    def _distance_statements(self) -> tuple[Statement, ...]:
        ends, groups = self.distances[self.distances["protected_word"] == ""], self.facts["protected_groups"]
        return tuple(distance_statement(row, groups) for row in rows_of(ends))

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
    def _title(self) -> str:
        return f"What changed ({percent_text(self.facts['hdi_prob'])} HPDI, in units of cosine distance)"

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        facts = self.facts
        return (
            StatementList(self._title, self.answers),
            StatementList("Beware", self.doubts),
            StatementList(
                "Trend",
                (
                    *line_statements(self.lines, walk=facts["walk"]),
                    *neighbour_statements(self.neighbours, 1 - facts["hdi_prob"]),
                ),
            ),
            StatementList("Slopes", slope_statements(self.slopes)),
            StatementList("Words", tuple(word_statements(self.changes))),
            StatementList("Distances", self._distance_statements() if len(self.changes) else ()),
            StatementList("How to read it", explanations()),
            StatementList("What it does not show", limits(facts, self._pairs)),
            StatementList("Methods", (methods(facts),), bulleted=False),
        )

    @cached_property
    def contents(self) -> Contents:
        """Changes, the trend of periods, words, distances and words that are lacking, with a figure for each pair."""
        facts, changes = self.facts, self.changes
        prob = f"{percent_text(facts['hdi_prob'])} HPDI"
        of_words, change = changes["protected_word"] != "", {"mean": "Change"}
        tables = {
            "changes": ResultTable(
                changes[~of_words], "Changes", f"Changes of gaps, {prob}", headings=change, differences=True
            ),
            "words": ResultTable(
                changes[of_words],
                "Words",
                f"Changes of single words, {prob}",
                headings=change,
                differences=True,
                folded=True,
            ),
            "gaps": ResultTable(
                self.gaps[self.gaps["protected_word"] == ""],
                "Gaps",
                f"Gap under each condition, {prob}",
                differences=True,
            ),
            "lines": ResultTable(self.lines, "Trend", f"Trend of the gaps, {prob}", _LINE_COLUMNS),
            "slopes": ResultTable(
                self.slopes,
                "Slopes",
                f"Slopes of the words' gaps, in cosine distance for one unit of the covariate, {prob}",
                _SLOPE_COLUMNS,
            ),
            "neighbours": ResultTable(self.neighbours, "Trend", "Whether neighbouring periods deviate alike"),
            "distances": ResultTable(
                self.distances,
                "Distances",
                f"Changes of mean distances, {prob}; above 0, farther apart",
                headings=change,
                differences=True,
                folded=True,
            ),
            "lacking": ResultTable(self.lacking, "Words that are lacking", "Words that some conditions lack"),
        }
        shown = {part.title: part for part in self.parts}
        return Contents(
            title=self._headline,
            about=f"{counted(len(self.conditions), 'condition')}, {facts['protected_words']} protected and "
            f"{counted(facts['attribute_words'], 'attribute word')}.",
            diagnostics=self.doubts,
            verdict=" ".join(answer.text for answer in self.verdicts),
            answers=tuple(answer for answer in self.answers if answer not in self.verdicts),
            parts=tuple(shown[name] for name in _ON_PAGE if name in shown),
            tables={name: table for name, table in tables.items() if len(table.frame)},
            figures=self._figures(prob),
            limits=limits(facts, self._pairs),
            settings={
                "Study": facts["study"],
                "Scope": facts["scope"],
                "Trend": ("random walk" if facts["walk"] else "line") if facts["trend"] else "none",
                "Draws": f"{facts['draws']:,} of each chain",
                "Seed": str(facts["random_seed"]),
                "Interval": prob,
            },
            code=self._code(),
        )

    @property
    def _headline(self) -> str:
        if self.facts["times"] is not None:
            return f"How did the association move? {self.facts['study']}".strip()
        first, *others = self.conditions
        return f"{', '.join(others)} compared with {first}"

    def _figures(self, prob: str) -> dict[str, ResultFigure]:
        if self.facts["times"] is None:
            first, *others = self.conditions
            return {
                f"change_{number}": ResultFigure(
                    "plot_changes",
                    f"Changes from {first} to {name}: posterior means (points), filled if settled, and {prob} (lines). "
                    f"Between them the gap in {first} (hollow) and in {name} (filled): these come from separate fits "
                    "and need not differ by exactly the change, which is the number to use.",
                    options={"second": name},
                    section="" if number == 1 else "Changes",
                    alt=" ".join(["Points with intervals.", *map(str, self._answers_about(name))]),
                )
                for number, name in enumerate(others, start=1)
            }
        figures = {
            "trend": ResultFigure(
                "plot_trend",
                f"Gap in each period, in units of cosine distance: posterior means (points), {prob} (lines) and "
                "plain differences (crosses).",
                alt="The gap in each period with its interval. The numbers are in the table of gaps.",
            )
        }
        if len(self.slopes):
            figures["slopes"] = ResultFigure(
                "plot_slopes",
                "Slope of the words' gaps in each period, in units of cosine distance for one unit of the covariate: "
                "posterior means (points), intervals (lines) and plain slopes (crosses).",
                section="Slopes",
                alt="The slope in each period with its interval. The numbers are in the table of slopes.",
            )
        return figures

    def _code(self) -> str:
        facts = self.facts
        options = call_options(
            walk=(facts["walk"], False),
            baseline=(facts["baseline"], "associated"),
            scope=(facts["scope"], "population"),
            hdi_prob=(facts["hdi_prob"], HDI_PROB),
            rope=(facts["rope"], None),
            draws=(facts["draws"], DRAWS),
        )
        seed = f"random_seed={facts['random_seed']}"
        if facts["times"] is None:
            names = ", ".join(f"{name!r}: table_{place}" for place, name in enumerate(self.conditions, start=1))
            call = f"compared = bb.compare_embeddings({{{names}}}{options}, {seed})\n"
            return f'{call}bb.write(compared, "changes.html")'
        given = "".join(f", {name}={name.upper()}" for name in ("covariates", "word_covariates") if facts[name])
        return f'moved = bb.trend("periods/", STUDY{given}{options}, {seed})\nbb.write(moved, "trend.html")'
