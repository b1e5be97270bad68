"""Make the tables of this folder: how often intervals of asymmetry contain the truth.

    python validation/asymmetry/make_asymmetry.py [--worlds 6] [--studies 400] [--tables norms] [--out FOLDER]

README.md says what they mean.
"""

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from former_prior import former_prior
from worlds import WORDS, WORLDS, world

from bayesbias import asymmetry as room
from bayesbias.asymmetry.log_ratios import PairCounts, grid, pair_posteriors
from bayesbias.asymmetry.relation_means import alar
from bayesbias.base.checks import HDI_PROB

FOLDER = Path(__file__).resolve().parent
SEED = 20261123
# How strongly vectors follow people, and the degrees of freedom of heavy tails, in simulated studies.
CORRELATION, DEGREES = 0.4, 4
NORMS = [(kind, *design) for kind in WORLDS for design in ((150, 2), (150, 1), (40, 1), (10, 1))]


@dataclass(frozen=True)
class Jeffreys:
    """The prior Beta(1/2, 1/2) of P(b given a), for comparison."""

    def levels(self, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the prior masses, at one level."""
        density = logs / 2 - np.log(-np.expm1(logs)) / 2
        mass = np.exp(density - density.max())
        return mass[np.newaxis] / mass.sum(), np.ones(1)


def norms(truth: np.ndarray, participants: int, least_count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return what so many people answer, without the answers given less than `least_count` times."""
    remainder = np.maximum(1 - truth.sum(axis=1, keepdims=True), 0.0)
    counts = rng.multinomial(participants, np.concatenate([truth, remainder], axis=1))[:, :-1]
    cue, word = np.nonzero(counts >= least_count)
    names = np.array([f"w{number:03}" for number in range(WORDS)])
    return pd.DataFrame({
        "cue": names[cue], "response": names[word], "count": counts[cue, word], "participants": participants,
    })  # fmt: skip


def intervals(kind: str, participants: int, least_count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return, for each pair of one simulated set of norms, whether the intervals hold the true ratio.

    `held`, `direction` and `right` are those of the package's prior; those that begin with `before` are of the former
    prior, whose directions are independent, and `jeffreys` is of Jeffreys' prior.
    """
    truth = world(kind, rng)
    source = room.evocation(norms(truth, participants, least_count, rng), least_count=least_count)
    pairs = source.pairs(seen="either")
    ratios = room.lar(source, pairs)
    a, b = (ratios[side].str[1:].astype(int).to_numpy() for side in ("a", "b"))
    real = np.log(truth[a, b]) - np.log(truth[b, a])
    counts = PairCounts(pairs[["forward", "backward"]].to_numpy(), np.full((len(pairs), 2), participants), least_count)
    before = pair_posteriors(grid(participants), counts, former_prior(counts.counts, participants, least_count))
    usual = pair_posteriors(grid(participants), counts, Jeffreys())
    columns = {"seen": np.where((ratios["forward"] > 0) & (ratios["backward"] > 0), "both", "one")}
    means = before.moments()[0]
    every = {
        "": (ratios, ratios["lar"]),
        "before_": (before.ratio_summary(HDI_PROB), means[0] - means[1]),
        "jeffreys_": (usual.ratio_summary(HDI_PROB), ratios["lar"]),
    }
    for name, (summary, mean) in every.items():
        columns[f"{name}held"] = np.asarray((summary["hdi_low"] <= real) & (real <= summary["hdi_high"]))
        columns[f"{name}width"] = np.asarray(summary["hdi_high"] - summary["hdi_low"])
        columns[f"{name}direction"] = np.asarray(summary["probability_of_direction"])
        columns[f"{name}right"] = np.where(np.abs(mean * real) < 1e-9, 0.5, mean * real > 0)
    return pd.DataFrame(columns)


def norms_table(worlds: int, seed: int) -> pd.DataFrame:
    """Return the coverage of the intervals of LAR, and how often directions are right."""
    rows = []
    for place, (kind, participants, least) in enumerate(NORMS):
        rng = np.random.default_rng([seed, place])
        every = [intervals(kind, participants, least, rng) for _ in range(worlds)]
        for seen, part in pd.concat(every).groupby("seen"):
            by_world = [frame.loc[frame["seen"] == seen, "held"].mean() for frame in every]
            row = {
                "world": kind, "participants": participants, "least_count": least, "seen": seen, "pairs": len(part),
                "coverage": part["held"].mean(), "mc_se": np.std(by_world, ddof=1) / np.sqrt(worlds),
                "width": part["width"].median(), "before": part["before_held"].mean(),
                "before_width": part["before_width"].median(), "jeffreys": part["jeffreys_held"].mean(),
            }  # fmt: skip
            for name in ("", "before_"):
                sure = part[part[f"{name}direction"] >= 0.95]
                row |= {
                    f"{name}clear": len(sure) / len(part), f"{name}clear_said": sure[f"{name}direction"].mean(),
                    f"{name}clear_right": sure[f"{name}right"].mean(),
                }  # fmt: skip
            rows.append(row)
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
    """Return whether the intervals of one simulated set of ratios contain the truth.

    The ratio of a pair is the difference of its words' own levels, plus its own, plus the relation's mean (0.5 in the
    first of three, -0.2 and 0 in the others); people measure it with an error, and vectors follow it with a correlation
    of 0.4.
    """
    means = {"first": 0.5, "second": -0.2, "third": 0.0}
    slope, frames, others = CORRELATION, [], []
    for name, mean in means.items():
        a, b = pair_words(pairs, pairs, shared, rng)
        size = max(a.max(), b.max()) + 1

        def drawn(shape: int, heavy: bool = heavy) -> np.ndarray:
            return rng.standard_t(DEGREES, shape) / np.sqrt(2) if heavy else rng.standard_normal(shape)

        word, word_2 = drawn(size), drawn(size)
        pair_effect = (word[b] - word[a]) / 2 + drawn(len(a)) * np.sqrt(0.5)
        noise = (word_2[b] - word_2[a]) / 2 + drawn(len(a)) * np.sqrt(0.5)
        real = mean + pair_effect
        vector = slope * pair_effect + np.sqrt(1 - slope**2) * noise
        error = np.exp(rng.uniform(np.log(0.3), np.log(0.9), len(a)))
        # Posterior means given the spread of true ratios, which is 1: what `lar` gives is calibrated so.
        seen = real + error * rng.standard_normal(len(a))
        reliability = 1 / (1 + error**2)
        label = [f"{name}{number}" for number in range(size)]
        frame = pd.DataFrame(
            {"a": [label[number] for number in a], "b": [label[number] for number in b], "relation": name}
        )
        frame = frame.assign(lar=mean + reliability * (seen - mean), sd=np.sqrt(reliability) * error, left_out="")
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
        return rng.standard_t(DEGREES, size) / np.sqrt(2) if heavy else rng.standard_normal(size)

    def level() -> np.ndarray:
        return (drawn() - drawn()) / 2 + drawn() * np.sqrt(0.5)

    level_of_words = level()
    vector = CORRELATION * level_of_words + np.sqrt(1 - CORRELATION**2) * level()
    if measured:
        error = np.exp(rng.uniform(np.log(0.3), np.log(0.9), size))
        level_of_words = (level_of_words + error * rng.standard_normal(size)) / (1 + error**2)
    ranks = [column.argsort().argsort() for column in (level_of_words, vector)]
    return float(np.corrcoef(*ranks)[0, 1])


POPULATION = {heavy: _population(heavy, measured=False) for heavy in (False, True)}
OBSERVED = {heavy: _population(heavy, measured=True) for heavy in (False, True)}


def statistics_table(studies: int, seed: int) -> pd.DataFrame:
    """Return the coverage of the intervals of ALAR and CAM."""
    rows = []
    for place, (shared, pairs, heavy) in enumerate(STATISTICS):
        rng = np.random.default_rng([seed, 100 + place])
        held = pd.DataFrame([study(shared, pairs, heavy, rng) for _ in range(studies)])
        labels = {"words": "shared" if shared else "once", "pairs": pairs, "tails": "heavy" if heavy else "normal"}
        rows.append({**labels, **held.mean().to_dict(), "mc_se": float(held.sem().max())})
    return pd.DataFrame(rows)


DIFFERENCES = [(shared, pairs, slopes) for shared in (False, True) for pairs in (30, 200)
               for slopes in ((0.4, 0.4), (0.5, 0.2))]  # fmt: skip


def rank_correlation(slope: float) -> float:
    """Return Spearman's correlation of Normal variables with this correlation (Pearson 1907)."""
    return float(6 / np.pi * np.arcsin(slope / 2))


def difference(shared: bool, pairs: int, slopes: tuple[float, float], rng: np.random.Generator) -> dict[str, float]:
    """Return whether the interval of a difference of two CAMs contains the truth, with its error and sd.

    Two sources follow people's ratios with these correlations; half of the variance of their errors is common. A ratio
    is the difference of its words' own levels and something of its own.
    """
    a, b = pair_words(pairs, pairs, shared, rng)
    words = max(a.max(), b.max()) + 1

    def ratios() -> np.ndarray:
        levels = rng.standard_normal(words)
        return (levels[b] - levels[a]) / 2 + rng.standard_normal(len(a)) * np.sqrt(0.5)

    people, common, *errors = (ratios() for _ in range(4))
    labels = pd.DataFrame({"a": [f"a{word}" for word in a], "b": [f"a{word}" for word in b], "sd": 0.0})
    labels = labels.assign(probability_of_direction=1.0, left_out="")
    sources = [
        slope * people + np.sqrt((1 - slope**2) / 2) * (common + error)
        for slope, error in zip(slopes, errors, strict=True)
    ]
    row = room.cam_difference(*(labels.assign(lar=values) for values in (people, *sources))).loc[0]
    truth = rank_correlation(slopes[0]) - rank_correlation(slopes[1])
    held = row["hdi_low"] <= truth <= row["hdi_high"]
    return {"held": float(held), "error": row["difference"] - truth, "sd": row["sd"]}


def differences_table(studies: int, seed: int) -> pd.DataFrame:
    """Return the coverage of the intervals of differences of CAM."""
    rows = []
    for place, (shared, pairs, slopes) in enumerate(DIFFERENCES):
        rng = np.random.default_rng([seed, 200 + place])
        held = pd.DataFrame([difference(shared, pairs, slopes, rng) for _ in range(studies)])
        rows.append({
            "words": "shared" if shared else "once", "pairs": pairs,
            "difference": rank_correlation(slopes[0]) - rank_correlation(slopes[1]), "coverage": held["held"].mean(),
            "mc_se": held["held"].sem(), "sd_over_error": held["sd"].mean() / held["error"].std(),
        })  # fmt: skip
    return pd.DataFrame(rows)


def main() -> None:
    """Make the tables, and note how long each took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=6)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--tables", nargs="+", choices=("norms", "statistics", "differences"), default=None)
    parser.add_argument("--out", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    tables = {
        "norms": lambda: norms_table(arguments.worlds, SEED),
        "statistics": lambda: statistics_table(arguments.studies, SEED),
        "differences": lambda: differences_table(arguments.studies, SEED),
    }
    file = arguments.out / "run.json"
    run = {"seed": SEED, "worlds": arguments.worlds, "studies": arguments.studies, "seconds": {}}
    if arguments.tables and file.is_file():
        run["seconds"] = json.loads(file.read_text())["seconds"]
    for name in arguments.tables or tables:
        start = time.monotonic()
        tables[name]().to_csv(arguments.out / f"{name}.csv", index=False, float_format="%.4f")
        run["seconds"][name] = round(time.monotonic() - start)
    file.write_text(json.dumps(run, indent=2) + "\n")


if __name__ == "__main__":
    main()
