"""What a comparison of embeddings shows and does not show, in plain English."""

import textwrap
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.errors import name_some
from bayesbias.statements import percent_text

if TYPE_CHECKING:
    import pandas as pd

_KINDS = {
    "associated": "associated attribute words",
    "different": "attribute words associated with other groups",
    "human": "human words that carry no stereotype",
    "neutral": "neutral words",
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
# Bullets on numbers and words that do not explain themselves; the last ones are about gaps.
_ADDING_UP = (
    "- Before and after need not add up to the change, least of all for single words. They come from two fits, one of "
    "each table, and each pulls the mean of a word towards the mean of all words. The change comes from a model of the "
    "changes of the same pairs, in which what both embeddings share has cancelled. The change is the number to trust."
)
_LEGEND = (
    "- not settled: the interval of the change holds 0, so whether the gap changed is open. With every word below, it "
    "leaves out 0.",
    "- narrowed: a gap was settled before (its interval left out 0), the change is toward 0, and it is still settled.",
    "- closed: a gap was settled before, and after the interval holds 0. That is not to say that the gap is 0.",
    "- widened: a gap was settled before, and the change is away from 0.",
    "- reversed: a gap is settled both before and after, but with another sign.",
    "- opened: no gap was settled before, and one is settled after.",
    "- shifted: no gap is settled either before or after, although the change is.",
)


def comparison_text(
    baseline: str, names: tuple[str, ...], frames: "Mapping[str, pd.DataFrame]", facts: Mapping[str, Any]
) -> str:
    """Return paragraphs of at most 100 characters a line; every number in them is one of the frames."""
    parts = []
    if problems := facts["convergence_problems"]:
        parts += ["DO NOT REPORT THESE NUMBERS YET: a sampler did not converge."]
        parts += [f"- {problem}" for problem in problems]
    for name in names:
        found = {key: frame[frame["embedding"] == name] for key, frame in frames.items()}
        parts += _one(baseline, name, found, facts)
    if (frames["change"]["direction"] != "unchanged").any():
        parts += ["HOW TO READ IT", _ADDING_UP, *(_LEGEND if len(frames["contrasts"]) else ())]
        parts += ["WHAT IT DOES NOT SHOW", *_limits(facts)]
    return "\n\n".join(_wrap(part) for part in parts) + "\n"


def _one(baseline: str, name: str, found: "Mapping[str, pd.DataFrame]", facts: Mapping[str, Any]) -> list[str]:
    change, words, gaps = found["change"], found["change_by_word"], found["contrasts"]
    head = (
        f"FROM {baseline!r} TO {name!r}: {facts['pairs']:,} word pairs, {words['protected_word'].nunique()} protected "
        f"words. A change is the distance in {name!r} minus that in {baseline!r}: positive means farther apart. Model "
        f"of the changes {facts['model']!r}, prior of a mean change {facts['change_prior']}, seed {facts['seed']}."
    )
    if left_out := [f"{count:,} of {key!r}" for key, count in facts["left_out"].items() if count]:
        head += f" Pairs left out because not all tables have them: {', '.join(left_out)}."
    if (change["direction"] == "unchanged").all():
        return [head, "Nothing changed: every distance is the same in both, up to rounding. Are they the same file?"]
    inside = f"({percent_text(facts['hdi_prob'])} HPDI, in units of cosine distance)"
    parts = [head, f"DID THE DISTANCES CHANGE? {inside}"]
    parts += [_change_sentence(row) for row in change.to_dict("records")]
    parts += _control_sentences(change, name, facts["hdi_prob"])
    if len(gaps):
        parts += [f"DID THE GAPS CLOSE? {inside}"]
        parts += [_gap_sentence(row) for row in gaps[gaps["protected_word"] == ""].to_dict("records")]
    if equalized := facts["equalized"][name]:
        parts += [
            f"- Beware: in {name!r}, {len(equalized)} protected words ({name_some(equalized, 12)}) are exactly as near "
            "to most stereotype words as another protected word, which they were not before. They were equalized, so "
            "the gap between associated and different words closes by construction: that says nothing about words that "
            "were not equalized. And words that were equalized together share part of their change, so the intervals "
            "are somewhat too narrow."
        ]
    parts += ["FOR WHICH WORDS?"]
    parts += [
        _word_sentence(rows, f"distance to {_KINDS[str(connection)]}", "direction")
        for connection, rows in words.groupby("connection", sort=False)
        if (rows["direction"] != "unchanged").any()
    ]
    if len(gaps):
        by_word = gaps[gaps["protected_word"] != ""]
        parts += [
            _word_sentence(rows, f"gap {contrast}", "gap") for contrast, rows in by_word.groupby("contrast", sort=False)
        ]
    return parts


def _settled(row: Mapping[Hashable, Any]) -> bool:
    return bool(row["hdi_low"] > 0 or row["hdi_high"] < 0)


def _interval(row: Mapping[Hashable, Any], prefix: str = "hdi_") -> str:
    return f"{row[f'{prefix}low']:+.3f} to {row[f'{prefix}high']:+.3f}"


def _probability(value: float) -> str:
    """Return a probability with two decimals, never as a certainty that draws cannot give."""
    return "above 0.99" if value > 0.99 else "below 0.01" if value < 0.01 else f"{value:.2f}"


def _change_sentence(row: Mapping[Hashable, Any]) -> str:
    kind = _KINDS[row["connection"]]
    if row["direction"] == "unchanged":
        return f"- {kind.capitalize()}: no distance changed ({row['pairs']:,} pairs)."
    if _settled(row):
        head = f"- {kind.capitalize()} are {row['direction']} than before on average"
    else:
        head = f"- {kind.capitalize()}: whether they are nearer or farther than before on average is not settled"
    text = (
        f"{head}: mean change {row['mean']:+.3f}, interval {_interval(row)}, probability "
        f"{_probability(row['probability_of_direction'])} that they are {row['direction']}."
    )
    if "probability_in_rope" in row:
        text += f" Probability {_probability(row['probability_in_rope'])} that it is too small to matter (in the rope)."
    if row["pairs"] > 1:
        text += f" Single pairs changed with a standard deviation of {row['spread']:.3f}."
    return text


def _control_sentences(change: "pd.DataFrame", name: str, hdi_prob: float) -> list[str]:
    """Say whether control words moved, so that part of the change is not about stereotypes."""
    controls = [row for row in change.to_dict("records") if row["connection"] in ("human", "neutral")]
    if not controls:
        return [
            f"- Without control words, a change that {name!r} makes to stereotypes cannot be told from one that it "
            "makes to all words."
        ]
    if len(controls) == len(change):
        return ["- There are only control words: nothing can be said about stereotypes."]
    # With a rope, a move that is too small to matter is none.
    moved = [row for row in controls if _settled(row) and row.get("probability_in_rope", 0.0) < hdi_prob]
    still = [row for row in controls if row["direction"] == "unchanged"]
    if len(still) == len(controls):
        return ["- Control words kept their distances: only those of the stereotypes changed."]
    if moved:
        which = " and ".join(f"{row['connection']} words ({row['mean']:+.3f})" for row in moved)
        return [
            f"- Beware: {which} moved on average too, so what changed is not only the stereotypes: part of the change "
            "is a shift of words in general. This need not be a fault. Hard debiasing, for one, removes a direction "
            "from every word that it is not told to leave alone, control words too."
        ]
    widest = max(controls, key=lambda row: row["spread"])
    return [
        "- No average move of the control words is shown. Single pairs did move: by a standard deviation of "
        f"{widest['spread']:.3f} for {widest['connection']} words."
    ]


def _gap_sentence(row: Mapping[Hashable, Any]) -> str:
    other = str(row["contrast"]).split(" - ", 1)[1]
    text = f"- Associated minus {other}: the gap {_GAPS[row['gap']]}. "
    text += f"Before {row['before']:+.3f} ({_interval(row, 'before_')}), after {row['after']:+.3f} "
    text += f"({_interval(row, 'after_')})"
    if row["gap"] == "unchanged":
        return f"{text}."
    text += f"; change {row['mean']:+.3f}, interval {_interval(row)}, probability "
    text += f"{_probability(row['probability_of_direction'])} that it is "
    text += "positive." if row["direction"] == "farther" else "negative."
    if "probability_in_rope" in row:
        inside = _probability(row["probability_in_rope"])
        text += f" Probability {inside} that the change is too small to matter (in the rope)."
    return text


def _word_sentence(rows: "pd.DataFrame", what: str, column: str) -> str:
    every = rows.to_dict("records")
    values = (
        ("nearer", "farther")
        if column == "direction"
        else ("narrowed", "closed", "widened", "reversed", "opened", "shifted")
    )
    parts = []
    for value in values:
        names = [row["protected_word"] for row in every if row[column] == value and _settled(row)]
        if names:
            parts.append(f"{value} for {len(names)} ({name_some(names, 12)})")
    open_count = sum(not _settled(row) and row["direction"] != "unchanged" for row in every)
    if open_count:
        parts.append(f"not settled for {'any' if open_count == len(every) else open_count}")
    if still := sum(row["direction"] == "unchanged" for row in every):
        parts.append(f"unchanged for {still}")
    return f"- {what[0].upper()}{what[1:]}, {len(every)} words: {', '.join(parts)}."


def _limits(facts: Mapping[str, Any]) -> list[str]:
    limits = []
    if facts["rope"] is None:
        limits.append(
            "- How much change would matter. An interval that leaves out 0 says that a change is detectable, not that "
            "it is large; give a region of practical equivalence (rope) to ask that."
        )
    return [
        *limits,
        "- That bias is gone where a gap closed. These are distances of chosen word pairs; what was removed from them "
        "can remain in others (Gonen and Goldberg 2019).",
        "- No change, where it is not settled. Absence of evidence is not evidence of absence.",
        "- That each word named above changed. Many words are judged at once, and some intervals leave out 0 by "
        "chance.",
        "- Other words, other embeddings. The result is about these word lists in these vectors.",
    ]


def _wrap(paragraph: str) -> str:
    indent = "  " if paragraph.startswith("- ") else ""
    return textwrap.fill(paragraph, width=100, subsequent_indent=indent, break_long_words=False)
