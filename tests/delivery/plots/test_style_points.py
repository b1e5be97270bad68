"""Names of points in figures do not cover each other."""

from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib.text import Text

import bayesbias as bb
from bayesbias.delivery.plots.style import name_points, new_figure
from tests.reports.covariates import made


def _overlapping(axes) -> list[tuple[str, str]]:
    drawing = axes.get_figure()
    drawing.draw_without_rendering()
    labels = [text for text in axes.texts if text.get_text()]
    pairs = combinations([(text.get_text(), Text.get_window_extent(text)) for text in labels], 2)
    return [(first, second) for (first, one), (second, other) in pairs if _common(one, other) > 0.3]


def _common(one, other) -> float:
    """Return the common area as a share of the smaller box."""
    width = max(min(one.x1, other.x1) - max(one.x0, other.x0), 0)
    height = max(min(one.y1, other.y1) - max(one.y0, other.y0), 0)
    return width * height / min(one.width * one.height, other.width * other.height)


def test_words_whose_points_are_near_each_other_do_not_overlap() -> None:
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.normal(scale=0.02, size=(30, 2)), [[0.0, 1.0], [1.0, 0.0]]])
    axes = new_figure(6.0, 4.0).subplots()
    axes.plot(*points.T, "o")
    name_points(axes, points, [f"administrator{place}" for place in range(len(points))])
    assert _overlapping(axes) == []
    named = {text.get_text() for text in axes.texts}
    assert {"administrator0", "administrator30", "administrator31"} <= named
    assert len(named) < len(points)  # the tables have the others


def test_a_word_at_the_right_end_stands_to_the_left_of_its_point() -> None:
    axes = new_figure(6.0, 4.0).subplots()
    axes.plot([0, 1], [0, 0], "o")
    name_points(axes, np.array([[0.0, 0.0], [1.0, 0.0]]), ["first", "physiotherapist"])
    drawing = axes.get_figure()
    drawing.draw_without_rendering()
    for text in axes.texts:
        assert text.get_window_extent().x1 <= axes.get_window_extent().x1
        assert text.get_window_extent().x0 >= axes.get_window_extent().x0


def test_labels_of_the_figure_of_slopes_do_not_overlap() -> None:
    table = made.made_table()
    words = table["protected_word"].unique()
    near = pd.DataFrame({"word": words, "share": 0.5 + np.linspace(0, 1e-3, len(words))})
    fitted = bb.fit(table, covariates=near, draws=200, random_seed=1, progress=False)
    assert _overlapping(bb.plots.plot_covariate(bb.covariate_effect(fitted)).axes[0]) == []


def test_a_word_beside_another_point_stands_elsewhere_with_a_line() -> None:
    points = np.array([[0.5, 0.5], [0.51, 0.52], [0.49, 0.48], [0.52, 0.47], [0.48, 0.53], [0.0, 0.0], [1.0, 1.0]])
    axes = new_figure(6.0, 4.0).subplots()
    axes.plot(*points.T, "o")
    name_points(axes, points[:1], ["nurse"], others=points)
    drawing = axes.get_figure()
    drawing.draw_without_rendering()
    (label,) = axes.texts
    assert label.arrow_patch is not None  # the line to its point
    box = Text.get_window_extent(label)  # without its line
    assert not any(box.contains(*axes.transData.transform(point)) for point in points)
