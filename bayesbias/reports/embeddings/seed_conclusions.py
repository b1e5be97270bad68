"""What a comparison of seeds says in words: stable or not, each contrast over seeds, and what is not shown."""

from collections.abc import Mapping
from typing import Any

from bayesbias.base.statements import Statement, distance_text, interval_text, share_text, signed_text
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import contrast_sides, settled

SAID = ("nearer", "farther", "not_settled")
"""What the interval of one embedding may say of a contrast: columns of the frame of contrasts."""

LIMITS = (
    "Other corpora, other algorithms, other settings: only the seed was changed. What the seed does to single pairs is "
    "also part of the word lists' uncertainty in each fit, so that the two together are rather too wide than too "
    "narrow."
)
FEW_SEEDS = 5
"""With fewer seeds the prior says much of how far seeds part."""


def limits(seeds: int, seed_sd_prior: float) -> tuple[Statement, ...]:
    """Return what a comparison of so many seeds does not show."""
    few = (
        f"{seeds} seeds say little of how far seeds part. The half-Normal prior with scale {seed_sd_prior:g} counts: "
        "train more, or report the interval of the standard deviation with it."
    )
    return (*([Statement("few seeds", few)] if seeds < FEW_SEEDS else []), Statement("other", LIMITS))


def verdict(rows: list[dict[str, Any]]) -> Statement:
    """Say whether the first contrast is stable, what makes its spread, and how many of the others are."""
    first, *others = rows
    said = [_verdict_text(first), *([_others_text(others)] if others else [])]
    return Statement(first["stability"], " ".join(said), first)


def stability(row: Mapping[str, Any]) -> str:
    """Say whether all seeds, their average and one more seed say the same of a contrast.

    >>> row = {"agree": True, "nearer": 3, "hdi_low": -0.2, "hdi_high": -0.1, "next_low": -0.3, "next_high": 0.1}
    >>> stability(row)
    'open'
    """
    if not row["agree"]:
        return "seeds disagree"
    said = next(name for name in SAID if row[name])
    ends = [(row["hdi_low"], row["hdi_high"]), (row["next_low"], row["next_high"])]
    if not all(_said(*each) == said for each in ends):
        return "open"
    return "not settled" if said == "not_settled" else "stable"


def _said(low: float, high: float) -> str:
    return ("nearer" if high < 0 else "farther") if settled(low, high) else "not_settled"


def _title(row: Mapping[str, Any]) -> str:
    words = row["protected_word"] or row["protected_group"]
    return f"{row['contrast']}, {words}" if words else str(row["contrast"])


def _verdict_text(row: dict[str, Any]) -> str:
    starts = {"stable": "Stable", "not settled": "Not settled", "open": "Open", "seeds disagree": "Not stable"}
    ends = {
        "stable": "; the average over seeds and the interval of one more seed say the same",
        "not settled": ", nor over seeds, so that there is no answer yet that could be stable",
        "open": ", but the interval over seeds, or that of one more seed, says something else",
        "seeds disagree": "",
    }
    return (
        f"{starts[row['stability']]}: {_counted(row)}{ends[row['stability']]}. The seed makes "
        f"{share_text(row['seed_share'])} of the variance of one embedding's contrast "
        f"({share_text(row['seed_share_low'])} to {share_text(row['seed_share_high'])}), the choice of words "
        f"{share_text(1 - row['seed_share'])} ({share_text(1 - row['seed_share_high'])} to "
        f"{share_text(1 - row['seed_share_low'])})."
    )


def _others_text(rows: list[dict[str, Any]]) -> str:
    """Say how many of the contrasts after the first are stable, and name them if they are few."""
    kinds = ("stable", "not settled", "open", "seeds disagree")
    titles = {name: [_title(row) for row in rows if row["stability"] == name] for name in kinds}
    counts = [f"{len(some)} {name} ({name_some(some, 3)})" for name, some in titles.items() if some]
    return f"Of the other contrasts: {', '.join(counts)}."


def _counted(row: dict[str, Any]) -> str:
    """Say in how many of the seeds a contrast is settled, and how."""
    words = row["protected_word"] or row["protected_group"]
    one, other = contrast_sides(row["contrast"])
    compared = f"{one} words are {{}} than {other} ones{f' for {words}' if words else ''}"
    seeds = row["seeds"]
    counts = {name: row[name] for name in SAID if row[name]}
    if len(counts) == 1:
        if row["not_settled"]:
            return f"in none of {seeds} seeds is it settled whether {compared.format('nearer or farther')}"
        return f"{compared.format(*counts)} in {'both' if seeds == 2 else f'all {seeds}'} seeds"
    (first, most), *others = counts.items()  # two ways or more, so that the first is nearer or farther
    rest = " and ".join(f"{name.replace('_', ' ')} in {count}" for name, count in others)
    return f"{compared.format(first)} in {most} of {seeds} seeds, {rest}"


def disagreement(row: dict[str, Any]) -> Statement:
    """Say how the seeds part on a contrast."""
    said = [f"{row[kind]} {kind.replace('_', ' ')}" for kind in SAID if row[kind]]
    text = (
        f"{_title(row)}: of {row['seeds']} seeds {', '.join(said)}. The answer of one embedding depends on its seed: "
        "report the mean over seeds with its interval, not one embedding."
    )
    return Statement("seeds disagree", text, row)


def contrast_statement(row: dict[str, Any]) -> Statement:
    """Say what a contrast is over seeds, and what makes its spread."""
    state = "settled" if settled(row["hdi_low"], row["hdi_high"]) else "not settled"
    text = (
        f"{_title(row)}: {signed_text(row['mean'])} on average over seeds, interval "
        f"{interval_text(row['hdi_low'], row['hdi_high'])} ({state}); in an embedding of one more seed "
        f"{interval_text(row['next_low'], row['next_high'])}. The word lists leave a standard deviation of "
        f"{distance_text(row['lists_sd'])}, the seed adds {distance_text(row['seed_sd'])} "
        f"({distance_text(row['seed_sd_low'])} to {distance_text(row['seed_sd_high'])}): "
        f"{share_text(row['seed_share'])} of the variance of one embedding's contrast "
        f"({share_text(row['seed_share_low'])} to {share_text(row['seed_share_high'])})."
    )
    return Statement("contrast over seeds", text, row)
