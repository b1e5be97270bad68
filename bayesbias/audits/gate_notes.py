"""What a user should know of questions that pass: a group that the mean hides, and vectors that are suspect."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from bayesbias.audits.coherence import COMPARABLE, standardised_rope
from bayesbias.audits.gate_files import Baseline, Earlier
from bayesbias.audits.gate_rule import WIDEST, compared_answer, question_of
from bayesbias.base.exit_codes import PASS
from bayesbias.base.number_text import digits_text, interval_text, signed_text
from bayesbias.reports.plans.record import Region

GROUP = ("protected_group", "mean", "hdi_low", "hdi_high")
"""What a gate keeps of the contrast of each protected group."""
LIST = ("protected_group", "attribute_group", "mean")
"""What a gate keeps of each group and attribute list."""
COARSEST = 0.5
"""Largest end of a region, in units of coherence, by which a question passes without a note."""
FARTHEST = 1.0
"""Largest change since the baseline, in posterior sds of the baseline, by which a question passes without a note.

Seeds of one training stay below this and the next bounds (`tests/audits/test_gate_seeds.py`).
"""
FARTHEST_GROUP = 0.6
"""Largest change of a group farther from 0, or to the other sign, in posterior sds of the group."""
FARTHEST_LIST = 1.25
"""Largest change of the mean of a group and an attribute list, in posterior sds of the question."""
FARTHEST_TOGETHER, TOGETHER = 0.4, 3
"""Largest mean change away from the middle of the region, in posterior sds, of at least this many questions."""
NEAREST = 0.001
"""Largest change of a coherence, as a share of it, with which vectors have the cosines of the baseline."""
_TURNED = ", and changed its sign"
NARROWEST = 1 / 1.5
"""Smallest ratio of a posterior sd to that of the baseline that a question has without a note."""


def gate_notes(
    rows: Sequence[Mapping[str, Any]],
    groups: Sequence[Mapping[str, Any]],
    lists: Sequence[Mapping[str, Any]],
    region: Region,
    hdi_prob: float,
    before: Baseline | None,
) -> Iterator[str]:
    """Yield notes on the outcomes of a gate.

    - `rows`: facts, numbers and outcome of each question.
    - `groups`, `lists`: names of the question, and the numbers (`GROUP`, `LIST`), of each of its protected groups, and
      of each group and attribute list.
    - `region`, `hdi_prob`: the region of the plan, and the probability inside its intervals.
    """
    if before is not None:
        yield from _same_vectors(rows, before)
        yield from _moved_together(rows, before)
    yield from _unchecked_tables(rows, before)
    groups_of, lists_of = _by_question(groups), _by_question(lists)
    for row in rows:
        if row["outcome"] == PASS:
            answer = None if before is None else compared_answer(row, before)[0]
            of_row = groups_of.get(_question(row), [])
            hidden = dict(_hidden_groups(row, of_row, answer))
            yield from hidden.values()
            if answer is not None:
                yield from _changed(row, answer)
                others = [group for group in of_row if group["protected_group"] not in hidden]
                yield from _moved_groups(row, others if len(of_row) > 1 else (), answer, hdi_prob)
                yield from _moved_lists(row, lists_of.get(_question(row), []), answer)
            elif not row.get("is_table"):
                yield from _coarse(row, region)


def _by_question(parts: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    by_question: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for part in parts:
        by_question.setdefault(_question(part), []).append(part)
    return by_question


def _question(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*question_of(row), row["random_seed"])


def _same_vectors(rows: Sequence[Mapping[str, Any]], before: Baseline) -> Iterator[str]:
    """Yield the embeddings that have the vectors, or the cosines, of the baseline in all questions that both ask."""
    same: dict[str, bool] = {}
    alike: dict[str, bool] = {}
    tables = {row["embedding"] for row in rows if row.get("is_table")}
    for row in rows:
        if row["vectors_hash"] and (answer := before.answers.get(question_of(row))) is not None:
            name, is_same = row["embedding"], answer.vectors_hash == row["vectors_hash"]
            same[name] = same.get(name, True) and is_same
            alike[name] = alike.get(name, True) and (is_same or _has_coherence_of(row, answer))
    if names := [name for name, is_same in same.items() if is_same]:
        yield (
            f"The {'tables' if set(names) <= tables else 'vectors'} of {', '.join(names)} are those of the baseline, "
            "so nothing can be worse: check whether they are the new ones"
        )
    if names := [name for name, is_alike in alike.items() if is_alike and not same[name]]:
        yield (
            f"The vectors of {', '.join(names)} are nearly those of the baseline: the coherence of all lists is the "
            f"same to within {NEAREST:.1%}. Check whether they are the new ones"
        )


def _has_coherence_of(row: Mapping[str, Any], before: Earlier) -> bool:
    names = ("coherence", "centred_coherence", "mean_cosine")
    now, earlier = (np.array([values[name] for name in names]) for values in (row, vars(before.coherence)))
    return bool((np.abs(now - earlier) <= NEAREST * np.maximum(np.abs(earlier), np.abs(earlier[0]))).all())


def _moved_together(rows: Sequence[Mapping[str, Any]], before: Baseline) -> Iterator[str]:
    """Yield the embeddings whose questions moved away from the middle of their regions by little each, but together."""
    moves: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        answer = compared_answer(row, before)[0]
        if answer is not None and "scale" in row:
            mean, sd = _scaled(answer, row["scale"])
            middle = (row["rope_low"] + row["rope_high"]) / 2
            move = (abs(row["mean"] - middle) - abs(mean - middle)) / sd
            moves.setdefault((row["embedding"], row["model"], row["random_seed"]), []).append(move)
    for (name, *_), of_questions in moves.items():
        if len(of_questions) >= TOGETHER and (mean_move := np.mean(of_questions)) > FARTHEST_TOGETHER:
            yield (
                f"The {len(of_questions)} questions of {name} moved farther out since the baseline, on average by "
                f"{mean_move:.1f} posterior sds. Each alone is not shown to be worse, but together they are"
            )


def _scaled(before: Earlier, scale: float) -> tuple[float, float]:
    """Return mean and sd of the draws of a baseline in the scale of contrasts now."""
    return float(before.draws.mean()) * scale, float(before.draws.std()) * scale


def _unchecked_tables(rows: Sequence[Mapping[str, Any]], before: Baseline | None) -> Iterator[str]:
    """Yield that the checks of vectors are not made of tables, and whose numbers are not like those of the baseline."""
    tables = [row for row in rows if row.get("is_table") and row["outcome"] == PASS]
    for name in dict.fromkeys(row["embedding"] for row in tables):
        yield (
            f"{name} passes without the checks that vectors have: nothing shows whether its table hides associations, "
            "since noise and damage make contrasts small there too. Check that what gave the numbers works"
        )
    for row in tables:
        answer = None if before is None else compared_answer(row, before)[0]
        if answer is None or np.isnan([row["pair_sd"], answer.pair_sd]).any():
            continue
        low, high = COMPARABLE
        moved = abs(row["mean_number"] - answer.mean_number) > answer.pair_sd
        sds = ((row["pair_sd"], answer.pair_sd), (row["word_sd"], answer.word_sd))
        if moved or any(now < low * earlier or now > high * earlier for now, earlier in sds):
            yield (
                f"{row['study']} in {row['embedding']}: its numbers are not like those of the baseline (mean "
                f"{digits_text(row['mean_number'])}, {digits_text(answer.mean_number)} in the baseline; standard "
                f"deviation of single pairs {digits_text(row['pair_sd'])}, {digits_text(answer.pair_sd)}; of the means "
                f"of words {digits_text(row['word_sd'])}, {digits_text(answer.word_sd)}). Check whether they have the "
                "same scale"
            )


def _hidden_groups(
    row: Mapping[str, Any], groups: Sequence[Mapping[str, Any]], before: Earlier | None
) -> Iterator[tuple[str, str]]:
    """Yield the groups of a question whose contrast lies outside the region, and farther than in the baseline.

    Each has its name and a note.
    """
    low, high = row["rope_low"], row["rope_high"]
    middle = (low + high) / 2
    for group in groups:
        if group["hdi_low"] <= high and group["hdi_high"] >= low:
            continue
        earlier = None if before is None else before.groups.get(group["protected_group"])
        ends = () if earlier is None else (end * row["scale"] for end in earlier[1:])
        if earlier is not None and abs(group["mean"] - middle) <= max(abs(end - middle) for end in ends):
            continue
        beside = "" if earlier is None else f", {signed_text(earlier[0])} in the baseline"
        yield (
            group["protected_group"],
            f"{row['study']} in {row['embedding']} passes as a mean over its groups, of which "
            f"{group['protected_group']!r} lies outside {interval_text(low, high)}: {signed_text(group['mean'])} "
            f"({interval_text(group['hdi_low'], group['hdi_high'])}){beside}",
        )


def _moved_groups(
    row: Mapping[str, Any], groups: Sequence[Mapping[str, Any]], before: Earlier, hdi_prob: float
) -> Iterator[str]:
    """Yield the groups of a question whose contrast grew, or changed its sign, by much since the baseline."""
    width = 2 * NormalDist().inv_cdf((1 + hdi_prob) / 2)
    for group in groups:
        if (earlier := before.groups.get(group["protected_group"])) is None:
            continue
        mean, low, high = (number * row["scale"] for number in earlier)
        sd = (high - low) / width
        turned = group["mean"] * mean < 0
        is_worse = turned or abs(group["mean"]) > abs(mean)
        if is_worse and abs(group["mean"] - mean) > FARTHEST_GROUP * sd:
            yield (
                f"{row['study']} in {row['embedding']}: its group {group['protected_group']!r} moved from "
                f"{signed_text(mean)} in the baseline to {signed_text(group['mean'])}, by more than "
                f"{FARTHEST_GROUP:g} of its posterior sd of {sd:.3f}{_TURNED if turned else ''}. The mean over groups "
                "can hide this"
            )


def _moved_lists(row: Mapping[str, Any], lists: Sequence[Mapping[str, Any]], before: Earlier) -> Iterator[str]:
    """Yield the group and attribute list that moved the most since the baseline, if it is far.

    The contrast of a group is a mean over its attribute lists, which can move in opposite directions.
    """
    _, sd = _scaled(before, row["scale"])
    scaled = {part: mean * row["scale"] for part, mean in before.lists.items()}
    means = {(part["protected_group"], part["attribute_group"]): part["mean"] for part in lists}
    moves = {part: abs(mean - scaled[part]) for part, mean in means.items() if part in scaled}
    farthest = max(moves, key=lambda part: moves[part], default=None)
    if farthest is not None and moves[farthest] > FARTHEST_LIST * sd:
        group, name = farthest
        yield (
            f"{row['study']} in {row['embedding']}: {name!r} beside {group!r}, without the means of the two, moved "
            f"from {signed_text(scaled[farthest])} in the baseline to {signed_text(means[farthest])}, by more than "
            f"{FARTHEST_LIST:g} posterior sds of {sd:.3f}. The mean over lists can hide this"
        )


def _coarse(row: Mapping[str, Any], region: Region) -> Iterator[str]:
    """Yield a note if a region without a baseline is large beside what distinguishes words of these vectors at all.

    Noise makes every contrast small, and nothing else shows it. The end below 0 counts, beyond which associated words
    are too near.
    """
    share = max(0.0, -region.low) / (1.0 if region.standardised else row["coherence"])
    if share > COARSEST:
        instead = (
            f"Take a smaller one, such as {standardised_rope()}"
            if region.standardised
            else "noise in vectors does this. Give a baseline, or a region in units of coherence "
            f"({standardised_rope()})"
        )
        yield (
            f"{row['study']} in {row['embedding']} passes by a region of {share:.1f} times the coherence of its lists, "
            f"{row['coherence']:.3f}, so that it could hardly fail{'. ' if region.standardised else ': '}{instead}"
        )


def _changed(row: Mapping[str, Any], before: Earlier) -> Iterator[str]:
    """Yield notes if an interval is much narrower or wider than that of the baseline, or its contrast far from it.

    A gate asks whether a contrast lies farther out, with little doubt; a reader should know what else changed.
    """
    scale = row["scale"]
    mean_before, sd_before = _scaled(before, scale)
    question = f"{row['study']} in {row['embedding']}"
    if row["sd"] < NARROWEST * sd_before:
        yield (
            f"{question}: its sd is {row['sd']:.3f}, {sd_before:.3f} in the baseline. Its words differ less in this "
            "association than they did, as after a change that was fitted to them. Ask words that it was not fitted to"
        )
    if row["sd"] > WIDEST * sd_before:
        yield (
            f"{question}: its sd is {row['sd']:.3f}, {sd_before:.3f} in the baseline, so that less is shown to be "
            "worse. Its words differ more in this association than they did: look why"
        )
    if abs(row["mean"] - mean_before) > FARTHEST * sd_before:
        turned = _TURNED if row["mean"] * mean_before < 0 else ""
        yield (
            f"{question} moved from {signed_text(mean_before)} in the baseline to {signed_text(row['mean'])}, by more "
            f"than its posterior sd of {sd_before:.3f}{turned}. The gate only asks whether it lies farther from the "
            "region: look why it moved"
        )
    elif scale > 1:  # a larger scale must not hide a larger contrast
        mean_before, sd_before = _scaled(before, 1.0)
        if abs(row["mean"]) - abs(mean_before) > FARTHEST * sd_before:
            yield (
                f"{question} moved from {signed_text(mean_before)} in the baseline to {signed_text(row['mean'])}, by "
                f"more than its posterior sd of {sd_before:.3f}. Its lists are {scale:.2f} times as coherent as in the "
                "baseline, which makes the region larger: look why"
            )
