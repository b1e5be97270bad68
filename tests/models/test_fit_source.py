"""What a fit was made from: model, rows and table come back."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.models.fit_source import fitted_model, fitted_rows, fitted_table
from tests.models.tables import small


def test_the_model_comes_back_with_its_priors_and_caution(table: pd.DataFrame) -> None:
    spec = bb.load_model("hierarchical", priors={"sigma": "HalfNormal(0.2)"})
    assert fitted_model(bb.fit(table, spec, draws=10, random_seed=1)) == spec
    assert spec.caution


def test_the_rows_come_back(table: pd.DataFrame) -> None:
    rows, expected = fitted_rows(bb.fit(table, "hierarchical", draws=10, random_seed=1)), model_data(table)
    for name in ("distance", "protected", "connection", "attribute", "protected_words", "protected_groups"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(expected, name))
    assert rows.connections == expected.connections
    assert rows.table_hash == expected.table_hash


def test_the_table_comes_back_with_its_lists_and_provenance(table: pd.DataFrame) -> None:
    found = fitted_table(bb.fit(table, "hierarchical", draws=10, random_seed=1))
    pd.testing.assert_frame_equal(found[table.columns], table, check_dtype=False, check_categorical=False)
    assert found.attrs["bayesbias"]["study"] == "weat7"


@pytest.mark.parametrize("seed", [1, 2])
def test_lists_without_a_known_study_keep_their_names(seed: int) -> None:
    table = small(4, 2)
    found = fitted_table(bb.fit(table, "hierarchical", draws=10, random_seed=seed))
    assert found["attribute_group"].astype(str).tolist() == table["attribute_group"].astype(str).tolist()
