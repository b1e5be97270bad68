"""How many of the settled changes of a comparison are wrong: conditions and words whose true changes are known.

    python validation/decisions/settled_changes.py EMBEDDINGS [--samples 12]

makes `changes.csv`, a row for each cell and kind of family: conditions, and the words under each condition. Embeddings
and pools of real words are those of `validation/leaderboard/paired.py`; the true changes are those of whole pools.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.changes.many_changes import settled_together
from bayesbias.changes.readings import is_claim

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "leaderboard"))

from paired import (  # noqa: E402 - a script in another folder
    CELLS,
    Cell,
    Pools,
    common_words,
    lean_axis,
    made_vectors,
    pools,
    study_of,
)

SEED = 20261129
FIRST = "google"


def true_contrasts(vectors: np.ndarray, pool: Pools, places: list[np.ndarray]) -> np.ndarray:
    """Return the contrast of whole pools, then those of single words with whole lists, associated minus different."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    lists = [units[of].mean(axis=0) for of in pool.attributes]
    lean = lists[1] - lists[0]  # distance to the first list minus that to the second
    everyone = (np.mean(units[pool.protected[0]] @ lean) - np.mean(units[pool.protected[1]] @ lean)) / 2
    return np.concatenate([[everyone], units[places[0]] @ lean, -units[places[1]] @ lean])


def families(cell: Cell, folder: Path, samples: int) -> Iterator[dict[str, object]]:
    """Yield the counts of each family of changes: of conditions, and of the words under each."""
    rng = np.random.default_rng([SEED, CELLS.index(cell)])
    words, google, glove = common_words(folder)
    pool = pools(cell, words, google, rng)
    vectors = made_vectors(google, glove, lean_axis(cell, words, google), pool, rng)
    sources = {name: bb.Embedding(words=list(words), vectors=one, name=name) for name, one in vectors.items()}
    for sample in range(samples):
        places = [rng.permutation(of)[: cell.words] for of in (*pool.protected, *pool.attributes)]
        study = study_of([[words[place] for place in of] for of in places])
        tables = {name: bb.distance_table(source, study) for name, source in sources.items()}
        changes = bb.compare_embeddings(tables, random_seed=sample, progress=False).changes
        changes = changes[(changes["first"] == FIRST) & (changes["contrast"] == "associated - different")]
        truths = {name: true_contrasts(one, pool, places) for name, one in vectors.items()}
        names = [words[place] for place in np.concatenate(places[:2])]
        of_word, of_group = changes["protected_word"] != "", changes["protected_group"] != ""
        parts = {"conditions": changes[~of_word & ~of_group]}
        parts |= {name: changes[of_word & (changes["second"] == name)] for name in vectors if name != FIRST}
        for key, rows in parts.items():
            is_word = key != "conditions"
            true = [
                (truths[row.second] - truths[FIRST])[1 + names.index(row.protected_word) if is_word else 0]
                for row in rows.itertuples()
            ]
            wrong = np.sign(rows["mean"]) != np.sign(true)
            if cell.axis == "none" and not is_word:  # halves of one vocabulary: no effect
                wrong[:] = True
            settled = rows["reading"].map(is_claim)
            judged = [one.numbers for one in settled_together(rows.assign(settled=settled), HDI_PROB)]
            (numbers,) = judged or [{"expected_wrong": 0.0, "low": 0, "high": 0, "chosen": []}]
            decided = rows["protected_word" if is_word else "second"].isin(numbers["chosen"])
            count = int((settled & wrong).sum())
            yield {
                "kind": "words" if is_word else "conditions",
                "questions": int((rows["hdi_low"] < rows["hdi_high"]).sum()),
                "settled": int(settled.sum()),
                "wrong": count,
                "stated": numbers["expected_wrong"],
                "within": numbers["low"] <= count <= numbers["high"],
                "decided_right": int((decided & ~wrong).sum()),
                "decided_wrong": int((decided & wrong).sum()),
            }


def main() -> None:
    """Run all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("embeddings", type=Path)
    parser.add_argument("--samples", type=int, default=12)
    parser.add_argument("--output", type=Path, default=FOLDER)
    given = parser.parse_args()
    warnings.simplefilter("ignore", bb.errors.BayesBiasWarning)
    parts = []
    with threadpool_limits(1, "blas"):
        for cell in CELLS:
            rows = pd.DataFrame(families(cell, given.embeddings, given.samples))
            means = rows.groupby("kind", sort=False).mean().reset_index()
            parts.append(
                means.assign(axis=cell.axis, words=cell.words, families=rows.groupby("kind").size().to_numpy())
            )
            print(parts[-1].round(3).to_string(), flush=True)
            pd.concat(parts).round(3).to_csv(given.output / "changes.csv", index=False)


if __name__ == "__main__":
    main()
