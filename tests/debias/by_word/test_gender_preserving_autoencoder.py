"""The autoencoder and its classifiers: values, and slopes beside numeric ones."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from bayesbias.debias.by_word.gender_preserving import (
    Adam,
    classification,
    encoded,
    first_weights,
    reconstruction,
    through_encoder,
)
from tests.debias.made import unit

DIMS = 5


def weights() -> dict[str, np.ndarray]:
    return {name: values.astype(np.float64) for name, values in first_weights(DIMS, np.random.default_rng(1)).items()}


def numeric(loss, parts: dict[str, np.ndarray], name: str) -> np.ndarray:
    def flat_loss(flat: np.ndarray) -> float:
        return float(loss(parts | {name: flat.reshape(parts[name].shape)}))

    return approx_fprime(parts[name].ravel(), flat_loss, 1e-7).reshape(parts[name].shape)


def test_what_is_dropped_goes_in_and_the_whole_is_to_come_out() -> None:
    rng = np.random.default_rng(3)
    rows, parts = rng.normal(size=(6, DIMS)) / 3, weights()
    seen = rows * (rng.random(rows.shape) > 0.3)
    _, hidden, slope, slopes = reconstruction(rows, seen, parts)
    assert (hidden == encoded(seen, parts)).all()
    slopes = slopes | through_encoder(seen, hidden, slope)
    for name in ("encoder", "encoder_bias", "decoder", "decoder_bias"):
        assert np.allclose(slopes[name], numeric(lambda w: reconstruction(rows, seen, w)[0], parts, name), atol=1e-6)
    nothing = parts | {"first": np.zeros(DIMS), "first_bias": np.zeros(1)}
    loss, _, _ = classification(hidden, np.eye(6)[0], "first", nothing)
    assert loss == pytest.approx(np.log(2))


def test_adam_lowers_the_error_of_the_reconstruction() -> None:
    rows, parts = unit(np.random.default_rng(4).normal(size=(40, DIMS))), weights()
    before, *_ = reconstruction(rows, rows, parts)
    adam = Adam(0.01)
    for _ in range(300):
        _, hidden, slope, slopes = reconstruction(rows, rows, parts)
        adam.update(parts, slopes | through_encoder(rows, hidden, slope))
    assert reconstruction(rows, rows, parts)[0] < 0.1 * before
