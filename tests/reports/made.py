"""A fit made of draws whose distribution is known."""

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias.models.data import model_data
from bayesbias.models.fits import finish_fit
from bayesbias.models.spec import load_model

CONNECTIONS = ("associated", "different", "human", "neutral")
MEANS = np.array([0.80, 0.85, 0.90, 0.90])
SDS = np.array([0.01, 0.02, 0.01, 0.03])


def made_table(words: tuple[str, ...], connections: tuple[str, ...] = CONNECTIONS) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "protected_word": word,
            "protected_group": f"group {place % 2}",
            "attribute_word": f"{connection}{number}",
            "attribute_group": connection,
            "connection": connection,
            "cosine_distance": rng.uniform(0.7, 1.1),
        }
        for place, word in enumerate(words)
        for connection in connections
        for number in range(3)
    )


def made_fit(
    words: tuple[str, ...] = ("he", "she"), connections: tuple[str, ...] = CONNECTIONS, *, draws: int = 5000
) -> xr.DataTree:
    """Independent Normal draws: connection means `MEANS` and `SDS`; a word's means are 0.1 times its place lower."""
    data = model_data(made_table(words, connections))
    spec = load_model("hierarchical")
    rng = np.random.default_rng(1)
    places = [CONNECTIONS.index(name) for name in connections]
    shape = (4, draws, len(connections))
    words_shape = (4, draws, len(words), len(connections))
    shift = -0.1 * np.arange(len(words))[:, None]
    coords = {
        "chain": np.arange(4),
        "draw": np.arange(draws),
        "connection": list(connections),
        "protected_word": data.protected_words,
    }
    by_connection = ("chain", "draw", "connection")
    posterior = xr.Dataset(
        {
            "connection_mean": (by_connection, MEANS[places] + SDS[places] * rng.normal(size=shape)),
            "word_sd": (by_connection, rng.exponential(0.1, shape)),
            "sigma": (by_connection, rng.exponential(0.1, shape)),
            "word_mean": (
                ("chain", "draw", "protected_word", "connection"),
                MEANS[places] + shift + SDS[places] * rng.normal(size=words_shape),
            ),
        },
        coords=coords,
    )
    stats = xr.Dataset({"diverging": (("chain", "draw"), np.zeros((4, draws), dtype=bool))})
    settings = {
        "sampler": "nuts",
        "draws": draws,
        "tune": 0,
        "chains": 4,
        "random_seed": 1,
        "groups_not_compared": {},
    }
    return finish_fit(posterior, stats, data, spec, made_table(words, connections), settings=settings)
