"""Similarity from both probabilities, and its agreement with people's scores: against SciPy."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError
from tests.asymmetry.made import WORDS, made_vectors
from tests.asymmetry.toy_language import WORDS as TOY_WORDS
from tests.asymmetry.toy_language import Language, trained_bert


def scores(path: Path, rows: list[tuple[str, str, float]]) -> Path:
    path.write_text("".join(f"{a} {b} {score}\n" for a, b, score in rows), encoding="utf-8")
    return path


def test_the_score_is_the_rank_correlation_with_the_product_of_both_softmaxes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    pairs = [(a, b) for at, a in enumerate(WORDS[:12]) for b in WORDS[at + 1 : 12]]
    human = rng.integers(0, 10, len(pairs)).tolist()
    path = scores(tmp_path / "pairs.txt", [(a, b, score) for (a, b), score in zip(pairs, human, strict=True)])
    vectors = made_vectors()
    score = bb.asymmetry.word_similarity(bb.asymmetry.static(vectors), path, random_seed=1)
    matrix = np.asarray(vectors.vectors, dtype=float)
    projections = matrix @ matrix.T / np.linalg.norm(matrix, axis=1, keepdims=True)
    shares = np.exp(projections) / np.exp(projections).sum(axis=1, keepdims=True)
    rows = [(WORDS.index(a), WORDS.index(b)) for a, b in pairs]
    products = [shares[a, b] * shares[b, a] for a, b in rows]
    assert score.value == pytest.approx(spearmanr(products, human).statistic)
    low, high = score.estimates.loc[0, ["hdi_low", "hdi_high"]]
    assert low < score.value < high


def test_lost_pairs_and_too_few(tmp_path: Path) -> None:
    vectors = bb.asymmetry.static({"cat": [1.0, 0.1], "dog": [1.0, 0.3], "car": [0.1, 1.0], "van": [0.0, 1.0]})
    rows = [("cat", "dog", 9.0), ("cat", "car", 1.0), ("car", "van", 8.0), ("cat", "yak", 3.0), ("cat", "dog", 9.0)]
    with pytest.warns(LostWordsWarning, match="1 of the 4 pairs: cat ~ yak"):
        score = bb.asymmetry.word_similarity(vectors, scores(tmp_path / "some.txt", rows), random_seed=1)
    assert list(score.lost_words["pairs"]) == ["cat ~ yak"]
    assert len(score.scores) == 3
    with pytest.raises(MeasureError, match="2 of the 3 pairs"):
        bb.asymmetry.word_similarity(vectors, scores(tmp_path / "few.txt", rows[1:4]), random_seed=1)


@pytest.mark.extras
@pytest.mark.slow
def test_a_language_model_finds_the_similarity_that_its_language_has(tmp_path: Path) -> None:
    """The truth is the language's own probabilities, which people are made to follow."""
    language = Language.made(1)
    model = trained_bert(tmp_path / "bert", language, steps=300)
    index = bb.embeddings.index_contexts(
        language.sentences(12_000, np.random.default_rng(2)), tmp_path / "toy.contexts"
    )
    pairs = [(a, b) for a in range(len(TOY_WORDS)) for b in range(a + 1, len(TOY_WORDS))]
    truth = [language.log_conditional(a, b) + language.log_conditional(b, a) for a, b in pairs]
    rows = [(TOY_WORDS[a], TOY_WORDS[b], round(10 + value, 4)) for (a, b), value in zip(pairs, truth, strict=True)]
    source = bb.asymmetry.masked_model(model, index, random_seed=1, progress=False)
    score = bb.asymmetry.word_similarity(source, scores(tmp_path / "people.txt", rows), random_seed=1)
    assert len(score.scores) > 0.9 * len(pairs)
    assert score.value > 0.9
    turned = [(a, b, -value) for a, b, value in rows]
    assert bb.asymmetry.word_similarity(source, scores(tmp_path / "not.txt", turned), random_seed=1).value < -0.9
