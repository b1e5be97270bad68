"""What a user should know of questions that pass: a group that the mean hides, and vectors that are suspect."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bayesbias.audits.coherence import COMPARABLE, standardised_rope
from bayesbias.audits.gate_files import Baseline, Earlier
from bayesbias.audits.gate_rule import compared_answer, question_of
from bayesbias.base.exit_codes import PASS
from bayesbias.base.number_text import digits_text, interval_text, signed_text
from bayesbias.reports.plans.record import Region

GROUP = ("protected_group", "mean", "hdi_low", "hdi_high")
"""What a gate keeps of the contrast of each protected group."""
COARSEST = 0.5
"""Largest end of a region, in units of coherence, by which a question passes without a note."""
FARTHEST = 1.0
"""Largest change since the baseline, in posterior sds of the baseline, by which a question passes without a note."""
NARROWEST = 1 / 1.5
"""Smallest ratio of a posterior sd to that of the baseline that a question has without a note."""


def gate_notes(
    rows: Sequence[Mapping[str, Any]],
    groups: Sequence[Mapping[str, Any]],
    region: Region,
    before: Baseline | None,
) -> Iterator[str]:
    """Yield notes on the outcomes of a gate.

    - `rows`: facts, numbers and outcome of each question.
    - `region`: the region of the plan.
    - `groups`: names of the question, and the contrast (`GROUP`), of each of its protected groups.
    """
    if before is not None:
        yield from _same_vectors(rows, before)
    yield from _unchecked_tables(rows, before)
    by_question: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for group in groups:
        by_question.setdefault(_question(group), []).append(group)
    for row in rows:
        if row["outcome"] == PASS:
            answer = None if before is None else compared_answer(row, before)[0]
            yield from _hidden_groups(row, by_question.get(_question(row), ()), answer)
            if answer is not None:
                yield from _changed(row, answer)
            elif not region.standardised and not row.get("is_table"):
                yield from _coarse(row, region)


def _question(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*question_of(row), row["random_seed"])


def _same_vectors(rows: Sequence[Mapping[str, Any]], before: Baseline) -> Iterator[str]:
    """Yield the embeddings that have the vectors of the baseline in all questions that both ask."""
    same: dict[str, bool] = {}
    tables = {row["embedding"] for row in rows if row.get("is_table")}
    for row in rows:
        if row["vectors_hash"] and (answer := before.answers.get(question_of(row))) is not None:
            is_same = answer.vectors_hash == row["vectors_hash"]
            same[row["embedding"]] = same.get(row["embedding"], True) and is_same
    if names := [name for name, is_same in same.items() if is_same]:
        yield (
            f"The {'tables' if set(names) <= tables else 'vectors'} of {', '.join(names)} are those of the baseline, "
            "so nothing can be worse: check whether they are the new ones"
        )


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
        if moved or not low * answer.pair_sd <= row["pair_sd"] <= high * answer.pair_sd:
            yield (
                f"{row['study']} in {row['embedding']}: its numbers are not like those of the baseline (mean "
                f"{digits_text(row['mean_number'])}, {digits_text(answer.mean_number)} in the baseline; standard "
                f"deviation of single pairs {digits_text(row['pair_sd'])}, {digits_text(answer.pair_sd)}). Check "
                "whether they have the same scale"
            )


def _hidden_groups(
    row: Mapping[str, Any], groups: Sequence[Mapping[str, Any]], before: Earlier | None
) -> Iterator[str]:
    """Yield the groups of a question whose contrast lies outside the region, and farther than in the baseline."""
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
            f"{row['study']} in {row['embedding']} passes as a mean over its groups, of which "
            f"{group['protected_group']!r} lies outside {interval_text(low, high)}: {signed_text(group['mean'])} "
            f"({interval_text(group['hdi_low'], group['hdi_high'])}){beside}"
        )


def _coarse(row: Mapping[str, Any], region: Region) -> Iterator[str]:
    """Yield a note if a region without a baseline is large beside what distinguishes words of these vectors at all.

    Noise makes every contrast small, and nothing else shows it.
    """
    share = min(abs(region.low), abs(region.high)) / row["coherence"]
    if share > COARSEST:
        yield (
            f"{row['study']} in {row['embedding']} passes by a region of {share:.1f} times the coherence of its lists, "
            f"{row['coherence']:.3f}, so that it could hardly fail: noise in vectors does this. Give a baseline, or a "
            f"region in units of coherence ({standardised_rope()})"
        )


def _changed(row: Mapping[str, Any], before: Earlier) -> Iterator[str]:
    """Yield notes if an interval is much narrower than that of the baseline, or its contrast far from it.

    A gate asks whether a contrast lies farther out, with little doubt; a reader should know what else changed.
    """
    mean_before, sd_before = (float(value) * row["scale"] for value in (before.draws.mean(), before.draws.std()))
    question = f"{row['study']} in {row['embedding']}"
    if row["sd"] < NARROWEST * sd_before:
        yield (
            f"{question}: its sd is {row['sd']:.3f}, {sd_before:.3f} in the baseline. Its words differ less in this "
            "association than they did, as after a change that was fitted to them. Ask words that it was not fitted to"
        )
    if abs(row["mean"] - mean_before) > FARTHEST * sd_before:
        turned = ", and changed its sign" if row["mean"] * mean_before < 0 else ""
        yield (
            f"{question} moved from {signed_text(mean_before)} in the baseline to {signed_text(row['mean'])}, by more "
            f"than its posterior sd of {sd_before:.3f}{turned}. The gate only asks whether it lies farther from the "
            "region: look why it moved"
        )
