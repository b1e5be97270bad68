"""What a table's numbers measure: records, ranges, and reports that do not speak of other measures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import FitError, TableError
from bayesbias.reports.posterior.estimate_tables import estimate_table
from bayesbias.tables.measures import CHANGE, COSINE_DISTANCE, SURPRISAL, Measure, measure_faults, measure_of
from tests.cli.running import in_process
from tests.models.test_scales import scores


@pytest.mark.parametrize("measure", [COSINE_DISTANCE, CHANGE, SURPRISAL, Measure("rating", "points")])
def test_records_are_read_back(measure: Measure) -> None:
    assert measure_of({"measure": measure.record()}) == measure
    assert list(measure_faults(measure.record())) == []
    assert measure.is_bounded == (measure in (COSINE_DISTANCE, CHANGE))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (5, "a section of texts"),
        ({**SURPRISAL.record(), "unit": 1}, "a section of texts"),
        ({**SURPRISAL.record(), "more": "x"}, "a section of texts"),
        ({**SURPRISAL.record(), "name": " "}, "must say a name"),
        ({**SURPRISAL.record(), "column": "surprisl"}, "did you mean 'surprisal'"),
    ],
)
def test_faults_of_records_are_named(record: Any, message: str) -> None:
    (fault,) = measure_faults(record)
    assert message in fault


@pytest.fixture(scope="module")
def rated() -> xr.DataTree:
    return bb.fit(scores(20.0), draws=500, random_seed=1, progress=False)


@pytest.mark.parametrize(
    "report",
    [bb.conclusions, bb.methods, bb.report, bb.check_posterior, bb.plots.plot_contrasts, bb.plots.plot_words,
     bb.plots.plot_connections, bb.plots.plot_check],
)  # fmt: skip
def test_texts_about_cosine_distances_refuse_other_measures(
    rated: xr.DataTree, report: Callable[[xr.DataTree], object]
) -> None:
    with pytest.raises(FitError, match=r"speaks of cosine distances, and these are ratings \(points\)"):
        report(rated)


def test_the_methods_command_refuses_other_measures(
    rated: xr.DataTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bb.write_fit(rated, tmp_path / "fit.nc")
    assert in_process("methods", tmp_path / "fit.nc", monkeypatch=monkeypatch) == 2
    assert "speaks of cosine distances" in " ".join(capsys.readouterr().err.split())


def test_captions_name_the_measure(rated: xr.DataTree) -> None:
    frame = bb.contrasts(rated)
    assert "differences of mean ratings (points), " in estimate_table(frame).caption
    assert "in units of the ratings (points) except" in estimate_table(bb.summary(rated)).caption


@pytest.mark.parametrize(
    "report",
    [
        lambda table: bb.compare_embeddings({"a": table, "b": table}, random_seed=1),
        lambda table: bb.sensitivity(table, random_seed=1),
        lambda table: bb.compare_models(table, random_seed=1),
        lambda table: bb.plots.plot_distances(table),
        lambda table: bb.metrics.t_tests(table),
        lambda table: bb.metrics.mac_t_tests(table),
    ],
)
def test_reports_on_tables_refuse_other_measures(report: Callable[[pd.DataFrame], object]) -> None:
    with pytest.raises(TableError, match=r"speaks of cosine distances, and these are ratings \(points\)"):
        report(scores(20.0))


def test_measures_and_plans_refuse_fits_of_other_measures(rated: xr.DataTree) -> None:
    with pytest.raises(FitError, match="speaks of cosine distances"):
        bb.measure_posterior(rated, random_seed=1)
    with pytest.raises(FitError, match="speaks of cosine distances"):
        bb.required_words(rated, width=0.05, random_seed=1)
