"""Hostile files of fits: what HDF5 can do and no fit does is refused at once, by the function and by the command."""

import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import FitError, InputFileError, NotEnoughMemoryError
from tests.cli.running import in_process
from tests.reports.made import made_fit

SHAPE = (4, 20)
LONG = "x" * 100_000

Attack = Callable[[h5py.File, Path], None]


@pytest.fixture(scope="module")
def sound() -> bytes:
    return bytes(made_fit(draws=SHAPE[1]).to_netcdf(engine="h5netcdf"))


def check_that_it_ends(path: Path) -> None:
    """Summarize a fit in a process of its own, which is stopped where HDF5 would hang this one."""
    command = [sys.executable, "-m", "bayesbias", "summary", str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: ")


def draws_named(file: h5py.File, name: str, **stored: object) -> h5py.Dataset:
    """Return a new variable of the posterior, of any type and storage, with the posterior's own dimensions."""
    posterior = file["posterior"]
    variable = posterior.create_dataset(name, **{"shape": SHAPE, "dtype": "f8", **stored})
    for axis, dim in enumerate(("chain", "draw")[: variable.ndim]):
        variable.dims[axis].attach_scale(posterior[dim])
    return variable


def private_numbers(folder: Path) -> Path:
    path = folder / "private"
    path.write_bytes(np.linspace(0, 1, np.prod(SHAPE)).tobytes())
    return path


def pipe(folder: Path) -> Path:
    path = folder / "pipe"
    os.mkfifo(path)
    return path


def external(file: h5py.File, folder: Path) -> None:
    draws_named(file, "taken", external=[(str(private_numbers(folder)), 0, h5py.h5f.UNLIMITED)])


def external_pipe(file: h5py.File, folder: Path) -> None:
    draws_named(file, "taken", external=[(str(pipe(folder)), 0, h5py.h5f.UNLIMITED)])


def virtual(file: h5py.File, folder: Path) -> None:
    with h5py.File(folder / "other.h5", "w") as other:
        other["numbers"] = np.ones(SHAPE)
    layout = h5py.VirtualLayout(SHAPE, "f8")
    layout[...] = h5py.VirtualSource(folder / "other.h5", "numbers", SHAPE)
    variable = file["posterior"].create_virtual_dataset("taken", layout)
    for axis, dim in enumerate(("chain", "draw")):
        variable.dims[axis].attach_scale(file["posterior"][dim])


def linked_file(file: h5py.File, folder: Path) -> None:
    with h5py.File(folder / "other.h5", "w") as other:
        other["numbers"] = np.ones(SHAPE)
    file["posterior/taken"] = h5py.ExternalLink(str(folder / "other.h5"), "/numbers")


def soft_link(file: h5py.File, folder: Path) -> None:
    file["posterior/other"] = h5py.SoftLink("/posterior/chain")


def hard_link(file: h5py.File, folder: Path) -> None:
    file["posterior/other"] = file["posterior/sigma"]


def group_in_itself(file: h5py.File, folder: Path) -> None:
    file["prior"] = file["/"]


def nested_groups(file: h5py.File, folder: Path) -> None:
    group = file.create_group("prior", track_order=True)
    for _ in range(16):
        deeper = group.create_group("a")
        group["b"] = deeper
        group = deeper


def other_group(file: h5py.File, folder: Path) -> None:
    file.create_group("notes")


def variable_at_the_top(file: h5py.File, folder: Path) -> None:
    file["prior"] = np.ones(3)


def named_type(file: h5py.File, folder: Path) -> None:
    file["posterior/type"] = np.dtype("f8")


def reference(file: h5py.File, folder: Path) -> None:
    file.attrs["other"] = file["posterior"].ref


def region(file: h5py.File, folder: Path) -> None:
    file["posterior"].attrs["other"] = file["posterior/sigma"].regionref[:1]


def references(file: h5py.File, folder: Path) -> None:
    draws_named(file, "others", dtype=h5py.ref_dtype)[0, 0] = file["posterior"].ref


def false_dimension_list(file: h5py.File, folder: Path) -> None:
    file["posterior"].attrs["DIMENSION_LIST"] = file["posterior"].ref


def compound(file: h5py.File, folder: Path) -> None:
    draws_named(file, "pairs", dtype=[("a", "f8"), ("b", "f8")])[...] = 0


def lists_of_any_length(file: h5py.File, folder: Path) -> None:
    draws_named(file, "lists", dtype=h5py.vlen_dtype("f8"))[0, 0] = np.ones(4)


def long_numbers(file: h5py.File, folder: Path) -> None:
    draws_named(file, "long", dtype=np.longdouble)[...] = 0


def nothing_attribute(file: h5py.File, folder: Path) -> None:
    draws_named(file, "nothing", shape=None, dtype="f8", data=h5py.Empty("f8"))


def declared(file: h5py.File, folder: Path) -> None:
    draws_named(file, "huge", shape=(*SHAPE, 10**13))


def compressed(file: h5py.File, folder: Path) -> None:
    draws_named(file, "huge", shape=(*SHAPE, 10**6), chunks=True, compression="gzip", fillvalue=0)


def other_dimension(file: h5py.File, folder: Path) -> None:
    variable = file["posterior"].create_dataset("other", data=np.ones(SHAPE[1]))
    variable.dims[0].attach_scale(file["constant_data/pair"])


def without_dimensions(file: h5py.File, folder: Path) -> None:
    file["posterior"].create_dataset("other", data=np.ones(SHAPE))


def scale_of_two_axes(file: h5py.File, folder: Path) -> None:
    file["posterior"].create_dataset("other", data=np.ones(SHAPE)).make_scale("other")


def many_texts(file: h5py.File, folder: Path) -> None:
    file["posterior"].attrs["texts"] = ["x"] * 1_000


def foreign(file: h5py.File, folder: Path) -> None:
    for name in list(file):
        del file[name]
    file["numbers"] = np.ones(3)


ATTACKS: dict[Attack, str] = {
    external: "posterior/taken is not stored whole",
    external_pipe: "posterior/taken is not stored whole",
    virtual: "posterior/taken is not stored whole",
    linked_file: "posterior/taken is a link",
    soft_link: "posterior/other is a link",
    hard_link: "posterior/.* is a second name",
    group_in_itself: "second name",
    nested_groups: "prior/b is a second name",
    other_group: "notes is not a group",
    variable_at_the_top: "prior is not a group",
    named_type: "posterior/type is not a variable",
    reference: "attribute other of the file holds something other",
    region: "attribute other of the group posterior holds something other",
    references: "posterior/others holds something other",
    false_dimension_list: "attribute DIMENSION_LIST of the group posterior holds something other",
    compound: "posterior/pairs holds something other",
    lists_of_any_length: "posterior/lists holds something other",
    long_numbers: "posterior/long holds something other",
    nothing_attribute: "posterior/nothing is empty",
    declared: "posterior/huge has no numbers",
    compressed: "posterior/huge is not stored whole",
    other_dimension: "posterior/other does not have a dimension of its group on axis 0",
    without_dimensions: "posterior/other does not have a dimension of its group on axis 0",
    scale_of_two_axes: "posterior/other is not the list of labels",
    many_texts: "attribute texts of the group posterior has more than 100 texts",
    foreign: "numbers is not a group",
}


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


def test_one_long_text_that_is_stored_once_and_used_often_is_refused(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "fit.nc"
    path.write_bytes(sound)
    with h5py.File(path, "r+") as file:
        texts = draws_named(file, "texts", dtype=h5py.string_dtype())
        texts[...] = "x"
        texts[0, 0] = LONG
        offset, size = texts.id.get_offset(), texts.id.get_storage_size()
    content = bytearray(path.read_bytes())
    content[offset : offset + size] = bytes(content[offset : offset + 16]) * (size // 16)
    path.write_bytes(content)
    with pytest.raises(FitError, match="declares more"):
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
        texts = draws_named(file, "texts", dtype=h5py.string_dtype())
        texts[...] = "x"
        texts[0, 0] = LONG
    needed = 2 * 4 * len(LONG) * np.prod(SHAPE)
    monkeypatch.setattr("bayesbias.base.machine.memory.free_memory", lambda: needed)
    with pytest.raises(NotEnoughMemoryError, match=r"texts of .*fit\.nc"):
        bb.read_fit(path)
    monkeypatch.setattr("bayesbias.base.machine.memory.free_memory", lambda: 1_000)
    path.write_bytes(sound)
    with pytest.raises(NotEnoughMemoryError, match=r"fit\.nc"):
        bb.read_fit(path)
    with path.open("r+b") as stream:
        stream.truncate(10**13)  # a sparse file
    monkeypatch.undo()
    with pytest.raises(NotEnoughMemoryError, match=r"10,000"):
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
