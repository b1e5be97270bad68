"""Frames of estimates in a paper: captions state the interval, and the numbers are those of the frames."""

from pathlib import Path

import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ReportError
from bayesbias.reports.posterior.estimate_tables import EstimateTables
from tests.reports.made import made_fit


@pytest.fixture(scope="module")
def made() -> xr.DataTree:
    return made_fit(draws=200)


def frames(fit: xr.DataTree, hdi_prob: float) -> dict[str, pd.DataFrame]:
    return {
        "summary": bb.summary(fit, level="overall", hdi_prob=hdi_prob),
        "contrasts": bb.contrasts(fit, baseline="human", hdi_prob=hdi_prob),
        "questions": bb.planned_contrasts(fit, ("group 0", "associated"), ("group 0", "different"), hdi_prob=hdi_prob),
    }


@pytest.mark.parametrize("name", ["summary", "contrasts", "questions"])
@pytest.mark.parametrize(("hdi_prob", "stated"), [(0.89, "89"), (0.5, "50")])
def test_the_caption_states_the_interval_and_the_rows_have_the_numbers(
    made: xr.DataTree, tmp_path: Path, name: str, hdi_prob: float, stated: str
) -> None:
    frame = frames(made, hdi_prob)[name]
    numbers = [f"{abs(value):.3f}" for value in frame[["mean", "hdi_low", "hdi_high"]].to_numpy().ravel()]
    for ending, percent in ((".tex", r"\%"), (".md", "%"), (".html", "%")):
        text = bb.write(frame, tmp_path / f"table{ending}").read_text(encoding="utf-8")
        assert f"{stated}{percent} HPDI, in units of cosine distance" in text
        assert ("except for weights" in text) == (name == "summary"), "not all parameters have that unit"
        assert ("below 0, human words are nearer" in text) == (name == "contrasts")
        assert all(number in text for number in numbers)
    pd.testing.assert_frame_equal(
        pd.read_csv(bb.write(frame, tmp_path / "table.csv"), keep_default_na=False), pd.DataFrame(frame)
    )


def test_chosen_rows_are_written(made: xr.DataTree, tmp_path: Path) -> None:
    frame = bb.summary(made).query("parameter == 'connection_mean'")
    text = bb.write(frame, tmp_path / "table.tex").read_text(encoding="utf-8")
    assert text.count(r"connection\_mean &") == 4
    assert "sigma" not in text


def test_frames_without_their_interval_are_refused(made: xr.DataTree, tmp_path: Path) -> None:
    frame = bb.contrasts(made)
    frame.attrs = {}
    with pytest.raises(ReportError, match="hdi_prob"):
        bb.write(frame, tmp_path / "table.tex")
    with pytest.raises(ReportError, match="DataFrame"):
        bb.write(pd.DataFrame(frame), tmp_path / "table.tex")
    both = EstimateTables(frames(made, 0.89))
    with pytest.raises(ReportError, match="3 tables"):
        bb.write(both, tmp_path / "tables.csv")
    assert not list(tmp_path.iterdir())
    assert bb.write(both, tmp_path / "tables.tex").read_text(encoding="utf-8").count(r"\begin{table}") == 3
