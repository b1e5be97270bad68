"""Sentences on the slopes of words' leans on numbers of the words, by period, and on how they changed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.base.number_text import counted, estimate_text, listed, percent_text, quoted_name, signed_text
from bayesbias.base.statements import Statement, rows_of
from bayesbias.changes.readings import claims_text
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import contrast_sides
from bayesbias.tables.measures import Measure, measure_of

if TYPE_CHECKING:
    import pandas as pd

_OTHER_SCALE = 0.1
"""Change of the mean distance from which a change of slopes is suspected to be one of scale."""


def slope_claim(row: Mapping[Any, Any], covariate: str, sides: tuple[str, str], measure: Measure) -> str:
    """Return whether the leans of words follow a covariate, as a clause."""
    if row["borderline"]:
        return f"it is borderline whether leans follow {quoted_name(covariate)}"
    if not row["settled"]:
        return f"it is not settled whether leans follow {quoted_name(covariate)}"
    return f"with a larger {quoted_name(covariate)}, {measure.shift(f'{sides[0 if row["mean"] < 0 else 1]} words')}"


def slope_answer(rows: Sequence[Mapping[str, Any]], covariate: str, sides: tuple[str, str], measure: Measure) -> str:
    """Return in how many periods the leans of words follow a covariate, and how the slope changed.

    `rows` are the slopes by period, then their change.

    >>> from bayesbias.tables.measures import COSINE_DISTANCE
    >>> row = {"mean": -0.1, "settled": True, "borderline": False, "period": "1990"}
    >>> change = {"reading": "smaller"}
    >>> slope_answer([row, row, change], "pay_gap", ("female", "male"), COSINE_DISTANCE).partition("; ")[0]
    "With a larger 'pay gap', words lie nearer to female words in both periods"
    """
    *by_period, change = rows
    counts = [sum(row["settled"] and (row["mean"] < 0) == is_first for row in by_period) for is_first in (True, False)]
    shown = [
        f"{measure.shift(f'{side} words')} in {_of_periods(count, len(by_period))}"
        for side, count in zip(sides, counts, strict=True)
        if count
    ]
    shown[1:] = [text.removeprefix(f"a word's {measure.numbers} shift ") for text in shown[1:]]
    claim = f"With a larger {quoted_name(covariate)}, {' and '.join(shown)}"
    if not shown:
        claim = f"It is not settled in any period whether leans follow {quoted_name(covariate)}"
    return f"{claim}; the slope {_change_claim(change, by_period)}."


def _change_claim(change: Mapping[Any, Any], by_period: Sequence[Mapping[Any, Any]]) -> str:
    return claims_text({by_period[-1]["period"]: change["reading"]}, 1, what="slope")


def _of_periods(count: int, every: int) -> str:
    if count < every:
        return f"{count} of {every} periods"
    return "both periods" if every == 2 else f"all {every} periods"


def slope_estimate(rows: Sequence[Mapping[Any, Any]], covariate: str, hdi_prob: float, measure: Measure) -> str:
    """Return the slopes of the first and the last period and their change, with intervals."""
    first, last, change = rows[0], rows[-2], rows[-1]
    sizes = dict.fromkeys(str(row["words"]) for row in (first, last, change))
    words = f"{change['words']} words"
    if len(sizes) > 1:
        words = f"{first['words']} and {last['words']} words, {change['words']} in both"
    return (
        f"Slope for {first['unit']} of {quoted_name(covariate)}, {measure.in_unit}: {estimate_text(first)} in "
        f"{first['period']}, {estimate_text(last)} in {last['period']}; change {estimate_text(change)}. From {words}; "
        f"{percent_text(hdi_prob)} intervals in brackets."
    )


def slope_statements(
    slopes: "pd.DataFrame",
    sides: tuple[str, str],
    origins: Mapping[str, str],
    measure: Measure,
    *,
    of_periods: bool = True,
) -> tuple[Statement, ...]:
    """Return how the first contrast's slope on each covariate of words changed, after the slopes of all periods.

    `origins` are those of `slope_origins`.
    """
    if slopes.empty:
        return ()
    statements = []
    of_first = slopes[slopes["contrast"] == slopes["contrast"].iloc[0]]
    for covariate, rows in of_first.groupby("covariate", sort=False):
        *by_period, change = rows_of(rows)
        named = quoted_name(str(covariate))
        for row in by_period if of_periods else ():
            claim = slope_claim(row, str(covariate), sides, measure)
            text = f"In {row['period']}, {claim}: slope {estimate_text(row)}, from {counted(row['words'], 'word')}."
            statements.append(Statement("slope", text, row))
        claim = _change_claim(change, by_period)
        text = f"From {change['period']}, the slope on {named} {claim}: its change is {estimate_text(change)}."
        if len({row["words"] for row in rows_of(rows)}) > 1:
            counts = listed([str(row["words"]) for row in by_period], len(by_period))
            text += (
                f" The change uses the {counted(change['words'], 'word')} that both periods have, and each slope all "
                f"words of its period ({counts}), so the change can differ from the last slope minus the first."
            )
        statements.append(Statement("slope", text, change))
        if origin := origins.get(str(covariate)):
            statements.append(Statement("origin", origin, {"covariate": str(covariate)}))
        text = (
            f"A slope is the change of a word's lean for {change['unit']} of {named}, {measure.in_unit}. The lean "
            f"is the word's mean {measure.short} {measure.preposition} {sides[0]} words minus that "
            f"{measure.preposition} {sides[1]} words. With a slope below 0 and a larger {named}, "
            f"{measure.shift(f'{sides[0]} words', f'{sides[1]} words')}."
        )
        statements.append(Statement("unit", text))
    return tuple(statements)


def slope_origins(slopes: "pd.DataFrame", distances: "pd.DataFrame", facts: Mapping[str, Any]) -> dict[str, str]:
    """Return what can have changed the first slope on each covariate: distances, numbers of the words, or both.

    A covariate is left out if its numbers are the same in the first and the last period and distances are not. The
    arguments are those of `Changes`.
    """
    if slopes.empty:
        return {}
    first, last, numbers = facts["conditions"][0], facts["conditions"][-1], measure_of(facts).numbers
    moved = distances[
        (distances["protected_word"] == "")
        & (distances["first"] == first)
        & (distances["second"] == last)
        & distances["connection"].isin(contrast_sides(str(slopes["contrast"].iloc[0])))
    ]
    same_distances = bool((moved["direction"] == "equal").all())
    origins = {}
    for name in facts["word_covariates"]:
        is_changed, named = name in facts["changed_covariates"], quoted_name(name)
        if same_distances:
            origins[name] = f"The {numbers} of the words are the same in {first} and {last}"
            origins[name] += (
                f", so the change of the slope comes from the numbers of {named} alone."
                if is_changed
                else f", and so are the numbers of {named}."
            )
        elif is_changed:
            origins[name] = (
                f"Both the {numbers} of the words and the numbers of {named} differ between {first} and {last}, so "
                "the change of the slope can come from either."
            )
    return origins


def slope_doubts(by_period: Mapping[str, Sequence[Statement]]) -> Iterator[Statement]:
    """Yield the doubts about words that decide a slope, or are left out, once for all periods that have them."""
    periods: dict[tuple[str, str], list[str]] = {}
    for period, doubts in by_period.items():
        for doubt in doubts:
            if doubt.kind in ("leverage", "influence", "lost words"):
                periods.setdefault((doubt.kind, doubt.text), []).append(period)
    for (kind, text), names in periods.items():
        yield Statement(kind, f"{text} (In {listed(names, 3)}.)", {"periods": names})


def other_scale_doubts(distances: "pd.DataFrame", facts: Mapping[str, Any]) -> Iterator[Statement]:
    """Yield that a changed slope may be a matter of scale, if mean distances changed much."""
    numbers = measure_of(facts).numbers
    whole = distances[distances["protected_word"] == ""]
    for (first, second), rows in whole.groupby(["first", "second"], sort=False):
        shift = float(rows["mean"].mean())
        if abs(shift) >= _OTHER_SCALE * facts["unit"]:
            text = (
                f"From {str(first)!r} to {str(second)!r}, mean {numbers} changed by {signed_text(shift)}. A change of "
                f"a slope may then be a matter of scale: where all {numbers} spread less, slopes are flatter. Compare "
                "the correlations of both with the covariate (`covariate`), which do not depend on the scale."
            )
            yield Statement("other scale", text, {"first": first, "second": second, "shift": shift})


def covariate_names(slopes: "pd.DataFrame") -> str:
    """Return the units of slopes with their covariates, for a caption."""
    units = slopes.drop_duplicates("covariate")
    names = map(quoted_name, units["covariate"])
    return name_some([f"{unit} of {name}" for name, unit in zip(names, units["unit"], strict=True)])
