"""Families of effects that the rule was not made for: how many of the decided ones are wrong, and how many are stated.

    python validation/decisions/attacks.py

makes `attacks.csv`. An estimate z has the error of its interval, an sd of 0.95; README.md says what the columns mean.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr

from bayesbias.base.checks import HDI_PROB
from bayesbias.estimates.decisions import decisions

FOLDER = Path(__file__).resolve().parent
SEED, SIZES, FAMILIES, ERROR = 20261128, (20, 100), 400, 0.95
SETTLED = 1.6  # z of an interval of 89 %

type Effects = Callable[[np.random.Generator, int], np.ndarray]


def half(effects: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return effects of which half, drawn at random, are none."""
    return np.where(rng.random(len(effects)) < 0.5, 0.0, effects)


# Kind of family -> its effects, in standard errors, and the share of an error's variance that all questions have.
KINDS: dict[str, tuple[Effects, float]] = {
    "half none, the others Normal": (lambda rng, size: half(rng.normal(0, 3, size), rng), 0.0),
    "half none, the others heavy-tailed": (lambda rng, size: half(1.5 * rng.standard_t(2, size), rng), 0.0),
    "half none, the others of one sign": (lambda rng, size: half(rng.exponential(2.5, size), rng), 0.0),
    "half none, the others of one size": (lambda rng, size: half(np.full(size, 2.0), rng), 0.0),
    "all small": (lambda rng, size: rng.normal(0, 0.3, size), 0.0),
    "none but one, which is huge": (lambda _, size: np.where(np.arange(size), 0.0, 30.0), 0.0),
    "half none, half of the error common": (lambda rng, size: half(rng.normal(0, 3, size), rng), 0.5),
    "none, half of the error common": (lambda _, size: np.zeros(size), 0.5),
}


def run(kind: str, size: int, rng: np.random.Generator) -> dict[str, float]:
    """Return means over families of a kind."""
    effects_of, common = KINDS[kind]
    counts = []
    for _ in range(FAMILIES):
        effects = effects_of(rng, size)
        error = np.sqrt(common) * rng.normal() + np.sqrt(1 - common) * rng.normal(size=size)
        z = effects + ERROR * error
        settled, wrong = np.abs(z) > SETTLED, z * effects <= 0
        stated = decisions(ndtr(np.abs(z)), settled, HDI_PROB)
        count = (settled & wrong).sum()
        held = stated.low <= count <= stated.high
        decided = stated.decided.sum(), (stated.decided & wrong).sum()
        counts.append((settled.sum(), count, stated.expected, held, *decided))
    names = ["settled", "wrong", "stated", "within", "decided", "decided_wrong"]
    return dict(zip(names, np.mean(counts, axis=0).round(3).tolist(), strict=True))


if __name__ == "__main__":
    generator = np.random.default_rng(SEED)
    rows = [{"kind": kind, "size": size, **run(kind, size, generator)} for kind in KINDS for size in SIZES]
    pd.DataFrame(rows).to_csv(FOLDER / "attacks.csv", index=False)
