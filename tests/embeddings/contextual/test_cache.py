"""The cache of computed vectors: what is stored comes back, and what was changed is an error."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesbias.embeddings.contextual.cache import WordVectors, cache_folder, cache_key, read_vectors, write_vectors
from bayesbias.errors import BayesBiasError, InputFileError, OutputError

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
    "change",
    [
        *({"mean": np.zeros(shape, dtype=np.float32)} for shape in (3, (2, 4), ())),
        *({"mean": mean} for mean in (np.zeros(4), "a", ["a"] * 4)),
        {"mean": np.full(4, np.nan, dtype=np.float32)},
        {"mean": np.zeros(0, dtype=np.float32), "deviations": np.zeros((3, 0), dtype=np.float32)},
        *({"deviations": np.zeros(shape, dtype=np.float32)} for shape in ((3, 5), (4,), (1, 3, 4), ())),
        *({"deviations": deviations} for deviations in (np.zeros((3, 4)), "a", [["a"] * 4])),
        {"deviations": np.full((3, 4), np.inf, dtype=np.float32)},
        *({"counts": counts} for counts in (3, "a", [3], [3, 7, 1], [[3, 7]], [3.0, 7.0], ["3", "7"], [0, 7], [3, -7])),
        *({"key": key} for key in (0, ["one"], b"one", np.datetime64("2020-01-01"))),
        *({name: None} for name in ("mean", "deviations", "counts", "key")),
    ],
)
def test_arrays_other_than_those_that_are_stored_are_errors(tmp_path: Path, change: dict[str, Any]) -> None:
    write_vectors(tmp_path, "one", VECTORS)
    with np.load(tmp_path / "one.npz") as arrays:
        stored = dict(arrays) | change
    np.savez(tmp_path / "one.npz", allow_pickle=False, **{k: v for k, v in stored.items() if v is not None})
    with pytest.raises(InputFileError, match=r"one\.npz"):
        read_vectors(tmp_path, "one")


def test_objects_in_the_cache_are_errors(tmp_path: Path) -> None:
    np.savez(tmp_path / "one.npz", allow_pickle=True, mean=np.array([{}]), deviations=1, counts=2, key="one")
    with pytest.raises(BayesBiasError, match=r"one\.npz"):
        read_vectors(tmp_path, "one")


def test_a_folder_is_not_made_through_a_link_that_others_may_have_put_there(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "link").symlink_to("private")
    tmp_path.chmod(0o1777)
    with pytest.raises(OutputError, match="is a link"):
        cache_folder(tmp_path / "link" / "cache")
    assert list((tmp_path / "private").iterdir()) == []
