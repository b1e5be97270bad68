"""GloVe as a whole: it descends, repeats with any number of threads, and finds what stands together."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bayesbias import geometry
from bayesbias.embeddings.training.corpus import count_cooccurrences, read_corpus
from bayesbias.embeddings.training.glove import glove, one_epoch, plain_descent, sorted_cells, start_numbers
from bayesbias.errors import EmbeddingError, NotEnoughMemoryError
from tests.embeddings.training.texts import documents

SETTINGS = {
    **{"dimensions": 6, "min_count": 1, "window": 5, "epochs": 25, "x_max": 10.0, "alpha": 0.75, "learning_rate": 0.05}
}


def trained(threads=1, seed=1, **changes):
    corpus = read_corpus(documents(), min_count=1)
    words = []
    arrays = glove(corpus, {**SETTINGS, **changes}, threads)(seed, words.append)
    return corpus, arrays, sum(words)


def test_the_objective_falls_to_what_a_general_minimiser_finds():
    """Plain NumPy and L-BFGS from SciPy, which knows nothing of entries, cells and steps, on the same matrix."""
    from scipy.optimize import minimize

    corpus = read_corpus(documents(), min_count=1)
    size, counted = len(corpus.words), count_cooccurrences(corpus.stream, len(corpus.words), 5)
    cells = sorted_cells(counted, size, np.random.default_rng(1))
    X = np.zeros((size, size))
    X[cells.rows, cells.columns] = np.exp(cells.logs)
    np.testing.assert_allclose(X, X.T)
    there, weights = X > 0, np.minimum(1, (X / 10) ** 0.75)
    logs = np.log(X, out=np.zeros_like(X), where=there)
    words, contexts = start_numbers(size, 2, np.random.default_rng(2))
    shapes = [(size, 2), (size,), (size, 2), (size,)]

    def objective(flat):
        W, b, C, b_ = (
            part.reshape(shape)
            for part, shape in zip(
                np.split(flat, np.cumsum([np.prod(block) for block in shapes])[:-1]), shapes, strict=True
            )
        )
        difference = np.where(there, W @ C.T + b[:, None] + b_ - logs, 0)
        slope = weights * difference
        gradient = [slope @ C, slope.sum(1), slope.T @ W, slope.sum(0)]
        return 0.5 * (slope * difference).sum(), np.concatenate([block.ravel() for block in gradient])

    start = np.concatenate(
        [block.ravel() for block in (words[:, 0, :2], words[:, 0, -2], contexts[:, 0, :2], contexts[:, 0, -1])]
    )
    best = minimize(objective, start.astype(float), jac=True, method="L-BFGS-B", options={"maxiter": 5000}).fun
    descend_cell = plain_descent(cells, words, contexts, {**SETTINGS, "dimensions": 2})
    costs = [sum(cost for _, cost in one_epoch(cells, descend_cell, 1)) for _ in range(150)]
    assert best < costs[-1] < best + 0.001 * costs[0]


def test_any_number_of_threads_gives_the_same_bits():
    _, one, words = trained()
    _, three, _ = trained(threads=3)
    _, other, _ = trained(seed=2)
    assert words == pytest.approx(25 * 60 * 12)
    for name, values in one.items():
        np.testing.assert_array_equal(values, three[name])
        assert (values != other[name]).all()
    np.testing.assert_array_equal(one["vectors"], one["word_vectors"] + one["context_vectors"])


@pytest.mark.slow
def test_a_cold_and_a_warm_cache_of_compiled_code_give_the_same_bits(tmp_path: Path):
    code = "from tests.embeddings.training.test_glove import trained; print(trained()[1]['vectors'].tobytes().hex())"
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert printed[0] == printed[1]
    assert printed[0].strip() == trained()[1]["vectors"].tobytes().hex()


def test_words_that_stand_together_are_near_each_other():
    corpus, arrays, _ = trained()
    rows = geometry.unit_rows(arrays["vectors"])
    half = np.array([word in ("king", "queen", "man", "woman", "child") for word in corpus.words])
    cosines = rows @ rows.T
    together = half[:, None] == half
    np.fill_diagonal(together, val=False)
    assert cosines[together].min() > cosines[half][:, ~half].max()


def test_what_cannot_be_trained(monkeypatch: pytest.MonkeyPatch):
    alone = read_corpus([["a"], ["b"], ["a"]], min_count=1)
    with pytest.raises(EmbeddingError, match=r"2 words"):
        glove(alone, SETTINGS, 1)
    with pytest.raises(EmbeddingError, match="GloVe"):
        trained(learning_rate=1e30)
    corpus = read_corpus(documents(), min_count=1)
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 10)
    with pytest.raises(NotEnoughMemoryError, match=r"20 .* 6 "):
        glove(corpus, SETTINGS, 1)
