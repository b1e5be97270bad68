"""What a comparison of embeddings shows and does not show: statements with their numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbias.base.statements import (
    Conclusions,
    Rendered,
    Statement,
    StatementList,
    distance_text,
    interval_text,
    percent_text,
    probability_text,
    rows_of,
    signed_text,
)
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import contrast_sides, settled
from bayesbias.reports.posterior.conclusions import tied_statement

if TYPE_CHECKING:
    import pandas as pd

_LISTS = {
    "associated": "associated attribute words",
    "different": "attribute words associated with other groups",
    "human": "human control words",
    "neutral": "neutral control words",
}
# What numbers and words mean that do not explain themselves; all but the first are about gaps.
_READING = {
    "adding up": "The gaps of two embeddings need not differ by the difference that is given, least of all for single "
    "words. They come from two fits, one of each table, and each pulls the mean of a word towards the mean of all "
    "words. The difference comes from a model of the differences of the same pairs, in which what the embeddings share "
    "has cancelled. The difference is the number to read.",
    "not settled": "not settled: the interval of the difference holds 0, so whether the gap differs is open. With "
    "every word below, it leaves out 0.",
    "narrower": "narrower: the gap is settled in both (both intervals leave out 0), and the difference is toward 0.",
    "wider": "wider: the gap is settled in {baseline}, and the difference is away from 0.",
    "baseline only": "settled in {baseline} only: elsewhere the interval of the gap holds 0. That is not to say that "
    "the gap is 0.",
    "other only": "settled in the other embedding only: in {baseline} the interval of the gap holds 0.",
    "reversed": "reversed: the gap is settled in both, but with another sign.",
    "neither": "settled in neither: both intervals hold 0, although the difference leaves it out.",
}
_LIMITS = {
    "size": "How much difference would matter. An interval that leaves out 0 says that a difference is detectable, not "
    "that it is large; give a region of practical equivalence (rope) to ask that.",
    "bias": "That bias is absent where no gap is settled. These are distances of chosen word pairs; what debiasing "
    "removed from them can remain in others (Gonen and Goldberg 2019).",
    "absence": "No difference, where none is settled. Absence of evidence is not evidence of absence.",
    "many words": "That each word named above differs. Many words are judged at once, and some intervals leave out 0 "
    "by chance.",
    "other words": "Other words, other embeddings. The result is about these word lists in these vectors.",
}


@dataclass(frozen=True, repr=False)
class ComparisonConclusions(Rendered):
    """What a comparison of embeddings shows and does not show; printed, in plain English.

    Parameters
    ----------
    doubts
        Fits that did not converge (``"convergence"``).
    embeddings : mapping of Conclusions
        How each other embedding differs from the baseline, by its name. Their verdict is the difference of the first
        gap between associated and other attribute words (``"gap"``, its row of `gaps`), or else of the first
        distances (``"difference"``), or ``"equal"``. Shown are the other gaps, a ``"difference"`` for each connection
        (its row of `differences`), what control words say (``"controls"``), and for which ``"words"`` gaps and
        distances differ (names by how). Doubts speak against a reading as a difference of stereotypes alone:
        ``"controls differ"``, ``"equalized words"``, ``"tied words"`` (the gaps of one embedding are too sure).
    reading
        What numbers and words mean that do not explain themselves; empty if nothing differs.
    limits
        What the comparison does not show; empty if nothing differs.
    """

    doubts: tuple[Statement, ...]
    embeddings: Mapping[str, Conclusions]
    reading: tuple[Statement, ...]
    limits: tuple[Statement, ...]

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """The parts of the text, without those that are empty."""
        parts = (
            StatementList("Do not report these numbers yet: a sampler did not converge", self.doubts),
            *(part for each in self.embeddings.values() for part in difference_parts(each)),
            StatementList("How to read it", self.reading),
            StatementList("What it does not show", self.limits),
        )
        return tuple(part for part in parts if part.statements)

    def __repr__(self) -> str:
        return f"ComparisonConclusions({', '.join(map(repr, self.embeddings))}; {len(self.doubts)} doubts)"


def reading_text(reading: str, baseline: str, name: str) -> str:
    """Return how a gap differs (the column `reading`), with the embeddings' names.

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


def difference_parts(found: Conclusions) -> tuple[StatementList, ...]:
    """Return the parts of what is said of one embedding: the difference of gaps first, then what to beware of."""
    return (
        StatementList(found.heading, (found.verdict,), bulleted=False),
        StatementList("Beware", found.doubts),
        StatementList("In detail", found.shown),
        StatementList("What was compared", (found.about,), bulleted=False),
    )


def comparison_conclusions(
    baseline: str, names: tuple[str, ...], frames: "Mapping[str, pd.DataFrame]", facts: Mapping[str, Any]
) -> ComparisonConclusions:
    """Say what frames of an `EmbeddingComparison` show; every number in a statement is one of theirs."""
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
        limits=tuple(Statement(name, _LIMITS[name]) for name in limits),
    )


def _conclusions(
    baseline: str, name: str, found: "Mapping[str, pd.DataFrame]", facts: Mapping[str, Any]
) -> Conclusions:
    differences, words, gaps = rows_of(found["differences"]), found["differences_by_word"], found["gaps"]
    about = (
        f"{name!r} beside {baseline!r}: {facts['pairs']:,} word pairs, {words['protected_word'].nunique()} protected "
        f"words. A difference is {name!r} minus {baseline!r}; of distances, positive means farther apart in {name!r}. "
        f"Model of the differences {facts['difference_model']!r}, prior of a mean difference "
        f"{facts['difference_prior']}, seed {facts['seed']}."
    )
    if left_out := [f"{count:,} of {key!r}" for key, count in facts["left_out"].items() if count]:
        about += f" Pairs left out because not all tables have them: {', '.join(left_out)}."
    numbers = {"embedding": name, **{key: facts[key] for key in ("pairs", "left_out", "model", "seed")}}
    heading = f"How they differ ({percent_text(facts['hdi_prob'])} HPDI, in units of cosine distance)"
    if all(row["direction"] == "equal" for row in differences):
        same = "Nothing differs: every distance is the same in both, up to rounding. Are they the same file?"
        return Conclusions(Statement("about", about, numbers), (), Statement("equal", same), (), (), heading)
    controls = _controls_statement(differences, name, facts["hdi_prob"])
    doubts = [controls] if controls.kind == "controls differ" else []
    doubts += _equalized_words(facts["equalized"][name], baseline, name)
    tied = {table: facts["tied"][table] for table in (baseline, name) if table in facts["tied"]}
    doubts += [tied_statement(directions, f"the protected words in {table!r}") for table, directions in tied.items()]
    shown = []
    if len(gaps):
        shown += [_gap_statement(row, baseline, name) for row in rows_of(gaps[gaps["protected_word"] == ""])]
        by_contrast = gaps[gaps["protected_word"] != ""].groupby("contrast", sort=False)
        labels = {reading: reading_text(reading, repr(baseline), repr(name)) for reading in _READING}
        shown += [
            _word_statement(rows_of(rows), f"gap {contrast}", "reading", labels) for contrast, rows in by_contrast
        ]
    shown += [Statement("difference", _difference_text(row, name), row) for row in differences]
    shown += [controls] if controls.kind == "controls" else []
    moved = {direction: f"{direction} in {name!r}" for direction in ("nearer", "farther")}
    shown += [
        _word_statement(rows_of(rows), f"distance to {_LISTS[str(connection)]}", "direction", moved)
        for connection, rows in words.groupby("connection", sort=False)
        if (rows["direction"] != "equal").any()
    ]
    return Conclusions(
        Statement("about", about, numbers), tuple(doubts), shown[0], tuple(shown[1:]), limits=(), heading=heading
    )


def _settled(row: Mapping[str, Any]) -> bool:
    return settled(row["hdi_low"], row["hdi_high"])


def _difference_text(row: Mapping[str, Any], name: str) -> str:
    words = _LISTS[row["connection"]].capitalize()
    if row["direction"] == "equal":
        return f"{words}: no distance differs ({row['pairs']:,} pairs)."
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
    """Say whether control words differ, so that part of the difference is not about stereotypes."""
    controls = [row for row in rows if row["connection"] in ("human", "neutral")]
    # With a rope, a difference that is too small to matter is none.
    differ = [row for row in controls if _settled(row) and row.get("probability_in_rope", 0.0) < hdi_prob]
    if differ and len(controls) < len(rows):
        which = " and ".join(f"{row['connection']} words ({signed_text(row['mean'])})" for row in differ)
        text = (
            f"{which[0].upper()}{which[1:]} differ on average too, so what differs is not only the stereotypes: part "
            "of it is a shift of words in general. This need not be a fault. Hard debiasing, for one, removes a "
            "direction from every word that it is not asked to leave alone, control words too."
        )
        return Statement("controls differ", text, {row["connection"]: row for row in differ})
    if not controls:
        text = (
            f"Without control words, a difference of stereotypes in {name!r} cannot be distinguished from one of all "
            "words."
        )
    elif len(controls) == len(rows):
        text = "There are only control words: nothing can be said about stereotypes."
    elif all(row["direction"] == "equal" for row in controls):
        text = "Control words have the same distances in both: only those of the stereotypes differ."
    else:
        widest = max(controls, key=lambda row: row["spread"])
        text = (
            "No average difference of the control words is shown. Single pairs do differ: with a standard deviation of "
            f"{distance_text(widest['spread'])} for {widest['connection']} words."
        )
    return Statement("controls", text, {row["connection"]: row for row in controls})


def _equalized_words(equalized: tuple[str, ...], baseline: str, name: str) -> Iterator[Statement]:
    if equalized:
        text = (
            f"In {name!r}, {len(equalized)} protected words ({name_some(equalized, 12)}) are exactly as near to most "
            f"stereotype words as another protected word, which they are not in {baseline!r}. They were equalized, so "
            "that the gap between associated and different words is 0 by construction: that says nothing about words "
            "that were not equalized. And words that were equalized together share part of their difference, so the "
            "intervals are somewhat too narrow."
        )
        yield Statement("equalized words", text, {"words": equalized})


def _gap_statement(row: dict[str, Any], baseline: str, name: str) -> Statement:
    """Say by how much a gap differs, then how large it is in each embedding."""
    said = {
        "reversed": "of another sign in each",
        "not settled": "the difference is not settled",
        "equal": "the same in both",
    }
    how = said.get(row["reading"]) or reading_text(row["reading"], repr(baseline), repr(name))
    sides = (
        f"The gap itself ({how}) is {signed_text(row['other_gap'])} "
        f"({interval_text(row['other_low'], row['other_high'])}) in {name!r}, {signed_text(row['baseline_gap'])} "
        f"({interval_text(row['baseline_low'], row['baseline_high'])}) in {baseline!r}."
    )
    what = f"Gap of associated minus {contrast_sides(row['contrast'])[1]} words"
    if row["reading"] == "equal":
        return Statement("gap", f"{what}: {sides}", row)
    sign = "above" if row["direction"] == "farther" else "below"
    text = (
        f"{what}: {name!r} minus {baseline!r} is {signed_text(row['mean'])}, interval "
        f"{interval_text(row['hdi_low'], row['hdi_high'])}, probability "
        f"{probability_text(row['probability_of_direction'])} that it is {sign} 0.{_in_rope(row)} {sides}"
    )
    return Statement("gap", text, row)


def _word_statement(rows: list[dict[str, Any]], what: str, column: str, labels: Mapping[str, str]) -> Statement:
    """Name the words for which something differs, by how (`column`)."""
    named: dict[str, list[str]] = {}
    for row in rows:
        value = "equal" if row["direction"] == "equal" else row[column] if _settled(row) else "not settled"
        named.setdefault(value, []).append(row["protected_word"])
    order = ("nearer", "farther", *(name for name in _READING if name in named and name != "not settled"))
    named = {value: named[value] for value in (*order, "not settled", "equal") if value in named}
    parts = []
    for value, names in named.items():
        count = "any" if value == "not settled" and len(names) == len(rows) else str(len(names))
        which = "" if value in ("not settled", "equal") else f" ({name_some(names, 12)})"
        parts.append(f"{labels.get(value, value)} for {count}{which}")
    text = f"{what[0].upper()}{what[1:]}, {len(rows)} words: {', '.join(parts)}."
    return Statement("words", text, {"what": what, **named})
