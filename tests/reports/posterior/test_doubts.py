"""Doubts about the data and the draws of a fit."""

import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.reports.posterior.doubts import data_doubts
from tests.models.tables import small
from tests.reports.made import made_fit


@pytest.fixture(scope="module")
def normal_fit() -> xr.DataTree:
    return made_fit()


def test_doubts_about_data_and_draws_come_first(normal_fit: xr.DataTree) -> None:
    fit = normal_fit.copy(deep=True)
    assert bb.conclusions(fit).doubts == data_doubts(fit)
    assert [doubt.kind for doubt in data_doubts(fit)] == ["one word a group"]
    fit["constant_data"]["attribute_index"][1] = fit["constant_data"]["attribute_index"][0]
    fit.attrs["table"] = '{"edited": true, "lost_words": [], "duplicates": {"same_vectors": 3}}'
    fit.attrs["convergence_problems"] = '["The chains disagree. Run longer."]'
    report = bb.conclusions(fit)
    kinds = ["convergence", "repeated pairs", "same vectors", "edited table", "one word a group"]
    assert [doubt.kind for doubt in report.doubts] == kinds
    assert [doubt.numbers.get("rows") for doubt in report.doubts] == [None, 1, 3, None, None]
    assert report.doubts[1:] == data_doubts(fit)
    assert report.doubts[0].text.endswith("the sampler did not converge. The chains disagree. Run longer.")
    assert str(report).startswith("BEWARE\n\n- DO NOT REPORT THESE NUMBERS YET")
    assert [doubt.kind for doubt in data_doubts(made_fit(("he",), draws=20))] == ["one word"]


@pytest.mark.parametrize(("rows", "lists"), [(3, None), (2, ["x", "y"])])
def test_lists_of_two_words_are_short(rows: int, lists: list[str] | None) -> None:
    fit = bb.fit(small(4, rows), draws=50, chains=1, random_seed=1, progress=False)
    doubts = {doubt.kind: doubt.numbers for doubt in data_doubts(fit)}
    assert doubts.get("short list", {}).get("lists") == lists


def test_words_that_share_a_vector_are_tied() -> None:
    """p0 and p1 have the same distances: of 4 words, one direction is the same for every attribute word."""
    table = small(4, 6)
    first, second = (table["protected_word"] == name for name in ("p0", "p1"))
    table.loc[second, "cosine_distance"] = table.loc[first, "cosine_distance"].to_numpy()
    fit, before = (bb.fit(rows, draws=50, chains=1, random_seed=1, progress=False) for rows in (table, small(4, 6)))
    assert [doubt.numbers for doubt in data_doubts(fit) if doubt.kind == "tied words"] == [{"directions": 1}]
    assert data_doubts(before) == ()


def test_distances_below_the_error_that_the_model_assumes_are_narrow() -> None:
    table = small(4, 6)
    narrow = table.assign(cosine_distance=0.7 + 0.001 * table["cosine_distance"])
    kinds = [
        [doubt.kind for doubt in data_doubts(bb.fit(rows, model, draws=50, random_seed=1, progress=False))]
        for rows, model in ((narrow, "multivariate"), (narrow, "crossed_per_list"), (table, "multivariate"))
    ]
    assert kinds == [["narrow distances"], [], []]
    (doubt,) = data_doubts(bb.fit(narrow, draws=50, random_seed=1, progress=False))
    by_list = narrow.groupby(["protected_word", "attribute_group"], observed=True)["cosine_distance"]
    squares = ((narrow["cosine_distance"] - by_list.transform("mean")) ** 2).sum()
    assert doubt.numbers["sd"] == pytest.approx((squares / (len(narrow) - by_list.ngroups)) ** 0.5)
