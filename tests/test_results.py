"""Folders of results: whole or not at all, and what they hold is what the functions return."""

import json
from fnmatch import fnmatch
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias import results
from bayesbias.errors import ArgumentError, OutputError, ReportError
from tests.reports.made import made_fit, made_table

MADE = {"table.csv", "fit.nc", "summary.csv", "contrasts.csv", "words.png", "conclusions.txt", "conclusions.json"}


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    return made_fit(draws=50)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return made_table(("he", "she"))


def test_the_files_hold_what_the_functions_return(fit: xr.DataTree, table: pd.DataFrame, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    found = results.write_results(fit, folder, table=table, hdi_prob=0.8, rope=0.02)
    assert found == bb.conclusions(fit, hdi_prob=0.8, rope=0.02)
    assert {path.name for path in folder.iterdir()} == MADE
    assert list(tmp_path.iterdir()) == [folder], "nothing unfinished is left behind"
    assert (folder / "conclusions.txt").read_text(encoding="utf-8") == f"{found}\n"
    assert json.loads((folder / "conclusions.json").read_text(encoding="utf-8")) == found.to_dict()
    for name, frame in (
        ("summary", bb.summary(fit, hdi_prob=0.8)),
        ("contrasts", bb.contrasts(fit, level="all", hdi_prob=0.8, rope=0.02)),
    ):
        read = pd.read_csv(folder / f"{name}.csv", keep_default_na=False)
        assert read["mean"].tolist() == frame["mean"].tolist()
        assert read["protected_word"].tolist() == frame["protected_word"].tolist()


def test_what_exists_is_replaced_on_demand_only_and_other_files_stay(
    fit: xr.DataTree, table: pd.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "conclusions.txt").write_text("mine")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="not empty"):
        results.write_results(fit, tmp_path, table=table)
    assert (tmp_path / "conclusions.txt").read_text() == "mine"
    results.write_results(fit, tmp_path, table=table, overwrite=True)
    assert {path.name for path in tmp_path.iterdir()} == MADE | {"notes.txt"}
    assert (tmp_path / "conclusions.txt").read_text() != "mine"
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_failure_half_way_leaves_nothing(
    fit: xr.DataTree, table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(results, "save_figure", fails)
    with pytest.raises(OutputError, match="No space left"):
        results.write_results(fit, tmp_path / "made", table=table)
    assert list(tmp_path.iterdir()) == []


def test_a_request_is_judged_before_sampling(table: pd.DataFrame) -> None:
    results.check_request(table, hdi_prob=0.5, rope=0.02)
    with pytest.raises(ArgumentError, match="hdi_prob=89"):
        results.check_request(table, hdi_prob=89)
    with pytest.raises(ArgumentError, match="rope=-1"):
        results.check_request(table, rope=-1)
    with pytest.raises(ReportError, match="only attribute words are human ones"):
        results.check_request(table[table["connection"] == "human"])


def test_kinds_of_results_share_no_file() -> None:
    """Else one that is written over another leaves a mixture of both."""
    kinds = (results.RESULTS, results.CHECKS, results.COMPARISON)
    for at, names in enumerate(kinds):
        others = [name for other in kinds[at + 1 :] for name in other]
        assert not [(name, other) for name in names for other in others if fnmatch(name, other) or fnmatch(other, name)]
    assert not any(fnmatch("change_of_plan.png", name) for names in kinds for name in names)


def test_seeds_hold_what_the_comparison_does(fit: xr.DataTree, tmp_path: Path) -> None:
    compared = bb.compare_seeds({1: fit, 2: fit}, random_seed=1)
    assert results.write_seeds(compared, tmp_path / "seeds") == str(compared)
    assert {path.name for path in (tmp_path / "seeds").iterdir()} == set(results.SEEDS)
    read = pd.read_csv(tmp_path / "seeds" / "contrasts.csv", keep_default_na=False)
    assert read["seed_share"].tolist() == compared.contrasts["seed_share"].tolist()
    assert read["stability"].tolist() == compared.contrasts["stability"].tolist()
