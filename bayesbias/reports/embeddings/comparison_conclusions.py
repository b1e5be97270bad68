"""What a comparison of embeddings shows and does not show: statements with their numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbias.errors import name_some
from bayesbias.estimates import contrast_sides, settled
from bayesbias.reports.posterior.conclusions import tied_statement
from bayesbias.statements import (
    Conclusions,
    Part,
    Rendered,
    Statement,
    distance_text,
    interval_text,
    percent_text,
    probability_text,
    rows_of,
    signed_text,
)

if TYPE_CHECKING:
    import pandas as pd

_LISTS = {
    "associated": "associated attribute words",
    "different": "attribute words associated with other groups",
    "human": "human control words",
    "neutral": "neutral control words",
}
_GAPS = {
    "narrowed": "became smaller",
    "widened": "became larger",
    "closed": "became smaller, and after no gap is settled any more",
    "reversed": "changed its sign",
    "opened": "opened: before, none was settled",
    "shifted": "shifted, although no gap is settled either before or after",
    "not settled": "may or may not have changed: this is not settled",
    "unchanged": "did not change",
}
# What numbers and words mean that do not explain themselves; all but the first are about gaps.
_READING = {
    "adding up": "Before and after need not add up to the change, least of all for single words. They come from two "
    "fits, one of each table, and each pulls the mean of a word towards the mean of all words. The change comes from a "
    "model of the changes of the same pairs, in which what both embeddings share has cancelled. The change is the "
    "number to read.",
    "not settled": "not settled: the interval of the change holds 0, so whether the gap changed is open. With every "
    "word below, it leaves out 0.",
    "narrowed": "narrowed: a gap was settled before (its interval left out 0), the change is toward 0, and it is still "
    "settled.",
    "closed": "closed: a gap was settled before, and after the interval holds 0. That is not to say that the gap is 0.",
    "widened": "widened: a gap was settled before, and the change is away from 0.",
    "reversed": "reversed: a gap is settled both before and after, but with another sign.",
    "opened": "opened: no gap was settled before, and one is settled after.",
    "shifted": "shifted: no gap is settled either before or after, although the change is.",
}
_LIMITS = {
    "size": "How much change would matter. An interval that leaves out 0 says that a change is detectable, not that it "
    "is large; give a region of practical equivalence (rope) to ask that.",
    "bias": "That bias is gone where a gap closed. These are distances of chosen word pairs; what was removed from "
    "them can remain in others (Gonen and Goldberg 2019).",
    "absence": "No change, where it is not settled. Absence of evidence is not evidence of absence.",
    "many words": "That each word named above changed. Many words are judged at once, and some intervals leave out 0 "
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
        What changed from the baseline to each other embedding, by its name. Their verdict is what became of the first
        gap between associated and other attribute words (``"gap"``, its row of `contrasts`), or else of the first
        distances, or ``"nothing changed"``. Shown are the other gaps, a ``"change"`` for each connection (its row of
        `change`), what control words say (``"controls"``), and for which ``"words"`` distances and gaps changed (names
        by what became of them). Doubts speak against a reading as debiasing: ``"moved controls"``,
        ``"equalized words"``, ``"tied words"`` (before and after are too sure).
    reading
        What numbers and words mean that do not explain themselves; empty if nothing changed.
    limits
        What the comparison does not show; empty if nothing changed.
    """

    doubts: tuple[Statement, ...]
    embeddings: Mapping[str, Conclusions]
    reading: tuple[Statement, ...]
    limits: tuple[Statement, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the text, without those that are empty."""
        parts = (
            Part("Do not report these numbers yet: a sampler did not converge", self.doubts),
            *(part for each in self.embeddings.values() for part in each.parts),
            Part("How to read it", self.reading),
            Part("What it does not show", self.limits),
        )
        return tuple(part for part in parts if part.statements)

    def __repr__(self) -> str:
        return f"ComparisonConclusions({', '.join(map(repr, self.embeddings))}; {len(self.doubts)} doubts)"


def comparison_conclusions(
    baseline: str, names: tuple[str, ...], frames: "Mapping[str, pd.DataFrame]", facts: Mapping[str, Any]
) -> ComparisonConclusions:
    """Say what frames of an `EmbeddingComparison` show; every number in a statement is one of theirs."""
    changed = (frames["change"]["direction"] != "unchanged").any()
    reading = [name for name in _READING if name == "adding up" or len(frames["contrasts"])] if changed else []
    limits = [name for name in _LIMITS if name != "size" or facts["rope"] is None] if changed else []
    return ComparisonConclusions(
        doubts=tuple(Statement("convergence", problem) for problem in facts["convergence_problems"]),
        embeddings={
            name: _conclusions(
                baseline, name, {key: frame[frame["embedding"] == name] for key, frame in frames.items()}, facts
            )
            for name in names
        },
        reading=tuple(Statement(name, _READING[name]) for name in reading),
        limits=tuple(Statement(name, _LIMITS[name]) for name in limits),
    )


def _conclusions(
    baseline: str, name: str, found: "Mapping[str, pd.DataFrame]", facts: Mapping[str, Any]
) -> Conclusions:
    change, words, gaps = rows_of(found["change"]), found["change_by_word"], found["contrasts"]
    about = (
        f"From {baseline!r} to {name!r}: {facts['pairs']:,} word pairs, {words['protected_word'].nunique()} protected "
        f"words. A change is the distance in {name!r} minus that in {baseline!r}: positive means farther apart. Model "
        f"of the changes {facts['change_model']!r}, "
        f"prior of a mean change {facts['change_prior']}, seed {facts['seed']}."
    )
    if left_out := [f"{count:,} of {key!r}" for key, count in facts["left_out"].items() if count]:
        about += f" Pairs left out because not all tables have them: {', '.join(left_out)}."
    numbers = {"embedding": name, **{key: facts[key] for key in ("pairs", "left_out", "model", "seed")}}
    heading = f"What changed ({percent_text(facts['hdi_prob'])} HPDI, in units of cosine distance)"
    if all(row["direction"] == "unchanged" for row in change):
        same = "Nothing changed: every distance is the same in both, up to rounding. Are they the same file?"
        return Conclusions(Statement("about", about, numbers), (), Statement("nothing changed", same), (), (), heading)
    controls = _controls_statement(change, name, facts["hdi_prob"])
    doubts = [controls] if controls.kind == "moved controls" else []
    doubts += _equalized_words(facts["equalized"][name], name)
    tied = {table: facts["tied"][table] for table in (baseline, name) if table in facts["tied"]}
    doubts += [tied_statement(directions, f"the protected words in {table!r}") for table, directions in tied.items()]
    shown = [_gap_statement(row) for row in rows_of(gaps[gaps["protected_word"] == ""])] if len(gaps) else []
    shown += [Statement("change", _change_text(row), row) for row in change]
    shown += [controls] if controls.kind == "controls" else []
    shown += [
        _word_statement(rows_of(rows), f"distance to {_LISTS[str(connection)]}", "direction")
        for connection, rows in words.groupby("connection", sort=False)
        if (rows["direction"] != "unchanged").any()
    ]
    if len(gaps):
        by_contrast = gaps[gaps["protected_word"] != ""].groupby("contrast", sort=False)
        shown += [_word_statement(rows_of(rows), f"gap {contrast}", "gap") for contrast, rows in by_contrast]
    return Conclusions(
        Statement("about", about, numbers), tuple(doubts), shown[0], tuple(shown[1:]), limits=(), heading=heading
    )


def _settled(row: Mapping[str, Any]) -> bool:
    return settled(row["hdi_low"], row["hdi_high"])


def _change_text(row: Mapping[str, Any]) -> str:
    words = _LISTS[row["connection"]].capitalize()
    if row["direction"] == "unchanged":
        return f"{words}: no distance changed ({row['pairs']:,} pairs)."
    if _settled(row):
        head = f"{words} are {row['direction']} than before on average"
    else:
        head = f"{words}: whether they are nearer or farther than before on average is not settled"
    text = (
        f"{head}: mean change {signed_text(row['mean'])}, interval {interval_text(row['hdi_low'], row['hdi_high'])}, "
        f"probability {probability_text(row['probability_of_direction'])} that they are {row['direction']}."
    )
    text += _in_rope(row, "it")
    if row["pairs"] > 1:
        text += f" Single pairs changed with a standard deviation of {distance_text(row['spread'])}."
    return text


def _in_rope(row: Mapping[str, Any], what: str) -> str:
    if "probability_in_rope" not in row:
        return ""
    inside = probability_text(row["probability_in_rope"])
    return f" Probability {inside} that {what} is too small to matter (in the rope)."


def _controls_statement(rows: list[dict[str, Any]], name: str, hdi_prob: float) -> Statement:
    """Say whether control words moved, so that part of the change is not about stereotypes."""
    controls = [row for row in rows if row["connection"] in ("human", "neutral")]
    # With a rope, a move that is too small to matter is none.
    moved = [row for row in controls if _settled(row) and row.get("probability_in_rope", 0.0) < hdi_prob]
    if moved and len(controls) < len(rows):
        which = " and ".join(f"{row['connection']} words ({signed_text(row['mean'])})" for row in moved)
        text = (
            f"{which[0].upper()}{which[1:]} moved on average too, so what changed is not only the stereotypes: part of "
            "the change is a shift of words in general. This need not be a fault. Hard debiasing, for one, removes a "
            "direction from every word that it is not asked to leave alone, control words too."
        )
        return Statement("moved controls", text, {row["connection"]: row for row in moved})
    if not controls:
        text = (
            f"Without control words, a change that {name!r} makes to stereotypes cannot be distinguished from one that "
            "it makes to all words."
        )
    elif len(controls) == len(rows):
        text = "There are only control words: nothing can be said about stereotypes."
    elif all(row["direction"] == "unchanged" for row in controls):
        text = "Control words kept their distances: only those of the stereotypes changed."
    else:
        widest = max(controls, key=lambda row: row["spread"])
        text = (
            "No average move of the control words is shown. Single pairs did move: by a standard deviation of "
            f"{distance_text(widest['spread'])} for {widest['connection']} words."
        )
    return Statement("controls", text, {row["connection"]: row for row in controls})


def _equalized_words(equalized: tuple[str, ...], name: str) -> Iterator[Statement]:
    if equalized:
        text = (
            f"In {name!r}, {len(equalized)} protected words ({name_some(equalized, 12)}) are exactly as near to most "
            "stereotype words as another protected word, which they were not before. They were equalized, so the gap "
            "between associated and different words closes by construction: that says nothing about words that were "
            "not equalized. And words that were equalized together share part of their change, so the intervals are "
            "somewhat too narrow."
        )
        yield Statement("equalized words", text, {"words": equalized})


def _gap_statement(row: dict[str, Any]) -> Statement:
    other = contrast_sides(row["contrast"])[1]
    text = (
        f"Associated minus {other}: the gap {_GAPS[row['gap']]}. Before {signed_text(row['before'])} "
        f"({interval_text(row['before_low'], row['before_high'])}), after {signed_text(row['after'])} "
        f"({interval_text(row['after_low'], row['after_high'])})"
    )
    if row["gap"] == "unchanged":
        return Statement("gap", f"{text}.", row)
    text += (
        f"; change of the same pairs {signed_text(row['mean'])}, interval "
        f"{interval_text(row['hdi_low'], row['hdi_high'])}, probability "
        f"{probability_text(row['probability_of_direction'])} that it is "
        f"{'positive' if row['direction'] == 'farther' else 'negative'}."
    )
    return Statement("gap", text + _in_rope(row, "the change"), row)


def _word_statement(rows: list[dict[str, Any]], what: str, column: str) -> Statement:
    """Name the words for which something changed, by what became of them (`column`)."""
    named: dict[str, list[str]] = {}
    for row in rows:
        value = "unchanged" if row["direction"] == "unchanged" else row[column] if _settled(row) else "not settled"
        named.setdefault(value, []).append(row["protected_word"])
    order = ("nearer", "farther", "narrowed", "closed", "widened", "reversed", "opened", "shifted", "not settled")
    named = {value: named[value] for value in (*order, "unchanged") if value in named}
    parts = []
    for value, names in named.items():
        count = "any" if value == "not settled" and len(names) == len(rows) else str(len(names))
        which = "" if value in ("not settled", "unchanged") else f" ({name_some(names, 12)})"
        parts.append(f"{value} for {count}{which}")
    text = f"{what[0].upper()}{what[1:]}, {len(rows)} words: {', '.join(parts)}."
    return Statement("words", text, {"what": what, **named})
