"""Paired changes over seeds, against planted changes, and against the changes of one embedding."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias.changes import engine
from bayesbias.changes.training_spread import estimates_over_trainings
from bayesbias.delivery.page.sections import drawn
from bayesbias.errors import ReportError
from bayesbias.models.fits import fit_attribute
from tests.validation.scripts import load_script


def planted(rng: np.random.Generator, change: float) -> list[dict[str, pd.DataFrame]]:
    """Return original and changed tables of each of four seeds; associated words move away by the change on average."""
    script = load_script("changes_over_seeds", "changes_over_seeds")
    tables, _ = script.planted(rng, script.Cell(change, seed_sd=0.015, word_sd=0.02))
    return tables  # type: ignore[no-any-return]


def test_changes_are_those_of_each_seed_with_a_reading_from_both_contrasts() -> None:
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
    assert rows["change"][0] == "now settled"
    assert compared.verdicts[0].text.startswith(
        "Compared with original, the contrast associated - different is settled only in hard"
    )
    assert "above 0 in all 4 seeds" in compared.verdicts[0].text
    assert "changed = {'hard': {seed: fitted(OTHER_EMBEDDING), ...}}" in compared.contents.code
    assert len(bb.plots.plot_trainings(compared).axes) == 1
    same = bb.compare_trainings(fits, changed={"none": fits}, level="protected_group", random_seed=1)
    assert same.contrasts["change"].tolist() == ["no change", "no change"]
    named = bb.compare_trainings(others, changed={"soft": fits}, first="hard", random_seed=1)
    assert set(named.contrasts["first"]) == {"hard"}
    assert named.contents.answer.startswith("Compared with hard, the contrast")
    assert "first='hard'" in named.contents.code
    methods = str(named.contents.parts[-1].statements[0])
    assert "change from hard to soft in 4 embeddings" in methods, methods
    assert "comes from the paired distances of both of its tables." in methods
    with pytest.raises(ReportError, match="the first is 'hard'"):
        bb.compare_trainings(others, changed={"hard": fits}, first="hard")
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
    assert rows["change"].tolist()[1] == "no change"
    assert rows["probability_in_rope"].tolist() == pytest.approx([0, 1], abs=0.05)
    assert rows["mean"][0] == bb.compare_trainings(fits, changed={"wide": others}, random_seed=1).contrasts["mean"][0]
    assert [one.numbers["second"] for one in compared.verdicts] == ["wide", "none"]
    assert "is the same in none" in compared.contents.answer
    assert "changed=changed, rope=(-0.02, 0.02)" in compared.contents.code
    assert [limit.kind for limit in compared.contents.limits] == [
        "few seeds",
        "order",
        "other",
        "wide intervals",
        "bias",
    ]
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
    for fit in others.values():
        fit.attrs["table"] = json.dumps(fit_attribute(fit, "table") | {"embedding": {"steps": "hard-debiased (pairs)"}})
    compared = bb.compare_trainings(fits, changed={"hard": others}, level="word", random_seed=1)
    (methods,) = next(part for part in compared.contents.parts if part.title == "Methods").statements
    assert "Preparation of the vectors: hard: hard-debiased (pairs)." in methods.text
    words = {"pa1", "pa2", "pa3", "pa4", "pb1", "pb2", "pb3", "pb4"}
    assert set(compared.contrasts["protected_word"]) == words | {"pa0"}
    doubts = {doubt.kind: doubt.text for doubt in compared.contents.doubts}
    assert "2 of 10 protected words were equalized (pa0, pa1)" in doubts["equalized words"]
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


def test_a_change_over_seeds_is_said_of_named_words_beside_how_far_the_original_contrast_varies() -> None:
    tables = planted(np.random.default_rng(2), 0.1)
    fits, others = short_fits(tables, "original"), short_fits(tables, "changed")
    contents = bb.compare_trainings(fits, changed={"wide": others}, random_seed=1).contents
    assert "the contrast associated - different for groupa and groupb is" in contents.answer
    assert len(contents.answer.split()) <= 30
    assert "change from original to wide" in contents.title
    assert "conditions_over_seeds" not in contents.tables  # one row would repeat the answer
    of_contrast = bb.compare_trainings(fits, random_seed=1).contrasts.loc[0]
    sd = "{seed_sd:.3f} ({seed_sd_low:.3f} to {seed_sd_high:.3f})".format(**of_contrast)
    assert f"the contrast in original varies by a standard deviation of {sd}" in contents.estimate
    assert "above 0, associated words are farther than before" in contents.tables["groups_over_seeds"].caption


def test_a_change_of_nothing_has_no_share_of_the_seed() -> None:
    fits = short_fits(planted(np.random.default_rng(2), 0.1), "original")
    (verdict,) = bb.compare_trainings(fits, changed={"none": fits}, random_seed=1).verdicts
    assert "is the same in none" in str(verdict)
    assert "The seed accounts" not in str(verdict)


def with_controls(table: pd.DataFrame, shift: float) -> pd.DataFrame:
    """Return a table with as many neutral words as its first list has; they lie about 0.8 away."""
    rng = np.random.default_rng(2)
    controls = table[table["attribute_group"] == table["attribute_group"].iloc[0]].copy()
    controls["attribute_word"] = "neutral " + controls["attribute_word"].astype(str)
    controls["cosine_distance"] = 0.8 + shift + rng.normal(0.0, 0.05, len(controls))
    return pd.concat([table, controls.assign(connection="neutral", attribute_group="neutral")], ignore_index=True)


@pytest.mark.parametrize(("shift", "expected"), [(0.2, ["neutral"]), (0.0, [])])
def test_control_words_that_a_method_moves_are_a_doubt_about_changes_over_seeds(
    shift: float, expected: list[str]
) -> None:
    tables = planted(np.random.default_rng(1), 0.1)[:2]
    shifted = [
        {"original": with_controls(one["original"], 0.0), "changed": with_controls(one["changed"], shift)}
        for one in tables
    ]
    fits, others = (
        {seed: bb.fit(one[name], draws=400, random_seed=1, progress=False) for seed, one in enumerate(shifted)}
        for name in ("original", "changed")
    )
    compared = bb.compare_trainings(fits, changed={"hard": others}, random_seed=1)
    doubts = [doubt for part in compared.parts for doubt in part.statements if doubt.kind == "controls differ"]
    assert [[*doubt.numbers] for doubt in doubts] == [expected] * len(expected)
    for doubt in doubts:
        columns = ["protected_word", "attribute_word", "cosine_distance"]
        plain = np.mean(
            [
                (one["changed"].merge(one["original"], on=columns[:2]).query("connection_x == 'neutral'"))
                .pipe(lambda both: both["cosine_distance_x"] - both["cosine_distance_y"])
                .mean()
                for one in shifted
            ]
        )
        assert doubt.numbers["neutral"]["mean"] == pytest.approx(plain, abs=1e-9)
        assert doubt.numbers["neutral"]["settled"] == 2
        assert "on average over seeds (settled in 2 of 2)" in doubt.text
        assert "Judge the association by the contrast associated - different" in doubt.text
