"""Similarities by list, from an embedding and from a table."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.look_up import every_group, four_lists
from bayesbias.metrics.similarities import Similarities, table_study
from tests.metrics.made import PETS, cosine, vectors


def test_of_an_embedding() -> None:
    given = vectors("tom")
    with pytest.warns(LostWordsWarning, match="tom"):
        similarities, embedded_lists = Similarities.of_embedding(given, every_group(PETS), max_lost=0.5)
    assert similarities.values.shape == (5, 5)
    assert similarities.block("dogs", "loud")[1, 2] == pytest.approx(cosine(given["puppy"], given["growl"]))
    np.testing.assert_array_equal(similarities.columns_to("quiet")[:2], similarities.block("cats", "quiet"))
    assert similarities.words == ["cat", "kitten", "dog", "puppy", "hound"]
    assert similarities.groups == ["cats"] * 2 + ["dogs"] * 3
    assert embedded_lists.lost == {"cats": ("tom",)}
    assert similarities.associated == {("cats", "quiet"), ("dogs", "loud")}


def test_a_table_holds_the_similarities_of_its_embedding() -> None:
    table = bb.distance_table(vectors(), PETS)
    study = table_study(table)
    assert (dict(study.protected), dict(study.attributes)) == (dict(PETS.protected), dict(PETS.attributes))
    assert study.neutral == PETS.neutral
    assert study.associated == PETS.associated
    of_table = Similarities.of_table(table.sample(frac=1, random_state=0), four_lists(study))
    of_embedding, _ = Similarities.of_embedding(vectors(), four_lists(PETS))
    np.testing.assert_allclose(of_table.values, of_embedding.values, atol=1e-15)


def test_pairs_of_a_table_that_are_missing_or_repeated() -> None:
    table = bb.distance_table(vectors(), PETS)
    lists = four_lists(PETS)
    with pytest.raises(MeasureError, match=r"lacks 1 .* 30 pairs .*: cat - purr"):
        Similarities.of_table(table.iloc[1:], lists)
    twice = table.loc[[0, *table.index]].assign(cosine_similarity=lambda frame: frame["cosine_similarity"].to_numpy())
    assert Similarities.of_table(twice, lists).values.shape == (6, 5)


def test_leading_axes_are_kept() -> None:
    similarities = Similarities(
        np.zeros((4, 2, 3, 5)), {"x": ["a"], "y": ["b", "c"]}, {"k": ["d", "e"], "l": ["f", "g", "h"]}
    )
    assert similarities.block("y", "l").shape == (4, 2, 2, 3)
    assert [part.shape for part in similarities.by_group(similarities.values, axis=-2)] == [(4, 2, 1, 5), (4, 2, 2, 5)]
