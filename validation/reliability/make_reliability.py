"""Make the tables and the figure of this folder: how often intervals of reliabilities hold the truth.

    python validation/reliability/make_reliability.py [--matrices 20000] [--out FOLDER]

README.md says what they mean.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from bayesbias.base.checks import HDI_PROB
from bayesbias.delivery.plots.style import furnish, new_figure, save_figure, series_legend
from bayesbias.reliability.mean_squares import ICC_2_1, RELIABILITIES, MeanSquares, mean_squares
from bayesbias.reliability.variance_components import posterior

FOLDER = Path(__file__).resolve().parent
SEED = 20261122
NORMAL = "normal"
DEPARTURES = {
    "heavy rows": "effects of rows have Student's distribution with 4 degrees of freedom",
    "heavy errors": "errors have Student's distribution with 4 degrees of freedom",
    "unequal rows": "a row's error variance is log-normal (sd 1 of the logarithm): some rows are noisier",
    "related rows": "rows come in threes whose effects correlate by 0.5, as base pairs that share a word",
    "heavy and unequal": "heavy rows, heavy errors and unequal rows together",
}
# Variances of rows and columns; that of errors is 1.
VARIANCES = [(0.0, 0.0), (0.1, 0.05), (1.0, 0.0), (1.0, 0.3), (10.0, 0.05)]
SIZES = [(23, 2), (23, 3), (23, 8), (23, 32), (76, 8)]


def made(n: int, k: int, rows: float, columns: float, kind: str, matrices: int, rng: np.random.Generator) -> np.ndarray:
    """Return matrices of scores with these variances; `kind` is `NORMAL` or one of `DEPARTURES`."""

    def drawn(heavy: bool, shape: tuple[int, ...]) -> np.ndarray:
        return rng.standard_t(4, shape) / np.sqrt(2) if heavy else rng.standard_normal(shape)

    row = drawn("heavy" in kind and kind != "heavy errors", (matrices, n, 1))
    if kind == "related rows":
        groups = rng.standard_normal((matrices, -(-n // 3), 1))
        row = np.sqrt(0.5) * (row + np.repeat(groups, 3, axis=1)[:, :n])
    error = drawn(kind in ("heavy errors", "heavy and unequal"), (matrices, n, k))
    if "unequal" in kind:
        error *= np.exp(rng.standard_normal((matrices, n, 1)) / 2 - 0.25)
    return np.sqrt(rows) * row + np.sqrt(columns) * rng.standard_normal((matrices, 1, k)) + error


def truth(name: str, k: int, rows: float, columns: float) -> float:
    """Return the reliability of these variances, by its definition in variances and not by the package's formula."""
    if name == "icc_2_1":
        return rows / (rows + columns + 1)
    return rows / (rows + 1) if name == "icc_3_1" else rows / (rows + 1 / k)


def f_interval(squares: MeanSquares, name: str, prob: float = HDI_PROB) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of McGraw and Wong (1996), Table 7, for ICC(A,1) and ICC(C,1); of Feldt (1965) for alpha."""
    n, k, tail = squares.n, squares.k, (1 + prob) / 2
    rows, columns, error = squares.rows, squares.columns, squares.error
    if name != "icc_2_1":
        low = rows / error / stats.f.ppf(tail, n - 1, (n - 1) * (k - 1))
        high = rows / error * stats.f.ppf(tail, (n - 1) * (k - 1), n - 1)
        c = k - 1 if name == "icc_3_1" else 0
        return (low - 1) / (low + c), (high - 1) / (high + c)
    icc = ICC_2_1.estimate(squares)
    a, b = k * icc / (n * (1 - icc)), 1 + k * icc * (n - 1) / (n * (1 - icc))
    degrees = (a * columns + b * error) ** 2 / ((a * columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1)))
    lower, upper = stats.f.ppf(tail, n - 1, degrees), stats.f.ppf(tail, degrees, n - 1)
    rest = k * columns + (k * n - k - n) * error
    return n * (rows - lower * error) / (lower * rest + n * rows), n * (upper * rows - error) / (
        rest + n * upper * rows
    )


def cell(
    name: str, n: int, k: int, rows: float, columns: float, kind: str, matrices: int, rng: np.random.Generator
) -> dict[str, object]:
    """Return how often both intervals hold the truth, and how long they are on average."""
    squares = mean_squares(made(n, k, rows, columns, kind, matrices, rng))
    true = truth(name, k, rows, columns)
    found = posterior(squares, RELIABILITIES[name], hdi_prob=HDI_PROB)
    intervals = {"posterior": (found["hdi_low"], found["hdi_high"]), "f_interval": f_interval(squares, name)}
    facts: dict[str, object] = {
        "reliability": name, "rows": n, "columns": k, "truth": round(true, 3), "column_variance": columns,
        "scores": kind, "matrices": matrices,
    }  # fmt: skip
    for title, (low, high) in intervals.items():
        facts[title] = np.mean((low <= true) & (true <= high))
    facts["mc_se"] = np.sqrt(HDI_PROB * (1 - HDI_PROB) / matrices)
    for title, (low, high) in intervals.items():
        facts[f"{title}_length"] = np.mean(high - low)
    return facts | {"row_kurtosis": np.mean(squares.row_kurtosis)}


def coverage(matrices: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return coverage where the model holds, and where it does not."""
    cells = [("icc_2_1", n, k, *variances, NORMAL) for n, k in SIZES for variances in VARIANCES]
    cells += [("icc_3_1", 23, 3, rows, 0.0, NORMAL) for rows in (0.0, 0.1, 1.0, 10.0)]
    cells += [("cronbach_alpha", 23, 8, rows, 0.0, NORMAL) for rows in (0.05, 0.3, 1.0, 10.0)]
    for kind in DEPARTURES:
        cells += [("icc_2_1", 23, 8, 1.0, 0.05, kind), ("icc_2_1", 23, 8, 10.0, 0.05, kind)]
        cells += [("icc_3_1", 23, 3, 1.0, 0.0, kind), ("cronbach_alpha", 23, 8, 0.3, 0.0, kind)]
    return pd.DataFrame([cell(*each, matrices, rng) for each in cells])


def choices(matrices: int, rng: np.random.Generator, points: int = 2000) -> pd.DataFrame:
    """Return coverage of ICC(2,1) under other priors and on another scale than those of the package."""
    rows_of = []
    for n, k in SIZES[:3]:
        for rows, columns in VARIANCES:
            squares = mean_squares(made(n, k, rows, columns, NORMAL, matrices, rng))
            true = truth("icc_2_1", k, rows, columns)
            held = dict.fromkeys(("exponent_1", "icc_scale", "not_negative"), 0)
            for at in range(matrices):
                tau = [
                    (degrees * part[at] / rng.chisquare(counted, points))
                    for part, degrees, counted in (
                        (squares.rows, n - 1, n - 1), (squares.columns, k - 1, k - 1), (squares.columns, k - 1, k),
                        (squares.error, (n - 1) * (k - 1), (n - 1) * (k - 1)),
                    )
                ]  # fmt: skip
                row, column_1, column, error = tau
                allowed = (row >= error) & (column >= error)
                own = ICC_2_1.ratio(row, column, error, n)
                tries = {
                    "exponent_1": _interval(ICC_2_1.ratio(row, column_1, error, n), n, k, logs=True),
                    "icc_scale": _interval(own, n, k, logs=False),
                    "not_negative": _interval(own[allowed], n, k, logs=True) if allowed.sum() > 20 else (2.0, 2.0),
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
        + (f", {row['scores']}" if row["scores"] != NORMAL else f", columns {row['column_variance']:g}")
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
    axes.set_xlabel("Share of 89 % intervals that hold the truth (grey: 0.89 within 3 Monte Carlo errors)")
    furnish(axes, "x", small=True, rows=True)
    series_legend(figure, series, columns=2)
    figure.suptitle("Above the line the model holds, below it does not", fontsize=11)
    save_figure(figure, path, overwrite=True)


def main() -> None:
    """Make everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrices", type=int, default=20_000, help="matrices a cell (default 20000)")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the results (default: this one)")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    table = coverage(arguments.matrices, np.random.default_rng(SEED))
    others = choices(arguments.matrices // 5, np.random.default_rng(SEED))
    for name, frame in {"coverage": table, "choices": others}.items():
        frame.to_csv(arguments.out / f"{name}.csv", index=False, float_format="%.4g", lineterminator="\n")
        print(frame.to_string(index=False), end="\n\n")
    draw(table, arguments.out / "coverage.png")
    facts = {"seed": SEED, "matrices": arguments.matrices, "seconds": round(time.perf_counter() - start)}
    (arguments.out / "run.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
