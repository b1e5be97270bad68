"""Code that repeats changes."""

import ast
from pathlib import Path
from typing import Any

from bayesbias.changes.change_code import DRAWS, change_code, input_code

FACTS: dict[str, Any] = {
    "walk": False, "baseline": "associated", "scope": "population", "hdi_prob": 0.89, "rope": None, "draws": DRAWS,
    "random_seed": 1, "max_lost": 0.2, "conditions": ("1910", "1990"),
}  # fmt: skip


def test_a_trend_of_files_has_their_paths_and_no_placeholder() -> None:
    inputs = {"periods": input_code({1910: Path("a.npz")}, "PERIODS"), "study": input_code("own.toml", "STUDY")}
    code = change_code(FACTS | {"times": [1910, 1990], "inputs": inputs})
    ast.parse(code)
    assert "moved = bb.trend({1910: 'a.npz'}, study='own.toml', random_seed=1)" in code


def test_what_came_from_no_file_is_a_placeholder() -> None:
    code = change_code(FACTS | {"times": [1910, 1990], "inputs": {"periods": input_code({1910: object()}, "PERIODS")}})
    assert "bb.trend(PERIODS, random_seed=1)" in code
    assert "{'1910': table_1, '1990': table_2}, random_seed=1" in change_code(FACTS | {"times": None})
