"""Coherence of lists, against a plain loop, and of copies of vectors that are worse in known ways."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.audits.coherence import (
    COHERENCE,
    COMPARABLE,
    MOST_BY_CHANCE,
    Coherence,
    coherence_of,
    list_coherence,
    why_not_comparable,
)

RNG = np.random.default_rng(1)
CENTRES = RNG.standard_normal((4, 50))
LISTS = [centre + RNG.standard_normal((8, 50)) for centre in CENTRES]


def cosine(one: np.ndarray, two: np.ndarray) -> float:
    return float(one @ two / np.sqrt((one @ one) * (two @ two)))


def of_copy(lists: list[np.ndarray]) -> Coherence:
    return coherence_of(lists[:2], lists[2:])


def test_it_is_the_difference_of_mean_cosines() -> None:
    lists = [LISTS[0], LISTS[1][:3], LISTS[2][:5], LISTS[3][:1]]
    now = of_copy(lists)
    within = [np.mean([cosine(*pair) for pair in combinations(words, 2)]) for words in lists[:3]]
    across = [np.mean([cosine(*pair) for pair in product(p, a)]) for p in lists[:2] for a in lists[2:]]
    assert now.mean_cosine == pytest.approx(np.mean(across))
    assert now.coherence == pytest.approx(np.mean(within) - np.mean(across))
    units = [words / np.linalg.norm(words, axis=1, keepdims=True) for words in lists]
    centre = np.vstack(units).mean(axis=0)
    assert now.centred_coherence == pytest.approx(of_copy([words - centre for words in units]).coherence)
    assert now.chance == 0


def test_the_lengths_of_vectors_change_no_coherence() -> None:
    """Else lengths that are chosen by word bring a centred coherence back into the bounds of a baseline."""
    rng = np.random.default_rng(3)
    now = of_copy([words * rng.lognormal(size=(len(words), 1)) for words in LISTS])
    assert vars(now) == pytest.approx(vars(of_copy(LISTS)))


def test_what_all_words_share_changes_the_coherence_but_hardly_the_centred_one() -> None:
    before, now = of_copy(LISTS), of_copy([words + 5 for words in LISTS])
    assert now.centred_coherence == pytest.approx(before.centred_coherence, rel=0.03)
    assert now.coherence < before.coherence / 5
    assert now.mean_cosine > 0.9
    reason = why_not_comparable(now, before, standardised=False)
    assert "without_common_part" in reason
    assert "standardised" in reason
    assert why_not_comparable(now, before, standardised=True) == ""


def test_noise_and_shuffled_words_are_not_comparable_in_any_unit() -> None:
    before = of_copy(LISTS)
    noisy = of_copy([words + RNG.standard_normal(words.shape) * 1.5 for words in LISTS])
    mixed = of_copy(np.array_split(RNG.permutation(np.vstack(LISTS)), 4))
    for standardised in (False, True):
        assert "record a new baseline" in why_not_comparable(noisy, before, standardised=standardised)
        assert "no more coherent than chance" in why_not_comparable(mixed, before, standardised=standardised)
        assert "no more coherent than chance" in why_not_comparable(mixed, None, standardised=standardised)
    small = of_copy([words.astype(np.float16) for words in LISTS])
    assert why_not_comparable(small, before, standardised=False) == ""


def test_random_vectors_are_recognised_as_often_as_their_level_says() -> None:
    rng = np.random.default_rng(2)
    passed = sum(
        why_not_comparable(of_copy(list(rng.standard_normal((4, 8, 50)))), None, standardised=False) == ""
        for _ in range(100)
    )
    assert passed <= 13  # 5 expected, sd 2.2


def test_lists_of_one_word_have_no_coherence() -> None:
    alone = of_copy([words[:1] for words in LISTS])
    assert np.isnan([getattr(alone, name) for name in COHERENCE]).all()
    for standardised in (False, True):
        assert "no list has two words" in why_not_comparable(alone, alone, standardised=standardised)
    assert np.isnan(coherence_of(LISTS[:2], []).coherence)


def test_words_are_looked_up_as_in_a_table_and_controls_do_not_enter() -> None:
    vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    study = bb.load_study("gender")
    now = list_coherence(vectors, study)
    assert now == list_coherence(vectors, study.without_controls())
    table = bb.distance_table(vectors, study.without_controls())
    by_lists = table.groupby(["protected_group", "attribute_group"])["cosine_similarity"].mean()
    assert now.mean_cosine == pytest.approx(by_lists.mean())


@pytest.mark.parametrize("wrong", ["x", True, 3, 10**400, [1]])
def test_facts_of_a_file_are_checked(wrong: object) -> None:
    facts = dict.fromkeys(COHERENCE, 0.5)
    assert Coherence.read(facts) == Coherence(0.5, 0.5, 0.5, 0.5)
    assert Coherence.read(facts | {"chance": wrong}) is None


def test_facts_of_a_file_have_bounds_and_may_be_missing() -> None:
    for end in (-2.0, 2.0):
        facts = dict.fromkeys(COHERENCE, end)
        assert Coherence.read(facts) == Coherence(end, end, end, end)
        for name in COHERENCE:
            assert Coherence.read(facts | {name: end * 1.000001}) is None
    empty = Coherence.read({})
    assert empty is not None
    assert np.isnan(list(vars(empty).values())).all()
    assert Coherence.read({"coherence": float("nan"), "mean_cosine": 0.5}).mean_cosine == 0.5  # type: ignore[union-attr]


def test_a_ratio_at_either_bound_is_comparable_and_one_beyond_it_is_not() -> None:
    low, high = COMPARABLE
    before = Coherence(0.4, 0.4, 0.1, 0.0)
    for name, standardised in (("centred_coherence", True), ("coherence", False)):
        for ratio in (low, 1.0, high):
            now = replace(before, **{name: ratio * 0.4})
            assert why_not_comparable(now, before, standardised=standardised) == ""
        for ratio in (low - 0.001, high + 0.001):
            now = replace(before, **{name: ratio * 0.4})
            assert "another scale" in why_not_comparable(now, before, standardised=standardised)
    assert why_not_comparable(replace(before, coherence=0.1), before, standardised=True) == ""
    at_level, beyond = (replace(before, chance=MOST_BY_CHANCE + more) for more in (0, 0.001))
    assert why_not_comparable(at_level, before, standardised=False) == ""
    assert "chance" in why_not_comparable(beyond, before, standardised=False)
    missing = Coherence.read({})
    assert missing is not None
    assert np.isnan(missing.coherence)
