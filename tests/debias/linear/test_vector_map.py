"""Linear methods as maps of new vectors: the same numbers as `transform` gives, and files that keep them."""

import json

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.contextual.spread import ContextualEmbedding
from bayesbias.errors import ArgumentError, BayesBiasError, InputFileError, MeasureError, OutputError

LINEAR = ("linear", "misp", "mhd", "inlp", "bam", "half_sibling", "soft")


@pytest.fixture(scope="module")
def vectors():
    return bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
@pytest.mark.parametrize("name", LINEAR)
def test_the_map_gives_what_transform_gives(name, vectors, tmp_path):
    fitted = bb.debias.METHODS[name]().fit(vectors, "gender_bolukbasi")
    words = list(vectors.words[500:520])
    expected = fitted.transform(vectors, ignore=()).matrix(words)
    mapped = fitted.map.transform(vectors.matrix(words))
    np.testing.assert_allclose(mapped, expected, atol=1e-6)
    assert mapped.dtype == vectors.vectors.dtype
    read = bb.debias.read_map(fitted.map.write(tmp_path / "map.npz"))
    np.testing.assert_array_equal(read.transform(vectors.matrix(words)), mapped)
    assert (read.name, read.unit_length) == (fitted.map.name, name == "soft")


@pytest.mark.extras
def test_safetensors_keep_the_map(tmp_path):
    made = bb.debias.VectorMap(np.random.default_rng(1).standard_normal((5, 5)), "made", unit_length=True)
    read = bb.debias.read_map(made.write(tmp_path / "map.safetensors"))
    np.testing.assert_array_equal(read.matrix, made.matrix)
    assert (read.name, read.unit_length) == ("made", True)


@pytest.mark.parametrize("kind", ["F8_E4M3", "BF16"])
def test_types_that_numpy_lacks_are_no_map(tmp_path, kind):
    size = {"F8_E4M3": 1, "BF16": 2}[kind]
    head = json.dumps({"matrix": {"dtype": kind, "shape": [2, 2], "data_offsets": [0, 4 * size]}}).encode()
    path = tmp_path / "map.safetensors"
    path.write_bytes(len(head).to_bytes(8, "little") + head + bytes(4 * size))
    with pytest.raises(InputFileError, match=r"map\.safetensors: the array 'matrix' .* must be one of F64, F32"):
        bb.debias.read_map(path)


def test_an_encoder_within_a_map_is_an_encoder():
    def encoder(texts):
        return np.array([[len(text), 1.0, 2.0 * text.count("e")] for text in texts])

    embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.2, 1], [-1, 0.2, 1], [-0.5, 1, 0]])
    fitted = bb.debias.LinearProjection().fit(embedding, [["he", "she"]], name="gender")
    mapped = bb.encode(fitted.map.around(encoder), ["king", "queen"])
    assert "encoder" in mapped.name
    assert "gender" in mapped.name
    np.testing.assert_allclose(mapped["queen"], [0, 1, 4], atol=1e-12)


def test_a_linear_map_keeps_the_spread_over_templates():
    rng = np.random.default_rng(2)
    texts = {f"{word} {place}": rng.standard_normal(4) for word in ("he", "she", "nurse") for place in range(6)}

    def encoder(asked):
        return np.stack([texts[text] for text in asked])

    sentences = [f"WORD {place}" for place in range(6)]
    embedding = bb.encode(encoder, ["he", "she", "nurse"], sentences, name="toy")
    fitted = bb.debias.LinearProjection().fit(embedding, [["he", "she"]], name="gender")
    debiased, again = fitted.transform(embedding), bb.encode(fitted.map.around(encoder), embedding.words, sentences)
    assert isinstance(debiased, ContextualEmbedding)
    np.testing.assert_allclose(debiased.vectors, again.vectors, atol=1e-6)
    np.testing.assert_allclose(debiased.deviations, again.deviations, atol=1e-6)


@pytest.mark.parametrize("matrix", [np.eye(3)[:2], np.eye(2) * np.nan, np.array(["a"]), np.empty((0, 0))])
def test_what_is_no_map_is_refused(matrix):
    with pytest.raises(ArgumentError, match="matrix"):
        bb.debias.VectorMap(matrix, "made")


def test_other_vectors_and_files_are_refused(tmp_path):
    made = bb.debias.VectorMap(np.eye(3), "made")
    with pytest.raises(MeasureError, match=r"3 dimensions.*have 2"):
        made.transform([[1.0, 2.0]])
    with pytest.raises(OutputError, match="safetensors"):
        made.write(tmp_path / "map.pkl")
    np.savez(tmp_path / "other.npz", matrix=np.eye(2))
    with pytest.raises(InputFileError, match="no map"):
        bb.debias.read_map(tmp_path / "other.npz")
    (tmp_path / "cut.npz").write_bytes(made.write(tmp_path / "map.npz").read_bytes()[:200])
    with pytest.raises(BayesBiasError, match=r"cut\.npz"):
        bb.debias.read_map(tmp_path / "cut.npz")


def test_numbers_that_are_none_are_refused_and_not_passed_on(tmp_path):
    for matrix, vector in ((np.full((2, 2), 1e308), [[1.0, 1.0]]), (np.eye(2), [[np.inf, 1.0]])):
        path = bb.debias.VectorMap(matrix, "large").write(tmp_path / "large.npz", overwrite=True)
        with pytest.raises(MeasureError, match=r"'large' .* NaN or an infinity"):
            bb.debias.read_map(path).transform(vector)
    for unit_length in (np.float64(np.nan), np.uint8(7), np.str_("x")):
        np.savez(tmp_path / "odd.npz", matrix=np.eye(2), unit_length=np.array([unit_length]), name="odd")
        with pytest.raises(InputFileError, match=r"odd\.npz.*unit_length"):
            bb.debias.read_map(tmp_path / "odd.npz")


def test_a_matrix_is_any_square_array_of_numbers():
    for matrix in ([[1.0, 0.0], [0.0, 2.0]], np.array([[1, 0], [0, 2]])):
        np.testing.assert_array_equal(bb.debias.VectorMap(matrix, "x").transform([[1.0, 2.0]]), [[1.0, 4.0]])
