"""Every named similarity against a loop over pairs of lists."""

import numpy as np
import pytest

from bayesbias.errors import MeasureError
from bayesbias.geometry import canonical_subspace_similarity
from bayesbias.metrics.subspaces.list_similarities import METRICS, all_similarities, list_vectors, metric_name
from bayesbias.metrics.subspaces.mean_cosine import word_cosines
from tests.metrics.made import PETS, cosine, mean_cosine, vectors


def mean_squared(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.mean([cosine(x, y) ** 2 for x in a for y in b]))


BY_PAIR = {
    "canonical_subspace": canonical_subspace_similarity,
    "mean_cosine": mean_cosine,
    "mean_squared_cosine": mean_squared,
    "paired_cosine": lambda a, b: word_cosines(a, b, "paired").mean(),
    "centroid_cosine": lambda a, b: word_cosines(a, b, "centroid").mean(),
}


@pytest.mark.parametrize("metric", METRICS)
def test_all_pairs_are_loops_over_pairs(metric: str) -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(4, 3, 7)), rng.normal(size=(5, 3, 7))
    first[0, 2] = first[0, 0]  # a dependent list among the others
    looped = [[float(BY_PAIR[metric](a, b)) for b in second] for a in first]
    np.testing.assert_allclose(all_similarities(metric, first, second), looped, atol=1e-12)
    np.testing.assert_allclose(all_similarities(BY_PAIR[metric], first, second), looped, atol=1e-12)


def test_names() -> None:
    assert metric_name(mean_cosine) == "mean_cosine"
    with pytest.raises(MeasureError, match=r"'mean_cosines'.*'mean_cosine'"):
        metric_name("mean_cosines")


def test_functions_get_the_vectors_as_they_are() -> None:
    given = vectors()
    lists = {"cats": PETS.protected["cats"][:2]}
    words, (rows,) = list_vectors(given, lists, mean_cosine)
    np.testing.assert_allclose(rows, [given["cat"], given["kitten"]], rtol=1e-6)
    _, (reduced,) = list_vectors(given, lists, "mean_cosine")
    assert words == (("cat", "kitten"),)
    assert reduced.shape == (2, 2)
    np.testing.assert_allclose(reduced @ reduced.T, rows @ rows.T, atol=1e-10)
