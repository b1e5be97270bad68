"""Draws of MIDB's directions, against names that are repeated."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.metrics.intrinsic.name_directions import drawn_weighted_directions

FEMALE, MALE = [f"amy{n}" for n in range(6)], [f"bob{n}" for n in range(5)]
VECTORS = dict(zip([*FEMALE, *MALE], np.random.default_rng(4).normal(size=(11, 7)), strict=True))


def of_repeated_names(vectors: dict[str, np.ndarray], counts: np.ndarray) -> np.ndarray:
    """Return sum_i a_i g_i of names that stand as often as they are counted, by a plain decomposition."""
    female, male = np.repeat(FEMALE, counts[:6]), np.repeat(MALE, counts[6:])
    differences = np.array([vectors[f] - vectors[m] for f in female for m in male])
    _, sizes, directions = np.linalg.svd(differences, full_matrices=False)
    sides = np.sign(directions @ differences.mean(axis=0))
    return np.asarray((sides * sizes**2 / (sizes**2).sum())[:3] @ directions[:3])


@pytest.mark.parametrize("centred", [False, True])
def test_weights_of_names_are_names_repeated(centred: bool) -> None:
    counts = np.random.default_rng(1).integers(1, 4, size=(5, 11))
    female, male = (np.array([VECTORS[name] for name in names]) for names in (FEMALE, MALE))
    weights = counts[:, :6].astype(float), counts[:, 6:].astype(float)
    sums = drawn_weighted_directions(female, male, weights, 3, centred=centred)
    for row, count in zip(sums, counts, strict=True):
        repeated = [np.repeat(rows, some, axis=0) for rows, some in ((female, count[:6]), (male, count[6:]))]
        directions, shares = bb.geometry.weighted_directions(*repeated, components=3, centred=centred)
        np.testing.assert_allclose(row, shares @ directions, atol=1e-9)
        if not centred:
            np.testing.assert_allclose(row, of_repeated_names(VECTORS, count), atol=1e-9)
