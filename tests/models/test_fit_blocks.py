"""Numbers in the structure of HDF5 that make the library crash or fill the memory, under checksums that are right."""

from pathlib import Path

import h5py
import pytest

import bayesbias as bb
from bayesbias.errors import FitError
from bayesbias.models.fit_blocks import check_lengths
from tests.fuzz.places import block_with, with_number
from tests.fuzz.storages import whole_fit


@pytest.mark.parametrize(
    ("part", "further", "number", "size", "fault"),
    [
        (b"BTHD", 6, 0, 2, "lists of names"),  # bytes of an entry, by which HDF5 divides
        (b"BTHD", 2, 2**31, 4, "lists of names"),  # bytes of a node, which HDF5 takes
        (b"BTHD", 8, 2, 2, "lists of names"),  # levels
        (b"BTHD", 20, 200, 2, "lists of names"),  # entries of the root
        (b"BTLF\0\x08", 8, 2, 1, "lists of names"),  # an attribute that is shared with another variable
        (b"FRHP", 106, 0, 2, "heaps of names"),  # width of a heap
        (b"FRHP", 136, 200, 2, "heaps of names"),  # rows
        (b"DIMENSION_LIST\0\0", 1, 13, 1, "longer than the file"),  # neither a list nor a text
        (b"creation_library_version\0\0\0\0\0\0\0\0", 12, 2**31, 4, "longer than the file"),  # bytes of a letter
        # The bias of the exponents of numbers, and the bytes of a letter of a variable.
        (b"\3\x14\0\1\0\0\x11 ?\0\x08\0\0\0\0\0@\0\x34\x0b\0\x34", 0, 5_163, 4, "numbers or texts"),
        (b"\3\x14\0\1\0\0\x19\1\1\0\x10\0\0\0\x10\0\0\0", 0, 2**31, 4, "texts in a form"),
    ],
)
def test_numbers_that_make_hdf5_crash_are_refused(
    tmp_path: Path, part: bytes, further: int, number: int, size: int, fault: str
) -> None:
    path = tmp_path / "fit.nc"
    block, end = block_with(part)
    path.write_bytes(with_number(whole_fit(), block, end + further, number, size))
    with pytest.raises(FitError, match=fault):
        bb.read_fit(path)


def test_a_list_that_is_longer_than_the_file_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "fit.nc"
    name = b"DIMENSION_LIST\0\0"
    block, end = block_with(name)
    content = whole_fit()
    kind_size, space_size = (int.from_bytes(content[end - len(name) - size :][:2], "little") for size in (4, 2))
    path.write_bytes(with_number(content, block, end + kind_size + space_size, 2**31, 4))
    with pytest.raises(FitError, match="DIMENSION_LIST is longer"):
        bb.read_fit(path)


@pytest.mark.parametrize("before", [1, 2, 3])
def test_a_byte_before_an_attribute_may_look_like_another_version(before: int) -> None:
    name = b"versions"
    content = whole_fit()
    start = content.index(name + b"\0") - 9  # before the head of version 1, which netCDF writes
    check_lengths(name, content[:start] + bytes([before]) + content[start + 1 :])


@pytest.mark.parametrize("count", [1, 9, 30, 300])
def test_many_names_are_read(tmp_path: Path, count: int) -> None:
    import xarray as xr

    from tests.reports.made import made_fit

    fit = made_fit(draws=2)
    posterior = fit["posterior"].to_dataset()
    posterior.attrs |= {f"fact {number}": "x" for number in range(count)}
    fit["posterior"] = xr.DataTree(posterior)
    path = bb.write_fit(fit, tmp_path / "fit.nc")
    assert len(bb.read_fit(path)["posterior"].attrs) >= count


def test_texts_of_a_variable_that_are_longer_than_the_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "fit.nc"
    path.write_bytes(whole_fit())
    with h5py.File(path) as file:
        start = file["constant_data/attribute_word"].id.get_offset()
    content = bytearray(path.read_bytes())
    content[start : start + 4] = (2**20).to_bytes(4, "little")  # the length of the first text
    path.write_bytes(content)
    with pytest.raises(FitError, match="attribute_word is longer than the file"):
        bb.read_fit(path)
