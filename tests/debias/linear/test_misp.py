"""MISP and MHD: the paper's equation, a word at a time, and its table of similarities."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import bayesbias as bb
from bayesbias.debias import MHD, MISP
from bayesbias.errors import ArgumentError
from tests.debias.made import NAMES, WORDS, made_embedding, unit


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
        correlations = []
        for source in (embedding, after):
            first, second = (unit(source.matrix([row[side] for row in rows])) for side in (0, 1))
            correlations.append(
                100 * spearmanr((first * second).sum(axis=1), [float(row[2]) for row in rows]).statistic
            )
        assert abs(correlations[1] - correlations[0]) < 0.5, name


@pytest.mark.parametrize("centred", [False, True])
def test_three_lists_have_the_components_of_all_differences(centred: bool) -> None:
    """Differences between the words of any two lists, each pair of lists with the same weight, one by one."""
    names = [["word1", "word2", "word3"], ["word4", "word5"], ["word6", "word7", "word8", "word9"]]
    words = bb.debias.DebiasWords("three genders", [["he", "she"]], names=names)
    embedding = made_embedding()
    squares = np.zeros((12, 12))
    for one, other in ((0, 1), (0, 2), (1, 2)):
        differences = np.array([embedding[a] - embedding[b] for a in names[one] for b in names[other]])
        differences -= centred * differences.mean(axis=0)
        squares += differences.T @ differences / len(differences)
    values, vectors = np.linalg.eigh(squares)
    fitted = MISP(components=3, centred=centred).fit(embedding, words)
    assert np.allclose(fitted.weights, values[:-4:-1] / values.sum())
    assert np.allclose(np.abs(np.sum(fitted.directions * vectors[:, :-4:-1].T, axis=1)), 1)


def test_religion_is_taken_out_of_words_that_differ_in_it() -> None:
    """Three religions along planted directions: what tells them apart shrinks by the weights, the rest stays."""
    random = np.random.default_rng(2)
    centres = np.linalg.qr(random.normal(size=(20, 3)))[0].T * 6
    lists = [[f"{name}{number}" for number in range(15)] for name in ("jewish", "christian", "muslim")]
    rows = np.vstack([centre + 0.3 * random.normal(size=(15, 20)) for centre in centres])
    other = random.normal(size=20)
    other -= np.linalg.lstsq(centres.T, other, rcond=None)[0] @ centres
    embedding = bb.Embedding((*lists[0], *lists[1], *lists[2], "table"), np.vstack([rows, other]))
    words = bb.debias.DebiasWords("religion", [["jewish0", "christian0", "muslim0"]], names=lists)
    after = MHD(components=2).fit(embedding, words).transform(embedding)
    means = [after.matrix(names).mean(axis=0) for names in lists]
    assert max(np.linalg.norm(means[i] - means[j]) for i, j in ((0, 1), (0, 2), (1, 2))) < 0.5
    assert np.linalg.norm(after["table"] - embedding["table"]) < 0.2 * np.linalg.norm(embedding["table"])
