"""Linear maps: the papers' equations, a word at a time, and what a large embedding costs."""

import json
import tracemalloc

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias import MISP, LinearProjection
from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding
from bayesbias.errors import ArgumentError, BayesBiasError, InputFileError, LostWordsWarning, MeasureError, OutputError
from tests.debias.made import PAIRS, made_embedding, unit


def test_names_are_found_in_other_spellings_and_lost_ones_named() -> None:
    vectors = {"MARY": [1.0, 1], "Ann": [1.0, 2], "JOHN": [-1.0, 1], "Bob": [-1.0, 2]}
    words = bb.debias.DebiasWords("x", [["a", "b"]], names=[["Mary", "Ann", "Zoe"], ["John", "Bob"]])
    with pytest.warns(LostWordsWarning, match=r"2 of 3 and 2 of 2 names.* Zoe"):
        subspace = bb.debias.name_subspace(vectors, words, components=1)
    assert subspace.sets == (("MARY", "Ann"), ("JOHN", "Bob"))
    few = bb.debias.DebiasWords("x", [["a", "b"]], names=[["Mary", "Zoe"], ["John", "Bob"]])
    with pytest.raises(MeasureError, match=r"1 of 2 and 2 of 2 names, .*2 .*Zoe"):
        MISP(components=1).fit(vectors, few)
    with pytest.raises(MeasureError, match="components=4"):
        MISP().fit({**vectors, "Zoe": [2.0, 1]}, words)


def test_lists_of_names_are_checked() -> None:
    for names, message in (
        ([["a", "b"]], "`names`"),
        ([["a", "b"], ["b", "c"]], "'b' .* lists 1 and 2 of `names`"),
        ([["a", "a"], ["b", "c"]], r"names set 1 .*\['a', 'a'\]"),
        ([["a"], ["b", "c"]], r"names set 1 .*\['a'\]"),
    ):
        with pytest.raises(MeasureError, match=message):
            bb.debias.DebiasWords("x", [["he", "she"]], names=names)
    with pytest.raises(MeasureError, match=r"'she' .*`concept`"):
        bb.debias.DebiasWords("x", [["he", "she"]], concept=["cook", "she"])
    with pytest.raises(MeasureError, match=r"none.*`names`"):
        MISP().fit(made_embedding(), bb.debias.DebiasWords("x", [["he", "she"]]))


def test_a_word_of_which_nothing_is_left_is_named() -> None:
    vectors = {"he": [1.0, 1], "she": [-1.0, 1], "beard": [2.0, 0]}
    fitted = LinearProjection().fit(vectors, [["he", "she"]])
    with pytest.raises(MeasureError, match="'beard'"):
        fitted.transform(vectors)
    assert fitted.transform(vectors, ignore=["beard"])["beard"].tolist() == [2.0, 0.0]


@pytest.mark.slow
def test_many_words_take_two_copies_of_memory() -> None:
    """Blocks beside them have one size whatever the number of words: of more words they are a smaller share."""
    count = 120_000
    vectors = np.random.default_rng(1).standard_normal((count, 300), dtype=np.float32)
    embedding = bb.Embedding(tuple(f"word{number}" for number in range(count)), vectors)
    fitted = LinearProjection().fit(embedding, [["word0", "word1"]])
    tracemalloc.start()
    after = fitted.transform(embedding)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after.vectors.dtype == np.float32
    assert peak < 1.25 * vectors.nbytes  # beside the original's own


def test_lengths_beyond_the_squares_of_float32_are_compared():
    vectors = {"he": [3e19, 1e19, 0.0], "she": [-3e19, 1e19, 0.0], "nurse": [1e19, 1e19, 1e19]}
    large = bb.Embedding(tuple(vectors), np.array(list(vectors.values()), dtype=np.float32))
    small = bb.Embedding(tuple(vectors), (large.vectors / np.float32(1e19)).astype(np.float32))
    changed, same = (
        bb.debias.LinearProjection().fit(source, [["he", "she"]]).transform(source) for source in (large, small)
    )
    np.testing.assert_allclose(changed.vectors / np.float32(1e19), same.vectors, atol=1e-6)


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


def test_linear_projection_of_one_pair_removes_she_minus_he() -> None:
    """Dev and Phillips (2019): w - <w, v> v, with v the direction of she - he between unit vectors."""
    embedding = made_embedding()
    v = unit(unit(embedding["she"]) - unit(embedding["he"]))
    after = LinearProjection().fit(embedding, [["she", "he"]]).transform(embedding)
    for word in embedding.words:
        assert np.allclose(after[word], embedding[word] - (embedding[word] @ v) * v)
    assert np.abs(unit(after.vectors) @ v).max() < 1e-12


def test_linear_projection_removes_the_first_components_of_pair_differences() -> None:
    embedding = made_embedding()
    differences = np.array([unit(embedding[a]) - unit(embedding[b]) for a, b in PAIRS])
    _, vectors = np.linalg.eigh(differences.T @ differences)
    top = vectors[:, ::-1][:, :2]
    after = LinearProjection(components=2).fit(embedding, PAIRS).transform(embedding)
    assert np.allclose(after.vectors, embedding.vectors - embedding.vectors @ top @ top.T)
