"""Changes of contrasts and distances between two embeddings: coverage of a model of pairs and of whole vectors.

    python validation/changes/changes.py [--samples 100]

Vectors are the bundled ones. In the second embedding either a direction is removed from all vectors, or, as in
`validation/periods`, all vectors get noise and protected words lose a part of their lean. Tables of a few words are
drawn from large lists. The truth is the plain mean over the whole lists: no model makes it.
README.md says what the table means.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.changes.result import Estimation, Pairing, change_rows, contrast_rows, distance_rows
from bayesbias.estimates.intervals import shortest_interval
from bayesbias.models.periods.contrast_draws import PeriodSample
from bayesbias.models.priors import parse_prior
from bayesbias.tables.measures import CHANGE

FOLDER = Path(__file__).resolve().parent
sys.path += [str(FOLDER.parent / "periods"), str(FOLDER.parent / "real_contrasts")]

import periods  # noqa: E402 - a script in another folder
from real_vectors import gender_difference, unit_vectors, vectors_path, vocabulary_of  # noqa: E402 - a script in another folder

SEED, DRAWS, CHAINS = 20261125, 500, 4
METHODS = ("vectors", "pairs")
# With fewer words, the contrast of all words is that of the model's connection means.
_FEWEST_WORDS = 5
_COLUMNS = ("protected_word", "protected_group", "attribute_word", "attribute_group", "connection", "cosine_distance")


@dataclass(frozen=True)
class Cell:
    """What changes, and the size of the tables.

    With `removed`, the gender direction goes from all vectors, estimated with an error of that length; else `drift`,
    `spread` and `noise` are those of `validation/periods`.
    """

    words: int
    attributes: int
    removed: float = np.nan
    drift: float = 0.0
    spread: float = 0.0
    noise: float = 0.0


CELLS = (
    Cell(8, 8, removed=0.3),
    Cell(8, 15, removed=0.3),
    Cell(4, 5, removed=0.3),
    Cell(8, 8, drift=1.0, noise=0.02),
    Cell(8, 8, noise=0.3),
    Cell(15, 8, noise=0.1),
    Cell(8, 8, drift=0.5, spread=0.3, noise=0.3),
    Cell(8, 15, drift=0.5, spread=0.3, noise=0.3),
    Cell(3, 4, spread=0.5, noise=0.1),
)


def populations(cell: Cell) -> periods.Populations:
    """Return the distances of all words of a cell in both embeddings."""
    if np.isnan(cell.removed):
        drawn = {"drift": cell.drift, "spread": cell.spread, "noise": cell.noise}
        return periods.populations(periods.Cell("bundled", 2, cell.words, cell.attributes, **drawn), FOLDER)
    rng = np.random.default_rng(SEED)
    names, vectors = unit_vectors("bundled", FOLDER)
    axis = gender_difference(names, vectors)
    axis /= np.linalg.norm(axis)
    error = cell.removed / np.sqrt(len(axis)) * rng.standard_normal(len(axis))
    direction = (axis + error) / np.linalg.norm(axis + error)
    changed = vectors - (vectors @ direction)[:, None] * direction
    changed /= np.linalg.norm(changed, axis=1, keepdims=True)
    score = vectors @ axis / (vectors @ axis).std() + rng.standard_normal(len(names))
    usable = np.array([place for place, word in enumerate(names) if word.isalpha()])
    protected, attributes = (
        [half[score[half] > np.quantile(score[half], 0.9)], half[score[half] < np.quantile(score[half], 0.1)]]
        for half in np.array_split(rng.permutation(usable), 2)
    )
    words, samples = np.concatenate(protected), np.concatenate(attributes)
    group_of, list_of = (np.repeat([0, 1], list(map(len, lists))) for lists in (protected, attributes))
    return periods.Populations(
        np.stack([1 - of[samples] @ of[words].T for of in (vectors, changed)]),
        list_of,
        group_of,
        vectors[words],
        vectors[samples],
        vocabulary_of(vectors_path("bundled", FOLDER)),
    )


def by_vectors(sample: PeriodSample, seed: int) -> pd.DataFrame:
    """Return the changes of contrasts and of mean distances that `bb.compare_embeddings` has, from the sample."""
    estimation = Estimation(draws=DRAWS, seed=seed, hdi_prob=HDI_PROB)
    ends = np.array([[0, 1]])
    pairing = Pairing(sample, np.arange(2.0), ends, ends)
    changes = change_rows(pairing.draw(estimation, (0, 1)), pairing, contrast_rows({}), estimation)
    distances = [
        distance_rows(pairing.draw(estimation, (place, None)), pairing, estimation).assign(connection=connection)
        for place, connection in enumerate(sample.connections)
    ]
    of_contrasts = changes[changes["protected_group"] == ""].assign(connection="")
    return pd.concat([of_contrasts, *distances], ignore_index=True)


def by_pairs(sample: PeriodSample, seed: int) -> pd.DataFrame:
    """Return the same from a model of the differences of pairs, with effects of words and of attribute words."""
    prior = parse_prior("Normal(mu=0, sigma=0.3)")
    model = bb.load_model("crossed_per_list", priors={"connection_mean": prior})
    settings = {"draws": DRAWS, "chains": CHAINS, "random_seed": seed, "progress": False}
    posterior = bb.fit(difference_table(sample), model, **settings)["posterior"]
    overall, by_word = (
        posterior[name].transpose("chain", "draw", ..., "connection").sel(connection=list(sample.connections))
        for name in ("connection_mean", "word_mean")
    )
    words = list(map(str, posterior["protected_word"].values))
    draws = {("", name): overall.sel(connection=name).values.ravel() for name in sample.connections}
    for word in words:
        of_word = by_word.sel(protected_word=word)
        draws |= {(word, name): of_word.sel(connection=name).values.ravel() for name in sample.connections}
    first, second = sample.connections
    contrasts = {word: draws[word, first] - draws[word, second] for word in ("", *words)}
    if len(words) >= _FEWEST_WORDS:
        contrasts[""] = mean_of_words_like_these(
            np.stack([contrasts[word] for word in words]), np.random.default_rng([seed, 1])
        )
    draws |= {(word, ""): contrast for word, contrast in contrasts.items()}
    rows = [
        (word, connection, values.mean(), values.std(ddof=1), *shortest_interval(values, HDI_PROB))
        for (word, connection), values in draws.items()
    ]
    return pd.DataFrame(rows, columns=["protected_word", "connection", "mean", "sd", "hdi_low", "hdi_high"])


def difference_table(sample: PeriodSample) -> pd.DataFrame:
    """Return a table of the differences between the distances of the pairs in both embeddings."""
    attributes, words = (places.ravel() for places in np.indices(sample.distances.shape[1:]))
    lists, groups = sample.list_of[attributes], sample.group_of[words]
    labels = (
        *(np.array(sample.protected_words)[words], np.array(sample.groups)[groups]),
        *(np.array(sample.attribute_words)[attributes], np.array(sample.lists)[lists]),
        np.where(lists == groups, "associated", "different"),
    )
    differences = np.diff(sample.distances, axis=0).ravel()
    table = pd.DataFrame(dict(zip(_COLUMNS, (*labels, differences), strict=True)))
    table.attrs = {"bayesbias": {"measure": CHANGE.record(), "source": "differences"}}
    return table


def mean_of_words_like_these(contrasts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return draws of the mean contrast of words like these, from draws of each word's contrast (words, draws).

    The model treats a word's differences to both lists as independent; their spread over words is right, whatever the
    correlation: a Normal mean under a flat prior.
    """
    words = len(contrasts)
    error = contrasts.std(axis=0, ddof=1) / np.sqrt(words)
    return np.asarray(contrasts.mean(axis=0) + error * rng.standard_t(words - 1, contrasts.shape[1]))


_FRAMES = {"vectors": by_vectors, "pairs": by_pairs}


def run_cell(cell: Cell, samples: int) -> Iterator[dict[str, object]]:
    """Yield a row for each sample, method and change."""
    whole = populations(cell)
    every_contrast = periods.word_contrasts(whole.distances, whole.group_of, whole.list_of)
    changes = np.diff(every_contrast, axis=0)[0]
    truth = np.diff(periods.population_contrasts(every_contrast, whole.group_of))[0]
    means = np.stack([whole.distances[:, whole.list_of == place].mean(axis=1) for place in (0, 1)])
    in_list = np.arange(2)[:, None] == whole.group_of  # lists, words
    of_words = {
        "": changes,
        **{
            name: np.diff(means, axis=1)[:, 0][side.argmax(axis=0), np.arange(len(whole.group_of))]
            for name, side in (("associated", in_list), ("different", ~in_list))
        },
    }
    of_population = {
        name: np.mean([moved[whole.group_of == group].mean() for group in (0, 1)]) for name, moved in of_words.items()
    }
    assert np.isclose(of_population[""], truth)
    size = periods.Cell("bundled", 2, cell.words, cell.attributes, cell.drift)
    for number in range(samples):
        sample, words = periods.table_of(whole, size, np.random.default_rng([SEED, number]))
        truths = {
            (word, connection): moved
            for connection, every in of_words.items()
            for word, moved in zip(
                ("", *sample.protected_words), (of_population[connection], *every[words]), strict=True
            )
        }
        for method in METHODS:
            for row in _FRAMES[method](sample, number).to_dict("records"):
                true, low, high = truths[row["protected_word"], row["connection"]], row["hdi_low"], row["hdi_high"]
                yield {
                    "sample": number,
                    "method": method,
                    "level": "word" if row["protected_word"] else "population",
                    "quantity": "distance" if row["connection"] else "change",
                    "truth": true,
                    "error": row["mean"] - true,
                    "sd": row["sd"],
                    "covered": low <= true <= high,
                    "claims": not low <= 0 <= high,
                }


def markdown(cells: pd.DataFrame) -> str:
    """Return the table of README.md: coverage and error of each cell by both methods."""
    sizes = ["words", "attributes", "removed", "drift", "spread", "noise"]
    columns = [
        (name, level, method)
        for name in ("coverage", "error")
        for level in ("population", "word")
        for method in METHODS
    ]
    columns += [("claims", "population", method) for method in METHODS]
    wide = (
        cells[cells["quantity"] == "change"]
        .fillna({"removed": -1.0})
        .pivot(index=sizes, columns=["level", "method"], values=["coverage", "error", "claims"])
    )
    heads = [*sizes, *(f"{name}, {level}, {method}" for name, level, method in columns)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for size, row in wide.iterrows():
        texts = ["" if number < 0 else f"{number:g}" for number in size]
        texts += [f"{row[column]:.4f}" if column[0] == "error" else f"{row[column]:.2f}" for column in columns]
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join(lines)


def main() -> None:
    """Run all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--output", type=Path, default=FOLDER / "cells.csv")
    given = parser.parse_args()
    begin, frames = time.time(), []
    with threadpool_limits(1, "blas"):
        for cell in CELLS:
            summary = periods.summarise(pd.DataFrame(run_cell(cell, given.samples)))
            for place, (name, value) in enumerate(vars(cell).items()):
                summary.insert(place, name, value)
            frames.append(summary)
            print(f"{cell}: {time.time() - begin:.0f} s", flush=True)
    pd.concat(frames).round(5).to_csv(given.output, index=False)
    run = {"seed": SEED, "samples": given.samples, "draws": DRAWS * CHAINS, "seconds": round(time.time() - begin)}
    (given.output.parent / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
