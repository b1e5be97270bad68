"""GloVe-V's folders in both published layouts, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, BayesBiasError, EmbeddingError, InputFileError, LostWordsWarning
from tests.embeddings.readers.glove_v_files import WORDS, made_arrays, tensor_bytes, write_folder

read = bb.embeddings.read_glove_variance


@pytest.mark.parametrize("chunks", [True, False])
def test_both_layouts_and_kinds(chunks: bool, tmp_path: Path) -> None:
    vectors, covariances = made_arrays()
    folder = write_folder(tmp_path / "toy", chunks=chunks)
    order = [3, 1, 0, 2]
    complete = read(folder, [WORDS[row] for row in order], approximate=False)
    assert complete.words == tuple(WORDS[row] for row in order)
    assert complete.contexts is None
    np.testing.assert_allclose(complete.vectors, vectors[order], rtol=1e-6)
    np.testing.assert_allclose(complete.covariances, covariances[order], rtol=1e-5, atol=1e-6)
    approximate = read(folder, WORDS)
    np.testing.assert_allclose(approximate.covariances[0], np.diag(np.diagonal(covariances[0])), rtol=1e-6)
    np.testing.assert_allclose(approximate.covariances[1:], covariances[1:], rtol=1e-5, atol=1e-6)


def test_draws_of_a_covariance_of_low_rank(tmp_path: Path) -> None:
    variance = read(write_folder(tmp_path / "toy"), ["surgeon"])
    draws = variance.draws(draws=4000, random_seed=1)[:, 0]
    expected = made_arrays()[1][1]
    np.testing.assert_allclose(np.cov(draws.T), expected, atol=0.1 * expected.max())
    assert np.linalg.matrix_rank(draws - draws.mean(axis=0), tol=0.05) == 1


def test_only_the_wanted_chunks_are_opened(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "toy")
    (folder / "approxchunk_1.safetensors").unlink()
    assert read(folder, ["doctor", "surgeon"]).words == ("doctor", "surgeon")
    with pytest.raises(InputFileError, match=r"approxchunk_1\.safetensors"):
        read(folder, ["nurse"])


def test_lost_words_are_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "toy")
    with pytest.warns(LostWordsWarning, match="1 word has no covariance in .*: pilot"):
        variance = read(folder, ["pilot", "na\u00efve".replace("\u00ef", "i\u0308")])
    assert variance.lost_words == ("pilot",)
    with pytest.raises(EmbeddingError, match="none of the words pilot"):
        read(folder, ["pilot"])
    with pytest.raises(ArgumentError, match="approximate"):
        read(folder, ["nurse"], approximate=1)  # type: ignore[arg-type]


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="no folder"):
        read(tmp_path / "nowhere", ["nurse"])
    folder = write_folder(tmp_path / "toy", chunks=False)
    (folder / "CompleteVariances.safetensors").unlink()
    with pytest.raises(InputFileError, match="read the other kind of covariances with approximate=True"):
        read(folder, ["nurse"], approximate=False)
    (folder / "vocab.txt").unlink()
    with pytest.raises(InputFileError, match=r"vocab\.txt"):
        read(folder, ["nurse"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("vocab.txt", b"doctor 1\n", "but vocab.txt has 1 words"),
        ("vocab.txt", b"a 1\nb 1\na 1\nc 1\n", "'a' more than once"),
        ("vocab.txt", b"\xff 1\n", "not UTF-8"),
        ("chunk_map.txt", b"doctor 0 0 0\n", "line 1: 'doctor 0 0 0' is no word with three numbers"),
        ("chunk_map.txt", b"doctor\t1\t0\t0\n", "'doctor' is not the word in row 1"),
        ("approxchunk_0.safetensors", tensor_bytes({"diag_0": np.ones(2)}), r"shape \(2, 2\) in 3 dimensions"),
        ("approxchunk_0.safetensors", tensor_bytes({"diag_0": np.array([1, np.nan, 1])}), "NaN"),
        ("approxchunk_0.safetensors", tensor_bytes({"diag_0": np.array([1.0, -1, 1])}), "variance below 0"),
        ("approxchunk_0.safetensors", tensor_bytes({"complete_0": np.arange(9.0).reshape(3, 3)}), "not symmetric"),
        (
            "approxchunk_0.safetensors",
            tensor_bytes({"U_0": np.ones((3, 2)), "s_0": np.ones(1), "Vt_0": np.ones((1, 3))}),
            r"shapes \(3, 2\), \(1,\), \(1, 3\)",
        ),
        ("vectors.safetensors", tensor_bytes({"center_vectors": np.full((4, 3), np.inf)}), "NaN or an infinity"),
    ],
)
def test_faults_are_named(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "toy")
    (folder / name).write_bytes(content)
    with pytest.raises(BayesBiasError, match=message):
        read(folder, ["doctor"])
