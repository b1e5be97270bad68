"""MISP and MHD: the paper's equation, a word at a time, and its table of similarities."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import bayesbias as bb
from bayesbias.debias import MHD, MISP, pairing_check
from bayesbias.errors import ArgumentError, LostWordsError
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


def test_each_pairing_is_misp_with_that_pairing() -> None:
    embedding = made_embedding()
    words = [word for word in embedding.words if word not in {name for names in NAMES for name in names}]
    right = MISP().fit(embedding, WORDS)
    frame = pairing_check(embedding, WORDS).set_index("pairing")
    measured = pairing_check(embedding, WORDS, lambda after: float(np.linalg.norm(after.vectors))).set_index("pairing")
    assert list(frame.index) == ["".join(map(str, pairing)) for pairing in permutations((1, 2, 3, 4))]
    for pairing in permutations((1, 2, 3, 4)):
        fitted = MISP(pairing=pairing).fit(embedding, WORDS)
        row, label = frame.loc["".join(map(str, pairing))], "".join(map(str, pairing))
        # Equation 3, a word at a time.
        word_midb = [
            sum(a * (g @ embedding[w]) for a, g in zip(fitted.weights, fitted.directions, strict=True)) for w in words
        ]
        assert row["midb"] == pytest.approx(np.mean(word_midb))
        after = fitted.transform(embedding)
        left = np.abs(after.matrix(words) @ right.directions.T @ right.weights).mean()
        assert row["after"] == pytest.approx(left)
        assert measured.loc[label, "after"] == pytest.approx(np.linalg.norm(after.vectors))
    assert sorted(frame["rank"]) == list(range(1, 25))
    assert frame["after"].idxmin() == frame["rank"].idxmin()


def test_arguments() -> None:
    with pytest.raises(ArgumentError, match="components=7"):
        pairing_check(made_embedding(), WORDS, components=7)
    with pytest.raises(LostWordsError, match="absent"):
        pairing_check(made_embedding(), WORDS, words=["absent"])
    assert len(pairing_check(bb.load_embedding(made_embedding()), WORDS, components=3)) == 6


def test_the_docstring_says_what_the_trial_found_of_clustering() -> None:
    trade = pd.read_csv(Path(bb.__file__).parents[1] / "validation" / "trade" / "trade.csv").query(
        "embedding == 'Google News'"
    )
    values = trade.set_index(["method", "measure"])["value"]
    text = " ".join((bb.debias.MISP.__doc__ or "").split())
    assert f"from {values['original', 'clustering']:.3f} to {values['misp', 'clustering']:.3f}" in text
    assert values["original", "recoverability"] - values["misp", "recoverability"] < 0.01
