"""NumPy archives: shapes, types, pickles and damage."""

import io
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import BayesBiasError, EmbeddingError, InputFileError, NotEnoughMemoryError
from tests.embeddings.files import VECTORS, WORDS, write_compressed_npz, write_npz


def save(tmp_path, **arrays):
    np.savez(tmp_path / "x.npz", **arrays)
    return tmp_path / "x.npz"


@pytest.mark.parametrize("dtype", ["f8", "f2", "i4", ">f4", ">f8"])
def test_other_numbers(tmp_path, dtype):
    vectors = (VECTORS * 8).astype(dtype)
    vectors[:, 0] = 1
    embedding = load_embedding(save(tmp_path, words=np.array(WORDS), vectors=vectors))
    np.testing.assert_array_equal(embedding.vectors, vectors)
    assert embedding.vectors.dtype == (np.float64 if dtype[-1] == "8" else np.float32)


@pytest.mark.parametrize("order", ["C", "F"])
def test_several_blocks(tmp_path, monkeypatch, order):
    monkeypatch.setattr("bayesbias.base.files.stored_arrays._BLOCK_BYTES", 100)
    vectors = np.random.default_rng(1).standard_normal((50, 6)).astype(np.float32, order=order)
    path = save(tmp_path, words=np.array([f"w{number}" for number in range(50)]), vectors=vectors)
    np.testing.assert_array_equal(load_embedding(path).vectors, vectors)
    few = load_embedding(path, words=["w3", "w49"])
    np.testing.assert_array_equal(few.vectors, vectors[[3, 49]])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"words": np.array(WORDS, dtype=object), "vectors": VECTORS},
            r"'words' .* Python objects.* pickle",
        ),
        ({"words": np.array(WORDS), "vectors": VECTORS.astype(object)}, r"'vectors' .* Python"),
        ({"words": np.array(WORDS)}, "'vectors'"),
        (
            {"word": np.array(WORDS), "vectors": VECTORS},
            r"'words' \(did you mean 'word'\?\)",
        ),
        ({"words": np.array(WORDS), "vectors": VECTORS[:3]}, r"5 words .* 3 vectors"),
        ({"words": np.array(WORDS)[:0], "vectors": VECTORS[:0]}, "word"),
        ({"words": np.array(WORDS).reshape(5, 1), "vectors": VECTORS}, "one dimension"),
        ({"words": np.arange(5), "vectors": VECTORS}, r"'words' .* type int64"),
        (
            {"words": np.array([word.encode() for word in WORDS]), "vectors": VECTORS},
            r"'words' .* \|S",
        ),
        ({"words": np.array(WORDS), "vectors": VECTORS[0]}, r"'vectors' .* type float32"),
        ({"words": np.array(WORDS), "vectors": VECTORS * 1j}, r"'vectors' .* complex"),
        ({"words": np.array(WORDS), "vectors": VECTORS[:, :0]}, "'vectors'"),
        (
            {"words": np.array(["a", "b", "a", "c", "d"]), "vectors": VECTORS},
            r"'a' .* row 1 .* row 3",
        ),
    ],
)
def test_arrays_that_do_not_do(tmp_path, arrays, message):
    with pytest.raises(EmbeddingError, match=message):
        load_embedding(save(tmp_path, **arrays), allow_pickle=True)


@pytest.mark.parametrize("write", [write_npz, write_compressed_npz])
def test_a_cut_at_any_byte_is_an_error(tmp_path, write):
    write(tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    path = tmp_path / "x.npz"
    for end in range(len(content)):
        path.write_bytes(content[:end])
        for form in ("auto", "npz"):
            with pytest.raises(BayesBiasError, match=r"x\.npz"):
                load_embedding(path, format=form)


def test_no_zip_file(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(InputFileError, match=r"\.npz .* zip"):
        load_embedding(tmp_path / "x.npz")


def array(header: str, data: bytes = b"", version: int = 1) -> bytes:
    raw = header.encode()
    return b"\x93NUMPY" + bytes([version, 0]) + len(raw).to_bytes(2 if version == 1 else 4, "little") + raw + data


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (
            array("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 1000000000)}"),
            r"20000000000 bytes .* 0",
        ),
        (
            array("{'descr': '<f4', 'fortran_order': True, 'shape': (5, 99999999999999999999)}"),
            "0",
        ),
        (array("{'descr': '<f4', 'fortran_order': False, 'shape': (-5, -1)}", b"0" * 20), "damaged"),
        (array("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 1.0)}", b"0" * 20), "damaged"),
        (
            array("{'descr': 'nonsense', 'fortran_order': False, 'shape': (5, 1)}", b"0" * 20),
            r"header .* damaged",
        ),
        (array("{'descr': '<f4'"), r"header .* vectors.npy .* damaged"),
        (array("[]"), r"header .* vectors.npy .* damaged"),
        (array("(" * 5000), r"header .* vectors.npy .* damaged"),
        (array("-" * 9000 + "1"), r"header .* vectors.npy .* damaged"),
        (array(" " * 20_000, version=2), r"header .* 20000 bytes"),
        (b"\x93NUMPY\1", "NumPy"),
        (b"", "NumPy"),
        (b"nothing like it", "NumPy"),
    ],
)
def test_array_headers_that_lie(tmp_path, vectors, message):
    words = io.BytesIO()
    np.save(words, np.array(WORDS))
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("words.npy", words.getvalue())
        archive.writestr("vectors.npy", vectors)
    with pytest.raises(InputFileError, match=message):
        load_embedding(tmp_path / "x.npz")


def test_arrays_in_a_folder_of_the_archive_do_not_count(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("a/words.npy", b"")
    with pytest.raises(EmbeddingError, match=r"'words'.*; .* a/words"):
        load_embedding(tmp_path / "x.npz")


def test_newer_array_headers_are_read(tmp_path):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 4)}"
    words = io.BytesIO()
    np.save(words, np.array(WORDS))
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("words.npy", words.getvalue())
        archive.writestr("vectors.npy", array(header, VECTORS.tobytes(), version=2))
    np.testing.assert_array_equal(load_embedding(tmp_path / "x.npz").vectors, VECTORS)


def test_one_word_of_columns_takes_the_memory_of_a_column(tmp_path: Path) -> None:
    """An array in Fortran order is read column by column, and not whole: 24 MB here."""
    rows, path = 100_000, tmp_path / "columns.npz"
    vectors = np.arange(rows * 60, dtype=np.float32).reshape(rows, 60) + 1
    np.savez(path, words=np.array([f"w{row}" for row in range(rows)]), vectors=np.asfortranarray(vectors))
    tracemalloc.start()
    read = load_embedding(path, words=["w77777", "w5"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(read.matrix(["w77777", "w5"]), vectors[[77777, 5]])
    assert peak < 12e6


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_with_two_arrays_of_a_name_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, words=np.array(["he"]), vectors=np.ones((1, 2)))
    with zipfile.ZipFile(path) as archive:
        content = archive.read("vectors.npy")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("vectors.npy", content)
    with pytest.raises(EmbeddingError, match=r"2 .* 'vectors'"):
        load_embedding(path)


@pytest.mark.parametrize("words", [None, ["he"]])
def test_long_words_and_columns_are_counted(tmp_path, monkeypatch, words):
    long = np.array(["x" * 100_000] * 100)
    path = tmp_path / "x.npz"
    np.savez_compressed(path, words=long, vectors=np.ones((100, 2), dtype=np.float32))
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 5_000_000)
    if words is None:
        with pytest.raises(NotEnoughMemoryError, match=r"x\.npz: its rows"):
            load_embedding(path)
    np.savez_compressed(path, words=np.zeros(2, dtype="U3000000"), vectors=np.ones((2, 2), dtype=np.float32))
    with pytest.raises(NotEnoughMemoryError, match=r"x\.npz: its rows"):  # one word alone does not fit
        load_embedding(path, words=words)
