"""Are intervals of slopes right? Tables are drawn from large lists of real words, whose slope is known.

    python validation/covariates/covariates.py EMBEDDINGS COVARIATES LISTS [--samples 200] [--draws 500] [--words 20]

EMBEDDINGS is the folder of the Google News and GloVe vectors, COVARIATES that of the shares of women in occupations and
of the crowd's ratings (Garg et al. 2018), LISTS that of lists by Bolukbasi et al. (2016) and Zhao et al. (2018). The
truth is the least-squares slope of whole lists: no model makes it. README.md says what the tables mean.
"""

import argparse
import json
import sys
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.estimates.dependence import LinkedWords
from bayesbias.estimates.intervals import shortest_interval
from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.models.multivariate.posterior_draws import sample_list_means
from bayesbias.reports.covariates.covariate_effect import CORRELATION, RESIDUAL_SD, SLOPE, draw_quantities
from bayesbias.reports.covariates.slopes import Leans, design_of, observed_list_means
from bayesbias.tables.word_worths import Vocabulary

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "real_contrasts"))

from real_vectors import links_of, vocabulary_of  # noqa: E402 - a script in another folder

SEED = 20261124
VECTORS = {"google_news": "googlenews_word2vec_300d_13784.npz", "glove": "glove_6b_50d_10382.txt"}
PRIORS = bb.load_model("multivariate").priors
# The lists of Garg et al. (2018).
FEMALE = (
    *("she", "daughter", "hers", "her", "mother", "woman", "girl", "herself", "female", "sister", "daughters"),
    *("mothers", "women", "girls", "females", "sisters", "aunt", "aunts", "niece", "nieces"),
)
MALE = (
    *("he", "son", "his", "him", "father", "man", "boy", "himself", "male", "brother", "sons"),
    *("fathers", "men", "boys", "males", "brothers", "uncle", "uncles", "nephew", "nephews"),
)
# Protected words and attribute words of a table.
SIZES = ((20, 8), (10, 4), (40, 15))
_COMMON_WORDS = 3000
_END_WORDS = 300
# Clusters of a list of the attributes "clustered", of which a table has two or three.
_CLUSTERS = 60
_CLUSTER_WORDS = 4


@dataclass(frozen=True)
class Cell:
    """Populations of protected words and attribute lists, and the covariate.

    Kinds of covariates: ``"shares"`` of women in 2015 and ``"ratings"`` of stereotypes, ``"log_rank"`` of a word in the
    vocabulary, ``"lean"`` of the whole lists plus noise, its cube root (``"curved"``), and a covariate on which the
    spread of leans depends (``"uneven"``), all with a relation; ``"noise"`` and ``"skewed"`` noise, drawn anew for each
    table, without.
    """

    vectors: str
    protected: str
    attributes: str
    covariate: str

    @property
    def related(self) -> bool:
        """Whether leans follow the covariate."""
        return self.covariate not in ("noise", "skewed", "shuffled")


CELLS = (
    Cell("google_news", "occupations", "gendered", "shares"),
    Cell("google_news", "rated", "gendered", "ratings"),
    Cell("google_news", "common", "gendered", "log_rank"),
    Cell("google_news", "common", "axis", "lean"),
    Cell("google_news", "common", "gendered", "curved"),
    Cell("google_news", "common", "axis", "uneven"),
    Cell("glove", "common", "gendered", "lean"),
    Cell("glove", "common", "axis", "log_rank"),
    Cell("google_news", "occupations", "gendered", "shuffled"),
    Cell("google_news", "common", "gendered", "noise"),
    Cell("google_news", "common", "axis", "skewed"),
    Cell("glove", "common", "axis", "noise"),
    Cell("glove", "common", "random", "noise"),
    Cell("google_news", "common", "clustered", "lean"),
    Cell("google_news", "common", "clustered", "noise"),
    Cell("glove", "common", "clustered", "log_rank"),
)


@dataclass(frozen=True, eq=False)
class Population:
    """Distances of all protected words to all attribute words of both lists, and the covariate of protected words.

    `vectors` are the unit vectors of the protected words and of the words of both lists; `vocabulary` is what random
    words of the same vectors have in common.
    """

    first: np.ndarray
    second: np.ndarray
    covariate: np.ndarray
    vectors: tuple[np.ndarray, np.ndarray, np.ndarray]
    vocabulary: Vocabulary

    def links(self, words: np.ndarray, lists: list[np.ndarray]) -> tuple[LinkedWords, LinkedWords]:
        """Return the links of some protected words, and those of some words of both lists."""
        protected, first, second = (of[rows] for of, rows in zip(self.vectors, (words, *lists), strict=True))
        list_of = np.repeat([0, 1], (len(first), len(second)))
        return (
            links_of(protected, np.zeros(len(words), dtype=int), self.vocabulary),
            links_of(np.concatenate([first, second]), list_of, self.vocabulary),
        )

    @property
    def leans(self) -> np.ndarray:
        """Return the lean of each protected word over whole lists."""
        return np.asarray(self.first.mean(axis=1) - self.second.mean(axis=1))


@cache
def unit_vectors(path: Path) -> tuple[dict[str, int], np.ndarray]:
    """Return the place of each word of an embedding, and unit vectors."""
    embedding = bb.load_embedding(path)
    unit = embedding.vectors / np.linalg.norm(embedding.vectors, axis=1, keepdims=True)
    return {word: number for number, word in enumerate(embedding.words)}, unit


def population_of(cell: Cell, folders: tuple[Path, Path, Path], rng: np.random.Generator) -> Population:
    """Return the populations of a cell."""
    embeddings, covariates, lists = folders
    place, unit = unit_vectors(embeddings / VECTORS[cell.vectors])
    gendered = [
        [word for word in (lists / name).read_text(encoding="utf-8").split() if word in place]
        for name in ("gn_glove_female_word_file.txt", "gn_glove_male_word_file.txt")
    ]
    taken = {word for words in gendered for word in words}
    plain = [word for word in place if word.isalpha() and word.islower() and word not in taken and len(word) > 2]
    values: dict[str, float] = {}
    if cell.protected == "occupations":
        table = pd.read_csv(covariates / "occupation_shares_of_women_us.csv.gz")
        table = table[table["Census year"] == 2015]
        values = dict(zip(table["Occupation"], table["Female"], strict=True))
    elif cell.protected == "rated":
        table = pd.read_csv(covariates / "mturk_stereotypes.csv")
        values = dict(zip(table["occupation"], table["stereotype_score"], strict=True))
    protected = [word for word in values if word in place] or plain[:_COMMON_WORDS]
    attributes = gendered
    if cell.attributes != "gendered":
        others = plain[_COMMON_WORDS : 2 * _COMMON_WORDS]
        vectors = unit[[place[word] for word in others]]
        order = rng.permutation(len(others))
        if cell.attributes in ("axis", "clustered"):
            centred = vectors - vectors.mean(axis=0)
            order = np.argsort(centred @ np.linalg.svd(centred, full_matrices=False)[2][2])
            if cell.attributes == "clustered":
                order = clusters_at_ends(order, vectors, rng)
        ends = (order[:_END_WORDS], order[-_END_WORDS:]) if cell.attributes != "clustered" else np.split(order, 2)
        attributes = [[others[number] for number in part] for part in ends]
    rows = unit[[place[word] for word in protected]]
    sides = [unit[[place[word] for word in words]] for words in attributes]
    first, second = (1 - rows @ of.T for of in sides)
    leans = first.mean(axis=1) - second.mean(axis=1)
    standard = (leans - leans.mean()) / leans.std()
    noise = rng.standard_normal(len(leans))
    covariate = {
        "log_rank": np.log([place[word] + 1.0 for word in protected]),
        "lean": standard + noise,
        "curved": np.cbrt(standard + noise / 3),
        "uneven": np.sign(noise) * np.abs(rng.standard_normal(len(leans))) * (0.2 + np.abs(standard)) + standard / 4,
    }.get(cell.covariate, noise)
    if values:
        covariate = np.array([values[word] for word in protected])
    vocabulary = vocabulary_of(embeddings / VECTORS[cell.vectors])
    return Population(first, second, covariate, (rows, sides[0], sides[1]), vocabulary)


def clusters_at_ends(order: np.ndarray, vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return clusters of words from both ends of an order, one after the other: a word with its nearest neighbours."""
    near, rows = vectors @ vectors.T, []
    for end in (order[:_END_WORDS], order[-_END_WORDS:]):
        for word in rng.permutation(end)[:_CLUSTERS]:
            rows.append(np.argsort(-near[word])[:_CLUSTER_WORDS])
            near[:, rows[-1]] = -np.inf
    return np.concatenate(rows)


def draw_list(cell: Cell, population: int, words: int, rng: np.random.Generator) -> np.ndarray:
    """Return the positions of the words of a list: words drawn one by one, or two or three clusters of them."""
    if cell.attributes != "clustered":
        return rng.choice(population, words, replace=False)
    clusters = 2 if words <= 2 * _CLUSTER_WORDS else 3
    chosen = rng.choice(population // _CLUSTER_WORDS, clusters, replace=False)
    cluster_size = min(words // clusters, _CLUSTER_WORDS)
    members = [rng.choice(_CLUSTER_WORDS, cluster_size, replace=False) for _ in chosen]
    return np.concatenate([_CLUSTER_WORDS * cluster + member for cluster, member in zip(chosen, members, strict=True)])


def sample_of(
    first: np.ndarray, second: np.ndarray, covariate: np.ndarray, links: tuple[LinkedWords, LinkedWords]
) -> AttributeSample:
    """Return a table of one protected group: distances (words, attribute words) to two lists."""
    of_words, of_lists = links
    words, counts = len(first), (first.shape[1], second.shape[1])
    weights = np.zeros((words, 2, 2))
    weights[:, [0, 1], [0, 1]] = 1.0
    return AttributeSample(
        distances=np.concatenate([first, second], axis=1).T,
        list_of=np.repeat([0, 1], counts),
        lists=("first", "second"),
        list_kind=np.zeros(2, dtype=int),
        kinds=("stereotype",),
        group_of=np.zeros(words, dtype=int),
        pattern_of=np.zeros(words, dtype=int),
        connection_weights=weights,
        compared=np.ones(words, dtype=bool),
        covariates=covariate[:, None],
        protected_links=of_words,
        attribute_links=of_lists,
    )


def intervals_of(
    first: np.ndarray,
    second: np.ndarray,
    covariate: np.ndarray,
    links: tuple[LinkedWords, LinkedWords],
    draws: int,
    seed: int,
) -> dict[str, tuple[float, float, float]]:
    """Return estimate and interval by method: of slopes, the correlation and the sd beyond."""
    one_group = np.zeros(len(covariate), dtype=int)
    design = design_of(covariate[:, None], one_group, links[0].correlations(one_group))
    sample = sample_of(first, second, covariate, links)
    drawn = sample_list_means(
        sample, ("associated", "different"), draws=draws, seed=seed, priors=PRIORS, covariances=False
    ).posterior["list_mean"]
    plain, weights = observed_list_means(sample), np.tile([1.0, -1.0], (len(covariate), 1))
    leans = Leans(drawn[:, 0] - drawn[:, 1], plain[0] - plain[1], weights, sample, "first", "second")
    rng = np.random.default_rng([seed, 104])
    quantities, _ = draw_quantities(leans, design, ("x",), PRIORS["effect_sd"], rng)
    of_model = {
        "population": quantities[SLOPE, "x", "population"][0],
        "these_words": quantities[SLOPE, "x", "these_words"][0],
        "correlation": quantities[CORRELATION, "x", "population"][0],
        "residual sd": quantities[RESIDUAL_SD, "", "population"][0],
    }
    ends = {name: (float(values.mean()), *shortest_interval(values, HDI_PROB)) for name, values in of_model.items()}
    ends["least squares"], ends["two-way"] = plain_intervals(first, second, design.coefficients[0])
    return ends


def plain_intervals(
    first: np.ndarray, second: np.ndarray, coefficients: np.ndarray
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Return the least-squares slope with its plain interval, and with errors clustered by both kinds of words.

    The second is that of Cameron, Gelbach and Miller (2011) for pairs with an effect of each word, with Student's t of
    the smaller number of clusters minus 1.
    """
    leans = first.mean(axis=1) - second.mean(axis=1)
    slope, words = float(coefficients @ leans), len(leans)
    spread = 1 / float(coefficients @ coefficients)
    x = coefficients * spread
    residual = leans - leans.mean() - slope * x
    plain = np.sqrt(residual @ residual / (words - 2) / spread)
    sign = np.repeat([1.0, -1.0], [first.shape[1], second.shape[1]])
    distances = np.concatenate([first, second], axis=1)
    of_list = [distances[:, sign == side].mean(axis=1, keepdims=True) for side in (1.0, -1.0)]
    errors = distances - (of_list[0] + of_list[1]) / 2
    errors = errors - errors.mean(axis=0) - slope / 2 * np.outer(x, sign)
    size = np.where(sign > 0, first.shape[1], second.shape[1])
    scores = errors * np.outer(coefficients, sign / size)
    attributes = len(sign)
    by_word = np.square(scores.sum(axis=1)).sum() * words / (words - 1)
    by_attribute = np.square(scores.sum(axis=0)).sum() * attributes / (attributes - 1)
    clustered = np.sqrt(max(by_word + by_attribute - np.square(scores).sum(), by_word, by_attribute))
    ends = []
    for error, freedom in ((plain, words - 2), (clustered, min(words, attributes) - 1)):
        reach = stats.t.ppf((1 + HDI_PROB) / 2, freedom) * error
        ends.append((slope, float(slope - reach), float(slope + reach)))
    return ends[0], ends[1]


def run_cell(
    cell: Cell, size: tuple[int, int], folders: tuple[Path, Path, Path], samples: int, draws: int
) -> pd.DataFrame:
    """Return a row for each table and method: truth, estimate and interval."""
    seed = zlib.crc32(f"{SEED} {cell} {size}".encode())
    rng = np.random.default_rng(seed)
    whole = population_of(cell, folders, np.random.default_rng(zlib.crc32(f"{SEED} {cell}".encode())))
    words, attributes = size
    rows = []
    for number in range(samples):
        covariate = whole.covariate
        if cell.covariate == "shuffled":
            covariate = rng.permutation(covariate)
        elif not cell.related:
            covariate = rng.standard_normal(len(covariate))
            covariate = np.exp(covariate) if cell.covariate == "skewed" else covariate
        chosen = rng.choice(len(covariate), words, replace=False)
        lists = [draw_list(cell, table.shape[1], attributes, rng) for table in (whole.first, whole.second)]
        first, second = (
            table[np.ix_(chosen, part)] for table, part in zip((whole.first, whole.second), lists, strict=True)
        )
        links = whole.links(chosen, lists)
        ends = intervals_of(first, second, covariate[chosen], links, draws, int(rng.integers(2**32)))
        everyone = design_of(covariate[:, None], np.zeros(len(covariate), dtype=int))
        here = design_of(covariate[chosen][:, None], np.zeros(words, dtype=int))
        leans = whole.leans
        slope = float(everyone.coefficients[0] @ leans) if cell.related else 0.0
        beyond = leans - leans.mean() - (covariate - covariate.mean()) * float(everyone.coefficients[0] @ leans)
        truth = {
            "these_words": float(here.coefficients[0] @ leans[chosen]),
            "correlation": float(np.corrcoef(covariate, leans)[0, 1]) if cell.related else 0.0,
            "residual sd": float(beyond.std(ddof=2)),
        }
        rows += [
            {
                "sample": number,
                "method": name,
                "truth": truth.get(name, slope),
                "mean": mean,
                "low": low,
                "high": high,
            }
            for name, (mean, low, high) in ends.items()
        ]
    return pd.DataFrame(rows).assign(**vars(cell), words=words, attribute_words=attributes, related=cell.related)


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return coverage, claims and widths by cell and method."""
    rows = rows.assign(
        coverage=(rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"]),
        claims=(rows["low"] > 0) | (rows["high"] < 0),
        wrong=((rows["low"] > 0) & (rows["truth"] < 0)) | ((rows["high"] < 0) & (rows["truth"] > 0)),
        error=rows["mean"] - rows["truth"],
        width=rows["high"] - rows["low"],
    )
    keys = ["vectors", "protected", "attributes", "covariate", "related", "words", "attribute_words", "method"]
    grouped = rows.groupby(keys, sort=False)
    table = grouped[["truth", "coverage", "claims", "wrong", "width"]].mean()
    table["error"] = grouped["error"].agg(lambda values: float(np.sqrt(np.mean(np.square(values)))))
    table.insert(0, "samples", grouped.size())
    return table.reset_index().round(4)


def figure_1(folders: tuple[Path, Path, Path]) -> pd.DataFrame:
    """Return the effect of the share of women on the leans of occupations, as in Figure 1 of Garg et al. (2018)."""
    vectors = bb.load_embedding(folders[0] / VECTORS["google_news"])
    census = pd.read_csv(folders[1] / "occupation_shares_of_women_us.csv.gz")
    shares = census[census["Census year"] == 2015].set_index("Occupation")["Female"].rename("share_of_women")
    vocabulary = set(vectors.words)
    occupations = [word for word in shares.index if word in vocabulary]
    table = bb.distance_table(vectors, {"occupations": occupations, "female": FEMALE, "male": MALE})
    fit = bb.fit(table, covariates=shares, random_seed=1, draws=1000, progress=False)
    effects = pd.DataFrame(bb.covariate_effect(fit).effects).drop(columns=["contrast", "ess_bulk", "ess_tail"])
    return effects.assign(words=len(occupations)).round(4)


def overall(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the means over cells by method, of cells with a relation and without."""
    by_method = cells.groupby(["related", "method"], sort=False)
    keys = ["vectors", "protected", "attributes", "covariate", "words", "attribute_words"]
    plain = cells[cells["method"] == "population"].set_index(keys)["width"]
    ratio = cells.set_index(keys)["width"] / plain.reindex(pd.MultiIndex.from_frame(cells[keys])).to_numpy()
    cells = cells.assign(width_ratio=ratio.to_numpy())
    table: pd.DataFrame = by_method[["coverage"]].mean()
    table.insert(0, "samples", by_method["samples"].sum())
    table.insert(0, "cells", by_method["coverage"].count())
    table["lowest coverage"] = by_method["coverage"].min()
    table["claims"] = by_method["claims"].mean()
    table["width_ratio"] = cells.groupby(["related", "method"], sort=False)["width_ratio"].median()
    return table.reset_index()


def markdown(cells: pd.DataFrame) -> str:
    """Return `overall` as a Markdown table."""
    table = overall(cells)
    lines = [
        "| relation | method | cells | tables | coverage | lowest coverage | claims | width |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in table.to_dict("records"):
        relation = "yes" if row["related"] else "no"
        slope = row["method"] in ("population", "these_words", "least squares", "two-way")
        numbers = [f"{row['coverage']:.2f}", f"{row['lowest coverage']:.2f}"]
        numbers += [f"{row['claims']:.2f}", f"{row['width_ratio']:.2f}"] if slope else ["", ""]
        lines.append(f"| {relation} | {row['method']} | {row['cells']} | {row['samples']} | {' | '.join(numbers)} |")
    return "\n".join(lines)


def given_arguments(
    description: str | None, words: list[int] | None = None
) -> tuple[tuple[Path, Path, Path], argparse.Namespace]:
    """Return the folders of the command line and its options: `words` are sizes of tables, if they can be chosen."""
    parser = argparse.ArgumentParser(description=description)
    for name in ("embeddings", "covariates", "lists"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--draws", type=int, default=500)
    if words is not None:
        parser.add_argument("--words", type=int, nargs="*", default=words)
    parser.add_argument("--output", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    return (arguments.embeddings, arguments.covariates, arguments.lists), arguments


def main() -> None:
    """Run all cells and write `garg.csv`, `cells.csv` and `run.json`."""
    folders, arguments = given_arguments(__doc__, words=[words for words, _ in SIZES])
    tables = []
    figure_1(folders).to_csv(arguments.output / "garg.csv", index=False)
    with threadpool_limits(1, "blas"):
        for size in [size for size in SIZES if size[0] in arguments.words]:
            for cell in CELLS:
                tables.append(summarise(run_cell(cell, size, folders, arguments.samples, arguments.draws)))
                pd.concat(tables, ignore_index=True).to_csv(arguments.output / "cells.csv", index=False)
                print(tables[-1].to_string(index=False, header=len(tables) == 1), flush=True)
    run = {name: vars(arguments)[name] for name in ("samples", "draws", "words")} | {"seed": SEED}
    (arguments.output / "run.json").write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
