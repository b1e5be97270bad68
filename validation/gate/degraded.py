"""Can worse vectors pass the gate? Tables are drawn from large lists of real words, in vectors and in copies of them.

    python validation/gate/degraded.py EMBEDDINGS LISTS [--samples 12]

The folders are those of validation/real_gaps; EMBEDDINGS also holds the vectors that `encoders.py` makes. The truth of
a copy is that of the original, the mean of whole lists; that of an encoder that was trained further is its own.
README.md says what the tables mean.
"""

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

FOLDER = Path(__file__).resolve().parent
sys.path += [str(FOLDER), str(FOLDER.parent / "real_gaps")]

import gate as sizes  # noqa: E402 - a script in this folder
import real_gaps  # noqa: E402 - a script in another folder
from real_vectors import vectors_path  # noqa: E402 - a script in another folder

import bayesbias as bb  # noqa: E402
from bayesbias.audits.coherence import Coherence, coherence_of  # noqa: E402
from bayesbias.audits.gate import decided  # noqa: E402
from bayesbias.audits.gate_files import Baseline, Earlier  # noqa: E402
from bayesbias.audits.gate_plan import AskedQuestion, GatePlan, Region  # noqa: E402
from bayesbias.base.checks import HDI_PROB  # noqa: E402
from bayesbias.base.exit_codes import FAIL, INCOMPARABLE, PASS  # noqa: E402
from bayesbias.models.numerics.contrast_estimate import Interval, draws_interval  # noqa: E402
from bayesbias.tables.word_worths import Vocabulary  # noqa: E402

CELLS = (
    real_gaps.Cell("google_news", "gendered words, professions", 0, 2, 8, 8, 0),
    real_gaps.Cell("google_news", "professions, valence", 0, 2, 8, 8, 0),
    real_gaps.Cell("google_news", "names, gendered words", 0, 2, 15, 8, 0),
    real_gaps.Cell("glove", "professions, gendered words", 0, 2, 8, 8, 0),
    real_gaps.Cell("glove", "gendered words, valence", 0, 2, 8, 15, 0),
    real_gaps.Cell("bundled", "gendered words, professions", 0, 2, 8, 8, 0),
    real_gaps.Cell("bundled", "gendered words, valence", 0, 2, 8, 8, 0),
    real_gaps.Cell("minilm", "gendered words, professions", 0, 2, 8, 8, 0),
    real_gaps.Cell("minilm", "professions, gendered words", 0, 2, 8, 8, 0),
)
# Other vectors of the same words, by embedding and name.
OTHER_VECTORS = {
    "bundled": {"another seed": "wikipedia2018_skipgram_seed2.npz"},
    "minilm": {"CLS pooling": "minilm_cls.npz", "fine-tuned encoder": "minilm_tuned.npz"},
}
RETRAINED = ("fine-tuned encoder",)
"""Vectors whose truth is their own."""
# Distance from the edge of the region to the truth, in median posterior sds; below 0 the truth lies outside.
INSIDE = (-2, -1, -0.01, 1, 2, 3)
HARMLESS = ("original", "float16", "8 bits", "another seed", *RETRAINED)
_REFERENCE = 1200
_QUESTION = ("copy", "study", "model")
_ASKED = AskedQuestion("", "", "", "", 0)


def copies(vectors: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Yield copies of vectors, shape (words, dimensions), by name; the first is the original."""
    size, length = vectors.shape[1], np.linalg.norm(vectors, axis=1).mean()
    yield "original", vectors
    yield "float16", vectors.astype(np.float16).astype(float)
    yield "8 bits", np.round(vectors / np.abs(vectors).max() * 127)
    yield "4 bits", np.clip(np.round(vectors / np.quantile(np.abs(vectors), 0.999) * 7), -7, 7)
    centred = vectors - vectors.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, -(size // 2) :]
    yield "PCA to a half", centred @ axes
    for share in (0.2, 0.5):
        noise = rng.standard_normal(vectors.shape)
        yield f"noise, {share:g} of the length", vectors + share * length / np.sqrt(size) * noise
    direction = rng.standard_normal(size)
    for share in (0.25, 1):
        yield f"constant, {share:g} of the length", vectors + share * length * direction / np.linalg.norm(direction)
    low, high = vectors.min(), vectors.max()
    yield "8 bits without zero point", np.round((vectors - low) / (high - low) * 255)
    yield "shuffled words", rng.permutation(vectors)


def versions(name: str, folder: Path, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the copies of an embedding, and other vectors of its words; of an encoder only the latter."""
    path = vectors_path(name, folder)
    embedding = bb.load_embedding(path)
    vectors = np.asarray(embedding.vectors, dtype=float)
    every = {"original": vectors} if name == "minilm" else dict(copies(vectors, rng))
    for other, file in OTHER_VECTORS.get(name, {}).items():
        every[other] = bb.load_embedding(path.with_name(file)).matrix(embedding.words)
    return every


def true_gap(whole: real_gaps.Populations) -> float:
    """Return the contrast of whole lists."""
    means = [np.array([whole.distances(group, of).mean() for of in whole.attributes]) for group in whole.protected]
    return float(real_gaps.gaps(np.array(means), np.arange(len(means))).mean())


def unit_of(whole: real_gaps.Populations, vectors: np.ndarray) -> float:
    """Return the coherence of whole lists."""
    return coherence_of(*[[vectors[of] for of in side] for side in (whole.protected, whole.attributes)]).coherence


def outcome(draws: np.ndarray, interval: Interval, now: Coherence, before: Coherence, region: Region) -> str:
    """Return the outcome of a question that got worse than in its baseline, where nothing was associated."""
    row = {**dict(zip(("embedding", "study", "model"), _QUESTION, strict=True)), **vars(now), "r_hat": 1.0}
    row |= {"study_hash": "", "model_hash": "", "words_hash": "", "interval_includes": "", "lost_words": 0}
    row |= {"context_low": np.nan, "context_high": np.nan, "hdi_low": interval.low, "hdi_high": interval.high}
    answer = Earlier(0.0, np.zeros(10), "draws", before)
    baseline = Baseline(GatePlan(region, HDI_PROB, {_QUESTION: _ASKED}), {_QUESTION: answer})
    return str(decided(row, draws, region, HDI_PROB, baseline)["outcome"])


def run_cell(number: int, folder: Path, lists: Path, samples: int) -> pd.DataFrame:
    """Return the outcomes of samples of a cell by copy, unit and half-width of the region."""
    cell = CELLS[number]
    whole = real_gaps.populations(cell, folder, lists)
    rng = np.random.default_rng([real_gaps.SEED, number])
    reference = rng.permutation(whole.others)[:_REFERENCE]
    truth, embedding = true_gap(whole), versions(cell.vectors, folder, rng)
    unit = unit_of(whole, embedding["original"])
    rows, before, spread = [], {}, 0.0
    for name, vectors in embedding.items():
        units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        copy = replace(whole, vectors=units, vocabulary=Vocabulary.from_reference(units[reference]))
        if name in RETRAINED:
            truth, unit = true_gap(copy), unit_of(whole, vectors)
        answers = []
        for sample in range(samples):
            seed = np.random.default_rng([real_gaps.SEED, number, sample])  # the same words in each copy
            table, words = real_gaps.sampled_table(copy, cell, seed)
            members = sampled_lists(whole, cell, np.random.default_rng([real_gaps.SEED, number, sample]))
            answers.append(
                (sizes.posterior(table, sample), coherence_of(*[[vectors[of] for of in side] for side in members]))
            )
            assert np.array_equal(np.concatenate(members[0]), words)
        intervals = [draws_interval(draws, HDI_PROB) for draws, _ in answers]
        if name == "original":
            before = dict(enumerate(coherence for _, coherence in answers))
            spread = float(np.median([draws.std() for draws, _ in answers]))
        beyond = [max(abs(interval.low), abs(interval.high)) for interval in intervals]
        for standardised in (False, True):
            scale = unit if standardised else 1.0
            for inside in INSIDE:
                width = (abs(truth) + inside * spread) / scale
                if width <= 0:
                    continue
                region = Region(-width, width, standardised)
                for sample, (draws, coherence) in enumerate(answers):
                    rows.append(
                        {
                            **{"cell": number, "copy": name, "standardised": standardised, "inside": inside},
                            "outcome": outcome(draws, intervals[sample], coherence, before[sample], region),
                            "inside_raw": not standardised and beyond[sample] < width,
                        }
                    )
    return pd.DataFrame(rows)


def sampled_lists(
    whole: real_gaps.Populations, cell: real_gaps.Cell, rng: np.random.Generator
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the places of the words of `real_gaps.sampled_table`, by group and by attribute list."""
    protected = [rng.permutation(group)[: cell.words] for group in whole.protected]
    return protected, [rng.permutation(of)[:size] for of, size in zip(whole.attributes, cell.sizes(), strict=True)]


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the shares of outcomes by cell, copy, unit and distance."""
    keys = ["cell", "copy", "standardised", "inside"]
    counts = rows.groupby(keys, sort=False)["outcome"].value_counts(normalize=True).unstack(fill_value=0.0)
    counts["unchecked_pass"] = rows.groupby(keys, sort=False)["inside_raw"].mean()
    return counts.reset_index()


def tuned_cosine(folder: Path) -> float:
    """Return the mean cosine of the vectors of a word before and after fine-tuning."""
    vectors = versions("minilm", folder, np.random.default_rng())
    before, after = (
        vectors[name] / np.linalg.norm(vectors[name], axis=1)[:, None] for name in ("original", *RETRAINED)
    )
    return float((before * after).sum(axis=1).mean())


def markdown(frame: pd.DataFrame) -> str:
    """Return the table of README.md: per copy and unit, how many are compared, and how many pass or fail."""
    lines = [
        "| copy | region | compared | passes at the edge | highest | passes 1 sd outside | fails 2 sds outside | "
        "passes 3 sds inside | passes at the edge, unchecked |",
        "|---" * 9 + "|",
    ]
    for (name, standardised), part in frame.groupby(["copy", "standardised"], sort=False):
        by_distance = {inside: part[part["inside"] == inside] for inside in INSIDE}
        values = [
            1 - part.get(INCOMPARABLE, pd.Series(0.0, part.index)).mean(),
            by_distance[-0.01][PASS].mean(),
            by_distance[-0.01][PASS].max(),
        ]
        values += [by_distance[-1][PASS].mean(), by_distance[-2][FAIL].mean(), by_distance[3][PASS].mean()]
        values.append(np.nan if standardised else by_distance[-0.01]["unchecked_pass"].mean())
        texts = ["" if np.isnan(value) else f"{value:.3f}" for value in values]
        lines.append(f"| {name} | {'standardised' if standardised else 'raw'} | {' | '.join(texts)} |")
    return "\n".join(lines)


def main() -> None:
    """Run the cells, write degraded.csv and degraded.json, and print the table."""
    options = real_gaps.script_options(__doc__, FOLDER, samples=12)
    begin, frames = time.time(), []
    with threadpool_limits(1, "blas"):
        for number in range(len(CELLS)):
            frames.append(run_cell(number, options.embeddings, options.lists, options.samples))
            print(f"cell {number}: {time.time() - begin:.0f} s", flush=True)
    frame = shares(pd.concat(frames))
    frame.round(4).to_csv(options.output / "degraded.csv", index=False)
    run = {"seed": real_gaps.SEED, "samples": options.samples, "seconds": round(time.time() - begin)}
    run["tuned_cosine"] = round(tuned_cosine(options.embeddings), 3)
    (options.output / "degraded.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    print(markdown(frame))


if __name__ == "__main__":
    main()
