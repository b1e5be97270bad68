"""The sections on the posterior: which statements stand where, and what replaces what cannot be shown."""

import pytest

from bayesbias.page import posterior
from bayesbias.page.blocks import Bullets, Figure, Notice, Table
from bayesbias.page.page_input import PageInput


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
    for section, first in ((posterior.overall(given), "Difference"), (posterior.words(given), "Word")):
        (table,) = [block for block in section.blocks if isinstance(block, Table) and "Too small" in str(block.header)]
        assert table.header[0] == first
        assert table.caption.endswith("89% HPDI; negative is nearer")
        assert table.folded == (first == "Word")


def test_without_contrasts_the_means_are_shown_and_the_rest_is_explained(controls_only: PageInput) -> None:
    for section in (posterior.overall(controls_only), posterior.words(controls_only)):
        (notice,) = [block for block in section.blocks if isinstance(block, Notice)]
        assert notice.text == f"No differences are shown. {controls_only.nothing_to_compare}"
        assert not list(section.headlines)
        (figure,) = [block for block in section.blocks if isinstance(block, Figure)]
        assert sum(character.isdigit() for character in figure.alt) >= 4


def test_a_figure_that_is_too_tall_is_not_drawn(given: PageInput, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posterior, "_MOST_WORDS", 5)
    blocks = posterior.words(given).blocks
    assert isinstance(blocks[0], Notice)
    assert "With 6 words" in blocks[0].text
    assert not any(isinstance(block, Figure) for block in blocks)
