"""What a fit was made from: model, rows and table come back."""

import warnings

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.debias import HardDebias
from bayesbias.models.data import model_data
from bayesbias.models.fitted.fit_source import fitted_model, fitted_rows, fitted_table, tied_directions
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
    rebuilt = fitted_table(bb.fit(table, "hierarchical", draws=10, random_seed=1))
    pd.testing.assert_frame_equal(rebuilt[table.columns], table, check_dtype=False, check_categorical=False)
    assert rebuilt.attrs["bayesbias"]["study"] == "weat7"


@pytest.mark.parametrize("seed", [1, 2])
def test_lists_without_a_known_study_keep_their_names(seed: int) -> None:
    table = small(4, 2)
    rebuilt = fitted_table(bb.fit(table, "hierarchical", draws=10, random_seed=seed))
    assert rebuilt["attribute_group"].astype(str).tolist() == table["attribute_group"].astype(str).tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_directions_that_hard_debiasing_took_out_are_tied_and_the_fit_converges() -> None:
    """Two of three religions' differences: the neutral words' distances say nothing of them any more."""
    vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    debiased = HardDebias().fit(vectors, "religion_manzini", equalize=[]).transform(vectors)
    before, after = (bb.distance_table(embedding, "religion", max_lost=0.25) for embedding in (vectors, debiased))
    singular = np.linalg.svd(after["cosine_distance"].to_numpy().reshape(15, -1).T - 1, compute_uv=False)
    fitted = bb.fit(after, draws=1000, random_seed=1)  # a warning would be an error
    assert tied_directions(fitted) == (singular < 1e-6).sum() == 2
    (doubt,) = bb.conclusions(fitted).doubts
    assert (doubt.kind, doubt.numbers) == ("tied words", {"directions": 2})
    with warnings.catch_warnings(action="ignore"):  # so short a chain warns
        assert tied_directions(bb.fit(before, draws=100, tune=100, random_seed=1)) == 0
    assert tied_directions(bb.fit(before, "hierarchical", random_seed=1)) == 0
