"""Arrays of .npz files: headers are checked before numbers are read, by every reader of such files."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bayesbias.base import machine as memory
from bayesbias.base.files.stored_arrays import StoredArray, arrays_of, read_arrays
from bayesbias.errors import InputFileError, NotEnoughMemoryError
from tests.base.files.bombs import DIMENSIONS, READERS, with_header

EXPECTED = {"texts": ("U", 1), "numbers": ("fiu", 2), "flag": ("b", 0), "name": ("U", 0)}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_those_of_numpy(save: Callable[..., None], order: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    stored: dict[str, NDArray[Any]] = {
        "texts": np.array(["he", "naïve", ""]),
        "numbers": np.asarray(np.random.default_rng(1).normal(size=(300, 1000)), dtype=">f8", order=order),
        "flag": np.asarray(True),
        "name": np.asarray("x"),
    }
    save(path, **stored, other=np.ones(3))
    read = read_arrays(path, {**EXPECTED, "absent": ("f", 1)})
    assert read.keys() == stored.keys()
    for name, array in stored.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == array.dtype
        assert read[name].flags.writeable
    save(path, texts=np.empty((0,), dtype="U0"))
    assert read_arrays(path, EXPECTED)["texts"].tolist() == []


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(3), r"'texts' .* float64 .* \(3,\).* texts of 1 dimension\b"),
        (np.array([["a"]]), r"\(1, 1\)"),
        (np.array(["a", None]), "Python objects"),
        (np.zeros(2, dtype=[("a", "f4")]), "texts of 1 dimension"),
    ],
)
def test_other_types_and_shapes_are_refused(array: NDArray[Any], message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", texts=array)
    with pytest.raises(InputFileError, match=message):
        read_arrays(tmp_path / "a.npz", EXPECTED)


@pytest.mark.parametrize(
    ("shape", "dtype", "content", "error"),
    [
        ((10**12,), "<U5", b"", InputFileError),
        ((-1,), "<U5", b"", InputFileError),
        ((10**12,), "<U0", b"", NotEnoughMemoryError),  # no bytes, and a list of so many texts
        ((3,), "<U5", bytes(61), InputFileError),
    ],
)
def test_a_header_that_is_wrong_takes_no_memory(
    shape: tuple[int, ...], dtype: str, content: bytes, error: type[Exception], tmp_path: Path
) -> None:
    with_header(tmp_path / "a.npz", shape, dtype, content)
    with pytest.raises(error, match=r"texts|arrays"):
        read_arrays(tmp_path / "a.npz", EXPECTED)


def test_a_size_that_the_zip_file_lies_about_ends_in_our_error(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, texts=np.array(["abc"] * 1000))
    content = path.read_bytes()
    size = 12_000 + 128
    for lie in (size - 4, size + 4):
        path.write_bytes(content.replace(size.to_bytes(4, "little"), lie.to_bytes(4, "little")))
        with pytest.raises(InputFileError):
            read_arrays(path, EXPECTED)


@pytest.mark.parametrize("name", READERS)
def test_every_reader_checks_the_memory_of_an_array_before_it_reads_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dtype, read = READERS[name]
    path, size = tmp_path / "a_seed1.npz", np.dtype(dtype).itemsize
    shape = ((36_000_000 // size,) + (1,) * 2)[: DIMENSIONS.get(name, 1)]
    with_header(path, shape, dtype, bytes(36_000_000), name)
    np_bytes = io.BytesIO()
    np.save(np_bytes, np.eye(1))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("vectors.npy", np_bytes.getvalue())
    monkeypatch.setattr(memory, "free_memory", lambda: 30_000_000)
    read_numbers = StoredArray._numbers

    def few(array: StoredArray, count: int) -> NDArray[Any]:
        assert count * array.dtype.itemsize < 100
        return read_numbers(array, count)

    monkeypatch.setattr(StoredArray, "_numbers", few)
    with pytest.raises(NotEnoughMemoryError, match=rf"^{path}: .* need .* GB"):
        read(path)


@pytest.mark.parametrize("order", "<>")
def test_numbers_that_are_no_letters_are_damage(order: str, tmp_path: Path) -> None:
    """Python makes no text of them, wherever the array is used."""
    largest = np.array([ord("a"), 0x10FFFF], dtype=f"{order}u4")
    np.savez(tmp_path / "a.npz", texts=largest.view(f"{order}U1"))
    assert read_arrays(tmp_path / "a.npz", EXPECTED)["texts"].tolist() == ["a", "\U0010ffff"]
    np.savez(tmp_path / "a.npz", texts=(largest + np.array([0, 1], dtype="u4")).astype(f"{order}u4").view(f"{order}U1"))
    with pytest.raises(InputFileError, match="'texts' holds a text with the letter 0x110000"):
        read_arrays(tmp_path / "a.npz", EXPECTED)


def test_arrays_of_a_stream(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.savez(stream, numbers=np.eye(2))
    assert arrays_of(stream, tmp_path, EXPECTED)["numbers"].tolist() == [[1.0, 0.0], [0.0, 1.0]]
