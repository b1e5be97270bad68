"""Fits of large tables, and a fit without each word in turn; `validation/nuts` times samplers beside each other."""

import json
import sys
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.tables.schema import CONNECTION_DTYPE
from tests.bench import Figure, seconds_of
from tests.bench.readers import in_child, most_memory


def measure() -> Iterator[Figure]:
    """Yield the seconds of each fit, and the memory of the largest."""
    what = "exact hierarchical fit of 10,000,000 rows"
    yield Figure(what, in_child("tests.bench.fits", "seconds")["seconds"], 3.0)
    yield Figure(what, in_child("tests.bench.fits", "memory")["memory"], 3.0, "times the table's memory")
    for words, attributes, lost in ((500, 2000, 0.0), (16, 320, 0.02)):
        table = bb.models.simulate_table(large_table(words, attributes), "crossed", random_seed=1)
        facts, table = table.attrs, table[np.random.default_rng(1).random(len(table)) >= lost].reset_index(drop=True)
        table.attrs = facts
        seconds = seconds_of(lambda table=table: _fit(table, "multivariate"))
        yield Figure(f"multivariate fit of {attributes:,} x {words} words, {lost:.0%} of pairs lost", seconds, 60.0)
    table = bb.read_table(bb.bundled("data", "tables", "gender_google_news.csv.gz"))
    draws = bb.fit(table, "crossed", draws=1000, random_seed=1, progress=False)
    yield Figure("as_fit of 4,000 draws", seconds_of(lambda: bb.as_fit(draws, table, "crossed")), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = seconds_of(lambda: bb.sensitivity(table, "crossed", leave_out="attribute_word", random_seed=1))
    yield Figure(f"sensitivity to each of {table['attribute_word'].nunique()} attribute words", seconds, 60.0)


def large_table(words: int = 1_000, attributes: int = 10_000) -> pd.DataFrame:
    """Return a table of all pairs, with categorical word columns."""
    rng = np.random.default_rng(1)
    protected = np.repeat(np.arange(words, dtype=np.int16), attributes)
    attribute = np.tile(np.arange(attributes, dtype=np.int16), words)
    group, lists = (protected % 4).astype(np.int8), (attribute % 6).astype(np.int8)
    connection = np.where(lists < 4, (lists != group).astype(np.int8), lists - 2).astype(np.int8)
    distance = rng.normal(0, 0.1, words * attributes)
    distance += np.array([0.9, 0.95, 0.92, 1.0])[connection] + rng.normal(0, 0.05, words)[protected]
    names = pd.Categorical.from_codes
    return pd.DataFrame(
        {
            "protected_word": names(protected, [f"p{number}" for number in range(words)]),
            "protected_group": names(group, list("abcd")),
            "attribute_word": names(attribute, [f"a{number}" for number in range(attributes)]),
            "attribute_group": names(lists, [*"abcd", "human", "neutral"]),
            "connection": names(connection, dtype=CONNECTION_DTYPE),
            "cosine_distance": distance,
            "cosine_similarity": 1.0 - distance,
        },
        copy=False,
    )


def _fit(table: pd.DataFrame, model: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short chains may warn
        return bb.fit(table, model, draws=1000, chains=4, random_seed=1, progress=False)


def _child(what: str) -> None:
    """Print the seconds of a fit of the large table, or the most memory in use, as times the table's own."""
    table = large_table()
    _fit(table.iloc[:50_000], "hierarchical")  # imports and warms up
    if what == "seconds":
        print(json.dumps({"seconds": seconds_of(lambda: _fit(table, "hierarchical"))}))
        return
    table_memory = int(table.memory_usage(deep=True).sum())
    with most_memory(0.001) as most:
        _fit(table, "hierarchical")
    print(json.dumps({"memory": 1 + most[0] / table_memory}))


if __name__ == "__main__":
    _child(*sys.argv[1:])
