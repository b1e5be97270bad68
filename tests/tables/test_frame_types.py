"""Type checkers accept the frames that functions on tables accept."""

from pathlib import Path

import pytest

CODE = """
import pandas
import polars
import pyarrow

import bayesbias as bb

def takes(one: pandas.DataFrame, two: polars.DataFrame, three: pyarrow.Table) -> None:
    bb.fit(one)
    bb.fit(two, random_seed=1)
    bb.fit(table=two)
    bb.reports.mac_shares({"before": two, "after": two})
    bb.lost_words(two)
    bb.compare_embeddings({"before": one, "after": two})
    bb.trend({1990: two, 2000: "vectors.npz"}, "gender")
    bb.audit(bb.bundled("data"), "gender", rope={"standardised": 0.3})

def refused() -> None:
    bb.fit(5)
    bb.fit(table="table.csv")
"""


@pytest.mark.slow
def test_frames_of_polars_have_the_type_of_a_table(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    pytest.importorskip("polars")
    file = tmp_path / "takes.py"
    file.write_text(CODE)
    settings = Path(__file__).parents[2] / "pyproject.toml"
    out, _, _ = api.run(["--config-file", str(settings), "--cache-dir", str(tmp_path / "cache"), str(file)])
    errors = [line for line in out.splitlines() if "takes.py" in line and "error:" in line]
    assert [line.split(":")[1] for line in errors] == ["19", "20"], out
