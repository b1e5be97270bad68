"""Frames of estimates: mean and interval are seen in 80 columns, and all else is a pandas frame."""

import pickle
import re

import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.audits.audit_frame import AuditFrame
from bayesbias.base.number_text import visible
from bayesbias.estimates.frames import EstimateFrame, frame_text


@pytest.mark.parametrize("level", ["all", "overall", "word"])
def test_mean_and_interval_are_printed_in_80_columns(fit: xr.DataTree, level: str) -> None:
    for frame in (bb.summary(fit, level=level), bb.contrasts(fit, level=level, rope=0.02)):
        lines = repr(frame).splitlines()
        assert max(map(len, lines)) <= 80
        for name in ("mean", "hdi_low", "hdi_high"):
            assert name in lines[0]
        row = frame.iloc[0]
        assert f"{row['mean']:.3f}" in lines[1]
        assert f"{row['hdi_low']:.3f}" in lines[1]


def test_answers_of_questions_are_too(fit: xr.DataTree) -> None:
    contrast = bb.planned_contrasts(fit, ("math", "male"), ("arts", "male"))
    assert isinstance(contrast, EstimateFrame)
    assert "mean" in repr(contrast).splitlines()[0]


def test_it_stays_a_frame(fit: xr.DataTree) -> None:
    frame = bb.summary(fit)
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(frame.query("parameter == 'sigma'"), EstimateFrame)
    assert repr(frame[["parameter", "mean"]]) == repr(pd.DataFrame(frame[["parameter", "mean"]]))
    assert repr(frame.iloc[:0]).startswith("Empty")
    pd.testing.assert_frame_equal(pd.DataFrame(frame), frame, check_frame_type=False)
    assert isinstance(frame["mean"], pd.Series)


@pytest.mark.parametrize("kind", [EstimateFrame, AuditFrame])
def test_in_a_notebook_no_word_is_markup_or_mathematics_or_hides(kind: type[pd.DataFrame]) -> None:
    """MathJax leaves out what has these classes."""
    html = kind({"word": ["<b>", r"\(x\)", "\u202e$x$"], "mean": [0.1, 0.2, 0.3]})._repr_html_()
    assert 'class="dataframe tex2jax_ignore mathjax_ignore"' in html
    assert "&lt;b&gt;" in html
    assert visible(html) == html
    assert pd.get_option("display.html.use_mathjax")


def test_a_notebook_shows_seven_columns_with_sensible_digits_and_says_how_to_see_all(fit: xr.DataTree) -> None:
    frame = bb.contrasts(fit, level="all")
    html = frame._repr_html_()
    head = re.findall(r"<th>(\w+)</th>", html.partition("</thead>")[0])
    assert head == ["contrast", "protected", "mean", "hdi_low", "hdi_high", "observed", "probability_of_direction"]
    assert f"<td>{frame['mean'].iloc[0]:.3f}</td>" in html
    assert f"{len(frame):,} rows; " in html
    assert frame.all_columns().columns.tolist() == frame.columns.tolist()
    assert not isinstance(frame.all_columns(), EstimateFrame)


def test_long_labels_are_left_out_before_numbers_are() -> None:
    long = {"contrast": ["a" * 40], "protected_group": ["b" * 30], "mean": [1.0], "hdi_low": [0.5], "hdi_high": [1.5]}
    assert "1.000" in repr(EstimateFrame(long)).splitlines()[1]
    assert "b" * 30 not in repr(EstimateFrame(long))


def test_a_small_p_is_not_printed_as_0() -> None:
    shown = frame_text(pd.DataFrame({"p_value": [0.0, 0.0004, 0.021, None]}), index=False)
    assert [line.strip() for line in shown.splitlines()][1:] == ["below 0.001", "below 0.001", "0.021", ""]


def test_rows_columns_and_copies_keep_the_settings() -> None:
    frame = EstimateFrame({"word": ["he", "she"], "mean": [0.9, 1.0]})
    frame.settings = {"hdi_prob": 0.5}
    same = (frame[["mean"]], frame.query("mean < 1"), frame.assign(sd=0.1), pickle.loads(pickle.dumps(frame)))
    assert all(part.settings == {"hdi_prob": 0.5} for part in same)
    assert EstimateFrame({"mean": [0.9]}).settings == {}
