"""Are intervals of two slopes right together? Tables are drawn from large lists of real words, whose slopes are known.

    python validation/covariates/two_covariates.py EMBEDDINGS COVARIATES LISTS [--samples 200] [--draws 500]

The arguments are those of `covariates.py`. The first covariate has a relation to the leans; the second is Normal noise,
noise that goes with the first (correlation 0.7), or the logarithm of a word's rank. The truth are the least-squares
slopes of whole lists on both: no model makes them. README.md says what the table means.
"""

import sys
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.estimates.intervals import shortest_interval
from bayesbias.models.multivariate.posterior_draws import sample_list_means
from bayesbias.reports.covariates.covariate_effect import SLOPE, draw_quantities
from bayesbias.reports.covariates.slopes import Leans, design_of, observed_list_means

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER))

from covariates import SEED, Cell, Population, draw_list, given_arguments, population_of, sample_of  # noqa: E402

PRIORS = bb.load_model("multivariate").priors
SECONDS = ("", "noise", "noise that goes with the first", "log_rank")
POPULATIONS = (Cell("google_news", "common", "gendered", "lean"), Cell("glove", "common", "axis", "lean"))
# Protected words and attribute words of a list.
SIZES = ((20, 5), (20, 8))


def covariates_of(whole: Population, second: str, rng: np.random.Generator) -> np.ndarray:
    """Return the first covariate, and the second if there is one, of all protected words."""
    first = (whole.covariate - whole.covariate.mean()) / whole.covariate.std()
    noise = rng.standard_normal(len(first))
    columns = {
        "noise": noise,
        "noise that goes with the first": 0.7 * first + np.sqrt(1 - 0.7**2) * noise,
        "log_rank": np.log(np.arange(len(first)) + 1.0),  # the words are in the order of the vocabulary
    }
    return np.column_stack([first, *([columns[second]] if second else [])])


def run_cell(
    cell: Cell, size: tuple[int, int], second: str, folders: tuple[Path, Path, Path], samples: int, draws: int
) -> pd.DataFrame:
    """Return a row for each table, covariate and scope: truth and interval."""
    whole = population_of(cell, folders, np.random.default_rng(zlib.crc32(f"{SEED} {cell}".encode())))
    rng = np.random.default_rng(zlib.crc32(f"{SEED} {cell} {size} {second}".encode()))
    (words, attributes), rows = size, []
    names = ("first", "second")[: 1 + bool(second)]
    for number in range(samples):
        values = covariates_of(whole, second, rng)
        chosen = rng.choice(len(values), words, replace=False)
        lists = [draw_list(cell, table.shape[1], attributes, rng) for table in (whole.first, whole.second)]
        sides = [table[np.ix_(chosen, part)] for table, part in zip((whole.first, whole.second), lists, strict=True)]
        links, one_group, seed = whole.links(chosen, lists), np.zeros(words, dtype=int), int(rng.integers(2**32))
        sample = replace(sample_of(*sides, values[chosen][:, 0], links), covariates=values[chosen])
        drawn = sample_list_means(
            sample, ("associated", "different"), draws=draws, seed=seed, priors=PRIORS, covariances=False
        ).posterior["list_mean"]
        plain, weights = observed_list_means(sample), np.tile([1.0, -1.0], (words, 1))
        leans = Leans(drawn[:, 0] - drawn[:, 1], plain[0] - plain[1], weights, sample, "first", "second")
        design = design_of(values[chosen], one_group, links[0].correlations(one_group))
        generator = np.random.default_rng([seed, 104])
        quantities, _ = draw_quantities(leans, design, names, PRIORS["effect_sd"], generator)
        everyone = design_of(values, np.zeros(len(values), dtype=int)).coefficients @ whole.leans
        here = design_of(values[chosen], one_group).coefficients @ whole.leans[chosen]
        for place, name in enumerate(names):
            for scope, truth in (("population", everyone[place]), ("these_words", here[place])):
                low, high = shortest_interval(quantities[SLOPE, name, scope][0], HDI_PROB)
                rows.append({"sample": number, "slope": name, "scope": scope, "truth": truth, "low": low, "high": high})
    return pd.DataFrame(rows).assign(vectors=cell.vectors, second=second or "none", attribute_words=attributes)


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return coverage, claims and widths by cell, slope and scope."""
    rows = rows.assign(
        coverage=(rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"]),
        claims=(rows["low"] > 0) | (rows["high"] < 0),
        width=rows["high"] - rows["low"],
    )
    grouped = rows.groupby(["vectors", "second", "attribute_words", "slope", "scope"], sort=False)
    table = grouped[["truth", "coverage", "claims", "width"]].mean()
    table.insert(0, "samples", grouped.size())
    return table.reset_index().round(4)


def markdown(table: pd.DataFrame) -> str:
    """Return coverage, claims and width by vectors, second covariate, slope and scope, over the sizes of lists."""
    cells = table.groupby(["vectors", "second", "slope", "scope"], sort=False)
    lines = [
        "| vectors | second covariate | slope | scope | coverage | lowest coverage | claims | width |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for key, cell in cells:
        means = cell[["coverage", "claims", "width"]].mean()
        numbers = [means["coverage"], cell["coverage"].min(), means["claims"]]
        shown = [f"{number:.2f}" for number in numbers] + [f"{means['width']:.3f}"]
        lines.append(f"| {' | '.join([*map(str, key), *shown])} |")
    return "\n".join(lines)


def main() -> None:
    """Run all cells and write `two_covariates.csv`."""
    folders, arguments = given_arguments(__doc__)
    tables = []
    with threadpool_limits(1, "blas"):
        for size in SIZES:
            for cell in POPULATIONS:
                for second in SECONDS:
                    rows = run_cell(cell, size, second, folders, arguments.samples, arguments.draws)
                    tables.append(summarise(rows))
                    pd.concat(tables, ignore_index=True).to_csv(arguments.output / "two_covariates.csv", index=False)
                    print(tables[-1].to_string(index=False, header=len(tables) == 1), flush=True)


if __name__ == "__main__":
    main()
