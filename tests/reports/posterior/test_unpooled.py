"""Averages that no model has pooled."""

import numpy as np
import pandas as pd
import pytest

from bayesbias.models.data import ModelData, attribute_lists, model_data
from bayesbias.reports.posterior.unpooled import plain_averages, without_attribute_effects
from tests.models.made import made_crossed


def by_dummies(rows: ModelData) -> np.ndarray:
    """The distances without effects of attribute words, from one regression on a dummy a word and kind of lists."""
    distance, kinds = rows.distance.copy(), attribute_lists(rows)[rows.attribute]
    for kind in np.unique(kinds):
        here = np.flatnonzero(kinds == kind)
        words = np.eye(len(rows.protected_words))[rows.protected[here]]
        associated = (rows.connection[here] == rows.connections.index("associated"))[:, None]
        attributes = np.unique(rows.attribute[here])
        dummies = (rows.attribute[here][:, None] == attributes).astype(float)
        # The sum of the effects is held at 0 by one more row.
        design = np.vstack(
            [np.hstack([words, associated, dummies]), [*[0.0] * (words.shape[1] + 1), *[1.0] * len(attributes)]]
        )
        effects = np.linalg.lstsq(design, np.r_[rows.distance[here], 0.0])[0][-len(attributes) :]
        distance[here] -= dummies @ effects
    return distance


@pytest.mark.parametrize("share", [1.0, 0.8])
def test_effects_of_attribute_words_are_those_of_a_regression_on_dummies(share: float, table: pd.DataFrame) -> None:
    kept = table.sample(frac=share, random_state=2)
    for rows in (made_crossed(), model_data(kept)):
        np.testing.assert_allclose(without_attribute_effects(rows).distance, by_dummies(rows), atol=1e-9)


def test_an_average_of_no_pairs_is_missing() -> None:
    rows = made_crossed()
    average = plain_averages(rows)
    here = (rows.connection == 2) & np.isin(rows.protected, [0, 3])
    assert average("human", np.array([0, 3])) == pytest.approx(rows.distance[here].mean())
    assert np.isnan(average("human", np.array([], dtype=int)))
