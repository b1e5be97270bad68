"""The distance of groups, and its permutation test."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from bayesbias.nli.test_sets.distances import distance_of_means, permutation_test, permutation_test_of_groups
from tests.nli.made import by_length, pets

# Means of (N, E, C) and distances as printed by Dawkins (2021), tables 1 (nouns, he and she), 2 and 4.
PUBLISHED = [
    ((0.7832, 0.1966, 0.0202), (0.9449, 0.0401, 0.0149), 0.225),
    ((0.0982, 0.8838, 0.0180), (0.6549, 0.3137, 0.0315), 0.797),
    ((0.6339, 0.3402, 0.0259), (0.9169, 0.0461, 0.0370), 0.408),
    ((0.6000, 0.3350, 0.0650), (0.7378, 0.1711, 0.0910), 0.216),
    ((0.5026, 0.4434, 0.0540), (0.7126, 0.2036, 0.0838), 0.320),
    ((0.4657, 0.4766, 0.0577), (0.7283, 0.1598, 0.1120), 0.415),
    ((0.5091, 0.4042, 0.0867), (0.5447, 0.3639, 0.0914), 0.054),
]


@pytest.mark.parametrize(("male", "female", "printed"), PUBLISHED)
def test_d_is_that_of_the_papers_tables(male: list[float], female: list[float], printed: float) -> None:
    assert distance_of_means(np.array([male]), np.array([female])) == pytest.approx(printed, abs=6e-4)


def test_equation_2_as_it_is_printed(tmp_path: Path) -> None:
    scores = bb.nli.score(bb.nli.test_set(pets(tmp_path)), by_length)
    measured = bb.nli.distance(scores, random_seed=1)
    labels = ["neutral", "entailment", "contradiction"]
    sums = [scores.loc[scores["group"] == group, labels].sum() for group in ("cats", "dogs")]
    assert measured.equation_2 == pytest.approx(np.linalg.norm(sums[0] - sums[1]) / (2 * len(scores)), rel=1e-12)
    assert measured.distance == pytest.approx(4 * measured.equation_2, rel=1e-12)
    assert measured.groups == ("cats", "dogs")
    assert repr(measured).startswith("GroupDistance(groups='cats and dogs', distance='")
    assert "<caption>GroupDistance</caption>" in measured._repr_html_()
    assert (measured.partitions, measured.exact, measured.mcse) == (20, True, 0.0)
    swapped = bb.nli.distance(scores, groups=("dogs", "cats"), random_seed=1)
    assert (swapped.distance, swapped.p_value) == (measured.distance, measured.p_value)


@pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (1, 4)])
def test_all_partitions_by_a_plain_loop(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(sum(sizes) + sizes[0])
    values = rng.dirichlet(np.ones(3), size=sum(sizes))
    values[-1] = values[0]  # ties
    places = range(sum(sizes))

    def distance(chosen: tuple[int, ...]) -> float:
        others = [place for place in places if place not in chosen]
        return float(np.linalg.norm(values[list(chosen)].mean(axis=0) - values[others].mean(axis=0)))

    least = distance(tuple(range(sizes[0])))
    all_of_them = [distance(chosen) for chosen in combinations(places, sizes[0])]
    expected = np.mean([value >= least - 1e-12 for value in all_of_them])
    tested = permutation_test(values[: sizes[0]], values[sizes[0] :], samples=10, seed=1)
    assert tested == (pytest.approx(expected, rel=1e-12), 0.0, len(all_of_them), True)


def test_many_words_are_partitioned_at_random() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.dirichlet(np.ones(3), size=16), rng.dirichlet(np.ones(3), size=16)
    p, mcse, partitions, exact = permutation_test(first, second, samples=20_000, seed=1)
    again = permutation_test(first, second, samples=20_000, seed=2)
    assert (partitions, exact) == (20_000, False)
    assert abs(p - again[0]) < 5 * mcse
    assert permutation_test(first, second, samples=20_000, seed=1)[0] == p
    far = permutation_test(first * 0, second * 0 + 1, samples=999, seed=1)
    assert far[0] == 1 / 1000  # never 0


def test_p_values_of_partitions_are_uniform_where_groups_do_not_differ() -> None:
    rng = np.random.default_rng(7)
    values = rng.dirichlet(np.ones(3), size=(600, 8))
    p_values = np.array([permutation_test(words[:4], words[4:], samples=10, seed=1)[0] for words in values])
    for level in (0.1, 0.3, 0.6):
        # Of 35 halves: the level is reached up to one of them.
        assert abs((p_values <= level).mean() - np.floor(level * 35 + 1e-9) / 35) < 4 * np.sqrt(
            level * (1 - level) / 600
        )


def three_groups(shift: float) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Return scores of three groups of words, of which one is shifted, and the groups' words' mean answers."""
    random, rows, answers = np.random.default_rng(3), [], {}
    for group, words in {"men": 3, "women": 2, "others": 4}.items():
        answers[group] = []
        for number in range(words):
            entailed = random.uniform(0.2, 0.3) + shift * (group == "others")
            answers[group].append([1 - entailed, entailed, 0.0])
            rows += [
                {
                    **{
                        "word": f"{group}{number}",
                        "group": group,
                        "premise": premise,
                        "hypothesis": f"{premise} {number}",
                    },
                    **{"verb": "ate", "object": premise},
                    **dict(zip(("neutral", "entailment", "contradiction"), answers[group][-1], strict=True)),
                }
                for premise in ("a soup", "an apple")
            ]
    return pd.DataFrame(rows), {group: np.array(values) for group, values in answers.items()}


def test_three_groups_by_a_plain_loop() -> None:
    """The mean of the three distances, and the share of all 1,260 partitions in which it is as large."""
    scores, answers = three_groups(0.05)
    measured = bb.nli.distance(scores, samples=20_000, random_seed=1)
    means = {group: values.mean(axis=0) for group, values in answers.items()}
    pairs = [("men", "women"), ("men", "others"), ("women", "others")]
    distances = [np.linalg.norm(means[a] - means[b]) for a, b in pairs]
    assert measured.groups == ("men", "women", "others")
    assert list(zip(measured.pairs["first"], measured.pairs["second"], strict=True)) == pairs
    assert measured.pairs["distance"].tolist() == pytest.approx(distances)
    assert measured.distance == pytest.approx(np.mean(distances))
    assert np.isnan(measured.equation_2)
    values = np.concatenate(list(answers.values()))
    reached, counted = 0, 0
    for first in combinations(range(9), 3):
        others = [place for place in range(9) if place not in first]
        for second in combinations(others, 2):
            third = [place for place in others if place not in second]
            sides = [values[list(places)].mean(axis=0) for places in (first, second, third)]
            mean = np.mean([np.linalg.norm(sides[i] - sides[j]) for i, j in ((0, 1), (0, 2), (1, 2))])
            reached, counted = reached + (mean >= np.mean(distances) - 1e-12), counted + 1
    assert counted == 1260
    assert measured.p_value == pytest.approx(reached / counted, abs=4 * measured.mcse + 1e-4)
    two = bb.nli.distance(scores, groups=("women", "men"), random_seed=1)
    assert two.distance == pytest.approx(distances[0])
    assert two.pairs["p_value"].item() == two.p_value
    with pytest.raises(MeasureError, match="'men', 'cats'"):
        bb.nli.distance(scores, groups=("men", "cats"))


def test_p_values_of_three_groups_that_do_not_differ_are_uniform() -> None:
    random = np.random.default_rng(7)
    p_values = []
    for seed in range(200):
        values = random.dirichlet(np.ones(3), size=9)
        p_values.append(permutation_test_of_groups(np.split(values, [3, 6]), samples=200, seed=seed)[0])
    for level in (0.1, 0.5):
        assert abs(np.mean(np.array(p_values) <= level) - level) < 4 * np.sqrt(level * (1 - level) / 200)
