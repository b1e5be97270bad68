"""Verdict words on a change: the values of the column `reading`, when each holds, and how sentences say it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayesbias.base.number_text import listed
from bayesbias.base.results import MOST_WORDS
from bayesbias.estimates.intervals import is_settled, mark_of


@dataclass(frozen=True)
class Reading:
    """How a reading is said: after the contrast and its conditions, and as what the contrast does in conditions."""

    text: str
    claim: str


READINGS = {
    "smaller": Reading("smaller in {second}", "is smaller {where}"),
    "smaller, no longer settled": Reading(
        "smaller and no longer settled in {second}", "is smaller and no longer settled {where}"
    ),
    "larger": Reading("larger in {second}", "is larger {where}"),
    "now settled": Reading("settled only in {second}", "is settled only {where}"),
    "opposite sign": Reading("of opposite sign in {second}", "has the opposite sign {where}"),
    "changed": Reading(
        "changed, though neither contrast is settled", "changed {where}, though neither {what} is settled"
    ),
    "borderline": Reading("borderline change (more draws can decide it)", "has a borderline change {where}"),
    "not settled": Reading("no settled change", "has no settled change {where}"),
    "no change": Reading("the same in both", "is the same {where}"),
}
"""What each value of the column `reading` says of a contrast or a slope, in the order of reports.

Smaller is nearer to 0, larger farther from 0.
"""


def reading_of(change: Mapping[Any, Any], first: Mapping[Any, Any] | None, second: Mapping[Any, Any] | None) -> str:
    """Return how a contrast or a slope differs between two conditions, from its change and its value in each of them.

    All are rows with `mean`, `hdi_low`, `hdi_high` and `borderline`. A value that was not measured is not settled.

    >>> settled_below = {"mean": -0.2, "hdi_low": -0.3, "hdi_high": -0.1, "borderline": False}
    >>> change = {"mean": 0.1, "hdi_low": 0.05, "hdi_high": 0.15, "borderline": False, "direction": "farther"}
    >>> reading_of(change, settled_below, settled_below), reading_of(change, settled_below, None)
    ('smaller', 'smaller, no longer settled')
    """
    if change["direction"] == "equal":
        return "no change"
    if change["borderline"]:
        return "borderline"
    if not is_settled(change["hdi_low"], change["hdi_high"]):
        return "not settled"
    is_first, is_second = (
        value is not None and is_settled(value["hdi_low"], value["hdi_high"]) and not value["borderline"]
        for value in (first, second)
    )
    if first is None or not is_first:
        return "now settled" if is_second else "changed"
    if second is not None and is_second and first["mean"] * second["mean"] < 0:
        return "opposite sign"
    # The change decides, and not the sizes of the two values, which come from two fits.
    if change["mean"] * first["mean"] > 0:
        return "larger"
    return "smaller" if is_second else "smaller, no longer settled"


def reading_text(reading: str, second: str) -> str:
    """Return a value of the column `reading` in words, given the name of the second condition.

    >>> reading_text("smaller, no longer settled", "1990")
    'smaller and no longer settled in 1990'
    """
    return READINGS[reading].text.format(second=second)


def is_claim(reading: str) -> bool:
    """Return whether a reading says that something changed.

    >>> is_claim("smaller"), is_claim("borderline")
    (True, False)
    """
    return reading not in ("borderline", "not settled", "no change")


def change_mark(row: Mapping[str, Any]) -> str:
    """Return the mark of a change in a table: a circle (filled if settled), the arrow of the change, and the reading.

    >>> change_mark({"reading": "smaller", "mean": 0.02}), change_mark({"reading": "not settled", "mean": 0.02})
    ('● → smaller', '○ not settled')
    """
    reading = row["reading"]
    is_settled = reading not in ("not settled", "no change")
    return mark_of(reading, row["mean"], is_open=reading == "borderline", is_settled=is_settled)


def claims_text(readings: Mapping[str, str], most: int, place: str = "in", what: str = "contrast") -> str:
    """Return what a contrast or a slope does in (or after) each condition, for the end of a sentence.

    `readings` has the reading of each condition.

    >>> claims_text({"hard": "now settled", "soft": "not settled", "linear": "now settled"}, 3)
    'is settled only in hard and linear, and has no settled change in soft'
    """
    parts = []
    for reading, words in READINGS.items():
        if names := [name for name, of_name in readings.items() if of_name == reading]:
            parts.append(words.claim.format(where=f"{place} {listed(names, most)}", what=what))
    return ", and ".join(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])}, and {parts[-1]}"


def claims_sentence(subject: str, readings: Mapping[str, str], place: str = "in") -> str:
    """Return what holds of a subject under each condition, in a sentence of at most `MOST_WORDS` words if it can be."""
    for most in (3, 1):
        sentence = f"{subject} {claims_text(readings, most, place)}."
        if len(sentence.split()) <= MOST_WORDS:
            return sentence
    counts = Counter(readings.values())
    shown = ", ".join(f"{word} {place} {count}" for word, count in counts.items())
    return f"{subject.rstrip(',')}: {shown} of {len(readings)}."
