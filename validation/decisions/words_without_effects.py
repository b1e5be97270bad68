"""Words of studies whose two attribute lists are random words of one vocabulary: no word leans to either list.

    python validation/decisions/words_without_effects.py

makes `words_without_effects.csv` from bundled vectors: a row for each of 160 studies, with the number of words that the
default model settles, all of them wrong, and how many are stated and decided.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.estimates.decisions import decisions

FOLDER = Path(__file__).resolve().parent
STUDIES, WORDS, SEED = 160, 8, 5


def run(number: int, vectors: bb.Embedding, common: list[str]) -> dict[str, float]:
    """Return the counts of one study, of two groups and two lists of random words."""
    drawn = np.random.default_rng([SEED, number]).choice(common, 4 * WORDS, replace=False).tolist()
    p, q, a, b = (drawn[place : place + WORDS] for place in range(0, len(drawn), WORDS))
    study = bb.Study(
        name="random",
        protected={"p": p, "q": q},
        attributes={"a": a, "b": b},
        associated=[("p", "a"), ("q", "b")],
        human="none",
        neutral="none",
    )
    fit = bb.fit(bb.distance_table(vectors, study), random_seed=number)
    rows = bb.contrasts(fit, level="word")
    settled = ((rows["hdi_high"] < 0) | (rows["hdi_low"] > 0)) & ~rows["borderline"]
    together = decisions(rows["probability_of_direction"], settled.to_numpy(), HDI_PROB)
    within = together.low <= together.settled <= together.high
    return {"study": number, "words": len(rows), **together.numbers, "within": within}


def vocabulary(vectors: bb.Embedding) -> list[str]:
    """Return the longer words of the vectors."""
    return [word for word in vectors.words if word.isalpha() and len(word) > 3]


if __name__ == "__main__":
    warnings.simplefilter("ignore", bb.errors.BayesBiasWarning)
    embedding = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    common = vocabulary(embedding)
    rows = [run(number, embedding, common) for number in range(STUDIES)]
    pd.DataFrame(rows).round(3).to_csv(FOLDER / "words_without_effects.csv", index=False)
