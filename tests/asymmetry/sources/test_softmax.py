"""Softmax over a vocabulary: large numbers, memory and time."""

import math
import tracemalloc

import numpy as np
import pytest

from bayesbias.asymmetry.sources.softmax import BLOCK, log_normalisers
from tests.bench import seconds_of


def test_large_projections_do_not_overflow() -> None:
    normalisers = log_normalisers(np.array([[1.0, 0.0]]), np.array([[5000.0, 0.0], [4999.0, 1.0], [-9e8, 0.0]]))
    assert normalisers[0] == pytest.approx(5000 + math.log(1 + math.exp(-1)))


def test_memory_is_that_of_a_block() -> None:
    rng = np.random.default_rng(1)
    cues, words = (rng.standard_normal((count, 20), dtype=np.float32) for count in (6000, 4000))
    tracemalloc.start()
    log_normalisers(cues, words)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * BLOCK * len(words) * 4  # all projections would be 12 times as much


@pytest.mark.slow
def test_a_softmax_takes_less_than_twice_its_matrix_product() -> None:
    """Both in turn, so that whatever else the machine does falls on both."""
    rng = np.random.default_rng(1)
    cues, words = (rng.standard_normal((4000, 300), dtype=np.float32) / 10 for _ in range(2))
    turns = [(seconds_of(lambda: cues @ words.T), seconds_of(lambda: log_normalisers(cues, words))) for _ in range(3)]
    product, ours = map(min, zip(*turns, strict=True))
    assert ours / product < 2.5
