"""The figure of models of inference shows their numbers."""

import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, ReportError
from tests.nli.made import compared


def test_points_and_lines_are_those_of_the_comparison() -> None:
    comparison = compared()
    words, groups = bb.nli.plot_inference(comparison).axes
    assert [label.get_text() for label in words.get_yticklabels()] == [
        *("man", "guy", "gentleman", "He", "woman", "girl", "lady", "She")
    ]
    rows = ["overall", "male", "female", "male - female", "size of the contrast", "distance"]
    assert [label.get_text() for label in groups.get_yticklabels()] == rows
    values = comparison.values[comparison.values["scope"] == "these_words"]
    for axes, frame in ((words, comparison.words), (groups, values)):
        points = [line for line in axes.lines if line.get_marker() in ("o", "s", "^")]
        assert [point.get_xdata()[0] for point in points] == frame["mean"].tolist()
        lines = [line.get_xdata() for line in axes.lines if line.get_marker() == "None" and line.get_linewidth() == 1.4]
        assert [line[0] for line in lines] == frame["hdi_low"].tolist()
        assert [line[1] for line in lines] == frame["hdi_high"].tolist()
        filled = [point.get_markerfacecolor() == point.get_color() for point in points]
        if axes is words:
            assert not any(filled)
            continue
        changes = comparison.changes.set_index(["embedding", "quantity", "scope"])
        settled = changes[(changes["hdi_low"] > 0) | (changes["hdi_high"] < 0)].index
        keys = list(zip(frame["embedding"], frame["quantity"], frame["scope"], strict=True))
        assert filled == [key in settled for key in keys]
        assert any(filled)


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ArgumentError, match=r"bb\.nli\.train_and_compare"):
        bb.nli.plot_inference("comparison")  # type: ignore[arg-type]
    with pytest.raises(ReportError, match="7 embeddings"):
        bb.nli.plot_inference(compared({f"e{number}": 0.1 for number in range(7)}))
