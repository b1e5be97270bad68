"""Sentences of a trend, with their numbers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.base.number_text import (
    counted,
    digits_text,
    estimate_text,
    interval_text,
    p_text,
    percent_text,
    signed_text,
)
from bayesbias.base.results import NO_PROOF
from bayesbias.base.statements import Statement, rows_of
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import contrast_sides
from bayesbias.models.numerics.diagnostics import ESS_PER_CHAIN
from bayesbias.reports.periods.trend_frames import CHAINS
from bayesbias.reports.posterior.group_statements import without_contrast

if TYPE_CHECKING:
    import pandas as pd

_READINGS = {
    "narrower": "The gap became narrower",
    "baseline only": "The gap became narrower, and in the later period it is no longer settled that there is one",
    "wider": "The gap became wider",
    "other only": "A gap is settled in the later period only",
    "reversed": "The gap changed its direction",
    "neither": "The gap changed, although in neither period alone it is settled that there is one",
    "not settled": "It is not settled whether the gap changed",
    "equal": "The distances are equal",
}
_MOST_WORDS = 5


def convergence_statements(words: "pd.DataFrame", draws: int) -> tuple[Statement, ...]:
    """Return whether the changes of some words have too few effective draws, and what to do."""
    fewest = ESS_PER_CHAIN * CHAINS
    few = words[words["ess_bulk"] < fewest]
    if few.empty:
        return ()
    text = (
        f"The changes of {len(few)} of {counted(len(words), 'word')} have fewer than {fewest} effective draws, so "
        f"their numbers are noisy: do not report them yet. Take more draws (draws={4 * draws}, --draws {4 * draws})."
    )
    return (Statement("convergence", text, {"words": few["protected_word"].tolist()}),)


def verdict(changes: "pd.DataFrame", contrast: str) -> Statement:
    """Return what happened to a contrast between the first and the last period."""
    rows = changes[(changes["contrast"] == contrast) & (changes["protected_group"] == "")]
    row = rows[(rows["first"] == rows["first"].iloc[0]) & (rows["second"] == rows["second"].iloc[-1])].iloc[0].to_dict()
    estimate = f"{signed_text(row['mean'])} ({interval_text(row['hdi_low'], row['hdi_high'])})"
    text = f"{contrast}, from {row['first']} to {row['second']}: {_READINGS[row['reading']]}: change {estimate}."
    return Statement("change", text, row)


def group_statements(changes: "pd.DataFrame", contrast: str) -> tuple[Statement, ...]:
    """Return the change of each group."""
    rows = changes[(changes["contrast"] == contrast) & (changes["protected_group"] != "")]
    return tuple(
        Statement(
            "group change",
            f"{row['protected_group']}, from {row['first']} to {row['second']}: change {signed_text(row['mean'])} "
            f"({interval_text(row['hdi_low'], row['hdi_high'])}).",
            row,
        )
        for row in rows_of(rows)
    )


def line_statements(lines: "pd.DataFrame", *, walk: bool) -> tuple[Statement, ...]:
    """Return the coefficients of each contrast's trend."""
    statements = []
    for row in rows_of(lines):
        ends = f"{digits_text(row['hdi_low'])} to {digits_text(row['hdi_high'])}"
        if row["observed"] != row["observed"]:
            what = "steps of the random walk have an sd" if walk else "periods vary around the line with an sd"
            per = " for one unit of time" if walk else ""
            text = (
                f"{row['contrast']}: {what}{per} of {digits_text(row['mean'])} (median; {ends}) beyond the error of "
                "the words."
            )
        else:
            settled = "" if row["settled"] else ", which is not settled"
            text = f"{row['contrast']}: {row['parameter']} {digits_text(row['mean'])} ({ends}){settled}."
        statements.append(Statement("trend", text, row))
    return tuple(statements)


def neighbour_statements(neighbours: "pd.DataFrame", level: float) -> tuple[Statement, ...]:
    """Return whether neighbouring periods deviate from each line alike, and what to do then."""
    if not len(neighbours):
        return ()
    wandering = neighbours["p_value"] < level
    statements = [
        Statement(
            "neighbours",
            f"{row['contrast']}: neighbouring periods deviate from the line alike (Durbin-Watson "
            f"{digits_text(row['durbin_watson'])}, {p_text(row['p_value'])}). The gap wanders, so the intervals "
            "of the line are too narrow: take walk=True (--walk).",
            row,
        )
        for row in rows_of(neighbours[wandering])
    ]
    if not wandering.all():
        others = neighbours[~wandering]
        smallest = others["p_value"].min()
        text = (
            f"{name_some(list(others['contrast']))}: neighbouring periods deviate from the line no more alike than "
            f"chance explains (Durbin-Watson test, smallest {p_text(smallest)}). With few periods, that does not rule "
            "out a random walk."
        )
        statements.append(Statement("neighbours", text, {"contrasts": list(others["contrast"]), "p_value": smallest}))
    return tuple(statements)


def slope_statements(slopes: "pd.DataFrame", contrast: str) -> tuple[Statement, ...]:
    """Return how the slope on each covariate of words changed from the first to the last period."""
    if slopes.empty:
        return ()
    statements = []
    for covariate, rows in slopes[slopes["contrast"] == contrast].groupby("covariate", sort=False):
        *by_period, change = rows_of(rows)
        claim = "changed" if change["settled"] else "is not shown to have changed"
        first, last, moved = map(estimate_text, (by_period[0], by_period[-1], change))
        text = (
            f"{contrast}: the slope on {covariate} {claim}: {first} in {by_period[0]['period']}, {last} in "
            f"{by_period[-1]['period']}, change {moved}. Below 0, words with a larger {covariate} are nearer to "
            f"{contrast_sides(contrast)[0]} words."
        )
        statements.append(Statement("slope", text, change))
    return tuple(statements)


def word_statements(words: "pd.DataFrame", contrast: str) -> tuple[Statement, ...]:
    """Return the words that moved most, and those whose direction is settled."""
    rows = rows_of(words[words["contrast"] == contrast])
    if not rows:
        return ()
    shown = [f"{row['protected_word']} {signed_text(row['mean'])}" for row in rows[:_MOST_WORDS]]
    settled = [row["protected_word"] for row in rows if row["hdi_low"] > 0 or row["hdi_high"] < 0]
    which = f"the change of {len(settled)} of {counted(len(rows), 'word')} is settled"
    text = f"{contrast}: {name_some(shown)} moved most; {which}."
    return (Statement("words", text, {"settled": settled, "words": len(rows)}),)


def lacking_statements(lacking: "pd.DataFrame") -> tuple[Statement, ...]:
    """Return the words that periods lack, by name."""
    statements = []
    for (role, name), rows in lacking[lacking["periods"] > 0].groupby(["role", "list"], sort=False):
        words = [f"{row['word']} ({row['lacks']})" for row in rows_of(rows)]
        text = f"Some periods lack {role} words of {name}: {name_some(words, 12)}."
        statements.append(Statement("lacking words", text, {"words": rows["word"].tolist(), "list": name}))
    if nowhere := lacking.loc[lacking["periods"] == 0, "word"].tolist():
        statements.append(Statement("lost words", f"No period has {name_some(nowhere, 12)}.", {"words": nowhere}))
    return tuple(statements)


def limits(facts: Mapping[str, Any]) -> tuple[Statement, ...]:
    """Return what a trend does not show."""
    statements = [
        Statement(
            "causes",
            "A change of distances may come from other texts, spellings or amounts of text as well as from other "
            "meanings. With one training per period, changes include the chance of single trainings: train several "
            "seeds.",
        ),
        Statement(
            "many changes",
            f"The table of changes has all pairs of periods: of many intervals of {percent_text(facts['hdi_prob'])}, "
            "some leave out 0 by chance. Decide beforehand which pair answers the question.",
        ),
    ]
    if facts["lacking"]:
        statements.append(
            Statement(
                "lacking words",
                "A word that a period lacks counts only in the periods that have it. In the others, it is taken to "
                "change as the other words of its list do.",
            )
        )
    statements += without_contrast(facts["groups_not_compared"])
    return (*statements, Statement("bias", NO_PROOF))


def methods(facts: Mapping[str, Any]) -> Statement:
    """Return a paragraph for the methods section of a paper."""
    words = (
        f"We compared the mean cosine distances of {counted(facts['protected_words'], 'protected word')} with "
        f"{counted(facts['attribute_words'], 'attribute word')} over {counted(len(facts['periods']), 'period')} "
        f"({name_some(facts['periods'])}). Each attribute word is one vector of distances to all words in all "
        "periods, so that changes are paired; gaps have Student's t distribution with the degrees of freedom of Welch "
        "(1947), from variances pooled over words and periods."
    )
    population = (
        " The protected words are a sample: their variation over periods, beyond the chance of the attribute words, "
        "has half-t priors for its standard deviations and an inverse-Wishart distribution."
        if facts["scope"] == "population"
        else " Estimates are about exactly these protected words."
    )
    trend = ""
    if facts["trend"]:
        form = "a random walk" if facts["walk"] else "a line"
        extra = f" with the covariates {name_some(facts['covariates'])}" if facts["covariates"] else ""
        trend = f" The trend is {form}{extra}, by least squares, with the sd of periods around it as a further error."
    if facts["word_covariates"]:
        trend += (
            f" Slopes of the words' gaps on {name_some(facts['word_covariates'])} are least squares over the words of "
            "each period, with a heteroscedasticity-consistent error (HC2) for the choice of words, and the degrees of "
            "freedom of Satterthwaite (1946)."
        )
    interval = (
        f" Intervals are highest posterior density intervals of {percent_text(facts['hdi_prob'])}, from "
        f"{facts['draws']:,} draws (seed {facts['random_seed']}; bayesbias {facts['version']})."
    )
    return Statement("methods", words + population + trend + interval)
