"""Statistics of what joins words and connections: many words in bounded memory."""

import tracemalloc

import numpy as np
import pytest

from bayesbias.models.data import model_data
from bayesbias.reports.checks import joint_statistics as module
from tests.models.tables import small


def test_tables_that_are_taken_in_pieces_have_the_same_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    data = model_data(small())
    order = np.arange(len(data.distance))
    distances = data.distance + 0.1 * np.random.default_rng(1).standard_normal((7, len(order)))
    whole = module.JointStatistics(data, order)(distances)
    monkeypatch.setattr(module, "_BLOCK", 1)
    parts = module.JointStatistics(data, order)(distances)
    assert parts.keys() == whole.keys()
    for name, values in whole.items():
        np.testing.assert_allclose(parts[name], values, rtol=1e-9)


def test_many_words_are_not_all_held_at_once() -> None:
    """The products of 1,000 words with each other, of 20 tables, are 160 MB, and were held three times."""
    words, attributes = 1000, 3
    data = model_data(small(words=words, attributes=attributes))
    order = np.arange(len(data.distance))
    distances = data.distance + 0.1 * np.random.default_rng(1).standard_normal((20, len(order)))
    statistics = module.JointStatistics(data, order)
    tracemalloc.start()
    values = statistics(distances)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(values["largest residual correlation"]) == 20
    assert peak < 200e6
