"""Ratings of words, and their correlation with an axis."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import QuestionWarning, ReportError
from bayesbias.reports.axes.ratings import AxisCorrelation, axis_correlation, checked_ratings
from tests.reports.axes.test_project import PAIRS, WORDS, planted


def made_scores(words: int, pairs: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores that share a part between pairs, and ratings with a correlation of 0.6 with that part."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=words)
    scores = common[:, np.newaxis] + noise * rng.normal(size=(words, pairs)) + rng.normal(size=pairs)
    return scores, 0.6 * common + 0.8 * rng.normal(size=words)


def test_the_correlation_is_corrected_by_cronbachs_alpha() -> None:
    scores, ratings = made_scores(30, 5, 1.0, 1)
    item_variance, total_variance = scores.var(axis=0, ddof=1).sum(), scores.sum(axis=1).var(ddof=1)
    alpha = 5 / 4 * (1 - item_variance / total_variance)
    plain = np.corrcoef(scores.mean(axis=1), ratings)[0, 1]
    estimate = axis_correlation(scores, ratings)
    assert (estimate.observed, estimate.attenuation) == pytest.approx((plain, np.sqrt(alpha)))
    assert estimate.correlation == pytest.approx(plain / np.sqrt(alpha))


def test_the_influence_of_words_and_pairs_is_the_derivative_of_the_correlation() -> None:
    """With weights of words and pairs, whose derivatives are by differences."""
    scores, ratings = made_scores(12, 5, 1.0, 1)

    def weighted(words: np.ndarray, pairs: np.ndarray) -> float:
        centred, apart = scores - words @ scores, ratings - words @ ratings
        shared = np.triu((centred.T * words) @ centred * np.outer(pairs, pairs), 1).sum()
        shared /= np.triu(np.outer(pairs, pairs), 1).sum()
        return float(words @ (centred @ pairs * apart) / np.sqrt(shared * (words @ apart**2)))

    flat = np.full(12, 1 / 12), np.full(5, 1 / 5)
    influence = []
    for side in (0, 1):
        slopes = []
        for unit in np.eye(len(flat[side])):
            moved = [list(flat), list(flat)]
            for sign, weights in zip((1, -1), moved, strict=True):
                weights[side] = flat[side] + sign * 1e-5 * (unit - flat[side])
            slopes.append((weighted(*moved[0]) - weighted(*moved[1])) / 2e-5 / len(unit))
        influence.append(np.array(slopes))
    apart, mean = ratings - ratings.mean(), scores.mean(axis=1) - scores.mean()
    residuals = apart * (mean - stats.linregress(apart, mean).slope * apart)
    leverage = 1 / 12 + apart**2 / (apart @ apart)
    residuals *= weighted(*flat) / (mean @ apart)
    influence[0] += residuals * (1 / np.sqrt(1 - leverage) - 1)
    variances = np.square(influence[0]).sum(), np.square(influence[1]).sum() * 5 / 4
    estimate = axis_correlation(scores, ratings)
    assert weighted(*flat) == pytest.approx(estimate.correlation)
    assert estimate.error**2 == pytest.approx(max(variances)), "less what both have, the sum is below the larger one"


def test_intervals_hold_the_correlation_of_all_pairs_and_words() -> None:
    hits, estimates = [], []
    for seed in range(150):
        estimate = axis_correlation(*made_scores(40, 6, 1.0, seed))
        low, high = estimate.interval(0.89)
        hits.append(low <= 0.6 <= high)
        estimates.append(estimate.correlation)
    assert np.mean(hits) == pytest.approx(0.89, abs=0.09)
    assert np.mean(estimates) == pytest.approx(0.6, abs=0.04)


def test_what_single_words_have_on_single_pairs_is_counted_once() -> None:
    """With ratings of no relation the mean variance is that of the estimates; counted twice, it would be larger."""
    variances, estimates = [], []
    for seed in range(400):
        scores, ratings = made_scores(60, 4, 1.0, seed)[0], np.random.default_rng([seed, 1]).normal(size=60)
        estimate = axis_correlation(scores, ratings)
        estimates.append(estimate.correlation)
        variances.append(estimate.error**2)
    assert np.mean(variances) / np.var(estimates) == pytest.approx(1, abs=0.12)


def test_pairs_that_share_nothing_have_no_correlation() -> None:
    scores = np.tile([[1.0, -1.0], [-1.0, 1.0]], (3, 1))
    assert np.isnan(axis_correlation(scores, np.arange(6.0)).correlation)


def test_an_outlying_rating_leaves_the_error_finite_and_one_that_decides_alone_is_refused() -> None:
    projection = [5.0, 2.0, 4.0, 4.5, 3.0, 2.5, 5.0, 1.0, 3.5, 2.0, 4.0, 3.0]
    errors = []
    for value in (5, 1e2, 1e4):
        scores, _ = made_scores(12, 5, 1.0, 1)
        errors.append(axis_correlation(scores, np.array([value, *projection[1:]])).error)
    assert max(errors) < 1
    for value in (1e6, 1e300):
        with pytest.raises(ReportError, match="rest on one word"):
            bb.project(planted(), WORDS, PAIRS, ratings=dict(zip(WORDS, [value, *projection[1:]], strict=True)))


def test_equal_projections_are_refused() -> None:
    vectors = np.random.default_rng(1).normal(size=(24, 30))
    vectors[:12] = vectors[0] * 2.0 ** np.arange(12)[:, np.newaxis]
    embedding = bb.Embedding((*WORDS, *(word for pair in PAIRS for word in pair)), vectors)
    with pytest.raises(ReportError, match=r"projections of all words .* are equal"):
        bb.project(embedding, WORDS, PAIRS, ratings=dict(zip(WORDS, range(12), strict=True)))


def test_an_interval_holds_its_estimate() -> None:
    for correlation, error in ((1.0, 0.0), (1.2, 1e-4), (-1.0, 0.0), (0.3, 0.0)):
        low, high = AxisCorrelation(correlation, correlation / 1.3, 1 / 1.3, error, 3.0).interval(0.89)
        assert low <= np.clip(correlation, -1, 1) <= high
        assert (abs(correlation) > 1) == (high - low > 1e-12)


def test_a_correlation_near_1_keeps_a_short_interval() -> None:
    """Near 1 an error is not small beside 1 - r**2, and arctanh alone would reach from -1 to 1."""
    low, high = axis_correlation(made_scores(8, 4, 0.3, 3)[0], made_scores(8, 4, 0.0, 3)[0].mean(axis=1)).interval(0.89)
    assert (low > 0.9, high) == (True, 1)


def test_ratings_of_the_words() -> None:
    places = dict(zip(WORDS, range(len(WORDS)), strict=True))
    row = bb.project(planted(), WORDS, PAIRS, ratings=places).ratings.iloc[0]
    assert row["words"] == len(WORDS)
    assert row["correlation_low"] > 0.9
    assert row["rank_correlation"] == pytest.approx(1, abs=0.02)
    frame = pd.DataFrame({"word": WORDS, "income": list(places.values()), "noise": np.cos(np.arange(12) * 2.0)})
    rows = bb.project(planted(), WORDS, PAIRS, ratings=frame).ratings
    assert rows["rating"].tolist() == ["income", "noise"]
    assert rows["correlation_low"].iloc[1] < 0 < rows["correlation_high"].iloc[1]


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        (3, "a mapping of words"),
        (pd.DataFrame({"Word": ["a"], "x": [1.0]}), "no column word"),
        (pd.DataFrame({"word": ["a"], "x": ["b"]}), "no column of numbers"),
        (pd.DataFrame({"word": ["a", "a"], "x": [1.0, 2.0]}), "more than once"),
        ({"word1": 1.0, "word2": 2.0}, "2 of the 12"),
        (dict.fromkeys(WORDS, 1.0), "equal"),
        (dict.fromkeys(WORDS, 1.0) | {WORDS[3]: 2.0}, "all words but one"),
        (pd.DataFrame({"word": WORDS, "x": ["1", "abc", *map(str, range(10))]}), "'word1' in the column 'x' is 'abc'"),
        (pd.DataFrame({"word": WORDS, "x": [1.0, np.inf, *range(10)]}), "no number"),
    ],
)
def test_ratings_that_are_no_ratings(ratings, message) -> None:
    with pytest.raises(ReportError, match=message):
        bb.project(planted(), WORDS, PAIRS, ratings=ratings)


def test_ratings_are_in_any_unit_any_form_and_any_type() -> None:
    values = np.cos(np.arange(12.0))
    plain = bb.project(planted(), WORDS, PAIRS, ratings=dict(zip(WORDS, values, strict=True))).ratings
    for unit in (1e200, 1e-200):
        same = bb.project(planted(), WORDS, PAIRS, ratings=dict(zip(WORDS, unit * values, strict=True))).ratings
        pd.testing.assert_frame_equal(plain, same)
    texts = pd.DataFrame({"word": WORDS, "rating": pd.Categorical(map(repr, values.tolist())), "part": "noun"})
    with pytest.warns(QuestionWarning, match="ignored the column 'part', which holds no numbers"):
        rows = bb.project(planted(), WORDS, PAIRS, ratings=texts).ratings
    assert rows["rating"].tolist() == ["rating"]
    assert rows["correlation"].iloc[0] == pytest.approx(plain["correlation"].iloc[0])
    assert checked_ratings({"cafe\u0301": 1.0}).index.tolist() == ["caf\u00e9"]
