"""Small samples of periods, and the plain paired analysis of them by SciPy."""

import numpy as np
import pandas as pd
from scipy import stats


def made_tables(
    periods: int = 3, words: int = 3, attributes: int = 4, seed: int = 1, change: float = 0.0
) -> dict[str, pd.DataFrame]:
    """Return tables of two groups and two lists by period; the contrast widens by `change` in each period."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0.9, 0.1, (2 * words, 2 * attributes))
    tables = {}
    for period in range(periods):
        distances = common + rng.normal(0, 0.03, common.shape)
        rows = []
        for word in range(2 * words):
            for attribute in range(2 * attributes):
                group, place = word // words, attribute // attributes
                connection = "associated" if group == place else "different"
                distance = distances[word, attribute] - (change * period if group == place else 0.0)
                rows.append((f"w{word}", f"group{group}", f"a{attribute}", f"list{place}", connection, distance))
        columns = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection"]
        tables[str(1900 + 10 * period)] = pd.DataFrame(rows, columns=[*columns, "cosine_distance"])
    return tables


def contrast_of(tables: dict[str, pd.DataFrame], weights: np.ndarray) -> dict[str, np.ndarray]:
    """Return by list what each of its words says on a weighted sum of the contrasts of all words."""
    scores: dict[str, np.ndarray] = {}
    for weight, table in zip(weights, tables.values(), strict=True):
        sign = np.where(table["connection"] == "associated", 1.0, -1.0)
        signed = table.assign(score=sign * table["cosine_distance"] * weight)
        means = signed.groupby(["attribute_group", "attribute_word"])["score"].mean()
        for name, part in means.groupby(level=0):
            scores[str(name)] = scores.get(str(name), 0) + part.to_numpy()
    return scores


def welch_quantiles(scores: dict[str, np.ndarray], levels: list[float]) -> np.ndarray:
    """Return quantiles of the sum of two lists' means, by SciPy's t-test of unequal variances."""
    first, second = scores.values()
    test = stats.ttest_ind(first, -second, equal_var=False)
    total = first.mean() + second.mean()
    return np.asarray(stats.t(test.df, total, total / test.statistic).ppf(levels))
