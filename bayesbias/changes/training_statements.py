"""Statements on a comparison of seeds: stable or not, each contrast over seeds, and the limits."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from bayesbias.base.number_text import (
    counted,
    distance_text,
    interval_text,
    listed,
    percent_text,
    share_text,
    signed_text,
)
from bayesbias.base.statements import Statement
from bayesbias.changes.change_statements import in_rope_text, size_limits
from bayesbias.changes.training_spread import SD_PRIOR
from bayesbias.errors import name_some, worded
from bayesbias.estimates.intervals import contrast_sides, is_settled, mark_of, settled_text

_SIDES = {"nearer": "below 0", "farther": "above 0", "not_settled": "not settled"}
_READINGS = tuple(_SIDES)
"""Conclusions from the interval of one embedding: columns of the frame of contrasts."""

SMALL_SHARE = 0.2
"""Share of the variance of one embedding's contrast below which the seed changes little: its sd is then less than half
of that from the word lists, and intervals of some seeds end beyond 0 and others short of it without saying more."""

WHICH_INTERVAL = (
    "The interval over seeds and words is the answer: other words like those of the study would move the number too. "
    "The one over seeds alone is about exactly these words: it says what more trainings would give with the same "
    "lists. The interval of one more seed is about a single further training. For a group or a single word, the "
    "protected words are fixed, and only the attribute words count as a sample."
)
"""Why the interval over seeds and words is the answer, and what that over seeds alone is for."""
LIMITS = "What holds for other corpora, algorithms and settings: only {changed} changed."
_WIDE = (
    "Intervals over seeds tend to be too wide rather than too narrow, because each fit also "
    "counts effects of the seed on single pairs of words as uncertainty of the word lists."
)
STATES = {
    "stable": "the seeds agree, and their average and the interval of one more seed exclude 0 on the same side",
    "not settled": "the intervals of the average, of one more seed, and of at least one of the seeds contain 0",
    "open": "the seeds agree or differ little, but the interval of their average or of one more seed reaches 0",
    "seeds disagree": "their conclusions differ, and the seed has much of the variance or one contradicts another",
}
"""Values of `reading`, the same words in texts, tables and figures, and their meanings."""
MARKS_OVER_SEEDS = {"●": "stable", "⊙": "open, or the seeds disagree", "○": "not settled"}
"""Meaning of the marks of contrasts over seeds."""
_OPEN_POINTS = {"open": "open: one more seed may differ", "seeds disagree": "the seeds disagree"}
FEW_SEEDS = 5
"""Number of seeds below which the prior matters much for the standard deviation between seeds."""


_ORDER = (
    "Which condition changes most. Conditions stand in the order in which they were given. Their changes share words "
    "and seeds, so overlapping intervals do not show whether two of them differ. To compare two, take the vectors of "
    "one as the first condition, and those of the other as the second: {how}."
)
_COMPARED_IN_PYTHON = 'bb.compare_trainings(hard_fits, changed={"inlp": inlp_fits}, first="hard")'
_COMPARED_BY_COMMAND = "bayesbias trainings hard/*.npz --first hard --changed inlp"


def training_limits(facts: Mapping[str, Any]) -> tuple[Statement, ...]:
    """Return what a comparison of seeds does not show, given `TrainingComparison.facts`."""
    seeds, resamples = len(facts["embeddings"]), facts["resamples"]
    order = _ORDER.format(how=worded(_COMPARED_IN_PYTHON, _COMPARED_BY_COMMAND))
    few = (
        f"How much seeds differ in general. {counted(seeds, 'seed says', 'seeds say')} little about their standard "
        f"deviation, so its prior matters (that of Jeffreys, times a half-Normal density with scale {SD_PRIOR:g}). "
        "Train more seeds, or report this standard deviation with its interval."
    )
    return (
        *([Statement("few seeds", few)] if seeds < FEW_SEEDS else []),
        *([Statement("order", order)] if len(facts["changed"]) > 1 else []),
        *(size_limits(facts["rope"]) if facts["changed"] else []),
        Statement("other", LIMITS.format(changed="seed and documents were" if resamples else "the seed was")),
        Statement("wide intervals", _WIDE),
    )


def verdict(rows: list[dict[str, Any]]) -> Statement:
    """Return whether the first contrast is stable, the sources of its spread, and how many of the others are stable."""
    first, *others = rows
    texts = [_verdict_text(first), *([_others_text(others)] if others else [])]
    return Statement(first["reading"], " ".join(texts), first)


def training_mark(row: Mapping[str, Any]) -> str:
    """Return the mark of a contrast over seeds, or of its change, in a table (`MARKS_OVER_SEEDS`).

    >>> training_mark({"reading": "stable", "mean": -0.1}), training_mark({"reading": "open", "mean": -0.1})
    ('● ← nearer', '⊙ ← open')
    >>> training_mark({"reading": "seeds disagree", "change": "smaller", "mean": 0.1})
    '⊙ → smaller; seeds disagree'
    """
    reading, is_open = row["reading"], row["reading"] in _OPEN_POINTS
    if "change" in row:
        text = f"{row['change']}; {reading}" if is_open else row["change"]
    else:
        text = ("nearer" if row["mean"] < 0 else "farther") if reading == "stable" else reading
    return mark_of(text, row["mean"], is_open=is_open, is_settled=reading != "not settled")


def training_answer(row: dict[str, Any]) -> str:
    """Return whether the first contrast is stable over seeds, in a sentence."""
    words = row["protected_word"] or row["protected_group"]
    end = ", but one more seed may not show it" if row["reading"] == "open" else ""
    return f"{row['reading'].capitalize()}{f' for {words}' if words else ''}: {_counted(row)}{end}."


def condition_label(row: Mapping[str, Any]) -> str:
    """Return the name of the second condition of a change, with what the seeds leave open about it.

    >>> condition_label({"second": "hard", "reading": "stable", "seeds": 5})
    'hard (stable over 5 seeds)'
    >>> condition_label({"second": "inlp", "reading": "seeds disagree"})
    'inlp (the seeds disagree)'
    """
    reading = row["reading"]
    note = f"stable over {row['seeds']} seeds" if reading == "stable" else _OPEN_POINTS.get(reading)
    return f"{row['second']} ({note})" if note else row["second"]


def training_estimate(rows: Sequence[Mapping[str, Any]], hdi_prob: float) -> str:
    """Return the first contrast, or its change in each condition, on average over seeds with its intervals."""
    if len(rows) > 1:
        shown = "; ".join(
            f"{row['second']} {signed_text(row['mean'])} ({interval_text(row['hdi_low'], row['hdi_high'])})"
            for row in rows
        )
        return (
            f"Change on average over {counted(rows[0]['seeds'], 'seed')}, in cosine distance: {shown}. In brackets: "
            f"{percent_text(hdi_prob)} intervals over seeds and words."
        )
    (row,) = rows
    before, after = (row.get(f"{side}_mean", float("nan")) for side in ("original", "changed"))
    base = contrast_sides(row["contrast"])[0]
    moved = (
        f" (contrast before: {signed_text(before)}, after: {signed_text(after)}; below 0, {base} words are nearer)"
        if isfinite(before) and isfinite(after)
        else ""
    )
    over = f"on average over {counted(row['seeds'], 'seed')}"
    what = f"Change in {row['second']}, {over}" if "second" in row else f"Contrast {row['contrast']}, {over}"
    return (
        f"{what}: {signed_text(row['mean'])}{moved} in cosine distance, {percent_text(hdi_prob)} "
        f"{both_intervals_text(row)}.{original_sd_text(row)}"
    )


def original_sd_text(row: Mapping[str, Any]) -> str:
    """Return how much the contrast of the first condition varies between trainings, as a further sentence.

    >>> row = {"first": "original", "original_seed_sd": 0.003, "original_seed_sd_low": 0.001}
    >>> original_sd_text(row | {"original_seed_sd_high": 0.005})
    ' From training to training, the contrast in original varies by a standard deviation of 0.003 (0.001 to 0.005).'
    """
    if not isfinite(row.get("original_seed_sd", float("nan"))):
        return ""
    sd, *ends = (distance_text(row[f"original_seed_sd{end}"]) for end in ("", "_low", "_high"))
    return (
        f" From training to training, the contrast in {row['first']} varies by a standard deviation of {sd} "
        f"({' to '.join(ends)})."
    )


def both_intervals_text(row: Mapping[str, Any]) -> str:
    """Return the interval over seeds and words, then that over seeds alone.

    >>> both_intervals_text({"hdi_low": 0.006, "hdi_high": 0.04, "seeds_low": 0.02, "seeds_high": 0.024})
    'interval +0.006 to +0.040 over seeds and words (+0.020 to +0.024 over seeds alone, for these words)'
    """
    return (
        f"interval {interval_text(row['hdi_low'], row['hdi_high'])} over seeds and words "
        f"({interval_text(row['seeds_low'], row['seeds_high'])} over seeds alone, for these words)"
    )


def seeds_agree(row: Mapping[str, Any]) -> bool:
    """Return whether the seeds agree on a contrast.

    They do if the intervals of all have the same conclusion. If they do not, the seeds disagree where one is nearer and
    another farther, or the seed has much of the variance of a contrast; otherwise they differ by less than each leaves
    open.

    >>> row = {"nearer": 4, "farther": 0, "not_settled": 1, "seed_share": 0.04}
    >>> seeds_agree(row), seeds_agree(row | {"seed_share": 0.5})
    (True, False)
    """
    if sum(row[name] > 0 for name in _READINGS) == 1:
        return True
    return not (row["nearer"] and row["farther"]) and bool(row["seed_share"] < SMALL_SHARE)


def reading_over_trainings(row: Mapping[str, Any]) -> str:
    """Return whether the seeds, their average and one more seed agree on a contrast.

    Where some intervals of single seeds exclude 0 and others do not, but the seeds agree (`seeds_agree`), their average
    decides.

    >>> row = {"agree": True, "nearer": 3, "farther": 0, "not_settled": 0}
    >>> row |= {"hdi_low": -0.2, "hdi_high": -0.1, "next_low": -0.3, "next_high": 0.1}
    >>> reading_over_trainings(row)
    'open'
    """
    if not row["agree"]:
        return "seeds disagree"
    if row.get("borderline"):  # another seed of the draws could decide otherwise
        return "open"
    conclusions = {name for name in _READINGS if row[name]}
    average, following = (_conclusion(row[f"{name}_low"], row[f"{name}_high"]) for name in ("hdi", "next"))
    if average != following or average not in conclusions:
        return "open"
    return "not settled" if average == "not_settled" else "stable"


def _conclusion(low: float, high: float) -> str:
    return ("nearer" if high < 0 else "farther") if is_settled(low, high) else "not_settled"


def _title(row: Mapping[str, Any]) -> str:
    words = row["protected_word"] or row["protected_group"]
    return f"{row['contrast']}, {words}" if words else str(row["contrast"])


def _verdict_text(row: dict[str, Any]) -> str:
    ends = {
        "stable": ". The average over seeds and the interval of one more seed agree",
        "not settled": ". Their average does not settle it either, so there is no answer yet that could be stable",
        "open": ". The average over seeds, or one more seed, may differ",
        "seeds disagree": "",
    }
    if row["reading"] != "seeds disagree" and sum(row[name] > 0 for name in _READINGS) > 1:
        little = ". The seeds differ little"
        ends |= {
            "stable": f"{little}, and the intervals of their average and of one more seed exclude 0",
            "not settled": f"{little}, and neither the interval of their average nor that of one more seed excludes 0",
            "open": f"{little}, and of their average and one more seed, only one has an interval that excludes 0",
        }
    return (
        f"{row['reading'].capitalize()}: {_counted(row)}{ends[row['reading']]}. The seed accounts for "
        f"{share_text(row['seed_share'])} of the variance of one embedding's contrast "
        f"({share_text(row['seed_share_low'])} to {share_text(row['seed_share_high'])}), " + _other_shares(row)
    )


def _other_shares(row: dict[str, Any]) -> str:
    if "document_share" not in row:
        return (
            f"and the choice of words for {share_text(1 - row['seed_share'])} "
            f"({share_text(1 - row['seed_share_high'])} to {share_text(1 - row['seed_share_low'])})."
        )
    return (
        f"the sample of documents for {share_text(row['document_share'])} ({share_text(row['document_share_low'])} to "
        f"{share_text(row['document_share_high'])}), and the choice of words for "
        f"{share_text(1 - row['seed_share'] - row['document_share'])}."
    )


def _others_text(rows: list[dict[str, Any]]) -> str:
    """Return how many of the contrasts after the first are stable, with some of their names."""
    titles = {name: [_title(row) for row in rows if row["reading"] == name] for name in STATES}
    counts = [f"{len(group)} {name} ({name_some(group, 3)})" for name, group in titles.items() if group]
    return f"Of the other contrasts: {', '.join(counts)}."


def _counted(row: dict[str, Any]) -> str:
    """Return in how many of the seeds a contrast is settled, and how."""
    words = row["protected_word"] or row["protected_group"]
    base, other = contrast_sides(row["contrast"])
    compared = f"{base} words are {{}} than {other} ones{f' for {words}' if words else ''}"
    seeds = row["seeds"]
    counts = {name: row[name] for name in _READINGS if row[name]}
    if len(counts) == 1:
        if row["not_settled"]:
            return f"none of {seeds} seeds settles whether {compared.format('nearer or farther')}"
        return f"{compared.format(*counts)} in {'both' if seeds == 2 else f'all {seeds}'} seeds"
    (first, most), *others = counts.items()  # with several conclusions, the first is nearer or farther
    remainder = " and ".join(f"{name.replace('_', ' ')} in {count}" for name, count in others)
    return f"{compared.format(first)} in {most} of {counted(seeds, 'seed')}, {remainder}"


def disagreements(rows: Iterable[Mapping[str, Any]]) -> Iterator[Statement]:
    """Yield on which contrasts the seeds disagree, or on which changes in each condition."""
    by_condition: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["reading"] == "seeds disagree":
            by_condition.setdefault(row.get("second", ""), []).append(row)
    for name, differing in by_condition.items():
        shown = name_some([f"{_title(row)} ({counts_text(row)})" for row in differing], 6)
        what = f"what {name} changes" if name else "these contrasts"
        text = (
            f"The seeds disagree on {what}: {shown}. Report the mean over seeds with its interval, and each seed, not "
            "one embedding."
        )
        yield Statement("seeds disagree", text, {"second": name, "contrasts": list(map(_title, differing))})


def counts_text(row: Mapping[str, Any]) -> str:
    """Return in how many seeds a contrast or its change is settled, and on which side of 0.

    >>> counts_text({"nearer": 1, "farther": 4, "not_settled": 0, "seeds": 5})
    'below 0 in 1 of 5 seeds, above 0 in 4'
    >>> counts_text({"nearer": 0, "farther": 0, "not_settled": 5, "seeds": 5})
    'not settled in any of 5 seeds'
    """
    shown = [(text, row[name]) for name, text in _SIDES.items() if row[name]]
    if len(shown) == 1:
        (text, _), seeds = shown[0], row["seeds"]
        return f"{text} in {f'any of {seeds}' if text == 'not settled' else f'all {seeds}'} seeds"
    (first, count), *others = shown
    return ", ".join([f"{first} in {count} of {row['seeds']} seeds", *(f"{text} in {many}" for text, many in others)])


def training_methods(facts: Mapping[str, Any], hdi_prob: float, random_seed: int) -> Statement:
    """Return a paragraph for the methods section of a paper, given `TrainingComparison.facts`."""
    names, settings = dict.fromkeys(facts["embeddings"].values()), facts["settings"]
    resampled = f", and in {facts['resamples']} trained on resampled documents" if facts["resamples"] else ""
    fitted_with = f"{settings['draws'] * settings['chains']:,} draws"
    if "random_seed" in settings:
        fitted_with += f" with seed {settings['random_seed']}"
    if facts["changed"]:
        what = f"how the contrasts of {facts['study']} change from {facts['first']} to {listed(facts['changed'], 12)}"
        source = "The change of a contrast in a seed comes from the paired distances of both of its tables"
        if facts["steps"]:
            steps = "; ".join(f"{name}: {step}" for name, step in facts["steps"].items())
            source = f"Preparation of the vectors: {steps}. {source}"
    else:
        what = f"the contrasts of {facts['study']}"
        source = (
            f"The contrasts of a seed come from the model {facts['model']}, fitted to its table alone ({fitted_with})"
        )
    text = (
        f"We estimated {what} in {counted(len(facts['embeddings']), 'embedding')} that differ in the seed of their "
        f"training ({name_some(names, 12)}){resampled}, from {counted(facts['protected_words'], 'protected word')} and "
        f"{counted(facts['attribute_words'], 'attribute word')}. {source}. Seeds are a sample: their values are Normal "
        "around the mean over seeds, with Jeffreys' prior of the standard deviation, times a half-Normal density of "
        f"scale {SD_PRIOR:g}. All seeds have the same words, so that the error from the choice of words is added once, "
        f"to that mean. Intervals are {percent_text(hdi_prob)} highest posterior density intervals (random seed "
        f"of the draws {random_seed}; bayesbias {facts['version']})."
    )
    return Statement("methods", text)


def contrast_statement(row: dict[str, Any]) -> Statement:
    """Return a contrast over seeds, and the sources of its spread."""
    state = settled_text(row["hdi_low"], row["hdi_high"])
    text = (
        f"{_title(row)}: {state}, {signed_text(row['mean'])} on average over seeds, {both_intervals_text(row)}. The "
        f"interval of one more seed is {interval_text(row['next_low'], row['next_high'])}."
        f"{in_rope_text(row, 'contrast')} The word lists add a standard deviation of "
        f"{distance_text(row['lists_sd'])}, the seed one of {distance_text(row['seed_sd'])} "
        f"({distance_text(row['seed_sd_low'])} to {distance_text(row['seed_sd_high'])}). The seed accounts for "
        f"{share_text(row['seed_share'])} of the variance of one embedding's contrast "
        f"({share_text(row['seed_share_low'])} to {share_text(row['seed_share_high'])})."
    )
    if "document_sd" in row:
        text += (
            f" The documents add a standard deviation of {distance_text(row['document_sd'])} "
            f"({distance_text(row['document_sd_low'])} to {distance_text(row['document_sd_high'])}), "
            f"{share_text(row['document_share'])} of the variance "
            f"({share_text(row['document_share_low'])} to {share_text(row['document_share_high'])}). On average over "
            "samples of such documents, the interval of the contrast is "
            f"{interval_text(row['documents_low'], row['documents_high'])}."
        )
    return Statement("contrast over seeds", text, row)
