"""Fits on disk."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.debias import HardDebias
from bayesbias.errors import BayesBiasError, FitError, InputFileError, OutputError
from bayesbias.models.data import model_data
from bayesbias.models.fits import fitted_model, fitted_rows, fitted_table, tied_directions
from tests.models.tables import small


def test_a_fit_survives_the_disk(fit: xr.DataTree, tmp_path: Path) -> None:
    path = bb.write_fit(fit, tmp_path / "fit.nc")
    again = bb.read_fit(path)
    for group in fit.children:
        assert again[group].to_dataset().equals(fit[group].to_dataset()), group
    assert again.attrs == fit.attrs
    assert bb.summary(again).equals(bb.summary(fit))
    path.unlink()
    assert float(again["posterior"]["sigma"].mean()) > 0, "the fit is in memory and needs no file"


def test_a_fit_that_had_not_converged_says_so_when_it_is_read(fit: xr.DataTree, tmp_path: Path) -> None:
    doubtful = fit.copy()
    doubtful.attrs = {**fit.attrs, "convergence_problems": '["R-hat is high."]'}
    path = bb.write_fit(doubtful, tmp_path / "fit.nc")
    with pytest.warns(bb.errors.ConvergenceWarning, match="R-hat is high"):
        bb.read_fit(path)


def test_what_is_not_a_fit_is_refused(fit: xr.DataTree, tmp_path: Path) -> None:
    with pytest.raises(FitError, match="dict"):
        bb.summary({})  # type: ignore[arg-type]
    with pytest.raises(FitError, match="posterior"):
        bb.summary(xr.DataTree())
    other = tmp_path / "other.nc"
    xr.DataTree().to_netcdf(other, engine="h5netcdf")
    with pytest.raises(FitError, match=r"bb\.fit"):
        bb.read_fit(other)
    mine = bb.write_fit(fit.sel(draw=slice(0, 3)), tmp_path / "mine.nc")
    with pytest.raises(OutputError, match="overwrite"):
        bb.write_fit(fit, mine)
    with pytest.raises(OutputError, match=r"/no\b"):
        bb.write_fit(fit, tmp_path / "no" / "fit.nc")
    with pytest.raises(InputFileError):
        bb.read_fit(tmp_path / "none.nc")


def test_a_fit_of_an_earlier_version_is_refused(fit: xr.DataTree, tmp_path: Path) -> None:
    old = fit.copy()
    old["posterior"] = xr.DataTree(fit["posterior"].to_dataset().rename(connection_mean="group_mean"))
    with pytest.raises(FitError, match=r"'group_mean'.*'connection_mean'"):
        bb.summary(old)
    path = tmp_path / "old.nc"
    old.to_netcdf(path, engine="h5netcdf")
    with pytest.raises(FitError, match="'group_mean'"):
        bb.read_fit(path)


def test_truncated_and_random_files_end_in_our_errors(fit: xr.DataTree, tmp_path: Path) -> None:
    path = bb.write_fit(fit.sel(draw=slice(0, 3)), tmp_path / "fit.nc")
    whole = path.read_bytes()
    for length in [*range(0, 2048, 64), *range(2048, len(whole), max(1, len(whole) // 60))]:
        path.write_bytes(whole[:length])
        with pytest.raises(BayesBiasError):
            bb.read_fit(path)
    path.write_bytes(b"not a netCDF file at all" * 10)
    with pytest.raises(InputFileError, match="netCDF"):
        bb.read_fit(path)


def broken(fit: xr.DataTree, what: str) -> xr.DataTree:
    """Return a copy of a fit in which one thing is wrong."""
    made = fit.copy(deep=True)
    match what.split():
        case ["attribute", name, *value]:
            made.attrs = {key: text for key, text in made.attrs.items() if key != name}
            made.attrs |= {name: value[0]} if value else {}
        case ["without", group, name]:
            made[group] = xr.DataTree(made[group].to_dataset().drop_vars(name))
        case ["nan", group, name]:
            values = made[group][name].to_numpy().copy()
            values.flat[0] = np.nan
            made[group][name].data = values
        case ["place", name]:
            places = made["constant_data"][name].to_numpy().copy()
            places[0] = 30_000
            made["constant_data"][name].data = places
    return made


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("attribute convergence_problems no", "convergence_problems .*JSON"),
        ('attribute convergence_problems ["a\\nb"]', "convergence_problems is not a list of sentences"),
        ("attribute table", "table .*JSON"),
        ("without posterior word_mean", "posterior .*word_mean"),
        ("without constant_data attribute_index", "constant_data .*attribute_index"),
        ("nan posterior word_mean", "posterior/word_mean .*finite"),
        ("nan observed_data cosine_distance", "observed_data/cosine_distance .*finite"),
        ("place protected_index", "protected_index .*protected_word"),
        ("place attribute_index", "attribute_index .*attribute_word"),
        ("place attribute_group_index", "attribute_group_index .*attribute_group"),
    ],
)
def test_a_file_of_a_fit_that_is_not_whole_is_refused(
    what: str, message: str, fit: xr.DataTree, tmp_path: Path
) -> None:
    path = tmp_path / "fit.nc"
    broken(fit, what).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(FitError, match=message):
        bb.read_fit(path)


def test_the_model_comes_back_with_its_priors_and_caution(table: pd.DataFrame) -> None:
    spec = bb.load_model("hierarchical", priors={"sigma": "HalfNormal(0.2)"})
    assert fitted_model(bb.fit(table, spec, draws=10, random_seed=1)) == spec
    assert spec.caution


def test_the_rows_come_back(table: pd.DataFrame) -> None:
    rows, expected = fitted_rows(bb.fit(table, "hierarchical", draws=10, random_seed=1)), model_data(table)
    for name in ("distance", "protected", "connection", "attribute", "protected_words", "protected_groups"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(expected, name))
    assert rows.connections == expected.connections
    assert rows.table_hash == expected.table_hash


def test_the_table_comes_back_with_its_lists_and_provenance(table: pd.DataFrame) -> None:
    rebuilt = fitted_table(bb.fit(table, "hierarchical", draws=10, random_seed=1))
    pd.testing.assert_frame_equal(rebuilt[table.columns], table, check_dtype=False, check_categorical=False)
    assert rebuilt.attrs["bayesbias"]["study"] == "weat7"


@pytest.mark.parametrize("seed", [1, 2])
def test_lists_without_a_known_study_keep_their_names(seed: int) -> None:
    table = small(4, 2)
    rebuilt = fitted_table(bb.fit(table, "hierarchical", draws=10, random_seed=seed))
    assert rebuilt["attribute_group"].astype(str).tolist() == table["attribute_group"].astype(str).tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_directions_that_hard_debiasing_took_out_are_tied_and_the_fit_converges() -> None:
    """Two of three religions' differences: the neutral words' distances say nothing of them any more."""
    vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    debiased = HardDebias().fit(vectors, "religion_manzini", equalize=[]).transform(vectors)
    before, after = (bb.distance_table(embedding, "religion", max_lost=0.25) for embedding in (vectors, debiased))
    singular = np.linalg.svd(after["cosine_distance"].to_numpy().reshape(15, -1).T - 1, compute_uv=False)
    fitted = bb.fit(after, draws=1000, random_seed=1)  # a warning would be an error
    assert tied_directions(fitted) == (singular < 1e-6).sum() == 2
    (doubt,) = (doubt for doubt in bb.conclusions(fitted).doubts if doubt.kind == "tied words")
    assert doubt.numbers == {"directions": 2}
    with warnings.catch_warnings(action="ignore"):  # so short a chain warns
        assert tied_directions(bb.fit(before, draws=100, tune=100, random_seed=1)) == 0
    assert tied_directions(bb.fit(before, "hierarchical", random_seed=1)) == 0
