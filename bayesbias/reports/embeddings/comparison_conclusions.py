"""Conclusions from a comparison of embeddings: what it shows and does not show, as statements with their numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbias.base.number_text import (
    counted,
    distance_text,
    interval_text,
    percent_text,
    probability_text,
    signed_text,
)
from bayesbias.base.statements import Conclusions, Rendered, Statement, StatementList, rows_of
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import contrast_sides, settled
from bayesbias.reports.embeddings.equalized_doubts import equalized_doubts
from bayesbias.reports.posterior.attribute_phrases import attribute_phrases
from bayesbias.reports.posterior.doubts import tied_statement
from bayesbias.reports.posterior.group_statements import without_contrast

if TYPE_CHECKING:
    import pandas as pd

# Explanations of the numbers and of the terms for gaps (the column `reading`).
_READING = {
    "adding up": "The gaps of two embeddings need not differ by exactly the difference given, least of all for single "
    "words. The gaps come from two fits, one of each table, and each fit pulls the mean of a word toward those of "
    "others. The difference comes from the differences of the same pairs, in which everything that the embeddings "
    "share cancels. The difference is the number to read.",
    "not settled": "not settled: the interval of the difference holds 0, so whether the gap differs is open. For all "
    "terms below, it leaves out 0.",
    "narrower": "narrower: the gap is settled in both (both intervals leave out 0), and the difference is toward 0.",
    "wider": "wider: the gap is settled in {baseline}, and the difference is away from 0.",
    "baseline only": "settled in {baseline} only: in the other embedding the interval of the gap holds 0, which does "
    "not mean that the gap is 0. Tables call this 'baseline only'.",
    "other only": "settled in the other embedding only: in {baseline} the interval of the gap holds 0. Tables call "
    "this 'other only'.",
    "reversed": "reversed: the gap is settled in both, with opposite signs.",
    "neither": "settled in neither: the intervals of both gaps hold 0, although that of the difference leaves it out. "
    "Tables call this 'neither'.",
}
_LIMITS = {
    "size": "Whether a difference matters. An interval that leaves out 0 says that a difference is detectable, not "
    "that it is large; to judge its size, give a region of practical equivalence (rope).",
    "bias": "The absence of bias where no gap is settled. These are distances of chosen word pairs; what debiasing "
    "removed from them can remain in others (Gonen and Goldberg 2019).",
    "absence": "The absence of a difference where none is settled. Absence of evidence is not evidence of absence.",
    "many words": "That each word named above differs. Many words are judged at once, and some intervals leave out 0 "
    "by chance.",
    "other words": "Other words, other embeddings. The result is about these word lists in these vectors.",
}


@dataclass(frozen=True, repr=False)
class ComparisonConclusions(Rendered):
    """What a comparison of embeddings shows and does not show, in plain English.

    Parameters
    ----------
    doubts
        Fits that did not converge (``"convergence"``).
    embeddings : mapping of Conclusions
        Differences of each other embedding from the baseline, by its name. Their verdict is the difference of the first
        gap between associated and other attribute words (``"gap"``, its row of `gaps`), or else of the first
        distances (``"difference"``), or ``"equal"``. Shown are the other gaps, a ``"difference"`` for each connection
        (its row of `differences`), a statement on control words (``"controls"``), and the ``"words"`` whose gaps and
        distances differ (names by how they differ). Doubts state why the difference may not be one of stereotypes
        alone: ``"controls differ"``, ``"equalized words"``, ``"equalized attribute words"``, ``"tied words"``
        (intervals of the gaps of one embedding are too narrow).
    reading
        Explanations of the numbers and terms; empty if nothing differs.
    limits
        Groups that are in no contrast (``"group without contrast"``), and limits of the comparison if anything differs.
    """

    doubts: tuple[Statement, ...]
    embeddings: Mapping[str, Conclusions]
    reading: tuple[Statement, ...]
    limits: tuple[Statement, ...]

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        return (
            StatementList("Do not report these numbers yet: a sampler did not converge", self.doubts),
            *(part for conclusions in self.embeddings.values() for part in difference_parts(conclusions)),
            StatementList("How to read it", self.reading),
            StatementList("What it does not show", self.limits),
        )

    def __repr__(self) -> str:
        return f"ComparisonConclusions({', '.join(map(repr, self.embeddings))}; {len(self.doubts)} doubts)"


def reading_text(reading: str, baseline: str, name: str) -> str:
    """Return a value of the column `reading` with the embeddings' names.

    >>> reading_text("baseline only", "GloVe", "fastText"), reading_text("wider", "GloVe", "fastText")
    ('settled in GloVe only', 'wider in fastText')
    """
    return {
        "narrower": f"narrower in {name}",
        "wider": f"wider in {name}",
        "baseline only": f"settled in {baseline} only",
        "other only": f"settled in {name} only",
        "neither": "settled in neither",
    }.get(reading, reading)


def difference_parts(conclusions: Conclusions) -> tuple[StatementList, ...]:
    """Return the parts of the conclusions on one embedding: the verdict first, then the doubts."""
    return (
        StatementList(conclusions.heading, (conclusions.verdict,), bulleted=False),
        StatementList("Beware", conclusions.doubts),
        StatementList("In detail", conclusions.shown),
        StatementList("What was compared", (conclusions.about,), bulleted=False),
    )


def comparison_conclusions(
    baseline: str, names: tuple[str, ...], frames: "Mapping[str, pd.DataFrame]", facts: Mapping[str, Any]
) -> ComparisonConclusions:
    """Return what the frames of an `EmbeddingComparison` show; every number in a statement is from a frame."""
    differs = (frames["differences"]["direction"] != "equal").any()
    reading = list(_READING) if differs and len(frames["gaps"]) else []
    limits = [name for name in _LIMITS if name != "size" or facts["rope"] is None] if differs else []
    return ComparisonConclusions(
        doubts=tuple(Statement("convergence", problem) for problem in facts["convergence_problems"]),
        embeddings={
            name: _conclusions(
                baseline, name, {key: frame[frame["embedding"] == name] for key, frame in frames.items()}, facts
            )
            for name in names
        },
        reading=tuple(Statement(name, _READING[name].format(baseline=repr(baseline))) for name in reading),
        limits=(
            *without_contrast(facts["groups_not_compared"]),
            *(Statement(name, _LIMITS[name]) for name in limits),
        ),
    )


def _conclusions(
    baseline: str, name: str, frames: "Mapping[str, pd.DataFrame]", facts: Mapping[str, Any]
) -> Conclusions:
    differences, words, gaps = rows_of(frames["differences"]), frames["differences_by_word"], frames["gaps"]
    about = (
        f"{name!r} compared with {baseline!r}: {counted(facts['pairs'], 'word pair')}, "
        f"{counted(words['protected_word'].nunique(), 'protected word')}. A difference is {name!r} minus "
        f"{baseline!r}; a positive difference of distances means farther apart in {name!r}. "
    )
    if facts["difference_model"]:
        about += (
            f"Model of the differences {facts['difference_model']!r}, prior of a mean difference "
            f"{facts['difference_prior']}, seed {facts['random_seed']}."
        )
    else:
        about += f"Differences are paired changes as in `trend`, seed {facts['random_seed']}."
    if left_out := [f"{count:,} of {key!r}" for key, count in facts["left_out"].items() if count]:
        about += f" Pairs left out because not all tables have them: {', '.join(left_out)}."
    numbers = {"embedding": name, **{key: facts[key] for key in ("pairs", "left_out", "model", "random_seed")}}
    heading = f"How they differ ({percent_text(facts['hdi_prob'])} HPDI, in units of cosine distance)"
    if all(row["direction"] == "equal" for row in differences):
        same = "Nothing differs: every distance is the same in both, up to rounding. Are they the same file?"
        return Conclusions(Statement("about", about, numbers), (), Statement("equal", same), (), (), heading)
    controls = _controls_statement(differences, name, facts["hdi_prob"])
    doubts = [controls] if controls.kind == "controls differ" else []
    equalized = facts["equalized"][name], facts["equalized_attributes"][name]
    doubts += equalized_doubts(*equalized, place=f"In {name!r},", baseline=repr(baseline))
    doubts += [
        tied_statement(facts["tied"][table], f"the protected words in {table!r}")
        for table in (baseline, name)
        if table in facts["tied"]
    ]
    shown = []
    if len(gaps):
        shown += [_gap_statement(row, baseline, name) for row in rows_of(gaps[gaps["protected_word"] == ""])]
        by_contrast = gaps[gaps["protected_word"] != ""].groupby("contrast", sort=False)
        labels = {reading: reading_text(reading, repr(baseline), repr(name)) for reading in _READING}
        shown += [
            _word_statement(rows_of(rows), f"gap {contrast}", "reading", labels) for contrast, rows in by_contrast
        ]
    phrases = attribute_phrases(words["protected_group"].nunique()).words
    shown += [Statement("difference", _difference_text(row, name, phrases), row) for row in differences]
    shown += [controls] if controls.kind == "controls" else []
    moved = {direction: f"{direction} in {name!r}" for direction in ("nearer", "farther")}
    shown += [
        _word_statement(rows_of(rows), f"distance to {phrases[str(connection)]}", "direction", moved)
        for connection, rows in words.groupby("connection", sort=False)
        if (rows["direction"] != "equal").any()
    ]
    return Conclusions(
        Statement("about", about, numbers), tuple(doubts), shown[0], tuple(shown[1:]), limits=(), heading=heading
    )


def _settled(row: Mapping[str, Any]) -> bool:
    return settled(row["hdi_low"], row["hdi_high"])


def _difference_text(row: Mapping[str, Any], name: str, phrases: Mapping[str, str]) -> str:
    words = phrases[row["connection"]].capitalize()
    if row["direction"] == "equal":
        return f"{words}: no distance differs ({counted(row['pairs'], 'pair')})."
    if _settled(row):
        head = f"{words} are {row['direction']} in {name!r} on average"
    else:
        head = f"{words}: whether they are nearer or farther in {name!r} on average is not settled"
    text = (
        f"{head}: mean difference {signed_text(row['mean'])}, interval "
        f"{interval_text(row['hdi_low'], row['hdi_high'])}, "
        f"probability {probability_text(row['probability_of_direction'])} that they are {row['direction']}."
    )
    text += _in_rope(row)
    if row["pairs"] > 1:
        text += f" Single pairs differ with a standard deviation of {distance_text(row['spread'])}."
    return text


def _in_rope(row: Mapping[str, Any]) -> str:
    if "probability_in_rope" not in row:
        return ""
    inside = probability_text(row["probability_in_rope"])
    return f" Probability {inside} that the difference is too small to matter (in the rope)."


def _controls_statement(rows: list[dict[str, Any]], name: str, hdi_prob: float) -> Statement:
    """Return whether control words differ, so that part of the difference is not about stereotypes."""
    controls = [row for row in rows if row["connection"] in ("human", "neutral")]
    # With a rope, a difference that is too small to matter does not count.
    differ = [row for row in controls if _settled(row) and row.get("probability_in_rope", 0.0) < hdi_prob]
    others = [row for row in rows if row["connection"] not in ("human", "neutral")]
    if differ and others:
        shifted = " and ".join(f"{row['connection']} words ({signed_text(row['mean'])})" for row in differ)
        text = f"{shifted[0].upper()}{shifted[1:]} differ on average"
        if all(row["direction"] == "equal" for row in others):
            text += ", although no distance to other words does."
        else:
            text += (
                " too, so part of the difference is a shift of words in general and not of stereotypes alone. Judge "
                "stereotypes by the gaps, in which a common shift cancels. The shift need not be a fault: hard "
                "debiasing, for example, removes a direction from every word that it is not told to leave alone, "
                "control words included."
            )
        return Statement("controls differ", text, {row["connection"]: row for row in differ})
    if not controls:
        text = (
            f"Without control words, a difference of stereotypes in {name!r} cannot be distinguished from one of all "
            "words. Add control lists to the study."
        )
    elif len(controls) == len(rows):
        text = "There are only control words, which show nothing about stereotypes. Add associated words."
    elif all(row["direction"] == "equal" for row in controls):
        text = "Control words have the same distances in both: only distances of stereotypes differ."
    else:
        widest = max(controls, key=lambda row: row["spread"])
        text = (
            "No average difference of control words is shown. Single pairs do differ, with a standard deviation of "
            f"{distance_text(widest['spread'])} for {widest['connection']} words."
        )
    return Statement("controls", text, {row["connection"]: row for row in controls})


def _gap_statement(row: dict[str, Any], baseline: str, name: str) -> Statement:
    """Return the difference of a gap, and the gap in each embedding."""
    phrases = {
        "reversed": "of opposite signs",
        "not settled": "the difference is not settled",
        "equal": "the same in both",
    }
    reading = phrases.get(row["reading"]) or reading_text(row["reading"], repr(baseline), repr(name))
    sides = (
        f"The gap itself ({reading}) is {signed_text(row['other_gap'])} "
        f"({interval_text(row['other_low'], row['other_high'])}) in {name!r}, {signed_text(row['baseline_gap'])} "
        f"({interval_text(row['baseline_low'], row['baseline_high'])}) in {baseline!r}."
    )
    title = f"Gap of associated minus {contrast_sides(row['contrast'])[1]} words"
    if row["reading"] == "equal":
        return Statement("gap", f"{title}: {sides}", row)
    sign = "above" if row["direction"] == "farther" else "below"
    text = (
        f"{title}: {name!r} minus {baseline!r} is {signed_text(row['mean'])}, interval "
        f"{interval_text(row['hdi_low'], row['hdi_high'])}, probability "
        f"{probability_text(row['probability_of_direction'])} that it is {sign} 0.{_in_rope(row)} {sides}"
    )
    return Statement("gap", text, row)


def _word_statement(rows: list[dict[str, Any]], what: str, column: str, labels: Mapping[str, str]) -> Statement:
    """Return the words by how a gap or distance (`what`) differs, the values of `column`."""
    by_value: dict[str, list[str]] = {}
    for row in rows:
        value = "equal" if row["direction"] == "equal" else row[column] if _settled(row) else "not settled"
        by_value.setdefault(value, []).append(row["protected_word"])
    order = ("nearer", "farther", *(name for name in _READING if name != "not settled"), "not settled", "equal")
    words = {value: by_value[value] for value in order if value in by_value}
    parts = []
    for value, names in words.items():
        count = "any" if value == "not settled" and len(names) == len(rows) else str(len(names))
        listed = "" if value in ("not settled", "equal") else f" ({name_some(names, 12)})"
        parts.append(f"{labels.get(value, value)} for {count}{listed}")
    text = f"{what[0].upper()}{what[1:]}, {counted(len(rows), 'word')}: {', '.join(parts)}."
    return Statement("words", text, {"what": what, **words})
