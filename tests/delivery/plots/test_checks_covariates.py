"""The figure of a covariate draws what the effect holds."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError
from tests.reports.covariates.made import made_fit


def test_words_and_line_are_those_of_the_effect() -> None:
    effect = bb.covariate_effect(made_fit())
    (axes,) = bb.plots.plot_covariate(effect).axes
    points = next(line for line in axes.get_lines() if line.get_marker() == "o")
    np.testing.assert_array_equal(points.get_ydata(), effect.words["mean"])
    (circles,) = (line for line in axes.get_lines() if line.get_markerfacecolor() == "none")
    np.testing.assert_array_equal(circles.get_ydata(), effect.words["observed"])
    np.testing.assert_array_equal(points.get_xdata(), effect.words["share"])
    assert axes.get_xlabel() == "share"
    drawn = {text.get_text() for text in axes.texts}
    assert {"<b>w0", "<b>w8"} <= drawn


def test_other_things_are_refused() -> None:
    with pytest.raises(ArgumentError, match="covariate_effect"):
        bb.plots.plot_covariate(5)  # type: ignore[arg-type]
