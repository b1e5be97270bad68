"""Trial of protected groups that no contrast is about: they must not move the contrasts of others.

    python validation/groups/groups.py EMBEDDINGS [--samples 200] [--models multivariate hierarchical crossed_per_list]

EMBEDDINGS is the folder of the Google News and GloVe vectors. The vocabulary is split into halves. Both attribute lists
are drawn at random from one half, so that nothing is associated: the truth is 0, and no model makes it. Two groups of
protected words are drawn from the other half; a third one, whose words are all near to everything, is associated with
no list, or with both. README.md says what the table means.
"""

import argparse
import json
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.refits import connection_moments
from bayesbias.models.numerics.contrast_estimate import ContrastEstimate, mixture_contrasts
from bayesbias.models.quick import quick_contrasts
from bayesbias.models.spec import ModelSpec

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "real_contrasts"))
from real_vectors import unit_vectors

FOLDER = Path(__file__).resolve().parent
SEED = 20261126
MODELS = ("multivariate", "hierarchical", "crossed_per_list")
# Draws of exact posteriors, and weighted points of crossed ones.
DRAWS, POINTS = 2000, 500
WORDS, ATTRIBUTES = 8, 8
# Words of the third group are drawn from this share of the vocabulary, those that are nearest to all others.
NEAREST = 0.1
CONTRAST = "associated - different"


@dataclass(frozen=True)
class Cell:
    """What tables are drawn from.

    `third` is the third group: none (""), one without an associated list ("none"), one associated with "both" lists, or
    one without a list that is averaged in with the others, as it was formerly ("averaged in").
    """

    vectors: str
    third: str


# Groups that no contrast is about.
THIRD_GROUPS = ("", "none", "both", "averaged in")
CELLS = tuple(Cell(vectors, third) for vectors in ("google_news", "glove") for third in THIRD_GROUPS)


# Groups of unlike words: the cells of few scattered words beside many alike ones belong here.


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Unit vectors, the halves of the vocabulary for protected and attribute words, and the words near to all."""

    vectors: np.ndarray
    protected: np.ndarray
    attributes: np.ndarray
    near: np.ndarray


def vocabulary(name: str, folder: Path) -> Vocabulary:
    """Return the vocabulary of an embedding in halves."""
    words, vectors = unit_vectors(name, folder)
    usable = np.array([place for place, word in enumerate(words) if word.isalpha()])
    shuffled = np.random.default_rng([SEED, zlib.crc32(name.encode())]).permutation(usable)
    protected, attributes = np.array_split(shuffled, 2)
    nearness = vectors[protected] @ vectors[attributes].mean(axis=0)
    near = protected[nearness > np.quantile(nearness, 1 - NEAREST)]
    return Vocabulary(vectors, np.setdiff1d(protected, near), attributes, near)


def sampled_table(whole: Vocabulary, third: str, rng: np.random.Generator) -> pd.DataFrame:
    """Return a table of two groups, and of the third if there is one, and of two lists drawn at random."""
    groups = dict(zip("xyz", [*rng.permutation(whole.protected)[: 2 * WORDS].reshape(2, -1)], strict=False))
    groups["z"] = rng.permutation(whole.near)[:WORDS]
    lists = dict(zip("xy", rng.permutation(whole.attributes)[: 2 * ATTRIBUTES].reshape(2, -1), strict=True))
    if not third:
        del groups["z"]
    rows = []
    for group, words in groups.items():
        for name, members in lists.items():
            is_own = name == group or (group == "z" and third == "both")
            distances = 1 - whole.vectors[words] @ whole.vectors[members].T
            rows += [
                (f"p{word}", group, f"a{member}", name, "associated" if is_own else "different", distance)
                for word, of_word in zip(words, distances, strict=True)
                for member, distance in zip(members, of_word, strict=True)
            ]
    columns = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection"]
    return pd.DataFrame(rows, columns=[*columns, "cosine_distance"])


def estimate(data: ModelData, spec: ModelSpec, seed: int, *, averaged_in: bool = False) -> ContrastEstimate:
    """Return the contrast of words like these; with `averaged_in` over all groups, as it was formerly."""
    if averaged_in:
        sample = replace(attribute_sample(data), compared=np.ones(len(data.protected_words), dtype=bool))
        mean, covariance = connection_moments(sample, data.connections, draws=POINTS, seed=seed, priors=spec.priors)
        equal = np.full(len(covariance), 1 / len(covariance))
        means = np.tile(mean, (len(equal), 1))
        contrasts = mixture_contrasts(equal, means, covariance, data.connections, "associated")
    else:
        contrasts = quick_contrasts(data, spec, draws=DRAWS, points=POINTS, rng=np.random.default_rng(seed))
    return contrasts[CONTRAST](HDI_PROB)


def models_of(third: str, models: Sequence[str]) -> list[str]:
    """Return the models of a cell: the former averages are those of the default model."""
    return [name for name in models if third != "averaged in" or name == "multivariate"]


def run_cell(cell: Cell, folder: Path, samples: int, models: Sequence[str] = MODELS) -> pd.DataFrame:
    """Return a row for each table and model: the estimate, its sd, its claim, and what it is without a third group."""
    whole, rows = vocabulary(cell.vectors, folder), []
    specs = {name: bb.load_model(name) for name in models_of(cell.third, models)}
    for number in range(samples):
        tables = [sampled_table(whole, third, np.random.default_rng([SEED, number])) for third in (cell.third, "")]
        data, without = map(model_data, tables)
        for name, spec in specs.items():
            one = estimate(data, spec, number, averaged_in=cell.third == "averaged in")
            alone = estimate(without, spec, number)
            claim = one.reading != "not settled"
            rows.append((number, name, one.mean, one.sd, claim, (one.mean - alone.mean) / alone.sd, one.sd / alone.sd))
    return pd.DataFrame(rows, columns=["sample", "model", "mean", "sd", "claim", "shift", "sd_ratio"])


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each model: false claims, and how far the third group moves the estimate and its sd."""
    records = [
        {
            "model": model,
            "samples": len(part),
            "claims": part["claim"].mean(),
            "mean": part["mean"].mean(),
            "largest_shift_in_sd": part["shift"].abs().max(),
            "sd_ratio": part["sd_ratio"].mean(),
        }
        for model, part in rows.groupby("model", sort=False)
    ]
    return pd.DataFrame(records)


def markdown(table: pd.DataFrame) -> str:
    """Return the table of README.md."""
    header = "| third group | model | vectors | false claims | mean | largest shift in sds | sd, times that without |"
    names = {"": "absent", "none": "on no list", "both": "on both lists", "averaged in": "on no list, averaged in"}
    return "\n".join([header, "|---" * 7 + "|", *_lines(table, names)])


def _lines(table: pd.DataFrame, names: dict[str, str]) -> Iterator[str]:
    for row in table.fillna({"third": ""}).to_dict("records"):
        yield (
            f"| {names[row['third']]} | {row['model']} | {row['vectors']} | {row['claims']:.3f} | {row['mean']:+.4f} | "
            f"{row['largest_shift_in_sd']:.2f} | {row['sd_ratio']:.2f} |"
        )


def main() -> None:
    """Run all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("embeddings", type=Path)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--output", type=Path, default=FOLDER / "groups.csv")
    given = parser.parse_args()
    begin, frames = time.time(), []
    with threadpool_limits(1, "blas"):
        for cell in CELLS:
            frame = summarise(run_cell(cell, given.embeddings, given.samples, given.models))
            frame.insert(0, "third", cell.third)
            frame.insert(0, "vectors", cell.vectors)
            frames.append(frame)
            pd.concat(frames).round(4).to_csv(given.output, index=False)
            print(f"{cell}: {time.time() - begin:.0f} s", flush=True)
    settings = {"seed": SEED, "samples": given.samples, "seconds": round(time.time() - begin)}
    given.output.with_name("run.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
