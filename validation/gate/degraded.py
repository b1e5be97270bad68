"""Can worse vectors pass the gate? Tables are drawn from large lists of real words, in vectors and in copies of them.

    python validation/gate/degraded.py EMBEDDINGS LISTS [--samples 12]

The folders are those of validation/real_contrasts; EMBEDDINGS also holds the vectors that `encoders.py` makes. The
truth of a copy is that of the original, the mean of whole lists; that of an encoder that was trained further is its
own. README.md says what the tables mean.
"""

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

FOLDER = Path(__file__).resolve().parent
sys.path += [str(FOLDER), str(FOLDER.parent / "real_contrasts")]

import gate as sizes  # noqa: E402 - a script in this folder
import real_contrasts  # noqa: E402 - a script in another folder
from real_vectors import vectors_path  # noqa: E402 - a script in another folder

import bayesbias as bb  # noqa: E402
from bayesbias.audits.coherence import Coherence, coherence_of  # noqa: E402
from bayesbias.audits.gate_files import Baseline, Earlier  # noqa: E402
from bayesbias.audits.gate_rule import decided  # noqa: E402
from bayesbias.base.checks import HDI_PROB  # noqa: E402
from bayesbias.base.exit_codes import FAIL, INCOMPARABLE, PASS  # noqa: E402
from bayesbias.models.numerics.contrast_estimate import Interval, draws_interval  # noqa: E402
from bayesbias.reports.plans.record import AskedQuestion, PlanRecord, Region  # noqa: E402
from bayesbias.tables.word_worths import Vocabulary  # noqa: E402

CELLS = (
    real_contrasts.Cell("google_news", "gendered words, professions", 0, 2, 8, 8, 0),
    real_contrasts.Cell("google_news", "professions, valence", 0, 2, 8, 8, 0),
    real_contrasts.Cell("google_news", "names, gendered words", 0, 2, 15, 8, 0),
    real_contrasts.Cell("glove", "professions, gendered words", 0, 2, 8, 8, 0),
    real_contrasts.Cell("glove", "gendered words, valence", 0, 2, 8, 15, 0),
    real_contrasts.Cell("bundled", "gendered words, professions", 0, 2, 8, 8, 0),
    real_contrasts.Cell("bundled", "gendered words, valence", 0, 2, 8, 8, 0),
    real_contrasts.Cell("minilm", "gendered words, professions", 0, 2, 8, 8, 0),
    real_contrasts.Cell("minilm", "professions, gendered words", 0, 2, 8, 8, 0),
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
NOTHING, LESS, SAME = "nothing", "less", "the same"
"""What was associated in the baseline; less: by `LESS_SDS` median posterior sds."""
LESS_SDS, BESIDE_EDGE = 2, -1
"""Change since a baseline in which something was associated, and where the truth then lies, as in `INSIDE`."""
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


def true_contrast(whole: real_contrasts.Populations) -> float:
    """Return the contrast of whole lists."""
    means = [np.array([whole.distances(group, of).mean() for of in whole.attributes]) for group in whole.protected]
    return float(real_contrasts.contrasts(np.array(means), np.arange(len(means))).mean())


def unit_of(whole: real_contrasts.Populations, vectors: np.ndarray) -> float:
    """Return the coherence of whole lists."""
    return coherence_of(*[[vectors[of] for of in side] for side in (whole.protected, whole.attributes)]).coherence


def outcome(draws: np.ndarray, interval: Interval, now: Coherence, before: Earlier, region: Region) -> str:
    """Return the outcome of a question beside its answer in a baseline."""
    row = {**dict(zip(("embedding", "study", "model"), _QUESTION, strict=True)), **vars(now), "r_hat": 1.0}
    row |= {"study_hash": "", "model_hash": "", "words_hash": "", "interval_includes": "", "lost_words": 0}
    row |= {"context_low": np.nan, "context_high": np.nan, "hdi_low": interval.low, "hdi_high": interval.high}
    baseline = Baseline(PlanRecord(region, HDI_PROB, {_QUESTION: _ASKED}), {_QUESTION: before})
    return str(decided(row, draws, region, HDI_PROB, baseline)["outcome"])


def beside_edge(truth: float, spread: float, scale: float, *, standardised: bool) -> Region:
    """Return a one-sided region, on the side of 0: the truth lies one sd outside."""
    edge = (truth - np.sign(truth) * abs(BESIDE_EDGE) * spread) / scale
    return Region(edge, 1 / scale, standardised) if truth < 0 else Region(-1 / scale, edge, standardised)


def earlier_answer(earlier: str, draws: np.ndarray, coherence: Coherence, change: float) -> Earlier:
    """Return the answer of a baseline by what was associated there; the draws are those of the original."""
    moved = {NOTHING: np.zeros(10), LESS: draws - change, SAME: draws}[earlier]
    return Earlier(float(moved.mean()), moved, "draws", coherence)


def run_cell(number: int, folder: Path, lists: Path, samples: int) -> pd.DataFrame:
    """Return the outcomes of samples of a cell by copy, unit and half-width of the region."""
    cell = CELLS[number]
    whole = real_contrasts.populations(cell, folder, lists)
    rng = np.random.default_rng([real_contrasts.SEED, number])
    reference = rng.permutation(whole.others)[:_REFERENCE]
    truth, embedding = true_contrast(whole), versions(cell.vectors, folder, rng)
    unit = unit_of(whole, embedding["original"])
    rows: list[dict[str, Any]] = []
    before: list[tuple[np.ndarray, Coherence]] = []
    spread = 0.0
    for name, vectors in embedding.items():
        units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        copy = replace(whole, vectors=units, vocabulary=Vocabulary.from_reference(units[reference]))
        if name in RETRAINED:
            truth, unit = true_contrast(copy), unit_of(whole, vectors)
        answers = []
        for sample in range(samples):
            seed = np.random.default_rng([real_contrasts.SEED, number, sample])  # the same words in each copy
            table, words = real_contrasts.sampled_table(copy, cell, seed)
            members = sampled_lists(whole, cell, np.random.default_rng([real_contrasts.SEED, number, sample]))
            answers.append(
                (sizes.posterior(table, sample), coherence_of(*[[vectors[of] for of in side] for side in members]))
            )
            assert np.array_equal(np.concatenate(members[0]), words)
        intervals = [draws_interval(draws, HDI_PROB) for draws, _ in answers]
        if name == "original":
            before = answers
            spread = float(np.median([draws.std() for draws, _ in answers]))
        beyond = [max(abs(interval.low), abs(interval.high)) for interval in intervals]
        for standardised in (False, True):
            scale = unit if standardised else 1.0
            widths = {inside: (abs(truth) + inside * spread) / scale for inside in INSIDE}
            regions = [
                (NOTHING, inside, Region(-width, width, standardised)) for inside, width in widths.items() if width > 0
            ]
            one_sided = beside_edge(truth, spread, scale, standardised=standardised)
            regions += [(earlier, BESIDE_EDGE, one_sided) for earlier in (LESS, SAME)]
            for earlier, inside, region in regions:
                for sample, (draws, coherence) in enumerate(answers):
                    answer = earlier_answer(earlier, *before[sample], np.sign(truth) * LESS_SDS * spread)
                    rows.append(
                        {
                            **{"cell": number, "copy": name, "standardised": standardised, "inside": inside},
                            "before": earlier,
                            "outcome": outcome(draws, intervals[sample], coherence, answer, region),
                            "inside_raw": region == Region(-region.high, region.high) and beyond[sample] < region.high,
                        }
                    )
    return pd.DataFrame(rows)


def sampled_lists(
    whole: real_contrasts.Populations, cell: real_contrasts.Cell, rng: np.random.Generator
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the places of the words of `real_contrasts.sampled_table`, by group and by attribute list."""
    protected = [rng.permutation(group)[: cell.words] for group in whole.protected]
    return protected, [rng.permutation(of)[:size] for of, size in zip(whole.attributes, cell.sizes(), strict=True)]


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the shares of outcomes by cell, copy, unit and distance."""
    keys = ["cell", "copy", "standardised", "before", "inside"]
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
        "passes 3 sds inside | passes at the edge, unchecked | worse by 2 sds passes | no worse passes |",
        "|---" * 11 + "|",
    ]
    for (name, standardised), part in frame.groupby(["copy", "standardised"], sort=False):
        nothing = part[part["before"] == NOTHING]
        by_distance = {inside: nothing[nothing["inside"] == inside] for inside in INSIDE}
        values = [
            1 - nothing.get(INCOMPARABLE, pd.Series(0.0, part.index)).mean(),
            by_distance[-0.01][PASS].mean(),
            by_distance[-0.01][PASS].max(),
        ]
        values += [by_distance[-1][PASS].mean(), by_distance[-2][FAIL].mean(), by_distance[3][PASS].mean()]
        values.append(np.nan if standardised else by_distance[-0.01]["unchecked_pass"].mean())
        values += [part.loc[part["before"] == earlier, PASS].mean() for earlier in (LESS, SAME)]
        texts = ["" if np.isnan(value) else f"{value:.3f}" for value in values]
        lines.append(f"| {name} | {'standardised' if standardised else 'raw'} | {' | '.join(texts)} |")
    return "\n".join(lines)


def main() -> None:
    """Run the cells, write degraded.csv and degraded.json, and print the table."""
    options = real_contrasts.script_options(__doc__, FOLDER, samples=12)
    begin, frames = time.time(), []
    with threadpool_limits(1, "blas"):
        for number in range(len(CELLS)):
            frames.append(run_cell(number, options.embeddings, options.lists, options.samples))
            print(f"cell {number}: {time.time() - begin:.0f} s", flush=True)
    frame = shares(pd.concat(frames))
    frame.round(4).to_csv(options.output / "degraded.csv", index=False)
    run = {"seed": real_contrasts.SEED, "samples": options.samples, "seconds": round(time.time() - begin)}
    run["tuned_cosine"] = round(tuned_cosine(options.embeddings), 3)
    (options.output / "degraded.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    print(markdown(frame))


if __name__ == "__main__":
    main()
