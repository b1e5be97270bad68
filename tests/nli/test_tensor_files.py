"""Files of arrays and facts: read by safetensors itself, and refused where they were changed."""

from pathlib import Path

import numpy as np
import pytest

from bayesbias.errors import InputFileError, NotEnoughMemoryError
from bayesbias.nli.tensor_files import read_tensors, write_tensors

pytestmark = pytest.mark.extras
ARRAYS = {"b/x": np.array([[1.5, -2.0]]), "a": np.arange(3.0)}


def test_safetensors_reads_what_was_written(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    path = tmp_path / "one"
    write_tensors(path, "model", {"name": "ü"}, ARRAYS, overwrite=False)
    arrays = load_file(path)
    assert {name: (array.dtype.name, array.tolist()) for name, array in arrays.items()} == {
        "a": ("float32", [0, 1, 2]), "b/x": ("float32", [[1.5, -2.0]])
    }  # fmt: skip
    facts, again = read_tensors(path, "model")
    assert facts == {"name": "ü"}
    assert all(np.array_equal(again[name], arrays[name]) for name in arrays)
    with pytest.raises(InputFileError, match=r"bb\.nli\.train"):
        read_tensors(path, "training")
    save_file({"a": np.arange(3, dtype=np.float32)}, path)
    with pytest.raises(InputFileError, match="one"):
        read_tensors(path, "model")


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "ab"]
    for path, facts in zip(paths, ({"x": 1, "y": 2}, {"y": 2, "x": 1}), strict=True):
        write_tensors(path, "model", facts, ARRAYS, overwrite=False)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    changed = bytearray(paths[0].read_bytes())
    changed[-1] ^= 1
    paths[0].write_bytes(changed)
    with pytest.raises(InputFileError, match="a is damaged"):
        read_tensors(paths[0], "model")


def test_arrays_that_do_not_fit_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tensors(tmp_path / "one", "model", {}, {"a": np.arange(3.0)}, overwrite=False)
    content = (tmp_path / "one").read_bytes()
    header = content[8:-12].replace(b'"shape":[3]', b'"shape":[%d]' % 10**9).replace(b"[0,12]", b"[0,%d]" % (4 * 10**9))
    with (tmp_path / "one").open("wb") as stream:
        stream.write(len(header).to_bytes(8, "little") + header)
        stream.truncate(8 + len(header) + 4 * 10**9)  # takes no room on the disk
    monkeypatch.setattr("bayesbias.base.files.inputs._LARGE", 1 << 40)  # the hole is not what is refused here
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 1_000_000)
    with pytest.raises(NotEnoughMemoryError, match="'a'"):
        read_tensors(tmp_path / "one", "model")
