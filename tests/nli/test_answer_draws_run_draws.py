"""The spread over training runs, against truths that are simulated, not Normal, and against Student's t."""

import numpy as np
import pytest
from scipy import stats

from bayesbias.nli.answer_draws import Layout, Premises, mean_draws, quantity_draws, run_variances

RUNS, VERBS, OBJECTS = 5, 4, 5
GROUP = np.array([0, 0, 0, 0, 1, 1, 1, 1])
CODES = np.divmod(np.arange(VERBS * OBJECTS), OBJECTS)
LAYOUT = Layout(GROUP, (0, 1), Premises.from_codes(*CODES))
CONTRAST = 3  # after all words and the two groups
PROB = 0.89


def inside(draws: np.ndarray, truth: float) -> bool:
    low, high = np.quantile(draws, [(1 - PROB) / 2, (1 + PROB) / 2])
    return bool(low < truth < high)


def answers(rng: np.random.Generator, words: np.ndarray, run_sd: float, tails: int | None) -> np.ndarray:
    """Return (runs, words, premises) answers: runs move groups and single words, verbs and objects all of them."""
    size = (RUNS, 2, 1)
    of_runs = (rng.standard_t(tails, size) / np.sqrt(tails / (tails - 2)) if tails else rng.standard_normal(size))[
        ..., 0
    ]
    of_words = words + run_sd * of_runs[:, GROUP] + 0.03 * rng.standard_normal((RUNS, len(GROUP)))
    verbs, objects = 0.03 * rng.standard_normal((VERBS, 1)), 0.03 * rng.standard_normal((1, OBJECTS))
    noise = 0.02 * rng.standard_normal((RUNS, len(GROUP), VERBS * OBJECTS))
    return of_words[..., None] + (verbs + objects).ravel() + noise


@pytest.mark.slow
@pytest.mark.parametrize(("tails", "repeats"), [(None, 300), (5, 120)])
def test_intervals_contain_the_truth_as_often_as_they_say(tails: int | None, repeats: int) -> None:
    """Of a value of these words, and of words like these; and of the change between two embeddings."""
    rng = np.random.default_rng(1)
    held = dict.fromkeys(("these", "like these", "change", "change, like these"), 0)
    for _ in range(repeats):
        spread = 0.05 * (rng.exponential(size=(2, len(GROUP))) - 1)  # not Normal
        contrast = np.array([0.1, 0.0])[GROUP]
        first, second = contrast + spread[0], 0.5 * contrast + 0.5 * spread[0] + 0.5 * spread[1]
        original = answers(rng, first, 0.04, tails)
        debiased = answers(rng, second, 0.02, tails)
        weights = LAYOUT.weights[CONTRAST]
        quantities = quantity_draws(original.mean(axis=0), [original.mean(axis=2)], LAYOUT, 500, rng)
        held["these"] += inside(quantities.these[:, CONTRAST], weights @ first)
        held["like these"] += inside(quantities.like_these[:, CONTRAST], 0.1)
        runs = [debiased.mean(axis=2), original.mean(axis=2)]
        changed = quantity_draws(debiased.mean(axis=0) - original.mean(axis=0), runs, LAYOUT, 500, rng)
        held["change"] += inside(changed.these[:, CONTRAST], weights @ (second - first))
        held["change, like these"] += inside(changed.like_these[:, CONTRAST], -0.05)
    shares = {name: count / repeats for name, count in held.items()}
    error = np.sqrt(PROB * (1 - PROB) / repeats)
    for name, share in shares.items():
        assert share > PROB - 4 * error, shares
        # Two variances of their own are worth fewer degrees of freedom than were counted: wider is right.
        assert share < (PROB + 5 * error), (name, shares)


def test_of_these_words_runs_alone_give_students_interval() -> None:
    rng = np.random.default_rng(2)
    by_run = 0.1 * rng.standard_normal((RUNS, len(GROUP), 1)) * np.ones(VERBS * OBJECTS)
    quantities = quantity_draws(by_run.mean(axis=0), [by_run.mean(axis=2)], LAYOUT, 40_000, rng)
    contrast = by_run.mean(axis=2) @ LAYOUT.weights[CONTRAST]
    expected = stats.t(RUNS - 1, contrast.mean(), contrast.std(ddof=1) / np.sqrt(RUNS))
    distance = stats.kstest(quantities.these[:, CONTRAST], expected.cdf).statistic
    assert distance < 1.63 / np.sqrt(40_000)  # 1 % of a hundred such tests would be beyond
    assert stats.kstest(mean_draws(contrast, 40_000, rng), expected.cdf).statistic < 1.63 / np.sqrt(40_000)


def test_variances_between_runs_are_those_of_scipy() -> None:
    rng = np.random.default_rng(3)
    words = rng.standard_normal((40, len(GROUP)))
    between, within = run_variances(words, GROUP, LAYOUT.weights, 20_000, rng)
    plain = (words @ LAYOUT.weights.T).var(axis=0, ddof=1)
    assert np.allclose(np.median(between, axis=0), 39 * plain / stats.chi2(39).median(), rtol=0.02)
    assert np.median(within) == pytest.approx(1, rel=0.1)


def test_weights_are_means_and_their_difference() -> None:
    words = np.arange(8.0)
    assert (LAYOUT.weights @ words)[:4].tolist() == [3.5, 1.5, 5.5, -4.0]
    assert (LAYOUT.weights @ words)[4:].tolist() == words.tolist()
