"""The quick posterior of contrasts: which sampler, the same numbers as a fit, and what happens where it fails."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import FitError
from bayesbias.models import quick
from bayesbias.models.data import model_data, subset
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.quick import QuickRefits, quick_contrasts
from bayesbias.models.samplers import collapsed, exact
from tests import third_group
from tests.models.tables import small


@pytest.mark.parametrize("model", ["crossed", "crossed_per_list", "hierarchical"])
def test_contrasts_are_those_of_a_fit(table: pd.DataFrame, model: str) -> None:
    data, rng = model_data(table), np.random.default_rng(1)
    contrasts = quick_contrasts(data, bb.load_model(model), baseline="human", draws=8000, points=4000, rng=rng)
    assert list(contrasts) == ["human - associated", "human - different", "human - neutral"]
    fitted = bb.fit(table, model, draws=2000, random_seed=2, progress=False)
    expected = bb.contrasts(fitted, baseline="human").set_index("contrast")
    for contrast, estimate in contrasts.items():
        ours, theirs = estimate(0.89), expected.loc[contrast]
        assert abs(ours.mean - theirs["mean"]) < 5 * theirs["sd"] * np.sqrt(2 / 2000)
        assert ours.sd == pytest.approx(theirs["sd"], rel=0.1)
        assert ours.low == pytest.approx(theirs["hdi_low"], abs=0.2 * theirs["sd"])
        assert estimate(0.5).high - estimate(0.5).low < ours.high - ours.low


@pytest.mark.parametrize("model", ["crossed", "hierarchical"])
def test_a_failed_diagnostic_is_one_error_that_users_can_catch(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, spec = model_data(small()), bb.load_model(model)
    monkeypatch.setattr(exact.GridDraws, "good", property(lambda _: False))
    for module in (quick, collapsed):
        monkeypatch.setattr(module, "KHAT_MAX", -10.0)
    with pytest.raises(SamplerFailedError) as caught:
        quick_contrasts(data, spec, draws=200, points=100, rng=np.random.default_rng(1))
    assert isinstance(caught.value, FitError)
    refits = QuickRefits(data, "associated", draws=200, seed=1)
    with pytest.raises(SamplerFailedError):
        refits.estimates(np.ones(len(data.distance), dtype=bool), spec, 0.89)


def test_poor_weights_are_improved_and_drawn_from(monkeypatch: pytest.MonkeyPatch) -> None:
    data, spec = model_data(small()), bb.load_model("crossed")
    usual = quick_contrasts(data, spec, draws=4000, points=2000, rng=np.random.default_rng(1))
    monkeypatch.setattr(quick, "KHAT_MAX", -10.0)
    improved = quick_contrasts(data, spec, draws=4000, points=2000, rng=np.random.default_rng(1))
    for contrast in usual:
        one, two = usual[contrast](0.89), improved[contrast](0.89)
        assert abs(one.mean - two.mean) < 6 * np.hypot(one.standard_error, two.standard_error)


@pytest.mark.parametrize("model", ["crossed", "hierarchical"])
def test_a_refit_is_a_fit_of_what_is_kept(model: str) -> None:
    data, spec = model_data(small()), bb.load_model(model)
    keep = data.attribute != 0
    refits = QuickRefits(data, "associated", draws=8000, seed=1)
    estimates = refits.estimates(keep, spec, 0.89)
    expected = quick_contrasts(subset(data, keep), spec, draws=8000, points=4000, rng=np.random.default_rng(2))
    assert list(estimates) == list(expected)
    for contrast, one in estimates.items():
        two = expected[contrast](0.89)
        assert abs(one.mean - two.mean) < 5 * np.hypot(one.standard_error, two.standard_error) + 1e-12
        assert one.sd == pytest.approx(two.sd, rel=0.1)


def test_refits_share_what_they_can() -> None:
    """A connection that loses no row does not move; the points of crossed refits have influences to compare."""
    data = model_data(small())
    everything = np.ones(len(data.distance), dtype=bool)
    without = ~((data.connection == data.connections.index("neutral")) & (data.attribute == data.attribute.max()))
    refits = QuickRefits(data, "associated", draws=1000, seed=1)
    spec = bb.load_model("hierarchical")
    one, two = (refits.estimates(keep, spec, 0.89) for keep in (everything, without))
    assert one["associated - human"] != two["associated - neutral"]
    assert one["associated - human"].numbers() == two["associated - human"].numbers()
    assert one["associated - neutral"].mean != two["associated - neutral"].mean
    crossed = refits.estimates(without, bb.load_model("crossed"), 0.89)
    assert all(estimate.influence is not None for estimate in crossed.values())


@pytest.mark.parametrize("model", ["hierarchical", "crossed"])
def test_refits_of_rows_leave_out_groups_without_a_side(model: str) -> None:
    estimates = [
        quick_contrasts(
            model_data(third_group.table(third)),
            bb.load_model(model),
            draws=500,
            points=500,
            rng=np.random.default_rng(1),
        )["associated - different"](0.89)
        for third in ("", "none", "both")
    ]
    assert estimates[1].mean == estimates[2].mean == estimates[0].mean
