"""The model of the spread over seeds and documents, against integrals, known truths, and Student's t."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import quad

from bayesbias.changes.result import Estimation
from bayesbias.changes.training_spread import (
    KEYS,
    SD_PRIOR,
    OverSeeds,
    both_sd_draws,
    estimates_over_trainings,
    seed_sd_draws,
)


class TestSeedSdDraws:
    @pytest.mark.parametrize("means", [[0.1, 0.14], [0.1, 0.1, 0.1], [0.0, 0.05, -0.03, 0.02, 0.4]])
    def test_mean_of_the_sd_is_that_of_the_integral(self, means: list[float]) -> None:
        """The density of tau is known: its prior, v^-(k - 1)/2 and exp(-squares / 2 v), with v = tau^2 + errors^2."""
        squares, k = sum((m - np.mean(means)) ** 2 for m in means), len(means)
        errors = 1e-3

        def density(tau: float) -> float:
            variance = tau**2 + errors**2
            prior = tau / variance * np.exp(-(tau**2) / (2 * SD_PRIOR**2))
            return float(prior * np.exp(-squares / (2 * variance)) / variance ** ((k - 1) / 2))

        peak = [0.0, *np.geomspace(1e-5, 0.5, 30)]
        total, first = (
            sum(
                quad(lambda t, power=power: t**power * density(t), low, high)[0]
                for low, high in itertools.pairwise(peak)
            )
            for power in (0, 1)
        )
        drawn = seed_sd_draws(np.array(means)[:, None], np.full((k, 1), errors), 40_000, np.random.default_rng(1))[1]
        assert drawn.mean() == pytest.approx(first / total, abs=5 * drawn.std() / 200)

    def test_three_seeds_have_the_interval_of_students_t(self) -> None:
        """Without Monte Carlo errors, of the mean and of one more seed, for sds far below the bound of 0.1."""
        rng = np.random.default_rng(3)
        seeds = np.array([[0.101], [0.104], [0.106]])
        mean, sd = seed_sd_draws(seeds, np.zeros((3, 1)), 100_000, rng)
        for drawn, size in ((mean, 1 / 3), (mean + sd * rng.standard_normal(sd.shape), 4 / 3)):
            half = stats.t(2).ppf(0.945) * seeds.std(ddof=1) * np.sqrt(size)
            assert np.quantile(drawn, 0.945) == pytest.approx(seeds.mean() + half, rel=0.002)

    def test_intervals_hold_truths_drawn_from_elsewhere(self) -> None:
        """Seeds that part by 0.03 with the tails of Student's t, of unit variance: 89 % of intervals hold the mean."""
        rng, sets = np.random.default_rng(2), 600
        seeds = 0.2 + 0.03 * rng.standard_t(8, size=(6, sets)) * np.sqrt(6 / 8)
        mean, sd = seed_sd_draws(seeds, np.full(seeds.shape, 1e-4), 800, rng)
        for drawn, truth in ((mean, 0.2), (sd, 0.03)):
            low, high = np.quantile(drawn, [0.055, 0.945], axis=0)
            coverage = ((low < truth) & (truth < high)).mean()
            assert coverage == pytest.approx(0.89, abs=0.04)


def test_both_sds_are_those_that_were_simulated() -> None:
    """Over simulated trainings, the intervals of each sd hold it as often as they should; the means are unbiased."""
    rng = np.random.default_rng(1)
    seed_sd, document_sd, count = 0.02, 0.05, 200
    seeds = rng.normal(0.3, seed_sd, (6, count))
    resamples = rng.normal(0.1, np.hypot(seed_sd, document_sd), (10, count))
    mean, of_seeds, of_documents = both_sd_draws(seeds, 0 * seeds, (resamples, 0 * resamples), 800, rng)
    for draws, truth in ((mean, 0.3), (of_seeds, seed_sd), (of_documents, document_sd)):
        low, high = np.quantile(draws, [0.055, 0.945], axis=0)
        assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(0.89, abs=0.07)
    assert of_documents.mean() == pytest.approx(document_sd, rel=0.15)


def test_the_errors_of_ends_are_those_of_other_draws() -> None:
    """Against the scatter of the ends over other draws and seeds; an end that they leave open is borderline."""
    rows = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        draws = [0.048 + 0.03 * rng.standard_normal((4_000, 1)) for _ in range(3)]
        rows.append(estimates_over_trainings(draws, np.full((3, 1), 1e-4), None, 0.89, seed).iloc[0])
    for end in ("low", "high"):
        scatter = np.std([row[f"hdi_{end}"] for row in rows], ddof=1)
        stated = np.mean([row[f"{end}_se"] for row in rows])
        # The sd of 24 values has an error of 15 %; batches overestimate the errors of symmetric draws.
        assert 0.7 < stated / scatter < 2
    assert all(row["borderline"] for row in rows), "the interval ends at 0, by chance above or below it"
    assert len({row["hdi_low"] > 0 for row in rows}) == 2


def test_a_seed_at_the_border_counts_as_not_settled() -> None:
    """Another seed of the draws could decide otherwise, as everywhere."""
    names = {key: ["a"] for key in KEYS}
    seeds = {
        seed: pd.DataFrame(
            {**names, "mean": -0.1, "sd": 0.05, "ess_bulk": 1000.0, "hdi_low": -0.2, "hdi_high": -0.001}
            | {"borderline": seed == 3}
        )
        for seed in (1, 2, 3)
    }
    draws = [np.random.default_rng(seed).normal(-0.1, 0.05, (100, 1)) for seed in seeds]
    row = OverSeeds(seeds, draws).estimates(Estimation(draws=100, seed=1, hdi_prob=0.89)).iloc[0]
    assert (row["nearer"], row["farther"], row["not_settled"]) == (2, 0, 1)
