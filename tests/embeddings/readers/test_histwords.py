"""HistWords' files: a NumPy array of vectors, and a pickled list of words that is never unpickled."""

import pickle
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.readers.histwords import read_vocabulary_pickle
from bayesbias.errors import EmbeddingError, InputFileError

WORDS = ["king", "naïve", "queen", "queen's", "ox" * 200]
VECTORS = np.array([[1, 2], [0, 0], [3, -1], [0.5, 0], [2, 2]], dtype=np.float32)


def write_period(folder: Path, content: bytes, vectors: np.ndarray = VECTORS, name: str = "1990") -> Path:
    (folder / f"{name}-vocab.pkl").write_bytes(content)
    np.save(folder / f"{name}-w.npy", vectors)
    return folder / f"{name}-w.npy"


class Hostile:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return subprocess.run, (["touch", "made-by-a-pickle"],)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_gives_the_words_that_python_wrote(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "1990-vocab.pkl"
    words = [*WORDS, WORDS[0]]
    path.write_bytes(pickle.dumps(words, protocol))
    assert read_vocabulary_pickle(path) == words == pickle.loads(path.read_bytes())


def test_strings_of_python_2_are_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "1990-vocab.pkl"
    # pickle.dumps(["na\xc3\xafve", "king"], 2) of Python 2.7.
    path.write_bytes(b"\x80\x02]q\x00(U\x06na\xc3\xafveq\x01U\x04kingq\x02e.")
    assert read_vocabulary_pickle(path) == ["naïve", "king"]


def test_words_with_the_vector_0_are_lacking(tmp_path: Path) -> None:
    path = write_period(tmp_path, pickle.dumps(WORDS, 2))
    embedding = bb.load_embedding(path)
    assert list(embedding.words) == [word for word in WORDS if word != "naïve"]
    np.testing.assert_array_equal(embedding["queen"], VECTORS[2])
    assert list(bb.load_embedding(path, words=["queen", "naïve"]).words) == ["queen"]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (pickle.dumps(Hostile(), 2), EmbeddingError),
        (pickle.dumps([Hostile()], 4), EmbeddingError),
        (pickle.dumps({"king": 1}), EmbeddingError),
        (pickle.dumps(["king", 5]), EmbeddingError),
        (pickle.dumps([["king"]]), EmbeddingError),
        (pickle.dumps("king"), EmbeddingError),
        (pickle.dumps([]), EmbeddingError),
        (b"cos\nsystem\n(S'true'\ntR.", EmbeddingError),
        (pickle.dumps(WORDS)[:-10], InputFileError),
        (b"\x80\x02]q\x00(U\x02\xff\xfee.", InputFileError),
        (b"]]a.", EmbeddingError),
        (b"]h\x05a.", InputFileError),
        (b"e.", InputFileError),
        (b"not a pickle", InputFileError),
    ],
)
def test_anything_else_is_refused_and_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, error: type[Exception]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write_period(tmp_path, content)
    with pytest.raises(error, match=r"1990-vocab\.pkl"):
        bb.load_embedding(path)
    assert not (tmp_path / "made-by-a-pickle").exists()


@pytest.mark.parametrize("vectors", [VECTORS[:3], VECTORS[0], VECTORS.astype("U4")])
def test_vectors_that_do_not_fit_are_refused(tmp_path: Path, vectors: np.ndarray) -> None:
    with pytest.raises(EmbeddingError, match=r"1990-w\.npy"):
        bb.load_embedding(write_period(tmp_path, pickle.dumps(WORDS), vectors))


def test_damaged_vectors_are_refused(tmp_path: Path) -> None:
    path = write_period(tmp_path, pickle.dumps(WORDS))
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(InputFileError, match=r"1990-w\.npy"):
        bb.load_embedding(path)
    path.write_bytes(pickle.dumps(Hostile()))
    with pytest.raises(EmbeddingError):
        bb.load_embedding(path)
    np.save(path, np.array([Hostile()], dtype=object), allow_pickle=True)
    with pytest.raises(InputFileError, match=r"1990-w\.npy"):
        bb.load_embedding(path)


def test_a_lonely_array_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "vectors.npy", VECTORS)
    with pytest.raises(EmbeddingError, match=r"vectors\.npy"):
        bb.load_embedding(tmp_path / "vectors.npy")
    np.save(tmp_path / "1990-w.npy", VECTORS)
    with pytest.raises(InputFileError, match=r"1990-vocab\.pkl"):
        bb.load_embedding(tmp_path / "1990-w.npy")


def test_arrays_of_python_2_are_read_without_a_warning(tmp_path: Path) -> None:
    path = write_period(tmp_path, pickle.dumps(WORDS, 2))
    # Python 2 wrote its long integers with an L.
    whole = path.read_bytes()
    assert b"'shape': (5, 2), }  " in whole
    path.write_bytes(whole.replace(b"'shape': (5, 2), }  ", b"'shape': (5L, 2L), }"))
    np.testing.assert_array_equal(bb.load_embedding(path)["king"], VECTORS[0])


def test_a_zip_file_by_that_name_is_refused(tmp_path: Path) -> None:
    path = write_period(tmp_path, pickle.dumps(WORDS, 2))
    with path.open("wb") as stream:
        np.savez(stream, words=np.array(WORDS), vectors=VECTORS)
    with pytest.raises(InputFileError, match=r"1990-w\.npy"):
        bb.load_embedding(path, format="histwords")


@pytest.mark.parametrize(
    "content",
    [
        b"(" * 250_000 + b"]" + b"(e" * 375_000 + b".",  # many marks below
        b"]" * 250_000 + b"(e" * 375_000 + b".",  # many lists below
    ],
)
def test_a_pickle_takes_linear_time(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "1990-vocab.pkl").write_bytes(b"\x80\x02" + content)
    start = time.monotonic()
    with pytest.raises(EmbeddingError, match="no vocabulary"):
        read_vocabulary_pickle(tmp_path / "1990-vocab.pkl")
    assert time.monotonic() - start < 10  # with a search in the whole stack, half an hour


def test_a_long_word_that_is_repeated_by_its_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "1990-vocab.pkl"
    word = "ä" * 10_001
    path.write_bytes(pickle.dumps([word] * 1000, 2))
    with pytest.raises(EmbeddingError, match=r"a word of 10,001 characters"):
        read_vocabulary_pickle(path)
    path.write_bytes(pickle.dumps([word[1:], "b"], 2))
    assert read_vocabulary_pickle(path) == [word[1:], "b"]
