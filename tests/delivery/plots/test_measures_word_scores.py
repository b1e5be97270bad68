"""The score plot: every score, every word, every group."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.delivery.plots.measures import plot_word_scores
from bayesbias.delivery.plots.style import save_figure
from bayesbias.errors import ReportError
from bayesbias.metrics.directions.word_scores import word_scores

WORDS = ("he", "she", "man", "woman", "nurse", "$pilot$", "poet", "a_very_long_word_that_is_longer_than_a_label")
EMBEDDING = bb.Embedding(words=WORDS, vectors=np.random.default_rng(0).normal(size=(8, 5)))
PAIRS = [("he", "she"), ("man", "woman")]


def test_every_score_is_drawn(tmp_path: Path) -> None:
    lists = {"work": WORDS[4:6], "art": WORDS[6:]}
    results = [word_scores(EMBEDDING, lists, PAIRS, rule=rule) for rule in ("db_wa", "ripa", "ripa_unit")]
    results.append(word_scores(EMBEDDING, lists, PAIRS, rule="nbm", k=3))
    figure = plot_word_scores(*results)
    assert len(figure.axes) == 4
    for axes, result in zip(figure.axes, results, strict=True):
        values = result.scores["score"].to_numpy().reshape(4, 2).T
        # The points of each base pair, then the means on either side, then the lines at 0 and between the groups.
        for line, expected in zip(axes.lines, values, strict=False):
            assert list(line.get_xdata()) == expected.tolist()
        right, left = axes.lines[2:4]
        assert (np.asarray(right.get_xdata()) >= 0).all()
        assert (np.asarray(left.get_xdata()) < 0).all()
        means = dict(zip([*right.get_ydata(), *left.get_ydata()], [*right.get_xdata(), *left.get_xdata()], strict=True))
        assert [means[row] for row in range(4)] == pytest.approx(values.mean(axis=0).tolist())
        assert axes.lines[5].get_ydata()[0] == 1.5
        assert axes.get_xlabel()
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels[:3] == ["nurse", "$pilot$", "poet"]
    assert "…" in labels[3]
    assert [text.get_text() for text in figure.axes[-1].texts] == ["work", "art"]
    assert "2 base pairs" in figure.get_suptitle()
    assert save_figure(figure, tmp_path / "scores.png").stat().st_size > 20_000


def test_one_pair_and_no_groups() -> None:
    figure = plot_word_scores(word_scores(EMBEDDING, ["nurse", "poet"], PAIRS[:1]))
    (axes,) = figure.axes
    assert not axes.texts
    assert sum(len(line.get_xdata()) for line in axes.lines[:2]) == 2  # no ticks beside the points
    assert "he ~ she" in figure.get_suptitle()


def test_bad_input() -> None:
    scores = word_scores(EMBEDDING, ["nurse"], PAIRS)
    for wrong in ((), (scores.scores,), ("scores",)):
        with pytest.raises(ReportError, match="word_scores"):
            plot_word_scores(*wrong)  # type: ignore[arg-type]
    with pytest.raises(ReportError, match="base pairs"):
        plot_word_scores(scores, word_scores(EMBEDDING, ["poet"], PAIRS, rule="ripa"))
