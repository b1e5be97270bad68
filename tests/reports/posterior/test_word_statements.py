"""Statements on single words: what is named by chance, and what they have against a verdict."""

from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.reports.posterior.conclusions import _verdict
from bayesbias.reports.posterior.word_statements import plain_counts, words_statement


def word_row(word: str, plain: float, *, settled: bool = False) -> dict[Any, Any]:
    return {
        "contrast": "associated - different", "protected_word": word, "baseline_pairs": 8, "other_pairs": 8,
        "observed": plain, "mean": plain, "sd": 0.02, "settled": settled, "borderline": False,
        "direction": "nearer" if plain < 0 else "farther", "hdi_low": plain - 0.03, "hdi_high": plain + 0.03,
    }  # fmt: skip


OVERALL = {
    "contrast": "associated - different", "mean": -0.1, "observed": -0.1, "hdi_low": -0.15, "hdi_high": -0.05,
    "borderline": False, "settled": True, "direction": "nearer", "sd": 0.02, "list_nearness": 0.0, "net_mean": -0.1,
    "net_low": -0.15, "net_high": -0.05,
}  # fmt: skip


def test_a_verdict_that_a_small_group_decides_has_the_plain_count() -> None:
    """3 words against 40: 40 of 43 plain differences are positive, and the verdict says nearer."""
    words = [word_row(f"few{place}", -0.3) for place in range(3)]
    words += [word_row(f"many{place}", 0.02, settled=place < 4) for place in range(40)]
    verdict = _verdict([OVERALL], words, 0.89, group_sizes=(3, 40))
    assert verdict.kind == "association"
    assert verdict.text.endswith(
        "But groups weigh the same whatever their size; 40 of the 43 words have a plain difference above 0, and for 4 "
        "of the words that is settled: see below."
    )
    assert (verdict.numbers["plain_nearer"], verdict.numbers["plain_farther"]) == (3, 40)
    reverse = OVERALL | {"direction": "farther", "mean": 0.1, "hdi_low": 0.05, "hdi_high": 0.15, "net_mean": 0.1}
    turned = [row | {"observed": -row["observed"]} for row in words]
    text = _verdict([reverse], turned, 0.89, group_sizes=(3, 40)).text
    assert text.endswith(
        "groups weigh the same whatever their size; 40 of the 43 words have a plain difference below 0."
    )


def test_a_verdict_that_most_words_share_has_no_count() -> None:
    words = [word_row(f"w{place}", -0.1 if place < 22 else 0.1, settled=place == 30) for place in range(43)]
    text = _verdict([OVERALL], words, 0.89, group_sizes=(3, 40)).text
    assert text.endswith("But 1 of the words goes the other way: see below.")
    equal = [word_row(f"w{place}", -0.3 if place < 3 else 0.02) for place in range(10)]
    text = _verdict([OVERALL], equal, 0.89, group_sizes=(5, 5)).text
    assert text.endswith("But 7 of the 10 words have a plain difference above 0.")
    assert plain_counts([word_row("one", -0.1) | {"baseline_pairs": 0, "observed": np.nan}]) == (0, 0)


@pytest.mark.parametrize(
    ("model", "prob", "by_chance", "text"),
    [
        ("multivariate", 0.89, 1.12, "named 7% of the words if attribute words were drawn independently of each other"),
        ("multivariate", 0.5, 8.0, "would name 8.0 of 16 words on average if they were exact"),
        ("hierarchical", 0.89, 1.76, "would name 1.8 of 16 words on average if they were exact"),
    ],
)
def test_what_chance_names_is_what_trials_measured(model: str, prob: float, by_chance: float, text: str) -> None:
    rows = [word_row(f"w{place}", -0.1, settled=place < 3) for place in range(16)]
    statement = words_statement(rows, prob, bb.load_model(model))
    assert statement.numbers["by_chance"] == pytest.approx(by_chance)
    assert text in statement.text
    assert "synonyms" in statement.text
    if by_chance < 1.5:
        assert "here 1.1 of 16, and 1% to 13% with clusters of synonyms or forms (0.2 to 2.1)" in statement.text
    assert statement.text.endswith("3 are named here.")
