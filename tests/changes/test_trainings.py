"""Effects of the seed of an embedding's training on a contrast, against integrals, known truths, and shifted fits."""

import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats
from scipy.integrate import quad

import bayesbias as bb
from bayesbias.changes.training_spread import SD_PRIOR, both_sd_draws, seed_sd_draws
from bayesbias.errors import FitError, ReportError
from bayesbias.models.fits import fit_attribute


def shifted(fit: xr.DataTree, by: float) -> xr.DataTree:
    """Return a fit whose associated words are farther by so much, as another seed may have them."""
    other = fit.copy(deep=True)
    posterior = other["posterior"].to_dataset()
    for name in ("connection_mean", "word_mean"):
        associated = posterior[name].coords["connection"] == "associated"
        posterior[name] = posterior[name] + by * associated
    other["posterior"] = xr.DataTree(posterior)
    return other


class TestCompareSeeds:
    def test_shifted_seeds_disagree(self, fit: xr.DataTree) -> None:
        comparison = bb.compare_trainings({1: fit, 2: shifted(fit, 0.5), "third": shifted(fit, -0.5)}, random_seed=1)
        alone, row = bb.contrasts(fit).iloc[0], comparison.contrasts.iloc[0]
        assert (row["nearer"], row["farther"], row["not_settled"], row["agree"]) == (1, 1, 1, False)
        assert row["mean"] == pytest.approx(alone["mean"], abs=0.02)
        assert row["lists_sd"] == pytest.approx(alone["sd"], rel=1e-6)
        assert row["seed_sd_low"] > 0.05
        assert (
            row["next_high"] - row["next_low"] > row["hdi_high"] - row["hdi_low"] > alone["hdi_high"] - alone["hdi_low"]
        )
        assert (row["reading"], comparison.verdict.kind) == ("seeds disagree", "seeds disagree")
        assert [statement.kind for statement in comparison.parts[1].statements] == ["seeds disagree"] * 3
        assert "few seeds" in [statement.kind for statement in comparison.parts[-1].statements]
        assert list(comparison.by_seed["seed"].unique()) == [1, 2, "third"]
        assert repr(comparison) == "TrainingComparison(3 seeds, 3 contrasts)"
        embedding = fit_attribute(fit, "table")["embedding"]["name"]
        assert comparison.facts["embeddings"] == dict.fromkeys([1, 2, "third"], embedding)
        assert comparison.facts["pairs"] == 2832
        assert "<h4>Beware: the seeds disagree</h4>" in comparison._repr_html_()

    def test_equal_fits_leave_the_word_lists(self, short_fit: xr.DataTree) -> None:
        row = bb.compare_trainings(dict.fromkeys(range(8), short_fit), random_seed=1).contrasts.iloc[0]
        alone = bb.contrasts(short_fit).iloc[0]
        assert row["agree"]
        assert row["reading"] == ("not settled" if row["not_settled"] else "stable")
        assert row["seed_share"] < 0.02
        assert row["hdi_low"] == pytest.approx(alone["hdi_low"], abs=0.1 * alone["sd"])
        assert row["hdi_high"] == pytest.approx(alone["hdi_high"], abs=0.1 * alone["sd"])

    def test_levels_and_repeats(self, short_fit: xr.DataTree) -> None:
        fits = {1: short_fit, 2: shifted(short_fit, 0.01)}
        first = bb.compare_trainings(fits, level="all", random_seed=3)
        assert list(first.contrasts["protected_word"]) == list(bb.contrasts(short_fit, level="all")["protected_word"])
        again = bb.compare_trainings(fits, level="all", random_seed=3)
        assert first.contrasts.equals(again.contrasts)

    def test_tables_may_list_words_in_any_order(self, short_table: pd.DataFrame) -> None:
        straight, turned = (
            bb.fit(rows, draws=500, random_seed=1, progress=False) for rows in (short_table, short_table[::-1])
        )
        first, second = bb.contrasts(straight, level="word"), bb.contrasts(turned, level="word")
        assert first["protected_word"].tolist() != second["protected_word"].tolist()
        keys = ["contrast", "protected_word"]
        means = pd.concat([first, second]).groupby(keys)["mean"].mean()
        for seeds in ({("sg", 1): straight, ("sg", 2): turned}, {("sg", 2): turned, ("sg", 1): straight}):
            compared = bb.compare_trainings(seeds, level="word", random_seed=1)
            drawn = compared.contrasts.set_index(keys)["mean"]
            assert (drawn - means[drawn.index]).abs().max() < 0.02
            assert list(dict.fromkeys(compared.by_seed["seed"])) == list(seeds)
            assert "level='word'" in compared.contents.code
        resampled = bb.compare_trainings(
            {1: straight, 2: straight}, resampled={1: turned, 2: turned}, level="word", random_seed=1
        )
        assert resampled.contrasts["document_sd"].max() < 0.03

    def test_what_is_no_comparison(self, fit: xr.DataTree, short_fit: xr.DataTree) -> None:
        with pytest.raises(ReportError, match=r"fits .* 1 fit"):
            bb.compare_trainings({1: fit})
        with pytest.raises(ReportError, match="list"):
            bb.compare_trainings([fit, fit])  # type: ignore[arg-type]
        with pytest.raises(ReportError, match=r"1 .* 2 .*attribute words .* pairs"):
            bb.compare_trainings({1: fit, 2: short_fit})
        with pytest.raises(FitError):
            bb.compare_trainings({1: fit, 2: xr.DataTree()})


def test_documents_are_a_third_source(short_fit: xr.DataTree) -> None:
    fits = {seed: shifted(short_fit, 0.001 * seed) for seed in range(4)}
    drawn = {seed: shifted(short_fit, 0.03 * (-1) ** seed) for seed in range(6)}
    alone = bb.compare_trainings(fits, random_seed=1)
    compared = bb.compare_trainings(fits, resampled=drawn, random_seed=1)
    row, before = compared.contrasts.iloc[0], alone.contrasts.iloc[0]
    assert "document_sd" not in alone.contrasts
    assert row["document_sd"] == pytest.approx(0.033, rel=0.4)
    assert row["document_share"] + row["seed_share"] < 1
    assert row["documents_high"] - row["documents_low"] > row["hdi_high"] - row["hdi_low"]
    assert row["mean"] == pytest.approx(before["mean"], abs=0.003)
    assert "sample of documents" in " ".join(str(compared).split())
    assert compared.facts["resamples"] == 6
    assert "6 trained on resampled documents" in compared.contents.about
    assert "resampled=drawn" in compared.contents.code
    assert "resampled" not in alone.contents.code
    with pytest.raises(ReportError, match="at least 2 fits"):
        bb.compare_trainings(fits, resampled={1: drawn[1]})


def test_connections_and_groups_are_those_of_all(table: pd.DataFrame) -> None:
    other_side = {"associated": "different", "different": "associated"}
    swapped = table.assign(connection=table["connection"].astype(str).replace(other_side))
    fits = {seed: bb.fit(rows, random_seed=1, progress=False) for seed, rows in ((1, table), (2, swapped))}
    with pytest.raises(ReportError, match="1 and 2 differ in groups or connections"):
        bb.compare_trainings(fits, random_seed=1)


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
