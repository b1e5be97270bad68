"""Refits of the multivariate model: the same words at every seed, and weights where a fit takes sweeps."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsWarning
from bayesbias.models.data import model_data
from bayesbias.models.multivariate import refits as connection_moments
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.posterior_draws import weighted_points
from bayesbias.models.multivariate.refits import MultivariateRefits, list_contrasts
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.numerics.proposals import ImportanceDraws, resample_from
from tests.models.test_list_tables import TABLES

NAME = "associated - different"


def test_the_mean_of_a_refit_is_the_plain_difference_at_every_seed() -> None:
    rows, spec = TABLES["two groups"], bb.load_model("multivariate")
    data = model_data(rows)
    for word in (0, 7):
        keep = data.attribute != word
        estimates = [
            MultivariateRefits(data, spec, "associated", draws=2000, seed=seed).estimates(keep, spec, 0.89)[NAME]
            for seed in (1, 2, 3)
        ]
        assert estimates[0].mean == estimates[1].mean == estimates[2].mean
        ends = np.array([(one.low, one.high) for one in estimates])
        assert np.ptp(ends, axis=0).max() < 0.1 * estimates[0].sd
    observed = bb.contrasts(bb.fit(rows, draws=300, random_seed=1, progress=False)).iloc[0]["observed"]
    whole = list_contrasts(data, spec, "associated", draws=2000, seed=1)[NAME](0.89)
    assert whole.mean == pytest.approx(observed)


def test_a_table_with_a_lost_pair_is_weighted_to_what_it_is_without_a_word() -> None:
    rows, spec = TABLES["two groups"].iloc[1:].reset_index(drop=True), bb.load_model("multivariate")
    data = model_data(rows)
    refits = MultivariateRefits(data, spec, "associated", draws=2000, seed=1)
    keep = data.attribute != 3
    weighted = refits.estimates(keep, spec, 0.89)[NAME]
    anew = list_contrasts(model_data(rows[keep]), spec, "associated", draws=2000, seed=2)[NAME](0.89)
    assert weighted.mean == pytest.approx(anew.mean, abs=0.25 * anew.sd)
    assert weighted.sd == pytest.approx(anew.sd, rel=0.3)


def test_sensitivity_names_the_same_words_at_every_seed() -> None:
    both = [bb.sensitivity(TABLES["two groups"], draws=500, random_seed=seed, progress=False) for seed in (1, 2)]
    assert both[0].deciding == both[1].deciding
    first, second = (one.shifts.set_index(["left_out", "contrast"])["shift"].sort_index() for one in both)
    np.testing.assert_allclose(first, second, atol=1e-12)


def test_a_refit_that_makes_a_table_whole_is_compared_with_the_whole_fit() -> None:
    """Without the group that lost a pair, the estimates have other draws than the whole fit."""
    rows = TABLES["no controls"].iloc[1:].reset_index(drop=True)
    changes = bb.sensitivity(rows, leave_out="list", draws=200, random_seed=1, progress=False)
    assert np.isfinite(changes.shifts[["mean", "shift", "shift_in_sd"]].to_numpy()).all()
    assert {name.rsplit(" ", 1)[1] for name in changes.shifts["left_out"]} == {*rows["protected_group"]}
    # Without a list of the two, no group would have both sides.
    assert {case.rsplit(" ", 1)[1] for case in changes.skipped["left_out"]} == {*rows["attribute_group"]}


def test_only_the_kind_of_list_that_lost_a_word_has_new_hyperparameters(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = TABLES["two groups"].reset_index(drop=True)
    data, spec = model_data(rows), bb.load_model("multivariate")
    refits = MultivariateRefits(data, spec, "associated", draws=2000, seed=1)
    refits.estimates(np.ones(len(rows), dtype=bool), spec, 0.89)
    drawn: list[int] = []
    block_points = connection_moments._block_points
    monkeypatch.setattr(connection_moments, "_block_points", lambda *given: drawn.append(1) or block_points(*given))
    keep = (rows["attribute_word"] != rows["attribute_word"].iloc[0]).to_numpy()
    refits.estimates(keep, spec, 0.89)
    assert len(drawn) == 1
    list_contrasts(model_data(rows[keep]), spec, "associated", draws=2000, seed=1)
    assert len(drawn) == 1 + len(attribute_sample(data).kinds)
    everything = np.ones(len(rows), dtype=bool)
    other = bb.load_model("multivariate", priors={"attribute_sd": "Exponential(20)"})
    refits.estimates(everything, other, 0.89)
    assert len(drawn) == 1 + 2 * len(attribute_sample(data).kinds)
    # The hyperparameters of the means of lists do not depend on this prior.
    refits.estimates(everything, bb.load_model("multivariate", priors={"slope_sd": "Exponential(1)"}), 0.89)
    assert len(drawn) == 1 + 2 * len(attribute_sample(data).kinds)


@pytest.mark.parametrize("left_out", ["attribute_word", "protected_word", "attribute_group"])
def test_refits_that_share_a_proposal_are_independent_refits(left_out: str) -> None:
    """Without an odd word, or its list, that widens the intervals of the full fit, whose proposal is shared."""
    rows = TABLES["three groups"].reset_index(drop=True)
    if left_out == "attribute_group":
        odd = rows["attribute_group"] == "neutral"
    else:
        odd = rows[left_out] == rows[left_out].iloc[0]
    columns = np.where(rows["protected_group"] == rows["protected_group"].iloc[0], -0.5, 0.5)
    rows = rows.assign(cosine_distance=np.clip(rows["cosine_distance"] + odd * columns, 0, 2))
    data, spec, draws = model_data(rows), bb.load_model("multivariate"), 20_000
    refits = MultivariateRefits(data, spec, "associated", draws=draws, seed=1)
    whole = refits.estimates(np.ones(len(rows), dtype=bool), spec, 0.89)
    shared = refits.estimates(~odd.to_numpy(), spec, 0.89)
    anew = [
        {
            name: contrast(0.89)
            for name, contrast in list_contrasts(
                model_data(rows[~odd]), spec, "associated", draws=draws, seed=seed
            ).items()
        }
        for seed in (2, 3, 4, 5)
    ]
    assert shared.keys() == anew[0].keys()
    for name, one in shared.items():
        assert one.mean == pytest.approx(anew[0][name].mean, abs=1e-12)
        ends = np.array([(other[name].low, other[name].high, other[name].sd) for other in anew])
        # Of five posteriors that differ by chance, one is hardly this far from the mean of the others.
        limit = 6 * ends.std(axis=0, ddof=1) + 0.01 * one.sd
        assert (np.abs([one.low, one.high, one.sd] - ends.mean(axis=0)) < limit).all()
    if left_out == "attribute_word":
        assert whole[NAME].sd > 1.3 * shared[NAME].sd


def test_a_shared_proposal_that_fails_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, spec = TABLES["two groups"].reset_index(drop=True), bb.load_model("multivariate")
    data, keep = model_data(rows), (rows["attribute_word"] != rows["attribute_word"].iloc[0]).to_numpy()
    refits = MultivariateRefits(data, spec, "associated", draws=2000, seed=1)
    refits.estimates(np.ones(len(rows), dtype=bool), spec, 0.89)

    def refused(*given: object) -> object:
        if len(given) == 6:
            raise SamplerFailedError("poor weights")
        return weighted_points(*given)  # type: ignore[arg-type]

    def poor(*given: Any, **options: Any) -> ImportanceDraws:
        return replace(resample_from(*given, **options), khat=np.inf)

    monkeypatch.setattr(connection_moments, "weighted_points", refused)
    monkeypatch.setattr(connection_moments, "resample_from", poor)
    estimates = refits.estimates(keep, spec, 0.89)
    anew = list_contrasts(model_data(rows[keep]), spec, "associated", draws=2000, seed=1)
    for name, estimate in estimates.items():
        whole = anew[name](0.89)
        assert (estimate.low, estimate.high) == pytest.approx((whole.low, whole.high), abs=1e-9)


@pytest.mark.parametrize("left_out", [["male"], ["wear"], ["man", "boy", "sister"]])
def test_refits_that_reuse_the_sample_are_those_of_the_remaining_rows(
    left_out: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To rounding: the reduced table gives the same sample, and all refits share their points and random numbers."""
    with pytest.warns(LostWordsWarning):
        rows = bb.distance_table(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), "weat7")
    data, spec = model_data(rows), bb.load_model("multivariate")
    keep = ~rows["attribute_word"].isin(left_out).to_numpy()
    numbers = []
    for reuse in (True, False):
        refits = MultivariateRefits(data, spec, "associated", draws=2000, seed=1)
        refits.estimates(np.ones(len(rows), dtype=bool), spec, 0.89)
        if not reuse:
            monkeypatch.setattr(refits, "_without_words", lambda *_: None)
            monkeypatch.setattr(connection_moments, "without_attribute_words", None)
        else:
            assert refits._without_words(np.bincount(data.attribute[keep], minlength=len(data.attribute_words)), spec)
        estimates = refits.estimates(keep, spec, 0.89)
        numbers.append([(one.mean, one.sd, one.low, one.high, one.below) for one in estimates.values()])
    np.testing.assert_allclose(*numbers, rtol=1e-9)
