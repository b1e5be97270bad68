"""Gender-preserving debiasing: its losses and slopes, a training step, and what it does to planted sides."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import bayesbias as bb
from bayesbias.debias import GenderPreserving
from bayesbias.debias.by_word.autoencoder import (
    Adam,
    classification,
    encoded,
    first_weights,
    reconstruction,
    through_encoder,
)
from bayesbias.debias.by_word.gender_preserving import joint_loss
from bayesbias.errors import ArgumentError, MeasureError
from tests.debias.made import PAIRS, WORDS, made_embedding, unit

DIMS = 5


def weights() -> dict[str, np.ndarray]:
    return {name: each.astype(np.float64) for name, each in first_weights(DIMS, np.random.default_rng(1)).items()}


def numeric(loss, own: dict[str, np.ndarray], name: str) -> np.ndarray:
    def of(flat: np.ndarray) -> float:
        return float(loss(own | {name: flat.reshape(own[name].shape)}))

    return approx_fprime(own[name].ravel(), of, 1e-7).reshape(own[name].shape)


def test_the_loss_is_that_of_the_paper_and_the_slopes_are_its_own() -> None:
    """Kaneko and Bollegala (2019), written out: mean squared error, cross-entropies, squared inner products."""
    rng = np.random.default_rng(2)
    quad, across, own = rng.normal(size=(4, DIMS)) / 3, rng.normal(size=DIMS) * 100, weights()

    def plain(w: dict[str, np.ndarray]) -> float:
        hidden = np.tanh(quad @ w["encoder"] + w["encoder_bias"])
        out = np.tanh(hidden @ w["decoder"] + w["decoder_bias"])
        loss = ((out - quad) ** 2).mean()
        for side, name in enumerate(("first", "second")):
            p = 1 / (1 + np.exp(-(hidden @ w[name] + w[f"{name}_bias"])))
            gold = np.eye(4)[side]
            loss += 1e-4 * -(gold * np.log(p) + (1 - gold) * np.log(1 - p)).mean()
        return float(loss + 1e-4 * ((hidden[2] @ across) ** 2 + (hidden[3] @ across) ** 2))

    value, slopes = joint_loss(quad, quad, across, own)
    assert value == pytest.approx(plain(own))
    assert set(slopes) == set(own)
    for name, slope in slopes.items():
        assert np.allclose(slope, numeric(plain, own, name), atol=1e-6), name


def test_what_is_dropped_goes_in_and_the_whole_is_to_come_out() -> None:
    rng = np.random.default_rng(3)
    rows, own = rng.normal(size=(6, DIMS)) / 3, weights()
    seen = rows * (rng.random(rows.shape) > 0.3)
    _, hidden, slope, slopes = reconstruction(rows, seen, own)
    assert (hidden == encoded(seen, own)).all()
    slopes = slopes | through_encoder(seen, hidden, slope)
    for name in ("encoder", "encoder_bias", "decoder", "decoder_bias"):
        assert np.allclose(slopes[name], numeric(lambda w: reconstruction(rows, seen, w)[0], own, name), atol=1e-6)
    nothing = own | {"first": np.zeros(DIMS), "first_bias": np.zeros(1)}
    loss, _, _ = classification(hidden, np.eye(6)[0], "first", nothing)
    assert loss == pytest.approx(np.log(2))


def test_the_encoder_is_applied_and_the_same_seed_gives_the_same() -> None:
    embedding = made_embedding(neutral=60)
    method = GenderPreserving(epochs=20)
    fitted = method.fit(embedding, WORDS)
    after = fitted.transform(embedding)
    for word in ("she", "word12"):
        assert np.allclose(after[word], np.tanh(unit(embedding[word]) @ fitted.matrix + fitted.bias), atol=1e-6)
    assert (method.fit(embedding, WORDS).matrix == fitted.matrix).all()
    assert (GenderPreserving(epochs=20, random_seed=1).fit(embedding, WORDS).matrix != fitted.matrix).any()


def test_adam_lowers_the_error_of_the_reconstruction() -> None:
    rows, own = unit(np.random.default_rng(4).normal(size=(40, DIMS))), weights()
    before, *_ = reconstruction(rows, rows, own)
    adam = Adam(0.01)
    for _ in range(300):
        _, hidden, slope, slopes = reconstruction(rows, rows, own)
        adam.update(own, slopes | through_encoder(rows, hidden, slope))
    assert reconstruction(rows, rows, own)[0] < 0.1 * before


def test_what_it_lacks_and_wrong_numbers() -> None:
    no_concept = bb.debias.DebiasWords("x", PAIRS, sides=WORDS.sides)
    with pytest.raises(MeasureError, match=r"have none\. Give `concept`"):
        GenderPreserving(epochs=1).fit(made_embedding(), no_concept)
    for wrong in ({"epochs": 0}, {"words": 1.5}, {"random_seed": -1}):
        with pytest.raises(ArgumentError, match=next(iter(wrong))):
            GenderPreserving(**wrong)  # type: ignore[arg-type]
