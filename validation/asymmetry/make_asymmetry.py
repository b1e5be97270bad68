"""Make the tables of this folder: how often intervals of asymmetry hold the truth.

    python validation/asymmetry/make_asymmetry.py [--worlds 40] [--studies 2000] [--out FOLDER]

README.md says what they mean.
"""

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from bayesbias import asymmetry as room
from bayesbias.asymmetry.ratios.alar import alar
from bayesbias.asymmetry.sources.evocation import posteriors
from bayesbias.asymmetry.sources.log_ratios import grid, ratio_summary
from bayesbias.base.checks import HDI_PROB

FOLDER = Path(__file__).resolve().parent
SEED = 20261123
WORDS, FRIENDS = 400, 30
WORLDS = {
    "zipf": "a cue's answers fall like rank ** -1.4, as in Zipf's law",
    "log-normal": "a cue's answers are log-normal, with a standard deviation of 1.5",
    "dirichlet": "a cue's answers are drawn from a Dirichlet distribution with 0.3 for each",
}
NORMS = [("zipf", 150, 2), ("zipf", 150, 1), ("zipf", 40, 1), ("zipf", 10, 1), ("log-normal", 150, 2),
         ("log-normal", 40, 1), ("dirichlet", 150, 2), ("dirichlet", 40, 1)]  # fmt: skip


@dataclass(frozen=True)
class Jeffreys:
    """The prior Beta(1/2, 1/2) of P(b given a), for comparison."""

    def log_density(self, logs: np.ndarray) -> np.ndarray:
        """Return the log density of log probabilities, but for a constant."""
        return logs / 2 - np.log(-np.expm1(logs)) / 2


def world(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return the true probabilities of answers, of shape (cues, words): words that are related are so both ways."""
    related = np.triu(rng.random((WORDS, WORDS)) < FRIENDS / WORDS, 1)
    related = related | related.T
    popular = np.log(rng.pareto(1.2, WORDS) + 0.2)
    bond = np.triu(rng.standard_normal((WORDS, WORDS)), 1)
    strength = popular + (bond + bond.T) * 0.7 + rng.standard_normal((WORDS, WORDS))
    strength = np.where(related, strength, -np.inf)
    if kind == "log-normal":
        scale = 1.5 / strength[related].std()
        weights = np.where(related, np.exp(scale * strength), 0.0)
    elif kind == "dirichlet":
        weights = np.where(related, rng.gamma(0.3, size=related.shape), 0.0)
    else:
        rank = (-strength).argsort(axis=1).argsort(axis=1) + 1
        weights = np.where(related, rank**-1.4, 0.0)
    totals = weights.sum(axis=1, keepdims=True)
    # A seventh of the answers is given to words that are no cues.
    return np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0) * 6 / 7


def norms(truth: np.ndarray, participants: int, least_count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return what so many people answer, without the answers given less than `least_count` times."""
    rest = np.maximum(1 - truth.sum(axis=1, keepdims=True), 0.0)
    counts = rng.multinomial(participants, np.concatenate([truth, rest], axis=1))[:, :-1]
    cue, word = np.nonzero(counts >= least_count)
    names = np.array([f"w{at:03}" for at in range(WORDS)])
    return pd.DataFrame({
        "cue": names[cue], "response": names[word], "count": counts[cue, word], "participants": participants,
    })  # fmt: skip


def intervals(kind: str, participants: int, least_count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return, for each pair of one simulated set of norms, whether the intervals hold the true ratio."""
    truth = world(kind, rng)
    source = room.evocation(norms(truth, participants, least_count, rng), least_count=least_count)
    pairs = source.pairs(seen="either")
    found = room.lar(source, pairs)
    a, b = (found[side].str[1:].astype(int).to_numpy() for side in ("a", "b"))
    real = np.log(truth[a, b]) - np.log(truth[b, a])
    usual = _jeffreys(pairs, participants, least_count)
    return pd.DataFrame({
        "seen": np.where((found["forward"] > 0) & (found["backward"] > 0), "both", "one"),
        "held": (found["hdi_low"] <= real) & (real <= found["hdi_high"]),
        "width": found["hdi_high"] - found["hdi_low"],
        "jeffreys": (usual["hdi_low"] <= real) & (real <= usual["hdi_high"]),
        "jeffreys_width": usual["hdi_high"] - usual["hdi_low"],
        "direction": found["probability_of_direction"],
        "right": np.where(np.abs(found["lar"] * real) < 1e-9, 0.5, found["lar"] * real > 0),
    })  # fmt: skip


def _jeffreys(pairs: pd.DataFrame, participants: int, least_count: int) -> dict[str, np.ndarray]:
    counts = np.concatenate([pairs["forward"], pairs["backward"]])
    cells = np.stack([counts, np.full(len(counts), participants)], axis=1)
    unique, row = np.unique(cells, axis=0, return_inverse=True)
    rows = row.reshape(2, -1)
    sides = [posteriors(grid(participants), unique, side, least_count, Jeffreys()) for side in rows]
    return ratio_summary(*sides, HDI_PROB)


def norms_table(worlds: int, seed: int) -> pd.DataFrame:
    """Return the coverage of the intervals of LAR, and how often directions are right."""
    rows = []
    for at, (kind, participants, least) in enumerate(NORMS):
        rng = np.random.default_rng([seed, at])
        every = [intervals(kind, participants, least, rng) for _ in range(worlds)]
        whole = pd.concat(every)
        for seen, part in whole.groupby("seen"):
            by_world = [frame.loc[frame["seen"] == seen, "held"].mean() for frame in every]
            sure = part[part["direction"] >= 0.95]
            rows.append({
                "world": kind, "participants": participants, "least_count": least, "seen": seen, "pairs": len(part),
                "coverage": part["held"].mean(), "mc_se": np.std(by_world, ddof=1) / np.sqrt(worlds),
                "width": part["width"].median(), "jeffreys": part["jeffreys"].mean(),
                "jeffreys_width": part["jeffreys_width"].median(),
                "said": part["direction"].mean(), "right": part["right"].mean(),
                "clear": len(sure) / len(part), "clear_said": sure["direction"].mean(),
                "clear_right": sure["right"].mean(),
            })  # fmt: skip
    return pd.DataFrame(rows)


def pair_words(words: int, pairs: int, shared: bool, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the words of pairs: drawn with popularity, so that some are in many pairs; or each word once."""
    if not shared:
        return np.arange(pairs), np.arange(pairs) + pairs
    popularity = 1 / (np.arange(words) + 3.0)
    drawn = rng.choice(words, (4 * pairs, 2), p=popularity / popularity.sum())
    drawn = np.unique(drawn[drawn[:, 0] < drawn[:, 1]], axis=0)
    a, b = drawn[rng.permutation(len(drawn))[:pairs]].T
    return a, b


STATISTICS = [(shared, pairs, heavy) for shared in (False, True) for pairs in (30, 200) for heavy in (False, True)]


def study(shared: bool, pairs: int, heavy: bool, rng: np.random.Generator) -> dict[str, bool]:
    """Return whether the intervals of one simulated set of ratios hold the truth.

    The ratio of a pair is the difference of its words' own levels, plus its own, plus the relation's mean (0.5 in the
    first of three, -0.2 and 0 in the others); people measure it with an error, and vectors follow it with a correlation
    of 0.4.
    """
    means = {"first": 0.5, "second": -0.2, "third": 0.0}
    slope, frames, others = 0.4, [], []
    for name, mean in means.items():
        a, b = pair_words(pairs, pairs, shared, rng)
        size = max(a.max(), b.max()) + 1

        def drawn(shape: int, heavy: bool = heavy) -> np.ndarray:
            return rng.standard_t(4, shape) / np.sqrt(2) if heavy else rng.standard_normal(shape)

        word, word_2 = drawn(size), drawn(size)
        own = (word[b] - word[a]) / 2 + drawn(len(a)) * np.sqrt(0.5)
        noise = (word_2[b] - word_2[a]) / 2 + drawn(len(a)) * np.sqrt(0.5)
        real = mean + own
        vector = slope * own + np.sqrt(1 - slope**2) * noise
        error = np.exp(rng.uniform(np.log(0.3), np.log(0.9), len(a)))
        # Posterior means given the spread of true ratios, which is 1: what `lar` gives is calibrated so.
        seen = real + error * rng.standard_normal(len(a))
        kept = 1 / (1 + error**2)
        label = [f"{name}{at}" for at in range(size)]
        frame = pd.DataFrame({"a": [label[at] for at in a], "b": [label[at] for at in b], "relation": name})
        frame = frame.assign(lar=mean + kept * (seen - mean), sd=np.sqrt(kept) * error, left_out="")
        frames.append(frame.assign(probability_of_direction=0.9))
        others.append(frame.assign(lar=vector, sd=0.0, probability_of_direction=1.0))
    people, vectors = pd.concat(frames), pd.concat(others)
    plain = alar(people, pooled=False, draws=1000, random_seed=int(rng.integers(2**32)))
    pooled = alar(people, draws=1000, random_seed=int(rng.integers(2**32)))
    agreed = room.cam(people, vectors).iloc[:3]
    held = {}
    for name, frame in (("alar", plain), ("alar_pooled", pooled)):
        truths = frame["relation"].map(means)
        held[name] = float(((frame["hdi_low"] <= truths) & (truths <= frame["hdi_high"])).mean())
    # Spearman's correlation of Normal columns with this product-moment correlation; of heavy ones by simulation.
    real_cam = POPULATION[heavy]
    held["cam_corrected"] = float(
        ((agreed["cam_corrected_low"] <= real_cam) & (real_cam <= agreed["cam_corrected_high"])).mean()
    )
    observed = OBSERVED[heavy]
    held["cam"] = float(((agreed["hdi_low"] <= observed) & (observed <= agreed["hdi_high"])).mean())
    return held


def _population(heavy: bool, measured: bool, seed: int = 1, size: int = 2_000_000) -> float:
    """Return Spearman's correlation of endlessly many pairs without words in common."""
    rng = np.random.default_rng(seed)

    def drawn() -> np.ndarray:
        return rng.standard_t(4, size) / np.sqrt(2) if heavy else rng.standard_normal(size)

    def level() -> np.ndarray:
        return (drawn() - drawn()) / 2 + drawn() * np.sqrt(0.5)

    own = level()
    vector = 0.4 * own + np.sqrt(1 - 0.4**2) * level()
    if measured:
        error = np.exp(rng.uniform(np.log(0.3), np.log(0.9), size))
        own = (own + error * rng.standard_normal(size)) / (1 + error**2)
    ranks = [column.argsort().argsort() for column in (own, vector)]
    return float(np.corrcoef(*ranks)[0, 1])


POPULATION = {heavy: _population(heavy, measured=False) for heavy in (False, True)}
OBSERVED = {heavy: _population(heavy, measured=True) for heavy in (False, True)}


def statistics_table(studies: int, seed: int) -> pd.DataFrame:
    """Return the coverage of the intervals of ALAR and CAM."""
    rows = []
    for at, (shared, pairs, heavy) in enumerate(STATISTICS):
        rng = np.random.default_rng([seed, 100 + at])
        held = pd.DataFrame([study(shared, pairs, heavy, rng) for _ in range(studies)])
        labels = {"words": "shared" if shared else "once", "pairs": pairs, "tails": "heavy" if heavy else "normal"}
        rows.append({**labels, **held.mean().to_dict(), "mc_se": float(held.sem().max())})
    return pd.DataFrame(rows)


def main() -> None:
    """Make both tables, and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--out", type=Path, default=FOLDER)
    asked = parser.parse_args()
    start = time.monotonic()
    norms_table(asked.worlds, SEED).to_csv(asked.out / "norms.csv", index=False, float_format="%.4f")
    statistics_table(asked.studies, SEED).to_csv(asked.out / "statistics.csv", index=False, float_format="%.4f")
    run = {"seed": SEED, "worlds": asked.worlds, "studies": asked.studies, "seconds": round(time.monotonic() - start)}
    (asked.out / "run.json").write_text(json.dumps(run, indent=2) + "\n")


if __name__ == "__main__":
    main()
