"""MAC against loops over its definition."""

from statistics import mean

import numpy as np
import pytest

import bayesbias as bb
from bayesbias import metrics
from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.associations.mac import mean_distances
from tests.metrics.made import PETS, cosine, vectors


def test_mac_is_the_mean_over_words_and_sets() -> None:
    given = vectors()
    values = {
        (word, group): mean(1 - cosine(given[word], given[a]) for a in words)
        for word in PETS.protected_words
        for group, words in PETS.attributes.items()
    }
    result = metrics.mac(given, PETS)
    assert result.mac == result.value == pytest.approx(mean(values.values()))
    assert result.similarity == pytest.approx(1 - result.mac)
    scores = result.scores.set_index(["word", "attribute_group"])["score"]
    assert dict(scores) == pytest.approx(values)
    associated = [values[word, "quiet"] for word in PETS.protected["cats"]]
    associated += [values[word, "loud"] for word in PETS.protected["dogs"]]
    assert result.mac_associated == pytest.approx(mean(associated))
    assert mean([result.mac_associated, result.mac_different]) == pytest.approx(result.mac)
    # The sets have different sizes, so that this is not the mean of all distances.
    distances = [
        1 - cosine(given[word], given[a])
        for word in PETS.protected_words
        for words in PETS.attributes.values()
        for a in words
    ]
    assert abs(result.mac - mean(distances)) > 1e-3


def test_groups_of_the_same_name() -> None:
    study = bb.Study(
        name="same",
        protected={"cats": ["cat", "kitten"]},
        attributes={"cats": ["purr", "nap"], "dogs": ["bark", "howl"]},
        associated=[("cats", "cats")],
        human="none",
        neutral="none",
    )
    result = metrics.mac(vectors(), study)
    assert result.scores["attribute_group"].tolist() == ["cats", "dogs"] * 2
    near = result.scores.loc[result.scores["attribute_group"] == "cats", "score"]
    assert result.mac_associated == pytest.approx(near.mean())


def test_four_lists_are_as_good_as_a_study() -> None:
    by_name = metrics.mac(vectors(), {**PETS.protected, **PETS.attributes})
    assert by_name.statistics == metrics.mac(vectors(), PETS).statistics


def test_lost_words() -> None:
    with pytest.warns(LostWordsWarning, match="growl"):
        result = metrics.mac(vectors("growl"), PETS, max_lost=0.5)
    assert result.lost_words == {"loud": ("growl",)}
    with pytest.raises(MeasureError, match=r"'quiet' .* 0 .* 2"):
        metrics.mac(vectors("purr", "nap"), PETS, max_lost=1)


def test_kernel_keeps_leading_axes() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 3, 5)), rng.normal(size=(4, 3, 2))
    distances = mean_distances(a, b)
    assert distances.shape == (4, 3, 2)
    assert distances[2, 1, 1] == pytest.approx(1 - b[2, 1].mean())
