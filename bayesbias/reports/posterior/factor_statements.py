"""Sentences on effects of factors: which are settled, and what they do not show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import interval_text, listed, percent_text, quoted_name, shown_name, signed_text
from bayesbias.base.results import MOST_WORDS
from bayesbias.base.statements import Statement, rows_of
from bayesbias.errors import name_some
from bayesbias.estimates.decisions import judged_together
from bayesbias.estimates.intervals import has_direction, is_settled
from bayesbias.reports.posterior.group_statements import unsettled_text
from bayesbias.studies.factor_design import INTERACTION, MAIN, TIMES, Crossing, effects_of
from bayesbias.tables.measures import Measure

if TYPE_CHECKING:
    import pandas as pd

_MOST_EFFECTS = 12


@dataclass(frozen=True, eq=False)
class Lean:
    """What the cells of a study are compared in: weights of attribute lists, such as pleasant minus unpleasant.

    - `name`: the sides, such as "pleasant - unpleasant", or the only list.
    - `lists`: name of a list -> its weight.
    """

    name: str
    lists: Mapping[str, float]

    @property
    def sides(self) -> tuple[str, str] | None:
        """The lists on both sides, joined; None if there is one side."""
        near = name_some([name for name, weight in self.lists.items() if weight > 0])
        far = name_some([name for name, weight in self.lists.items() if weight < 0])
        return (near, far) if near and far else None


@dataclass(frozen=True, eq=False)
class FactorDesign:
    """The crossing of a study's protected groups, and the leans in which its cells are compared."""

    crossing: Crossing
    leans: tuple[Lean, ...]


def answer_statement(effects: "pd.DataFrame") -> Statement:
    """Return which sources are settled: at least one of their contrasts in some lean."""
    rows = [row for row in rows_of(effects) if row["kind"] in (MAIN, INTERACTION)]
    sources = list(dict.fromkeys(row["source"] for row in rows))
    settled = [name for name in sources if any(has_direction(row) for row in rows if row["source"] == name)]
    open_ones = [name for name in sources if name not in settled]
    if settled:
        claim = f"Leans are settled to differ by {_named(settled)}."
    else:
        claim = f"It is not settled whether leans differ by {_named(open_ones)}."
    left = f" Not settled: {_named(open_ones)}." if settled and open_ones else ""
    text = claim if len(f"{claim}{left}".split()) > MOST_WORDS else f"{claim}{left}"
    return Statement("factors", text, {"settled": settled, "not_settled": open_ones})


def effect_statements(effects: "pd.DataFrame", design: FactorDesign, measure: Measure) -> tuple[Statement, ...]:
    """Return a sentence for each main effect and interaction, the settled ones first if there are many."""
    levels = {(effect.source, effect.name): effect.sides for effect in effects_of(design.crossing)}
    lists = {lean.name: lean.sides for lean in design.leans}
    rows = [row for row in rows_of(effects) if row["kind"] in (MAIN, INTERACTION)]
    if len(rows) > _MOST_EFFECTS:
        rows = sorted(rows, key=lambda row: not has_direction(row))[:_MOST_EFFECTS]
    return tuple(
        Statement(
            "factor effect",
            _effect_text(row, measure) + _direction_text(row, levels[row["source"], row["effect"]], lists[row["lean"]]),
            row,
        )
        for row in rows
    )


def effects_together(effects: "pd.DataFrame", hdi_prob: float) -> tuple[Statement, ...]:
    """Return how many of the settled main effects and interactions are expected to be none; empty if none is."""
    rows = effects[effects["kind"].isin([MAIN, INTERACTION])]
    named = rows["source"] + ": " + rows["effect"]
    if rows["lean"].nunique() > 1:
        named += " on " + rows["lean"]
    rows = rows.assign(name=named, contrast=rows["lean"], settled=list(map(has_direction, rows_of(rows))))
    return tuple(judged_together(rows, "name", "comparison", "difference", hdi_prob))


def _direction_text(row: Mapping[str, Any], levels: tuple[str, str] | None, lists: tuple[str, str] | None) -> str:
    """Return which of two levels leans more to the first list, if it is settled; else nothing."""
    if levels is None or lists is None or not has_direction(row):
        return ""
    more, less = levels if row["mean"] < 0 else levels[::-1]
    near, far = map(shown_name, lists)
    return f" {quoted_name(more)} leans more to {near}, relative to {far}, than {quoted_name(less)}."


def _effect_text(row: Mapping[str, Any], measure: Measure) -> str:
    """Return an effect in words, its interval for words like these, and that for these words."""
    what = f"{'the difference of ' if row['kind'] == INTERACTION else ''}the lean {shown_name(row['lean'])} differs by"
    ends = interval_text(row["hdi_low"], row["hdi_high"])
    same = interval_text(row["these_words_low"], row["these_words_high"])
    unsettled = unsettled_text(row)
    here = is_settled(row["these_words_low"], row["these_words_high"])
    but = ", but settled for these words" if unsettled and here and not row["borderline"] else ""
    return (
        f"{shown_name(row['source'])}, {shown_name(row['effect'])}: {what} {signed_text(row['mean'])} "
        f"{measure.in_difference}, {ends} for words like these{unsettled}{but}; {same} for these words."
    )


def limit_statements(measure: Measure) -> tuple[Statement, ...]:
    """Return what effects of factors do not show."""
    return (
        Statement(
            "factors",
            "Why levels differ. The words of two levels can differ in more than the factor: first names mark class, "
            f"age and region beside race and gender, and frequent words have other {measure.numbers} than rare ones.",
        ),
        Statement(
            "many effects",
            "That each effect differs. Several are judged at once, and some intervals may exclude 0 by chance: a "
            "sentence beside many settled effects says how many. Decide before you look which of them is the question.",
        ),
        Statement(
            "absence",
            "The absence of an interaction where it is not settled. Its interval is wider than that of a main effect.",
        ),
    )


def legend_text(design: FactorDesign, measure: Measure) -> str:
    """Return what the rows of the table of effects mean."""
    crossing, leans, texts = design.crossing, design.leans, []
    if len(leans) == 1 and (sides := leans[0].sides):
        near, far = map(shown_name, sides)
        texts.append(
            f"The lean is the mean {measure.short} {measure.preposition} {near} words minus that {measure.preposition} "
            f"{far} words. Below 0, the first level leans more to {near}, relative to {far}, than the second."
        )
    else:
        texts.append("Below 0, the first level leans more to the first side of the lean than the second level does.")
    texts.append("Intervals are about words like these; 'these words' are about exactly these words.")
    if weighted := [name for name, weights in crossing.weights.items() if np.ptp(weights) > 0]:
        shares = "; ".join(
            f"{shown_name(name)}: "
            + ", ".join(
                f"{shown_name(level)} {percent_text(share)}"
                for level, share in zip(crossing.levels[name], crossing.weights[name].tolist(), strict=True)
            )
            for name in weighted
        )
        texts.append(f"Averages over a factor have the weights of the study ({shares}).")
    else:
        texts.append("Averages over a factor give each level the same weight, whatever its number of words.")
    if crossing.numbers:
        texts.append("A linear trend is the slope on the numbers of the levels, times their range.")
    return " ".join(texts)


def factors_sentence(design: FactorDesign, measure: Measure) -> str:
    """Return what a paper says of the factors."""
    crossing, leans, cells = design.crossing, design.leans, f"{len(design.crossing.cells)} cells"
    factors = [f"{shown_name(name)} ({', '.join(map(shown_name, levels))})" for name, levels in crossing.levels.items()]
    names = name_some([shown_name(lean.name) for lean in leans])
    weights = (
        "with the weights of the study for levels"
        if any(np.ptp(values) > 0 for values in crossing.weights.values())
        else "in which the levels of the other factors weigh the same"
    )
    trend = (
        f" {listed([shown_name(name) for name in crossing.numbers], len(crossing.numbers))} "
        f"{'is' if len(crossing.numbers) == 1 else 'are'} ordered: the linear trend is the slope on the numbers of the "
        "levels, times their range."
        if crossing.numbers
        else ""
    )
    return (
        f"The protected groups cross the factors {TIMES.join(factors)} in {cells}. Of the lean {names} (the mean "
        f"{measure.short} {measure.preposition} one side minus that {measure.preposition} the other), we report main "
        f"effects, {weights}, interactions and simple effects as planned contrasts of the cells from the same "
        f"posterior draws.{trend}"
    )


def _named(sources: list[str]) -> str:
    return listed([shown_name(name) for name in sources], len(sources))
