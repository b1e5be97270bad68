"""The change of a score: against the differences of the items, its errors, and its coverage of a truth."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsWarning, MeasureError
from bayesbias.estimates.intervals import shortest_interval
from bayesbias.metrics.measure_result import Items, MeasureResult, result_of_items
from bayesbias.metrics.quantities import Quantity, quantity_posterior

FOLDER = bb.bundled("data", "vectors")
RANDOM = np.random.default_rng(8)
WORDS = [f"word {number}" for number in range(300)]
COMMON = RANDOM.normal(0.0, 1.0, 300)
BEFORE, AFTER = COMMON + RANDOM.normal(0.0, 0.1, 300), COMMON - 0.2 + RANDOM.normal(0.0, 0.1, 300)


def made(values: np.ndarray, words: list[str] = WORDS, conventions: str = "made") -> MeasureResult:
    items = pd.DataFrame({"item": words, "bias": values})
    quantity = Quantity("bias", "mean", ("bias",))
    return result_of_items(
        "made", "toy", Items(items), [quantity], question="Q?", conventions=conventions, random_seed=1
    )


def test_the_change_has_the_interval_of_the_differences_and_not_of_the_scores() -> None:
    (row,) = bb.metrics.paired_change(made(BEFORE), made(AFTER), random_seed=1).to_dict("records")
    difference = AFTER - BEFORE
    assert row["change"] == pytest.approx(difference.mean(), abs=1e-12)
    expected = stats.norm.ppf(0.945) * difference.std() / np.sqrt(300)
    assert (row["hdi_high"] - row["hdi_low"]) / 2 == pytest.approx(expected, rel=0.1)
    assert row["probability_of_direction"] == 1
    low, high = made(BEFORE).interval
    assert high - low > 5 * (row["hdi_high"] - row["hdi_low"])


def test_nothing_changes_where_nothing_changed() -> None:
    (row,) = bb.metrics.paired_change(made(BEFORE), made(BEFORE), random_seed=1).to_dict("records")
    assert (row["change"], row["hdi_low"], row["hdi_high"], row["probability_of_direction"]) == (0, 0, 0, 0.5)


def test_items_are_matched_by_name_and_those_of_one_score_are_left_out() -> None:
    order = RANDOM.permutation(300)
    shuffled = made(AFTER[order], [WORDS[place] for place in order])
    whole = bb.metrics.paired_change(made(BEFORE), shuffled, random_seed=1)
    pd.testing.assert_frame_equal(whole, bb.metrics.paired_change(made(BEFORE), made(AFTER), random_seed=1))
    with pytest.warns(LostWordsWarning, match=" 2 items .* word 0, word 1"):
        fewer = bb.metrics.paired_change(made(BEFORE), made(AFTER[2:], WORDS[2:]), random_seed=1)
    assert fewer["items"].item() == 298
    assert fewer["before"].item() == pytest.approx(BEFORE[2:].mean())


def test_a_part_that_one_of_both_lost_is_left_out() -> None:
    items = pd.DataFrame({"item": WORDS, "part": ["first"] * 150 + ["second"] * 150, "bias": BEFORE})
    parts = [Quantity(name, "mean", ("bias",), (name,)) for name in ("first", "second")]
    quantities = [Quantity("bias", "mean", ("bias",)), *parts]
    whole = result_of_items("made", "toy", Items(items), quantities, question="Q?", conventions="", random_seed=1)
    half = result_of_items(
        "made", "toy", Items(items[:150]), quantities[:2], question="Q?", conventions="", random_seed=1
    )
    with pytest.warns(LostWordsWarning, match=" 150 items "):
        assert list(bb.metrics.paired_change(whole, half, random_seed=1)["quantity"]) == ["bias", "first"]


def test_what_cannot_be_compared_is_an_error() -> None:
    with pytest.raises(MeasureError, match="'made' and 'else'"):
        bb.metrics.paired_change(made(BEFORE), made(AFTER, conventions="else"), random_seed=1)
    with pytest.raises(MeasureError, match="0 items in common"):
        bb.metrics.paired_change(made(BEFORE), made(AFTER, [f"other {number}" for number in range(300)]), random_seed=1)
    with pytest.raises(ArgumentError, match="after="):
        bb.metrics.paired_change(made(BEFORE), 0.3, random_seed=1)
    other = bb.metrics.vocabulary_direct_bias(FOLDER / "wikipedia2018_skipgram_seed1.npz", random_seed=1)
    with pytest.raises(MeasureError, match=r"vocabulary_direct_bias.* made"):
        bb.metrics.paired_change(other, made(BEFORE), random_seed=1)


def test_scores_of_files_in_which_people_say_different_things(tmp_path: Path) -> None:
    """One embedding by two files: what differs is the files, which is no change of the embedding."""
    vectors = {f"word{number}": RANDOM.normal(size=5) for number in range(12)}
    scores = []
    for sign in (1, -1):
        path = tmp_path / f"people{sign}.tsv"
        path.write_text("".join(f"word{number}\tword{number + 1}\t{sign * number}\n" for number in range(11)))
        scores.append(bb.metrics.word_similarity(vectors, path, random_seed=1))
    with pytest.raises(MeasureError, match=r"'word1 ~ word2' .* 1 and -1"):
        bb.metrics.paired_change(*scores, random_seed=1)
    assert (bb.metrics.paired_change(scores[0], scores[0], random_seed=1)["change"] == 0).all()


@pytest.mark.slow
def test_the_interval_of_a_change_of_rank_correlations_covers_the_truth() -> None:
    """The truth: the change over a large population of pairs, of which 60 are seen. Monte Carlo, 150 data sets."""
    random = np.random.default_rng(11)

    def pairs(count: int) -> np.ndarray:
        human = random.normal(size=count)
        return np.stack([human, human + random.normal(size=count), human + 1.5 * random.normal(size=count)])

    quantity = Quantity("spearman", "spearman", ("human", "cosine"))
    human, first, second = pairs(400_000)
    truth = stats.spearmanr(human, second).statistic - stats.spearmanr(human, first).statistic
    covered = 0
    for seed in range(150):
        human, first, second = pairs(60)
        columns = np.stack([human, first]), np.stack([human, second])
        low, high = shortest_interval(quantity_posterior(quantity, *columns, np.random.default_rng(seed)), 0.89)
        covered += low < truth < high
    # 89% of 150 with three Monte Carlo standard errors, and three points for the bootstrap of 60 pairs.
    assert abs(covered / 150 - 0.89) < 3 * np.sqrt(0.89 * 0.11 / 150) + 0.03


def test_a_score_says_what_it_is_and_what_was_lost(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("she he 9\nnurse doctor 5\nman woman 8\nshe zebra 1\n")
    with pytest.warns(LostWordsWarning, match="1 .* 4 pairs: she ~ zebra"):
        score = bb.metrics.word_similarity(FOLDER / "wikipedia2018_skipgram_seed1.npz", path, random_seed=1)
    assert score.lost_words == {"pairs": ("she ~ zebra",)}
    assert score.coverage == 0.75
    assert "Lost words: she ~ zebra (of pairs)." in str(score)
    fields = score.to_dict()
    assert (fields["measure"], fields["coverage"], len(fields["tables"]["scores"])) == ("word_similarity", 0.75, 3)
    assert repr(score).startswith("MeasureResult(measure='word_similarity'")
    assert "\n" not in repr(score)
    assert "<table><caption>word_similarity" in score._repr_html_()


@pytest.mark.parametrize("measure", ["midb", "sembias"])
def test_vectors_of_other_lengths_are_compared_at_length_one_or_not(measure: str, tmp_path: Path) -> None:
    """The same directions, with other lengths: nothing changed, and as stored the comparison is refused."""
    random = np.random.default_rng(5)
    names = (["Amy", "Ann", "Eve", "Ida", "Una"], ["Bob", "Tom", "Jim", "Ken", "Max"])
    pairs = ["king:queen", "cup:lid", "pen:pencil", "cook:maid"]
    tuples = [" ".join(pairs), "king:queen pen:lid cup:pencil cook:maid"]
    words = [word for pair in pairs for word in pair.split(":")]
    vectors = {word: random.normal(size=8) for word in (*names[0], *names[1], "he", "she", *words)}
    longer = {word: vector * np.exp(random.normal(0, 0.8)) for word, vector in vectors.items()}
    path = tmp_path / "sembias.txt"
    path.write_text("\n".join(tuples))
    data = names if measure == "midb" else path
    scaled, stored = (
        [bb.metrics.measure(measure, given, data, random_seed=1, normalize=normalize) for given in (vectors, longer)]
        for normalize in (True, False)
    )
    change = bb.metrics.paired_change(*scaled, random_seed=1).iloc[0]
    assert change["change"] == pytest.approx(0, abs=1e-6)
    assert scaled[0].value == pytest.approx(scaled[1].value, abs=1e-6)
    with pytest.raises(MeasureError, match=rf"{measure}.*normalize=True"):
        bb.metrics.paired_change(*stored, random_seed=1)
    alike = {word: vector * 1.01 for word, vector in vectors.items()}
    again = bb.metrics.measure(measure, alike, data, random_seed=1)
    bb.metrics.paired_change(stored[0], again, random_seed=1)


def test_few_pairs_without_a_change_of_ranks_are_not_certain_of_none() -> None:
    """Changes too small to swap two of 22 pairs: the change over all pairs is small but not 0, and is held."""
    random = np.random.default_rng(6)
    human = random.normal(size=20_000)
    before = human + random.normal(size=20_000)
    after = before + 0.03 * random.normal(size=20_000) * (random.random(20_000) < 0.3) - 0.02 * human
    truth = stats.spearmanr(human, after).statistic - stats.spearmanr(human, before).statistic
    quantity = Quantity("spearman", "spearman", ("human", "cosine"))
    hits, certain = [], 0
    for seed in range(100):
        rows = random.choice(20_000, 22, replace=False)
        columns = [np.stack([human[rows], values[rows]]) for values in (before, after)]
        draws = quantity_posterior(quantity, *columns, np.random.default_rng(seed))
        low, high = shortest_interval(draws, 0.89)
        hits.append(low <= truth <= high)
        certain += np.array_equal(stats.rankdata(columns[0][1]), stats.rankdata(columns[1][1]))
    assert truth < -1e-4
    assert certain > 0, "the test has samples without a change of ranks"
    assert np.mean(hits) > 0.89 - 3 * np.sqrt(0.89 * 0.11 / 100)
    same = quantity_posterior(quantity, columns[0], columns[0], np.random.default_rng(1))
    assert (same == 0).all()
