"""Figures of axes: rows, sides and names."""

import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, ReportError
from tests.reports.axes.test_project import PAIRS, WORDS, planted


def test_rows_are_sorted_and_named() -> None:
    axes = bb.plots.plot_axis(bb.project(planted(), WORDS, PAIRS)).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == WORDS
    with pytest.raises(ArgumentError):
        bb.plots.plot_axis(bb.project(planted(), WORDS, PAIRS), axis="other")
    with pytest.raises(ArgumentError):
        bb.plots.plot_axis("projection")


def test_of_many_words_the_ends_are_drawn() -> None:
    vectors = planted()
    words = [f"copy{number}" for number in range(80)]
    rows = {word: vectors[WORDS[number % 12]] * (1 + number) for number, word in enumerate(words)}
    rows |= {word: vectors[word] for pair in PAIRS for word in pair}
    figure = bb.plots.plot_axis(bb.project(rows, words, PAIRS))
    assert len(figure.axes[0].get_yticklabels()) == 60
    assert "60 of 80 words" in figure.get_suptitle()


def test_a_map_names_both_axes_and_its_words() -> None:
    projection = bb.project(planted(), WORDS, {"up": PAIRS, "odd": PAIRS[:3]})
    axes = bb.plots.plot_axes_map(projection).axes[0]
    assert axes.get_ylabel() == "← low0    odd    high0 →"
    assert {text.get_text() for text in axes.texts} <= set(WORDS)
    with pytest.raises(ReportError, match="two axes"):
        bb.plots.plot_axes_map(bb.project(planted(), WORDS, PAIRS))
