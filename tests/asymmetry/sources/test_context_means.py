"""The probability over contexts and its errors, against loops and simulations."""

import numpy as np
import pytest
from scipy import stats

from bayesbias.asymmetry.sources.context_means import ContextMean, context_mean, ratio_sd, student_summary


def test_the_probability_is_that_of_equation_6() -> None:
    probabilities, counts, others = np.array([0.1, 0.5, 0.2]), np.array([1, 3, 2]), np.array([1, 1, 4])
    total = 12
    by_hand = sum(times / total * p for times, p in zip(counts, probabilities, strict=True))
    mean = context_mean(probabilities, counts, others, total=total, contexts=3)
    assert mean.log_probability == pytest.approx(np.log(by_hand))
    # Of ten contexts three were asked: each stands for 10 / 3.
    mean = context_mean(probabilities, counts, others, total=total, contexts=10)
    assert mean.log_probability == pytest.approx(np.log(by_hand * 10 / 3))


def drawn_pair(rng: np.random.Generator, size: int, most: int) -> tuple[ContextMean, ContextMean]:
    """Two directions over contexts of a language where the words' probabilities hang together."""
    kind = rng.choice(3, size=size, p=[0.25, 0.45, 0.3])  # both words, the cue alone, the response alone
    cues, responses = 1 + rng.poisson(0.3, size=(2, size))
    both = np.flatnonzero(kind == 0)
    level = rng.normal(size=len(both))
    forward, backward = (np.exp(-2 + 0.5 * level + 0.4 * rng.normal(size=len(both))) for _ in range(2))
    sampled = rng.choice(len(both), most, replace=False) if len(both) > most else np.arange(len(both))

    def mean(probabilities: np.ndarray, counts: np.ndarray, alone: int) -> ContextMean:
        others = counts[kind == alone]
        total = int(counts[both].sum() + others.sum())
        return context_mean(probabilities[sampled], counts[both][sampled], others, total=total, contexts=len(both))

    return mean(forward, cues, 1), mean(backward, responses, 2)


@pytest.mark.parametrize("most", [1_000, 25])
def test_errors_are_those_of_repeated_corpora(most: int) -> None:
    rng = np.random.default_rng(8)
    runs = [drawn_pair(rng, 400, most) for _ in range(1_500)]
    one = np.array([forward.log_probability for forward, _ in runs])
    ratio = np.array([forward.log_probability - backward.log_probability for forward, backward in runs])
    # The spread of 1,500 numbers is known to 2 %; the delta method and skewness leave some more.
    assert np.sqrt(np.mean([forward.sd**2 for forward, _ in runs])) == pytest.approx(one.std(), rel=0.08)
    assert np.sqrt(np.mean([ratio_sd(*pair) ** 2 for pair in runs])) == pytest.approx(ratio.std(), rel=0.08)
    independent = np.mean([np.hypot(forward.sd, backward.sd) for forward, backward in runs])
    assert independent > 1.15 * ratio.std()


def test_intervals_are_those_of_students_t() -> None:
    summary = student_summary(np.array([1.2, -0.3, 2.0]), np.array([0.5, 0.4, 1.0]), np.array([4.0, 21.0, 1.1]), 0.89)
    for row, (mean, sd, freedom) in enumerate(((1.2, 0.5, 3), (-0.3, 0.4, 20), (2.0, 1.0, 1))):
        low, high = stats.t.interval(0.89, freedom, mean, sd)
        assert (summary["hdi_low"][row], summary["hdi_high"][row]) == pytest.approx((low, high))
        assert summary["probability_of_direction"][row] == pytest.approx(stats.t.cdf(abs(mean) / sd, freedom))


def test_contexts_that_add_alike_count_in_full_and_one_that_adds_all_counts_alone() -> None:
    others = np.ones(4, dtype=int)
    alike = context_mean(np.full(6, 0.1), np.ones(6, dtype=int), others, total=10, contexts=6)
    one = context_mean(np.array([0.5, 1e-9, 1e-9]), np.ones(3, dtype=int), others, total=7, contexts=3)
    assert (alike.effective_contexts, one.effective_contexts) == (pytest.approx(6), pytest.approx(1))
    # Of 10 that were asked of 100, too.
    some = context_mean(np.full(10, 0.1), np.ones(10, dtype=int), others, total=104, contexts=100)
    assert some.effective_contexts == pytest.approx(10)


@pytest.mark.parametrize(("contexts", "spread"), [(20, 0.5), (8, 2.0), (20, 2.0), (60, 2.0)])
def test_intervals_of_ratios_hold_the_truth_where_a_few_contexts_add_nearly_all(contexts: int, spread: float) -> None:
    """Log probabilities whose sd over contexts is that of language models, against a truth that is known."""
    rng = np.random.default_rng(4)
    repeats, held, by_count = 500, 0, 0
    for _ in range(repeats):
        level = rng.normal(size=contexts)
        means = []
        for ahead in (0.5, 0.0):  # the true ratio
            logs = -8 + ahead + spread * (0.6 * level + 0.8 * rng.normal(size=contexts))
            counts, others = (1 + rng.poisson(0.3, size) for size in (contexts, 2 * contexts))
            total = int(counts.sum() + others.sum())
            means.append(context_mean(np.exp(logs), counts, others, total=total, contexts=contexts))
        ratio = np.array([means[0].log_probability - means[1].log_probability])
        sd = np.array([ratio_sd(*means)])
        effective_contexts = min(one.effective_contexts for one in means)
        low, high = (
            student_summary(ratio, sd, np.array([effective_contexts]), 0.89)[end][0] for end in ("hdi_low", "hdi_high")
        )
        held += low < 0.5 < high
        by_count += abs(ratio[0] - 0.5) < stats.t.ppf(0.945, contexts - 1) * sd[0]
    error = np.sqrt(0.89 * 0.11 / repeats)
    assert 0.89 - 0.03 - 3 * error < held / repeats < 0.99
    if spread > 1:
        assert by_count / repeats < 0.84, "the number of contexts would do"
