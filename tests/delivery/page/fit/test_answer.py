"""The first screen: a sentence with the lists' own words and the numbers of the contrast, and who disagrees."""

from typing import Any

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.delivery.page.blocks import Figure, Paragraph
from bayesbias.delivery.page.fit.answer import answer_blocks, answer_sentence
from bayesbias.delivery.page.fit.question_and_data import question_section
from bayesbias.reports.fit_report import FitReport


def page_of(shifts: dict[str, float]) -> FitReport:
    """Return the report of groups whose distances to their own list are shifted by these numbers."""
    rng = np.random.default_rng(2)
    rows: list[dict[str, Any]] = [
        {
            "protected_word": f"{group}{word}",
            "protected_group": group,
            "attribute_word": f"{target} trait {trait}",
            "attribute_group": f"{target} traits",
            "connection": "associated" if group == target else "different",
            "cosine_distance": 0.9 + 0.01 * rng.standard_normal() + (shifts[group] if group == target else 0.0),
        }
        for group in shifts
        for word in range(3)
        for target in shifts
        for trait in range(8)
    ]
    table = pd.DataFrame(rows)
    fit = bb.fit(table, "hierarchical", draws=200, chains=2, random_seed=1, progress=False)
    return FitReport(fit, table, None, None, 0.89, 1)


def test_the_sentence_names_the_lists_with_the_number_and_its_interval() -> None:
    page = page_of({"cats": -0.2, "dogs": -0.2})
    sentence = answer_sentence(page)
    row = bb.contrasts(page.fit, level="overall").iloc[0]
    for fact in ("group cats", "cats traits", "those of dogs", "dogs traits", "89%"):
        assert fact in sentence
    assert f"{row['mean']:+.3f} (plain {row['observed']:+.3f})" in sentence
    assert f"{row['hdi_low']:+.3f} to {row['hdi_high']:+.3f}" in sentence
    first, *_ = answer_blocks(page)
    assert isinstance(first, Figure)


def test_groups_with_another_answer_precede_the_figure() -> None:
    page = page_of({"cats": -0.3, "dogs": -0.3, "birds": -0.3, "snakes": 0.2})
    first, second, *_ = answer_blocks(page)
    assert isinstance(first, Paragraph)
    assert "snakes farther" in first.text
    assert "words of 4 groups (cats, dogs, birds and 1 more) lie nearer on average to" in answer_sentence(page)
    assert isinstance(second, Figure)


def test_what_holds_on_average_is_not_said_of_a_group_that_goes_the_other_way() -> None:
    sentence = answer_sentence(page_of({"cats": -0.5, "dogs": 0.1}))
    assert "words lie nearer on average to the lists of their own group (cats: cats traits; dogs: dogs" in sentence
    assert "those of dogs" not in sentence


def test_a_group_that_another_seed_may_settle_is_borderline() -> None:
    page = page_of({"cats": -0.3, "dogs": -0.3, "snakes": -0.3})
    rows = {part.numbers["protected_group"]: part.numbers for part in page.conclusions.shown if part.kind == "group"}
    rows["snakes"]["borderline"] = True
    first, *_ = answer_blocks(page)
    assert isinstance(first, Paragraph)
    assert "snakes borderline" in first.text


def test_one_group_is_compared_on_two_named_lists() -> None:
    page = page_of({"cats": -0.2, "dogs": -0.2})
    table = page.table[page.table["protected_group"] == "cats"].reset_index(drop=True)
    fit = bb.fit(table, "hierarchical", draws=200, chains=2, random_seed=1, progress=False)
    page = FitReport(fit, table, None, None, 0.89, 1)
    assert "words of the group cats lie nearer to the list cats traits than to the list dogs traits" in (
        answer_sentence(page).replace("Words", "words")
    )
    question = " ".join(block.text for block in question_section(page).blocks if isinstance(block, Paragraph))
    assert "nearer to the associated attribute words than to the other attribute words" in question
