"""Make the tables and the figure of this folder: how often intervals of reliabilities contain the truth.

    python validation/reliability/make_reliability.py [--matrices 5000] [--out FOLDER]

README.md says what they mean.
"""

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from reliability_text import filled_readme
from scipy import stats

from bayesbias.base.checks import HDI_PROB
from bayesbias.delivery.plots.style import furnish, new_figure, save_figure, series_legend
from bayesbias.reliability.mean_squares import (
    ICC_2_1,
    RELIABILITIES,
    MeanSquares,
    far_share,
    mean_squares,
    reliability_posterior,
)

FOLDER = Path(__file__).resolve().parent
SEED = 20261122
NORMAL = "normal"
DEPARTURES = {
    "heavy rows": "effects of rows have Student's distribution with 4 degrees of freedom",
    "heavy errors": "errors have Student's distribution with 4 degrees of freedom",
    "unequal rows": "a row's error variance is log-normal (sd 1 of the logarithm): some rows are noisier",
    "related rows": "rows come in threes whose effects correlate by 0.5, as base pairs that share a word",
    "heavy and unequal": "heavy rows, heavy errors and unequal rows together",
    "skewed rows": "effects of rows are exponential",
    "very skewed rows": "effects of rows are log-normal (sd 1 of the logarithm)",
    "extreme rows": "one row in 20, by chance, has an effect of 5 times the standard deviation",
}
# Variances of rows and columns; that of errors is 1.
VARIANCES = [(0.0, 0.0), (0.1, 0.05), (1.0, 0.0), (1.0, 0.3), (10.0, 0.05)]
SIZES = [(23, 2), (23, 3), (23, 8), (23, 32), (76, 8)]
# Standard deviations of the scores by DB/WA, RIPA and NBM in skip-gram, of `STUDY`.
SCALES = (1.0, 4.0, 7.9)
STUDY = FOLDER.parent / "study_over_seeds" / "scores.npz"


@dataclass(frozen=True)
class Cell:
    """Matrices of `n` rows and `k` columns; variances of rows and columns, that of errors being 1; columns' scales."""

    reliability: str
    n: int
    k: int
    rows: float
    columns: float = 0.0
    kind: str = NORMAL
    scales: tuple[float, ...] | None = None


def made(cell: Cell, matrices: int, rng: np.random.Generator) -> np.ndarray:
    """Return matrices of scores of a cell."""
    n, k, kind = cell.n, cell.k, cell.kind

    def drawn(heavy: bool, shape: tuple[int, ...]) -> np.ndarray:
        return rng.standard_t(4, shape) / np.sqrt(2) if heavy else rng.standard_normal(shape)

    row = drawn(kind in ("heavy rows", "heavy and unequal"), (matrices, n, 1))
    if kind == "related rows":
        groups = rng.standard_normal((matrices, -(-n // 3), 1))
        row = np.sqrt(0.5) * (row + np.repeat(groups, 3, axis=1)[:, :n])
    if kind == "skewed rows":
        row = rng.exponential(size=row.shape) - 1
    if kind == "very skewed rows":
        row = (np.exp(row) - np.exp(0.5)) / np.sqrt(np.exp(2) - np.exp(1))
    if kind == "extreme rows":
        row *= np.where(rng.random(row.shape) < 0.05, 5, 1) / np.sqrt(0.95 + 0.05 * 25)
    error = drawn(kind in ("heavy errors", "heavy and unequal"), (matrices, n, k))
    if kind in ("unequal rows", "heavy and unequal"):
        error *= np.exp(rng.standard_normal((matrices, n, 1)) / 2 - 0.25)
    scores = np.sqrt(cell.rows) * row + np.sqrt(cell.columns) * rng.standard_normal((matrices, 1, k)) + error
    return scores * np.array(cell.scales or 1.0)


def truth(cell: Cell) -> float:
    """Return the reliability of a cell by its definition in variances, and not by the package's formula."""
    if cell.reliability == "icc_2_1":
        return cell.rows / (cell.rows + cell.columns + 1)
    scales = np.array(cell.scales or np.ones(cell.k))
    return of_covariance(cell.rows * np.outer(scales, scales) + np.diag(scales**2), cell.reliability)


def of_covariance(covariance: np.ndarray, name: str, of_means: float = 0.0) -> float:
    """Return the mean covariance over the mean variance of columns (plus that of their means), or Cronbach's alpha."""
    k, variances = len(covariance), np.trace(covariance)
    if name == "cronbach_alpha":
        return float(k / (k - 1) * (1 - variances / covariance.sum()))
    return float((covariance.sum() - variances) / (k * (k - 1)) / (variances / k + of_means))


def f_interval(squares: MeanSquares, name: str, prob: float = HDI_PROB) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of McGraw and Wong (1996), Table 7, for ICC(A,1) and ICC(C,1); of Feldt (1965) for alpha."""
    n, k, tail = squares.n, squares.k, (1 + prob) / 2
    rows, columns, error = squares.rows, squares.columns, squares.error
    if name != "icc_2_1":
        low = rows / error / stats.f.ppf(tail, n - 1, (n - 1) * (k - 1))
        high = rows / error * stats.f.ppf(tail, (n - 1) * (k - 1), n - 1)
        c = k - 1 if name == "icc_3_1" else 0
        return (low - 1) / (low + c), (high - 1) / (high + c)
    icc = ICC_2_1.observed(squares)
    a, b = k * icc / (n * (1 - icc)), 1 + k * icc * (n - 1) / (n * (1 - icc))
    degrees = (a * columns + b * error) ** 2 / ((a * columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1)))
    lower, upper = stats.f.ppf(tail, n - 1, degrees), stats.f.ppf(tail, degrees, n - 1)
    scaled = k * columns + (k * n - k - n) * error
    return n * (rows - lower * error) / (lower * scaled + n * rows), n * (upper * rows - error) / (
        scaled + n * upper * rows
    )


def judged(scores: np.ndarray, name: str, true: float) -> dict[str, float]:
    """Return how often both intervals contain the truth, their lengths, and the posterior's sd over its error.

    `low_kurtosis` and `high_kurtosis` are of the thirds of the matrices whose row means have the least and most.
    """
    squares = mean_squares(scores)
    summary = reliability_posterior(squares, RELIABILITIES[name], hdi_prob=HDI_PROB)
    intervals = {"posterior": (summary["hdi_low"], summary["hdi_high"]), "f_interval": f_interval(squares, name)}
    facts = {title: float(np.mean((low <= true) & (true <= high))) for title, (low, high) in intervals.items()}
    facts["mc_se"] = float(np.sqrt(HDI_PROB * (1 - HDI_PROB) / len(scores)))
    holds = (summary["hdi_low"] <= true) & (true <= summary["hdi_high"])
    lower, upper = np.quantile(squares.row_kurtosis, [1 / 3, 2 / 3])
    facts["low_kurtosis"] = float(holds[squares.row_kurtosis < lower].mean())
    facts["high_kurtosis"] = float(holds[squares.row_kurtosis > upper].mean())
    squared = (summary["mean"] - true) ** 2
    facts["sd_over_error"] = float(summary["sd"].mean() / np.sqrt(squared.mean()))
    facts["sd_over_error_se"] = facts["sd_over_error"] * squared.std() / squared.mean() / 2 / np.sqrt(len(scores))
    facts |= {f"{title}_length": float(np.mean(high - low)) for title, (low, high) in intervals.items()}
    return facts | {"row_kurtosis": squares.row_kurtosis.mean(), "spread_ratio": squares.spread_ratio.mean()}


def row_of(cell: Cell, matrices: int, rng: np.random.Generator) -> dict[str, object]:
    """Return the row of a cell in the table of coverage."""
    scales = "1 : 1" if cell.scales is None else " : ".join(f"{scale:g}" for scale in cell.scales)
    facts = {
        "reliability": cell.reliability, "rows": cell.n, "columns": cell.k, "truth": round(truth(cell), 3),
        "column_variance": cell.columns, "column_scales": scales, "scores": cell.kind, "matrices": matrices,
    }  # fmt: skip
    return facts | judged(made(cell, matrices, rng), cell.reliability, truth(cell))


def coverage(matrices: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return coverage where the model holds, where columns have different scales, and where rows are not Normal."""
    cells = [Cell("icc_2_1", n, k, *variances) for n, k in SIZES for variances in VARIANCES]
    cells += [Cell("icc_3_1", 23, 3, rows) for rows in (0.0, 0.1, 1.0, 10.0)]
    cells += [Cell("cronbach_alpha", 23, 8, rows) for rows in (0.05, 0.3, 1.0, 10.0)]
    cells += [Cell("icc_3_1", n, 3, rows, scales=SCALES) for n in (5, 8, 23, 76, 300) for rows in (0.0, 1.0, 10.0)]
    spread = tuple(np.geomspace(1, 8, 8).round(2))
    cells += [Cell("cronbach_alpha", n, 8, rows, scales=spread) for n in (8, 23, 76) for rows in (0.3, 10.0)]
    cells += [Cell("icc_2_1", n, k, 1.0, 0.05) for n, k in ((5, 3), (8, 8))]
    for kind in DEPARTURES:
        cells += [Cell("icc_2_1", 23, 8, rows, 0.05, kind) for rows in (1.0, 10.0)]
        cells += [Cell("icc_3_1", 23, 3, 1.0, 0.0, kind), Cell("cronbach_alpha", 23, 8, 0.3, 0.0, kind)]
        cells += [Cell("icc_3_1", n, 3, 1.0, 0.0, kind, SCALES) for n in (8, 23, 76)]
    return pd.DataFrame([row_of(cell, matrices, rng) for cell in cells])


def shapes(matrices: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return coverage, and the share of matrices whose rows are far from Normal, by cell."""
    rows = []
    for kind in (NORMAL, *DEPARTURES):
        cells = [Cell("icc_2_1", n, 8, variance, 0.05, kind) for n in (8, 12, 23, 76) for variance in (1.0, 10.0)]
        cells += [Cell("icc_3_1", 23, 3, 1.0, 0.0, kind), Cell("cronbach_alpha", 23, 8, 0.3, 0.0, kind)]
        cells += [Cell("icc_3_1", n, 3, 1.0, 0.0, kind, SCALES) for n in (8, 23, 76)]
        for cell in cells:
            squares = mean_squares(made(cell, matrices, rng))
            summary = reliability_posterior(squares, RELIABILITIES[cell.reliability], hdi_prob=HDI_PROB)
            holds = (summary["hdi_low"] <= truth(cell)) & (truth(cell) <= summary["hdi_high"])
            rows.append({
                "reliability": cell.reliability, "rows": cell.n, "columns": cell.k, "truth": round(truth(cell), 3),
                "column_scales": "1 : 1" if cell.scales is None else " : ".join(f"{scale:g}" for scale in cell.scales),
                "scores": kind, "matrices": matrices, "posterior": holds.mean(),
                "far_share": far_share(pd.Series(squares.row_kurtosis)),
            })  # fmt: skip
    return pd.DataFrame(rows)


def real_populations(matrices: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return coverage where rows are drawn from real words, whose reliability all words together give."""
    with np.load(STUDY) as arrays:
        scores = arrays["scores"].astype(float)
        algorithms, rules, pairs = (arrays[name].tolist() for name in ("algorithm", "rule", "base_pair"))
    rows_of = []
    for algorithm, of_algorithm in zip(algorithms, scores, strict=True):
        populations = {}
        for title, ripa in (("rules", "ripa"), ("rules, RIPA of the code", "ripa_unit")):
            chosen = [rules.index(rule) for rule in ("db_wa", ripa, "nbm")]
            for place, pair in enumerate(pairs):
                populations[title, pair, "icc_3_1"] = of_algorithm[chosen, place].mean(axis=-1).T
        for rule, of_rule in zip(rules, of_algorithm, strict=True):
            populations[f"base pairs, {rule}", "all", "cronbach_alpha"] = of_rule.mean(axis=-1).T
            for pair, of_pair in zip(pairs, of_rule, strict=True):
                populations[f"seeds, {rule}", pair, "icc_2_1"] = of_pair
        for (columns, pair, name), population in populations.items():
            of_means = population.mean(axis=0).var(ddof=1) if name == "icc_2_1" else 0.0
            true = of_covariance(np.cov(population, rowvar=False, bias=True), name, of_means)
            for n in (8, 23, 76):
                drawn = population[rng.integers(len(population), size=(matrices, n))]
                facts = {"algorithm": algorithm, "reliability": name, "columns": columns, "rows": n, "pair": pair}
                rows_of.append(facts | {"truth": true} | judged(drawn, name, true))
    groups = pd.DataFrame(rows_of).groupby(["algorithm", "reliability", "columns", "rows"], sort=False)
    table = groups.agg(
        populations=("pair", "size"),
        truth_lowest=("truth", "min"),
        truth_highest=("truth", "max"),
        posterior=("posterior", "mean"),
        posterior_lowest=("posterior", "min"),
        posterior_highest=("posterior", "max"),
        f_interval=("f_interval", "mean"),
        f_interval_lowest=("f_interval", "min"),
        f_interval_highest=("f_interval", "max"),
        sd_over_error=("sd_over_error", "mean"),
        row_kurtosis=("row_kurtosis", "mean"),
        spread_ratio=("spread_ratio", "mean"),
    ).reset_index()
    table.insert(table.columns.get_loc("f_interval"), "mc_se_of_one", np.sqrt(HDI_PROB * (1 - HDI_PROB) / matrices))
    return table


def choices(matrices: int, rng: np.random.Generator, points: int = 2000) -> pd.DataFrame:
    """Return coverage of ICC(2,1) under other priors and on another scale than those of the package."""
    rows_of = []
    for n, k in SIZES[:3]:
        for rows, columns in VARIANCES:
            cell = Cell("icc_2_1", n, k, rows, columns)
            squares, true = mean_squares(made(cell, matrices, rng)), truth(cell)
            held = dict.fromkeys(("exponent_1", "icc_scale", "not_negative"), 0)
            for number in range(matrices):
                tau = [
                    (degrees * part[number] / rng.chisquare(counted, points))
                    for part, degrees, counted in (
                        (squares.rows, n - 1, n - 1), (squares.columns, k - 1, k - 1), (squares.columns, k - 1, k),
                        (squares.error, (n - 1) * (k - 1), (n - 1) * (k - 1)),
                    )
                ]  # fmt: skip
                row, column_1, column, error = tau
                allowed = (row >= error) & (column >= error)
                ratio = ICC_2_1.ratio(row, column, error, n)
                tries = {
                    "exponent_1": _interval(ICC_2_1.ratio(row, column_1, error, n), n, k, logs=True),
                    "icc_scale": _interval(ratio, n, k, logs=False),
                    "not_negative": _interval(ratio[allowed], n, k, logs=True) if allowed.sum() > 20 else (2.0, 2.0),
                }
                for name, (low, high) in tries.items():
                    held[name] += low <= true <= high
            shares = {name: count / matrices for name, count in held.items()}
            facts = {"rows": n, "columns": k, "truth": round(true, 3), "column_variance": columns}
            rows_of.append(facts | shares | {"mc_se": np.sqrt(HDI_PROB * (1 - HDI_PROB) / matrices)})
    return pd.DataFrame(rows_of)


def _interval(ratio: np.ndarray, n: int, k: int, *, logs: bool) -> tuple[float, float]:
    """Return the shortest interval of draws, in the logarithm of the ratio or in the ICC."""
    values = np.sort(ICC_2_1.value(ratio, n, k))
    scale = np.log(np.sort(ratio)) if logs else values
    span = round(HDI_PROB * len(values))
    low = int(np.argmin(scale[span:] - scale[: len(scale) - span]))
    return values[low], values[low + span]


def draw(table: pd.DataFrame, path: Path) -> None:
    """Draw coverage of both intervals, one row a cell, and what three Monte Carlo errors allow."""
    names = {"icc_2_1": "ICC(2,1)", "icc_3_1": "ICC(3,1)", "cronbach_alpha": "alpha"}
    figure = new_figure(9.5, 0.19 * len(table) + 1.6)
    axes = figure.subplots()
    labels = [
        f"{names[row['reliability']]} {row['truth']:.2f}, {row['rows']} x {row['columns']}"
        + (f", columns {row['column_variance']:g}" if row["column_variance"] and row["scores"] == NORMAL else "")
        + ("" if row["column_scales"] == "1 : 1" else ", unequal columns")
        + ("" if row["scores"] == NORMAL else f", {row['scores']}")
        for _, row in table.iterrows()
    ]
    error = table["mc_se"].iloc[0]
    axes.axvspan(HDI_PROB - 3 * error, HDI_PROB + 3 * error, color="#DDDDDD", zorder=0)
    series = {"posterior (HPDI)": ("#0072B2", "o"), "F interval": ("#D55E00", "s")}
    for (color, marker), column in zip(series.values(), ("posterior", "f_interval"), strict=True):
        axes.plot(table[column], range(len(table)), marker, color=color, markersize=5, markerfacecolor="none")
    axes.axhline((table["scores"] == NORMAL).sum() - 0.5, color="black", linewidth=0.8)
    axes.set_yticks(range(len(table)), labels)
    axes.set_ylim(len(table) - 0.5, -0.5)
    axes.set_xlabel("Share of 89 % intervals that contain the truth (grey: 0.89 within 3 Monte Carlo errors)")
    furnish(axes, "x", small=True, rows=True)
    series_legend(figure, series, columns=2)
    figure.suptitle("Above the line rows are Normal, below it they are not", fontsize=11)
    save_figure(figure, path, overwrite=True)


def main() -> None:
    """Make everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrices", type=int, default=5000, help="matrices a cell (default 5000)")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the results (default: this one)")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    table = coverage(arguments.matrices, np.random.default_rng(SEED))
    real = real_populations(arguments.matrices // 8, np.random.default_rng(SEED))
    others = choices(arguments.matrices // 2, np.random.default_rng(SEED))
    far = shapes(arguments.matrices // 5, np.random.default_rng(SEED))
    for name, frame in {"coverage": table, "real": real, "choices": others, "row_shapes": far}.items():
        frame.to_csv(arguments.out / f"{name}.csv", index=False, float_format="%.4g", lineterminator="\n")
        print(frame.to_string(index=False), end="\n\n")
    draw(table, arguments.out / "coverage.png")
    facts = {"seed": SEED, "matrices": arguments.matrices, "seconds": round(time.perf_counter() - start)}
    (arguments.out / "run.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    (arguments.out / "README.md").write_text(filled_readme(arguments.out), encoding="utf-8")


if __name__ == "__main__":
    main()
