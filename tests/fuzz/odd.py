"""Values of types that nobody expects, in data that JSON can hold."""

from collections.abc import Mapping
from typing import Any

import numpy as np

Generator = np.random.Generator
ODD_VALUES: tuple[Any, ...] = (
    *(5, -1, 1.5, None, True, "", "x", "\ud800", "<script>", [], {}, [1], {"a": 1}, ["a"], [["a"]], [{}]),
    *({"name": 5}, {"name": "x", "hash": 3}, [[[[[[[[]]]]]]]], "9" * 50, float("1e308")),
)


def odd_value(rng: Generator) -> Any:
    """Return a value of a type that nobody expects."""
    return ODD_VALUES[int(rng.integers(len(ODD_VALUES)))]


def with_odd_value(value: Any, rng: Generator) -> Any:
    """Return a copy of JSON data with something odd at some place."""
    if isinstance(value, Mapping) and value and rng.random() < 0.9:
        key = list(value)[int(rng.integers(len(value)))]
        if rng.random() < 0.1:
            return {name: part for name, part in value.items() if name != key}
        return {**value, key: with_odd_value(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.7:
        at = int(rng.integers(len(value)))
        return [*value[:at], with_odd_value(value[at], rng), *value[at + 1 :]]
    return odd_value(rng)
