"""Weights of effects, against a regression on the cells and against their definitions."""

from itertools import product

import numpy as np
import pytest

from bayesbias.studies.factor_design import (
    INTERACTION,
    MAIN,
    SIMPLE,
    Crossing,
    crossing_of,
    effects_of,
    level_contrasts,
)


def made(*sizes: int, **numbers: dict[str, dict[str, float]]) -> Crossing:
    factors: dict[str, dict[str, list[str]]] = {
        f"f{place}": {f"l{level}": [] for level in range(size)} for place, size in enumerate(sizes)
    }
    for cell in product(*map(range, sizes)):
        for levels, level in zip(factors.values(), cell, strict=True):
            levels[f"l{level}"].append("".join(map(str, cell)))
    return crossing_of(factors, **numbers)


@pytest.mark.parametrize("sizes", [(2,), (3,), (2, 2), (2, 3), (2, 2, 2), (4, 2, 3)])
def test_effects_have_the_ranks_of_an_analysis_of_variance(sizes: tuple[int, ...]) -> None:
    """The contrasts of a source span as many dimensions as it has degrees of freedom; sources are orthogonal."""
    effects = [effect for effect in effects_of(made(*sizes)) if effect.kind in (MAIN, INTERACTION)]
    by_source: dict[str, list[np.ndarray]] = {}
    for effect in effects:
        by_source.setdefault(effect.source, []).append(effect.weights)
        assert effect.weights.sum() == pytest.approx(0)
    freedom = {source: int(np.prod([sizes[int(name[1:])] - 1 for name in source.split(" x ")])) for source in by_source}
    assert {source: np.linalg.matrix_rank(weights) for source, weights in by_source.items()} == freedom
    assert sum(freedom.values()) == np.prod(sizes) - 1
    for one, other in product(by_source, repeat=2):
        if one != other:
            assert np.abs(np.array(by_source[one]) @ np.array(by_source[other]).T).max() < 1e-12


def test_effects_recover_additive_means_and_leave_the_interaction_at_0() -> None:
    rows, columns = np.array([0.1, 0.4]), np.array([0.0, -0.2, 0.5])
    means = (rows[:, None] + columns).ravel()
    for effect in effects_of(made(2, 3)):
        value = effect.weights @ means
        if effect.kind == INTERACTION:
            assert value == pytest.approx(0)
        elif effect.kind in (MAIN, SIMPLE):
            first, second = (int(level[1:]) for level in effect.sides or ())
            of_factor = {"f0": rows, "f1": columns}[effect.source]
            assert value == pytest.approx(of_factor[first] - of_factor[second])


def test_main_effects_are_weighted_means_of_simple_effects() -> None:
    crossing = made(2, 2, 2, level_weights={"f1": {"l0": 3, "l1": 1}, "f2": {"l0": 1, "l1": 4}})
    effects = effects_of(crossing)
    main = next(effect for effect in effects if effect.kind == MAIN and effect.source == "f0")
    simple = [effect.weights for effect in effects if effect.kind == SIMPLE and effect.source == "f0"]
    weights = np.outer([0.75, 0.25], [0.2, 0.8]).ravel()
    assert main.weights == pytest.approx(weights @ np.array(simple))


def test_a_trend_of_equal_distances_takes_the_place_of_a_difference() -> None:
    crossing = made(3, trends={"f0": {"l0": 10.0, "l1": 20.0, "l2": 30.0}})
    names = [name for name, _ in level_contrasts(crossing, "f0")]
    assert names == ["linear trend from l0 to l2", "l0 - l1", "l1 - l2"]
    assert level_contrasts(crossing, "f0")[0][1] == pytest.approx([-1, 0, 1])


def test_a_trend_follows_the_numbers_whatever_the_order_of_the_levels() -> None:
    numbers = {"l0": 7.0, "l1": -1.0, "l2": 3.0, "l3": 0.5}
    name, weights = level_contrasts(made(4, trends={"f0": numbers}), "f0")[0]
    means = np.array([0.3, 0.1, -0.2, 0.4])
    assert name == "linear trend from l1 to l0"
    assert weights @ means == pytest.approx(8 * np.polyfit(list(numbers.values()), means, 1)[0])


def test_cells_are_in_the_order_of_their_levels_and_shares_are_equal_within_them() -> None:
    crossing = made(2, 3)
    assert [cell[0] for cell in crossing.cells] == ["00", "01", "02", "10", "11", "12"]
    assert crossing.places[4] == ("l1", "l1")
    assert crossing.shares(["12", "00"]).tolist() == [[0, 1], [0, 0], [0, 0], [0, 0], [0, 0], [1, 0]]
