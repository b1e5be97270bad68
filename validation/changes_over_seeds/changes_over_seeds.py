"""Changes over seeds: how often intervals of `bb.compare_trainings(changed=)` contain a planted change.

    python validation/changes_over_seeds/changes_over_seeds.py [--samples 400]

Each study has two tables for each of four seeds, before and after a change. Associated words move away by a planted
change; each attribute word moves by an amount of its own, the same in all seeds; each seed adds an amount, and each
pair noise. README.md says what the table means.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from bayesbias.base.checks import HDI_PROB
from bayesbias.changes.engine import changes_of_contrasts, checked_tables, paired_conditions
from bayesbias.changes.result import Estimation
from bayesbias.changes.training_spread import OverSeeds

FOLDER = Path(__file__).resolve().parent
SEED, SEEDS, DRAWS = 20261127, 4, 100
PAIR_SD = 0.01
INTERVALS = {"over seeds and words": "hdi", "over seeds alone": "seeds", "one seed": "hdi"}


@dataclass(frozen=True)
class Cell:
    """The planted change, and the standard deviations of what seeds and attribute words add to it."""

    change: float
    seed_sd: float
    word_sd: float


CELLS = (Cell(0.03, 0.015, 0.02), Cell(0.0, 0.015, 0.02), Cell(0.03, 0.003, 0.05))


def planted(rng: np.random.Generator, cell: Cell) -> tuple[list[dict[str, pd.DataFrame]], float]:
    """Return the tables of each seed before and after, and the change of the contrast of exactly these words."""
    protected = [(f"p{group}{word}", f"group{group}") for group in "ab" for word in range(5)]
    attributes = [(f"q{group}{word}", f"group{group}") for group in "ab" for word in range(10)]
    rows = [
        (*word, attribute, f"list_{of_list}", "associated" if word[1] == of_list else "different")
        for word in protected
        for attribute, of_list in attributes
    ]
    columns = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection"]
    frame = pd.DataFrame(rows, columns=columns)
    associated = (frame["connection"] == "associated").to_numpy()
    # An attribute word is associated with one group and different from the other, and moves both by half of its amount.
    amounts = {name: rng.normal(scale=cell.word_sd) for name in frame["attribute_word"].unique()}
    of_words = np.where(associated, 0.5, -0.5) * frame["attribute_word"].map(amounts).to_numpy()
    tables = []
    for _ in range(SEEDS):
        before = 0.8 + rng.normal(scale=0.05, size=len(frame))
        moved = (cell.change + rng.normal(scale=cell.seed_sd)) * associated + of_words
        after = before + moved + rng.normal(scale=PAIR_SD, size=len(frame))
        tables.append(
            {name: frame.assign(cosine_distance=values) for name, values in (("original", before), ("changed", after))}
        )
    return tables, cell.change + float(np.mean(list(amounts.values())))


def run(cell: Cell, samples: int) -> Iterator[dict[str, object]]:
    """Yield for each study and interval whether it contains the change of words like these, and of these words."""
    rng = np.random.default_rng([SEED, CELLS.index(cell)])
    for _ in range(samples):
        tables, of_these = planted(rng, cell)
        seed = int(rng.integers(2**31))
        estimation = Estimation.checked(draws=DRAWS, random_seed=seed, hdi_prob=HDI_PROB, rope=None)
        pairings = [pairing for both in tables for pairing in paired_conditions(checked_tables(both))]
        frames, draws = zip(*(changes_of_contrasts(pairing, {}, estimation) for pairing in pairings), strict=True)
        over_seeds = OverSeeds.of_changes(dict(enumerate(frames)), draws, "overall").estimates(estimation).iloc[0]
        for name, ends in INTERVALS.items():
            row = frames[0].iloc[0] if name == "one seed" else over_seeds
            low, high = row[f"{ends}_low"], row[f"{ends}_high"]
            yield {
                **vars(cell),
                "interval": name,
                "words_like_these": low <= cell.change <= high,
                "these_words": low <= of_these <= high,
                "width": high - low,
            }


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the coverage of each interval in each cell."""
    means = rows.groupby([*Cell.__annotations__, "interval"], sort=False)[
        ["words_like_these", "these_words", "width"]
    ].mean()
    return means.reset_index()


def markdown(cells: pd.DataFrame) -> str:
    """Return the table of README.md."""
    heads = ("change", "seed sd", "word sd", "interval", "words like these", "these words", "mean width")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in cells.itertuples():
        texts = [f"{number:g}" for number in (row.change, row.seed_sd, row.word_sd)]
        texts += [row.interval, f"{row.words_like_these:.2f}", f"{row.these_words:.2f}", f"{row.width:.3f}"]
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join(lines)


def main() -> None:
    """Run all cells, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--output", type=Path, default=FOLDER / "cells.csv")
    given = parser.parse_args()
    begin = time.time()
    cells = summary(pd.DataFrame(row for cell in CELLS for row in run(cell, given.samples))).round(4)
    cells.to_csv(given.output, index=False)
    settings = {"seed": SEED, "samples": given.samples, "seeds": SEEDS, "seconds": round(time.time() - begin)}
    (given.output.parent / "run.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    print(markdown(cells))


if __name__ == "__main__":
    main()
