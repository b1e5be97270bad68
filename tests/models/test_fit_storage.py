"""Hostile files of fits: what HDF5 can do and no fit does is refused at once, by the function and by the command."""

import struct
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import FitError, InputFileError, NotEnoughMemoryError
from tests.cli.running import in_process
from tests.models.hostile_fits import (
    ATTACKS,
    SHAPE,
    Attack,
    check_that_it_ends,
    draws_named,
    external_pipe,
    heaps_in_one_another,
    nested_groups,
    pipe,
)
from tests.reports.made import made_fit

LONG = "x" * 100_000


@pytest.fixture(scope="module")
def sound() -> bytes:
    return bytes(made_fit(draws=SHAPE[1]).to_netcdf(engine="h5netcdf"))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_what_no_fit_has_is_refused(
    attack: Attack,
    sound: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "fit.nc"
    path.write_bytes(sound)
    bb.read_fit(path)
    with h5py.File(path, "r+") as file:
        attack(file, tmp_path)
    if attack in (external_pipe, nested_groups):
        check_that_it_ends(path)
    with pytest.raises(FitError, match=ATTACKS[attack]):
        bb.read_fit(path)
    assert in_process("summary", path, monkeypatch=monkeypatch) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: ")
    assert "fit.nc is not a file of a fit" in output.err
    assert "Warning" not in output.err


def with_a_long_text(file: h5py.File) -> h5py.Dataset:
    texts = draws_named(file, "texts", dtype=h5py.string_dtype())
    texts[...] = "x"
    texts[0, 0] = LONG
    return texts


def test_one_long_text_that_is_stored_once_and_used_often_is_refused(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "fit.nc"
    path.write_bytes(sound)
    with h5py.File(path, "r+") as file:
        texts = with_a_long_text(file)
        offset, size = texts.id.get_offset(), texts.id.get_storage_size()
    content = bytearray(path.read_bytes())
    content[offset : offset + size] = bytes(content[offset : offset + 16]) * (size // 16)
    path.write_bytes(content)
    with pytest.raises(FitError, match="texts is longer than the file"):
        bb.read_fit(path)


@pytest.mark.parametrize("length", [0, 2**64 - 16])
def test_a_text_that_ends_before_it_begins_is_not_read_for_ever(sound: bytes, tmp_path: Path, length: int) -> None:
    path = tmp_path / "fit.nc"
    content = bytearray(sound)
    heap = content.index(b"GCOL")
    second = heap + 16 + 16 + -(-int.from_bytes(content[heap + 24 : heap + 32], "little") // 8) * 8
    assert content[second : second + 2] == b"\x02\x00"
    content[second : second + 2] = bytes([length > 0, 0])  # what is free, or the first text
    content[second + 8 : second + 16] = struct.pack("<Q", length)
    path.write_bytes(content)
    check_that_it_ends(path)
    with pytest.raises(FitError, match="lists of texts"):
        bb.read_fit(path)


def test_heaps_in_one_another_are_not_walked_again_and_again(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "fit.nc"
    path.write_bytes(sound + heaps_in_one_another(100_000))
    check_that_it_ends(path)
    with pytest.raises(FitError, match="lists of texts"):
        bb.read_fit(path)


def test_numbers_that_are_stored_once_and_used_often_are_refused(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "fit.nc"
    path.write_bytes(sound)
    with h5py.File(path, "r+") as file:
        shape = (*SHAPE, 1_000)
        stored = draws_named(file, "numbers", data=np.ones(shape), shape=shape)
        offset = stored.id.get_offset()
        file["posterior"].create_dataset("third", data=np.ones(1_000)).make_scale("third")
        for variable in (stored, *(draws_named(file, f"copy{number}", shape=shape) for number in range(10))):
            variable.dims[2].attach_scale(file["posterior/third"])
    head, size = b"\x03\x01", struct.pack("<Q", 8_000 * np.prod(SHAPE))  # of the place of numbers that lie together
    content = path.read_bytes()
    nowhere = head + 8 * b"\xff" + size
    assert content.count(nowhere) == 10
    path.write_bytes(content.replace(nowhere, head + struct.pack("<Q", offset) + size))
    with pytest.raises(FitError, match="declares more"):
        bb.read_fit(path)


def test_sizes_of_a_dimension_that_contradict_each_other_are_a_damaged_file(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "fit.nc"
    path.write_bytes(sound)
    with h5py.File(path, "r+") as file:
        empty = file["posterior"].create_dataset("empty", shape=(0, SHAPE[1]), dtype="S5")
        for place, name in enumerate(("chain", "draw")):
            empty.dims[place].attach_scale(file[f"posterior/{name}"])
    with pytest.raises(InputFileError, match=r"fit\.nc .*conflicting sizes for dimension 'chain'"):
        bb.read_fit(path)


def test_a_list_of_names_that_takes_exponential_time_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fit.nc"
    with h5py.File(path, "w", track_order=False):
        pass
    content = path.read_bytes()
    place = content.index(b"TREE")
    names = len(content)
    deep = content + b"SNOD" + bytes([1]) + bytes(323)  # no names
    child = names
    for level in range(16):
        node = b"TREE" + struct.pack("<BBHQQ", 0, level, 32, 2**64 - 1, 2**64 - 1) + 32 * struct.pack("<QQ", 0, child)
        child = len(deep)
        deep += node + bytes(544 - len(node))
    deep = deep.replace(struct.pack("<Q", place), struct.pack("<Q", child))
    path.write_bytes(deep[:40] + struct.pack("<Q", len(deep)) + deep[48:])
    check_that_it_ends(path)
    with pytest.raises(FitError, match="lists of names"):
        bb.read_fit(path)


def test_more_than_there_is_memory_for_is_refused(
    sound: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "fit.nc"
    path.write_bytes(sound)
    with h5py.File(path, "r+") as file:
        with_a_long_text(file)
    needed = 2 * 4 * len(LONG) * np.prod(SHAPE)
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: needed)
    with pytest.raises(NotEnoughMemoryError, match=r"texts of .*fit\.nc"):
        bb.read_fit(path)
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 1_000)
    path.write_bytes(sound)
    with pytest.raises(NotEnoughMemoryError, match=r"fit\.nc"):
        bb.read_fit(path)
    with path.open("r+b") as stream:
        stream.truncate(10**13)
    monkeypatch.undo()
    with pytest.raises(InputFileError, match="mostly of holes"):
        bb.read_fit(path)


def test_what_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    fit = made_fit(draws=20)
    fit["notes"] = xr.DataTree(xr.Dataset({"note": 1.0}))
    with pytest.raises(FitError, match="notes is not a group of a fit"):
        bb.write_fit(fit, tmp_path / "fit.nc")
    del fit["notes"]
    fit["posterior"]["sigma"].encoding = {"compression": "gzip"}
    with pytest.raises(FitError, match="sigma is not stored whole"):
        bb.write_fit(fit, tmp_path / "fit.nc")
    assert list(tmp_path.iterdir()) == []


def test_names_and_units_of_variables_are_kept_and_numbers_are_as_they_are_stored(tmp_path: Path) -> None:
    fit = made_fit(draws=20)
    fit["posterior"]["sigma"].attrs.update(units="days", long_name="sd", scale_factor=2.0)
    path = bb.write_fit(fit, tmp_path / "fit.nc")
    again = bb.read_fit(path)["posterior"]["sigma"]
    assert again.attrs["units"] == "days"
    assert again.to_numpy().tolist() == fit["posterior"]["sigma"].to_numpy().tolist()


def test_a_pipe_as_the_file_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="ordinary"):
        bb.read_fit(pipe(tmp_path))


def test_a_folder_in_place_of_a_fit_is_named_with_the_file_to_give(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"is a folder\. A fit is a file .* This folder has none\."):
        bb.read_fit(tmp_path)
    (tmp_path / "fit.nc").touch()
    with pytest.raises(InputFileError, match=r"such as fit\.nc\. Give .*fit\.nc\."):
        bb.read_fit(tmp_path)
