"""Averages that no model has pooled: plain ones, and those with the attribute words' own effects taken out."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.linalg import lstsq

from bayesbias.models.data import ModelData, attribute_lists
from bayesbias.models.samplers.exact import cell_statistics

Average = Callable[[str, np.ndarray], float]
"""Connection, and places of protected words -> average distance; NaN where there is no such pair."""


def plain_averages(rows: ModelData) -> Average:
    """Return the averages of the distances as they are."""
    cells = cell_statistics(rows)
    total = cells.count * cells.mean

    def average(connection: str, words: np.ndarray) -> float:
        column = rows.connections.index(connection)
        count = cells.count[words, column].sum()
        return float(total[words, column].sum() / count) if count else float("nan")

    return average


def unpooled_averages(rows: ModelData) -> Average:
    """Return the averages once the attribute words' own effects are taken out."""
    return plain_averages(without_attribute_effects(rows))


def without_attribute_effects(rows: ModelData) -> ModelData:
    """Return the rows once the attribute words' own effects are taken out of the distances by least squares.

    In each kind of lists (stereotype, human, neutral) distances are fitted by y_ij = a_i + d [j is associated with i] +
    b_j, a for protected words and b for attribute words, and the b_j, which average 0 over the kind, are taken out: a
    list that is far from every protected word no longer counts as a difference. With one protected group d cannot be
    told from b, so that the b_j average 0 over each list.
    """
    effects = np.zeros(len(rows.attribute_words))
    groups = len(set(rows.protected_groups.tolist()))
    associated = rows.connection == rows.connections.index("associated") if "associated" in rows.connections else None
    for kind in np.unique(kinds := attribute_lists(rows)):
        here = kinds[rows.attribute] == kind
        protected, attribute, distance = rows.protected[here], rows.attribute[here], rows.distance[here]
        design = _indicators(protected, len(rows.protected_words))
        if associated is not None and groups > 1 and 0 < associated[here].sum() < here.sum():
            design = sparse.hstack([design, sparse.csr_array(associated[here][:, None].astype(float))], format="csr")
        of_attribute = _indicators(attribute, len(effects))
        count = np.maximum(of_attribute.sum(axis=0), 1)
        # The normal equations once b is profiled out: what is left of each sum beyond the means of the attribute words.
        sums = (of_attribute.T @ design).toarray()
        normal = (design.T @ design).toarray() - sums.T @ (sums / count[:, None])
        right = design.T @ distance - sums.T @ (of_attribute.T @ distance / count)
        fitted = design @ lstsq(normal, right, cond=1e-10, lapack_driver="gelsy")[0]
        found = of_attribute.T @ (distance - fitted) / count
        members = np.unique(attribute)
        lists = np.zeros(len(effects), dtype=int)
        if groups == 1:
            lists[attribute] = rows.connection[here]
        for name in np.unique(lists[members]):
            part = members[lists[members] == name]
            effects[part] = found[part] - found[part].mean()
    return replace(rows, distance=rows.distance - effects[rows.attribute])


def _indicators(codes: np.ndarray, size: int) -> sparse.csr_array:
    """Return a matrix of shape (codes, size) with a 1 in each row, in the column that its code names."""
    return sparse.csr_array(
        (np.ones(len(codes)), codes.astype(np.int64), np.arange(len(codes) + 1)), (len(codes), size)
    )
