"""`Trend`: what `trend` returns, and its contents on a page."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.number_text import counted, percent_text
from bayesbias.base.results import Contents, Result, ResultFigure, ResultTable, call_options
from bayesbias.base.statements import StatementList
from bayesbias.estimates.intervals import contrast_sides
from bayesbias.reports.periods.trend_statements import (
    convergence_statements,
    group_statements,
    lacking_statements,
    limits,
    line_statements,
    methods,
    neighbour_statements,
    slope_statements,
    verdict,
    word_statements,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

DRAWS = 4000
_LINE_COLUMNS = ("contrast", "parameter", "observed", "mean", "sd", "hdi_low", "hdi_high", "ess_bulk", "r_hat")
_SLOPE_COLUMNS = ("contrast", "covariate", "quantity", "period", "observed", "mean", "hdi_low", "hdi_high", "settled")
_SLOPE_FIGURE = ResultFigure(
    "plot_slopes",
    "Slope of the words' gaps in each period, in units of cosine distance for one unit of the covariate: posterior "
    "means (points), intervals (lines) and plain slopes (crosses).",
    section="Slopes",
    alt="The slope in each period with its interval. The numbers are in the table of slopes.",
)
_SECTIONS = ("Trend", "Slopes", "Words", "Words that periods lack", "Methods")


@dataclass(frozen=True, eq=False, repr=False)
class Trend(Result):
    """Trend returned by `trend`. `print` shows its conclusions. Estimates are in units of cosine distance.

    A gap is a contrast in one period: the distance to associated attribute words minus that to others; below 0,
    associated words are nearer. A change is a later period minus an earlier one.

    Parameters
    ----------
    gaps : pandas.DataFrame
        One row for each contrast, period and protected group (empty: all words, groups weighing the same): `words` that
        the period has, `observed` (difference of plain averages), `mean`, `sd`, `hdi_low`, `hdi_high`, `direction`,
        `probability_of_direction`, `probability_in_rope` if a rope was given, `ess_bulk`, `ess_tail`, `r_hat`.
    changes : pandas.DataFrame
        The same for changes from `first` to `second`: of all words between any two periods, of groups between the first
        and the last period; and `reading`: ``"not settled"`` if the interval of the change holds 0; else, by the gaps
        of both periods, ``"narrower"``, ``"wider"``, ``"reversed"`` (both are settled, on different sides), ``"baseline
        only"`` (narrower, and no longer settled), ``"other only"`` (settled in the second only) or ``"neither"``; or
        ``"equal"``.
    lines : pandas.DataFrame
        The trend of each contrast over all words: `parameter` (the change along the line from the first to the last
        period, the change for one unit of each covariate, the sd of periods), `observed` (of the plain gaps) and the
        estimates (of the sd, `mean` is the median). Empty with two periods.
    slopes : pandas.DataFrame
        With `word_covariates`, of each contrast and covariate: the least-squares slope of the words' gaps in each
        period (`quantity` is ``"slope"``) and its change from the first to the last (``"change"``), with `observed`
        (of the plain gaps), the estimates, and `settled`. Else empty.
    neighbours : pandas.DataFrame
        Whether neighbouring periods deviate from each line more alike than independent deviations do: `durbin_watson`
        and `p_value`, the share of simulated independent deviations with a smaller statistic. Empty for random walks.
    words : pandas.DataFrame
        The change of each word from the first to the last period that it has, the largest first. Single words are
        shrunk towards their group as far as its words agree.
    lacking : pandas.DataFrame
        Words that some periods lack, with their `list`, the number of `periods` that have them, and those it `lacks`.
    draws : xarray.Dataset
        Draws of the gaps of all words, in variables `population` and `these_words` with dims `chain`, `draw`,
        `contrast`, `period`, from which any other number follows.
    facts
        `study`, `periods`, `times`, `protected_words`, `attribute_words`, `scope`, `walk`, `covariates`,
        `word_covariates`, `draws`, `random_seed`, `hdi_prob`, `rope`, `lacking`, `version`.
    """

    gaps: "pd.DataFrame"
    changes: "pd.DataFrame"
    lines: "pd.DataFrame"
    slopes: "pd.DataFrame"
    neighbours: "pd.DataFrame"
    words: "pd.DataFrame"
    lacking: "pd.DataFrame"
    draws: "xr.Dataset"
    facts: dict[str, Any]

    def __repr__(self) -> str:
        return (
            f"Trend({counted(len(self.facts['periods']), 'period')}, "
            f"{counted(self.facts['protected_words'], 'protected word')})"
        )

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        contrasts = list(dict.fromkeys(self.changes["contrast"]))
        prob = percent_text(self.facts["hdi_prob"])
        doubts = convergence_statements(self.words, self.facts["draws"])
        of_groups = tuple(text for contrast in contrasts[:1] for text in group_statements(self.changes, contrast))
        return (
            *((StatementList("Beware", doubts),) if doubts else ()),
            StatementList(
                f"From the first to the last period ({prob} HPDI, in units of cosine distance)",
                (*(verdict(self.changes, contrast) for contrast in contrasts), *of_groups),
            ),
            StatementList(
                "Trend",
                (
                    *line_statements(self.lines, walk=self.facts["walk"]),
                    *neighbour_statements(self.neighbours, 1 - self.facts["hdi_prob"]),
                ),
            ),
            StatementList("Slopes", slope_statements(self.slopes, contrasts[0])),
            StatementList("Words", word_statements(self.words, contrasts[0])),
            StatementList("Words that periods lack", lacking_statements(self.lacking)),
            StatementList("What it does not show", limits(self.facts)),
            StatementList("Methods", (methods(self.facts),), bulleted=False),
        )

    @cached_property
    def contents(self) -> Contents:
        """Changes, trend, words that moved and words that periods lack, with the figure of the gaps."""
        facts, changes = self.facts, self.changes
        prob = f"{percent_text(facts['hdi_prob'])} HPDI"
        first = str(changes["contrast"].iloc[0])
        shown = {part.title.partition(" (")[0]: part for part in self.parts}
        ends = changes[(changes["first"] == facts["periods"][0]) & (changes["second"] == facts["periods"][-1])]
        tables = {
            "gaps": ResultTable(self.gaps, "Gaps", f"Gap in each period, in cosine distance, {prob}", differences=True),
            "changes": ResultTable(ends, "Changes", f"From the first to the last period, {prob}", differences=True),
            "all_changes": ResultTable(
                changes, "Changes", f"Between any two periods, {prob}", differences=True, folded=True
            ),
            "lines": ResultTable(self.lines, "Trend", f"Trend of the gaps, {prob}", _LINE_COLUMNS),
            "slopes": ResultTable(
                self.slopes,
                "Slopes",
                f"Slopes of the words' gaps, in cosine distance for one unit of the covariate, {prob}",
                _SLOPE_COLUMNS,
            ),
            "neighbours": ResultTable(self.neighbours, "Trend", "Whether neighbouring periods deviate alike"),
            "words": ResultTable(
                self.words, "Words", f"Changes of single words, {prob}", differences=True, folded=True
            ),
            "lacking": ResultTable(self.lacking, "Words that periods lack", "Words that some periods lack"),
        }
        return Contents(
            title=f"How did the association move? {facts['study']}".strip(),
            about=f"{counted(len(facts['periods']), 'period')}, {facts['protected_words']} protected and "
            f"{counted(facts['attribute_words'], 'attribute word')}.",
            diagnostics=convergence_statements(self.words, self.facts["draws"]),
            verdict=verdict(changes, first).text,
            answers=shown["From the first to the last period"].statements[1:],
            parts=tuple(part for part in self.parts if part.title in _SECTIONS),
            tables={name: table for name, table in tables.items() if len(table.frame)},
            figures={
                "trend": ResultFigure(
                    "plot_trend",
                    f"Gap in each period, in units of cosine distance: posterior means (points), {prob} (lines) and "
                    "plain differences (crosses).",
                    alt="The gap in each period with its interval. The numbers are in the table of gaps.",
                ),
                **({"slopes": _SLOPE_FIGURE} if len(self.slopes) else {}),
            },
            limits=limits(facts),
            settings={
                "Study": facts["study"],
                "Scope": facts["scope"],
                "Trend": ("random walk" if facts["walk"] else "line") if facts["trend"] else "none",
                "Draws": f"{facts['draws']:,}",
                "Seed": str(facts["random_seed"]),
                "Interval": prob,
            },
            code=f'moved = bb.trend("periods/", STUDY{self._options()}, random_seed={facts["random_seed"]})\n'
            'bb.write(moved, "trend.html")',
        )

    def _options(self) -> str:
        facts = self.facts
        given = "".join(f", {name}={name.upper()}" for name in ("covariates", "word_covariates") if facts[name])
        return given + call_options(
            walk=(facts["walk"], False),
            baseline=(contrast_sides(self.changes["contrast"].iloc[0])[0], "associated"),
            scope=(facts["scope"], "population"),
            hdi_prob=(facts["hdi_prob"], HDI_PROB),
            rope=(facts["rope"], None),
            draws=(facts["draws"], DRAWS),
        )
