"""The first sections: the lists, the rows, and what is not among them."""

import json

import xarray as xr

from bayesbias.delivery.page.blocks import Bullets, Notice, Paragraph, Table
from bayesbias.delivery.page.fit.question_and_data import data_section, question_section
from bayesbias.reports.fit_report import FitReport, table_of
from tests.delivery.page.pages import HOSTILE, TURNED, small_table


def tables(blocks: object) -> dict[str, Table]:
    return {block.caption: block for block in blocks if isinstance(block, Table)}  # type: ignore[attr-defined]


def test_lists_are_shown_with_what_they_are_associated_with(given: FitReport) -> None:
    shown_tables = tables(question_section(given).blocks)
    assert shown_tables["Protected words"].rows == (
        ("summer <u>", "3", "3.0", "warm & <i>", ", ".join(HOSTILE[::2])),
        ("winter", "3", "3.0", "cold", ", ".join(HOSTILE[1::2])),
    )
    assert [row[:2] for row in shown_tables["Attribute words"].rows] == [("warm & <i>", "4"), ("cold", "4")]
    assert shown_tables["Attribute words"].rows[1][3] == "cold0, cold1, cold2, cold3"
    assert [row[:2] for row in shown_tables["Control words"].rows] == [("human", "5"), ("neutral", "5")]


def test_a_bundled_study_says_what_it_is_about(fit: xr.DataTree, given: FitReport) -> None:
    bundled = question_section(FitReport(fit, table_of(fit, None), None, None, 0.89, 1))
    assert sum(isinstance(block, Paragraph) for block in bundled.blocks) > 2
    assert next(block.text for block in question_section(given).blocks if isinstance(block, Paragraph)) == (
        "Study: <s>weather</s>. Embedding: vectors <tiny>."
    )


def test_only_controls_have_no_other_lists(controls_only: FitReport) -> None:
    shown_tables = tables(question_section(controls_only).blocks)
    assert "Attribute words" not in shown_tables
    assert [row[3] for row in shown_tables["Protected words"].rows] == ["none", "none"]


def test_counts_are_those_of_the_table(given: FitReport) -> None:
    shown_tables = tables(data_section(given).blocks)
    (caption,) = [caption for caption in shown_tables if caption.startswith("Cosine distances by connection")]
    rows = shown_tables[caption].rows
    assert [row[:4] for row in rows] == [
        ("associated", "24", "6", "8"),
        ("different", "24", "6", "8"),
        ("human", "30", "6", "5"),
        ("neutral", "30", "6", "5"),
    ]


def test_lost_words_are_named(given: FitReport) -> None:
    blocks = data_section(given).blocks
    (notice,) = [block for block in blocks if isinstance(block, Notice)]
    assert notice.text.startswith("1 word was lost (1 of cold).")
    assert tables(blocks)["Lost words"].rows == (("cold", "attribute", "1", TURNED, "not there"),)


def test_doubts_about_the_data_and_what_was_left_out_are_listed(fitted: xr.DataTree) -> None:
    fit = fitted.copy()
    facts = {"duplicates": {"dropped": 2, "same_vectors": 3}, "left_out_controls": ["dinner"], "edited": True}
    fit.attrs["table"] = json.dumps({**facts, "lost_words": [], "simulated": True})
    table = small_table()
    table.attrs = {}
    blocks = data_section(FitReport(fit, table, None, None, 0.89, 1)).blocks
    (notes,) = [block for block in blocks if isinstance(block, Bullets)]
    beginnings = ["3 rows compare", "The table was changed", "2 repeated rows", "Control words", "The distances were"]
    assert [text[: len(start)] for text, start in zip(notes.entries, beginnings, strict=True)] == beginnings
    assert Paragraph("The embedding has all words of the study.") in blocks


def test_what_is_not_known_is_said(fitted: xr.DataTree) -> None:
    fit = fitted.copy()
    fit.attrs["table"] = "{}"
    given = FitReport(fit, small_table(), None, None, 0.89, 1)
    assert Paragraph("The table does not say whether words of the study were lost.") in data_section(given).blocks
    assert Paragraph("The table (a table without a source) does not name a study.") in question_section(given).blocks
