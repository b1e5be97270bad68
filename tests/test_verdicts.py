"""Texts that say what settled means, which must agree with the rule."""

from pathlib import Path

import pytest

from bayesbias.base.results import VERDICTS

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "path", ["README.md", "docs/guide/association.md", "docs/guide/glossary.md", "docs/guide/pages.md"]
)
def test_documents_say_by_how_many_monte_carlo_errors_a_settled_interval_excludes_zero(path: str) -> None:
    assert "more than three Monte Carlo errors" in VERDICTS["settled"]
    assert VERDICTS["settled"] in " ".join((ROOT / path).read_text("utf-8").split())
