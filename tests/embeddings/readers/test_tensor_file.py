"""Arrays in the layout of safetensors, as another writer and the library write them."""

import json
from pathlib import Path

import numpy as np
import pytest

from bayesbias.embeddings.readers.tensor_file import open_tensors
from bayesbias.errors import InputFileError
from tests.embeddings.readers.glove_v_files import tensor_bytes

NUMBERS = np.arange(12.0).reshape(3, 2, 2) / 4


@pytest.mark.parametrize("kind", ["F16", "F32", "F64"])
def test_arrays_and_rows(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "made.safetensors"
    path.write_bytes(tensor_bytes({"other": np.ones(5), "numbers": NUMBERS}, kind))
    stored = open_tensors(path)
    assert "numbers" in stored
    assert stored.shape("numbers") == (3, 2, 2)
    np.testing.assert_array_equal(stored.array("numbers"), NUMBERS)
    np.testing.assert_array_equal(stored.row("numbers", 2), NUMBERS[2])
    with pytest.raises(InputFileError, match="3 rows, and none at 3"):
        stored.row("numbers", 3)
    with pytest.raises(InputFileError, match="no array 'absent'"):
        stored.array("absent")


@pytest.mark.extras
def test_files_of_the_library(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "library.safetensors"
    library.save_file({"numbers": NUMBERS.astype(np.float32)}, path, metadata={"format": "np"})
    np.testing.assert_array_equal(open_tensors(path).array("numbers"), NUMBERS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cut short"),
        (b"abc", "cut short"),
        ((2**60).to_bytes(8, "little") + b"{}", "its header would have"),
        ((2).to_bytes(8, "little") + b"{]", "no JSON"),
        ((2).to_bytes(8, "little") + b"[]", "no names of arrays"),
        ((50_000).to_bytes(8, "little") + b"[" * 50_000, "no JSON"),
        ((13).to_bytes(8, "little") + b'{"a":1,"a":2}', "'a' occurs twice"),
    ],
)
def test_damaged_headers_are_named(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputFileError, match=message):
        open_tensors(path)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (5, "described by 5"),
        ({"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}, "must be one of F64, F32, F16"),
        ({"dtype": ["F32"], "shape": [1], "data_offsets": [0, 4]}, "must be one of"),
        ({"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}, "must be one of"),
        ({"dtype": "F32", "shape": [True], "data_offsets": [0, 4]}, "must be one of"),
        ({"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}, "does not fit"),
        ({"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 2**61]}, "does not fit"),
        ({"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}, "cut short"),
    ],
)
def test_entries_that_lie_are_named(entry: object, message: str, tmp_path: Path) -> None:
    header = json.dumps({"numbers": entry}).encode()
    path = tmp_path / "lies.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(InputFileError, match=message):
        open_tensors(path).array("numbers")
