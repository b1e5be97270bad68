"""Numbers of a small GloVe, and its objective in plain NumPy."""

import numpy as np

from bayesbias.embeddings.training.glove import start_numbers

SIZE, DIMENSIONS, X_MAX, ALPHA = 30, 5, 4.0, 0.75


def far_numbers():
    """Return vectors and biases of words and contexts."""
    words, contexts = start_numbers(SIZE, DIMENSIONS, np.random.default_rng(2))
    words[:, 0, :DIMENSIONS] *= 8  # far from the start, all parts of the gradient are of one size
    contexts[:, 0, :DIMENSIONS] *= 8
    return words, contexts


def parts(words, contexts):
    """Return W, b, C, b' in float64."""
    word_rows, other = words[:, 0].astype(float), contexts[:, 0].astype(float)
    return word_rows[:, :DIMENSIONS], word_rows[:, -2], other[:, :DIMENSIONS], other[:, -1]


def objective(W, b, C, b_, entries):
    """Equation 8 of Pennington et al., halved, term by term."""
    total = 0.0
    for i, j, x in entries:
        weight = (x / X_MAX) ** ALPHA if x < X_MAX else 1.0
        total += 0.5 * weight * (W[i] @ C[j] + b[i] + b_[j] - np.log(x)) ** 2
    return total
