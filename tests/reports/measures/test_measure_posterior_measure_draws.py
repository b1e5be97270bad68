"""Positions of a measure's pairs in a fit, and the study that was fitted."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.metrics.registry import MEASURES
from bayesbias.metrics.similarities import SimilarityMeasure
from bayesbias.reports.measures.measure_posterior import expected_value, fitted_study, observed_pairs
from tests.delivery.page.pages import small_table


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return small_table(("associated", "different"))


def weat() -> SimilarityMeasure:
    measure = MEASURES["weat"].of_similarities
    assert measure is not None
    return measure


def test_pairs_are_those_of_the_table_and_the_value_is_a_draw_each(table: pd.DataFrame) -> None:
    fit = bb.fit(table, "hierarchical", draws=100, chains=2, random_seed=1, progress=False)
    study = fitted_study(fit)
    groups = table.groupby("protected_group", observed=True)["protected_word"].unique()
    assert {name: set(words) for name, words in study.protected.items()} == {k: set(v) for k, v in groups.items()}
    observed, pairs = observed_pairs(fit, weat().lists(study, None, None))
    first = table.drop_duplicates(["protected_word", "attribute_word"])
    distances = first.set_index(["protected_word", "attribute_word"])["cosine_distance"]
    attributes = [word for words in observed.attributes.values() for word in words]
    expected = [[1 - distances[word, attribute] for attribute in attributes] for word in observed.words]
    np.testing.assert_allclose(observed.values, expected)
    assert pairs.connection.shape == observed.values.shape
    draws = expected_value(fit, weat())
    assert dict(draws.sizes) == {"chain": 2, "draw": 100}
    value = bb.measure_posterior(fit, "weat", random_seed=1).draws["expected"][..., 0]
    np.testing.assert_allclose(draws, value)


@pytest.mark.parametrize("sizes", [(30, 6), (6, 30)])
def test_the_null_of_mac_is_centred_on_it_where_lists_differ_in_size(sizes: tuple[int, int]) -> None:
    """One list is nearer to all words, so that an average that counts pairs would move the null by 0.07."""
    rng = np.random.default_rng(1)
    attributes = [(f"{name}{number}", name) for name, size in zip("AB", sizes, strict=True) for number in range(size)]
    rows = [
        (f"{group}{word}", group, attribute, name, "associated" if (group, name) in {("X", "A"), ("Y", "B")}
         else "different", (0.7 if name == "A" else 0.9) + rng.normal(0, 0.03))
        for group in "XY" for word in range(8) for attribute, name in attributes
    ]  # fmt: skip
    columns = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection"]
    table = pd.DataFrame(rows, columns=[*columns, "cosine_distance"])
    fitted = bb.fit(table, "hierarchical", draws=500, random_seed=1, progress=False)
    row = bb.measure_posterior(fitted, "mac", random_seed=1, progress=False).summary.iloc[0]
    by_list = table.groupby(["protected_word", "attribute_group"])["cosine_distance"].mean()
    assert row["observed"] == pytest.approx(by_list.mean())
    assert row["null_mean"] == pytest.approx(row["observed"], abs=0.003)
    assert row["beyond_null"] < 0.15
