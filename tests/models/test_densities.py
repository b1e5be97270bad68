"""Densities of a table's rows under the draws of a fit, against SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.models.data import attribute_lists, model_data
from bayesbias.models.densities import densities
from tests.models.tables import crossed_table


@pytest.fixture(scope="module")
def small() -> pd.DataFrame:
    return crossed_table(0.06)


@pytest.mark.parametrize("model", ["crossed", "crossed_per_list", "hierarchical"])
def test_densities_are_scipys(small: pd.DataFrame, model: str) -> None:
    data = model_data(small)
    fitted = bb.fit(small, model, draws=10, chains=2, random_seed=1)
    computed = densities(fitted, data)
    posterior = fitted["posterior"].to_dataset().stack(sample=("chain", "draw"), create_index=False)
    row_density, word_density = (
        computed.of_rows(np.arange(len(small))),
        computed.of_words(range(len(data.attribute_words))),
    )
    lists = attribute_lists(data)
    for draw in (0, 7, 19):
        state = posterior.isel(sample=draw)
        expected = np.empty(len(small))
        for place, row in enumerate(small.itertuples()):
            cell = {"protected_word": row.protected_word, "connection": row.connection}
            mean = state["word_mean"].sel(cell)
            if "attribute_effect" in state:
                mean = mean + state["attribute_effect"].sel(attribute_word=row.attribute_word)
            sigma = state["sigma"].sel(connection=row.connection)
            expected[place] = stats.norm(float(mean), float(sigma)).logpdf(row.cosine_distance)
        np.testing.assert_allclose(row_density[:, draw], expected)
        for number, word in enumerate(data.attribute_words):
            rows = small[small["attribute_word"] == word]
            cells = zip(rows["protected_word"], rows["connection"], strict=True)
            mean = [float(state["word_mean"].sel(protected_word=i, connection=g)) for i, g in cells]
            covariance = np.diag(state["sigma"].sel(connection=rows["connection"].tolist()) ** 2)
            if "attribute_sd" in state:
                omega = np.broadcast_to(state["attribute_sd"], lists.max() + 1)[lists[number]]
                covariance = covariance + omega**2
            joint = stats.multivariate_normal(mean, covariance).logpdf(rows["cosine_distance"])
            assert word_density[number, draw] == pytest.approx(joint)


@pytest.mark.parametrize("model", ["crossed", "hierarchical", "multivariate"])
def test_blocks_have_every_word_and_row_once(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = crossed_table(0.06)
    data = model_data(rows)
    computed = densities(bb.fit(rows, model, draws=10, chains=2, random_seed=1), data)
    monkeypatch.setattr("bayesbias.models.likelihood._BLOCK", 2000)
    blocks = list(computed.blocks())
    assert len(blocks) > 1
    assert sorted(word for block in blocks for word in block) == list(range(len(data.attribute_words)))
    parts = [computed.of_block(block) for block in blocks]
    places = np.concatenate([rows for rows, _, _ in parts])
    np.testing.assert_array_equal(np.sort(places), np.arange(len(data.distance)))
    of_rows, of_words = (np.concatenate([part[number] for part in parts]) for number in (1, 2))
    np.testing.assert_allclose(of_rows, computed.of_rows(places), atol=1e-12)
    np.testing.assert_allclose(of_words, computed.of_words(np.concatenate(blocks).tolist()), rtol=1e-12)
