"""Figures of congruences and components: they show the numbers of the measures."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.delivery.plots.style import save_figure
from bayesbias.delivery.plots.subspaces import plot_components, plot_congruences
from bayesbias.errors import ReportError
from bayesbias.metrics.subspaces.canonical_subspace import kindel_comparison
from bayesbias.metrics.subspaces.randomisation_nulls import DRAWN, randomisation_nulls, study_nulls
from tests.metrics.made import PETS

WORDS = (*PETS.words, *(f"w{number}" for number in range(60)))
EMBEDDING = bb.Embedding(words=WORDS, vectors=np.random.default_rng(0).normal(size=(len(WORDS), 7)), name="tiny $x$")


def test_congruences_and_bands(tmp_path: Path) -> None:
    nulls = study_nulls(EMBEDDING, PETS, samples=100, random_seed=1)
    figure = plot_congruences(*nulls.values())
    assert len(figure.axes) == 4
    for axes, null in zip(figure.axes, nulls.values(), strict=True):
        frame = null.frame()
        frame = frame[frame["statistic"].str.startswith("congruence")]
        observed = frame[frame["drawn"] == "both"]["observed"].tolist()
        *bands, _ = axes.collections
        assert len(bands) == 3
        for band, drawn in zip(bands, DRAWN, strict=True):
            ends = np.array([segment[:, 1] for segment in band.get_segments()])
            assert ends == pytest.approx(frame[frame["drawn"] == drawn][["low", "high"]].to_numpy())
        scaled, cosine, diamonds = axes.lines
        assert scaled.get_ydata()[0] == null.observed["scaled"]
        assert cosine.get_ydata()[0] == null.observed["mean_cosine"]
        assert list(diamonds.get_ydata()) == observed
        assert axes.get_title() == f"{null.lists[0]} with {null.lists[1]}"
    assert "tiny $x$\n95% prediction intervals" in figure.get_suptitle()
    assert save_figure(figure, tmp_path / "congruences.png").stat().st_size > 20_000


def test_some_bands_and_matching() -> None:
    lists = {"cats": PETS.protected["cats"], "quiet": PETS.attributes["quiet"]}
    nulls = [
        randomisation_nulls(EMBEDDING, lists, drawn=drawn, samples=50, match="norm", window=20, random_seed=1)
        for drawn in ("both", "first", "first")
    ]
    figure = plot_congruences(*nulls)
    assert [axes.get_visible() for axes in figure.axes] == [True, True, True, False]
    assert len(figure.axes[0].collections) == 2
    assert "matched on norm (nearest 20)" in figure.get_suptitle()
    assert [bool(axes.get_xlabel()) for axes in figure.axes] == [False, True, True, False]


def test_components_show_the_table() -> None:
    comparison = kindel_comparison(EMBEDDING, [PETS, {**PETS.protected, **PETS.attributes}])
    figure, frame = plot_components(comparison), comparison.studies
    for axes, metric in zip(figure.axes[:2], ("mcs", "cca"), strict=True):
        points = sorted((line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if len(line.get_xdata()) == 1)
        columns = [f"{metric}_{component}" for component in ("a_c", "a_d", "b_d", "b_c")]
        assert points == sorted((value, y) for y in range(2) for value in frame.loc[y, columns])
    assert list(figure.axes[2].lines[0].get_xdata()) == frame["weat_mcs"].tolist()
    assert list(figure.axes[2].lines[1].get_xdata()) == frame["weat_cca"].tolist()
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["pets", "four lists"]


def test_bad_input() -> None:
    with pytest.raises(ReportError, match="randomisation_nulls"):
        plot_congruences()
    with pytest.raises(ReportError, match="randomisation_nulls"):
        plot_congruences("null")  # type: ignore[arg-type]
    frame = kindel_comparison(EMBEDDING, PETS).studies
    for wrong in (frame, frame.iloc[:0], frame.drop(columns="mcs_a_c")):
        with pytest.raises(ReportError, match="kindel_comparison"):
            plot_components(wrong)
