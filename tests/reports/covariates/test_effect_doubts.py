"""Doubts about slopes on covariates."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsWarning
from bayesbias.models.covariates import NO_NUMBER, without_unrated
from tests.reports.covariates.made import made_fit, made_table


def doubts(values: dict[str, float], table: pd.DataFrame | None = None) -> dict[str, str]:
    fit = bb.fit(
        made_table() if table is None else table, covariates={"x": values}, draws=100, random_seed=1, progress=False
    )
    return {doubt.kind: doubt.text for doubt in bb.covariate_effect(fit).doubts}


def test_even_values_of_distinct_words_raise_no_doubt() -> None:
    assert doubts({f"<b>w{place}": float(place) for place in range(9)}) == {}


def test_a_word_that_alone_has_a_value_is_named() -> None:
    by_kind = doubts({f"<b>w{place}": float(place == 4) for place in range(9)})
    assert "depends on '<b>w4' alone" in by_kind["leverage"]


def test_words_left_out_and_words_of_the_lists_that_were_lost_are_named() -> None:
    table = made_table()
    values = {f"<b>w{place}": float(place) for place in range(8)}
    with pytest.warns(LostWordsWarning):
        (rated,) = without_unrated({"": table}, {"": pd.DataFrame({"x": values})}).values()
    facts = dict(rated.attrs["bayesbias"])
    lost = {"word": "soft", "role": "attribute", "list": "near", "reason": "not in the embedding"}
    control = {"word": "table", "role": "attribute", "list": "neutral", "reason": "not in the embedding"}
    rated.attrs["bayesbias"] = facts | {"lost_words": [*facts["lost_words"], lost, control]}
    fit = bb.fit(rated, covariates={"x": values}, draws=100, random_seed=1, progress=False)
    texts = [doubt.text for doubt in bb.covariate_effect(fit).doubts if doubt.kind == "lost words"]
    assert texts == [
        "1 protected word without a number was left out: <b>w8. Words that are left out may follow the covariate in "
        "another way.",
        "1 attribute word of near was lost (not in the embedding): soft.",
    ]


def test_all_words_that_were_left_out_are_named() -> None:
    table = made_table()
    lost = [{"word": f"lost{place}", "role": "protected", "list": "x", "reason": NO_NUMBER} for place in range(30)]
    table.attrs["bayesbias"] = dict(table.attrs.get("bayesbias", {})) | {"lost_words": lost}
    by_kind = doubts({f"<b>w{place}": float(place) for place in range(9)}, table)
    assert "lost28, lost29. Words that are left out" in by_kind["lost words"]


def test_doubts_about_the_distances_are_among_them() -> None:
    table = made_table()
    first = table["attribute_word"] == "near0"
    again = table[first].assign(attribute_word="near9")
    values = {f"<b>w{place}": float(np.sqrt(place)) for place in range(9)}
    by_kind = doubts(values, pd.concat([table, again], ignore_index=True))
    assert "near0 = near9" in by_kind["same distances"]


def test_the_word_that_changes_the_slope_most_is_named() -> None:
    """Against least squares without each word."""
    effect = bb.covariate_effect(made_fit())
    words = effect.words
    slopes = {
        name: np.polyfit(words.drop(place)["share"], words.drop(place)["observed"], 1)[0]
        for place, name in enumerate(words["protected_word"])
    }
    whole = np.polyfit(words["share"], words["observed"], 1)[0]
    name = max(slopes, key=lambda word: abs(slopes[word] - whole))
    (doubt,) = effect.single_words
    assert doubt.numbers["word"] == name
    np.testing.assert_allclose([doubt.numbers["without"], doubt.numbers["slope"]], [slopes[name], whole])
