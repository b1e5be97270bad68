"""The first sentences of the report of a fit, and its tables of groups and words with their marks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesbias.base.number_text import interval_text, percent_text, quoted_name, signed_text
from bayesbias.base.results import MOST_LINES, MOST_WORDS, ResultFigure, ResultTable
from bayesbias.base.statements import Conclusions, Statement, StatementList
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import contrast_sides, is_settled, scope_text
from bayesbias.reports.plans.planned_numbers import MARK
from bayesbias.reports.posterior.estimate_tables import EVERYONE, HEADINGS, difference_table, net_meaning
from bayesbias.reports.posterior.group_statements import nearness_matters, nearness_turns
from bayesbias.tables.measures import Measure

if TYPE_CHECKING:
    import xarray as xr

_MOST_NAMED = 3
_FOREST = "delivery.plots.posterior.figure_of_contrasts"
_MOST_GROUPS = MOST_LINES - 2  # beside all words
_MOST_ROWS = 60
_NEVER_SETTLED = "not settled"
_COLUMNS = ("mean", "hdi_low", "hdi_high", "observed", "probability_of_direction", "probability_in_rope")
# The figure has room beside these; the table of all contrasts has the rest.
_OF_WORDS = ("mean", "hdi_low", "hdi_high", "observed", "probability_in_rope")
_NET = ("net_mean", "net_low", "net_high")


@dataclass(frozen=True, eq=False)
class FitAnswer:
    """Answer of a fit: sentence, number, tables of groups and words, and a forest for each.

    - `conclusions`: conclusions of the fit.
    - `contrasts`: all contrasts, of all words, groups and words.
    - `groups`: group of each protected word.
    - `lists`: group -> names of the lists that are associated with it.
    - `others`: names of the lists of the second side of the first contrast.
    - `hdi_prob`, `rope`: as in `bayesbias.report`.
    - `measure`: what the numbers measure.
    """

    conclusions: Conclusions
    contrasts: pd.DataFrame
    lists: Mapping[str, Sequence[str]]
    groups: Mapping[str, str]
    others: Sequence[str]
    hdi_prob: float
    rope: float | tuple[float, float] | None
    measure: Measure

    @cached_property
    def _first(self) -> Mapping[str, Any]:
        return self._rows("contrast")[0]

    def _rows(self, kind: str) -> list[Mapping[str, Any]]:
        return [statement.numbers for statement in self.conclusions.shown if statement.kind == kind]

    @property
    def sentence(self) -> str:
        """The answer in a sentence that names groups and lists if it is short enough."""
        claims = [f"{self._claim(named)} {self._than()}" for named in (_MOST_NAMED, 1)]
        if self.measure.to == "to":
            short = f"Words lie {self._way} {self._to} the lists of their own group"
        else:
            short = f"Words of a group's own lists are {self._way} with it"
        claims.append(f"{short} {self._than(generic=True)}")
        for claim in claims:
            text = claim
            if not self._first["settled"]:
                state = "borderline" if self._first["borderline"] else _NEVER_SETTLED
                text = f"It is {state} whether {claim[0].lower()}{claim[1:]}"
            if len(text.split()) <= MOST_WORDS:
                break
        return f"{text[0].upper()}{text[1:]}."

    @property
    def estimate(self) -> str:
        """The first contrast with its interval and the observed difference."""
        row, measure = self._first, self.measure
        factor = measure.factor(row["mean"], row["hdi_low"], row["hdi_high"])
        return (
            f"Difference {signed_text(row['mean'])} {measure.in_difference}, {percent_text(self.hdi_prob)} interval "
            f"{_interval(row)} (observed {signed_text(row['observed'])}){f': {factor}' if factor else ''}."
        )

    def _claim(self, most: int) -> str:
        lists, way, to = self.lists, self._way, self._to
        of_words = self.measure.to == "to"  # the claim is about protected words; else, about attribute words
        if len(lists) > _MOST_NAMED:
            groups = f"{len(lists)} groups ({_quoted(list(lists), most)})"
            if of_words:
                return f"words of {groups} lie {way} {to} their own lists"
            return f"words of the own lists of {groups} are {way} with them"
        if self._disagreeing:
            named = "; ".join(f"{quoted_name(group)}: {_quoted(names, most)}" for group, names in lists.items())
            if of_words:
                return f"words lie {way} {to} the lists of their own group ({named})"
            return f"words of a group's own lists ({named}) are {way} with it"
        (group, names), *others = ((group, _quoted(names, most)) for group, names in lists.items())
        if of_words:
            claim = f"{quoted_name(group)} words lie {way} {to} {names}"
            further = [f"{quoted_name(group)} words {to} {names}" for group, names in others]
        else:
            claim = f"{names} words are {way} with {quoted_name(group)} words"
            further = [f"{names} words with {quoted_name(group)} words" for group, names in others]
        return ", ".join([claim, *further[:-1], f"and {further[-1]},"]) if further else claim

    @property
    def _is_far(self) -> bool:
        return bool(self._first["settled"] and self._first["direction"] == "farther")

    @property
    def _way(self) -> str:
        way = self.measure.farther.upper() if self._is_far else self.measure.nearer
        # What holds on average does not hold of each group.
        return f"{way} on average" if self._disagreeing else way

    @property
    def _to(self) -> str:
        return "from" if self._is_far else "to"

    def _than(self, *, generic: bool = False) -> str:
        other = contrast_sides(self._first["contrast"])[1]
        of_words = self.measure.to == "to"
        if other != "different":
            return f"than {'to ' if of_words else ''}{other} control words"
        than = "than to" if of_words else "than those of"
        if generic or len(self.lists) > 1:
            return f"{than} the other group's lists" if len(self.lists) == 2 else f"{than} other groups' lists"
        return f"{than} {_quoted(self.others, _MOST_NAMED)}"

    @cached_property
    def _disagreeing(self) -> str:
        """Which groups have another reading than all words; empty if none has."""

        def reading(row: Mapping[str, Any]) -> str:
            decided = is_settled(row["hdi_low"], row["hdi_high"]) and not row["borderline"]
            return str(row["direction"]) if decided else _NEVER_SETTLED

        overall = reading(self._first)
        rows = self._rows("group")
        count = Counter(map(reading, rows))
        # The rarest answer comes first, since a long list is cut.
        apart = sorted(
            (row for row in rows if reading(row) != overall),
            key=lambda row: (reading(row) == _NEVER_SETTLED, count[reading(row)]),
        )
        texts = [
            f"{quoted_name(row['protected_group'])} "
            f"{'borderline' if row['borderline'] else self.measure.way(reading(row))} "
            f"({signed_text(row['mean'])}, {_interval(row)}{_without_nearness(row)})"
            for row in apart
        ]
        return f"Groups with another answer: {name_some(texts, _MOST_NAMED)}." if texts else ""

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """What the estimates mean together, and which groups have another answer or none."""
        shown = self.conclusions.shown
        disagreeing = [Statement("groups", self._disagreeing)] if self._disagreeing else []
        lacking = (statement for statement in shown if statement.kind == "group without contrast")
        return (StatementList("Groups", (self.conclusions.verdict, *disagreeing, *lacking), bulleted=False),)

    def tables(self) -> dict[str, ResultTable]:
        """Return a table of all words and each group, and one of each word, with their marks."""
        frame, first, measure = self.contrasts, self._first["contrast"], self.measure
        of_word, of_group = frame["protected_word"] != "", frame["protected_group"] != ""
        in_first = frame["contrast"] == first
        reading = f"{percent_text(self.hdi_prob)} HPDI; below 0, {contrast_sides(first)[0]} words are {measure.nearer}"
        groups = pd.concat([frame[~of_word & in_first], frame[~of_word & ~of_group & ~in_first]])
        turned = any(nearness_matters(row) or nearness_turns(row) for row in groups.to_dict("records"))
        groups = groups.assign(protected_group=groups["protected_group"].replace("", EVERYONE))
        words = frame[of_word & in_first].sort_values("mean", kind="stable")
        words = words.assign(protected_group=words["protected_word"].map(self.groups))
        chance = [statement.text for statement in self.conclusions.shown if statement.kind == "by chance"]
        tables = {
            "groups": difference_table(
                measure,
                groups,
                "Groups",
                f"Differences of mean {measure.of_means}, {reading}",
                ("protected_group", *_COLUMNS[:3], "contrast", *_COLUMNS[3:], *(_NET if turned else ()), MARK),
                HEADINGS,
                legend=f"All words: about words like these; groups: about exactly these protected words. "
                f"{net_meaning(measure) if turned else ''}".strip(),
                in_folder=False,
            ),
            "words": difference_table(
                measure,
                words,
                "Words",
                f"{first} for each word, {reading}",
                ("protected_word", "protected_group", *_OF_WORDS, MARK),
                HEADINGS,
                note=" ".join(chance),
                in_folder=False,
            ),
        }
        return {name: table for name, table in tables.items() if len(table.frame)}

    def figures(self, fit: "xr.DataTree") -> dict[str, ResultFigure]:
        """Return a forest of all words and the groups, and one of the words."""
        first = self._first["contrast"]
        options: dict[str, Any] = {"frame": self.contrasts}
        groups, kinds = len(self.lists), self.contrasts["contrast"].nunique()
        words = int((self.contrasts["protected_word"] != "").sum() / kinds)
        alone = {"contrast": first} if kinds * (groups + 1) > MOST_LINES else {}
        cut = (
            f" Of {groups} groups, the {_MOST_GROUPS} farthest from all words are shown."
            if groups > _MOST_GROUPS
            else ""
        )
        shapes = "; shapes and colours: the words that are subtracted from the associated ones"
        what = (
            f"Points: posterior means, filled if settled, with a dot if borderline; lines: "
            f"{percent_text(self.hdi_prob)} intervals; ticks: observed differences"
            f"{shapes if kinds > 1 and not alone else ''}"
            f"{'; shaded: the region of practical equivalence' if self.rope is not None else ''}."
        )
        contrasts = (statement.text for statement in self.conclusions.shown if statement.kind == "contrast")
        figures = {
            "groups": ResultFigure(
                _FOREST,
                f"Difference of mean {self.measure.of_means}{f' ({first})' if alone else ''}; below 0, associated "
                f"words are {self.measure.nearer}. All words: about {scope_text(self.contrasts.settings['scope'])}; "
                f"groups: about exactly these protected words. {what}{cut}",
                fit,
                {**options, **alone, "words": False, "most": _MOST_GROUPS},
                alt=f"A forest of contrasts with a line at 0. {' '.join(contrasts)}",
            )
        }
        if words:
            of_words = [statement.text for statement in self.conclusions.shown if statement.kind == "words"]
            rows = 1 + words + (groups if groups > 1 else 0)
            left = f" Of {words} words, those farthest from 0 are shown." if rows > _MOST_ROWS else ""
            figures["words"] = ResultFigure(
                _FOREST,
                f"{first} for each word, about exactly these protected words; below 0, {self.measure.nearer}. "
                f"{what}{left}",
                fit,
                {**options, "contrast": first},
                section="Words",
                alt=f"A forest of contrasts with a line at 0. {' '.join(of_words[:1])}",
            )
        return figures


def _quoted(names: Sequence[str], most: int) -> str:
    return name_some(map(quoted_name, names), most)


def _interval(row: Mapping[str, Any]) -> str:
    return interval_text(row["hdi_low"], row["hdi_high"])


def _without_nearness(row: Mapping[str, Any]) -> str:
    """Return the rest of a difference that the nearness of lists to every group decides; empty if it does not."""
    if not row["decides"]:
        return ""
    ends = interval_text(row["net_low"], row["net_high"])
    return f"; {signed_text(row['net_mean'])}, {ends} without the nearness of its lists to every group"
