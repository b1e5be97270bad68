"""The sections on the posterior: which statements stand where, and what replaces what cannot be shown."""

import pytest

import bayesbias as bb
from bayesbias.delivery.page.blocks import Figure, Notice, Table
from bayesbias.delivery.page.fit import posterior
from bayesbias.reports.fit_report import FitReport


def test_headlines_are_the_statements_on_contrasts_and_on_words(given: FitReport) -> None:
    shown = given.conclusions.shown
    overall, words = posterior.overall_section(given), posterior.words_section(given)
    assert overall.slug == "overall"
    open_statements = [item.text for kind in ("contrast", "group") for item in shown if item.kind == kind]
    assert list(overall.headlines) == open_statements
    assert list(words.headlines) == [statement.text for statement in shown if statement.kind == "words"]
    (figure,) = [block for block in words.blocks if isinstance(block, Figure)]
    assert " ".join(words.headlines) in figure.alt


def test_differences_have_their_probabilities(given: FitReport) -> None:
    sections = posterior.overall_section(given), posterior.words_section(given)
    tables = [block for section in sections for block in section.blocks if isinstance(block, Table)]
    shown = [table for table in tables if "Too small" in str(table.header)]
    assert [table.header[0] for table in shown] == ["Difference", "Group", "Question", "Word"]
    assert [table.folded for table in shown] == [False, True, False, True]
    for table in shown:
        assert table.caption.endswith("89% HPDI; below 0, nearer")
        assert "Plain difference" in table.header


def test_the_questions_of_the_study_are_answered(given: FitReport) -> None:
    (table,) = [
        block for block in posterior.overall_section(given).blocks if getattr(block, "header", [""])[0] == "Question"
    ]
    answer = bb.planned_contrasts(given.fit, ("winter", "cold"), ("summer <u>", "cold"), rope=0.02).iloc[0]
    (row,) = table.rows
    cells = dict(zip(table.header, row, strict=True))
    assert cells["Question"] == "<b>nearer</b> to cold"
    assert cells["Mean"] == f"{answer['mean']:+.3f}"
    assert cells["Plain difference"] == f"{answer['observed']:+.3f}"


def test_without_contrasts_the_means_are_shown_and_the_rest_is_explained(controls_only: FitReport) -> None:
    for section in (posterior.overall_section(controls_only), posterior.words_section(controls_only)):
        notice, *others = [block for block in section.blocks if isinstance(block, Notice)]
        assert notice.text == f"No differences are shown. {controls_only.nothing_to_compare}"
        assert all("The fit has no attribute list 'cold'" in one.text for one in others)
        assert len(others) == (section.slug == "overall")
        assert not list(section.headlines)
        (figure,) = [block for block in section.blocks if isinstance(block, Figure)]
        assert sum(character.isdigit() for character in figure.alt) >= 4


def test_a_figure_that_is_too_tall_is_not_drawn(given: FitReport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posterior, "_MOST_WORDS", 5)
    blocks = posterior.words_section(given).blocks
    assert isinstance(blocks[0], Notice)
    assert " 6 words" in blocks[0].text
    assert not any(isinstance(block, Figure) for block in blocks)
