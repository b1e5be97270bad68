"""Trial of groups that spread differently: a few scattered words beside many alike ones.

    python validation/groups/spreads.py EMBEDDINGS [--samples 200]

EMBEDDINGS is the folder of the Google News and GloVe vectors. Words like those of the first group are any words of the
vocabulary, words like those of the second one are the neighbours of a word. Attribute words are drawn from the positive
and the negative opinion words of Hu and Liu (2004). The truth is the mean contrast of all words like these, to the
whole lists: no model makes it. README.md says what the table means.
"""

import argparse
import json
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.models.data import model_data
from bayesbias.models.quick import quick_contrasts

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "real_contrasts"))
from real_vectors import unit_vectors

FOLDER = Path(__file__).resolve().parent
SEED, DRAWS, POINTS = 20261126, 2000, 500
# Words like those of the alike group, and attribute words of a list.
NEIGHBOURS, ATTRIBUTES = 80, 40


@dataclass(frozen=True)
class Cell:
    """The vectors, and the numbers of scattered and of alike words."""

    vectors: str
    scattered: int
    alike: int


CELLS = tuple(Cell(name, *sizes) for name in ("google_news", "glove") for sizes in ((3, 40), (5, 20), (8, 8), (40, 40)))


def run_cell(cell: Cell, folder: Path, samples: int) -> pd.DataFrame:
    """Return a row for each table: estimate, truth, interval, and the sds of contrasts in both groups."""
    words, vectors = unit_vectors(cell.vectors, folder)
    usable = np.array([row for row, word in enumerate(words) if word.isalpha() and word == word.lower()])
    place = {words[row]: row for row in usable}
    stored = tomllib.loads(bb.bundled("data", "lists", "bing_liu.toml").read_text(encoding="utf-8"))["lists"]
    lists = [np.array([place[w] for w in stored[name] if w in place]) for name in ("positive_words", "negative_words")]
    direction = vectors[lists[0]].mean(axis=0) - vectors[lists[1]].mean(axis=0)
    others = np.setdiff1d(usable, np.concatenate(lists))
    spec, records = bb.load_model("multivariate"), []
    embedding = bb.Embedding(tuple(words), vectors, name=cell.vectors)
    for number in range(samples):
        rng = np.random.default_rng([SEED, number])
        seed = rng.choice(others)
        alike = others[np.argsort(-(vectors[others] @ vectors[seed]))[:NEIGHBOURS]]
        scattered = np.setdiff1d(others, alike)
        contrasts = [-vectors[scattered] @ direction, vectors[alike] @ direction]
        truth = np.mean([of_group.mean() for of_group in contrasts])
        chosen = [rng.permutation(scattered)[: cell.scattered], rng.permutation(alike)[: cell.alike]]
        attributes = [rng.permutation(of_list)[:ATTRIBUTES] for of_list in lists]
        study = bb.Study(
            name="spreads",
            protected={name: [words[row] for row in rows] for name, rows in zip("xy", chosen, strict=True)},
            attributes={name: [words[row] for row in rows] for name, rows in zip("pn", attributes, strict=True)},
            associated=[("x", "p"), ("y", "n")],
            human="none",
            neutral="none",
        )
        table = bb.distance_table(embedding, study)
        contrast = quick_contrasts(model_data(table), spec, draws=DRAWS, points=POINTS, rng=rng)
        one = contrast["associated - different"](HDI_PROB)
        covered = one.low <= truth <= one.high
        sds = [of_group.std() for of_group in contrasts]
        records.append(
            (number, truth, one.mean - truth, one.sd, one.high - one.low, covered, one.low > 0 or one.high < 0, *sds)
        )
    columns = ["table", "truth", "error", "sd", "width", "covered", "claims", "scattered_sd", "alike_sd"]
    return pd.DataFrame(records, columns=columns)


def summarise(rows: pd.DataFrame) -> dict[str, float]:
    """Return how the intervals of a cell fare."""
    return {
        "tables": len(rows),
        "scattered_sd": rows["scattered_sd"].mean(),
        "alike_sd": rows["alike_sd"].mean(),
        "sd_over_error": float(np.sqrt((rows["sd"] ** 2).mean() / (rows["error"] ** 2).mean())),
        "width": rows["width"].mean(),
        "coverage": rows["covered"].mean(),
        "claims": rows["claims"].mean(),
    }


def markdown(table: pd.DataFrame) -> str:
    """Return the table of README.md."""
    header = "| vectors | scattered words | alike words | sd of contrasts | coverage | sd over error | mean width |"
    lines = [header, "|---" * 7 + "|"]
    lines += [
        f"| {row['vectors']} | {row['scattered']} | {row['alike']} | {row['scattered_sd']:.3f} and "
        f"{row['alike_sd']:.3f} | {row['coverage']:.2f} | {row['sd_over_error']:.2f} | {row['width']:.3f} |"
        for row in table.to_dict("records")
    ]
    return "\n".join(lines)


def main() -> None:
    """Run all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("embeddings", type=Path)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--output", type=Path, default=FOLDER / "spreads.csv")
    given = parser.parse_args()
    begin, rows = time.time(), []
    with threadpool_limits(1, "blas"):
        for cell in CELLS:
            rows.append({**vars(cell), **summarise(run_cell(cell, given.embeddings, given.samples))})
            pd.DataFrame(rows).round(4).to_csv(given.output, index=False)
            print(f"{cell}: {time.time() - begin:.0f} s", flush=True)
    settings = {"seed": SEED, "samples": given.samples, "seconds": round(time.time() - begin)}
    given.output.with_suffix(".json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
