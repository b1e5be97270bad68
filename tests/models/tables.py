"""Small tables with the traits that samplers trip over."""

import numpy as np
import pandas as pd

from bayesbias.models.data import ModelData, model_data
from bayesbias.tables.codes import PAIR_COLUMNS


def small(
    words: int = 5, attributes: int = 3, *, missing: float = 0.0, seed: int = 0, controls: bool = True
) -> pd.DataFrame:
    """Return a table of two protected groups, two attribute groups and controls, with attribute effects in it."""
    rng = np.random.default_rng(seed)
    lists = {"x": attributes, "y": attributes} | (
        {"human": 2 * attributes, "neutral": 3 * attributes} if controls else {}
    )
    level = {"associated": 0.85, "different": 0.9, "human": 0.95, "neutral": 1.0}
    effect = {f"{name}{number}": rng.normal(0, 0.05) for name, size in lists.items() for number in range(size)}
    rows = []
    for place in range(words):
        own_list = "x" if place < (words + 1) // 2 else "y"
        shift = {name: rng.normal(0, 0.03) for name in level}
        for name, size in lists.items():
            connection = name if name in level else "associated" if name == own_list else "different"
            for number in range(size):
                attribute = f"{name}{number}"
                distance = level[connection] + shift[connection] + effect[attribute] + rng.normal(0, 0.07)
                rows.append((f"p{place}", f"group {own_list}", attribute, name, connection, distance))
    table = pd.DataFrame(rows, columns=[*PAIR_COLUMNS, "cosine_distance"])
    return table[rng.random(len(table)) >= missing].reset_index(drop=True)


def crossed_table(effect_sd: float, *, words: int = 5, attributes: int = 6, seed: int = 0) -> pd.DataFrame:
    """Two stereotype lists that change sides with the protected word's group, and two control lists."""
    rng = np.random.default_rng(seed)
    rows = []
    for list_name in ("one", "two", "human", "neutral"):
        for number in range(attributes):
            effect = effect_sd * rng.standard_normal()
            for place in range(words):
                own_list = list_name == ("one", "two")[place % 2]
                connection = (
                    list_name if list_name in ("human", "neutral") else "associated" if own_list else "different"
                )
                rows.append(
                    {
                        "protected_word": f"p{place}",
                        "protected_group": f"group {place % 2}",
                        "attribute_word": f"{list_name}{number}",
                        "attribute_group": list_name,
                        "connection": connection,
                        "cosine_distance": 0.8 + 0.02 * place + effect + 0.03 * rng.standard_normal(),
                    }
                )
    return pd.DataFrame(rows)


def with_gaps(seed: int) -> ModelData:
    """A table where some cells, and some rows of some attributes, are missing."""
    table = small(seed=seed)
    gone = (table["protected_word"] == "p1") & (table["connection"] == "human")
    gone |= (table["protected_word"] == "p2") & table["attribute_word"].isin(["neutral1", "neutral2", "x0"])
    return model_data(table[~gone])
