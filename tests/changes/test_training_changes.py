"""Paired changes over seeds, against planted changes with noise of seeds, and against the changes of one embedding."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.changes.engine import changes_of_contrasts, checked_tables
from bayesbias.changes.result import Estimation
from bayesbias.changes.training_spread import estimates_over_trainings
from bayesbias.errors import ReportError
from tests.cli.running import in_process

SEEDS, CHANGE = 4, 0.03
SEED_SD, WORD_SD, PAIR_SD = 0.015, 0.02, 0.01


def planted(rng: np.random.Generator, change: float, *, seed_sd: float = SEED_SD) -> list[dict[str, pd.DataFrame]]:
    """Return original and changed tables of each seed; associated words move away by the change on average.

    Each attribute word has a change of its own, which is that of all seeds; each seed adds its own.
    """
    protected = [(f"p{group}{word}", f"group{group}") for group in "ab" for word in range(5)]
    attributes = [(f"q{group}{word}", f"group{group}") for group in "ab" for word in range(10)]
    frame = pd.DataFrame(
        [(*word, other, f"list_{of}", "associated" if word[1] == of else "different")
         for word in protected for other, of in attributes],
        columns=["protected_word", "protected_group", "attribute_word", "attribute_group", "connection"],
    )  # fmt: skip
    associated = (frame["connection"] == "associated").to_numpy()
    # A word's own change is associated minus different: it is of one side only where the other has its mirror image.
    own = {name: rng.normal(scale=WORD_SD) for name in frame["attribute_word"].unique()}
    of_words = np.where(associated, 0.5, -0.5) * frame["attribute_word"].map(own).to_numpy()
    tables = []
    for _ in range(SEEDS):
        before = 0.8 + rng.normal(scale=0.05, size=len(frame))
        moved = (change + rng.normal(scale=seed_sd)) * associated + of_words
        after = before + moved + rng.normal(scale=PAIR_SD, size=len(frame))
        tables.append(
            {
                name: frame.assign(cosine_distance=values)
                for name, values in (("original", before), ("changed", after))
            }
        )
    return tables


def covered(rng: np.random.Generator, change: float) -> tuple[bool, bool]:
    """Return whether the interval over seeds, and that of one seed alone, holds the planted change."""
    estimation = Estimation.checked(draws=100, random_seed=int(rng.integers(2**31)), hdi_prob=0.89, rope=None)
    frames, draws = zip(
        *(changes_of_contrasts(checked_tables(tables), {}, estimation) for tables in planted(rng, change)), strict=True
    )
    errors = np.array([frame["sd"].to_numpy()[:1] / np.sqrt(400) for frame in frames])
    row = estimates_over_trainings([one[:, :1] for one in draws], errors, None, 0.89, estimation.seed).iloc[0]
    alone = frames[0].iloc[0]
    return tuple(one["hdi_low"] <= change <= one["hdi_high"] for one in (row, alone))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("change", "samples"),
    [(CHANGE, 60), *(pytest.param(change, 400, marks=pytest.mark.truth) for change in (CHANGE, 0.0))],
)
def test_intervals_hold_planted_changes(change: float, samples: int) -> None:
    """At the probability that they name; those of one seed, which know nothing of other seeds, do so less often."""
    rng = np.random.default_rng(7)
    over_seeds, alone = np.mean([covered(rng, change) for _ in range(samples)], axis=0)
    print(over_seeds, alone)
    error = np.sqrt(0.89 * 0.11 / samples)
    assert over_seeds == pytest.approx(0.89, abs=3 * error)
    assert alone < 0.89 - 3 * error
