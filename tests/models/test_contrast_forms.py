"""Contrasts as linear forms of the location, against the differences of means that they stand for."""

import numpy as np
import pytest

from bayesbias.models import contrast_forms as module
from bayesbias.models.contrast_forms import contrast_forms
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.word_effects import effects_basis
from tests.models.tables import small


@pytest.fixture
def data() -> ModelData:
    return model_data(small())


def test_each_form_is_the_difference_of_means_that_it_is_named_for(data: ModelData) -> None:
    rng, size, words = np.random.default_rng(1), len(data.connections), len(data.protected_words)
    location = rng.normal(size=size * (1 + words))
    effects = location[size:].reshape(words, size)
    mean = {name: location[at] for at, name in enumerate(data.connections)}
    word_mean = {
        name: location[at] + effects @ effects_basis(data.connections)[at] for at, name in enumerate(data.connections)
    }
    for form in contrast_forms(data):
        by_word = word_mean["associated"] - word_mean[form.other]
        if form.level == "population":
            wanted = mean["associated"] - mean[form.other]
        else:
            of = {"protected_fixed": np.ones(words, dtype=bool)}
            of |= {"protected_group": data.protected_groups == form.name, "word": data.protected_words == form.name}
            wanted = by_word[of[form.level]].mean()
        assert form.weights @ location == pytest.approx(wanted), form


def test_there_is_one_form_for_all_words_each_group_and_each_word(data: ModelData) -> None:
    found = [(form.other, form.level, form.name) for form in contrast_forms(data)]
    wanted = [
        (other, level, name)
        for other in ("different", "human", "neutral")
        for level, names in {
            "population": [""],
            "protected_fixed": [""],
            "protected_group": ["group x", "group y"],
            "word": data.protected_words.tolist(),
        }.items()
        for name in names
    ]
    assert found == wanted


def test_with_many_words_none_has_a_form_of_its_own(data: ModelData, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORDS", len(data.protected_words) - 1)
    assert {form.level for form in contrast_forms(data)} == {"population", "protected_fixed", "protected_group"}


def test_a_table_of_one_connection_has_no_contrast() -> None:
    table = small(controls=False)
    assert contrast_forms(model_data(table[table["connection"] == "associated"])) == []
