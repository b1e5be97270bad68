"""Predictive checks on the command line."""

import json
from pathlib import Path

import pytest

import bayesbias as bb
from tests.cli.running import in_process


def test_a_check_is_printed_and_written(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    table = bb.distance_table(bb.load_embedding("vectors.txt"), "pets.toml")
    bb.write_fit(bb.fit(table, "hierarchical", draws=50, random_seed=1, progress=False), "fit.nc")
    assert in_process("check", "fit.nc", "-o", "checked", "--seed", "1", "--json", monkeypatch=monkeypatch) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert {"posterior_statistics", "prior_distances"} <= set(tables)
    written = {path.name for path in (workplace / "checked").iterdir()}
    assert {"check.png", "prior.png", "posterior_coverage.csv"} <= written
