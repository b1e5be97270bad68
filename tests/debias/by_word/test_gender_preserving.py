"""Gender-preserving debiasing: its losses and slopes, a training step, and what it does to planted sides."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias import GenderPreserving
from bayesbias.debias.by_word.gender_preserving import Adam, joint_loss
from bayesbias.errors import ArgumentError, MeasureError
from tests.debias.by_word.test_gender_preserving_autoencoder import DIMS, numeric, weights
from tests.debias.made import PAIRS, WORDS, made_embedding, unit


def test_the_loss_is_that_of_the_paper_and_the_slopes_are_its_own() -> None:
    """Kaneko and Bollegala (2019), written out: mean squared error, cross-entropies, squared inner products."""
    rng = np.random.default_rng(2)
    quad, across, parts = rng.normal(size=(4, DIMS)) / 3, rng.normal(size=DIMS) * 100, weights()

    def plain(w: dict[str, np.ndarray]) -> float:
        hidden = np.tanh(quad @ w["encoder"] + w["encoder_bias"])
        out = np.tanh(hidden @ w["decoder"] + w["decoder_bias"])
        loss = ((out - quad) ** 2).mean()
        for side, name in enumerate(("first", "second")):
            p = 1 / (1 + np.exp(-(hidden @ w[name] + w[f"{name}_bias"])))
            gold = np.eye(4)[side]
            loss += 1e-4 * -(gold * np.log(p) + (1 - gold) * np.log(1 - p)).mean()
        return float(loss + 1e-4 * ((hidden[2] @ across) ** 2 + (hidden[3] @ across) ** 2))

    value, slopes = joint_loss(quad, quad, across, parts)
    assert value == pytest.approx(plain(parts))
    assert set(slopes) == set(parts)
    for name, slope in slopes.items():
        assert np.allclose(slope, numeric(plain, parts, name), atol=1e-6), name


def test_the_encoder_is_applied_and_the_same_seed_gives_the_same() -> None:
    embedding = made_embedding(neutral=60)
    method = GenderPreserving(epochs=20)
    fitted = method.fit(embedding, WORDS)
    after = fitted.transform(embedding)
    for word in ("she", "word12"):
        assert np.allclose(after[word], np.tanh(unit(embedding[word]) @ fitted.matrix + fitted.bias), atol=1e-6)
    assert (method.fit(embedding, WORDS).matrix == fitted.matrix).all()
    assert (GenderPreserving(epochs=20, random_seed=1).fit(embedding, WORDS).matrix != fitted.matrix).any()


def test_what_it_lacks_and_wrong_numbers() -> None:
    no_concept = bb.debias.DebiasWords("x", PAIRS, sides=WORDS.sides)
    with pytest.raises(MeasureError, match=r"none.*`concept`"):
        GenderPreserving(epochs=1).fit(made_embedding(), no_concept)
    for wrong in ({"epochs": 0}, {"words": 1.5}, {"random_seed": -1}):
        with pytest.raises(ArgumentError, match=next(iter(wrong))):
            GenderPreserving(**wrong)  # type: ignore[arg-type]


def test_adam_is_the_algorithm_of_the_paper() -> None:
    """Kingma and Ba (2015), algorithm 1, for the gradient 2 (w - 1) of two weights."""
    weights, adam = {"a": np.array([3.0]), "b": np.array([-2.0, 0.5])}, Adam(0.1)
    expected = np.array([3.0, -2.0, 0.5])
    m, v = np.zeros(3), np.zeros(3)
    for t in range(1, 31):
        adam.update(weights, {name: 2 * (values - 1) for name, values in weights.items()})
        gradient = 2 * (expected - 1)
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        expected = expected - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose([*weights["a"], *weights["b"]], expected, rtol=1e-5)
