"""The first sentences of the report of a fit, and its tables of groups and words."""

from typing import Any

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.delivery.page.blocks import Paragraph
from bayesbias.delivery.page.fit import question_section
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


def test_the_sentence_names_the_lists_and_the_number_has_its_interval() -> None:
    contents = page_of({"cats": -0.2, "dogs": -0.2}).contents
    for fact in ("'cats' words", "to 'cats traits'", "'dogs' words", "to 'dogs traits'"):
        assert fact in contents.answer
    row = bb.contrasts(page_of({"cats": -0.2, "dogs": -0.2}).fit, level="overall").iloc[0]
    assert "89%" in contents.estimate
    assert f"{row['mean']:+.3f} in" in contents.estimate
    assert f"(observed {row['observed']:+.3f})" in contents.estimate
    assert f"{row['hdi_low']:+.3f} to {row['hdi_high']:+.3f}" in contents.estimate
    (part,) = contents.parts
    assert [statement.kind for statement in part.statements] == ["association"], "no group has another answer"
    assert next(iter(contents.figures.values())).plot.endswith("figure_of_contrasts")


def test_groups_with_another_answer_precede_their_table() -> None:
    contents = page_of({"cats": -0.3, "dogs": -0.3, "birds": -0.3, "snakes": 0.2}).contents
    assert "'snakes' farther" in contents.parts[0].statements[1].text
    assert "ords of 4 groups ('cats', 'dogs', 'birds' and 1 more) lie nearer on average to" in contents.answer
    assert contents.sections[0].parts == contents.parts
    groups = contents.tables["groups"]
    assert groups.mark is not None
    marks = {row["protected_group"]: groups.mark(row) for row in groups.frame.to_dict("records")}
    assert marks["snakes"] == "● → farther"
    assert marks["cats"] == "● ← nearer"


def test_what_holds_on_average_is_not_said_of_a_group_that_goes_the_other_way() -> None:
    sentence = page_of({"cats": -0.5, "dogs": 0.1}).contents.answer
    assert "ords lie nearer on average to the lists of their own group ('cats': 'cats traits'; " in sentence
    assert "those of dogs" not in sentence


def test_a_group_that_another_seed_may_settle_is_borderline() -> None:
    page = page_of({"cats": -0.3, "dogs": -0.3, "snakes": -0.3})
    rows = {part.numbers["protected_group"]: part.numbers for part in page.conclusions.shown if part.kind == "group"}
    rows["snakes"]["borderline"] = True
    assert "'snakes' borderline" in page.contents.parts[0].statements[1].text


def test_names_of_many_words_leave_the_sentence_short() -> None:
    shifts = {f"a very long name of a group with number {number}": -0.2 for number in range(2)}
    contents = page_of(shifts).contents
    assert contents.answer == "Words lie nearer to the lists of their own group than to the other group's lists."


def test_many_groups_have_a_figure_of_one_contrast_with_a_sentence_on_those_left_out() -> None:
    shifts = {f"g{number}": -0.01 * number for number in range(14)}
    figure = next(iter(page_of(shifts).contents.figures.values()))
    assert figure.options["contrast"] == "associated - different"
    assert "Of 14 groups, the 10 farthest from all words are shown." in figure.caption


def test_one_group_is_compared_on_two_named_lists() -> None:
    page = page_of({"cats": -0.2, "dogs": -0.2})
    table = page.table[page.table["protected_group"] == "cats"].reset_index(drop=True)
    fit = bb.fit(table, "hierarchical", draws=200, chains=2, random_seed=1, progress=False)
    page = FitReport(fit, table, None, None, 0.89, 1)
    assert "'cats' words lie nearer to 'cats traits' than to 'dogs traits'" in (
        page.contents.answer.replace("Words", "words")
    )
    question = " ".join(block.text for block in question_section(page).blocks if isinstance(block, Paragraph))
    assert "nearer to the associated attribute words than to the other attribute words" in question
