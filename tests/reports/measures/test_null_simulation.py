"""Null simulations: against Student's distribution, SciPy and a brute-force loop."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayesbias.errors import ArgumentError, MeasureError, ReportError
from bayesbias.reports.measures import null_simulation
from bayesbias.reports.measures.null_simulation import NULL_VALUES, draw_noise, null_share, rate, simulate_null
from tests.refusals import refusals

PAPER = 1.2671948


@pytest.fixture(scope="module")
def null() -> Any:
    return simulate_null(random_seed=1)


def student_share(effect_size: float, n: int, length: float, ddof: int) -> float:
    """P(|c's / sd(s)| >= effect_size) for iid Normal s and a contrast c of that length; s has n values."""
    r = effect_size / (np.sqrt(n - ddof) * length)
    return float(2 * stats.t.sf(r * np.sqrt((n - 2) / (1 - r * r)), n - 2))


def test_share_of_the_papers_effect_size_is_not_38_percent_but_0_6(null: Any) -> None:
    row = null_share(null, effect_size=PAPER).loc[0]
    exact = student_share(PAPER, 16, np.sqrt(2 / 8), 1)
    assert exact == pytest.approx(0.006, abs=0.0005)
    assert abs(row["share"] - exact) < 3 * row["mc_se"]
    assert row["mc_se"] == pytest.approx(np.sqrt(exact * (1 - exact) / 10_000), rel=0.2)


def test_share_with_n(null: Any) -> None:
    with_n = simulate_null(random_seed=1, ddof=0)
    np.testing.assert_allclose(with_n.samples["effect_size"], null.samples["effect_size"] * np.sqrt(16 / 15))
    row = null_share(with_n, effect_size=PAPER).loc[0]
    assert abs(row["share"] - student_share(PAPER, 16, np.sqrt(2 / 8), 0)) < 3 * row["mc_se"]


@pytest.mark.parametrize("name", ["p_value", "p_value_preaveraged", "p_value_raw"])
def test_p_values_of_independent_pairs_keep_their_promise(null: Any, name: str) -> None:
    for level in (0.01, 0.05, 0.5):
        share, error = rate(null.samples[name].to_numpy() <= level)
        assert abs(share - level) < 3.5 * error


def test_spread_of_statistic_and_mac(null: Any) -> None:
    """A sum of 16 values with variance sd^2 (1/8 + 1/8), and a mean of 256 distances."""
    assert float(null.samples["test_statistic"].std()) == pytest.approx(np.sqrt(16 * 0.08**2 / 4), rel=0.03)
    assert float(null.samples["mac"].std()) == pytest.approx(0.08 / 16, rel=0.03)
    assert float(null.samples["mac"].mean()) == pytest.approx(1, abs=0.0002)


def test_each_number_by_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against loops over words and partitions, and scipy.stats.ttest_1samp, for lists of unequal length."""
    similarity = 0.1 * np.random.default_rng(5).standard_normal((3, 6, 5))
    monkeypatch.setattr(null_simulation, "draw_noise", lambda *_: similarity)
    null = simulate_null(protected=(3, 3), attributes=(2, 3), samples=3, random_seed=1, ddof=0)
    for sample, table in enumerate(similarity):
        s = [row[:2].mean() - row[2:].mean() for row in table]
        statistic = sum(s[:3]) - sum(s[3:])
        splits = [sum(s[i] if i in x else -s[i] for i in range(6)) for x in combinations(range(6), 3)]
        averages = [1 - part.mean() for row in table for part in (row[:2], row[2:])]
        expected = {
            "test_statistic": statistic,
            "effect_size": (np.mean(s[:3]) - np.mean(s[3:])) / np.std(s),
            "p_value": np.mean([split >= statistic - 1e-12 for split in splits]),
            "mac": np.mean(averages),
            "p_value_preaveraged": stats.ttest_1samp(averages, 1).pvalue,
            "p_value_raw": stats.ttest_1samp(1 - table.ravel(), 1).pvalue,
        }
        for name, value in expected.items():
            assert float(null.samples[name][sample]) == pytest.approx(value), name


def test_attribute_effects_leave_weat_alone_but_not_the_t_tests_of_mac() -> None:
    null = simulate_null(attribute_sd=0.08, samples=2000, random_seed=2)
    share, error = rate(null.samples["p_value"].to_numpy() <= 0.05)
    assert abs(share - 0.05) < 3 * error
    for name in ("p_value_preaveraged", "p_value_raw"):
        share, error = rate(null.samples[name].to_numpy() <= 0.05)
        assert share - 3 * error > 0.3


def test_noise_has_the_effects_it_says() -> None:
    spread = {"sd": 1e-9, "attribute_sd": 0.1, "word_sd": 0.0}
    noise = draw_noise(400, 4, (2, 3), spread, np.random.default_rng(1))
    assert np.ptp(noise, axis=1).max() < 1e-7  # the same for all protected words
    assert noise.std() == pytest.approx(0.1, rel=0.1)
    noise = draw_noise(400, 4, (2, 3), spread | {"attribute_sd": 0.0, "word_sd": 0.2}, np.random.default_rng(1))
    assert max(np.ptp(noise[..., :2], axis=2).max(), np.ptp(noise[..., 2:], axis=2).max()) < 1e-7
    assert noise.std() == pytest.approx(0.2, rel=0.1)
    assert abs(np.corrcoef(noise[..., 0].ravel(), noise[..., 2].ravel())[0, 1]) < 0.1


def test_seed_repeats_and_is_recorded() -> None:
    first, second, third = (simulate_null(samples=50, random_seed=seed) for seed in (3, 3, 4))
    assert first.samples.identical(second.samples)
    assert not first.samples.equals(third.samples)
    drawn = simulate_null(samples=50)
    assert drawn.samples.equals(simulate_null(samples=50, random_seed=drawn.random_seed).samples)


def test_the_summary_and_the_statements_are_those_of_the_samples(null: Any) -> None:
    rows = null.summary.set_index("quantity")
    assert list(rows.index) == list(null.samples.data_vars)
    for statement, (name, row) in zip(null.parts[1].statements, rows.iterrows(), strict=True):
        values = null.samples[name].to_numpy()
        assert row["mean"] == pytest.approx(values.mean())
        assert [row["2.5%"], row["97.5%"]] == pytest.approx(np.quantile(values, [0.025, 0.975]))
        assert statement.numbers["std"] == pytest.approx(values.std(ddof=1))


def test_blocks_are_no_part_of_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = simulate_null(samples=200, random_seed=1)
    monkeypatch.setattr(null_simulation, "_NUMBERS_A_BLOCK", 5000)
    blocks = simulate_null(samples=200, random_seed=1)
    for name in whole.samples.data_vars:
        np.testing.assert_allclose(blocks.samples[name], whole.samples[name])


def test_long_lists_draw_partitions() -> None:
    null = simulate_null(protected=(14, 14), samples=300, random_seed=1)
    share, error = rate(null.samples["p_value"].to_numpy() <= 0.2)
    assert abs(share - 0.2) < 3.5 * error
    assert float(null.samples["p_value"].min()) >= 1 / 10_001


def test_share_on_either_side_and_from_the_null_value(null: Any) -> None:
    shares = null_share(null, effect_size=-PAPER, test_statistic=0.386222, mac=0.99).set_index("quantity")["share"]
    assert shares["effect_size"] == float((abs(null.samples["effect_size"]) >= PAPER).mean())
    assert shares["test_statistic"] == float((abs(null.samples["test_statistic"]) >= 0.386222).mean())
    assert shares["mac"] == float((abs(null.samples["mac"] - 1) >= 1 - 0.99).mean())
    assert shares["mac"] == pytest.approx(2 * stats.norm.sf(0.01 / 0.005), abs=0.008)


def test_error_of_a_rate_is_never_0() -> None:
    share, error = rate(np.zeros(98, dtype=bool))
    assert (share, error) == (0, pytest.approx(np.sqrt(0.01 * 0.99 / 98)))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"protected": (8, 7)}, "protected="),
        ({"protected": (1, 1)}, r"protected=\(1, 1\).* 2 "),
        ({"attributes": (8, 1)}, r"attributes=\(8, 1\).* 2 "),
        ({"attributes": 8}, "attributes="),
        ({"attributes": (8, 8, 8)}, "attributes="),
        ({"attributes": (8, 2.5)}, "attributes="),
        ({"sd": 0}, "sd=0: "),
        ({"sd": -0.1}, "sd=-0.1"),
        ({"sd": float("nan")}, "sd=nan"),
        ({"sd": True}, "sd=True"),
        ({"sd": "0.08"}, "sd='0.08'"),
        ({"attribute_sd": -0.1}, "attribute_sd=-0.1: "),
        ({"word_sd": 1.5}, "word_sd=1.5"),
        ({"samples": 0}, "samples=0"),
        ({"samples": 1e4}, "samples=10000.0"),
        ({"samples": 10**9}, "^1,000,000,000 samples"),
        ({"ddof": 2}, "ddof=2"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises((ReportError, ArgumentError, MeasureError), match=words):
        simulate_null(**arguments)


test_refusals = refusals(
    (lambda: simulate_null(random_seed=-1), ArgumentError, "random_seed=-1"),
    (lambda null: null_share(null, effect_sise=1.0), ReportError, r"effect_sise.*'effect_size'"),
    (lambda null: null_share(null, mac=float("nan")), ReportError, "mac=nan"),
    (lambda null: null_share(null), ReportError, r"effect_size.* test_statistic.* mac"),
    (lambda: null_share({}, effect_size=1.0), ReportError, r"dict.* simulate_null"),
)


def test_null_values_are_quantities_of_the_simulation(null: Any) -> None:
    assert set(NULL_VALUES) <= set(null.samples.data_vars)
    assert all("convention" in null.samples[name].attrs for name in null.samples.data_vars)
