"""Paired changes over seeds, against planted changes with noise of seeds, and against the changes of one embedding."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias.changes import engine
from bayesbias.changes.engine import changes_of_contrasts, checked_tables, paired_conditions
from bayesbias.changes.result import Estimation
from bayesbias.changes.training_spread import estimates_over_trainings
from bayesbias.delivery.page.sections import drawn
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
    pairings = [pairing for tables in planted(rng, change) for pairing in paired_conditions(checked_tables(tables))]
    frames, draws = zip(*(changes_of_contrasts(pairing, {}, estimation) for pairing in pairings), strict=True)
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
    assert compared.facts["changed"] == ("hard",)
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
    assert compared.verdicts[0].text.startswith(
        "The gap associated - different, from original to hard: settled only in hard. On average over 4 seeds,"
    )
    assert "above 0 in all seeds" in compared.verdicts[0].text
    assert "changed={'hard': OTHER_FITS}" in compared.contents.code
    assert len(bb.plots.plot_trainings(compared).axes) == 1
    same = bb.compare_trainings(fits, changed={"none": fits}, level="protected_group", random_seed=1)
    assert same.contrasts["change"].tolist() == ["equal", "equal"]
    with pytest.raises(ReportError, match=r"one condition only: 3\."):
        bb.compare_trainings(fits, changed={"hard": {seed: others[seed] for seed in (0, 1, 2)}})
    with pytest.raises(ReportError, match="under its name"):
        bb.compare_trainings(fits, changed=others)  # type: ignore[arg-type]
    with pytest.raises(ReportError, match="under its name"):
        bb.compare_trainings(fits, changed={})
    with pytest.raises(ReportError, match="not the name of a second condition"):
        bb.compare_trainings(fits, changed={"original": others})
    with pytest.raises(ReportError, match=r"changed=\.\.\. and resampled=\.\.\. exclude each other"):
        bb.compare_trainings(fits, changed={"hard": others}, resampled=others)


def short_fits(tables: list[dict[str, pd.DataFrame]], name: str) -> dict[int, xr.DataTree]:
    return {
        seed: bb.fit(of_seed[name], draws=200, random_seed=1, progress=False) for seed, of_seed in enumerate(tables[:2])
    }


def test_each_condition_has_a_row_in_the_order_given_and_each_fit_is_contrasted_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = planted(np.random.default_rng(2), 0.1)
    fits, others = short_fits(tables, "original"), short_fits(tables, "changed")
    contrasted: list[int] = []

    def counted_contrasts(fit: xr.DataTree, **given: Any) -> pd.DataFrame:
        contrasted.append(id(fit))
        return bb.contrasts(fit, **given)

    monkeypatch.setattr(engine, "contrasts", counted_contrasts)
    compared = bb.compare_trainings(fits, changed={"wide": others, "none": fits}, rope=0.02, random_seed=1)
    assert len(contrasted) == 3 * len(fits)
    rows = compared.contrasts
    assert rows["second"].tolist() == ["wide", "none"]
    assert rows["change"].tolist()[1] == "equal"
    assert rows["probability_in_rope"].tolist() == pytest.approx([0, 1], abs=0.05)
    assert rows["mean"][0] == bb.compare_trainings(fits, changed={"wide": others}, random_seed=1).contrasts["mean"][0]
    assert [one.numbers["second"] for one in compared.verdicts] == ["wide", "none"]
    assert "is the same in none" in compared.contents.answer
    assert "changed={'wide': OTHER_FITS, 'none': OTHER_FITS}, rope=(-0.02, 0.02)" in compared.contents.code
    assert [limit.kind for limit in compared.contents.limits] == ["few seeds", "order", "other", "bias"]
    assert "second" in compared.contents.tables["groups_over_seeds"].columns
    axes = drawn(compared, compared.contents.figures["trainings"]).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["wide: all words", "none: all words"]
    assert "size" in [limit.kind for limit in bb.compare_trainings(fits, changed={"none": fits}).contents.limits]


def test_words_that_a_condition_lost_or_equalized_are_doubts_and_their_rows_are_those_of_all_seeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = planted(np.random.default_rng(3), 0.1)
    for seed, of_seed in enumerate(tables):
        table = of_seed["changed"]
        partner = table.loc[table["protected_word"] == "pa1", "cosine_distance"].to_numpy()
        table.loc[table["protected_word"] == "pa0", "cosine_distance"] = partner
        if seed == 1:
            of_seed["changed"] = table[table["protected_word"] != "pb0"].reset_index(drop=True)
    fits, others = short_fits(tables, "original"), short_fits(tables, "changed")
    monkeypatch.setattr(engine, "tied_directions", lambda _: 2)  # so small tables have none
    compared = bb.compare_trainings(fits, changed={"hard": others}, level="word", random_seed=1)
    words = {"pa1", "pa2", "pa3", "pa4", "pb1", "pb2", "pb3", "pb4"}
    assert set(compared.contrasts["protected_word"]) == words | {"pa0"}
    doubts = {doubt.kind: doubt.text for doubt in compared.contents.doubts}
    assert "2 protected words (pa0, pa1)" in doubts["equalized words"]
    assert doubts["lacking words"].startswith("Seed 1: Some conditions lack protected words of groupb: pb0 (not in")
    assert "tied words" in doubts
    lacking, whole = (dict.fromkeys(fits, one[1]) for one in (others, fits))
    with pytest.raises(ReportError, match="protected words that the original lacks: pb0"):
        bb.compare_trainings(lacking, changed={"hard": whole}, random_seed=1)


def test_the_interval_over_seeds_alone_is_that_of_the_mean_of_seeds() -> None:
    """Student's t interval of the seeds' means, without the error of words, which widens the other interval."""
    rng = np.random.default_rng(4)
    means = np.array([0.010, 0.014, 0.021, 0.017, 0.013])
    draws = [rng.normal(mean, 0.02, size=(4_000, 1)) for mean in means]
    row = estimates_over_trainings(draws, np.full((5, 1), 1e-5), None, 0.89, 1).iloc[0]
    seen = np.array([one.mean() for one in draws])
    low, high = stats.t.interval(0.89, 4, seen.mean(), seen.std(ddof=1) / np.sqrt(5))
    assert (row["seeds_low"], row["seeds_high"]) == pytest.approx((low, high), abs=0.0004)
    spread = np.sqrt(((high - low) / 2) ** 2 + (0.02 * stats.norm.ppf(0.945)) ** 2)
    assert (row["hdi_high"] - row["hdi_low"]) / 2 == pytest.approx(spread, rel=0.04)
