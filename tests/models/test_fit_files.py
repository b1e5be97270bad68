"""What a file of a fit holds: its model, its rows, and places that lead to them."""

import json

import numpy as np
import xarray as xr

import bayesbias as bb
from bayesbias.models.fit_files import content_faults, stored_model, stored_rows
from bayesbias.models.spec import load_model
from tests.delivery.page.pages import small_table


def test_a_model_comes_back_from_its_texts() -> None:
    model = load_model("hierarchical", priors={"sigma": "HalfNormal(0.2)"})
    again = stored_model(json.loads(json.dumps(model.to_dict())))
    assert again.digest == model.digest
    assert str(again.priors["sigma"]) == "HalfNormal(sigma=0.2)"


def test_rows_are_those_of_the_table() -> None:
    table = small_table()
    rows = stored_rows(bb.fit(table, "hierarchical", draws=50, chains=2, random_seed=1, progress=False))
    assert sorted(rows.distance) == sorted(table["cosine_distance"])
    pairs = zip(
        np.array(rows.protected_words)[rows.protected],
        np.array(rows.attribute_words)[rows.attribute],
        rows.distance,
        strict=True,
    )
    expected = zip(table["protected_word"], table["attribute_word"], table["cosine_distance"], strict=True)
    assert set(pairs) == set(expected)


def test_places_that_are_texts_are_a_fault_before_they_are_used() -> None:
    fit = bb.fit(small_table(), "hierarchical", draws=50, chains=2, random_seed=1, progress=False)
    constant = fit["constant_data"].to_dataset()
    for name in ("attribute_group_index", "protected_index"):
        texts = np.full(constant[name].shape, "x")
        fit["constant_data"] = xr.DataTree(constant.assign({name: (constant[name].dims, texts)}))
        assert list(content_faults(fit)) == [f"constant_data/{name} holds no places."]


def test_labels_along_another_dim_are_a_fault() -> None:
    fit = bb.fit(small_table(), "hierarchical", draws=50, chains=4, random_seed=1, progress=False)
    posterior = fit["posterior"].to_dataset()
    names = posterior["connection"].to_numpy()
    moved = posterior.drop_vars("connection").assign_coords(connection=("chain", names))
    fit["posterior"] = xr.DataTree(moved)
    assert "has the dim 'connection', which this model lacks, or which has no labels" in next(content_faults(fit))


def test_facts_of_any_length_are_not_parsed() -> None:
    fit = bb.fit(small_table(), draws=20, random_seed=1, progress=False)
    entry = {"word": "w", "role": "attribute", "list": "quiet", "reason": "absent"}
    fit.attrs["table"] = json.dumps(json.loads(fit.attrs["table"]) | {"lost_words": [entry] * 130_000})
    assert list(content_faults(fit)) == ["The attribute table has more than 8,000,000 letters."]
