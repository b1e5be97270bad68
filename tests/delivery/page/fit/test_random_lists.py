"""The section on claims for random words: without a check, and with one whose numbers are known."""

from types import SimpleNamespace
from typing import Any

import pandas as pd

from bayesbias.base.statements import Statement
from bayesbias.delivery.page.blocks import Bullets, Paragraph, Table
from bayesbias.delivery.page.fit.random_lists import random_lists_section
from bayesbias.reports.robustness.random_list_check import RandomListCheck


def page(claims: object) -> Any:
    return SimpleNamespace(claims=claims, facts={"study": "weat7"})


def checked() -> RandomListCheck:
    """Return a check of 1,500 samples: the model claims 120 of them, a test 300."""
    model = {
        **{"method": "model", "rule": "89% interval", "nominal": 0.11, "samples": 1500, "claims": 0.08},
        **{"claims_se": 0.007, "quantity": "posterior mean", "sd": 0.02, "low": -0.03, "high": 0.03},
        **{"study_value": -0.05, "study_claims": True, "share_as_extreme": 0.01, "share_as_extreme_se": 0.003},
        **{"posterior_sd": 0.021, "error": 0.02, "error_se": 0.001},
    }
    weat = model | {"method": "weat", "rule": "p < 0.05", "nominal": 0.05, "claims": 0.2, "quantity": "effect size"}
    return RandomListCheck(
        methods=pd.DataFrame([model, weat]),
        gaps=pd.DataFrame({"sample": [1, 2], "method": "model", "value": [0.01, 0.02], "claims": False}),
        drawn={"words": 16, "vocabulary": 400, "match": None, "window": 50},
        problems=(Statement("claims", "WEAT claims too often."),),
        model="model",
        study="weat7",
        embedding="vectors",
        samples=1500,
        not_fitted=0,
        hdi_prob=0.89,
        random_seed=1,
    )


def test_without_a_check_a_line_names_command_and_function() -> None:
    section = random_lists_section(page(None))
    assert not section.blocks
    (line,) = section.headlines
    assert "bayesbias random-lists VECTORS --study weat7" in line
    assert "bb.check_random_lists(" in line


def test_a_check_is_shown_with_its_rates() -> None:
    check = checked()
    section = random_lists_section(page(check))
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    assert "1,500 sets" in table.caption
    assert [row[:2] for row in table.rows] == [("model", "89% interval"), ("weat", "p < 0.05")]
    places = [table.header.index(name) for name in ("Nominal rate", "Claims")]
    shares = [[float(row[place].rstrip(" %")) for place in places] for row in table.rows]
    assert shares == [[11, 8], [5, 20]]
    about, model, *tests = map(str, check.summary)
    assert section.blocks[0] == Paragraph(about)
    assert Bullets((model, *tests)) in section.blocks
    assert list(section.headlines) == [model, "Beware: WEAT claims too often."]
