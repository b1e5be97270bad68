"""Tables of attribute words around the means of their lists, complete or with lost pairs."""

from dataclasses import replace

import numpy as np

from bayesbias.models.data import ModelData, study_data
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample

CONNECTIONS = ("associated", "different", "neutral")


def list_data(
    groups: tuple[int, ...] = (3, 3), attributes: int = 6, controls: int = 10, *, lost: float = 0.0, seed: int = 1
) -> ModelData:
    """Return a study with a list for each protected group, and control words."""
    rng = np.random.default_rng(seed)
    group_of = np.repeat(np.arange(len(groups)), groups)
    list_of = np.repeat(np.arange(len(groups)), attributes)
    stereotype = (group_of[:, None] != list_of).astype(int)
    connection = np.column_stack([stereotype, np.full((len(group_of), controls), 2)])
    connections = CONNECTIONS if controls else CONNECTIONS[:2]
    if lost:
        connection = np.where(rng.random(connection.shape) < lost, -1, connection)
    data = study_data(connection, np.array([f"g{group}" for group in group_of]), connections)
    vectors = 0.1 * rng.standard_normal((len(group_of), 20)) + 0.1 * rng.standard_normal(20)
    meaning = rng.standard_normal((connection.shape[1], 20))
    noise = 0.02 * rng.standard_normal(connection.shape)
    distance = 0.9 + 0.05 * stereotype_contrast(stereotype, controls) + vectors @ meaning.T / 4 + noise
    return replace(data, distance=distance[data.protected, data.attribute])


def stereotype_contrast(stereotype: np.ndarray, controls: int) -> np.ndarray:
    """Return 1 where a pair is different, 0 elsewhere, shape (words, attribute words)."""
    return np.column_stack([stereotype, np.zeros((len(stereotype), controls))])


def list_sample(**settings: object) -> tuple[AttributeSample, tuple[str, ...]]:
    """Return the sample of `list_data`, and its connections."""
    data = list_data(**settings)  # type: ignore[arg-type]
    return attribute_sample(data), data.connections
