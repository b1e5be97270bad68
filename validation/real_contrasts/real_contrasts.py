"""Are intervals right where something IS associated? Tables are drawn from large lists of real words.

    python validation/real_contrasts/real_contrasts.py EMBEDDINGS LISTS [--samples 200] [--models multivariate ...]

EMBEDDINGS is the folder of the Google News and GloVe vectors, LISTS that of lists by Bolukbasi et al. (2016), Zhao et
al. (2018) and Ravfogel et al. (2020). The vocabulary is split into halves: protected words of each group lean one way
or the other along an axis in one half, attribute words in the other. The truth is the mean of whole lists: no model
makes it. README.md says what the table means.
"""

import argparse
import json
import time
import tomllib
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from real_vectors import gender_difference, record_of, unit_vectors, vectors_path, vocabulary_of
from scipy import stats
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.models.data import model_data
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.posterior_draws import sample_list_means
from bayesbias.models.numerics.contrast_estimate import draws_interval
from bayesbias.tables.word_worths import Vocabulary

FOLDER = Path(__file__).resolve().parent
SEED = 20261123
DRAWS = 1000
PRIORS = bb.load_model("multivariate").priors
LEVELS = ("population", "these_words", "word")


@dataclass(frozen=True)
class Cell:
    """What tables are drawn from, and their size.

    `axis` is what lists lean along, or a name in `CURATED`; with `noise` 99 attribute lists are drawn at random, and
    `contrast` says what is added to their associated distances: ``"constant"`` the same for all words,
    ``"independent"`` a number of its own for each. ``"real"`` contrasts are those of the vectors. The first list has
    `first` attribute words if that is given, and distances to those of other lists are drawn in to their mean, to one
    in `spread`.
    """

    vectors: str
    axis: str
    noise: float
    groups: int
    words: int
    attributes: int
    controls: int
    contrast: str = "real"
    first: int = 0
    spread: float = 1.0

    def sizes(self) -> list[int]:
        """Return the number of attribute words of each list."""
        return [self.first or self.attributes, *[self.attributes] * (self.groups - 1)]


CELLS = (
    Cell("google_news", "gender", 0.5, 2, 8, 8, 0),
    Cell("google_news", "gender", 1, 2, 3, 4, 100),
    Cell("google_news", "pc2", 1, 2, 8, 8, 100),
    Cell("google_news", "pc5", 1, 3, 8, 4, 0),
    Cell("google_news", "pc8", 2, 2, 15, 15, 0),
    Cell("google_news", "pc5", 0.5, 2, 15, 8, 100),
    Cell("glove", "gender", 1, 2, 8, 15, 0),
    Cell("glove", "pc2", 0.5, 2, 3, 4, 0),
    Cell("glove", "pc5", 1, 3, 3, 8, 100),
    Cell("glove", "pc8", 1, 2, 15, 4, 0),
    Cell("glove", "gender", 2, 2, 3, 15, 100),
    Cell("bundled", "pc2", 1, 2, 8, 4, 0),
    Cell("bundled", "gender", 1, 2, 3, 4, 100),
    Cell("google_news", "gendered words, professions", 0, 2, 8, 4, 0),
    Cell("google_news", "professions, gendered words", 0, 2, 8, 4, 100),
    Cell("google_news", "names, gendered words", 0, 2, 15, 8, 0),
    Cell("google_news", "professions, valence", 0, 2, 8, 8, 100),
    Cell("glove", "gendered words, professions", 0, 2, 3, 4, 0),
    Cell("glove", "professions, gendered words", 0, 2, 8, 8, 100),
    Cell("glove", "gendered words, valence", 0, 2, 8, 15, 0),
    Cell("google_news", "pc2", 99, 2, 8, 8, 100, "constant"),
    Cell("glove", "pc5", 99, 2, 8, 4, 0, "constant"),
    Cell("google_news", "gender", 99, 2, 8, 8, 0, "independent"),
    Cell("glove", "pc8", 99, 2, 15, 8, 100, "independent"),
    Cell("glove", "pc2", 99, 2, 8, 8, 0),
    Cell("google_news", "pc2", 99, 3, 3, 8, 100),
    Cell("google_news", "pc2", 99, 2, 8, 20, 0, first=4),
    Cell("google_news", "gender", 1, 2, 8, 15, 100, first=4),
    Cell("glove", "professions, gendered words", 0, 2, 8, 15, 0, first=4),
    Cell("google_news", "pc5", 1, 2, 8, 8, 0, spread=2.0),
    Cell("glove", "pc2", 99, 2, 8, 16, 0, first=4, spread=2.0),
    Cell("google_news", "gender", 99, 2, 8, 20, 100, first=3, spread=3.0),
)
# Added to associated distances, and the sd of what is added to those of single words.
CONTRAST, CONTRAST_SD = -0.05, 0.03


@dataclass(frozen=True, eq=False)
class Populations:
    """Unit vectors, the words of each protected group, each attribute list and the control words.

    `added` is what is added to associated distances of each word of the vocabulary; `vocabulary` what its random words
    have in common.
    """

    vectors: np.ndarray
    protected: list[np.ndarray]
    attributes: list[np.ndarray]
    others: np.ndarray
    added: np.ndarray
    vocabulary: Vocabulary

    def distances(self, protected: np.ndarray, attributes: np.ndarray) -> np.ndarray:
        """Return cosine distances, shape (protected, attributes)."""
        return 1 - self.vectors[protected] @ self.vectors[attributes].T


def curated(lists: Path) -> dict[str, list[list[str]]]:
    """Return pairs of lists that people made."""

    def words_of(name: str) -> list[str]:
        return (lists / name).read_text(encoding="utf-8").split()

    professions = json.loads((lists / "bolukbasi_professions.json").read_text(encoding="utf-8"))
    # Those that do not mean a gender, by the stereotype that people saw in them.
    neutral = [(word, stereotype) for word, meant, stereotype in professions if abs(meant) < 0.3]
    valence = tomllib.loads(bb.bundled("data", "lists", "bing_liu.toml").read_text(encoding="utf-8"))["lists"]
    return {
        "gendered words": [words_of("gn_glove_male_word_file.txt"), words_of("gn_glove_female_word_file.txt")],
        "professions": [[word for word, x in neutral if x >= 0.3], [word for word, x in neutral if x < 0]],
        "valence": [valence["positive_words"], valence["negative_words"]],
        "names": [words_of("inlp_first_names_clean.txt")],
    }


def populations(cell: Cell, folder: Path, lists: Path) -> Populations:
    """Return the populations of a cell."""
    key = repr((cell.vectors, cell.axis, cell.noise, cell.groups, cell.contrast))
    rng = np.random.default_rng([SEED, zlib.crc32(key.encode())])
    words, vectors = unit_vectors(cell.vectors, folder)
    vocabulary = vocabulary_of(vectors_path(cell.vectors, folder))
    usable = np.array([place for place, word in enumerate(words) if word.isalpha()])
    centred = vectors - vectors[usable].mean(axis=0)
    place_of = {word: place for place, word in enumerate(words)}
    gender = gender_difference(words, vectors)[None]
    if "," in cell.axis:
        pairs = {name: [[w for w in of if w in place_of] for of in pair] for name, pair in curated(lists).items()}
        score = [(word, vectors[place_of[word]] @ gender[0]) for word in pairs["names"][0]]
        pairs["names"] = [[word for word, x in score if x > 0], [word for word, x in score if x < 0]]
        protected, attributes = (
            [np.array([place_of[word] for word in of]) for of in pairs[name]] for name in cell.axis.split(", ")
        )
        attributes = [np.setdiff1d(of, np.concatenate(protected)) for of in attributes]
        return Populations(vectors, protected, attributes, usable, np.zeros(len(words)), vocabulary)
    axes = gender
    if cell.axis != "gender":
        first = int(cell.axis.removeprefix("pc"))
        axes = np.linalg.svd(centred[usable], full_matrices=False)[2][first : first + max(1, cell.groups - 1)]
    halves = np.array_split(rng.permutation(usable), 2)

    def leaning(half: np.ndarray) -> list[np.ndarray]:
        score = centred[half] @ axes.T
        score = score / score.std(axis=0) + cell.noise * rng.standard_normal(score.shape)
        if cell.groups == 2:
            low, high = np.quantile(score[:, 0], (0.15, 0.85))
            return [half[score[:, 0] > high], half[score[:, 0] < low]]
        score = np.column_stack([score, -score.sum(axis=1) / np.sqrt(cell.groups - 1)])
        ordered = np.sort(score, axis=1)
        clear = ordered[:, -1] - ordered[:, -2] > np.median(ordered[:, -1] - ordered[:, -2])
        return [half[(score.argmax(axis=1) == group) & clear] for group in range(cell.groups)]

    random = cell.noise > 50
    attributes = np.array_split(rng.permutation(halves[1]), cell.groups) if random else leaning(halves[1])
    added = np.zeros(len(words)) if cell.contrast == "real" else np.full(len(words), CONTRAST)
    if cell.contrast == "independent":
        added = added + CONTRAST_SD * rng.standard_normal(len(words))
    return Populations(vectors, leaning(halves[0]), attributes, halves[1], added, vocabulary)


def list_sizes(folder: Path, lists: Path) -> dict[str, list[int]]:
    """Return how many words the attribute lists that people made have, by vectors and axis."""
    by_name = {f"{cell.vectors}: {cell.axis}": cell for cell in CELLS if "," in cell.axis}
    return {name: [len(of) for of in populations(cell, folder, lists).attributes] for name, cell in by_name.items()}


def contrasts(means: np.ndarray, group_of: np.ndarray) -> np.ndarray:
    """Return associated minus different of words, from means of shape (words, lists); lists weigh the same."""
    own_list_mean = means[np.arange(len(means)), group_of]
    return own_list_mean - (means[:, : group_of.max() + 1].sum(axis=1) - own_list_mean) / group_of.max()


def sampled_table(whole: Populations, cell: Cell, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table of a few words of each population, and the places of its protected words."""
    words = np.concatenate([rng.permutation(group)[: cell.words] for group in whole.protected])
    lists = [rng.permutation(of)[:size] for of, size in zip(whole.attributes, cell.sizes(), strict=True)]
    lists += [rng.permutation(whole.others)[: cell.controls]] if cell.controls else []
    rows = []
    for number, members in enumerate(lists):
        distances = whole.distances(words, members)
        if 0 < number < cell.groups:
            centre = whole.distances(words, whole.attributes[number]).mean(axis=1, keepdims=True)
            distances = centre + (distances - centre) / cell.spread
        for word_index in range(len(words)):
            group = word_index // cell.words
            kind = "neutral" if number == cell.groups else "associated" if number == group else "different"
            shift = whole.added[words[word_index]] if kind == "associated" else 0.0
            rows += [
                (f"p{word_index}", f"g{group}", f"{number}_{of}", f"list{number}", kind, value, 1 - value)
                for of, value in enumerate(distances[word_index] + shift)
            ]
    columns = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection"]
    table = pd.DataFrame(rows, columns=[*columns, "cosine_distance", "cosine_similarity"])
    groups = {
        f"g{group}": range(group * cell.words, min((group + 1) * cell.words, len(words)))
        for group in range(cell.groups)
    }
    of_lists = {("protected", name): [f"p{place}" for place in places] for name, places in groups.items()}
    of_lists |= {
        ("attribute", f"list{number}"): [f"{number}_{place}" for place in range(len(members))]
        for number, members in enumerate(lists)
    }
    every = [word for names in of_lists.values() for word in names]
    vectors = dict(zip(every, whole.vectors[np.concatenate([words, *lists])], strict=True))
    table.attrs = record_of(of_lists, vectors, whole.vocabulary)
    return table, words


Row = tuple[str, float, float, float, float]
"""Level, estimate, sd, and the ends of the interval."""


def plain_rows(table: pd.DataFrame, group_of: np.ndarray) -> Iterator[Row]:
    """Yield the observed differences, with Welch's interval over attribute words."""
    stereotype = table[table["connection"] != "neutral"]
    groups = group_of.max() + 1
    wide = stereotype.pivot_table(
        index=["attribute_group", "attribute_word"], columns="protected_word", values="cosine_distance", sort=False
    )[[f"p{number}" for number in range(len(group_of))]]
    by_list = [of.to_numpy() for _, of in wide.groupby(level="attribute_group", sort=False)]
    signs = np.where(np.arange(groups)[:, None] == group_of, 1.0, -1.0 / (groups - 1))
    words = contrasts(np.column_stack([of.mean(axis=0) for of in by_list]), group_of)
    scores = [of * sign for of, sign in zip(by_list, signs, strict=True)]
    for level, values, samples in (
        ("these_words", words.mean()[None], [of.mean(axis=1, keepdims=True) for of in scores]),
        ("word", words, scores),
    ):
        shares = np.array([of.var(axis=0, ddof=1) / len(of) for of in samples])
        variance, freedom_of_lists = shares.sum(axis=0), np.array([len(of) - 1 for of in samples])[:, None]
        half = stats.t.ppf(0.5 + HDI_PROB / 2, variance**2 / (shares**2 / freedom_of_lists).sum(axis=0)) * np.sqrt(
            variance
        )
        for value, error, width in zip(values, np.sqrt(variance), half, strict=True):
            yield level, value, error, value - width, value + width


def multivariate_rows(table: pd.DataFrame, seed: int) -> Iterator[Row]:
    """Yield the estimates of the default model."""
    data = model_data(table)
    sample = attribute_sample(data)
    settings = {"draws": DRAWS, "seed": seed, "priors": PRIORS, "covariances": False}
    posterior = sample_list_means(sample, data.connections, **settings).posterior
    population, words = (posterior[name][..., 0] - posterior[name][..., 1] for name in ("connection_mean", "word_mean"))
    every = [("population", population), ("these_words", words.mean(axis=1)), *(("word", word) for word in words.T)]
    for level, draws in every:
        interval = draws_interval(draws, HDI_PROB)
        yield level, draws.mean(), draws.std(), interval.low, interval.high


def fitted_rows(table: pd.DataFrame, model: str, seed: int) -> Iterator[Row]:
    """Yield the estimates of a model of `bb.fit`."""
    fit = bb.fit(table, model, draws=DRAWS // 2, tune=500, chains=2, random_seed=seed, progress=False)
    for level, scope, name in (
        ("overall", "population", "population"),
        ("overall", "these_words", "these_words"),
        ("word", "these_words", "word"),
    ):
        frame = bb.contrasts(fit, level=level, scope=scope).query("contrast == 'associated - different'")
        for row in frame.to_dict("records"):
            yield name, row["mean"], row["sd"], row["hdi_low"], row["hdi_high"]


def run_cell(cell: Cell, folder: Path, lists: Path, samples: int, models: list[str]) -> pd.DataFrame:
    """Return a row for each sample, method and estimate of a cell."""
    whole = populations(cell, folder, lists)
    means = [np.array([whole.distances(group, of).mean() for of in whole.attributes]) for group in whole.protected]
    of_added = np.mean([whole.added[group].mean() for group in whole.protected])
    truth = float(contrasts(np.array(means), np.arange(cell.groups)).mean() + of_added)
    group_of = np.repeat(np.arange(cell.groups), cell.words)
    rows = []
    for number in range(samples):
        table, words = sampled_table(whole, cell, np.random.default_rng([SEED, number]))
        contrasts_of_words = contrasts(
            np.column_stack([whole.distances(words, of).mean(axis=1) for of in whole.attributes]), group_of
        )
        contrasts_of_words = contrasts_of_words + whole.added[words]
        of_table = table.groupby(["protected_word", "attribute_group"], sort=False)["cosine_distance"].mean()
        plain = contrasts(of_table.unstack(sort=False).to_numpy(), group_of)
        truths = {"population": [truth], "these_words": [contrasts_of_words.mean()], "word": list(contrasts_of_words)}
        observed = {"population": [plain.mean()], "these_words": [plain.mean()], "word": list(plain)}
        methods = {"plain_t": lambda table=table: plain_rows(table, group_of)}
        for model in models:
            if model == "multivariate":
                methods[model] = lambda table=table, number=number: multivariate_rows(table, number)
            else:
                methods[model] = lambda table=table, number=number, model=model: fitted_rows(table, model, number)
        for method, estimates in methods.items():
            seen = dict.fromkeys(LEVELS, 0)
            for level, mean, sd, low, high in estimates():
                true, difference = truths[level][seen[level]], observed[level][seen[level]]
                seen[level] += 1
                outside, claims = not low <= difference <= high, not low <= 0 <= high
                values = (mean - true, difference - true, sd, low <= true <= high, claims, outside)
                rows.append((number, method, level, truth, *values))
    columns = ["sample", "method", "level", "truth", "error", "plain_error", "sd", "covered", "claims", "outside"]
    return pd.DataFrame(rows, columns=columns)


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each method and level: how its errors and intervals fare."""
    records = []
    for (method, level), part in rows.groupby(["method", "level"]):
        rmse, sd = np.sqrt((part["error"] ** 2).mean()), np.sqrt((part["sd"] ** 2).mean())
        by_sample = part.groupby("sample")["covered"].mean()
        records.append(
            {
                "method": method,
                "level": level,
                "samples": len(by_sample),
                "truth": part["truth"].iloc[0],
                "bias_in_sd": part["error"].mean() / sd,
                "error": rmse,
                "sd_over_error": sd / rmse,
                "coverage": by_sample.mean(),
                "coverage_se": by_sample.std() / np.sqrt(len(by_sample)),
                "claims": part["claims"].mean(),
                "plain_outside": part["outside"].mean(),
                "error_over_plain": rmse / np.sqrt((part["plain_error"] ** 2).mean()),
            }
        )
    return pd.DataFrame(records)


def markdown(cells: pd.DataFrame) -> str:
    """Return the table of README.md: the average over cells of each method and level."""
    shown = ["bias_in_sd", "sd_over_error", "coverage", "claims", "plain_outside", "error_over_plain"]
    of = cells.groupby(["method", "level"])
    lowest = of["coverage"].min().round(2)
    lines = [f"| {' | '.join(['method', 'level', 'cells', 'lowest coverage', *shown])} |", "|---" * 10 + "|"]
    for key, part in of:
        values = [f"{value:.2f}" for value in part[shown].abs().mean()]
        lines.append(f"| {' | '.join([*map(str, key), str(len(part)), f'{lowest[key]:.2f}', *values])} |")
    return "\n".join(lines)


def unequal(cells: pd.DataFrame) -> pd.Series:
    """Return the rows of cells whose lists differ in length or spread."""
    return (cells["first"] > 0) | (cells["spread"] > 1)


def write_cells[AnyCell](
    cells: Sequence[AnyCell],
    summary: Callable[[AnyCell], pd.DataFrame],
    output: Path,
    settings: dict[str, object],
    *,
    digits: int,
) -> None:
    """Write the summary of each cell, after the cell's own fields, and beside it the settings and the seconds taken."""
    begin, frames = time.time(), []
    with threadpool_limits(1, "blas"):
        for number, cell in enumerate(cells):
            frame = summary(cell)
            for place, (name, value) in enumerate(vars(cell).items()):
                frame.insert(place, name, value)
            frames.append(frame)
            pd.concat(frames).round(digits).to_csv(output, index=False)
            print(f"{number + 1} of {len(cells)} cells: {time.time() - begin:.0f} s", flush=True)
    settings = {**settings, "seconds": round(time.time() - begin)}
    output.with_suffix(".json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def script_options(about: str | None, output: Path, **counts: int) -> argparse.Namespace:
    """Return the options of a script on these populations: folders, numbers with their defaults, and its output."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("embeddings", type=Path)
    parser.add_argument("lists", type=Path)
    for name, count in counts.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--output", type=Path, default=output)
    return parser.parse_args()


def main() -> None:
    """Run all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("embeddings", type=Path)
    parser.add_argument("lists", type=Path)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--models", nargs="*", default=["multivariate"])
    parser.add_argument("--cells", nargs="*", type=int, default=range(len(CELLS)))
    parser.add_argument("--output", type=Path, default=FOLDER / "cells.csv")
    given = parser.parse_args()

    def summary(cell: Cell) -> pd.DataFrame:
        return summarise(run_cell(cell, given.embeddings, given.lists, given.samples, given.models))

    settings = {"seed": SEED, "samples": given.samples, "draws": DRAWS}
    settings["attribute_words_of_whole_lists"] = list_sizes(given.embeddings, given.lists)
    write_cells([CELLS[number] for number in given.cells], summary, given.output, settings, digits=4)


if __name__ == "__main__":
    main()
