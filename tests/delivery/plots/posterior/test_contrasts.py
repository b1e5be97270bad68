"""The forest of contrasts: every row is a row of `contrasts`."""

from pathlib import Path

import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.delivery.plots.posterior import contrasts as module
from bayesbias.delivery.plots.style import save_figure
from tests import third_group
from tests.delivery.plots.cut import cut_texts


def test_rows_are_all_groups_and_words(fit: xr.DataTree, tmp_path: Path) -> None:
    figure = bb.plots.plot_contrasts(fit, rope=0.02)
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    frame = bb.contrasts(fit, level="all", rope=0.02)
    assert labels[:3] == ["All protected words", "math (group)", "arts (group)"]
    assert labels[3:] == frame.query("protected_word != ''")["protected_word"].drop_duplicates().tolist()
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1 and line.get_marker() != "None"]
    points = [line for line in marks if line.get_marker() != "x"]
    crosses = [float(line.get_xdata()[0]) for line in marks if line.get_marker() == "x"]
    assert sorted(crosses) == pytest.approx(sorted(frame["observed"]))
    assert sorted(float(line.get_xdata()[0]) for line in points) == pytest.approx(sorted(frame["mean"]))
    settled = frame[((frame["hdi_low"] > 0) | (frame["hdi_high"] < 0)) & ~frame["borderline"]]
    assert sum(line.get_markerfacecolor() != "white" for line in points) == len(settled) > 0
    assert save_figure(figure, tmp_path / "forest.svg").read_bytes() == (
        save_figure(bb.plots.plot_contrasts(fit, rope=0.02), tmp_path / "again.svg").read_bytes()
    )


def test_many_rows_are_cut_and_it_is_said(fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 8)
    figure = bb.plots.plot_contrasts(fit)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(labels) == 8
    assert labels[:3] == ["All protected words", "math (group)", "arts (group)"]
    frame = bb.contrasts(fit, level="word")
    size = frame.assign(size=frame["mean"].abs()).groupby("protected_word", sort=False)["size"].max()
    assert set(labels[3:]) == set(size.nlargest(5).index)
    assert "8 of 19 rows, the words farthest from 0" in figure.get_suptitle()


@pytest.mark.parametrize("words", [True, False])
def test_no_text_is_cut(fit: xr.DataTree, words: bool) -> None:
    assert cut_texts(bb.plots.plot_contrasts(fit, rope=0.02, words=words)) == []


def test_a_group_without_a_side_has_no_marks() -> None:
    fit = bb.fit(third_group.table("none"), draws=100, random_seed=1, progress=False)
    labels = [label.get_text() for label in bb.plots.plot_contrasts(fit).axes[0].get_yticklabels()]
    assert labels[:3] == ["All protected words", "math (group)", "arts (group)"]
    assert not {"people (group)", *third_group.PEOPLE} & set(labels)


def test_a_difference_between_groups_alone_has_hollow_marks() -> None:
    """No group has both lists: nothing is measured on both sides, however far 0 is from the interval."""
    rows = third_group.table("").query("attribute_group == 'male'").copy()
    rows.loc[rows["connection"] == "associated", "cosine_distance"] -= 0.5
    fit = bb.fit(rows.drop(columns="cosine_similarity"), "hierarchical", draws=100, random_seed=1, progress=False)
    assert bb.contrasts(fit)["hdi_high"].lt(0).all()
    (axes,) = bb.plots.plot_contrasts(fit).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["All protected words"]
    points = [line for line in axes.lines if len(line.get_xdata()) == 1 and line.get_marker() not in ("x", "None")]
    assert [line.get_markerfacecolor() for line in points] == ["white"]
