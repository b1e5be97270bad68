"""Sentences of the effect of a covariate: what it shows, how to read it, and what it does not show."""

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayesbias.base.number_text import (
    correlation_text,
    distance_text,
    estimate_text,
    interval_text,
    listed,
    percent_text,
    quoted_name,
    shown_name,
    signed_text,
)
from bayesbias.base.results import MORE_DRAWS, NO_PROOF
from bayesbias.base.statements import Statement, rows_of
from bayesbias.estimates.intervals import is_settled
from bayesbias.models.data import SIDES

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.tables.measures import Measure

SLOPE, CORRELATION, RESIDUAL_SD, LEVEL = "slope", "correlation", "residual sd", "mean lean"
_FOLLOWS, _BORDERLINE, _OPEN = (
    "the lean of words like these follows {}",
    "it is borderline whether it follows {}",
    "it is not settled whether it follows {}",
)


class Effect(Protocol):
    """The fields of a `CovariateEffect` that sentences use."""

    @property
    def sides(self) -> tuple[str, str]:
        """Names of both sides of the lean."""

    @property
    def effects(self) -> "pd.DataFrame":
        """Slopes, correlations and residual sds."""

    @property
    def words(self) -> "pd.DataFrame":
        """Leans of words."""

    @property
    def line(self) -> "pd.DataFrame":
        """Line along each covariate."""

    @property
    def single_words(self) -> tuple[Statement, ...]:
        """Which word changes each slope most."""

    @property
    def percent(self) -> tuple[str, ...]:
        """Covariates that are percentages."""

    @property
    def within_groups(self) -> bool:
        """Whether slopes compare words of the same group."""

    @property
    def hdi_prob(self) -> float:
        """Probability inside the intervals."""

    @property
    def measure(self) -> "Measure":
        """What the numbers measure."""

    @property
    def covariates(self) -> "dict[str, pd.Series]":
        """The numbers of the words, by covariate."""

    def number_text(self, name: str, value: float) -> str:
        """Return a number of a covariate."""

    def range_of(self, name: str) -> tuple[str, str]:
        """Return the smallest and the largest number of a covariate."""


def all_quoted(names: Collection[str]) -> str:
    """Return the names of covariates as a sentence quotes them."""
    return listed([quoted_name(name) for name in names], len(names))


def held_fixed(name: str, names: Collection[str], *, within_groups: bool) -> str:
    """Return what a slope holds fixed, as a phrase.

    >>> held_fixed("pay", ["pay", "age"], within_groups=True)
    "with 'age' held fixed and within groups"
    """
    others = [other for other in names if other != name]
    conditions = [f"with {all_quoted(others)} held fixed"] if others else []
    return " and ".join([*conditions, *(["within groups"] if within_groups else [])])


def slope_verdict(row: Mapping[str, Any]) -> str:
    """Return whether leans follow a covariate, as a clause with a place for its name."""
    if row["borderline"]:
        return _BORDERLINE
    return _FOLLOWS if is_settled(row["hdi_low"], row["hdi_high"]) else _OPEN


def effect_answer(effect: Effect) -> Statement:
    """Return the answer in a sentence: the claim of the only covariate, or which of several leans follow."""
    slopes = _slopes(effect)
    if len(slopes) == 1:
        (name,) = slopes
        return Statement("slope", _claim(effect, name, slopes[name]), _numbers(name, slopes[name]))
    by_verdict: dict[str, list[str]] = {_FOLLOWS: [], _BORDERLINE: [], _OPEN: []}
    for name, row in slopes.items():
        by_verdict[slope_verdict(row)].append(name)
    clauses = "; ".join(verdict.format(all_quoted(names)) for verdict, names in by_verdict.items() if names)
    if not by_verdict[_FOLLOWS]:
        clauses = clauses.replace("whether it follows", "whether the lean of words like these follows", 1)
    return Statement("answer", f"{clauses[0].upper()}{clauses[1:]}.", {"covariates": list(slopes)})


def level_statement(effect: Effect) -> Statement:
    """Return to which words these words lean on average, whatever the covariates."""
    mean = next(row for row in rows_of(effect.effects) if row["quantity"] == LEVEL)
    level = mean["mean"]
    nearer, measure = effect.sides[0 if level < 0 else 1], effect.measure
    (row, *others) = _slopes(effect).values()
    is_clear = slope_verdict(mean) == _FOLLOWS
    is_opposed = not others and slope_verdict(row) == _FOLLOWS and row["mean"] * level < 0
    still = " still" if is_clear and is_opposed else ""
    subject, with_words = (
        ("these words", f"to {nearer} words") if measure.to == "to" else (f"{nearer} words", "with these")
    )
    claim = f"{subject} are{still} {measure.nearer} {with_words}"
    if not is_clear:
        claim = f"it is not settled whether {claim}"
    numbers = f"mean lean {signed_text(level)}, observed {signed_text(mean['observed'])}, interval "
    numbers += interval_text(mean["hdi_low"], mean["hdi_high"])
    return Statement("level", f"On average, {claim} ({numbers}).", {"mean": level})


def effect_statements(effect: Effect) -> Iterator[Statement]:
    """Yield the answer, what is known of each covariate, and the average lean."""
    table = {(row["quantity"], row["covariate"], row["scope"]): row for row in rows_of(effect.effects)}
    slopes = _slopes(effect)
    yield effect_answer(effect)
    for name, row in slopes.items():
        if len(slopes) > 1:
            yield Statement("slope", _claim(effect, name, row), _numbers(name, row))
        yield Statement("size", _size(effect, name, row, table[SLOPE, name, "these_words"]), _numbers(name, row))
        link = table[CORRELATION, name, "population"]
        ends = [correlation_text(link[end]) for end in ("mean", "hdi_low", "hdi_high")]
        yield Statement(
            "correlation",
            f"The observed correlation of leans with {quoted_name(name)} is {correlation_text(link['observed'])}. "
            f"Chance in the attribute words weakens it: the estimate without it is {ends[0]} ({ends[1]} to "
            f"{ends[2]}), whose interval can be too narrow. Report the slope: it decides whether leans follow "
            f"{quoted_name(name)}.",
            {"covariate": name, **{key: link[key] for key in ("mean", "hdi_low", "hdi_high", "observed")}},
        )
        if np.isfinite(link.get("wefat_correlation", np.nan)):
            yield Statement(
                "wefat",
                f"The observed correlation of WEFAT's statistic with {quoted_name(name)} is "
                f"{correlation_text(link['wefat_correlation'])}. WEFAT compares similarities, so its signs are "
                f"opposite to those of leans: above 0, words shift towards {effect.sides[0]} words.",
                {"covariate": name, "correlation": link["wefat_correlation"]},
            )
    yield level_statement(effect)
    beyond = table[RESIDUAL_SD, "", "population"]
    yield Statement(
        "residual sd",
        f"Leans of words like these vary around this relation with an sd of {distance_text(beyond['mean'])} "
        f"({distance_text(beyond['hdi_low'])} to {distance_text(beyond['hdi_high'])}), not counting chance in the "
        "attribute words.",
        {"mean": beyond["mean"], "low": beyond["hdi_low"], "high": beyond["hdi_high"]},
    )
    yield from effect.single_words


def _slopes(effect: Effect) -> dict[str, dict[str, Any]]:
    """Return the row of each covariate's slope in words like these."""
    rows = rows_of(effect.effects[effect.effects["quantity"] == SLOPE])
    return {row["covariate"]: row for row in rows if row["scope"] == "population"}


def _numbers(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {"covariate": name, "mean": row["mean"], "low": row["hdi_low"], "high": row["hdi_high"]}


def _claim(effect: Effect, name: str, row: Mapping[str, Any]) -> str:
    """Return whether leans follow a covariate, as a sentence."""
    if (verdict := slope_verdict(row)) != _FOLLOWS:
        state = "borderline" if verdict == _BORDERLINE else "not settled"
        more = f"; {MORE_DRAWS}" if verdict == _BORDERLINE else ""
        return f"It is {state} whether the lean of words like these follows {quoted_name(name)}{more}."
    nearer, other = effect.sides if row["mean"] < 0 else effect.sides[::-1]
    return f"With a larger {quoted_name(name)}, {effect.measure.shift(f'{nearer} words', f'{other} words')}."


def _size(effect: Effect, name: str, row: Mapping[str, Any], these: Mapping[str, Any]) -> str:
    """Return the change of the lean for one unit of a covariate and over its whole range."""
    fixed = held_fixed(name, effect.covariates, within_groups=effect.within_groups)
    low, high = effect.range_of(name)
    values = effect.covariates[name]
    width = float(values.max() - values.min())
    whole = {key: row[key] * width for key in ("mean", "hdi_low", "hdi_high")}
    text = (
        f"For {row['unit']} of {quoted_name(name)}{f', {fixed}' if fixed else ''}, the lean changes by "
        f"{estimate_text(row, signed=True)} {effect.measure.in_difference} over words like these, and by "
        f"{estimate_text(these, signed=True)} for exactly these {row['words']}. Over the whole range, from {low} to "
        f"{high}, that is {estimate_text(whole, signed=True)} over words like these."
    )
    return f"{text} Brackets hold {percent_text(effect.hdi_prob)} HPDIs."


def reading_statements(effect: Effect) -> Iterator[Statement]:
    """Yield what a lean is, why estimates are pulled, and what the units of slopes are."""
    first, second = effect.sides
    which = ""
    if effect.sides == SIDES:
        which = " Associated words are those that the study pairs with the word's group, different words the others."
    mean, nearer = _mean(effect.measure), f"a word is nearer to {first} words"
    if effect.measure.to == "with":
        nearer = f"{first} words are {effect.measure.nearer} with a word"
    yield Statement("lean", f"Lean: {mean} {first} words minus {mean} {second} words. Below 0, {nearer}.{which}")
    yield Statement(
        "pulled",
        "An observed lean is partly chance, since the attribute words are a sample. The model therefore pulls each "
        "word's estimate towards the line. The pull is stronger with fewer attribute words, and when the other words "
        "lie close to the line. (In the table of words: Observed and Estimate.) Slopes are not pulled.",
    )
    for name, values in effect.covariates.items():
        low, high = effect.range_of(name)
        if name in effect.percent:
            text = f"{quoted_name(name)} is written in percent, so a slope is for one percentage point."
        else:
            text = (
                f"One unit of {quoted_name(name)} is a difference of 1 in its numbers, which run from {low} to {high}."
            )
            if values.min() >= 0 and values.max() <= 1:
                text += " If they are shares, that is the whole range from 0% to 100%."
            elif values.min() >= 0 and values.max() <= 100:
                text += " If they are percentages, that is one percentage point."
        yield Statement("unit", text, {"covariate": name})


def limit_statements() -> Iterator[Statement]:
    """Yield what slopes do not show."""
    yield Statement("limits", "A slope is an association: it does not show that the covariate causes anything.")
    yield Statement("limits", "Errors in the covariate are ignored; random ones flatten its slope.")
    yield Statement("limits", NO_PROOF)


def _mean(measure: "Measure") -> str:
    return f"mean {measure.short} {measure.preposition}"


def slopes_text(effect: Effect) -> str:
    """Return the slope on each covariate, with its interval, for words like these."""
    texts = []
    for name, row in _slopes(effect).items():
        fixed = held_fixed(name, effect.covariates, within_groups=effect.within_groups)
        texts.append(
            f"{row['unit']} of {quoted_name(name)}{f' ({fixed})' if fixed else ''}: {estimate_text(row, signed=True)}"
        )
    return (
        f"Slope for {'; for '.join(texts)} {effect.measure.in_difference}, from {len(effect.words)} words; "
        f"{percent_text(effect.hdi_prob)} interval in brackets."
    )


def slopes_caption(effect: Effect) -> str:
    """Return what slopes are, for a caption."""
    (name, row), *others = _slopes(effect).items()
    unit = "" if others else f" for {row['unit']} of {quoted_name(name)}"
    fixed = ", with the other covariates held fixed" if others else ""
    return f"Slopes (change of the lean{unit}, {effect.measure.in_difference}{fixed})"


def figure_caption(effect: Effect, name: str) -> str:
    """Return the caption of the figure of a covariate."""
    prob, mean, (first, second) = f"{percent_text(effect.hdi_prob)} HPDI", _mean(effect.measure), effect.sides
    fixed = held_fixed(name, effect.covariates, within_groups=effect.within_groups)
    return (
        f"Lean of each word ({mean} {first} words minus {mean} {second} words) against {quoted_name(name)}"
        f"{' in percent' if name in effect.percent else ''}. Points: estimates, which the model pulls towards the "
        f"line; circles: observed leans; thin lines: {prob} of each word. The thick line has the mean slope"
        f"{f', {fixed},' if fixed else ''} and passes through the mean lean. The bands hold the lines through that "
        f"point whose slopes lie in the {prob}: dark for these words, pale for words like these. They leave out the "
        "error of the mean lean."
    )


def methods_sentence(
    names: Collection[str],
    sides: tuple[str, str],
    measure: "Measure",
    percent: Collection[str] = (),
    author: str = "Bell and McCaffrey (2002)",
) -> str:
    """Return how slopes were estimated, for a paper.

    `percent` are the covariates that are percentages; `author` is the reference of the degrees of freedom.
    """
    unit = "one percentage point" if set(names) <= set(percent) else "one unit"
    mean, (first, second) = _mean(measure), map(shown_name, sides)
    return (
        f"The lean of a word is its {mean} {first} words minus its {mean} {second} words. We estimated the change of "
        f"the lean for {unit} of {all_quoted(names)}{', with the others held fixed' if len(names) > 1 else ''}, by "
        "least squares over words in each draw, with a flat prior of the lists' means. For words like these, the slope "
        "has a further error from the choice of words: the variance HC2 of leans without the chance variation of "
        f"attribute words, with the degrees of freedom of {author}."
    )
