"""Paired changes over seeds, against planted changes with noise of seeds, and against the changes of one embedding."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.changes.engine import changes_of_contrasts, checked_tables
from bayesbias.changes.result import Estimation
from bayesbias.changes.training_spread import estimates_over_trainings
from bayesbias.errors import ReportError

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
            {name: frame.assign(cosine_distance=values) for name, values in (("original", before), ("changed", after))}
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
    [(CHANGE, 16), *(pytest.param(change, 400, marks=pytest.mark.truth) for change in (CHANGE, 0.0))],
)
def test_intervals_hold_planted_changes(change: float, samples: int) -> None:
    """At the probability that they name; those of one seed, which know nothing of other seeds, do so less often."""
    rng = np.random.default_rng(7)
    over_seeds, alone = np.mean([covered(rng, change) for _ in range(samples)], axis=0)
    error = np.sqrt(0.89 * 0.11 / samples)
    assert over_seeds == pytest.approx(0.89, abs=3 * error)
    assert alone < 0.89 - 3 * error


def test_changes_are_those_of_each_seed_with_a_reading_from_both_gaps() -> None:
    tables = planted(np.random.default_rng(1), 0.1)
    fits, others = (
        {seed: bb.fit(of_seed[name], draws=500, random_seed=1, progress=False) for seed, of_seed in enumerate(tables)}
        for name in ("original", "changed")
    )
    compared = bb.compare_trainings(fits, changed={"hard": others}, level="all", random_seed=1)
    assert compared.facts["changed"] == "hard"
    rows = compared.contrasts
    assert rows["protected_group"].tolist()[:3] == ["", "groupa", "groupb"]
    assert rows["protected_word"].ne("").sum() == 10
    alone = bb.compare_embeddings(tables[2], random_seed=1, progress=False).changes
    of_seed = compared.by_seed[compared.by_seed["seed"] == 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(of_seed[["observed", "mean"]], alone[["observed", "mean"]], atol=1e-9)
    plain = [
        float((one["changed"]["cosine_distance"] - one["original"]["cosine_distance"])
              @ np.where(one["original"]["connection"] == "associated", 1, -1) / 100)
        for one in tables
    ]  # fmt: skip
    assert rows["mean"][0] == pytest.approx(np.mean(plain), abs=0.003)
    assert rows["change"][0] == "second only"
    assert compared.verdict.text.startswith(
        "The gap associated - different, from original to hard: settled only in hard. On average over 4 seeds,"
    )
    assert "above 0 in all seeds" in compared.verdict.text
    assert "changed={'hard': OTHER_FITS}" in compared.contents.code
    assert len(bb.plots.plot_trainings(compared).axes) == 1
    same = bb.compare_trainings(fits, changed={"none": fits}, level="protected_group", random_seed=1)
    assert same.contrasts["change"].tolist() == ["equal", "equal"]
    with pytest.raises(ReportError, match=r"one condition only: 3\."):
        bb.compare_trainings(fits, changed={"hard": {seed: others[seed] for seed in (0, 1, 2)}})
    with pytest.raises(ReportError, match="under its name"):
        bb.compare_trainings(fits, changed=others)  # type: ignore[arg-type]
    with pytest.raises(ReportError, match="not the name of a second condition"):
        bb.compare_trainings(fits, changed={"original": others})
    with pytest.raises(ReportError, match=r"changed=\.\.\. and resampled=\.\.\. exclude each other"):
        bb.compare_trainings(fits, changed={"hard": others}, resampled=others)
