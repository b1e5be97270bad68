"""Statements on a comparison of seeds, for rows with a plain conclusion."""

import re
from typing import Any

import pytest

from bayesbias.changes.training_statements import reading_over_trainings, seeds_agree, training_limits, verdict


def row(
    counts: tuple[int, int, int], over: tuple[float, float], following: tuple[float, float], share: float = 0.2
) -> dict[str, Any]:
    nearer, farther, not_settled = counts
    numbers: dict[str, Any] = {
        "contrast": "associated - different", "protected_group": "", "protected_word": "", "seeds": sum(counts),
        "nearer": nearer, "farther": farther, "not_settled": not_settled,
        "hdi_low": over[0], "hdi_high": over[1], "next_low": following[0], "next_high": following[1],
        "seed_share": share, "seed_share_low": 0.05, "seed_share_high": 0.6,
    }  # fmt: skip
    numbers["agree"] = seeds_agree(numbers)
    return numbers | {"reading": reading_over_trainings(numbers)}


@pytest.mark.parametrize(
    ("counts", "over", "following", "expected"),
    [
        ((3, 0, 0), (-0.2, -0.1), (-0.3, -0.05), "stable"),
        ((0, 3, 0), (0.1, 0.2), (0.05, 0.3), "stable"),
        ((0, 0, 3), (-0.1, 0.1), (-0.2, 0.2), "not settled"),
        ((3, 0, 0), (-0.2, -0.1), (-0.3, 0.05), "open"),
        ((3, 0, 0), (0.1, 0.2), (0.05, 0.3), "open"),
        ((0, 0, 3), (-0.2, -0.1), (-0.3, 0.1), "open"),
        ((2, 0, 1), (-0.2, -0.1), (-0.3, -0.05), "seeds disagree"),
    ],
)
def test_stable_is_what_all_seeds_their_average_and_one_more_say(
    counts: tuple[int, int, int], over: tuple[float, float], following: tuple[float, float], expected: str
) -> None:
    assert row(counts, over, following)["reading"] == expected


def test_the_verdict_begins_with_the_first_contrast() -> None:
    stable = row((3, 0, 0), (-0.2, -0.1), (-0.3, -0.05))
    statement = verdict([stable, row((1, 0, 2), (-0.2, 0.1), (-0.3, 0.2))])
    assert statement.kind == "stable"
    assert statement.text.startswith("Stable: associated words are nearer than different ones in all 3 seeds. ")
    numbers = [float(number) for number in re.findall(r"([\d.]+)%", statement.text)]
    assert numbers == [20, 5, 60, 80, 40, 95]
    assert statement.text.endswith("1 seeds disagree (associated - different).")
    disagreeing = verdict([row((1, 1, 2), (-0.2, 0.1), (-0.3, 0.2))]).text
    counts = "associated words are nearer than different ones in 1 of 4 seeds, farther in 1 and not settled in 2."
    assert disagreeing.startswith(f"Seeds disagree: {counts}")
    open_question = verdict([row((0, 0, 2), (-0.2, 0.1), (-0.3, 0.2)) | {"protected_word": "he"}]).text
    assert "none of 2 seeds" in open_question
    assert "different ones for he" in open_question


def test_few_seeds_are_a_limit() -> None:
    facts = {"embeddings": range(4), "resamples": 0, "changed": (), "rope": None}
    assert [statement.kind for statement in training_limits(facts)] == ["few seeds", "other", "wide intervals"]
    facts |= {"embeddings": range(5), "resamples": 8}
    assert [statement.kind for statement in training_limits(facts)] == ["other", "wide intervals"]


@pytest.mark.parametrize(
    ("counts", "over", "following", "expected", "text"),
    [
        ((4, 0, 1), (-0.029, -0.001), (-0.030, -0.0005), "stable", "Stable: "),
        ((4, 0, 1), (-0.030, 0.001), (-0.031, 0.002), "not settled", "Not settled: "),
        ((4, 0, 1), (-0.029, -0.001), (-0.030, 0.0005), "open", "Open: "),
        ((4, 1, 0), (-0.029, -0.001), (-0.030, -0.0005), "seeds disagree", "Seeds disagree: "),
    ],
)
def test_seeds_that_differ_little_agree_whichever_interval_ends_beyond_0(
    counts: tuple[int, int, int], over: tuple[float, float], following: tuple[float, float], expected: str, text: str
) -> None:
    """-.014, -.016, -.015, -.013 and -.015, of which one interval ends at +.001: the seed has 4 % of the variance."""
    small = row(counts, over, following, share=0.037)
    assert small["reading"] == expected
    statement = verdict([small]).text
    assert statement.startswith(f"{text}associated words are nearer than different ones in 4 of 5 seeds")
    assert ("The seeds differ little" in statement) == (expected != "seeds disagree")
    assert row(counts, over, following, share=0.4)["reading"] == "seeds disagree"
