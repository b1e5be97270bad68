"""Are intervals of trends with covariates right? Contrasts follow a covariate, time and chance, in real vectors.

    python validation/periods/trends.py EMBEDDINGS [--samples 200]

Vectors are those of periods.py. In each table protected words lose a share of their lean that follows a covariate, a
line in time and chance: independent from period to period, or a random walk. The truth is what the covariate does to
the plain mean over the whole lists: no model makes it. README.md says what the table means.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from periods import (
    CHAINS,
    DRAWS,
    SEED,
    PeriodSample,
    drawn,
    leaning_words,
    noisy,
    population_contrasts,
    sample_of,
    summarise,
    word_contrasts,
    write_trial,
)
from scipy import stats

from bayesbias.base.checks import HDI_PROB
from bayesbias.estimates.intervals import shortest_interval
from bayesbias.models.periods.contrast_draws import draw_contrast, list_deviations
from bayesbias.models.periods.period_line import draw_line, neighbour_test

_SHARES = np.linspace(-1, 2, 13)  # of the leans, between which contrasts of the whole lists are interpolated
Row = tuple[str, str, float, float, float, float, float]
"""Level, quantity, estimate, sd, ends of the interval, and the p-value of the test of neighbours if there is one."""


@dataclass(frozen=True)
class Cell:
    """What tables are drawn from, and how they are analysed.

    `effect` is the share of the lean that is lost for one sd of the covariate, `drift` that lost over time. `chance` is
    the sd of what else is lost in a period, or of its steps if it is a random walk (`wanders`). `walk` is the analysis:
    a random walk, or a line. `spread` is the sd of the words' own shares.
    """

    vectors: str
    periods: int
    words: int
    attributes: int
    effect: float
    walk: bool
    wanders: bool
    chance: float = 0.15
    drift: float = 0.3
    spread: float = 0.3
    noise: float = 0.3


CELLS = (
    Cell("google_news", 5, 8, 8, 0.0, walk=False, wanders=False),
    Cell("google_news", 10, 8, 8, 0.2, walk=False, wanders=False),
    Cell("glove", 8, 15, 8, 0.0, walk=False, wanders=False),
    Cell("glove", 20, 8, 15, 0.2, walk=False, wanders=False),
    Cell("bundled", 10, 4, 4, 0.0, walk=False, wanders=False),
    Cell("bundled", 10, 8, 8, 0.2, walk=False, wanders=False, chance=0.0),
    Cell("google_news", 10, 8, 8, 0.0, walk=True, wanders=True, drift=0.0),
    Cell("google_news", 20, 8, 8, 0.2, walk=True, wanders=True, drift=0.0),
    Cell("glove", 6, 15, 8, 0.0, walk=True, wanders=True, drift=0.0),
    Cell("glove", 12, 8, 15, 0.2, walk=True, wanders=True, drift=0.0),
    Cell("bundled", 10, 4, 4, 0.0, walk=True, wanders=True, drift=0.0),
    Cell("bundled", 10, 8, 8, 0.2, walk=True, wanders=True, drift=0.0, chance=0.0),
    Cell("google_news", 10, 8, 8, 0.0, walk=False, wanders=True),
    Cell("glove", 20, 8, 8, 0.0, walk=False, wanders=True),
    Cell("google_news", 10, 8, 8, 0.0, walk=True, wanders=False),
    Cell("glove", 20, 8, 8, 0.0, walk=True, wanders=False),
)


def covariate_and_shares(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a covariate that wanders, with mean 0 and sd 1, and the share of the leans that each period lost.

    The second share is what the covariate and time alone do.
    """
    covariate = rng.standard_normal(cell.periods).cumsum()
    covariate = (covariate - covariate.mean()) / covariate.std()
    chance = cell.chance * rng.standard_normal(cell.periods)
    planned = cell.drift * np.linspace(0, 1, cell.periods) + cell.effect * covariate
    return covariate, planned + (chance.cumsum() if cell.wanders else chance), planned


def model_rows(sample: PeriodSample, design: np.ndarray, names: list[str], *, walk: bool, seed: int) -> Iterator[Row]:
    """Yield the estimates of the package."""
    times = np.arange(len(sample.periods), dtype=float)
    contrasts = draw_contrast(sample, list_deviations(sample), times, (0, 1), draws=DRAWS, chains=CHAINS, seed=seed)
    for level in ("population", "these_words"):
        data = (contrasts.overall(level), design, times)
        line = draw_line(*data, walk=walk, seed=seed)
        test = None if walk else neighbour_test(line, *data, seed=seed)
        p_value = test.p_value if test else np.nan
        for name, draws in zip(names, line.coefficients.T, strict=True):
            yield level, name, draws.mean(), draws.std(), *shortest_interval(draws, HDI_PROB), p_value


def regression_of(contrasts: np.ndarray, design: np.ndarray, *, walk: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return what is regressed on what: contrasts, or their steps if they are a random walk."""
    return (np.diff(contrasts), np.diff(design, axis=0)) if walk else (contrasts - contrasts.mean(), design)


def least_squares_rows(contrasts: np.ndarray, design: np.ndarray, names: list[str], *, walk: bool) -> Iterator[Row]:
    """Yield plain least squares of the observed contrasts, or of their steps, with Student's t."""
    values, columns = regression_of(contrasts, design, walk=walk)
    freedom = len(contrasts) - 1 - design.shape[1]
    estimates, *_ = np.linalg.lstsq(columns, values)
    variance = np.square(values - columns @ estimates).sum() / freedom
    errors = np.sqrt(variance * np.diag(np.linalg.inv(columns.T @ columns)))
    halves = stats.t.ppf(0.5 + HDI_PROB / 2, freedom) * errors
    for name, estimate, error, half in zip(names, estimates, errors, halves, strict=True):
        for level in ("population", "these_words"):
            yield level, name, estimate, error, estimate - half, estimate + half, np.nan


def run_cell(cell: Cell, folder: Path, samples: int) -> pd.DataFrame:
    """Return a row for each sample, method, quantity and level of a cell."""
    rng = np.random.default_rng([SEED, zlib.crc32(repr(cell).encode())])
    whole = leaning_words(cell.vectors, folder, rng)
    own_leans = (1 + cell.spread * rng.standard_normal(len(whole.group_of)))[:, None] * whole.leans

    def distances_of(
        words: np.ndarray, attributes: np.ndarray, shares: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return distances (shares, attribute words, protected words) once shares of the leans are lost."""
        left = whole.protected[words] - shares[:, None, None] * own_leans[words]
        return np.stack(
            [1 - noisy(whole.attributes[attributes], cell.noise, rng) @ noisy(of, cell.noise, rng).T for of in left]
        )

    rng = np.random.default_rng(SEED)
    every_word, every_attribute = np.arange(len(whole.group_of)), np.arange(len(whole.list_of))
    # One share at a time: the distances of all words are many.
    every_contrast = np.concatenate(
        [
            word_contrasts(distances_of(every_word, every_attribute, share, rng), whole.group_of, whole.list_of)
            for share in _SHARES[:, None]
        ]
    )
    population = population_contrasts(every_contrast, whole.group_of)
    rows = []
    for number in range(samples):
        rng = np.random.default_rng([SEED, number])
        covariate, shares, planned = covariate_and_shares(cell, rng)
        words, attributes = drawn(whole.group_of, cell.words, rng), drawn(whole.list_of, cell.attributes, rng)
        distances = distances_of(words, attributes, shares, rng)
        present = tuple(np.full((len(some), cell.periods), True) for some in (words, attributes))
        sides = whole.group_of[words], whole.list_of[attributes]
        vectors = whole.protected[words], whole.attributes[attributes], whole.vocabulary
        sample = sample_of(distances, (words, attributes), sides, present, vectors)
        names, design = ["covariate"], covariate[:, None]
        if not cell.walk:
            time_line = np.linspace(-0.5, 0.5, cell.periods)
            names, design = ["time", "covariate"], np.column_stack([time_line, covariate])
        contrasts = word_contrasts(distances, sample.group_of, sample.list_of).mean(axis=1)
        truths = {}
        for level, by_share in (("population", population), ("these_words", every_contrast[:, words].mean(axis=1))):
            values, columns = regression_of(np.interp(planned, _SHARES, by_share), design, walk=cell.walk)
            truths[level] = dict(zip(names, np.linalg.lstsq(columns, values)[0], strict=True))
        methods = {
            "periods": model_rows(sample, design, names, walk=cell.walk, seed=number),
            "least_squares": least_squares_rows(contrasts, design, names, walk=cell.walk),
        }
        for method, estimates in methods.items():
            for level, quantity, mean, sd, low, high, p_value in estimates:
                truth = float(truths[level][quantity])
                covered, claims = low <= truth <= high, not low <= 0 <= high
                warns = p_value < 1 - HDI_PROB
                rows.append((number, method, level, quantity, truth, mean - truth, sd, covered, claims, warns))
    columns = ["sample", "method", "level", "quantity", "truth", "error", "sd", "covered", "claims", "warns"]
    return pd.DataFrame(rows, columns=columns)


def markdown(cells: pd.DataFrame) -> str:
    """Return the table of README.md: a row for each analysis and truth, method and quantity, of words like these."""
    heads = ("truth", "analysis", "method", "quantity", "cells", "coverage", "lowest", "sd_over_error")
    heads += ("false claims", "power")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    of_population = cells[cells["level"] == "population"]
    for key, part in of_population.groupby(["wanders", "walk", "method", "quantity"], sort=False):
        wanders, walk, method, quantity = key
        present = part["effect" if quantity == "covariate" else "drift"] > 0
        claims = [part.loc[rows, "claims"] for rows in (~present, present)]
        numbers = [part["coverage"].mean(), part["coverage"].min(), part["sd_over_error"].mean()]
        texts = [*(f"{number:.2f}" for number in numbers), *(f"{of.mean():.2f}" if len(of) else "" for of in claims)]
        names = ["random walk" if of else "line" for of in (wanders, walk)]
        lines.append(f"| {' | '.join([*names, method, quantity, str(len(part)), *texts])} |")
    return "\n".join(lines)


def summarise_cell(cell: Cell, embeddings: Path, samples: int) -> pd.DataFrame:
    """Return the rows of a cell, with the share of warnings."""
    rows = run_cell(cell, embeddings, samples)
    warns = rows.groupby(["method", "level", "quantity"], sort=False)["warns"].mean()
    return summarise(rows).assign(warns=warns.to_numpy())


if __name__ == "__main__":
    write_trial(__doc__, CELLS, summarise_cell, "trends.csv")
