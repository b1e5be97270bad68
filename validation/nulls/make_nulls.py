"""Make the tables and figures of this folder: null distributions, the paper's slip, and false claims.

    python validation/nulls/make_nulls.py [--data-sets 1000] [--out FOLDER]

README.md says what they mean.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from bayesbias.delivery.plots.measures import plot_false_positive_rates, plot_null
from bayesbias.delivery.plots.style import save_figure
from bayesbias.reports.measures.false_positive_rates import false_positive_rates
from bayesbias.reports.measures.null_simulation import null_share, rate, simulate_null

FOLDER = Path(__file__).resolve().parent
SEED = 20261120
# The one sample that the paper looks at.
PAPER = {"effect_size": 1.2671948, "test_statistic": 0.386222}
# The sd of attribute and of word effects are those of stereotypes in fits of `crossed` to real tables.
SCENARIOS = {
    "none": {"attribute_sd": 0.0, "word_sd": 0.0},
    "attribute": {"attribute_sd": 0.078, "word_sd": 0.0},
    "attribute and protected": {"attribute_sd": 0.078, "word_sd": 0.05},
}


def effect_sizes(*, slip: bool, samples: int = 10_000, sd: float = 0.08, seed: int = SEED) -> np.ndarray:
    """Return effect sizes of 8 + 8 by 8 + 8 words without association, right or with the paper's slip.

    With the slip, the mean of a group is its first word's value. The sd has n - 1.
    """
    similarity = sd * np.random.default_rng(seed).standard_normal((samples, 16, 16))
    s = similarity[..., :8].mean(axis=-1) - similarity[..., 8:].mean(axis=-1)
    x, y = s[:, :8], s[:, 8:]
    difference = x[:, 0] - y[:, 0] if slip else x.mean(axis=-1) - y.mean(axis=-1)
    return np.asarray(difference / s.std(axis=-1, ddof=1))


def exact_share(effect_size: float, *, slip: bool, words: int = 8) -> float:
    """Return the probability of an effect size at least as extreme, from Student's distribution.

    The s-values are independent and Normal. A contrast of them with coefficients c, divided by their sd, is
    sqrt(n - 1) |c| r with r a correlation, and r sqrt((n - 2) / (1 - r^2)) has n - 2 degrees of freedom.
    """
    n = 2 * words
    length = np.sqrt(2) if slip else np.sqrt(2 / words)
    r = effect_size / (np.sqrt(n - 1) * length)
    return float(2 * stats.t.sf(r * np.sqrt((n - 2) / (1 - r * r)), n - 2))


def exact_quantile(probability: float, *, slip: bool, words: int = 8) -> float:
    """Return the quantile of an effect size, the inverse of `exact_share`."""
    n = 2 * words
    length = np.sqrt(2) if slip else np.sqrt(2 / words)
    t = stats.t.ppf(probability, n - 2)
    return float(np.sqrt(n - 1) * length * t / np.sqrt(n - 2 + t * t))


def main() -> None:
    """Make everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=1000, help="data sets a method (default 1000)")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the results (default: this one)")
    arguments = parser.parse_args()
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    seconds = {}

    simulate_null(samples=2, random_seed=SEED)  # so that imports are not timed
    start = time.perf_counter()
    null = simulate_null(random_seed=SEED)
    seconds["simulate_null"] = round(time.perf_counter() - start, 2)
    save_figure(plot_null(null, observed=PAPER), out / "null.png", overwrite=True)
    shares = null_share(null, **PAPER)
    shares.to_csv(out / "null_shares.csv", index=False, float_format="%.4g", lineterminator="\n")

    rows = []
    for slip in (False, True):
        share, error = rate(np.abs(effect_sizes(slip=slip)) >= PAPER["effect_size"])
        exact = exact_share(PAPER["effect_size"], slip=slip)
        rows.append({"group_mean": "first word" if slip else "mean", "share": share, "mc_se": error, "exact": exact})
    slips = pd.DataFrame(rows)
    slips.to_csv(out / "slip.csv", index=False, float_format="%.4g", lineterminator="\n")

    results = []
    for name, effects in SCENARIOS.items():
        start = time.perf_counter()
        results.append(false_positive_rates(**effects, samples=arguments.data_sets, random_seed=SEED))
        seconds[f"false_claims, effects: {name}"] = round(time.perf_counter() - start, 1)
    save_figure(plot_false_positive_rates(*results), out / "false_claims.png", overwrite=True)
    table = pd.concat(
        [result.rates.assign(**effects) for result, effects in zip(results, SCENARIOS.values(), strict=True)]
    )
    first = ["attribute_sd", "word_sd"]
    table = table[[*first, *(column for column in table if column not in first)]]
    table.to_csv(out / "false_claims.csv", index=False, float_format="%.4g", lineterminator="\n")
    facts = {"seed": SEED, "data_sets": arguments.data_sets, "seconds": seconds}
    (out / "run.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    for frame in (shares, slips, table):
        print(frame.to_string(index=False), end="\n\n")
    print(seconds)


if __name__ == "__main__":
    main()
