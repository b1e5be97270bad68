"""Answers of models: what is asked, what is refused, and E."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError
from bayesbias.estimates.intervals import share_interval
from bayesbias.nli.model_scores import (
    LABELS,
    accuracy,
    compared_groups,
    crossed,
    distance_of_means,
    permutation_test,
    permutation_test_of_groups,
)
from tests.nli.made import by_length, pets


@pytest.fixture
def frame(tmp_path: Path) -> pd.DataFrame:
    return bb.nli.test_set(pets(tmp_path))


def test_a_model_gets_all_pairs_and_its_answers_are_kept(frame: pd.DataFrame) -> None:
    scores = bb.nli.score(frame, by_length)
    assert np.array_equal(scores[list(LABELS)], by_length(frame["premise"].tolist(), frame["hypothesis"].tolist()))
    assert scores.drop(columns=list(LABELS)).equals(frame)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: np.full((n, 2), 0.5), r"shape \(42, 2\) .*\(42, 3\)"),
        (lambda n: np.full((n - 1, 3), 1 / 3), r"shape \(41, 3\)"),
        (lambda n: np.tile([2.0, -1.0, 0.0], (n, 1)), " 42 of 42 pairs"),
        (lambda n: np.tile([0.5, 0.2, 0.2], (n, 1)), r"\[0\.5, 0\.2, 0\.2\]"),
        (
            lambda n: np.vstack([np.tile([1.0, 0, 0], (n - 1, 1)), [[np.nan, 0, 1]]]),
            " 1 of 42 .*Bello jagt ein knochen",
        ),
        (lambda n: [["a", "b", "c"]] * n, r"\(pairs, 3\)"),
        (lambda n: np.tile([1 + 1j, 0, 0], (n, 1)), "complex"),
    ],
)
def test_answers_that_are_no_probabilities(frame: pd.DataFrame, answer: Any, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        bb.nli.score(frame, lambda premises, _: answer(len(premises)))


def test_a_frame_of_answers_is_read_by_the_names_of_its_columns(frame: pd.DataFrame) -> None:
    def turned(premises: Any, hypotheses: Any) -> pd.DataFrame:
        return pd.DataFrame({"entailment": 0.7, "contradiction": 0.1, "neutral": 0.2}, index=range(len(premises)))

    scores = bb.nli.score(frame, turned)  # type: ignore[arg-type]
    assert scores[list(LABELS)].drop_duplicates().to_numpy().tolist() == [[0.2, 0.7, 0.1]]
    with pytest.raises(MeasureError, match="columns a, b, c"):
        bb.nli.score(frame, lambda first, _: pd.DataFrame({"a": 1.0, "b": 0.0, "c": 0.0}, index=range(len(first))))  # type: ignore[arg-type, return-value]


def test_frames_that_are_none_of_ours(frame: pd.DataFrame) -> None:
    with pytest.raises(MeasureError, match="hypothesis"):
        bb.nli.score(frame.drop(columns="hypothesis"), by_length)
    with pytest.raises(MeasureError, match=r"test_set .*rows"):
        bb.nli.score(frame.iloc[:0], by_length)
    with pytest.raises(MeasureError, match="str"):
        bb.nli.score(frame, "bert")  # type: ignore[arg-type]
    with pytest.raises(MeasureError, match=r"scores .*neutral"):
        bb.nli.neutral_error(frame)
    scores = bb.nli.score(frame, by_length)
    with pytest.raises(MeasureError, match=r"'Mia' .*groups"):
        bb.nli.neutral_error(scores.assign(group=["cats", "dogs"] * 21, word="Mia"))


@pytest.mark.parametrize("name", ["premise", "verb", "object", "word"])
def test_labels_that_are_missing(frame: pd.DataFrame, name: str) -> None:
    scores = bb.nli.score(frame, by_length)
    lacking = scores.assign(**{name: [*scores[name][:4], None, *scores[name][5:]]})
    for function in (bb.nli.neutral_error, bb.nli.distance, bb.nli.posterior):
        with pytest.raises(MeasureError, match=f"column {name} .*row 4"):
            function(lacking)


def test_columns_of_pandas_own_types(frame: pd.DataFrame) -> None:
    scores = bb.nli.score(frame, by_length)
    nullable = scores.convert_dtypes()
    pd.testing.assert_frame_equal(bb.nli.neutral_error(nullable), bb.nli.neutral_error(scores))
    nullable.loc[3, "neutral"] = pd.NA
    with pytest.raises(MeasureError, match=" 1 of 42 "):
        bb.nli.neutral_error(nullable)


def test_e_is_the_mean_distance_by_a_plain_loop(frame: pd.DataFrame) -> None:
    scores = bb.nli.score(frame, by_length)
    errors = bb.nli.neutral_error(scores)
    assert errors["level"].tolist() == ["overall", *["protected_group"] * 2, *["word"] * 6]

    def loop(rows: pd.DataFrame) -> float:
        return sum(
            ((1 - row.neutral) ** 2 + row.entailment**2 + row.contradiction**2) ** 0.5 for row in rows.itertuples()
        ) / len(rows)

    assert errors["error"][0] == pytest.approx(loop(scores), rel=1e-12)
    for _, row in errors.iloc[1:].iterrows():
        rows = scores[scores["group"] == row["group"]]
        rows = rows[rows["word"] == row["word"]] if row["word"] else rows
        assert row["error"] == pytest.approx(loop(rows), rel=1e-12)
        assert row["neutral"] == pytest.approx(rows["neutral"].mean(), rel=1e-12)
        assert row["pairs"] == len(rows)


def test_scores_in_any_order_are_one_array(frame: pd.DataFrame) -> None:
    scores = bb.nli.score(frame, by_length)
    mixed = crossed(scores.sample(frac=1, random_state=3))
    whole = crossed(scores)
    assert set(mixed.words) == set(whole.words)
    order = [mixed.words.index(word) for word in whole.words]
    places = [mixed.premises["premise"].tolist().index(text) for text in whole.premises["premise"]]
    assert np.array_equal(mixed.probabilities[order][:, places], whole.probabilities)
    assert [mixed.groups[place] for place in order] == whole.groups
    with pytest.raises(MeasureError, match=": kater"):
        crossed(scores.iloc[1:])
    with pytest.raises(MeasureError, match=": kater"):
        crossed(pd.concat([scores, scores.iloc[:1]]))


def test_which_groups_are_compared() -> None:
    with pytest.raises(MeasureError, match=r"\(a\)"):
        compared_groups(["a", "a"], None)
    assert compared_groups(["b", "a", "b"], None) == ("b", "a")
    assert compared_groups(["a", "b", "c"], ("c", "a")) == ("c", "a")
    with pytest.raises(MeasureError, match=" 3 groups"):
        compared_groups(["a", "b", "c"], None)
    for wrong in (("a", "a"), ("a", "d"), "ab", ("a",)):
        with pytest.raises(MeasureError, match="groups="):
            compared_groups(["a", "b", "c"], wrong)


@pytest.mark.parametrize(("hits", "trials"), [(0, 4), (3, 7), (70, 100), (50, 50)])
def test_the_interval_is_the_shortest_of_its_probability(hits: int, trials: int) -> None:
    """Against all intervals on a fine grid of lower ends, by SciPy's quantiles."""
    low, high = share_interval(hits, trials, 0.89)
    posterior = beta(hits + 1, trials - hits + 1)
    assert posterior.cdf(high) - posterior.cdf(low) == pytest.approx(0.89, abs=1e-9)
    below = np.linspace(0, 0.11, 20_001)
    widths = posterior.ppf(below + 0.89) - posterior.ppf(below)
    assert high - low == pytest.approx(widths.min(), abs=1e-6)


def test_counts_and_shares() -> None:
    answers = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.5, 0.3], [0.0, 0.4, 0.6]])
    measured = accuracy(answers, ["neutral", "entailment", "contradiction", "contradiction"], hdi_prob=0.5)
    assert (measured.accuracy, measured.pairs, measured.largest_label) == (0.75, 4, 0.5)
    assert measured.counts.to_numpy().tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert measured.hdi_low < 0.75 < measured.hdi_high
    assert "accuracy='0.750'" in repr(measured)
    assert "<table>" in measured._repr_html_()
    with pytest.raises(ArgumentError, match="hdi_prob=1"):
        accuracy(answers, ["neutral"] * 4, hdi_prob=1)


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
