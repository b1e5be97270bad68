"""Fits of small studies with crossed factors, whose vectors are drawn at random around planted means."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesbias as bb

SHAPE = (2, 2)
HOSTILE = "<b>"


def made_study(
    shape: tuple[int, ...] = SHAPE,
    *,
    sizes: dict[str, int] | None = None,
    lists: tuple[str, ...] = ("near", "far"),
    prefix: str = "",
    **sections: Any,
) -> bb.Study:
    """Return a study whose group "g01" is in the levels "l0" of factor "f0" and "l1" of "f1", with four words each."""
    factors: dict[str, dict[str, list[str]]] = {
        f"{prefix}f{place}": {f"l{level}": [] for level in range(size)} for place, size in enumerate(shape)
    }
    groups = {}
    for cell in product(*map(range, shape)):
        group = f"g{''.join(map(str, cell))}"
        groups[group] = [f"{group}w{number}" for number in range((sizes or {}).get(group, 4))]
        for levels, level in zip(factors.values(), cell, strict=True):
            levels[f"l{level}"].append(group)
    return bb.Study(
        name=f"{prefix}crossed",
        protected=groups,
        attributes={name: [f"{name}{number}" for number in range(8)] for name in lists},
        associated=[(group, lists[0]) for group in groups],
        human="none",
        neutral="none",
        **{"factors": factors} | sections,
    )


def made_table(study: bb.Study, planted: dict[str, float] | None = None, *, seed: int = 1) -> pd.DataFrame:
    """Return the distances of random vectors; the words of a group lean to the first list by what is planted."""
    rng = np.random.default_rng(seed)
    first = next(iter(study.attributes))
    axis = rng.normal(size=20) / np.sqrt(20)
    vectors = {word: rng.normal(size=20) / np.sqrt(20) for word in study.words}
    for group, words in study.protected.items():
        for word in words:
            vectors[word] += (planted or {}).get(group, 0.0) * axis
    for word in study.attributes[first]:
        vectors[word] += axis
    return bb.distance_table(vectors, study)


def made_fit(study: bb.Study | None = None, planted: dict[str, float] | None = None, **settings: Any) -> xr.DataTree:
    """Return a fit of `made_table`."""
    table = made_table(study or made_study(prefix=HOSTILE), planted or {"g00": 1.0})
    return bb.fit(table, **{"draws": 250, "random_seed": 1, "progress": False} | settings)
