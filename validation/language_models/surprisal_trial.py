"""Are intervals of contrasts of surprisals right? Words and templates are drawn from models whose truth is known.

    python validation/language_models/surprisal_trial.py planted [--samples 200]
    python validation/language_models/surprisal_trial.py shared [--samples 150]

`planted` makes planted.csv from n-gram models with planted associations, `shared` makes shared.csv from the surprisals
of a masked language model in surprisals.npz (`make_surprisals.py` made it). README.md says what the tables mean.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from ngram import NGram
from scipy import stats
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.embeddings.language_models.prompts import Prompt, fill_protected
from bayesbias.errors import BayesBiasWarning

FOLDER = Path(__file__).resolve().parent
SEED = 20261128
SIZES = ((4, 4), (8, 8))  # words of a list, and templates, of a table
PLANTED = (0.0, 0.8)  # nats by which associated words are likelier

type Row = dict[str, object]


@dataclass(frozen=True, eq=False)
class Sample:
    """Words and templates that were drawn, what a model says of them, and the truth.

    - `numbers`: surprisals (templates, protected words, attribute words); the first half of the words is of the first
      list.
    - `truth`: contrast of the population these words and templates come from; `word_truth` (protected words) that of
      each word beside all attribute words in all templates.
    """

    templates: list[str]
    protected: list[str]
    attributes: list[str]
    numbers: np.ndarray
    truth: float
    word_truth: np.ndarray

    def table(self) -> pd.DataFrame:
        """Return the table of surprisals of these words, as a function's answers make it."""
        place = {
            fill_protected(template, word): self.numbers[row, column]
            for row, template in enumerate(self.templates)
            for column, word in enumerate(self.protected)
        }
        answers = {(text.before, text.after): -surprisals for text, surprisals in place.items()}
        column_of = {word: column for column, word in enumerate(self.attributes)}

        def model(prompts: list[Prompt]) -> list[list[float]]:
            return [
                [float(answers[prompt.before, prompt.after][column_of[word]]) for word in prompt.words]
                for prompt in prompts
            ]

        return bb.surprisal_table(model, study_of(self.protected, self.attributes), self.templates, progress=False)


def study_of(protected: list[str], attributes: list[str]) -> bb.Study:
    """Return a study of two groups and two lists, each a half of the words."""
    words, count = len(protected) // 2, len(attributes) // 2
    return bb.Study(
        name="trial",
        protected={"first": protected[:words], "second": protected[words:]},
        attributes={"one": attributes[:count], "other": attributes[count:]},
        associated=[("first", "one"), ("second", "other")],
        human="none",
        neutral="none",
    )


def item_contrasts(numbers: np.ndarray) -> np.ndarray:
    """Return associated minus different (templates, protected words), from surprisals by attribute word too.

    >>> item_contrasts(np.array([[[1.0, 3.0], [5.0, 6.0]]]))
    array([[-2.,  1.]])
    """
    words, count = numbers.shape[1] // 2, numbers.shape[2] // 2
    difference = numbers[:, :, :count].mean(axis=2) - numbers[:, :, count:].mean(axis=2)
    return np.concatenate([difference[:, :words], -difference[:, words:]], axis=1)


def planted_samples(planted: float, words: int, templates: int, rng: np.random.Generator) -> Iterator[Sample]:
    """Yield samples of new words and templates, in n-gram models with a planted association."""
    while True:
        model = NGram.planted(planted, words, templates, rng)
        numbers = np.array(
            [
                [
                    [-model.log_probability(template, word, choice) for choice in model.attributes]
                    for word in model.protected
                ]
                for template in model.templates
            ]
        )
        yield Sample(model.templates, model.protected, model.attributes, numbers, -planted, -planted - model.word_leans)


def shared_samples(question: str, words: int, templates: int, rng: np.random.Generator) -> Iterator[Sample]:
    """Yield samples of the words and templates of a question in ``surprisals.npz``."""
    _, protected, attributes = question.split()
    with np.load(FOLDER / "surprisals.npz") as stored:
        numbers, sentences = stored[question] * stored["step"], stored[f"templates of {attributes}"]
        lists = stored[protected], stored[attributes][:, : numbers.shape[2] // 2]
    by_word = item_contrasts(numbers).mean(axis=0)

    def some(size: int, count: int) -> np.ndarray:
        halves = [half * size + rng.choice(size, count, replace=False) for half in range(2)]
        return np.concatenate(halves)

    while True:
        rows = rng.choice(len(sentences), templates, replace=False)
        of_protected, of_attributes = some(lists[0].shape[1], words), some(lists[1].shape[1], words)
        yield Sample(
            sentences[rows].tolist(),
            lists[0].ravel()[of_protected].tolist(),
            lists[1].ravel()[of_attributes].tolist(),
            numbers[np.ix_(rows, of_protected, of_attributes)],
            float(by_word.mean()),
            by_word[of_protected],
        )


def t_interval(first: np.ndarray, second: np.ndarray) -> tuple[float, float, float]:
    """Return the mean of the means of two groups of items, its standard error and Welch's degrees of freedom."""
    squared = [items.var(ddof=1) / items.size / 4 for items in (first, second)]
    freedom = sum(squared) ** 2 / sum(
        s**2 / (items.size - 1) for s, items in zip(squared, (first, second), strict=True)
    )
    return (first.mean() + second.mean()) / 2, float(np.sqrt(sum(squared))), freedom


def mixed_model(numbers: np.ndarray) -> tuple[float, float, float]:
    """Return estimate, standard error and degrees of freedom of a mixed model of log probability ratios.

    In R: ``lmer(ratio ~ group + (1 | template) + (1 | protected_word) + (1 | pair))``, where attribute words of both
    lists are paired in order. Templates and pairs are crossed with groups and leave their difference alone. So in a
    balanced table REML has the closed form of an analysis of variance.
    """
    words, count = numbers.shape[1] // 2, numbers.shape[2] // 2
    ratios = numbers[:, :, :count] - numbers[:, :, count:]
    groups = ratios[:, :words], ratios[:, words:]
    centred = np.concatenate([ratio - ratio.mean() for ratio in groups], axis=1)
    of_words, of_templates, of_pairs = centred.mean(axis=(0, 2)), centred.mean(axis=(1, 2)), centred.mean(axis=(0, 1))
    left = centred - of_words[:, None] - of_templates[:, None, None] - of_pairs
    strata = [  # sums of squares and degrees of freedom: the residual first, then words
        (np.square(left).sum(), centred.size - 2 * words - len(numbers) - count + 2),
        (np.square(of_words).sum() * len(numbers) * count, 2 * words - 2),
        (np.square(of_templates).sum() * 2 * words * count, len(numbers) - 1),
        (np.square(of_pairs).sum() * 2 * words * len(numbers), count - 1),
    ]
    residual, terms = strata[0], strata[1:]
    while negative := [term for term in terms if term[0] / term[1] < residual[0] / residual[1]]:  # variance of 0
        residual = tuple(map(sum, zip(residual, *negative, strict=True)))
        terms = [term for term in terms if term not in negative]
    square, freedom = strata[1] if strata[1] in terms else residual
    error = np.sqrt(square / freedom * 2 / (words * len(numbers) * count)) / 2
    return (groups[0].mean() - groups[1].mean()) / 2, float(error), freedom


def row(method: str, level: str, mean: float, interval: tuple[float, float], truth: float, sd: float) -> Row:
    """Return how an interval lies to the truth."""
    low, high = interval
    return {
        "method": method,
        "level": level,
        "difference": mean - truth,
        "sd": sd,
        "width": high - low,
        "covered": low <= truth <= high,
        "claim": not low <= 0 <= high,
        "truth": truth,
    }


def plain_rows(sample: Sample) -> Iterator[Row]:
    """Yield the rows of other methods."""
    items, words = item_contrasts(sample.numbers), len(sample.protected) // 2
    for method, (mean, error, freedom) in {
        "one template": t_interval(items[0, :words], items[0, words:]),
        "t over items": t_interval(items[:, :words].ravel(), items[:, words:].ravel()),
        "mixed model": mixed_model(sample.numbers),
    }.items():
        half = float(stats.t.ppf((1 + HDI_PROB) / 2, freedom)) * error
        yield row(method, "population", mean, (mean - half, mean + half), sample.truth, error)


def model_rows(sample: Sample, seed: int) -> Iterator[Row]:
    """Yield the rows of the default model, with the error over templates and without it."""
    fit = bb.fit(sample.table(), draws=1000, chains=2, random_seed=seed, progress=False)
    words = len(sample.protected) // 2
    every = bb.contrasts(fit, level="all")
    these = bb.contrasts(fit, scope="these_words").iloc[:1]
    truths = np.concatenate(
        [
            [sample.truth, sample.word_truth[:words].mean(), sample.word_truth[words:].mean()],
            sample.word_truth,
            [sample.word_truth.mean()],
        ]
    )
    levels = ["population", *["protected_group"] * 2, *["word"] * 2 * words, "these_words"]
    for level, truth, (_, of) in zip(levels, truths, pd.concat([every, these]).iterrows(), strict=True):
        sd = float(np.hypot(of["sd"], of["context_sd"]))
        yield row("default", level, of["mean"], (of["context_low"], of["context_high"]), truth, sd)
        yield row("without templates", level, of["mean"], (of["hdi_low"], of["hdi_high"]), truth, of["sd"])


def cell(samples: Iterator[Sample], count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return a row for each method and level, over samples."""
    rows: list[Row] = []
    for _, sample in zip(range(count), samples, strict=False):
        rows += [*model_rows(sample, int(rng.integers(2**31))), *plain_rows(sample)]
    frame = pd.DataFrame(rows)
    grouped = frame.groupby(["method", "level"], sort=False)
    summary = grouped.agg(
        truth=("truth", "mean"),
        bias=("difference", "mean"),
        error=("difference", lambda values: float(np.sqrt((values**2).mean()))),
        sd=("sd", lambda values: float(np.sqrt((values**2).mean()))),
        width=("width", "median"),
        coverage=("covered", "mean"),
        claims=("claim", "mean"),
    )
    return summary.reset_index()


def run(trial: str, count: int) -> pd.DataFrame:
    """Return the cells of a trial, and write them after each."""
    draw: Callable[..., Iterator[Sample]] = planted_samples if trial == "planted" else shared_samples
    kinds = PLANTED if trial == "planted" else questions()
    path = FOLDER / f"{trial}.csv"
    cells = [pd.read_csv(path)] if path.exists() else []
    for (words, templates), kind in product(SIZES, kinds):
        setting = {"kind": kind, "words": words, "templates": templates, "tables": count}
        if any((frame[list(setting)] == pd.Series(setting)).all(axis=1).any() for frame in cells):
            continue  # a run that stopped continues
        rng = np.random.default_rng([SEED, words, templates, *str(kind).encode()])
        summary = cell(draw(kind, words, templates, rng), count, rng)
        cells.append(summary.assign(**setting)[[*setting, *summary.columns]].round(4))
        print(cells[-1].to_string(), flush=True)
        pd.concat(cells).to_csv(path, index=False)
    return pd.concat(cells)


def questions() -> tuple[str, ...]:
    """Return the questions of which surprisals are stored."""
    with np.load(FOLDER / "surprisals.npz") as stored:
        return tuple(name for name in stored.files if name.startswith("masked"))


def over_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Return coverage, claims and the size of posterior sds by method and level, over cells."""
    grouped = cells.assign(squares=cells["sd"] ** 2, errors=cells["error"] ** 2).groupby(
        ["method", "level"], sort=False
    )
    frame = grouped.agg(
        cells=("coverage", "size"),
        coverage=("coverage", "mean"),
        lowest=("coverage", "min"),
        highest=("coverage", "max"),
        squares=("squares", "mean"),
        errors=("errors", "mean"),
    )
    frame["sd_over_error"] = np.sqrt(frame.pop("squares") / frame.pop("errors"))
    return frame.reset_index()


def by_cell(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the coverage of words and templates like these by cell, a column for each method."""
    rows = cells[cells["level"] == "population"]
    columns = ["kind", "words", "templates", "truth"]
    return rows.pivot_table("coverage", columns, "method", sort=False).reset_index()


def markdown(frame: pd.DataFrame) -> str:
    """Return a frame as a Markdown table; numbers have two digits."""
    rows = [list(frame.columns), ["---"] * frame.shape[1]]
    records = frame.itertuples(index=False)
    rows += [[f"{value:.2f}" if isinstance(value, float) else str(value) for value in record] for record in records]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def main() -> None:
    """Run one trial, and write its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trial", choices=("planted", "shared"))
    parser.add_argument("--samples", type=int, default=150, help="tables of a cell")
    options = parser.parse_args()
    start = time.perf_counter()
    with threadpool_limits(1, "blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesBiasWarning)
        run(options.trial, options.samples)
    path = FOLDER / f"{options.trial}.json"
    before = json.loads(path.read_text(encoding="utf-8"))["seconds"] if path.exists() else 0.0  # of a run that stopped
    facts = {"seed": SEED, "samples": options.samples, "seconds": before + time.perf_counter() - start}
    path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
