"""Accuracy and its interval."""

import numpy as np
import pytest
from scipy.stats import beta

from bayesbias.errors import ArgumentError
from bayesbias.nli.test_sets.accuracy import accuracy, share_interval


@pytest.mark.parametrize(("hits", "trials"), [(0, 4), (3, 7), (70, 100), (50, 50)])
def test_the_interval_is_the_shortest_of_its_probability(hits: int, trials: int) -> None:
    """Against all intervals on a fine grid of lower ends, by SciPy's quantiles."""
    low, high = share_interval(hits, trials, 0.89)
    found = beta(hits + 1, trials - hits + 1)
    assert found.cdf(high) - found.cdf(low) == pytest.approx(0.89, abs=1e-9)
    below = np.linspace(0, 0.11, 20_001)
    widths = found.ppf(below + 0.89) - found.ppf(below)
    assert high - low == pytest.approx(widths.min(), abs=1e-6)


def test_counts_and_shares() -> None:
    answers = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.5, 0.3], [0.0, 0.4, 0.6]])
    found = accuracy(answers, ["neutral", "entailment", "contradiction", "contradiction"], hdi_prob=0.5)
    assert (found.accuracy, found.pairs, found.largest_label) == (0.75, 4, 0.5)
    assert found.counts.to_numpy().tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert found.hdi_low < 0.75 < found.hdi_high
    assert "accuracy='0.750'" in repr(found)
    assert "<table>" in found._repr_html_()
    with pytest.raises(ArgumentError, match="hdi_prob=1"):
        accuracy(answers, ["neutral"] * 4, hdi_prob=1)
