"""A prior of the group means far from the data leaves two explanations: words differ much, or attribute words do."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.models.samplers.collapsed import Collapsed, collapse, propose, sample_collapsed
from tests.models.made import made_crossed


def _by_annealing(collapsed: Collapsed, points: int = 2000, seed: int = 1) -> np.ndarray:
    """Return draws of theta by sequential Monte Carlo from a broad start, which knows nothing of modes."""
    rng = np.random.default_rng(seed)
    size = collapsed.scales
    theta = rng.uniform(-9, 1.5, (points, size))
    log = collapsed.log_density(theta)
    power, step = 0.0, 1.0
    while power < 1:
        low, high = power, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            weight = np.exp((middle - power) * (log - log.max()))
            low, high = (middle, high) if weight.sum() ** 2 / np.square(weight).sum() > points / 2 else (low, middle)
        new = 1.0 if high > 0.999 else low
        weight = np.exp((new - power) * (log - log.max()))
        power = new
        theta = theta[rng.choice(points, points, p=weight / weight.sum())]
        log = collapsed.log_density(theta)
        for _ in range(30 if power < 1 else 120):
            one, two = rng.integers(points, size=(2, points))
            shift = step * rng.choice([0.3, 0.7, 1.0], size=(points, 1)) * (theta[one] - theta[two])
            moved = theta + shift * (rng.random((points, size)) < 0.6) + 1e-3 * rng.standard_normal((points, size))
            value = np.where((np.abs(moved + 3.75) < 5.25).all(axis=1), collapsed.log_density(moved), -np.inf)
            accept = np.log(rng.random(points)) < power * (value - log)
            theta[accept], log[accept] = moved[accept], value[accept]
    return theta


@pytest.mark.slow
def test_both_modes_are_proposed_and_weighted_right() -> None:
    spec = bb.load_model("crossed", priors={"connection_mean": "Normal(0.3, 0.05)"})
    collapsed = collapse(made_crossed(), spec)
    assert len(propose(collapsed).parts) > 1
    drawn, error = sample_collapsed(collapsed, draws=8000, rng=np.random.default_rng(1))
    share = (drawn["attribute_sd"] > 0.2).mean()
    expected = (np.exp(_by_annealing(collapsed)[:, -1]) > 0.2).mean()
    assert 0.05 < expected < 0.95
    assert share == pytest.approx(expected, abs=0.06)
    assert float(error["importance_ess"]) > 400


def test_one_mode_is_proposed_once(table) -> None:
    from bayesbias.models.data import model_data

    for model in ("crossed", "crossed_per_list"):
        assert len(propose(collapse(model_data(table), bb.load_model(model))).parts) == 1
