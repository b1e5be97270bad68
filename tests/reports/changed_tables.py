"""Distance tables before and after a known change."""

from typing import Any

import numpy as np
import pandas as pd

from bayesbias.reports.embeddings.comparison import EmbeddingComparison, compare_embeddings

MEANS = {"associated": 0.10, "different": 0.03, "human": 0.0, "neutral": 0.0}
WORDS = tuple(f"w{number}" for number in range(8))
QUICK: dict[str, Any] = {"draws": 500, "chains": 2, "random_seed": 1}


def before_table(words: tuple[str, ...] = WORDS, attributes: int = 8, *, seed: int = 0) -> pd.DataFrame:
    """Rows of every word with every attribute, whose effects are large beside any change."""
    rng = np.random.default_rng(seed)
    effects = {name: rng.normal(0, 0.1, attributes) for name in MEANS}
    return pd.DataFrame(
        {
            "protected_word": word,
            "protected_group": f"group {place % 2}",
            "attribute_word": f"{connection}{number}",
            "attribute_group": connection,
            "connection": connection,
            "cosine_distance": 0.8 + effects[connection][number] + rng.normal(0, 0.05),
        }
        for place, word in enumerate(words)
        for connection in MEANS
        for number in range(attributes)
    )


def changed_table(
    table: pd.DataFrame,
    *,
    means: dict[str, float] = MEANS,
    word_sd: float = 0.02,
    attribute_sd: float = 0.0,
    sigma: float = 0.03,
    seed: int = 1,
) -> pd.DataFrame:
    """The same rows, each changed by a mean of its connection, an effect of each of its words, and noise."""
    rng = np.random.default_rng(seed)
    cells = {key: rng.normal(0, word_sd) for key in zip(table["protected_word"], table["connection"], strict=True)}
    effects = {word: rng.normal(0, attribute_sd) for word in table["attribute_word"].unique()}
    change = [
        means[connection] + cells[word, connection] + effects[attribute] + rng.normal(0, sigma)
        for word, connection, attribute in zip(
            table["protected_word"], table["connection"], table["attribute_word"], strict=True
        )
    ]
    return table.assign(cosine_distance=table["cosine_distance"] + change)


def compared(model: str = "hierarchical", **settings: Any) -> EmbeddingComparison:
    table = before_table()
    return compare_embeddings({"old": table, "new": changed_table(table)}, model, **{**QUICK, **settings})
