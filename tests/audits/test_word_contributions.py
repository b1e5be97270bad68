"""What words contribute to the error of a number, against plain loops and variances of means."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits.audit_cell import pair_sd
from bayesbias.audits.ranks import paired_draws
from bayesbias.audits.word_contributions import (
    ListedWords,
    WordContributions,
    contrast_contributions,
    jackknife,
    measure_contributions,
    without_pairs,
)
from bayesbias.metrics.registry import MEASURES
from bayesbias.metrics.similarities import Similarities
from bayesbias.models.data import model_data
from tests.audits import pets

TABLE_COLUMNS = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection"]


def listed(sizes: list[int], prefix: str) -> ListedWords:
    list_of = np.repeat(np.arange(len(sizes)), sizes)
    words = np.array([f"{prefix}{place}" for place in range(len(list_of))])
    names = tuple(f"{prefix} list {place}" for place in range(len(sizes)))
    return ListedWords(words, list_of, names, np.ones(len(sizes)))


@pytest.fixture(scope="module")
def pets_table() -> pd.DataFrame:
    return bb.distance_table(pets.embedding(1), pets.study())


@pytest.fixture(scope="module")
def contributions(pets_table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(contrast_contributions(model_data(pets_table))[0])


def standardised(table: pd.DataFrame) -> float:
    """The standardised contrast from the rows of a table, by pandas."""
    study = table[table["connection"].isin(["associated", "different"])]
    lists = study.groupby(["protected_group", "protected_word", "connection", "attribute_group"], observed=True)
    words = lists["cosine_distance"].mean().groupby(level=[0, 1, 2], observed=True).mean().unstack("connection")
    gaps = words["associated"] - words["different"]
    return float(gaps.groupby(level=0, observed=True).mean().mean() / pair_sd(table))


def test_contributions_to_a_mean_are_those_of_its_standard_error() -> None:
    values = np.random.default_rng(1).normal(size=(4, 9))
    rows = jackknife(lambda some, others: values[np.ix_(some, others)].mean(), listed([4], "p"), listed([9], "a"))
    squares = pd.DataFrame(rows).assign(square=lambda frame: frame["contribution"] ** 2).groupby("list")["square"].sum()
    assert squares["p list 0"] == pytest.approx(values.mean(axis=1).var(ddof=1) / 4)
    assert squares["a list 0"] == pytest.approx(values.mean(axis=0).var(ddof=1) / 9)


def test_contributions_to_a_contrast_are_changes_without_a_word(
    pets_table: pd.DataFrame, contributions: pd.DataFrame
) -> None:
    for role in ("protected", "attribute"):
        for name, rows in contributions[contributions["word"].isin(pets_table[f"{role}_word"])].groupby("list"):
            without = np.array([standardised(pets_table[pets_table[f"{role}_word"] != word]) for word in rows["word"]])
            expected = (without.mean() - without) * np.sqrt((len(rows) - 1) / len(rows))
            np.testing.assert_allclose(rows["contribution"], expected, atol=1e-9, err_msg=str(name))
    assert set(contributions["word"]) == {
        word
        for lists in (pets.study().protected, pets.study().attributes)
        for words in lists.values()
        for word in words
    }


def test_contributions_to_a_measure_are_changes_without_a_word(pets_table: pd.DataFrame) -> None:
    fitted = bb.fit(pets_table, draws=20, random_seed=1, progress=False)
    function = MEASURES["mac"].of_similarities
    assert function is not None
    rows = pd.DataFrame(measure_contributions(fitted, function))
    lists = function.lists(pets.study(), None, None)
    similarities = Similarities.of_table(pets_table, lists).values
    words = [word for some in lists.protected.values() for word in some]
    name = next(iter(lists.protected))
    members = lists.protected[name]
    without = np.array([1 - np.delete(similarities, words.index(word), axis=0).mean() for word in members])
    expected = (without.mean() - without) * np.sqrt((len(members) - 1) / len(members))
    np.testing.assert_allclose(rows.loc[rows["list"] == name, "contribution"], expected, atol=1e-9)


def test_a_list_of_one_attribute_word_has_no_error_and_one_protected_word_is_taken_as_it_is() -> None:
    values = np.arange(8.0).reshape(2, 4)

    def mean(some: np.ndarray, others: np.ndarray) -> float:
        return float(values[np.ix_(some, others)].mean())

    assert jackknife(mean, listed([2], "p"), listed([3, 1], "a")) == []
    assert {row["list"] for row in jackknife(mean, listed([1, 1], "p"), listed([4], "a"))} == {"a list 0"}
    assert jackknife(lambda some, others: np.nan, listed([2], "p"), listed([4], "a")) == []


def test_the_noise_of_pairs_is_counted_once() -> None:
    """Without effects of words, the variance of a mean over pairs is that of independent pairs, and not twice that."""
    rng, ratios = np.random.default_rng(2), []
    words = [f"{side}{place}" for side in "pqab" for place in range(20)]
    for _ in range(30):
        numbers = rng.normal(1.0, 0.05, (40, 40))
        table = pd.DataFrame(
            [
                (words[i], "pq"[i // 20], words[40 + j], "ab"[j // 20], kinds[i // 20 == j // 20], numbers[i, j])
                for i in range(40)
                for j in range(40)
                for kinds in (("different", "associated"),)
            ],
            columns=[*TABLE_COLUMNS, "cosine_distance"],
        )
        rows, of_pairs = contrast_contributions(model_data(table))
        assert of_pairs is not None
        of_words = pd.DataFrame(rows)
        parts = of_words["contribution"].to_numpy()[:, None]
        protected = (of_words["role"] == "protected").to_numpy()
        assert set(of_words["list"][protected]) == {"p", "q"}
        lists = of_words["list"].to_numpy()
        noise = [of_pairs.loc[lists[of_pairs["protected"].astype(int)] == name, ["contribution"]] for name in "pq"]
        net = [without_pairs(parts[lists == name], one) for name, one in zip("pq", noise, strict=True)]
        attributes = np.square(parts[~protected]).sum()
        ratios.append([attributes + sum(np.square(one).sum() for one in net), np.square(parts).sum()])
    # The standardised contrast is a mean of two differences of 400 pairs each, over the sd of one.
    once, twice = np.mean(ratios, axis=0) * 400
    assert once == pytest.approx(1.0, abs=0.15)
    assert twice == pytest.approx(2.0, abs=0.15)


def test_a_list_with_the_name_of_a_protected_group_is_another_list() -> None:
    """Words of `a` among protected and among attribute words are samples of their own, whatever lists are called."""
    drawn, connections = [], ("different", "associated")
    for names in (("a", "b"), ("p", "q")):
        rng = np.random.default_rng(3)
        numbers = rng.normal(1.0, 0.05, (2, 12, 10))
        parts = []
        for one in numbers:
            rows = [
                (f"p{i}", names[i // 6], f"a{j}", "ab"[j // 5], connections[i // 6 == j // 5], one[i, j])
                for i in range(12)
                for j in range(10)
            ]
            table = pd.DataFrame(rows, columns=[*TABLE_COLUMNS, "cosine_distance"])
            words, pairs = contrast_contributions(model_data(table))
            parts.append(WordContributions(pd.DataFrame(words), 1e-6, pairs))
        drawn.append(paired_draws(np.array([1.0, 2.0]), parts, study="s", seed=1)[0])
    np.testing.assert_allclose(drawn[0], drawn[1])
