"""The sections on the posterior: which statements stand where, and what replaces what cannot be shown."""

import pytest

import bayesbias as bb
from bayesbias.delivery.page.blocks import Bullets, Figure, Notice, Table
from bayesbias.delivery.page.fit import posterior
from bayesbias.delivery.page.page_input import PageInput


def test_headlines_are_the_statements_on_contrasts_and_on_words(given: PageInput) -> None:
    shown = given.conclusions.shown
    overall, words = posterior.overall(given), posterior.words(given)
    assert overall.slug == "overall"
    assert list(overall.headlines) == [found.text for found in shown if found.kind == "contrast"]
    assert list(words.headlines) == [found.text for found in shown if found.kind == "words"]
    (bullets,) = [block for block in words.blocks if isinstance(block, Bullets)]
    assert bullets.entries == words.headlines
    (figure,) = [block for block in words.blocks if isinstance(block, Figure)]
    assert " ".join(words.headlines) in figure.alt


def test_differences_have_their_probabilities(given: PageInput) -> None:
    sections = posterior.overall(given), posterior.words(given)
    tables = [block for section in sections for block in section.blocks if isinstance(block, Table)]
    shown = [table for table in tables if "Too small" in str(table.header)]
    assert [table.header[0] for table in shown] == ["Difference", "Group", "Question", "Word"]
    assert [table.folded for table in shown] == [False, True, False, True]
    for table in shown:
        assert table.caption.endswith("89% HPDI; negative is nearer")
        assert "Plain difference" in table.header


def test_the_questions_of_the_study_are_answered(given: PageInput) -> None:
    (table,) = [block for block in posterior.overall(given).blocks if getattr(block, "header", [""])[0] == "Question"]
    answer = bb.planned_contrasts(given.fit, ("winter", "cold"), ("summer <u>", "cold"), rope=0.02).iloc[0]
    (row,) = table.rows
    said = dict(zip(table.header, row, strict=True))
    assert said["Question"] == "<b>nearer</b> to cold"
    assert said["Mean"] == f"{answer['mean']:+.3f}"
    assert said["Plain difference"] == f"{answer['observed']:+.3f}"


def test_without_contrasts_the_means_are_shown_and_the_rest_is_explained(controls_only: PageInput) -> None:
    for section in (posterior.overall(controls_only), posterior.words(controls_only)):
        notice, *others = [block for block in section.blocks if isinstance(block, Notice)]
        assert notice.text == f"No differences are shown. {controls_only.nothing_to_compare}"
        assert all("The fit has no attribute list 'cold'" in one.text for one in others)
        assert len(others) == (section.slug == "overall")
        assert not list(section.headlines)
        (figure,) = [block for block in section.blocks if isinstance(block, Figure)]
        assert sum(character.isdigit() for character in figure.alt) >= 4


def test_a_figure_that_is_too_tall_is_not_drawn(given: PageInput, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posterior, "_MOST_WORDS", 5)
    blocks = posterior.words(given).blocks
    assert isinstance(blocks[0], Notice)
    assert "With 6 words" in blocks[0].text
    assert not any(isinstance(block, Figure) for block in blocks)
