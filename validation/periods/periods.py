"""Are intervals of changes between periods right? A drift is planted in real vectors, and tables are drawn from them.

    python validation/periods/periods.py EMBEDDINGS [--samples 200]

EMBEDDINGS is the folder of the Google News and GloVe vectors; the third are bundled. Words lean to one side or the
other of the gender axis; in each period all vectors get noise of their own, and those of protected words lose a part of
their lean, of which each word has its own share. The truth is the plain mean over the whole lists: no model makes it.
README.md says what the table means.
"""

import argparse
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from bayesbias.base.checks import HDI_PROB
from bayesbias.estimates.dependence import LinkedWords
from bayesbias.estimates.intervals import shortest_interval
from bayesbias.models.periods.contrast_draws import PeriodSample, draw_contrast, list_deviations
from bayesbias.models.periods.panel import fill_words, is_connected, sole_links
from bayesbias.tables.word_worths import Vocabulary

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "real_contrasts"))

from real_contrasts import write_cells  # noqa: E402 - a script in another folder
from real_vectors import gender_difference, links_of, unit_vectors, vectors_path, vocabulary_of  # noqa: E402

SEED = 20261124
DRAWS, CHAINS = 1000, 4
QUANTITIES = ("contrast", "change", "slope")


@dataclass(frozen=True)
class Cell:
    """What tables are drawn from, and their size.

    `drift` is the share of the lean that protected words lose from the first to the last period, in a line, or between
    two periods (`step`); `spread` is the sd of the words' own shares. `noise` is the length of what each vector of
    length 1 gets in each period. `lost` is the share of words that a period lacks.
    """

    vectors: str
    periods: int
    words: int
    attributes: int
    drift: float
    spread: float = 0.0
    noise: float = 0.3
    step: bool = False
    lost: float = 0.0


CELLS = (
    Cell("google_news", 2, 8, 8, 0.0),
    Cell("google_news", 2, 8, 8, 0.5, 0.3),
    Cell("google_news", 2, 3, 4, 0.0, 0.5, 0.1),
    Cell("google_news", 5, 15, 15, 0.5, 0.3),
    Cell("google_news", 5, 8, 4, 0.0, 0.0, 0.3),
    Cell("google_news", 10, 8, 8, 0.5, 0.5, 0.3, step=True),
    Cell("google_news", 10, 4, 4, 0.0, 0.0, 0.5),
    Cell("google_news", 20, 8, 4, 0.5, 0.3, 0.3),
    Cell("google_news", 5, 8, 8, 0.5, 0.3, 0.3, lost=0.2),
    Cell("glove", 2, 15, 8, 0.0, 0.0, 0.1),
    Cell("glove", 5, 8, 8, 0.3, 0.3, 0.3),
    Cell("glove", 5, 3, 15, 0.0, 0.3, 0.3),
    Cell("glove", 10, 8, 15, 0.3, 0.0, 0.1),
    Cell("glove", 20, 4, 4, 0.0, 0.0, 0.3),
    Cell("glove", 5, 8, 8, 0.0, 0.0, 0.3, lost=0.3),
    Cell("bundled", 2, 8, 15, 0.5, 0.3, 0.3),
    Cell("bundled", 5, 15, 4, 0.0, 0.3, 0.1),
    Cell("bundled", 10, 8, 8, 0.5, 0.3, 0.3, lost=0.2),
)


@dataclass(frozen=True, eq=False)
class Populations:
    """Distances (periods, attribute words, protected words) of all words, and the list and group of each.

    `words` and `samples` are their unit vectors in the first period, before noise; `vocabulary` is what random words of
    the same vectors have in common.
    """

    distances: np.ndarray
    list_of: np.ndarray
    group_of: np.ndarray
    words: np.ndarray
    samples: np.ndarray
    vocabulary: Vocabulary


@dataclass(frozen=True, eq=False)
class LeaningWords:
    """Unit vectors of protected and attribute words that lean to the two sides of the gender axis.

    `group_of` and `list_of` are their sides, `leans` the parts of the protected words along the axis.
    """

    protected: np.ndarray
    attributes: np.ndarray
    leans: np.ndarray
    group_of: np.ndarray
    list_of: np.ndarray
    vocabulary: Vocabulary


def leaning_words(name: str, folder: Path, rng: np.random.Generator) -> LeaningWords:
    """Return the words that lean most: protected words of one half of the vocabulary, attribute words of the other."""
    names, vectors = unit_vectors(name, folder)
    axis = gender_difference(names, vectors)
    axis /= np.linalg.norm(axis)
    usable = np.array([place for place, word in enumerate(names) if word.isalpha()])
    halves = np.array_split(rng.permutation(usable), 2)

    def leaning(half: np.ndarray) -> list[np.ndarray]:
        score = vectors[half] @ axis
        score = score / score.std() + rng.standard_normal(len(half))
        low, high = np.quantile(score, (0.1, 0.9))
        return [half[score > high], half[score < low]]

    protected, attributes = leaning(halves[0]), leaning(halves[1])
    group_of, list_of = (np.repeat([0, 1], list(map(len, sides))) for sides in (protected, attributes))
    words = vectors[np.concatenate(protected)]
    leans = (words @ axis)[:, None] * axis
    vocabulary = vocabulary_of(vectors_path(name, folder))
    return LeaningWords(words, vectors[np.concatenate(attributes)], leans, group_of, list_of, vocabulary)


def populations(cell: Cell, folder: Path) -> Populations:
    """Return the distances of all words of a cell in all periods."""
    rng = np.random.default_rng([SEED, zlib.crc32(repr(cell).encode())])
    words = leaning_words(cell.vectors, folder, rng)
    shares = np.arange(cell.periods) / (cell.periods - 1)
    if cell.step:
        shares = np.round(shares)
    own_leans = (cell.drift + cell.spread * rng.standard_normal(len(words.group_of)))[:, None] * words.leans
    distances = []
    for share in shares:
        moved = noisy(words.protected - share * own_leans, cell.noise, rng)
        distances.append(1 - noisy(words.attributes, cell.noise, rng) @ moved.T)
    return Populations(
        np.stack(distances), words.list_of, words.group_of, words.protected, words.attributes, words.vocabulary
    )


def noisy(vectors: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Return unit vectors, each with noise of its own, of the given length relative to a vector of length 1."""
    moved = vectors + noise / np.sqrt(vectors.shape[1]) * rng.standard_normal(vectors.shape)
    return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True))


def word_contrasts(distances: np.ndarray, group_of: np.ndarray, list_of: np.ndarray) -> np.ndarray:
    """Return associated minus different of each word, shape (periods, words), from (periods, attributes, words)."""
    means = np.stack([distances[:, list_of == place].mean(axis=1) for place in (0, 1)], axis=1)
    words = np.arange(len(group_of))
    return np.asarray(means[:, group_of, words] - means[:, 1 - group_of, words])


def population_contrasts(contrasts: np.ndarray, group_of: np.ndarray) -> np.ndarray:
    """Return the mean of words' contrasts (periods, words), groups weighing the same."""
    return np.asarray(np.mean([contrasts[:, group_of == group].mean(axis=1) for group in (0, 1)], axis=0))


def drawn(side_of: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return the places of a few words of each side."""
    return np.concatenate([rng.permutation(np.flatnonzero(side_of == side))[:size] for side in (0, 1)])


def table_of(whole: Populations, cell: Cell, rng: np.random.Generator) -> tuple[PeriodSample, np.ndarray]:
    """Return a table of a few words of each population, and the places of its protected words."""
    words, samples = drawn(whole.group_of, cell.words, rng), drawn(whole.list_of, cell.attributes, rng)
    distances = whole.distances[:, samples[:, None], words]
    group_of, list_of = whole.group_of[words], whole.list_of[samples]
    present = lost_words(group_of, cell, rng, 2), lost_words(list_of, cell, rng, 3)
    distances = np.where(present[0].T[:, None] & present[1].T[:, :, None], distances, np.nan)
    for group in (0, 1):
        distances[:, :, group_of == group] = fill_words(distances[:, :, group_of == group])
    vectors = whole.words[words], whole.samples[samples]
    return sample_of(distances, (words, samples), (group_of, list_of), present, (*vectors, whole.vocabulary)), words


def sample_of(
    distances: np.ndarray,
    places: tuple[np.ndarray, np.ndarray],
    sides: tuple[np.ndarray, np.ndarray],
    present: tuple[np.ndarray, np.ndarray],
    vectors: tuple[np.ndarray, np.ndarray, Vocabulary],
) -> PeriodSample:
    """Return distances (periods, attribute words, protected words) as a sample of two groups and two lists.

    `places`, `sides`, `present` and `vectors` are those of protected words, then of attribute words.
    """
    group_of, list_of = sides
    periods, _, words = distances.shape
    weights = np.zeros((words, 2, 2))
    weights[np.arange(words), 0, group_of] = weights[np.arange(words), 1, 1 - group_of] = 1
    *of_roles, vocabulary = vectors
    links = [links_of(of, member_of, vocabulary) for of, member_of in zip(of_roles, sides, strict=True)]
    effects = [
        np.mean([effects_of(*role, period) for period in range(periods)], axis=0)
        for role in zip(links, sides, present, strict=True)
    ]
    return PeriodSample(
        periods=tuple(map(str, range(periods))),
        distances=distances,
        protected_present=present[0],
        attribute_present=present[1],
        protected_words=tuple(f"p{place}" for place in places[0]),
        attribute_words=tuple(f"a{place}" for place in places[1]),
        group_of=group_of,
        groups=("0", "1"),
        list_of=list_of,
        lists=("0", "1"),
        connections=("associated", "different"),
        connection_weights=weights,
        compared=np.ones(words, dtype=bool),
        list_effects=effects[1],
        group_effects=effects[0],
        protected_links=(links[0],) * periods,
    )


def effects_of(links: LinkedWords, member_of: np.ndarray, present: np.ndarray, period: int) -> list[float]:
    """Return the design effects of two lists in a period, of the words that it has."""
    return [links.design_effect(np.flatnonzero((member_of == place) & present[:, period])) for place in (0, 1)]


def lost_words(member_of: np.ndarray, cell: Cell, rng: np.random.Generator, fewest: int) -> np.ndarray:
    """Return which words have which periods, shape (words, periods), with at least `fewest` words of a list in each."""
    while True:
        present = rng.random((len(member_of), cell.periods)) >= cell.lost
        parts = [present[member_of == place] for place in (0, 1)]
        enough = all(part.sum(axis=0).min() >= fewest and is_connected(part) for part in parts)
        if enough and present.any(axis=1).all() and not any(sole_links(part).size for part in parts):
            return present


def functionals(periods: int) -> dict[str, np.ndarray]:
    """Return the weights of periods in each quantity: the last contrast, the change since the first, and the slope."""
    weights = {name: np.zeros(periods) for name in QUANTITIES}
    weights["contrast"][-1] = weights["change"][-1] = 1
    weights["change"][0] = -1
    times = np.arange(periods) - (periods - 1) / 2
    weights["slope"] = times / (times**2).sum()
    return weights


Row = tuple[str, str, float, float, float, float]
"""Level, quantity, estimate, sd, and the ends of the interval."""


def model_rows(sample: PeriodSample, weights: dict[str, np.ndarray], seed: int) -> Iterator[Row]:
    """Yield the estimates of the package."""
    times = np.arange(len(sample.periods), dtype=float)
    drawn = draw_contrast(sample, list_deviations(sample), times, (0, 1), draws=DRAWS, chains=CHAINS, seed=seed)
    for quantity, weight in weights.items():
        words = np.einsum("t,dtj->jd", weight, drawn.words)
        whole = (sample.protected_present | (weight == 0)).all(axis=1)
        every = [("population", drawn.population.draws @ weight), ("these_words", drawn.these_words.draws @ weight)]
        for level, draws in (*every, *(("word", draws) for draws in words[whole])):
            yield level, quantity, draws.mean(), draws.std(), *shortest_interval(draws, HDI_PROB)


def clustered_rows(sample: PeriodSample, weights: dict[str, np.ndarray]) -> Iterator[Row]:
    """Yield observed differences with errors clustered by protected and by attribute word (Cameron et al. 2011)."""
    sign = np.where(sample.list_of[:, None] == sample.group_of, 1.0, -1.0)
    counts = np.bincount(sample.list_of)[sample.list_of][:, None] * np.bincount(sample.group_of)[sample.group_of]
    for quantity, weight in weights.items():
        values = np.tensordot(weight, sample.distances, axes=1)
        cell_means = np.zeros_like(values)
        for place in (0, 1):
            for group in (0, 1):
                cell = np.ix_(sample.list_of == place, sample.group_of == group)
                cell_means[cell] = values[cell].mean()
        scores = sign * (values - cell_means) / counts / 2
        samples, words = len(sample.list_of), len(sample.group_of)
        by_word = (scores.sum(axis=0) ** 2).sum() * words / (words - 2)
        by_sample = (scores.sum(axis=1) ** 2).sum() * samples / (samples - 2)
        variance = max(by_word + by_sample - (scores**2).sum(), 1e-12)
        estimate = (sign * values / counts).sum() / 2
        half = stats.t.ppf(0.5 + HDI_PROB / 2, min(words, samples) - 1) * np.sqrt(variance)
        yield "population", quantity, estimate, np.sqrt(variance), estimate - half, estimate + half


def student_rows(sample: PeriodSample, weights: dict[str, np.ndarray]) -> Iterator[Row]:
    """Yield the plain paired analysis of these words: Student's t of each list's own words, after Welch."""
    for quantity, weight in weights.items():
        values = np.tensordot(weight, sample.distances, axes=1)
        sign = np.where(sample.list_of[:, None] == sample.group_of, 1.0, -1.0)
        scores = (values * sign) @ (1 / np.bincount(sample.group_of)[sample.group_of]) / 2
        lists = [scores[sample.list_of == place] for place in (0, 1)]
        shares = np.array([of.var(ddof=1) / len(of) for of in lists])
        freedom = shares.sum() ** 2 / sum(share**2 / (len(of) - 1) for share, of in zip(shares, lists, strict=True))
        estimate, error = sum(of.mean() for of in lists), np.sqrt(shares.sum())
        half = stats.t.ppf(0.5 + HDI_PROB / 2, freedom) * error
        yield "these_words", quantity, estimate, error, estimate - half, estimate + half


def run_cell(cell: Cell, folder: Path, samples: int) -> pd.DataFrame:
    """Return a row for each sample, method, quantity and level of a cell."""
    whole, weights = populations(cell, folder), functionals(cell.periods)
    every_contrast = word_contrasts(whole.distances, whole.group_of, whole.list_of)
    truth = population_contrasts(every_contrast, whole.group_of)
    rows = []
    for number in range(samples):
        sample, words = table_of(whole, cell, np.random.default_rng([SEED, number]))
        of_words = every_contrast[:, words]
        methods = {"periods": lambda s=sample, n=number: model_rows(s, weights, n)}
        if not cell.lost:
            methods["two_way_clustered"] = lambda s=sample: clustered_rows(s, weights)
            methods["student"] = lambda s=sample: student_rows(s, weights)
        for method, estimates in methods.items():
            seen = {}
            for level, quantity, mean, sd, low, high in estimates():
                weight = weights[quantity]
                true = float(weight @ truth) if level == "population" else float(weight @ of_words.mean(axis=1))
                if level == "word":
                    usable = np.flatnonzero((sample.protected_present | (weight == 0)).all(axis=1))
                    place = seen.setdefault(quantity, iter(usable))
                    true = float(weight @ of_words[:, next(place)])
                rows.append(
                    (number, method, level, quantity, true, mean - true, sd, low <= true <= high, not low <= 0 <= high)
                )
    columns = ["sample", "method", "level", "quantity", "truth", "error", "sd", "covered", "claims"]
    return pd.DataFrame(rows, columns=columns)


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each method, level and quantity: how its errors and intervals fare."""
    records = []
    for (method, level, quantity), part in rows.groupby(["method", "level", "quantity"], sort=False):
        rmse, sd = np.sqrt((part["error"] ** 2).mean()), np.sqrt((part["sd"] ** 2).mean())
        by_sample = part.groupby("sample")[["covered", "claims"]].mean()
        records.append(
            {
                "method": method,
                "level": level,
                "quantity": quantity,
                "samples": len(by_sample),
                "truth": part["truth"].mean(),
                "error": rmse,
                "bias_in_sd": part["error"].mean() / sd,
                "sd_over_error": sd / rmse,
                "coverage": by_sample["covered"].mean(),
                "coverage_se": by_sample["covered"].std() / np.sqrt(len(by_sample)),
                "claims": by_sample["claims"].mean(),
            }
        )
    return pd.DataFrame(records)


def markdown(cells: pd.DataFrame) -> str:
    """Return the table of README.md: averages over cells of each method, level and quantity."""
    heads = ("method", "level", "quantity", "cells", "coverage", "lowest", "sd_over_error", "false claims", "power")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for key, part in cells.groupby(["method", "level", "quantity"], sort=False):
        moved = part["drift"] > 0
        still = "" if key[2] == "contrast" else f"{part.loc[~moved, 'claims'].mean():.2f}"
        numbers = [part["coverage"].mean(), part["coverage"].min(), part["sd_over_error"].mean()]
        texts = [*(f"{number:.2f}" for number in numbers), still, f"{part.loc[moved, 'claims'].mean():.2f}"]
        lines.append(f"| {' | '.join([*key, str(len(part)), *texts])} |")
    return "\n".join(lines)


def write_trial[AnyCell](
    about: str | None,
    cells: Sequence[AnyCell],
    summary: Callable[[AnyCell, Path, int], pd.DataFrame],
    output: str,
    *,
    draws: int = DRAWS,
) -> None:
    """Write the table of a trial, as the arguments of the command line say; `summary` is of a cell, with samples."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("embeddings", type=Path)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--cells", nargs="*", type=int, default=range(len(cells)))
    parser.add_argument("--output", type=Path, default=FOLDER / output)
    given = parser.parse_args()
    settings = {"seed": SEED, "samples": given.samples, "draws": draws}
    chosen = [cells[number] for number in given.cells]
    write_cells(chosen, lambda cell: summary(cell, given.embeddings, given.samples), given.output, settings, digits=5)


def summarise_cell(cell: Cell, embeddings: Path, samples: int) -> pd.DataFrame:
    """Return the rows of a cell."""
    return summarise(run_cell(cell, embeddings, samples))


if __name__ == "__main__":
    write_trial(__doc__, CELLS, summarise_cell, "cells.csv")
