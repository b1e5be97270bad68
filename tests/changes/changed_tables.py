"""Distance tables before and after a known change."""

from typing import Any

import numpy as np
import pandas as pd

from bayesbias.changes.compare import compare_embeddings
from bayesbias.changes.result import Changes

MEANS = {"associated": 0.10, "different": 0.03, "human": 0.0, "neutral": 0.0}
WORDS = tuple(f"w{number}" for number in range(8))
QUICK: dict[str, Any] = {"draws": 100, "random_seed": 1, "progress": False}


def before_table(words: tuple[str, ...] = WORDS, attributes: int = 8, *, seed: int = 0) -> pd.DataFrame:
    """Rows of every word with every attribute word, whose effects are large beside any change."""
    rng = np.random.default_rng(seed)
    lists = {name: rng.normal(0, 0.1, attributes) for name in ("first", "second", "human", "neutral")}
    return pd.DataFrame(
        {
            "protected_word": word,
            "protected_group": f"group {place % 2}",
            "attribute_word": f"{name}{number}",
            "attribute_group": name,
            "connection": connection_of(place % 2, name),
            "cosine_distance": 0.8 + effects[number] + rng.normal(0, 0.05),
        }
        for place, word in enumerate(words)
        for name, effects in lists.items()
        for number in range(attributes)
    )


def connection_of(group: int, name: str) -> str:
    """Return the connection of a list to a group: each group has a list of its own."""
    if name in ("human", "neutral"):
        return name
    return "associated" if (name == "first") == (group == 0) else "different"


def changed_table(
    table: pd.DataFrame, *, means: dict[str, float] = MEANS, word_sd: float = 0.02, sigma: float = 0.03, seed: int = 1
) -> pd.DataFrame:
    """The same rows, each changed by a mean of its connection, an effect of its word, and noise."""
    rng = np.random.default_rng(seed)
    cells = {key: rng.normal(0, word_sd) for key in zip(table["protected_word"], table["connection"], strict=True)}
    change = [
        means[connection] + cells[word, connection] + rng.normal(0, sigma)
        for word, connection in zip(table["protected_word"], table["connection"], strict=True)
    ]
    return table.assign(cosine_distance=table["cosine_distance"] + change)


def compared(**settings: Any) -> Changes:
    """Return the comparison of a table with its change."""
    table = before_table()
    return compare_embeddings({"old": table, "new": changed_table(table)}, **{**QUICK, **settings})
