"""What is written is read again, by us and by gensim; words that a format cannot hold are refused."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import BayesBiasError, EmbeddingError, OutputError


@pytest.fixture
def embedding() -> bb.Embedding:
    rng = np.random.default_rng(1)
    return bb.Embedding(("cat", "élan", "naïve_dog"), rng.normal(size=(3, 5)).astype(np.float32), name="three")


@pytest.mark.parametrize("name", ["e.npz", "e.bin", "e.txt", "e.vec"])
def test_round_trip(embedding: bb.Embedding, tmp_path: Path, name: str) -> None:
    read = bb.load_embedding(bb.write_embedding(embedding, tmp_path / name))
    assert tuple(read.words) == tuple(embedding.words)
    np.testing.assert_array_equal(read.vectors, embedding.vectors)


@pytest.mark.gensim
@pytest.mark.parametrize("name", ["e.bin", "e.txt"])
def test_gensim_reads_it(embedding: bb.Embedding, tmp_path: Path, name: str) -> None:
    from gensim.models import KeyedVectors

    path = bb.write_embedding(embedding, tmp_path / name)
    theirs = KeyedVectors.load_word2vec_format(str(path), binary=name.endswith("bin"))
    assert theirs.index_to_key == list(embedding.words)
    np.testing.assert_array_equal(theirs.vectors, embedding.vectors)


@pytest.mark.parametrize("name", ["e.npz", "e.bin"])
def test_any_changed_byte_is_found_or_changes_nothing(embedding: bb.Embedding, tmp_path: Path, name: str) -> None:
    """A zip archive also holds dates and other fields that change no number."""
    whole = bb.write_embedding(embedding, tmp_path / name).read_bytes()
    detected = 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        (tmp_path / name).write_bytes(damaged)
        try:
            read = bb.load_embedding(tmp_path / name)
        except BayesBiasError:
            detected += 1
        else:
            assert tuple(read.words) == embedding.words, place
            np.testing.assert_array_equal(read.vectors, embedding.vectors)
    assert detected == len(whole) if name.endswith("bin") else detected > len(whole) / 2


def test_double_precision_survives_in_npz(tmp_path: Path) -> None:
    vectors = np.random.default_rng(2).normal(size=(2, 3))
    written = bb.write_embedding(bb.Embedding(("a", "b"), vectors), tmp_path / "e.npz")
    np.testing.assert_array_equal(bb.load_embedding(written).vectors, vectors)


def test_words_with_spaces_need_npz(tmp_path: Path) -> None:
    spaced = bb.Embedding(("New York", "b"), np.eye(2))
    with pytest.raises(EmbeddingError, match="'New York'"):
        bb.write_embedding(spaced, tmp_path / "e.txt")
    assert list(tmp_path.iterdir()) == []
    assert "New York" in bb.load_embedding(bb.write_embedding(spaced, tmp_path / "e.npz"))


def test_refused_paths(embedding: bb.Embedding, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.npz, \.bin"):
        bb.write_embedding(embedding, tmp_path / "e.csv")
    (tmp_path / "e.npz").write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        bb.write_embedding(embedding, tmp_path / "e.npz")
    assert (tmp_path / "e.npz").read_text() == "mine"


@pytest.mark.parametrize("name", ["e.bin", "e.txt", "e.vec"])
@pytest.mark.parametrize("number", [1e39, 1e-60])
def test_numbers_beyond_32_bits_need_npz(tmp_path: Path, name: str, number: float) -> None:
    wide = bb.Embedding(("cat",), [[number, 0.0]])
    with pytest.raises(EmbeddingError, match="32 bits"):
        bb.write_embedding(wide, tmp_path / name)
    assert not (tmp_path / name).exists()
    assert bb.load_embedding(bb.write_embedding(wide, tmp_path / "e.npz")).vectors[0, 0] == number
