"""GN-GloVe's loop: gradient by finite differences of the objective, and steps against plain NumPy."""

import numpy as np
import pytest

from bayesbias.embeddings.training.glove import EntriesByCell, Penalties
from bayesbias.embeddings.training.glove_sweeps import descend_apart
from tests.embeddings.training import made_glove as glove
from tests.embeddings.training.made_glove import ALPHA, DIMENSIONS, SIZE, X_MAX, far_numbers, parts

APART, NEUTRAL = 0.8, 0.6
SIDES = np.zeros(SIZE, dtype=np.int8)
SIDES[:3], SIDES[3:6] = 1, -1
DIRECTION = np.array([0.7, -0.4, 0.2, 0.9, 0.0])
ENTRIES = [(0, 7, 0.3), (4, 1, 40.0), (8, 9, 2.0), (10, 2, 9.0)]
"""One entry of each kind: a side and a neutral word, both sides, no side."""


@pytest.fixture
def numbers():
    return far_numbers()


def objective(W, b, C, b_, entries):
    """Zhao et al. (2018), section 3, with the penalties of both words of each entry, term by term."""
    total = glove.objective(W, b, C, b_, entries)
    for i, j, _ in entries:
        for vector, side in ((W[i], SIDES[i]), (C[j], SIDES[j])):
            total += NEUTRAL * (vector @ DIRECTION) ** 2 if side == 0 else APART * (side - vector[-1]) ** 2
    return total


def gradients(values, entry):
    h, found = 1e-6, []
    for which, value in enumerate(values):
        gradient = np.zeros_like(value)
        for place in np.ndindex(value.shape):
            costs = []
            for sign in (1, -1):
                moved = [column.copy() for column in values]
                moved[which][place] += sign * h
                costs.append(objective(*moved, [entry]))
            gradient[place] = (costs[0] - costs[1]) / (2 * h)
        found.append(gradient)
    return found


def run(entries, words, contexts, rate):
    rows, columns, counts = (np.array(column) for column in zip(*entries, strict=True))
    logs = np.log(counts).astype(np.float32)
    cells = EntriesByCell(np.array([[len(entries)]]), rows.astype(np.int32), columns.astype(np.int32), logs)
    direction, last = np.zeros((2, words.shape[2]), dtype=np.float32)
    direction[:DIMENSIONS], last[DIMENSIONS - 1] = DIRECTION, 1
    penalties = Penalties(SIDES, direction, last, np.float32(APART), np.float32(NEUTRAL))
    steps = np.float32(rate), np.float32(np.log(X_MAX)), np.float32(ALPHA)
    return descend_apart(0, len(entries), cells, words, contexts, steps, penalties)


def test_the_cost_is_the_objective(numbers):
    assert run(ENTRIES, *numbers, rate=0) == pytest.approx(objective(*parts(*numbers), ENTRIES), rel=1e-5)


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_gradient_by_finite_differences(numbers, entry):
    """The first step of AdaGrad from sums of 1, of length 1, is the gradient."""
    before = parts(*numbers)
    run([entry], *numbers, rate=1)
    for start, end, expected in zip(before, parts(*numbers), gradients(before, entry), strict=True):
        assert np.abs(expected).max() > 0.01
        np.testing.assert_allclose(start - end, expected, atol=4e-6)


def test_steps_against_plain_numpy(numbers):
    """AdaGrad in plain NumPy, with gradients of the objective by finite differences."""
    entries, rate = ENTRIES * 3, 0.05
    values = [column.copy() for column in parts(*numbers)]
    squares = [np.ones_like(column) for column in values]
    for entry in entries:
        for which, gradient in enumerate(gradients(values, entry)):
            step = rate * gradient
            values[which] -= step / np.sqrt(squares[which])
            squares[which] += step**2
    run(entries, *numbers, rate=rate)
    for compiled_values, expected in zip(parts(*numbers), values, strict=True):
        np.testing.assert_allclose(compiled_values, expected, atol=1e-5)
    words, contexts = numbers
    assert (words[:, 0, -1] == 1).all()
    assert (contexts[:, 0, -2] == 1).all()
    assert not words[:, 0, DIMENSIONS:-2].any()
