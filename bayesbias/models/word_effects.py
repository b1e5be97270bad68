"""A protected word's effects in the multivariate model: its level, its gap, and its distances to controls."""

from collections.abc import Sequence

import numpy as np

_BOTH = ("associated", "different")


def effect_names(connections: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a word's effects; level and gap need associated and different attribute words.

    >>> effect_names(("associated", "different", "human"))
    ('level', 'gap', 'human')
    """
    both = tuple(connections[:2]) == _BOTH
    return ("level", "gap", *connections[2:]) if both else tuple(connections)


def effects_basis(connections: Sequence[str]) -> np.ndarray:
    """Return B, shape (connections, effects): associated = level + gap / 2, different = level - gap / 2.

    >>> effects_basis(("associated", "different", "human"))
    array([[ 1. ,  0.5,  0. ],
           [ 1. , -0.5,  0. ],
           [ 0. ,  0. ,  1. ]])
    """
    matrix = np.eye(len(connections))
    if tuple(connections[:2]) == _BOTH:
        matrix[:2, :2] = [[1, 0.5], [1, -0.5]]
    return matrix
