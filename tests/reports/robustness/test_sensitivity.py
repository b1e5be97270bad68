"""Leaving out words, lists and priors, against fits of the reduced table and a planted decisive word."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ArgumentError, ModelError, ReportError
from bayesbias.models.samplers import exact
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.robustness import sensitivity as module
from bayesbias.reports.robustness.sensitivity import COLUMNS, Sensitivity, sensitivity
from tests import third_group

OTHER_PRIOR = {"connection_mean": "StudentT(30, 1, 0.3)"}
BY_NUTS = replace(bb.load_model("hierarchical", priors=OTHER_PRIOR), name="by NUTS")


def study(*, decisive: float = 0.0, words: int = 8, controls: int = 15) -> pd.DataFrame:
    """Two groups of protected words; `decisive` is added where the word 'planted' is associated."""
    rng = np.random.default_rng(4)
    lists = {"x": [f"x{i}" for i in range(6)], "y": [f"y{i}" for i in range(6)]}
    lists["x"].append("planted")
    lists["human"] = [f"h{i}" for i in range(controls)]
    rows = []
    for group in ("x", "y"):
        for i in range(words // 2):
            for name, members in lists.items():
                connection = "human" if name == "human" else "associated" if name == group else "different"
                for word in members:
                    extra = decisive if word == "planted" and connection == "associated" else 0.0
                    distance = 0.9 + extra + rng.normal(0, 0.02)
                    rows.append((f"{group}p{i}", group, word, name, connection, distance))
    columns = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection"]
    return pd.DataFrame(rows, columns=[*columns, "cosine_distance"])


@pytest.fixture(scope="module")
def planted() -> pd.DataFrame:
    return study(decisive=-0.2)


@pytest.fixture(scope="module")
def both(planted: pd.DataFrame) -> dict[str, Sensitivity]:
    return {model: sensitivity(planted, model, random_seed=1) for model in ("crossed", "hierarchical", "multivariate")}


@pytest.fixture(params=["crossed", "hierarchical"])
def changes(request: pytest.FixtureRequest, both: dict[str, Sensitivity]) -> Sensitivity:
    return both[request.param]


def test_the_planted_word_decides(changes: Sensitivity) -> None:
    assert changes.shifts.columns.tolist() == list(COLUMNS)
    assert changes.deciding["associated - different"][0] == "planted"
    conclusions, largest = changes.statements
    assert conclusions.numbers == {"deciding": changes.deciding}
    assert "'associated - different' is nearer with everything, and has another answer without" in conclusions.text
    assert "planted" in conclusions.text
    assert (
        largest.numbers["shift_in_sd"]
        == changes.shifts.loc[changes.shifts["shift_in_sd"].abs().idxmax(), "shift_in_sd"]
    )
    first = changes.shifts[changes.shifts["contrast"] == "associated - different"].iloc[0]
    assert (first["left_out"], first["reading"], first["changes_reading"]) == ("planted", "not settled", True)
    sizes = changes.shifts["shift_in_sd"].abs().groupby(changes.shifts["changes_reading"])
    assert changes.shifts["changes_reading"].is_monotonic_decreasing
    assert all((values.diff().dropna() <= 0).all() for _, values in sizes)
    assert not changes.shifts.isna().any(axis=None)
    assert len(changes.shifts) == 2 * 28
    assert changes.skipped.empty


@pytest.mark.parametrize("left_out", [None, "planted", "h3"])
@pytest.mark.parametrize("model", ["crossed", "hierarchical", "multivariate"])
def test_refits_are_fits_of_the_reduced_table(
    planted: pd.DataFrame, both: dict[str, Sensitivity], model: str, left_out: str | None
) -> None:
    changes = both[model]
    table = planted if left_out is None else planted[planted["attribute_word"] != left_out]
    expected = bb.contrasts(bb.fit(table, model, draws=5000, random_seed=8, progress=False)).set_index("contrast")
    full = changes.contrasts.set_index("contrast")
    ours = full if left_out is None else changes.shifts[changes.shifts["left_out"] == left_out].set_index("contrast")
    ours = ours.loc[expected.index]
    sd = expected["sd"]
    error = 4 * np.hypot(sd / np.sqrt(expected["ess_bulk"]), sd / np.sqrt(4000))
    assert ((ours["mean"] - expected["mean"]).abs() < error).all()
    for end in ("hdi_low", "hdi_high"):
        assert ((ours[end] - expected[end]).abs() < 0.2 * sd).all()
    if left_out is None:
        np.testing.assert_allclose(full["sd"], sd, rtol=0.1)
    else:
        np.testing.assert_allclose(ours["shift"], ours["mean"] - full["mean"])
        np.testing.assert_allclose(ours["shift_in_sd"], ours["shift"] / full["sd"])


@pytest.mark.parametrize("model", ["crossed", "crossed_per_list", "hierarchical"])
def test_a_word_without_weight_moves_nothing(model: str) -> None:
    changes = sensitivity(study(controls=60), model, random_seed=1)
    control = changes.shifts[
        changes.shifts["left_out"].str.startswith("h") & (changes.shifts["contrast"] == "associated - different")
    ]
    assert (control["shift_in_sd"].abs() < 0.05).all()
    assert changes.monte_carlo_error < 0.03 * changes.contrasts["sd"].max()


def test_a_shift_that_would_be_shown_as_0_is_left_out(
    planted: pd.DataFrame, both: dict[str, Sensitivity], monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = [statement.kind for statement in both["hierarchical"].statements]
    assert kinds == ["conclusions", "largest shift"]
    monkeypatch.setattr("bayesbias.reports.robustness.sensitivity._LEAST_SHIFT", np.inf)
    kinds = [statement.kind for statement in sensitivity(planted, "hierarchical", random_seed=1).statements]
    assert kinds == ["conclusions"]


def test_lists_and_what_cannot_be_left_out(planted: pd.DataFrame) -> None:
    changes = sensitivity(planted, leave_out="list", draws=250, random_seed=1)
    assert set(changes.shifts["left_out"]) == {"protected group x", "protected group y", "attribute list human"}
    *of_lists, human = changes.skipped.to_dict("records")
    assert (human["left_out"], human["contrast"]) == ("attribute list human", "associated - human")
    assert "'human'" in human["reason"]
    # Each group would have one side of the two.
    assert {case["left_out"] for case in of_lists} == {"attribute list x", "attribute list y"}
    reasons = {case["reason"] for case in of_lists}
    assert reasons == {"'x' would have no associated words", "'y' would have no associated words"}
    assert changes.refits == 3
    assert not changes.shifts.isna().any(axis=None)


def test_nothing_can_be_left_out() -> None:
    table = study(words=2).query("protected_group == 'x'")
    changes = sensitivity(table, "hierarchical", leave_out="protected_word", random_seed=1)
    assert changes.shifts.empty
    assert changes.shifts.columns.tolist() == list(COLUMNS)
    (reading,) = changes.statements
    assert reading.kind == "nothing"
    assert changes.skipped["reason"].iloc[0] in reading.text


@pytest.mark.parametrize("model", ["crossed", "hierarchical"])
def test_priors(planted: pd.DataFrame, model: str) -> None:
    changes = sensitivity(planted, model, leave_out="prior", random_seed=1)
    names = set(changes.shifts["left_out"])
    assert {
        "connection_mean ~ Normal(mu=1, sigma=0.15) (scale halved)",
        "sigma ~ Exponential(rate=1) (scale doubled)",
    } <= names
    assert len(names) == (8 if model == "crossed" else 6)
    label = "connection_mean ~ Normal(mu=1, sigma=0.15) (scale halved)"
    fit = bb.fit(planted, model, priors={"connection_mean": "Normal(1, 0.15)"}, random_seed=5, progress=False)
    expected = bb.contrasts(fit).set_index("contrast")
    ours = changes.shifts[changes.shifts["left_out"] == label].set_index("contrast")
    assert ((ours["mean"] - expected["mean"]).abs() < 0.1 * expected["sd"]).all()


def test_the_same_seed_gives_the_same_report(planted: pd.DataFrame) -> None:
    one, two = (sensitivity(planted, leave_out="list", draws=200, random_seed=3) for _ in range(2))
    pd.testing.assert_frame_equal(one.shifts, two.shifts)
    assert str(one) == str(two)
    assert sensitivity(planted, leave_out="list", draws=200).random_seed >= 0


def test_models_that_need_nuts_are_fitted_anew(planted: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each refit is a whole fit of the model that was asked for; another sampler stands in for NUTS here."""
    calls = []

    def stand_in(rows: pd.DataFrame, spec: ModelSpec, **settings: Any) -> xr.DataTree:
        calls.append((spec.name, len(rows), settings["draws"], settings["chains"]))
        return bb.fit(rows, "hierarchical", **settings)

    monkeypatch.setattr(module, "fit_model", stand_in)
    changes = sensitivity(planted, BY_NUTS, leave_out="list", draws=300, chains=2, random_seed=1)
    assert changes.refits == 3
    row_counts = [len(planted)]
    for column, names in (("attribute_group", ["human"]), ("protected_group", ["x", "y"])):
        row_counts += [int((planted[column] != name).sum()) for name in names]
    assert calls == [("by NUTS", count, 300, 2) for count in row_counts]
    assert not changes.shifts.isna().any(axis=None)
    usual = sensitivity(planted, "hierarchical", leave_out="list", draws=300, chains=2, random_seed=2)
    merged = usual.shifts.merge(changes.shifts, on=["left_out", "contrast"])
    assert len(merged) == len(usual.shifts) == len(changes.shifts)
    sd = (merged["hdi_high_x"] - merged["hdi_low_x"]) / 3.2
    assert ((merged["mean_x"] - merged["mean_y"]).abs() < 6 * sd * np.sqrt(2 / 600)).all()


@pytest.mark.truth
@pytest.mark.slow
def test_other_priors_are_fitted_anew_by_nuts(planted: pd.DataFrame) -> None:
    with warnings.catch_warnings(action="ignore"):  # so few draws do not converge
        changes = sensitivity(planted, BY_NUTS, leave_out="list", draws=300, chains=2, random_seed=1)
    assert changes.refits == 3
    assert not changes.shifts.isna().any(axis=None)


def test_a_grid_that_does_not_cover_the_posterior_is_fitted_as_fit_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the exact sampler's own check fails, no private error escapes: each refit is a whole fit."""
    table, covers, fitted = study(), exact.GridDraws.good, []
    usual = sensitivity(table, "hierarchical", leave_out="list", draws=500, random_seed=1)

    def whole_fit(rows: pd.DataFrame, *arguments: object, **settings: object) -> xr.DataTree:
        fitted.append(len(rows))
        with monkeypatch.context() as context:
            context.setattr(exact.GridDraws, "good", covers)
            return bb.fit(rows, *arguments, **settings)

    monkeypatch.setattr(module, "fit_model", whole_fit)
    monkeypatch.setattr(exact.GridDraws, "good", property(lambda _: False))
    changes = sensitivity(table, "hierarchical", leave_out="list", draws=500, random_seed=1)
    assert changes.refits == usual.refits
    assert len(fitted) == 1 + changes.shifts["left_out"].nunique()
    merged = usual.shifts.merge(changes.shifts, on=["left_out", "contrast"])
    assert len(merged) == len(usual.shifts) == len(changes.shifts)
    sd = (merged["hdi_high_x"] - merged["hdi_low_x"]) / 3.2
    assert ((merged["mean_x"] - merged["mean_y"]).abs() < 6 * sd * np.sqrt(2 / 2000)).all()


def test_impossible_requests(planted: pd.DataFrame) -> None:
    with pytest.raises(ArgumentError, match="leave_out='words'"):
        sensitivity(planted, leave_out="words")
    with pytest.raises(ReportError, match=r"'neutral'.*associated, different, human"):
        sensitivity(planted, baseline="neutral")
    with pytest.raises(ReportError, match="'human'"):
        sensitivity(planted.query("connection == 'human'"), baseline="human")
    with pytest.raises(ArgumentError, match="hdi_prob"):
        sensitivity(planted, hdi_prob=1.2)
    with pytest.raises(ArgumentError, match="draws=5"):
        sensitivity(planted, draws=5)
    with pytest.raises(ArgumentError, match="random_seed=-1"):
        sensitivity(planted, random_seed=-1)
    with pytest.raises(ModelError, match="'crosed'"):
        sensitivity(planted, "crosed")


@pytest.mark.truth
@pytest.mark.slow
@pytest.mark.shared
def test_every_attribute_word_of_religion(shared) -> None:
    table = bb.read_table(shared / "data/published/tables/religion_google.csv.gz")
    changes = sensitivity(table, "crossed", random_seed=1)
    assert changes.refits == 322
    assert changes.deciding["associated - different"] == ["greedy"]


@pytest.mark.parametrize("model", ["multivariate", "hierarchical"])
def test_what_would_change_the_groups_of_an_average_is_skipped(model: str) -> None:
    """Without a list of the two, no group has both sides, and the third group would enter the average."""
    both = [
        sensitivity(third_group.table(third), model, leave_out="list", draws=200, random_seed=1, progress=False)
        for third in ("", "none")
    ]
    for changes in both:
        skipped = dict(zip(changes.skipped["left_out"], changes.skipped["reason"], strict=True))
        assert changes.refits == changes.shifts["left_out"].nunique() < len(skipped) + changes.refits
        assert {"attribute list male", "attribute list female"} <= skipped.keys()
        for name, group in (("male", "math"), ("female", "arts")):
            assert f"{group!r} would have no associated words" in skipped[f"attribute list {name}"]
    without, beside = (
        changes.shifts.query("left_out != 'protected group people'").set_index(["left_out", "contrast"]).sort_index()
        for changes in both
    )
    assert beside.index.equals(without.index)
    np.testing.assert_allclose(beside["mean"], without["mean"], atol=0.004)
    people = both[1].shifts.query("left_out == 'protected group people'")
    assert (people["shift"].abs() < 0.004).all()
    assert [one.kind for one in both[1].statements][-1] == "group without contrast"
