"""Soft debiasing: the objective of the papers, written out over all pairs of words, and its optimum."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize

import bayesbias as bb
from bayesbias.debias import FittedSoftDebias, SoftDebias
from bayesbias.debias.linear.soft import _objective, _solve
from bayesbias.errors import ArgumentError, LostWordsError, MeasureError
from tests.debias.made import PAIRS, TRIPLES, made_embedding, unit

NOT_NEUTRAL = {word for pair in PAIRS for word in pair}


def written_out(embedding: bb.Embedding, fitted: FittedSoftDebias, matrix: np.ndarray) -> float:
    """norm((TW)'(TW) - W'W)^2 + strength norm((TN)'(TB))^2, with words as columns."""
    definitional = {word for words in fitted.sets.definitional for word in words}
    w = unit(embedding.vectors).T
    n = w[:, [word not in definitional for word in embedding.words]]
    b = fitted.subspace.directions.T
    change = np.linalg.norm((matrix @ w).T @ (matrix @ w) - w.T @ w) ** 2
    return float(change + fitted.strength * np.linalg.norm((matrix @ n).T @ (matrix @ b)) ** 2)


@pytest.mark.parametrize("sets", [PAIRS, TRIPLES])
@pytest.mark.parametrize("strength", [0.2, 10.0])
def test_no_other_map_does_better(sets: list[list[str]], strength: float) -> None:
    """Against the written-out objective at random maps nearby, and at what a general optimizer finds."""
    embedding = made_embedding(5, 15)
    fitted = SoftDebias(strength).fit(embedding, sets)
    best = written_out(embedding, fitted, fitted.matrix)
    assert best == pytest.approx(fitted.objective, rel=1e-8)
    assert written_out(embedding, fitted, np.eye(5)) == pytest.approx(fitted.objective_before, rel=1e-8)
    assert best < fitted.objective_before
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1):
        for _ in range(50):
            assert written_out(embedding, fitted, fitted.matrix + size * rng.normal(size=(5, 5))) > best
    optimum = minimize(
        lambda flat: written_out(embedding, fitted, flat.reshape(5, 5)),
        np.eye(5).ravel() + 0.1 * rng.normal(size=25),
        method="BFGS",
        options={"gtol": 1e-6},
    )
    assert optimum.fun == pytest.approx(best, rel=1e-6)
    t = optimum.x.reshape(5, 5)
    assert np.allclose(t.T @ t, fitted.matrix @ fitted.matrix, atol=1e-4)
    assert fitted.gradient < 1e-8


def test_gradient_is_that_of_the_objective() -> None:
    rng = np.random.default_rng(0)
    s, square, b = rng.uniform(1, 3, 4), rng.normal(size=(4, 4)), rng.normal(size=(4, 2))
    arguments = (s, square @ square.T, b, 0.7)
    error = check_grad(
        lambda flat: _objective(flat.reshape(4, 4), *arguments)[0],
        lambda flat: _objective(flat.reshape(4, 4), *arguments)[1].ravel(),
        rng.normal(size=16),
    )
    assert error < 1e-4


def test_strength_zero_changes_nothing() -> None:
    embedding = made_embedding()
    fitted = SoftDebias(0).fit(embedding, PAIRS)
    assert np.allclose(fitted.matrix, np.eye(12), atol=1e-12)
    assert np.allclose(fitted.transform(embedding).vectors, unit(embedding.vectors))
    assert (fitted.objective, fitted.objective_before) == (0.0, 0.0)


def test_more_strength_leaves_less_bias_and_changes_more() -> None:
    embedding = made_embedding()
    bias, change = [], []
    neutral = [word not in NOT_NEUTRAL for word in embedding.words]
    for strength in (0.0, 0.2, 5.0, 100.0, 1e5):
        fitted = SoftDebias(strength).fit(embedding, PAIRS)
        mapped = unit(embedding.vectors) @ fitted.matrix
        along = mapped[neutral] @ fitted.matrix @ fitted.subspace.directions.T
        bias.append(np.linalg.norm(along))
        change.append(np.linalg.norm(mapped @ mapped.T - unit(embedding.vectors) @ unit(embedding.vectors).T))
    assert (np.diff(bias) < 0).all()
    assert (np.diff(change) > 0).all()
    assert bias[-1] < 0.01 * bias[0]


def test_an_optimum_on_the_boundary() -> None:
    """Here the gradient vanishes at an X that is no T'T; the best T is singular."""
    rng = np.random.default_rng(5)
    w = unit(rng.normal(size=(4, 3)))
    b = unit(w[0] + 0.1 * rng.normal(size=3))[None]
    gram, neutral = w.T @ w, np.outer(w[0], w[0])

    def value(flat: np.ndarray) -> float:
        x = flat.reshape(3, 3).T @ flat.reshape(3, 3)
        return float(np.linalg.norm(w @ (x - np.eye(3)) @ w.T) ** 2 + 50 * (w[0] @ x @ b[0]) ** 2)

    matrix, _, after, before, gradient = _solve(gram, neutral, b, 50.0)
    assert np.linalg.eigvalsh(matrix)[0] == pytest.approx(0, abs=1e-6)
    assert after == pytest.approx(value(matrix.ravel()), rel=1e-6)
    starts = [np.eye(3).ravel() + 0.3 * rng.normal(size=9) for _ in range(5)]
    best = min(minimize(value, start, method="BFGS", options={"gtol": 1e-9}).fun for start in starts)
    assert after == pytest.approx(best, rel=1e-5)
    assert after < before
    assert gradient < 1e-5


def test_fewer_words_than_dimensions() -> None:
    """What is orthogonal to all words stays as it is."""
    embedding = made_embedding(60, 10)
    fitted = SoftDebias(5.0).fit(embedding, PAIRS)
    assert fitted.objective < fitted.objective_before
    assert fitted.objective == pytest.approx(written_out(embedding, fitted, fitted.matrix), rel=1e-6)
    outside = np.linalg.svd(embedding.vectors)[2][-1]
    assert np.allclose(fitted.matrix @ outside, outside, atol=1e-6)


def test_rotation_equivariance() -> None:
    embedding = made_embedding()
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(12, 12)))[0]
    turned = bb.Embedding(embedding.words, embedding.vectors @ turn)
    one = SoftDebias(5.0).fit(embedding, PAIRS).transform(embedding).vectors @ turn
    assert np.allclose(one, SoftDebias(5.0).fit(turned, PAIRS).transform(turned).vectors)


def test_transform_leaves_the_input_and_what_is_not_chosen() -> None:
    embedding = made_embedding(dtype=np.float32)
    before = embedding.vectors.tobytes()
    fitted = SoftDebias(5.0).fit(embedding, PAIRS, name="gender")
    after = fitted.transform(embedding, target=["word1", "word2"], ignore=["word2"])
    assert embedding.vectors.tobytes() == before
    changed = (after.vectors != embedding.vectors).any(axis=1)
    assert [word for word, differs in zip(embedding.words, changed, strict=True) if differs] == ["word1"]
    assert after.name == "made, soft-debiased (gender, strength 5)"
    assert after.vectors.dtype == np.float32


def test_chosen_neutral_words_alone_are_turned_away() -> None:
    embedding = made_embedding()
    fitted = SoftDebias(1e4).fit(embedding, PAIRS, neutral=["word1"])
    x = fitted.matrix @ fitted.matrix
    units = unit(embedding.vectors)
    along = np.abs(units @ x @ fitted.subspace.directions[0])
    row = embedding.words.index("word1")
    assert along[row] < 0.01
    assert np.median(along) > 0.05


def test_bad_input() -> None:
    embedding = made_embedding()
    for strength in (-1, np.nan, np.inf, "0.2", True):
        with pytest.raises(ArgumentError, match="strength"):
            SoftDebias(strength)  # type: ignore[arg-type]
    with pytest.raises(LostWordsError, match="'queen'"):
        SoftDebias().fit(embedding, PAIRS, neutral=["quean"])
    with pytest.raises(MeasureError, match="`neutral`"):
        SoftDebias().fit(embedding, PAIRS, neutral=[])
    with pytest.raises(MeasureError, match="12 dimensions"):
        SoftDebias().fit(embedding, PAIRS).transform(made_embedding(5))


def test_sets_that_overlap_are_fine_where_nothing_is_equalized() -> None:
    assert SoftDebias().fit(made_embedding(), [*PAIRS, ["king", "rabbi"]]).gradient < 1e-8


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
@pytest.mark.parametrize(
    ("file", "sets"),
    [("googlenews_word2vec_300d_13784.npz", "gender_bolukbasi"), ("glove_6b_50d_10382.txt", "religion_manzini")],
)
def test_real_vectors(file: str, sets: str, shared: Path) -> None:
    embedding = bb.load_embedding(shared / "data" / "embeddings" / file)
    before = embedding.vectors.tobytes()
    fitted = SoftDebias(1e4).fit(embedding, sets)
    assert embedding.vectors.tobytes() == before
    assert fitted.objective < 0.05 * fitted.objective_before
    assert fitted.gradient < 1e-8
    rows = [row for row, word in enumerate(embedding.words) if word not in fitted.sets.non_neutral]
    directions = fitted.subspace.directions.T
    along = [
        np.abs(unit(vectors[rows]) @ directions).mean()
        for vectors in (embedding.vectors, fitted.transform(embedding).vectors)
    ]
    assert along[1] < 0.15 * along[0]
    # The papers' 0.2 does next to nothing where the other term sums over 10,000 words.
    weak = SoftDebias(0.2).fit(embedding, sets)
    assert 0.99 < weak.objective / weak.objective_before < 1
