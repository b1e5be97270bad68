"""What a comparison of seeds says in words: rows whose reading is plain."""

from typing import Any

import pytest

from bayesbias.reports.embeddings.seed_conclusions import limits, stability, verdict


def row(counts: tuple[int, int, int], over: tuple[float, float], following: tuple[float, float]) -> dict[str, Any]:
    nearer, farther, not_settled = counts
    found: dict[str, Any] = {
        "contrast": "associated - different", "protected_group": "", "protected_word": "", "seeds": sum(counts),
        "nearer": nearer, "farther": farther, "not_settled": not_settled, "agree": max(counts) == sum(counts),
        "hdi_low": over[0], "hdi_high": over[1], "next_low": following[0], "next_high": following[1],
        "seed_share": 0.2, "seed_share_low": 0.05, "seed_share_high": 0.6,
    }  # fmt: skip
    return found | {"stability": stability(found)}


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
    assert row(counts, over, following)["stability"] == expected


def test_the_verdict_begins_with_the_first_contrast() -> None:
    stable = row((3, 0, 0), (-0.2, -0.1), (-0.3, -0.05))
    found = verdict([stable, row((1, 0, 2), (-0.2, 0.1), (-0.3, 0.2))])
    assert found.kind == "stable"
    assert found.text.startswith("Stable: associated words are nearer than different ones in all 3 seeds; ")
    assert "20.0% of the variance of one embedding's contrast (5.0% to 60.0%), the choice of words 80.0%" in found.text
    assert found.text.endswith("(40.0% to 95.0%). Of the other contrasts: 1 seeds disagree (associated - different).")
    apart = verdict([row((1, 1, 2), (-0.2, 0.1), (-0.3, 0.2))]).text
    said = "associated words are nearer than different ones in 1 of 4 seeds, farther in 1 and not settled in 2."
    assert apart.startswith(f"Not stable: {said}")
    nobody = verdict([row((0, 0, 2), (-0.2, 0.1), (-0.3, 0.2)) | {"protected_word": "he"}]).text
    assert "in none of 2 seeds is it settled whether associated words are nearer or farther than" in nobody
    assert "different ones for he, nor over seeds, so that" in nobody


def test_few_seeds_are_a_limit() -> None:
    assert [[said.kind for said in limits(seeds, 0.1)] for seeds in (4, 5)] == [["few seeds", "other"], ["other"]]
