"""Repulsion, attraction, neutralization: the objective in a plain loop, its gradient, Adam, and the neighbours."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import bayesbias as bb
from bayesbias.debias import RAN
from bayesbias.debias.by_word.ran import descend, objective
from bayesbias.errors import ArgumentError
from tests.debias.made import PAIRS, made_embedding, unit

WEIGHTS = (0.2, 0.5, 0.3)


def case(words: int = 4, most: int = 5, dims: int = 6) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    before, direction = unit(rng.normal(size=(words, dims))), unit(rng.normal(size=dims))
    neighbours = unit(rng.normal(size=(words, most, dims)))
    counts = np.array([0, 1, 3, 5])
    share = (np.arange(most) < counts[:, None]) / np.maximum(counts, 1)[:, None]
    return rng.normal(size=(words, dims)), before, neighbours, share, direction


def loop(x: np.ndarray, w: np.ndarray, neighbours: np.ndarray, g: np.ndarray) -> float:
    """Kumar et al. (2020), section 4, and the published code's neutralization, for one word."""

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    repulsion = np.mean([abs(cosine(x, n)) for n in neighbours]) if len(neighbours) else 0.0
    return float(WEIGHTS[0] * repulsion + WEIGHTS[1] * abs(cosine(x, w) - 1) / 2 + WEIGHTS[2] * abs(x @ g))


def test_the_objective_and_its_gradient() -> None:
    moved, before, neighbours, share, direction = case()
    value, slope = objective(moved, before, neighbours, share, direction, WEIGHTS)
    for row in range(len(moved)):
        repelled = neighbours[row][share[row] > 0]
        assert value[row] == pytest.approx(loop(moved[row], before[row], repelled, direction))
        numeric = approx_fprime(moved[row], loop, 1e-7, before[row], repelled, direction)
        assert np.allclose(slope[row], numeric, atol=1e-5)


def test_adam_is_the_papers_algorithm() -> None:
    """Kingma and Ba (2015), algorithm 1, written out for one word."""
    _, before, neighbours, share, direction = case()
    after = descend(before, neighbours, share, direction, WEIGHTS, 40, 0.01)
    x, m, v = before[3].copy(), np.zeros(6), np.zeros(6)
    for t in range(1, 41):
        gradient = objective(x[None], before[3:], neighbours[3:], share[3:], direction, WEIGHTS)[1][0]
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        x = x - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    assert np.allclose(after[3], x)


def test_neighbours_with_indirect_bias_are_repelled() -> None:
    """Bolukbasi et al. (2016), section 5.3: 1 - (<w', v'> / (norm(w') norm(v'))) / <w, v>."""
    embedding = made_embedding(neutral=60)
    fitted = RAN(neighbours=10).fit(embedding, PAIRS)
    g, units = fitted.direction, unit(embedding.vectors)
    repelled = fitted._repelled(units.astype(np.float32), np.arange(len(units)))
    for row, w in enumerate(units):
        near = [place for place in np.argsort(-(units @ w)) if place != row][:10]
        expected = set()
        for place in near:
            v = units[place]
            a, b = w - (w @ g) * g, v - (v @ g) * g
            if (w @ v - a @ b / np.linalg.norm(a) / np.linalg.norm(b)) / (w @ v) > 0.05:
                expected.add(place)
        assert set(repelled[row].tolist()) == expected


def test_the_objective_falls_and_the_projection_with_it() -> None:
    embedding = made_embedding(neutral=60)
    words = [word for word in embedding.words if word.startswith("word")]
    fitted = RAN().fit(embedding, PAIRS)
    after = fitted.transform(embedding)
    before = np.abs(unit(embedding.matrix(words)) @ fitted.direction)
    assert np.abs(after.matrix(words) @ fitted.direction).mean() < 0.5 * before.mean()
    assert np.allclose(np.linalg.norm(after.matrix(words), axis=1), 1, atol=1e-6)
    assert (unit(embedding.matrix(words)) * after.matrix(words)).sum(axis=1).min() > 0.5
    for pair in PAIRS:
        assert (after.matrix(pair) == embedding.matrix(pair)).all()


def test_one_word_does_not_depend_on_the_others_that_are_moved() -> None:
    embedding = made_embedding(neutral=60)
    fitted = RAN().fit(embedding, PAIRS)
    alone = fitted.transform(embedding, target=["word7"])["word7"]
    assert np.allclose(alone, fitted.transform(embedding)["word7"], atol=1e-5)


def test_settings_are_checked() -> None:
    for wrong in ({"repulsion": -1.0}, {"steps": 0}, {"rate": 0}, {"neighbours": 1.5}, {"threshold": "x"}):
        with pytest.raises(ArgumentError, match=next(iter(wrong))):
            RAN(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="repulsion, attraction and neutralization"):
        RAN(repulsion=0, attraction=0, neutralization=0)
    assert isinstance(RAN().fit({"he": [1.0, 0], "she": [-1.0, 1]}, [["he", "she"]]), bb.debias.FittedRAN)
