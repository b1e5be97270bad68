"""Doubts about changes: reasons why a change may not be one of the association alone."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.base.arrays import ROUNDING
from bayesbias.base.number_text import counted, signed_text
from bayesbias.base.statements import Statement, rows_of
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import settled
from bayesbias.reports.posterior.doubts import tied_statement

if TYPE_CHECKING:
    import pandas as pd

_PAIR = ["protected_word", "attribute_word"]
_TIES = 0.1  # share of ties of a word that was not equalized
_CONTROLS = ("human", "neutral")


def change_doubts(distances: "pd.DataFrame", lacking: "pd.DataFrame", facts: Mapping[str, Any]) -> Iterator[Statement]:
    """Yield the doubts about changes between conditions.

    Draws that did not converge (``"convergence"``); control words whose mean distance changed (``"controls differ"``);
    words that a method equalized (``"equalized words"``, ``"equalized attribute words"``); words that some conditions
    lack (``"lacking words"``, ``"lost words"``); control lists left out because fewer than two of their words
    are there (``"short control list"``); distances that are tied to each other (``"tied words"``).
    """
    if problems := facts["convergence_problems"]:
        text = f"DO NOT REPORT THESE NUMBERS YET: {' '.join(problems)}"
        yield Statement("convergence", text, {"problems": problems})
    for (first, second), rows in distances[distances["protected_word"] == ""].groupby(["first", "second"], sort=False):
        yield from _shifted_controls(rows_of(rows), str(first), str(second), facts["hdi_prob"])
    for name, (protected, attributes) in facts["equalized"].items():
        yield from _equalized(protected, attributes, facts["conditions"][0], name)
    short: Mapping[str, Mapping[str, int]] = facts["short_controls"]
    # What no change uses needs no word on how the words that are there stand in for the others.
    unused = set.intersection(*map(set, short.values())) if len(short) == len(facts["conditions"]) - 1 else set()
    yield from _lacking(lacking[~lacking["list"].isin(list(unused))])
    for name, counts in short.items():
        yield from _short_controls(counts, facts["conditions"][0], name)
    for name, directions in facts["tied"].items():
        yield tied_statement(directions, f"the protected words in {name!r}")


def _shifted_controls(rows: list[dict[str, Any]], first: str, second: str, hdi_prob: float) -> Iterator[Statement]:
    """Yield whether control words changed, so that part of the changes is not about the association."""
    controls = [row for row in rows if row["connection"] in _CONTROLS]
    # With a rope, a change that is too small to matter does not count.
    moved = [
        row
        for row in controls
        if settled(row["hdi_low"], row["hdi_high"])
        and not row["borderline"]
        and row.get("probability_in_rope", 0.0) < hdi_prob
    ]
    others = [row for row in rows if row["connection"] not in _CONTROLS]
    if not moved or not others:
        return
    names = " and ".join(f"{row['connection']} words ({signed_text(row['mean'])})" for row in moved)
    text = f"From {first!r} to {second!r}, the mean distance to {names} changed"
    if all(row["direction"] == "equal" for row in others):
        text += ", although no distance to other words did."
    else:
        text += (
            " too, so part of the changes of distances is a shift of words in general and not of the association "
            "alone. Judge the association by the gaps, in which a common shift cancels. The shift need not be a fault: "
            "hard debiasing, for example, removes a direction from every word that it is not told to leave alone, "
            "control words included."
        )
    yield Statement("controls differ", text, {row["connection"]: row for row in moved})


def _equalized(protected: tuple[str, ...], attributes: tuple[str, ...], first: str, second: str) -> Iterator[Statement]:
    """Yield a statement on equalized protected words, and one on equalized attribute words."""
    if protected:
        text = (
            f"In {second!r}, {counted(len(protected), 'protected word')} ({name_some(protected, 12)}) are exactly as "
            f"near to most stereotype words as another protected word, unlike in {first!r}. They were equalized, so "
            "their gaps cannot show how such a word differs from its partner. Judge debiasing by words that were not "
            "equalized. Words that were equalized together share part of their change, so the intervals are somewhat "
            "too narrow."
        )
        yield Statement("equalized words", text, {"words": tuple(protected)})
    if attributes:
        text = (
            f"In {second!r}, {counted(len(attributes), 'attribute word')} ({name_some(attributes, 12)}) are exactly as "
            f"near to most protected words as another attribute word, unlike in {first!r}. They were equalized: a gap "
            "between lists of such partners is 0 by construction, whatever is left of an association. Judge debiasing "
            "by attribute words that were not equalized."
        )
        yield Statement("equalized attribute words", text, {"words": tuple(attributes)})


def _lacking(lacking: "pd.DataFrame") -> Iterator[Statement]:
    """Yield the words that some conditions lack, by list, and those that none has."""
    for (role, name), rows in lacking[lacking["conditions"] > 0].groupby(["role", "list"], sort=False):
        words = [f"{row['word']} (not in {row['lacks']})" for row in rows_of(rows)]
        text = (
            f"Not all conditions have the {role} words of {name}: {name_some(words, 12)}. Such a word counts only "
            "where it is; elsewhere it is taken to change as the other words of its list do."
        )
        yield Statement("lacking words", text, {"words": rows["word"].tolist(), "list": name})
    if nowhere := lacking.loc[lacking["conditions"] == 0, "word"].tolist():
        yield Statement("lost words", f"No condition has {name_some(nowhere, 12)}.", {"words": nowhere})


def _short_controls(counts: Mapping[str, int], first: str, second: str) -> Iterator[Statement]:
    """Yield the control lists that the change between two conditions leaves out."""
    for control, count in counts.items():
        text = (
            f"From {first!r} to {second!r}, no change of distances to {control} words is estimated: "
            f"one of the two has {counted(count, 'word')} of that list, and a mean of fewer than two words has no "
            "error. Choose control words that both have."
        )
        yield Statement("short control list", text, {"list": control, "first": first, "second": second})


def equalized_words(first: "pd.DataFrame", second: "pd.DataFrame", role: str) -> tuple[str, ...]:
    """Return the words of a role that are exactly as near to most of the others as another word, only in `second`.

    `role` is ``"protected_word"`` or ``"attribute_word"``; pairs are those of associated and different words that both
    tables have. Hard debiasing equalizes sets such as (he, she).
    """
    columns = [*_PAIR, "cosine_distance"]
    stereotypes = first.loc[first["connection"].isin(["associated", "different"]), columns]
    both = stereotypes.merge(second[columns], on=_PAIR, suffixes=("_first", "_second"))
    before, after = (_tied_share(both, f"cosine_distance_{side}", role) for side in ("first", "second"))
    # Rounded distances are tied in both.
    return tuple(word for word in both[role].astype(str).unique() if after[word] > 0.5 and before[word] < _TIES)


def _tied_share(rows: "pd.DataFrame", column: str, role: str) -> dict[str, float]:
    """Return for each word the share of the words of the other role to which another word is exactly as near."""
    (opposite,) = {*_PAIR} - {role}
    ordered = rows.astype(dict.fromkeys(_PAIR, str)).sort_values([opposite, column])
    near = (ordered[column].diff().abs() <= ROUNDING) & (ordered[opposite] == ordered[opposite].shift())
    tied = near | near.shift(-1, fill_value=False)
    return {str(word): float(share) for word, share in tied.groupby(ordered[role], sort=False).mean().items()}
