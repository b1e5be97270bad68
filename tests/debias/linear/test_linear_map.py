"""Linear maps: the papers' equations, a word at a time, and what a large embedding costs."""

import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import bayesbias as bb
from bayesbias.debias import MHD, MISP, LinearProjection
from bayesbias.errors import ArgumentError, LostWordsWarning, MeasureError
from tests.debias.made import NAMES, PAIRS, WORDS, made_embedding, unit


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


def dense_components(embedding: bb.Embedding) -> tuple[np.ndarray, np.ndarray]:
    """All pairwise differences between two lists of names, made one by one, and their components."""
    first, second = ([embedding[name] for name in names] for names in NAMES)
    differences = np.array([f - m for f in first for m in second])
    values, vectors = np.linalg.eigh(differences.T @ differences)
    return vectors[:, ::-1].T[:4], (values[::-1] / values.sum())[:4]


@pytest.mark.parametrize(("method", "weighted"), [(MISP(), True), (MHD(), False)])
def test_misp_is_equation_4(method: MISP | MHD, weighted: bool) -> None:
    embedding = made_embedding()
    directions, shares = dense_components(embedding)
    fitted = method.fit(embedding, WORDS)
    assert np.allclose(fitted.weights, shares if weighted else 1.0)
    after = fitted.transform(embedding)
    for word in embedding.words:
        w = embedding[word].copy()
        for g, a in zip(directions, fitted.weights, strict=True):
            w -= a * (g @ embedding[word]) * g
        assert np.allclose(after[word], w)


def test_a_pairing_gives_the_weights_to_other_directions() -> None:
    embedding = made_embedding()
    right, other = MISP().fit(embedding, WORDS), MISP(pairing=(1, 3, 4, 2)).fit(embedding, WORDS)
    assert other.weights.tolist() == right.weights[[0, 2, 3, 1]].tolist()
    for wrong in ((1, 2), (1, 2, 3, 3), (0, 1, 2, 3), "1234", (1, 2, 3, True)):
        with pytest.raises(ArgumentError, match="pairing"):
            MISP(pairing=wrong)  # type: ignore[arg-type]


def test_names_are_found_in_other_spellings_and_lost_ones_named() -> None:
    vectors = {"mary": [1.0, 1], "Ann": [1.0, 2], "JOHN": [-1.0, 1], "Bob": [-1.0, 2]}
    words = bb.debias.DebiasWords("x", [["a", "b"]], names=[["Mary", "Ann", "Zoe"], ["John", "Bob"]])
    with pytest.warns(LostWordsWarning, match=r"lacks 1 of the 3 .* \(Zoe\)"):
        found = bb.debias.name_subspace(vectors, words, components=1)
    assert found.sets == (("mary", "Ann"), ("JOHN", "Bob"))
    few = bb.debias.DebiasWords("x", [["a", "b"]], names=[["Mary", "Zoe"], ["John", "Bob"]])
    with pytest.raises(MeasureError, match="has 1 of the 2 words of the first list of names, and 2 are needed"):
        MISP(components=1).fit(vectors, few)
    with pytest.raises(MeasureError, match="components=4"):
        MISP().fit({**vectors, "Zoe": [2.0, 1]}, words)


def test_lists_of_names_are_checked() -> None:
    for names, message in (
        ([["a", "b"]], "one list of names"),
        ([["a", "b"], ["b", "c"]], "'b' is in the lists 1 and 2 of names"),
        ([["a", "a"], ["b", "c"]], "all different"),
        ([["a"], ["b", "c"]], "at least two"),
    ):
        with pytest.raises(MeasureError, match=message):
            bb.debias.DebiasWords("x", [["he", "she"]], names=names)
    with pytest.raises(MeasureError, match="'she' is a word of the concept"):
        bb.debias.DebiasWords("x", [["he", "she"]], concept=["cook", "she"])
    three = bb.debias.DebiasWords("x", [["he", "she"]], names=[["a", "b"], ["c", "d"], ["e", "f"]])
    with pytest.raises(MeasureError, match="two lists of names, one for each side"):
        MISP().fit(made_embedding(), three)


def test_a_word_of_which_nothing_is_left_is_named() -> None:
    vectors = {"he": [1.0, 1], "she": [-1.0, 1], "beard": [2.0, 0]}
    fitted = LinearProjection().fit(vectors, [["he", "she"]])
    with pytest.raises(MeasureError, match="Nothing is left of the vector of 'beard'"):
        fitted.transform(vectors)
    assert fitted.transform(vectors, ignore=["beard"])["beard"].tolist() == [2.0, 0.0]


@pytest.mark.slow
def test_400_000_words_take_seconds_and_two_copies_of_memory() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((400_000, 300), dtype=np.float32)
    embedding = bb.Embedding(tuple(f"word{number}" for number in range(400_000)), vectors)
    fitted = LinearProjection().fit(embedding, [["word0", "word1"]])
    tracemalloc.start()
    start = time.process_time()
    after = fitted.transform(embedding)
    seconds, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after.vectors.dtype == np.float32
    assert peak < 1.25 * vectors.nbytes  # beside the original's own
    assert seconds < 10  # on both cores together


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_misp_leaves_similarities_as_they_are(shared: Path) -> None:
    """Dawkins (2021), table 3: Spearman correlations, times 100, with and without MISP."""
    embedding = bb.load_embedding(shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz")
    after = MISP().fit(embedding, "gender_bolukbasi").transform(embedding)
    for name in ("RG-65", "MTurk-287", "MEN-TR-3k", "SIMLEX-999", "WS-353-ALL"):
        lines = (shared / "data" / "benchmarks" / f"EN-{name}.txt").read_text(encoding="utf-8").splitlines()
        rows = [line.split() for line in lines]
        rows = [row for row in rows if row[0] in embedding and row[1] in embedding]
        found = []
        for each in (embedding, after):
            first, second = (unit(each.matrix([row[side] for row in rows])) for side in (0, 1))
            found.append(100 * spearmanr((first * second).sum(axis=1), [float(row[2]) for row in rows]).statistic)
        assert abs(found[1] - found[0]) < 0.5, name
