"""Are intervals right where the words of a list depend on each other? Lists of clusters, drawn from real vectors.

    python validation/dependent_words/dependent_words.py EMBEDDINGS LISTS RELATIONS [--samples 200] [--cells 0 1 ...]

EMBEDDINGS is the folder of the Google News and GloVe vectors, of those of a sentence encoder, which `encode_words.py`
makes, and of skip-gram vectors, which `train_words.py` makes; LISTS that of lists by Bolukbasi et al. (2016), Zhao et
al. (2018) and Ravfogel et al. (2020); RELATIONS the file of EVALution 1.0 (Santus et al. 2015). The truth is the mean
over all clusters that a list could have had: no model makes it. README.md says what the table means.
"""

import argparse
import csv
import gzip
import sys
import tomllib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.errors import BayesBiasWarning, collected_warnings
from bayesbias.models.data import model_data
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.posterior_draws import sample_list_means
from bayesbias.models.numerics.contrast_estimate import draws_interval

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "real_contrasts"))

import real_contrasts  # noqa: E402 - a script in another folder
import real_vectors  # noqa: E402 - a script in another folder

SEED, DRAWS = 20261126, 1000
LEVELS = ("population", "these_words", "group", "word")
FILES = {"encoder": "minilm_words.npz", "skipgram": "skipgram_words.npz"}
# Protected words of a topic: the nearest neighbours of a word, of which a table has 8.
_TOPIC, _PROTECTED = 40, 8
_SUFFIXES = ("s", "es", "ed", "d", "ing", "er", "ers", "ly", "ness", "al", "ment")
_NEIGHBOURS = 60


@dataclass(frozen=True)
class Cell:
    """What lists are drawn from, and their size.

    `lists` is ``"random"`` (clusters of neighbours anywhere in the vocabulary), ``"inflections"``, ``"synonyms"``, or
    two lists that people made, such as ``"opinion"``; `words` are those of an attribute list, `cluster` those of a
    cluster in it, and `protected` those of a cluster of protected words. `model` is ``""`` for the default.
    """

    vectors: str
    lists: str
    words: int
    cluster: int
    protected: int = 1
    model: str = ""


def _cells() -> tuple[Cell, ...]:
    shapes = ((8, 1), (8, 2), (8, 4), (24, 1), (24, 2), (24, 4), (24, 8))
    cells = [Cell(name, "random", *shape) for name in ("google_news", "glove") for shape in shapes]
    cells += [Cell("bundled", "random", *shape) for shape in ((8, 1), (8, 2), (8, 4), (24, 1), (24, 4))]
    for name in ("google_news", "glove"):
        cells += [Cell(name, "inflections", 8, 2), Cell(name, "inflections", 12, 3), Cell(name, "inflections", 24, 3)]
        cells += [Cell(name, "synonyms", 8, 2), Cell(name, "synonyms", 24, 3)]
        cells += [Cell(name, "opinion", *shape) for shape in ((8, 1), (8, 2), (24, 1), (24, 4))]
        cells += [Cell(name, "opinion", 8, 1, protected) for protected in (2, 4)]
    cells += [Cell(name, "random", *shape) for name in LEFT_OUT[:2] for shape in shapes]
    cells += [Cell("skipgram", "inflections", 12, 3), Cell("skipgram", "opinion", 24, 4)]
    cells += [Cell(name, "gender", *shape) for name in ("encoder", "google_news") for shape in ((8, 2), (12, 4))]
    cells += [
        Cell("google_news", "random", *shape, model=model)
        for model in ("crossed_per_list", "multivariate_robust")
        for shape in ((8, 1), (8, 4))
    ]
    return tuple(cells)


LEFT_OUT = ("encoder", "skipgram", "gender")
"""The embeddings and the family of lists that were not looked at until the design was fixed."""
CELLS = _cells()


@dataclass(frozen=True, eq=False)
class Words:
    """Words of an embedding with unit vectors, the rows of their nearest neighbours, and curated lists as rows."""

    embedding: bb.Embedding
    vectors: np.ndarray
    neighbours: np.ndarray
    families: dict[str, list[list[int]]]
    lists: dict[str, list[np.ndarray]]


@lru_cache(maxsize=1)
def words_of(name: str, folder: Path, lists: Path, relations: Path) -> Words:
    """Return the lower-case words of an embedding."""
    if name in FILES:
        source = bb.load_embedding(folder / FILES[name])
        words, vectors = source.words, np.asarray(source.vectors, dtype=float)
    else:
        words, vectors = real_vectors.unit_vectors(name, folder)
    plain = [row for row, word in enumerate(words) if word.isalpha() and word == word.lower() and len(word) > 2]
    chosen_words = tuple(words[row] for row in plain)
    units = vectors[plain] / np.linalg.norm(vectors[plain], axis=1, keepdims=True)
    sample = None
    if name == "bundled":
        path = bb.bundled("data", "vectors", real_vectors.VECTORS["bundled"])
        sample = bb.load_embedding(path).vocabulary_sample
    blocks = [np.argsort(-(units[row : row + 500] @ units.T), axis=1) for row in range(0, len(units), 500)]
    place = {word: row for row, word in enumerate(chosen_words)}
    return Words(
        embedding=bb.Embedding(chosen_words, units, name=name, vocabulary_sample=sample),
        vectors=units,
        neighbours=np.concatenate([block[:, :_NEIGHBOURS] for block in blocks]),
        families={"inflections": inflections(place), "synonyms": synonyms(place, relations)},
        lists=curated(place, lists),
    )


def inflections(place: dict[str, int]) -> list[list[int]]:
    """Return families of three and more forms of a word, the stem first, as rows."""
    forms: dict[str, set[str]] = {}
    for word in place:
        for suffix in _SUFFIXES:
            stem = word.removesuffix(suffix)
            if stem != word and len(stem) >= 4:
                base = stem if stem in place else f"{stem}e"
                if base in place and base != word:
                    forms.setdefault(base, set()).add(word)
    return [[place[stem], *(place[word] for word in sorted(words))] for stem, words in forms.items() if len(words) > 1]


def synonyms(place: dict[str, int], relations: Path) -> list[list[int]]:
    """Return words with their synonyms in EVALution, as rows."""
    sets: dict[str, list[int]] = {}
    with gzip.open(relations, "rt", encoding="utf-8") as lines:
        for head, relation, tail in csv.reader(lines):
            if relation == "Synonym" and head in place and tail in place and head != tail:
                sets.setdefault(head, []).append(place[tail])
    return [[place[head], *tails] for head, tails in sets.items()]


def curated(place: dict[str, int], lists: Path) -> dict[str, list[np.ndarray]]:
    """Return pairs of lists that people made, as rows."""
    opinion = tomllib.loads(bb.bundled("data", "lists", "bing_liu.toml").read_text(encoding="utf-8"))["lists"]
    gender = [
        (lists / f"gn_glove_{sex}_word_file.txt").read_text(encoding="utf-8").split() for sex in ("male", "female")
    ]
    pairs = {"opinion": [opinion["positive_words"], opinion["negative_words"]], "gender": gender}
    return {
        name: [np.array([place[word] for word in dict.fromkeys(words) if word in place]) for words in pair]
        for name, pair in pairs.items()
    }


def near_cluster(
    words: Words, size: int, used: set[int], rng: np.random.Generator, among: np.ndarray | None
) -> list[int]:
    """Return a random word with its nearest neighbours, all new, anywhere or among some words."""
    while True:
        seed = int(rng.integers(len(words.vectors)) if among is None else rng.choice(among))
        ordered = words.neighbours[seed] if among is None else _ordered(words, among, seed)
        rows = [int(row) for row in ordered[: 4 * size + 4] if row not in used][:size]
        if seed not in used and seed in rows and len(rows) == size:
            used.update(rows)
            return rows


def _ordered(words: Words, among: np.ndarray, seed: int) -> np.ndarray:
    return np.asarray(among[np.argsort(-(words.vectors[among] @ words.vectors[seed]), kind="stable")])


def family(families: list[list[int]], size: int, used: set[int], rng: np.random.Generator) -> list[int]:
    """Return some forms or synonyms of a random word, with the word, all new."""
    while True:
        head, *others = families[int(rng.integers(len(families)))]
        others = [row for row in dict.fromkeys(others) if row not in used]
        if head not in used and len(others) >= size - 1:
            rows = [head, *map(int, rng.choice(others, size - 1, replace=False))]
            used.update(rows)
            return rows


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of protected words by group and of attribute words by list, and the weights of words in the truth.

    `attribute_weights` are those of each list's words in its mean, shape (lists, vocabulary); None if both lists come
    from one distribution. `group_weights` are those of words in the mean of words like these.
    """

    groups: list[list[int]]
    lists: list[list[int]]
    attribute_weights: np.ndarray | None
    group_weights: np.ndarray | None


@lru_cache(maxsize=8)
def list_weights(words: Words, name: str, size: int) -> np.ndarray:
    """Return the weights of words in the means over all clusters of two lists, shape (2, vocabulary)."""
    return np.stack([cluster_weights(words, among, size) for among in words.lists[name]])


def cluster_weights(words: Words, among: np.ndarray, size: int) -> np.ndarray:
    """Return the weight of each word in the mean over all clusters of a list, shape (vocabulary,)."""
    weights = np.zeros(len(words.vectors))
    for seed in among:
        weights[_ordered(words, among, int(seed))[:size]] += 1
    return weights / weights.sum()


def drawn_table(words: Words, cell: Cell, number: int) -> Table:
    """Return the words of a table of a cell."""
    rng, used = (
        np.random.default_rng([SEED, zlib.crc32(f"{cell.lists} {cell.words} {cell.cluster}".encode()), number]),
        set(),
    )
    topics = []
    for _ in range(2):
        seed = int(rng.integers(len(words.vectors)))
        topics.append(words.neighbours[seed][:_TOPIC])
    groups, group_weights = [], np.zeros((2, len(words.vectors)))
    clusters = _PROTECTED // cell.protected
    for place, topic in enumerate(topics):
        among = np.setdiff1d(topic, list(used))
        rows: list[int] = []
        for _ in range(clusters):
            rows += near_cluster(words, cell.protected, used, rng, among)
        groups.append(rows)
        group_weights[place] = cluster_weights(words, among, cell.protected)
    count, weights = cell.words // cell.cluster, None
    if cell.lists in words.families:
        families = words.families[cell.lists]
        lists = [[row for _ in range(count) for row in family(families, cell.cluster, used, rng)] for _ in range(2)]
    else:
        pair = words.lists.get(cell.lists, [None, None])
        pair = [among if among is None else np.setdiff1d(among, list(used)) for among in pair]
        lists = [
            [row for _ in range(count) for row in near_cluster(words, cell.cluster, used, rng, among)] for among in pair
        ]
        if pair[0] is not None:
            weights = list_weights(words, cell.lists, cell.cluster)  # protected words are few of these lists
    return Table(groups, lists, weights, group_weights)


def distances(words: Words, table: Table) -> pd.DataFrame:
    """Return the distance table, which `bb.distance_table` makes."""
    names = words.embedding.words
    study = bb.Study(
        name="dependent words",
        protected={f"g{place}": [names[row] for row in rows] for place, rows in enumerate(table.groups)},
        attributes={f"list{place}": [names[row] for row in rows] for place, rows in enumerate(table.lists)},
        associated=[("g0", "list0"), ("g1", "list1")],
        human="none",
        neutral="none",
    )
    return bb.distance_table(words.embedding, study)


def truths(words: Words, table: Table) -> dict[str, list[float]]:
    """Return the true contrasts: of words like these, these words, groups, and single words."""
    rows = np.concatenate(table.groups)
    if table.attribute_weights is None:
        return {"population": [0.0], "these_words": [0.0], "group": [0.0, 0.0], "word": [0.0] * len(rows)}
    difference = (table.attribute_weights[0] - table.attribute_weights[1]) @ words.vectors
    sign = np.repeat([-1.0, 1.0], [len(rows) for rows in table.groups])
    of_words = sign * (words.vectors[rows] @ difference)
    groups = [float(of_words[sign == side].mean()) for side in (-1.0, 1.0)]
    population = float(
        np.mean(
            [
                sign * (weights @ words.vectors @ difference)
                for sign, weights in zip((-1.0, 1.0), table.group_weights, strict=True)
            ]
        )
    )
    return {
        "population": [population],
        "these_words": [float(np.mean(groups))],
        "group": groups,
        "word": list(of_words),
    }


Row = tuple[str, float, float, float, float]
"""Level, estimate, sd, and the ends of the interval."""


def default_rows(frame: pd.DataFrame, seed: int) -> Iterator[Row]:
    """Yield the estimates of the default model."""
    data = model_data(frame)
    drawn = sample_list_means(
        attribute_sample(data),
        data.connections,
        draws=DRAWS,
        seed=seed,
        priors=real_contrasts.PRIORS,
        covariances=False,
    ).posterior
    population, by_word = (drawn[name][..., 0] - drawn[name][..., 1] for name in ("connection_mean", "word_mean"))
    groups = [by_word[:, data.protected_groups == group].mean(axis=1) for group in ("g0", "g1")]
    levels = [("population", population), ("these_words", np.mean(groups, axis=0))]
    levels += [("group", draws) for draws in groups] + [("word", draws) for draws in by_word.T]
    for level, draws in levels:
        interval = draws_interval(draws, HDI_PROB)
        yield level, draws.mean(), draws.std(), interval.low, interval.high


def fitted_rows(frame: pd.DataFrame, model: str, seed: int) -> Iterator[Row]:
    """Yield the estimates of another model of `bb.fit`."""
    fit = bb.fit(frame, model, draws=DRAWS // 2, chains=2, random_seed=seed, progress=False)
    for level, scope, name in (
        ("overall", "population", "population"),
        ("overall", "these_words", "these_words"),
        ("protected_group", "these_words", "group"),
        ("word", "these_words", "word"),
    ):
        for row in bb.contrasts(fit, level=level, scope=scope).to_dict("records"):
            yield name, row["mean"], row["sd"], row["hdi_low"], row["hdi_high"]


def welch_rows(words: Words, table: Table, cell: Cell) -> Iterator[tuple[str, Row]]:
    """Yield Welch's intervals of these words: from all words, and from the means of the true clusters."""
    rows = np.concatenate(table.groups)
    direction = words.vectors[rows[: len(rows) // 2]].mean(axis=0) - words.vectors[rows[len(rows) // 2 :]].mean(axis=0)
    scores = [-words.vectors[of_list] @ direction / 2 for of_list in table.lists]
    for name, size in (("plain_t", 1), ("true_clusters", cell.cluster)):
        means = [of_list.reshape(-1, size).mean(axis=1) for of_list in scores]
        if min(map(len, means)) < 2:
            continue
        variances = np.array([of_list.var(ddof=1) / len(of_list) for of_list in means])
        freedom = variances.sum() ** 2 / sum(v**2 / (len(m) - 1) for v, m in zip(variances, means, strict=True))
        contrast, error = means[0].mean() - means[1].mean(), np.sqrt(variances.sum())
        half = stats.t.ppf(0.5 + HDI_PROB / 2, freedom) * error
        yield name, ("these_words", contrast, error, contrast - half, contrast + half)


def two_way_row(words: Words, table: Table) -> tuple[str, Row]:
    """Return the observed contrast with errors clustered by both kinds of words (Cameron, Gelbach and Miller 2011).

    Student's t has the smaller number of clusters less one.
    """
    protected, attributes = np.concatenate(table.groups), np.concatenate(table.lists)
    similarities = words.vectors[protected] @ words.vectors[attributes].T
    group_of = np.repeat([0, 1], [len(rows) for rows in table.groups])
    list_of = np.repeat([0, 1], [len(rows) for rows in table.lists])
    group_means = np.stack([similarities[group_of == side].mean(axis=0) for side in (0, 1)])
    means = np.stack([group_means[:, list_of == side].mean(axis=1) for side in (0, 1)], axis=1)
    sizes = np.bincount(group_of)[:, None] * np.bincount(list_of)
    signs = np.array([[-1.0, 1.0], [1.0, -1.0]])
    weights = (signs / sizes)[np.ix_(group_of, list_of)] / 2
    scores = weights * (similarities - means[np.ix_(group_of, list_of)])
    parts = [(scores.sum(axis=1), len(protected)), (scores.sum(axis=0), len(attributes))]
    variances = [float(np.square(sums).sum()) * count / (count - 1) for sums, count in parts]
    variance = max(sum(variances) - float(np.square(scores).sum()), *variances)
    half = stats.t.ppf(0.5 + HDI_PROB / 2, min(count for _, count in parts) - 1) * np.sqrt(variance)
    contrast = float((signs * means).sum() / 2)
    return "two_way", ("population", contrast, float(np.sqrt(variance)), contrast - half, contrast + half)


def weat_p(words: Words, table: Table, rng: np.random.Generator) -> float:
    """Return WEAT's one-sided p-value: permutations of the protected words (Caliskan et al. 2017)."""
    rows = np.concatenate(table.groups)
    means = [words.vectors[rows] @ words.vectors[of_list].mean(axis=0) for of_list in table.lists]
    scores, count = means[0] - means[1], len(table.groups[0])
    orders = rng.permuted(np.tile(scores, (500, 1)), axis=1)[:, :count].sum(axis=1)
    return float((1 + (orders >= scores[:count].sum() - 1e-12).sum()) / 501)


def run_cell(cell: Cell, words: Words, samples: int) -> pd.DataFrame:
    """Return a row for each table, method and estimate of a cell."""
    records = []
    for number in range(samples):
        table = drawn_table(words, cell, number)
        with collected_warnings(BayesBiasWarning):
            frame = distances(words, table)
        data = model_data(frame)
        worth = float(attribute_sample(data).list_worths.mean()) / cell.words
        true = truths(words, table)
        estimates = fitted_rows(frame, cell.model, number) if cell.model else default_rows(frame, number)
        rows = [(cell.model or "default", row) for row in estimates]
        rows += [*welch_rows(words, table, cell), two_way_row(words, table)]
        seen: dict[tuple[str, str], int] = {}
        for method, (level, mean, sd, low, high) in rows:
            place = seen.get((method, level), 0)
            seen[method, level] = place + 1
            value = true[level][place]
            covered, claims = low <= value <= high, not low <= 0 <= high
            records.append((number, method, level, value, mean - value, sd, high - low, covered, claims, worth))
        p = weat_p(words, table, np.random.default_rng([SEED, number]))
        records.append((number, "weat", "these_words", np.nan, np.nan, np.nan, np.nan, np.nan, p < 0.05, worth))
    columns = ["table", "method", "level", "truth", "error", "sd", "width", "covered", "claims", "worth"]
    return pd.DataFrame(records, columns=columns)


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each method and level."""
    records = []
    plain = rows[rows["method"] == "plain_t"]["width"].mean()
    for (method, level), part in rows.groupby(["method", "level"], sort=False):
        by_table = part.groupby("table")[["covered", "claims"]].mean()
        records.append(
            {
                "method": method,
                "level": level,
                "tables": len(by_table),
                "worth": part["worth"].mean(),
                "sd_over_error": np.sqrt((part["sd"] ** 2).mean() / (part["error"] ** 2).mean()),
                "width_over_plain": part["width"].mean() / plain if level == "these_words" else np.nan,
                "coverage": by_table["covered"].mean(),
                "coverage_se": by_table["covered"].std() / np.sqrt(len(by_table)),
                "claims": by_table["claims"].mean(),
            }
        )
    return pd.DataFrame(records)


def markdown(cells: pd.DataFrame) -> str:
    """Return the tables of README.md: coverage by cell."""
    shown = cells[cells["model"].isna() | (cells["model"] == "")]
    lines = [
        "| vectors | lists | words | cluster | protected cluster | worth | words like these | these words | groups | "
        "single words | claims | width | plain_t | two-way | true clusters | WEAT p < .05 |",
        "|---" * 16 + "|",
    ]
    keys = ["vectors", "lists", "words", "cluster", "protected"]
    for key, part in shown.groupby(keys, sort=False):
        rows = part.set_index(["method", "level"])
        values = [f"{rows.loc[('default', level), 'coverage']:.2f}" for level in LEVELS]
        values += [f"{rows.loc[('default', 'word'), 'claims']:.2f}"]
        values += [f"{rows.loc[('default', 'these_words'), 'width_over_plain']:.2f}"]
        of_method = rows.reset_index("level", drop=True)["coverage"]
        values += [f"{of_method[method]:.2f}" for method in ("plain_t", "two_way", "true_clusters")]
        values.append(f"{rows.loc[('weat', 'these_words'), 'claims']:.2f}")
        worth = f"{key[2] * rows.loc[('default', 'these_words'), 'worth']:.1f}"
        lines.append(f"| {' | '.join([*map(str, key), worth, *values])} |")
    return "\n".join(lines)


def kind_of(row: pd.Series) -> str:
    """Return what a cell is about: independent words, clusters, large clusters, or cells that were left out."""
    if row["model"]:
        return "other models"
    if row["protected"] > 1:
        return "protected words in clusters"
    if row["cluster"] == 1:
        return "independent words"
    if row["cluster"] == 8:
        return "clusters of 8"
    if row["vectors"] == "bundled":
        return "clusters, words of studies alone"
    return "clusters, left out" if row["vectors"] in LEFT_OUT or row["lists"] in LEFT_OUT else "clusters"


def averages(cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each kind of cell: coverage of the default at all levels, and of the plain interval."""
    kinds = cells.fillna({"model": ""}).apply(kind_of, axis=1)
    records = []
    for kind, part in cells.groupby(kinds, sort=False):
        default = part[part["method"] == "default"]
        if not len(default):
            continue
        these = default[default["level"] == "these_words"]
        records.append(
            {
                "kind": kind,
                "cells": len(these),
                **{level: default[default["level"] == level]["coverage"].mean() for level in LEVELS},
                "lowest": default["coverage"].min(),
                "claims_word": default[default["level"] == "word"]["claims"].mean(),
                "width": these["width_over_plain"].mean(),
                "plain": part[part["method"] == "plain_t"]["coverage"].mean(),
                "two_way": part[part["method"] == "two_way"]["coverage"].mean(),
            }
        )
    return pd.DataFrame(records)


def averages_markdown(cells: pd.DataFrame) -> str:
    """Return the first table of README.md."""
    lines = [
        "| cells | number | words like these | these words | groups | single words | lowest | width, times Welch's | "
        "Welch's interval | two-way |",
        "|---" * 10 + "|",
    ]
    for row in averages(cells).to_dict("records"):
        values = [f"{row[name]:.2f}" for name in (*LEVELS, "lowest", "width", "plain", "two_way")]
        lines.append(f"| {' | '.join([row['kind'], str(row['cells']), *values])} |")
    return "\n".join(lines)


def findings(cells: pd.DataFrame) -> str:
    """Return the sentences of README.md on the table."""
    cells = cells.fillna({"model": ""})
    kinds = averages(cells).set_index("kind")
    default = cells[cells["method"] == "default"].assign(kind=cells.apply(kind_of, axis=1))

    def coverage(kind: str) -> str:
        row = kinds.loc[kind]
        return (
            f"{row['population']:.2f} (words like these), {row['these_words']:.2f} (these words), {row['group']:.2f} "
            f"(groups) and {row['word']:.2f} (single words)"
        )

    clusters, independent = default[default["kind"] == "clusters"], kinds.loc["independent words"]
    lowest = clusters.loc[clusters["coverage"].idxmin()]
    no_contrast = default["lists"].isin(["random", "inflections", "synonyms"]) & (default["level"] == "word")
    of_words = default[no_contrast].groupby("kind")["claims"]
    claims = default[no_contrast & default["kind"].isin(["clusters", "clusters, left out"])]["claims"]
    of_independent = default[(default["kind"] == "independent words") & (default["level"] == "these_words")]
    synonyms = default[(default["lists"] == "synonyms") & (default["level"] == "these_words")]["coverage"]
    weat = cells[(cells["method"] == "weat") & (cells["cluster"] == 4) & (cells["lists"] == "random")]["claims"]
    crossed = cells[(cells["method"] == "crossed_per_list") & (cells["level"] == "these_words")].set_index("cluster")
    of_robust = (cells["method"] == "multivariate_robust") & (cells["level"] == "these_words")
    robust = cells[of_robust].set_index("cluster")
    crowded = kinds.loc["clusters of 8"]
    lines = [
        f"**Clusters of two to four words, inflections and synonyms**: 89 % intervals contain the truth in "
        f"{coverage('clusters')} of the tables, Welch's interval over all words in "
        f"{kinds.loc['clusters', 'plain']:.2f}. The lowest cell has {lowest['coverage']:.2f}.",
        f"**Left out**: {coverage('clusters, left out')}; the lowest cell has "
        f"{kinds.loc['clusters, left out', 'lowest']:.2f}.",
        f"**Clusters of eight**, three a list: {coverage('clusters of 8')}; Welch's interval {crowded['plain']:.2f}. "
        "Three concepts say little about a list of them: take words of more concepts.",
        f"**Independent words** cost {100 * (independent['width'] - 1):.0f} % of width on average, at most "
        f"{100 * (of_independent['width_over_plain'].max() - 1):.0f} % in a cell; coverage "
        f"{coverage('independent words')}.",
        f"**Single words** are claimed in {claims.min():.2f} to {claims.max():.2f} of the cases over cells with "
        "clusters of up to four and no contrast, at a nominal 0.11, and in "
        f"{of_words.mean()['independent words']:.2f} where words are independent.",
        f"**Synonyms of EVALution** are often not alike in their vectors: {synonyms.min():.2f} to "
        f"{synonyms.max():.2f} of the intervals of these words contain the truth.",
        f"**Words of studies alone**: the bundled vectors have neighbours among 632 words only, whose likeness is "
        "seldom above chance, and what they share is found in part: "
        f"{coverage('clusters, words of studies alone')}.",
        "**Protected words in clusters**, with opinion words as attributes: "
        f"{coverage('protected words in clusters')}.",
        "**Errors clustered by both kinds of words** take an attribute word for a cluster: intervals contain the truth "
        f"in {kinds.loc['independent words', 'two_way']:.2f} of the tables of independent words, and in "
        f"{kinds.loc['clusters', 'two_way']:.2f} with clusters.",
        f"**WEAT** has p < .05 in {weat.min():.2f} to {weat.max():.2f} of the tables with clusters of four. "
        "`crossed_per_list`, which counts each word in full, has intervals with the truth in "
        f"{crossed.loc[1, 'coverage']:.2f} of the tables without clusters and {crossed.loc[4, 'coverage']:.2f} with "
        "clusters of four; `multivariate_robust`, which counts them as the default does, in "
        f"{robust.loc[1, 'coverage']:.2f} and {robust.loc[4, 'coverage']:.2f}.",
    ]
    return "\n".join(f"- {line}" for line in lines)


def main() -> None:
    """Run all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("embeddings", type=Path)
    parser.add_argument("lists", type=Path)
    parser.add_argument("relations", type=Path)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--cells", nargs="*", type=int, default=range(len(CELLS)))
    parser.add_argument("--output", type=Path, default=FOLDER / "cells.csv")
    given = parser.parse_args()

    def summary(cell: Cell) -> pd.DataFrame:
        words = words_of(cell.vectors, given.embeddings, given.lists, given.relations)
        return summarise(run_cell(cell, words, given.samples))

    settings = {"seed": SEED, "samples": given.samples, "draws": DRAWS, "left_out": list(LEFT_OUT)}
    real_contrasts.write_cells([CELLS[number] for number in given.cells], summary, given.output, settings, digits=4)


if __name__ == "__main__":
    main()
