"""The first part of the page: the answer in a sentence with the lists' own words, its forest, and who disagrees."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from bayesbias.base.number_text import interval_text, percent_text, signed_text
from bayesbias.delivery.page.blocks import Block, Figure, Notice, Paragraph, figure
from bayesbias.delivery.plots.posterior.contrasts import MOST_GROUPS, plot_contrasts
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import contrast_sides, settled
from bayesbias.reports.fit_report import BASELINE, FitReport

_MOST_NAMED = 3
_NEVER_SETTLED = "not settled"


def answer_sentence(page: FitReport) -> str:
    """Return the answer in a sentence that names groups and lists, with the first contrast and its interval."""
    row = _contrasts(page)[0]
    direction = row["direction"] if row["settled"] else "nearer"
    claim = f"{_claim(page, direction)} {_than(page, row)}"
    if not row["settled"]:
        claim = f"Whether {claim} is {'borderline' if row['borderline'] else _NEVER_SETTLED}"
    claim = claim[0].upper() + claim[1:]
    return f"{claim}: difference {_number(row)}, {percent_text(page.hdi_prob)} interval {_interval(row)}."


def answer_blocks(page: FitReport) -> Iterator[Block]:
    """Yield the groups that disagree, the forest, its meaning, and doubts about the data."""
    if disagreeing := _disagreeing(page):
        yield Paragraph(disagreeing)
    yield _forest(page)
    yield Paragraph(page.conclusions.verdict.text)
    yield from map(Paragraph, page.statements("group without contrast"))
    yield from (Notice(doubt.text) for doubt in page.conclusions.doubts if doubt.kind != "convergence")


def _contrasts(page: FitReport, kind: str = "contrast") -> list[Mapping[str, Any]]:
    return [statement.numbers for statement in page.conclusions.shown if statement.kind == kind]


def _claim(page: FitReport, direction: str) -> str:
    rows = page.table[(page.table["connection"] == BASELINE) & page.table["protected_group"].isin(page.compared_groups)]
    lists = rows.groupby("protected_group", sort=False, observed=True)["attribute_group"].unique()
    to = "nearer to" if direction == "nearer" else "FARTHER from"
    apart = bool(_disagreeing(page))  # what holds on average does not hold of each group
    if apart:
        to = to.replace(" ", " on average ")
    if len(lists) > _MOST_NAMED:
        return f"words of {len(lists)} groups ({name_some(lists.index, _MOST_NAMED)}) lie {to} their own lists"
    if apart:
        named = "; ".join(f"{group}: {name_some(names, _MOST_NAMED)}" for group, names in lists.items())
        return f"words lie {to} the lists of their own group ({named})"
    (group, names), *others = ((str(group), name_some(names, _MOST_NAMED)) for group, names in lists.items())
    claim = f"words of the group {group} lie {to} the list {names}"
    if not others:
        return claim
    *middle, last = (f"those of {group} {to.split()[-1]} {names}" for group, names in others)
    return ", ".join([claim, *middle, f"and {last},"])


def _than(page: FitReport, row: Mapping[str, Any]) -> str:
    other = contrast_sides(row["contrast"])[1]
    if other != "different":
        return f"than to {other} control words"
    if len(page.compared_groups) > 1:
        return "than to the lists of other groups"
    lists = page.table.loc[page.table["connection"] == other, "attribute_group"].unique()
    return f"than to the {'list' if len(lists) == 1 else 'lists'} {name_some(lists, _MOST_NAMED)}"


def _number(row: Mapping[str, Any]) -> str:
    return f"{signed_text(row['mean'])} (plain {signed_text(row['observed'])})"


def _interval(row: Mapping[str, Any]) -> str:
    return interval_text(row["hdi_low"], row["hdi_high"])


def _disagreeing(page: FitReport) -> str:
    """Return which groups have another conclusion than all words; empty if none has."""

    def conclusion(row: Mapping[str, Any]) -> str:
        decided = settled(row["hdi_low"], row["hdi_high"]) and not row["borderline"]
        return str(row["direction"]) if decided else _NEVER_SETTLED

    overall = conclusion(_contrasts(page)[0])
    rows = _contrasts(page, "group")
    count = Counter(map(conclusion, rows))
    # The rarest answer comes first, since a long list is cut.
    apart = sorted(
        (row for row in rows if conclusion(row) != overall),
        key=lambda row: (conclusion(row) == _NEVER_SETTLED, count[conclusion(row)]),
    )
    texts = [
        f"{row['protected_group']} {'borderline' if row['borderline'] else conclusion(row)} ({_number(row)}, "
        f"{_interval(row)}{_without_nearness(row)})"
        for row in apart
    ]
    return f"Groups with another answer: {name_some(texts, _MOST_NAMED)}." if texts else ""


def _without_nearness(row: Mapping[str, Any]) -> str:
    """Return the rest of a difference that the nearness of lists to every group decides; empty if it does not."""
    if not row["decides"]:
        return ""
    ends = interval_text(row["net_low"], row["net_high"])
    return f"; {signed_text(row['net_mean'])}, {ends} without the nearness of its lists to every group"


def _forest(page: FitReport) -> Figure:
    groups = len(page.compared_groups)
    cut = f" Of {groups} groups, the {MOST_GROUPS} farthest from all words are shown." if groups > MOST_GROUPS else ""
    return figure(
        plot_contrasts(page.fit, hdi_prob=page.hdi_prob, rope=page.rope, words=False),
        "Difference of mean cosine distances, associated minus other words: posterior means (points; filled if the "
        f"interval excludes 0, hollow if it does not or is borderline), {percent_text(page.hdi_prob)} intervals "
        "(lines) and plain differences (crosses)"
        + ("; the region of practical equivalence is shaded." if page.rope is not None else ".")
        + cut,
        f"A forest of contrasts with a line at 0. {' '.join(page.statements('contrast'))}",
    )
