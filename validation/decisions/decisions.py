"""How many of the settled questions of a family are wrong, and how many a rule decides: questions with known answers.

    python validation/decisions/decisions.py EMBEDDINGS LISTS [--families 90]

makes `questions.csv.gz` (a row a question) and `families.csv` (a row for each kind and size of family) from the
folders of `validation/real_contrasts`. README.md says what they mean.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from bayesbias.estimates.decisions import DECISION_RATE, decisions
from bayesbias.estimates.intervals import probability_of_direction
from bayesbias.models.data import model_data
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.posterior_draws import sample_list_means
from bayesbias.models.numerics.contrast_estimate import draws_interval

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "real_contrasts"))
from real_contrasts import (  # noqa: E402 - a script in another folder
    HDI_PROB,
    PRIORS,
    Cell,
    Populations,
    contrasts,
    populations,
    sampled_table,
    script_options,
)

SEED = 20261128
DRAWS = 4_000
SIZES, FAMILIES = (4, 20, 100), 400
# Kind of family -> share of its questions without an effect, if it is not that of the trial.
KINDS = {
    "own words": None,
    "own words, 0.9 no effect": 0.9,
    "own words, no effect": 1.0,
    "shared words": None,
    "words": None,
}
VECTORS = ("google_news", "glove", "bundled")
AXES = ("gender", "pc2", "pc5", "pc8")
NOISE = (0.5, 1.0, 2.0)  # of an effect; the more, the weaker
WORDS = (4, 8)  # of a group, and of a list
type Row = tuple[str, float, float, bool, bool]
"""Level, truth, probability of the sign, whether the interval leaves out 0, and whether the sign is right."""
QUESTIONS = 10  # that share their attribute words


def questions(whole: Populations, drawn_from: Populations, cell: Cell, effect: bool, seed: int) -> Iterator[Row]:
    """Yield a row for a question, and one for each of its words: the truth, and what a posterior says.

    Words are drawn from `drawn_from`; the truth is that of the lists of `whole`, 0 for a question without effect.
    """
    table, words = sampled_table(drawn_from, cell, np.random.default_rng(seed))
    data = model_data(table)
    settings = {"draws": DRAWS, "seed": seed, "priors": PRIORS, "covariances": False}
    posterior = sample_list_means(attribute_sample(data), data.connections, **settings).posterior
    overall, by_word = (posterior[name][..., 0] - posterior[name][..., 1] for name in ("connection_mean", "word_mean"))
    means = np.array([[whole.distances(group, of).mean() for of in whole.attributes] for group in drawn_from.protected])
    truth = float(contrasts(means, np.array([0, 1])).mean()) if effect else 0.0
    of_words = np.column_stack([whole.distances(words, of).mean(axis=1) for of in whole.attributes])
    truths = [truth, *contrasts(of_words, np.repeat([0, 1], cell.words))]
    samples = [overall.ravel(), *by_word.reshape(-1, len(words)).T]
    for place, (value, draws) in enumerate(zip(truths, samples, strict=True)):
        interval = draws_interval(draws, HDI_PROB)
        yield (
            "word" if place else "question",
            value,
            float(probability_of_direction(draws)),
            not interval.low <= 0 <= interval.high,
            bool(draws.mean() * value > 0),
        )


def pool(folder: Path, lists: Path, families: int) -> pd.DataFrame:
    """Return families of questions, half of them without effect: each with words of its own, and with shared ones."""
    rows: list[tuple[object, ...]] = []
    for family in range(families):
        rng = np.random.default_rng([SEED, family])
        vectors, axis = str(rng.choice(VECTORS)), str(rng.choice(AXES))
        size, attributes = int(rng.choice(WORDS)), int(rng.choice(WORDS))
        cell = Cell(vectors, axis, float(rng.choice(NOISE)), 2, size, attributes, 0)
        whole = populations(cell, folder, lists)
        few = replace(whole, attributes=[rng.permutation(of)[:attributes] for of in whole.attributes])
        for question in range(QUESTIONS):
            effect, seed = bool(rng.random() < 0.5), int(rng.integers(2**31))
            at_random = np.array_split(rng.permutation(np.concatenate(whole.protected)), 2)
            groups = whole.protected if effect else at_random
            for kind, source in (("own words", whole), ("shared words", few)):
                drawn = questions(whole, replace(source, protected=groups), cell, effect, seed)
                rows += [(kind, family, question, effect, *row) for row in drawn]
    names = ["kind", "family", "question", "effect", "level", "truth", "probability", "settled", "right"]
    return pd.DataFrame(rows, columns=names)


def families(rows: pd.DataFrame, kind: str, size: int, rng: np.random.Generator) -> Iterator[pd.DataFrame]:
    """Yield families of a size: any questions, questions that share attribute words (by tens), or words of studies."""
    level = "word" if kind == "words" else "question"
    chosen = rows[(rows["level"] == level) & ((kind == "words") | (rows["kind"] == kind.partition(",")[0]))]
    keys = ["kind", "family", "question"] if kind == "words" else ["family"]
    together = [part for _, part in chosen.groupby(keys)]
    for _ in range(FAMILIES):
        if kind.startswith("own words"):
            share = KINDS[kind]
            chance = np.ones(len(chosen)) if share is None else np.where(chosen["effect"], 1 - share, share)
            yield chosen.iloc[rng.choice(len(chosen), size, replace=False, p=chance / chance.sum())]
        else:
            drawn = pd.concat([together[place] for place in rng.permutation(len(together))[:size]])
            yield drawn.iloc[:size]


def rules(p_values: np.ndarray, decided: np.ndarray) -> dict[str, np.ndarray]:
    """Return which questions each rule decides."""
    hochberg = false_discovery_control(p_values) <= DECISION_RATE
    return {"decided": decided, "hochberg": hochberg, "bonferroni": p_values <= DECISION_RATE / len(p_values)}


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each kind and size of families: means over families, of numbers of questions."""
    rng, records = np.random.default_rng(SEED), []
    rows = rows.assign(wrong=~rows["right"] | (~rows["effect"] & (rows["level"] == "question")))
    for kind in KINDS:
        for size in SIZES:
            counts = []
            for family in families(rows, kind, size, rng):
                wrong, settled = family["wrong"].to_numpy(), family["settled"].to_numpy()
                found = decisions(family["probability"], settled, HDI_PROB)
                by_rule = rules(np.minimum(2 * (1 - family["probability"].to_numpy()) + 1 / DRAWS, 1.0), found.decided)
                count = {"settled": settled.sum(), "wrong": (settled & wrong).sum(), "stated": found.expected}
                count["within"] = found.low <= count["wrong"] <= found.high
                for rule, chosen in by_rule.items():
                    count |= {f"{rule}_right": (chosen & ~wrong).sum(), f"{rule}_wrong": (chosen & wrong).sum()}
                counts.append(count)
            records.append({"kind": kind, "size": size, **pd.DataFrame(counts).mean().round(3)})
    return pd.DataFrame(records)


if __name__ == "__main__":
    given = script_options(__doc__, FOLDER, families=90)
    frame = pool(given.embeddings, given.lists, given.families)
    frame.to_csv(given.output / "questions.csv.gz", index=False, float_format="%.6g")
    summarise(frame).to_csv(given.output / "families.csv", index=False)
