"""Trial of factorial effects: what is planted in real vectors, and where nothing is.

    python validation/factors/factors.py [--samples 50]

The vectors are the bundled ones (Wikipedia 2018, skip-gram), the words of the studies and the random words of their
vocabulary. One half is the population of protected words, the other that of attribute words, split along its first
principal component into those near one end (A) and those near the other (B). Each sample draws the groups of four or
six cells from the protected half and two lists from A and B, and shifts the vectors of each cell along the component.
The truth is that of all words: the mean lean of the whole protected half, shifted as the cell is, to the whole of A and
B. No model makes it. README.md says what the table means.
"""

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.estimates.intervals import is_settled
from bayesbias.studies.factor_design import INTERACTION, MAIN, FactorEffect, crossing_of, effects_of

FOLDER = Path(__file__).resolve().parent
SEED = 20261129
ATTRIBUTES, DRAWS = 12, 250
SHIFT = 0.25
"""Size of a planted shift, of unit vectors, along the component."""
# Samples of leans without fits, for the sd that intervals should have.
UNFITTED = 4000
AGES = {"l0": 20.0, "l1": 30.0, "l2": 70.0}


@dataclass(frozen=True)
class Scenario:
    """Shifts of the cells along the component, in units of `SHIFT`, and the numbers of words of the cells."""

    name: str
    sizes: str
    shape: tuple[int, int]
    shifts: tuple[float, ...]
    words: tuple[int, ...]

    @property
    def times(self) -> int:
        """How many times as many samples the scenario has: twice where nothing is planted."""
        return 1 if any(self.shifts) else 2

    @property
    def factors(self) -> dict[str, dict[str, list[str]]]:
        """The factors of the study, with groups g0, g1, ... in the order of the cells."""
        cells = list(product(*map(range, self.shape)))
        return {
            factor: {
                f"l{level}": [f"g{place}" for place, cell in enumerate(cells) if cell[side] == level]
                for level in range(self.shape[side])
            }
            for side, factor in enumerate(("first", "second"))
        }

    @property
    def trends(self) -> dict[str, dict[str, float]]:
        """The numbers of an ordered factor of three levels."""
        return {"first": AGES} if self.shape[0] == len(AGES) else {}

    @property
    def effects(self) -> list[FactorEffect]:
        """The effects that are judged: one for each source."""
        effects = effects_of(crossing_of(self.factors, self.trends))
        chosen = {effect.source: effect for effect in reversed(effects) if effect.kind in (MAIN, INTERACTION)}
        return list(reversed(chosen.values()))


_AGE_SHIFTS = tuple(float(shift) for shift in np.repeat([-0.4, -0.2, 0.6], 2))
_PLANTED = {
    "nothing": (0.0, 0.0, 0.0, 0.0),
    "one main effect": (0.5, 0.5, -0.5, -0.5),
    "interaction alone": (0.5, -0.5, -0.5, 0.5),
    "one cell apart": (1.0, 0.0, 0.0, 0.0),
}
_SIZES = {"equal": (8, 8, 8, 8), "unequal": (3, 8, 8, 20)}
SCENARIOS = (
    *(Scenario(name, "equal", (2, 2), shifts, _SIZES["equal"]) for name, shifts in _PLANTED.items()),
    *(Scenario(name, "unequal", (2, 2), _PLANTED[name], _SIZES["unequal"]) for name in ("nothing", "one cell apart")),
    Scenario("a trend with age", "equal", (3, 2), _AGE_SHIFTS, (8,) * 6),
)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Unit vectors: of protected words, of the attribute words A and B; and the component, a unit vector."""

    protected: np.ndarray
    near: np.ndarray
    far: np.ndarray
    component: np.ndarray

    def leans(self, shift: float) -> np.ndarray:
        """Return the lean of every protected word to the whole of A and B, when it is shifted."""
        shifted = moved(self.protected, shift * SHIFT * self.component)
        return np.asarray(shifted @ (self.far.mean(axis=0) - self.near.mean(axis=0)))


def moved(vectors: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Return unit vectors that are shifted, as unit vectors."""
    shifted = vectors + by
    return np.asarray(shifted / np.linalg.norm(shifted, axis=1, keepdims=True))


def vocabulary() -> Vocabulary:
    """Return the words of the bundled vectors in halves."""
    with np.load(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), allow_pickle=False) as stored:
        arrays = [stored[name] for name in stored.files if stored[name].ndim == 2]
    vectors = moved(np.concatenate(arrays).astype(float), np.zeros(arrays[0].shape[1]))
    protected, attributes = np.array_split(np.random.default_rng(SEED).permutation(vectors), 2)
    component = np.linalg.svd(attributes - attributes.mean(axis=0), full_matrices=False)[2][0]
    places = attributes @ component
    above = places > np.median(places)
    return Vocabulary(protected, attributes[above], attributes[~above], component)


@dataclass(frozen=True, eq=False)
class Sample:
    """The places of the words of each cell, and of both lists, in their populations."""

    cells: list[np.ndarray]
    near: np.ndarray
    far: np.ndarray


def drawn(scenario: Scenario, whole: Vocabulary, rng: np.random.Generator) -> Sample:
    """Draw the words of a sample."""
    places = rng.permutation(len(whole.protected))[: sum(scenario.words)]
    near, far = (rng.permutation(len(side))[:ATTRIBUTES] for side in (whole.near, whole.far))
    return Sample(np.split(places, np.cumsum(scenario.words)[:-1]), near, far)


def shifted_cells(scenario: Scenario, whole: Vocabulary, sample: Sample) -> list[np.ndarray]:
    """Return the vectors of the words of each cell."""
    return [
        moved(whole.protected[members], shift * SHIFT * whole.component)
        for members, shift in zip(sample.cells, scenario.shifts, strict=True)
    ]


def sampling_sds(scenario: Scenario, whole: Vocabulary, samples: int = UNFITTED) -> np.ndarray:
    """Return the sd of the plain contrast of each effect over samples of words of both kinds."""
    contrasts = np.stack([effect.weights for effect in scenario.effects])
    values = []
    for number in range(samples):
        sample = drawn(scenario, whole, np.random.default_rng([SEED, 1, number]))
        lean = whole.far[sample.far].mean(axis=0) - whole.near[sample.near].mean(axis=0)
        values.append([(vectors @ lean).mean() for vectors in shifted_cells(scenario, whole, sample)])
    return np.asarray((np.array(values) @ contrasts.T).std(axis=0))


def run_sample(scenario: Scenario, whole: Vocabulary, number: int) -> list[dict[str, object]]:
    """Return a row for each effect: its intervals for both scopes, and the truth."""
    sample = drawn(scenario, whole, np.random.default_rng([SEED, number]))
    vectors = {f"a{place}": whole.near[place] for place in sample.near}
    vectors |= {f"b{place}": whole.far[place] for place in sample.far}
    lists = {name: [word for word in vectors if word[0] == name] for name in ("a", "b")}
    groups = {}
    for cell, shifted in enumerate(shifted_cells(scenario, whole, sample)):
        groups[f"g{cell}"] = [f"p{place}" for place in sample.cells[cell]]
        vectors |= dict(zip(groups[f"g{cell}"], shifted, strict=True))
    study = bb.Study(
        name="planted",
        protected=groups,
        attributes=lists,
        associated=[(group, "a") for group in groups],
        human="none",
        neutral="none",
        factors=scenario.factors,
        trends=scenario.trends,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = bb.fit(bb.distance_table(vectors, study), draws=DRAWS, random_seed=number, progress=False)
    frame = bb.factor_effects(fit).effects
    of_all = [whole.leans(shift) for shift in scenario.shifts]
    population = np.array([leans.mean() for leans in of_all])
    these = np.array([leans[members].mean() for leans, members in zip(of_all, sample.cells, strict=True)])
    rows = []
    for effect in scenario.effects:
        of_effect = (frame["source"] == effect.source) & (frame["effect"] == effect.name) & (frame["within"] == "")
        row = frame[of_effect].iloc[0]
        rows.append(
            {
                "source": effect.source if not scenario.trends else effect.source.replace("first", "trend"),
                "truth": effect.weights @ population,
                "truth_these": effect.weights @ these,
                **{name: row[name] for name in ("mean", "hdi_low", "hdi_high", "these_words_low", "these_words_high")},
            }
        )
    return rows


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each source: coverage in both scopes, and the share of settled effects."""
    records = []
    for source, part in rows.groupby("source", sort=False):
        inside = (part["hdi_low"] <= part["truth"]) & (part["truth"] <= part["hdi_high"])
        same = part["truth_these"].between(part["these_words_low"], part["these_words_high"])
        settled = [is_settled(low, high) for low, high in zip(part["hdi_low"], part["hdi_high"], strict=True)]
        ends = zip(part["these_words_low"], part["these_words_high"], strict=True)
        records.append(
            {
                "source": source,
                "samples": len(part),
                "truth": part["truth"].iloc[0],
                "mean": part["mean"].mean(),
                "coverage": inside.mean(),
                "coverage_these": same.mean(),
                "width": (part["hdi_high"] - part["hdi_low"]).mean(),
                "settled": np.mean(settled),
                "settled_these": np.mean([is_settled(*one) for one in ends]),
            }
        )
    return pd.DataFrame(records)


def width_ratios(frame: pd.DataFrame, sds: np.ndarray) -> pd.Series:
    """Return mean widths beside those of Normal intervals with the sds that the effects have over samples."""
    return frame["width"] / (2 * norm.ppf((1 + HDI_PROB) / 2) * sds)


def markdown(table: pd.DataFrame) -> str:
    """Return the table of README.md."""
    lines = [
        "| planted | words of cells | source | truth | mean estimate | coverage, like these | coverage, these "
        "| mean width | width, times what it should be | settled |",
        "|---" * 10 + "|",
    ]
    for row in table.to_dict("records"):
        truth = "0" if abs(row["truth"]) < 5e-4 else f"{row['truth']:+.3f}"
        lines.append(
            f"| {row['planted']} | {row['sizes']} | {row['source']} | {truth} | {row['mean']:+.3f} | "
            f"{row['coverage']:.2f} | {row['coverage_these']:.2f} | {row['width']:.3f} | "
            f"{row['width_ratio']:.2f} | {row['settled']:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run all scenarios and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--output", type=Path, default=FOLDER / "factors.csv")
    given = parser.parse_args()
    begin, frames, whole = time.time(), [], vocabulary()
    with threadpool_limits(1, "blas"):
        for scenario in SCENARIOS:
            numbers = range(given.samples * scenario.times)
            frame = summarise(pd.DataFrame([row for number in numbers for row in run_sample(scenario, whole, number)]))
            frame["width_ratio"] = width_ratios(frame, sampling_sds(scenario, whole))
            frame.insert(0, "sizes", scenario.sizes)
            frame.insert(0, "planted", scenario.name)
            frames.append(frame)
            table = pd.concat(frames).round(4)
            table.to_csv(given.output, index=False)
            print(f"{scenario.name}, {scenario.sizes}: {time.time() - begin:.0f} s", flush=True)
    print(markdown(table))
    settings = {
        **{
            "seed": SEED,
            "samples": given.samples,
            "draws": DRAWS,
            "attribute_words": ATTRIBUTES,
            "shift": SHIFT,
            "unfitted": UNFITTED,
        },
        **{"hdi_prob": HDI_PROB, "protected_population": len(whole.protected)},
        "attribute_population": len(whole.near) + len(whole.far),
        "seconds": round(time.time() - begin),
    }
    given.output.with_name("run.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
