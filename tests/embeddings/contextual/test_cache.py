"""The cache of computed vectors: what is stored comes back, and what was changed is an error."""

from pathlib import Path

import numpy as np
import pytest

from bayesbias.embeddings.contextual.cache import WordVectors, cache_folder, cache_key, read_vectors, write_vectors
from bayesbias.errors import BayesBiasError, InputFileError

VECTORS = WordVectors(
    mean=np.arange(4, dtype=np.float32), deviations=np.eye(4, dtype=np.float32)[:3] / 3, contexts=3, pieces=7
)


def test_what_is_stored_comes_back_under_its_key_alone(tmp_path: Path) -> None:
    key = cache_key("model", "cat", 3)
    assert read_vectors(tmp_path, key) is None
    write_vectors(tmp_path, key, VECTORS)
    stored = read_vectors(tmp_path, key)
    assert stored is not None
    assert stored.mean.tolist() == VECTORS.mean.tolist()
    assert stored.deviations.tolist() == VECTORS.deviations.tolist()
    assert (stored.contexts, stored.pieces, stored.mean.dtype) == (3, 7, np.float32)
    assert read_vectors(tmp_path, cache_key("model", "dog", 3)) is None
    assert [path.name for path in tmp_path.iterdir()] == [f"{key}.npz"]


def test_keys_differ_where_parts_differ() -> None:
    parts = [("ab", "c"), ("a", "bc"), ("abc",), ("ab", "c", ""), ("ab", b"c"), (1, "1"), ("1", 1), (11,), (1, 1)]
    assert len({cache_key(*part) for part in parts}) == len(parts)
    assert cache_key("ab", "c") == cache_key("ab", "c")


def test_without_a_folder_nothing_is_stored(tmp_path: Path) -> None:
    assert cache_folder(None) is None
    write_vectors(None, "key", VECTORS)
    assert read_vectors(None, "key") is None


def test_a_folder_is_made_and_a_file_is_none(tmp_path: Path) -> None:
    folder = cache_folder(tmp_path / "new" / "cache")
    assert folder is not None
    assert folder.is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(InputFileError, match=r"cache: .*file"):
        cache_folder(tmp_path / "file")


def test_a_file_of_another_key_and_every_truncation_are_errors(tmp_path: Path) -> None:
    write_vectors(tmp_path, "one", VECTORS)
    content = (tmp_path / "one.npz").read_bytes()
    (tmp_path / "two.npz").write_bytes(content)
    with pytest.raises(InputFileError, match=r"two\.npz"):
        read_vectors(tmp_path, "two")
    for end in range(0, len(content), 13):
        (tmp_path / "one.npz").write_bytes(content[:end])
        with pytest.raises(BayesBiasError, match=r"one\.npz"):
            read_vectors(tmp_path, "one")


@pytest.mark.parametrize(
    "change", [{"mean": np.zeros(3)}, {"mean": np.zeros((2, 4))}, {"deviations": np.zeros((3, 5))}]
)
def test_vectors_whose_shapes_do_not_fit_are_errors(tmp_path: Path, change: dict[str, np.ndarray]) -> None:
    write_vectors(tmp_path, "one", VECTORS)
    with np.load(tmp_path / "one.npz") as arrays:
        stored = dict(arrays)
    np.savez(tmp_path / "one.npz", allow_pickle=False, **stored | change)
    with pytest.raises(InputFileError, match=r"one\.npz"):
        read_vectors(tmp_path, "one")


@pytest.mark.parametrize("name", ["mean", "deviations", "counts", "key"])
@pytest.mark.parametrize("array", [np.float32(1), np.array("text"), np.array([[["a"]]]), np.array([1, 2, 3])], ids=str)
def test_other_arrays_in_a_file_are_our_error(name: str, array: np.ndarray, tmp_path: Path) -> None:
    write_vectors(tmp_path, "key", VECTORS)
    with np.load(tmp_path / "key.npz") as stored:
        changed = {**stored, name: array}
    np.savez(tmp_path / "key.npz", **changed)
    with pytest.raises(InputFileError, match=r"key\.npz"):
        read_vectors(tmp_path, "key")
