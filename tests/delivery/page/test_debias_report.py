"""The page of a report on debiasing."""

from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, BayesBiasWarning, OutputError
from tests.cluster.pets import study
from tests.reports.debiasing import pets


def test_the_page_leads_with_the_answer_and_holds_every_number(tmp_path: Path) -> None:
    report = pets.report()
    page = bb.write_debias_page(report, tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.index(report.verdict.text) < page.index("<figure") < page.index("The associations")
    for change in report.table["change"].dropna():
        assert f">{change:+.3f}<" in page
    assert "Do the measures agree?" in page
    assert "Settled changes" not in page.split("</header>")[0]
    with pytest.raises(OutputError, match="exists"):
        bb.write_debias_page(report, tmp_path / "page.html")


def test_the_first_screen_says_the_cost_and_numbers_have_equal_digits(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("cat dog 9\ncat purr 5\ndog bark 6\ntom nap 2\n")
    report = pets.report(1, measures=[("word_similarity", path)])
    page = bb.write_debias_page(report, tmp_path / "page.html").read_text(encoding="utf-8")
    first = page[: page.index(">Contents<")]
    assert "word_similarity (pairs) of E1 (higher is better)" in first
    for value in report.table["value"]:
        assert f">{value:.3f}<" in page


def test_what_is_missing_is_told_first_and_names_are_escaped(tmp_path: Path) -> None:
    methods = {"<b>": pets.Weak(), "gone": bb.debias.LinearProjection(components=9)}
    with pytest.warns(BayesBiasWarning):
        report = bb.debias_report(
            [pets.embedding()], study(), methods, pets.SETS, measures=["vocabulary_direct_bias"], **pets.SMALL
        )
    page = bb.write_debias_page(report, tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.index("gone of E1 gave no embedding") < page.index(">Contents<")
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    with pytest.raises(ArgumentError, match=r"bb\.debias_report"):
        bb.write_debias_page("report", tmp_path / "other.html")  # type: ignore[arg-type]
