"""Statements on single words: which a posterior names, how many it names by chance, and whether they bear a verdict."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.number_text import counted, signed_text
from bayesbias.base.statements import Statement
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import contrast_sides
from bayesbias.reports.posterior.group_statements import nearness_decides
from bayesbias.reports.posterior.plain_differences import reason_pulled

if TYPE_CHECKING:
    from bayesbias.models.spec import ModelSpec

# Shares of words that the default model names with 89 % intervals where nothing is associated, as measured in
# validation/dependent_words: for attribute words drawn independently of each other, and for clusters of up to four
# neighbours, synonyms or forms of a word (least and most of the cells).
NAMED_BY_CHANCE, NAMED_IN_CLUSTERS = 0.07, (0.01, 0.13)

Row = dict[Hashable, Any]


def is_measured(row: Row) -> bool:
    """Return whether the table has rows for both sides of a contrast."""
    return bool(row["baseline_pairs"] and row["other_pairs"])


def is_named(row: Row) -> bool:
    """Return whether a word is named: its contrast is settled, and its plain difference has the same sign."""
    return bool(row["settled"] and row["mean"] * row["observed"] > 0)


def is_apart(row: Row) -> bool:
    """Return whether an estimate is more than one posterior sd from the plain difference."""
    return bool(abs(row["mean"] - row["observed"]) > row["sd"])


def plain_counts(words: list[Row]) -> tuple[int, int]:
    """Return how many words have a plain difference of associated and different words below and above 0."""
    rows = [row for row in words if contrast_sides(row["contrast"])[1] == "different" and is_measured(row)]
    plain = np.array([row["observed"] for row in rows])
    return int((plain < 0).sum()), int((plain > 0).sum())


def but_words(against: Sequence[str], plain: tuple[int, int], group_sizes: Sequence[int], *, nearer: bool) -> str:
    """Return what single words have against a verdict (`nearer` or not), for its end; empty if they have nothing.

    `against` are the words that are named on the other side, `plain` the numbers of words with a plain difference below
    and above 0. If most of these go against the verdict, a few words decide it, as in a small group that weighs as much
    as a large one; both are then stated.

    >>> but_words(["cat", "dog"], (30, 4), (17, 17), nearer=True)
    ' But 2 of the words go the other way: see below.'
    >>> but_words([], (3, 40), (3, 40), nearer=True)
    ' But groups weigh the same whatever their size; 40 of the 43 words have a plain difference above 0.'
    """
    opposite, count = plain[1] if nearer else plain[0], sum(plain)
    if 2 * opposite <= count:
        go = "goes" if len(against) == 1 else "go"
        return f" But {len(against)} of the words {go} the other way: see below." if against else ""
    weights = "groups weigh the same whatever their size; " if len(set(group_sizes)) > 1 else ""
    have = "has" if opposite == 1 else "have"
    text = f" But {weights}{opposite} of the {count} words {have} a plain difference {'above' if nearer else 'below'} 0"
    if against:
        text += f", and for {len(against)} of the words that is settled: see below"
    return f"{text}."


def words_statement(every: list[Row], hdi_prob: float, spec: "ModelSpec") -> Statement:
    """Return which words a contrast names, which it does not, and how many it would name by chance."""
    rows = [row for row in every if is_measured(row)]
    other = contrast_sides(every[0]["contrast"])[1]
    settled = [row for row in rows if is_named(row)]
    lists = {
        way: [row["protected_word"] for row in settled if row["direction"] == way] for way in ("nearer", "farther")
    }
    lists["not_settled"] = [row["protected_word"] for row in rows if not is_named(row)]
    lists["borderline"] = [row["protected_word"] for row in rows if row["borderline"]]
    lists["contradicted"] = [row["protected_word"] for row in rows if row["settled"] and not is_named(row)]
    lists["unmeasured"] = [row["protected_word"] for row in every if not is_measured(row)]
    pulled = {row["protected_word"]: row["observed"] for row in rows if is_apart(row)}
    parts = [
        f"{way} for {len(lists[way])} ({name_some(lists[way], 12)})" for way in ("nearer", "farther") if lists[way]
    ]
    parts.append(f"not settled for {len(lists['not_settled']) if settled else 'any'}")
    if unmeasured := lists["unmeasured"]:
        have, are = ("has", "is") if len(unmeasured) == 1 else ("have", "are")
        parts.append(
            f"{len(unmeasured)} more {have} no rows for one side and {are} estimated from the other words alone"
        )
    count = counted(len(rows), "word")
    text = f"Word by word, associated minus {other}, {count}: {', '.join(parts)}."
    chance, chance_text = _by_chance(len(rows), hdi_prob, spec)
    if settled:
        text += f" {chance_text}; {counted(len(settled), 'is', 'are')} named here."
    by_nearness = [row["protected_word"] for row in rows if nearness_decides(row)]
    if by_nearness:
        text += (
            f" Some lists are nearer to every group than others. For {name_some(by_nearness, 12)}, the result changes "
            "when this is removed."
        )
    if lists["borderline"]:
        text += f" Borderline words, which another seed may judge differently: {name_some(lists['borderline'], 6)}."
    if lists["contradicted"]:
        contradicted = name_some(lists["contradicted"], 6)
        text += f" Not named because their plain differences have the opposite sign: {contradicted}."
    if pulled:
        named = name_some([f"{word} ({signed_text(observed)})" for word, observed in pulled.items()], 6)
        text += f" Estimated more than one posterior sd from their plain differences (in brackets): {named}."
        text += f" {reason_pulled(spec)}"
    numbers = {"contrast": every[0]["contrast"], **lists, "by_nearness": by_nearness, "pulled": pulled}
    numbers |= {"by_chance": chance}
    return Statement("words", text, numbers)


def _by_chance(count: int, hdi_prob: float, spec: "ModelSpec") -> tuple[float, str]:
    """Return how many of so many words are named on average where nothing is associated, and a sentence on it.

    It was measured for the default model and its interval; for others there is only the nominal share.
    """
    at_once = "often several at once, since words share their attribute words"
    if not spec.multivariate or hdi_prob != HDI_PROB:
        nominal = (1 - hdi_prob) * count
        text = (
            f"Where nothing is associated, intervals of this probability would name {nominal:.1f} of {count} words on "
            f"average if they were exact and attribute words independent, and far more with synonyms, {at_once}"
        )
        return nominal, text
    low, high = NAMED_IN_CLUSTERS
    text = (
        f"Where nothing is associated, trials named {NAMED_BY_CHANCE:.0%} of the words if attribute words were drawn "
        f"independently of each other, here {NAMED_BY_CHANCE * count:.1f} of {count}, and {low:.0%} to {high:.0%} with "
        f"clusters of synonyms or forms ({low * count:.1f} to {high * count:.1f}), {at_once}"
    )
    return NAMED_BY_CHANCE * count, text
