"""The section on claims for random words: without a check, and with one whose numbers are known."""

from types import SimpleNamespace
from typing import Any

import pandas as pd

from bayesbias.base.statements import Statement
from bayesbias.delivery.page.blocks import Bullets, Paragraph, Table
from bayesbias.delivery.page.fit.random_lists import random_lists_section


def page(claims: object) -> Any:
    return SimpleNamespace(claims=claims, facts={"study": "weat7"})


def checked() -> SimpleNamespace:
    """Return a check of 1,500 samples: the model claims 120 of them, a test 300."""
    columns = ["method", "rule", "nominal", "claims", "claims_se", "quantity", "sd", "study_value", "share_as_extreme"]
    rows = [
        ("model", "89% interval", 0.11, 0.08, 0.007, "posterior mean", 0.02, -0.05, 0.01),
        ("weat", "p < 0.05", 0.05, 0.2, 0.01, "effect size", 0.5, 1.2, 0.03),
    ]
    summary = [Statement(kind, f"About {kind}.") for kind in ("lists", "model", "weat")]
    problems = [Statement("claims", "WEAT claims too often.")]
    return SimpleNamespace(
        methods=pd.DataFrame(rows, columns=columns), samples=1500, summary=summary, problems=problems
    )


def test_without_a_check_a_line_names_command_and_function() -> None:
    section = random_lists_section(page(None))
    assert not section.blocks
    (line,) = section.headlines
    assert "bayesbias random-lists VECTORS --study weat7" in line
    assert "bb.check_random_lists(" in line


def test_a_check_is_shown_with_its_rates() -> None:
    section = random_lists_section(page(checked()))
    first, table, bullets = section.blocks
    assert isinstance(first, Paragraph)
    assert isinstance(table, Table)
    assert isinstance(bullets, Bullets)
    assert first.text == "About lists."
    assert "1,500 sets" in table.caption
    assert [row[:2] for row in table.rows] == [("model", "89% interval"), ("weat", "p < 0.05")]
    shares = [[float(cell.rstrip(" %")) for cell in row[2:4]] for row in table.rows]
    assert shares == [[11, 8], [5, 20]]
    assert bullets.entries == ("About model.", "About weat.")
    assert list(section.headlines) == ["About model.", "Beware: WEAT claims too often."]
