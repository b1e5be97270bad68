"""Are intervals of slopes on numbers of words right, and of their changes? Words follow a covariate in real vectors.

    python validation/periods/slopes.py EMBEDDINGS [--samples 200]

Vectors and drifts are those of periods.py, but the words form one group, whose contrasts follow a covariate: the lean
of the whole lists in the first period, plus noise of the same sd (`related`), or numbers drawn anew for each table. The
truth is the least-squares slope of the observed contrasts of all words: no model makes it. README.md says what the
table means.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from periods import CHAINS, DRAWS, SEED, PeriodSample, Populations, drawn, links_of, populations, summarise, write_trial
from periods import Cell as PeriodCell
from scipy import stats

from bayesbias.base.checks import HDI_PROB
from bayesbias.changes.trend import WordCovariates, draw_slopes
from bayesbias.estimates.intervals import shortest_interval
from bayesbias.models.periods.contrast_draws import draw_contrast, list_deviations


@dataclass(frozen=True)
class Cell:
    """Vectors, sizes of tables (words in all, attribute words in a list), and what happens to the words."""

    vectors: str
    periods: int
    words: int
    attributes: int
    drift: float
    related: bool
    spread: float = 0.0
    noise: float = 0.3


CELLS = (
    Cell("google_news", 2, 10, 8, 0.0, related=True),
    Cell("google_news", 2, 20, 8, 0.6, related=True, spread=0.3),
    Cell("google_news", 5, 20, 4, 0.6, related=True),
    Cell("google_news", 5, 40, 15, 0.6, related=True, spread=0.5),
    Cell("google_news", 2, 20, 15, 0.0, related=False),
    Cell("google_news", 5, 10, 8, 0.6, related=False, spread=0.3),
    Cell("glove", 2, 20, 8, 0.6, related=True, spread=0.3, noise=0.1),
    Cell("glove", 5, 40, 8, 0.0, related=True, noise=0.1),
    Cell("glove", 5, 10, 4, 0.6, related=True),
    Cell("glove", 5, 20, 8, 0.6, related=False, spread=0.3, noise=0.1),
    Cell("bundled", 5, 20, 8, 0.6, related=True, spread=0.3),
    Cell("bundled", 2, 40, 15, 0.0, related=False, noise=0.1),
)


def word_leans(whole: Populations) -> np.ndarray:
    """Return the mean distance to the first list minus that to the second of each word, shape (periods, words)."""
    first, second = (whole.distances[:, whole.list_of == place].mean(axis=1) for place in (0, 1))
    return np.asarray(first - second)


def slopes_of(leans: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the least-squares slope of leans (periods, words) in each period, and its change."""
    apart = values - values.mean()
    slopes = leans @ apart / (apart @ apart)
    return np.append(slopes, slopes[-1] - slopes[0])


def table_of(whole: Populations, words: np.ndarray, samples: np.ndarray) -> PeriodSample:
    """Return a table of one group of words, associated with the first list and different from the second."""
    distances = whole.distances[:, samples[:, None], words]
    periods = len(distances)
    weights = np.zeros((len(words), 2, 2))
    weights[:, 0, 0] = weights[:, 1, 1] = 1
    list_of = whole.list_of[samples]
    links = links_of(whole.samples[samples], list_of, whole.vocabulary)
    protected_links = links_of(whole.words[words], np.zeros(len(words), dtype=int), whole.vocabulary)
    return PeriodSample(
        periods=tuple(map(str, range(periods))),
        distances=distances,
        protected_present=np.ones((len(words), periods), dtype=bool),
        attribute_present=np.ones((len(samples), periods), dtype=bool),
        protected_words=tuple(f"p{place}" for place in words),
        attribute_words=tuple(f"a{place}" for place in samples),
        group_of=np.zeros(len(words), dtype=int),
        groups=("words",),
        list_of=list_of,
        lists=("first", "second"),
        connections=("associated", "different"),
        connection_weights=weights,
        compared=np.ones(len(words), dtype=bool),
        list_effects=np.array([links.design_effect(np.flatnonzero(list_of == place)) for place in (0, 1)]),
        group_effects=np.array([protected_links.design_effect(np.arange(len(words)))]),
        protected_links=(protected_links,) * periods,
    )


def least_squares(leans: np.ndarray, values: np.ndarray) -> list[tuple[float, float, float, float]]:
    """Return estimate, error and interval of each slope of observed leans and of the change of words' leans."""
    apart, free = values - values.mean(), len(values) - 2
    rows = []
    for lean in [*leans, leans[-1] - leans[0]]:
        slope = float(lean @ apart / (apart @ apart))
        residual = lean - lean.mean() - slope * apart
        sd = float(np.sqrt(residual @ residual / free / (apart @ apart)))
        reach = sd * stats.t.ppf((1 + HDI_PROB) / 2, free)
        rows.append((slope, sd, slope - reach, slope + reach))
    return rows


def run_cell(cell: Cell, folder: Path, samples: int) -> Iterator[dict[str, object]]:
    """Yield a row for each sample, method, level and quantity."""
    settings = {"drift": cell.drift, "spread": cell.spread, "noise": cell.noise}
    whole = populations(PeriodCell(cell.vectors, cell.periods, cell.words, cell.attributes, **settings), folder)
    leans = word_leans(whole)
    rng = np.random.default_rng([SEED, 7])
    covariate = leans[0] / leans[0].std() + rng.standard_normal(leans.shape[1])
    population_truth = slopes_of(leans, covariate)
    quantities = [*["slope"] * cell.periods, "change"]
    for number in range(samples):
        rng = np.random.default_rng([SEED, number])
        words = rng.permutation(leans.shape[1])[: cell.words]
        sample = table_of(whole, words, drawn(whole.list_of, cell.attributes, rng))
        values = covariate[words] if cell.related else rng.standard_normal(len(words))
        truths = {
            "population": population_truth if cell.related else np.zeros(cell.periods + 1),
            "these_words": slopes_of(leans[:, words], values),
        }
        lists, times = list_deviations(sample), np.arange(cell.periods, dtype=float)
        contrast = draw_contrast(sample, lists, times, (0, 1), draws=DRAWS * CHAINS, chains=CHAINS, seed=number)
        given = WordCovariates(np.tile(values, (cell.periods, 1))[..., None], ("covariate",))
        slopes = draw_slopes(sample, contrast, given, seed=number)
        estimates = []
        for level in ("population", "these_words"):
            draws = getattr(slopes, level)[..., 0]
            rows = [(of_row.mean(), of_row.std(), *shortest_interval(of_row, HDI_PROB)) for of_row in draws.T]
            estimates.append(("periods", level, rows))
        estimates.append(("least_squares", "population", least_squares(contrast.observed_words, values)))
        for method, level, rows in estimates:
            for quantity, true, (mean, sd, low, high) in zip(quantities, truths[level], rows, strict=True):
                yield {
                    "sample": number,
                    "method": method,
                    "level": level,
                    "quantity": quantity,
                    "truth": true,
                    "error": mean - true,
                    "sd": sd,
                    "covered": low <= true <= high,
                    "claims": not low <= 0 <= high,
                }


def markdown(cells: pd.DataFrame) -> str:
    """Return the table of README.md: averages over cells of each method, level and quantity."""
    heads = ("method", "level", "quantity", "cells", "coverage", "lowest", "sd_over_error", "false claims", "power")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for key, part in cells.groupby(["method", "level", "quantity"], sort=False):
        nothing = ~part["related"] if key[2] == "slope" else (part["drift"] == 0) | ~part["related"]
        of_population = key[1] == "population"
        texts = [
            *(str(name) for name in key),
            str(len(part)),
            *(f"{number:.2f}" for number in (part["coverage"].mean(), part["coverage"].min())),
            f"{part['sd_over_error'].mean():.2f}",
            f"{part.loc[nothing, 'claims'].mean():.2f}" if of_population else "",
            f"{part.loc[~nothing, 'claims'].mean():.2f}" if of_population else "",
        ]
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join(lines)


def summarise_cell(cell: Cell, embeddings: Path, samples: int) -> pd.DataFrame:
    """Return the rows of a cell."""
    return summarise(pd.DataFrame(run_cell(cell, embeddings, samples)))


if __name__ == "__main__":
    write_trial(__doc__, CELLS, summarise_cell, "slopes.csv", draws=DRAWS * CHAINS)
