"""A table of one protected group and two lists, with a covariate that its leans follow."""

import numpy as np
import pandas as pd
import xarray as xr

import bayesbias as bb

SLOPE = -0.2


def made_table(words: int = 9, attributes: int = 5, *, noise: float = 0.02, seed: int = 1) -> pd.DataFrame:
    """Return distances to `near` and `far` words; the lean has the slope SLOPE on the column `share`, plus noise."""
    rng = np.random.default_rng(seed)
    share = np.linspace(0, 1, words) ** 2
    lean = SLOPE * share + noise * rng.standard_normal(words)
    common = 0.05 * rng.standard_normal((words, 3))
    rows = []
    for name, side in (("near", 0.5), ("far", -0.5)):
        for number in range(attributes):
            distances = 0.9 + side * lean + common @ rng.standard_normal(3) + 0.01 * rng.standard_normal(words)
            rows += [
                {
                    "protected_word": f"<b>w{place}",
                    "protected_group": "<i>jobs",
                    "attribute_word": f"{name}{number}",
                    "attribute_group": name,
                    "connection": "associated" if name == "near" else "different",
                    "cosine_distance": distance,
                    "share": share[place],
                }
                for place, distance in enumerate(distances)
            ]
    return pd.DataFrame(rows)


def made_fit(**settings: int) -> xr.DataTree:
    """Return a fit of `made_table` with its covariate."""
    return bb.fit(made_table(**settings), covariates="share", draws=250, random_seed=1, progress=False)
