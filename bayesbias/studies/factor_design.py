"""Effects of crossed factors: contrasts of the means of their cells, as an analysis of variance has them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product

import numpy as np

from bayesbias.studies.faults import cells_of

MEAN, MAIN, INTERACTION, SIMPLE = "mean", "main effect", "interaction", "simple effect"
TIMES = " x "
_SAME = 1e-9  # of weights


@dataclass(frozen=True, eq=False)
class FactorEffect:
    """A contrast of the means of cells.

    - `kind`: `MEAN`, `MAIN`, `INTERACTION` or `SIMPLE`.
    - `source`: the factors that it is of, such as "race x gender".
    - `name`: what is subtracted, such as "white - black".
    - `within`: in simple effects, the levels of the other factors.
    - `weights`: weight of each cell, shape (cells,).
    - `sides`: of a difference of two levels, their names.
    """

    kind: str
    source: str
    name: str
    within: str
    weights: np.ndarray
    sides: tuple[str, str] | None = None


@dataclass(frozen=True, eq=False)
class Crossing:
    """Crossed factors.

    - `levels`: factor -> its levels.
    - `cells`: the groups, or lists, of each cell: of each combination of levels, the last factor running fastest.
    - `numbers`: ordered factor -> the number of each level.
    - `weights`: factor -> the weight of each level in averages over the factor, with the sum 1.
    """

    levels: Mapping[str, tuple[str, ...]]
    cells: tuple[tuple[str, ...], ...]
    numbers: Mapping[str, np.ndarray]
    weights: Mapping[str, np.ndarray]

    @property
    def places(self) -> list[tuple[str, ...]]:
        """The levels of each cell."""
        return list(product(*self.levels.values()))

    @property
    def members(self) -> tuple[str, ...]:
        """The groups, or lists, of all cells."""
        return tuple(name for cell in self.cells for name in cell)

    def shares(self, names: Sequence[str]) -> np.ndarray:
        """Return the weight of each named group in the mean of a cell, shape (cells, names): those of a cell are equal.

        >>> crossing_of({"age": {"young": ["boys", "girls"], "old": ["elders"]}}).shares(["elders", "boys", "girls"])
        array([[0. , 0.5, 0.5],
               [1. , 0. , 0. ]])
        """
        return np.array([[(name in cell) / len(cell) for name in names] for cell in self.cells])


def crossing_of(
    factors: Mapping[str, Mapping[str, Sequence[str]]],
    trends: Mapping[str, Mapping[str, float]] | None = None,
    level_weights: Mapping[str, Mapping[str, float]] | None = None,
) -> Crossing:
    """Return the crossing of the factors of a study, whose faults were checked."""
    levels = {factor: tuple(members) for factor, members in factors.items()}
    weights = {}
    for factor, names in levels.items():
        of_levels = (level_weights or {}).get(factor, dict.fromkeys(names, 1.0))
        plain = np.array([of_levels[name] for name in names], dtype=float)
        weights[factor] = plain / plain.sum()
    return Crossing(
        levels=levels,
        cells=tuple(cells_of(factors).values()),
        numbers={
            factor: np.array([numbers[name] for name in levels[factor]], dtype=float)
            for factor, numbers in (trends or {}).items()
            if factor in levels
        },
        weights=weights,
    )


def level_contrasts(crossing: Crossing, factor: str) -> list[tuple[str, np.ndarray]]:
    """Return the contrasts of the levels of a factor by name: its linear trend if it is ordered, then all differences.

    The trend is the slope on the numbers of the levels, times the range from the least to the largest number. So it is
    in the unit of the means. Of three levels at equal distances, it is the difference between the last and the first.

    >>> ages = {"young": ["boys"], "middle": ["adults"], "old": ["elders"]}
    >>> crossing = crossing_of({"age": ages}, trends={"age": {"young": 20, "middle": 30, "old": 70}})
    >>> for name, weights in level_contrasts(crossing, "age"):
    ...     print(name, weights.round(2).tolist())
    linear trend from young to old [-0.71, -0.36, 1.07]
    young - middle [1.0, -1.0, 0.0]
    young - old [1.0, 0.0, -1.0]
    middle - old [0.0, 1.0, -1.0]
    """
    names, contrasts = crossing.levels[factor], []
    if factor in crossing.numbers:
        numbers = crossing.numbers[factor]
        # In units of the range: numbers of any size have finite squares.
        around = (numbers - numbers.min()) / (numbers.max() - numbers.min())
        around = around - around.mean()
        first, last = names[int(numbers.argmin())], names[int(numbers.argmax())]
        contrasts.append((f"linear trend from {first} to {last}", around / (around**2).sum()))
    for one, other in combinations(range(len(names)), 2):
        weights = np.zeros(len(names))
        weights[[one, other]] = 1.0, -1.0
        contrasts.append((f"{names[one]} - {names[other]}", weights))
    # A trend that is a difference of two levels takes its place.
    if factor not in crossing.numbers:
        return contrasts
    trend = contrasts[0][1]
    return contrasts[:1] + [
        (name, weights)
        for name, weights in contrasts[1:]
        if not (np.allclose(weights, trend, atol=_SAME) or np.allclose(weights, -trend, atol=_SAME))
    ]


def effects_of(crossing: Crossing) -> list[FactorEffect]:
    """Return the effects of crossed factors: the mean, main effects, interactions, and simple effects.

    A main effect is a difference between two levels, averaged over the levels of the other factors; an interaction is
    the difference of such differences; a simple effect is the difference within one level of each other factor.

    >>> race = {"black": ["black women", "black men"], "white": ["white women", "white men"]}
    >>> gender = {"women": ["black women", "white women"], "men": ["black men", "white men"]}
    >>> for effect in effects_of(crossing_of({"race": race, "gender": gender})):
    ...     print(effect.source, "|", effect.name, "|", effect.within, effect.weights.tolist())
    mean | all cells |  [0.25, 0.25, 0.25, 0.25]
    race | black - white |  [0.5, 0.5, -0.5, -0.5]
    gender | women - men |  [0.5, -0.5, 0.5, -0.5]
    race x gender | (black - white) x (women - men) |  [1.0, -1.0, -1.0, 1.0]
    race | black - white | gender: women [1.0, 0.0, -1.0, 0.0]
    race | black - white | gender: men [0.0, 1.0, 0.0, -1.0]
    gender | women - men | race: black [1.0, -1.0, 0.0, 0.0]
    gender | women - men | race: white [0.0, 0.0, 1.0, -1.0]
    """
    factors = list(crossing.levels)
    contrasts = {factor: level_contrasts(crossing, factor) for factor in factors}
    effects = [FactorEffect(MEAN, MEAN, "all cells", "", _product([crossing.weights[factor] for factor in factors]))]
    for size in range(1, len(factors) + 1):
        for chosen in combinations(factors, size):
            for picked in product(*(contrasts[factor] for factor in chosen)):
                of_chosen = dict(zip(chosen, (weights for _, weights in picked), strict=True))
                names = [name if size == 1 else f"({name})" for name, _ in picked]
                weights = _product([of_chosen.get(factor, crossing.weights[factor]) for factor in factors])
                kind, sides = (MAIN, _sides(crossing, chosen[0], picked[0][1])) if size == 1 else (INTERACTION, None)
                effects.append(FactorEffect(kind, TIMES.join(chosen), TIMES.join(names), "", weights, sides))
    return effects + (_simple_effects(crossing, contrasts) if len(factors) > 1 else [])


def _simple_effects(crossing: Crossing, contrasts: Mapping[str, list[tuple[str, np.ndarray]]]) -> list[FactorEffect]:
    effects = []
    for factor in crossing.levels:
        others = {name: levels for name, levels in crossing.levels.items() if name != factor}
        for name, of_levels in contrasts[factor]:
            for places in product(*others.values()):
                within = dict(zip(others, places, strict=True))
                parts = [
                    of_levels
                    if other == factor
                    else np.array([level == within[other] for level in levels], dtype=float)
                    for other, levels in crossing.levels.items()
                ]
                text = ", ".join(f"{other}: {level}" for other, level in within.items())
                sides = _sides(crossing, factor, of_levels)
                effects.append(FactorEffect(SIMPLE, factor, name, text, _product(parts), sides))
    return effects


def _sides(crossing: Crossing, factor: str, weights: np.ndarray) -> tuple[str, str] | None:
    """Return the two levels that a contrast subtracts from each other; None if it is another one."""
    used = np.flatnonzero(np.abs(weights) > _SAME)
    if len(used) != 2 or abs(weights.sum()) > _SAME:
        return None
    first, second = sorted(used.tolist(), key=lambda place: -weights[place])
    return crossing.levels[factor][first], crossing.levels[factor][second]


def _product(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the weights of cells that are products of those of the levels of each factor."""
    return np.asarray(reduce(np.kron, parts) + 0.0)  # no negative zeros
