"""Effects of factors, against plain linear contrasts of the observed leans, and against the model's own contrasts."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ArgumentError, ReportError, TableError
from tests.reports.posterior.made_factors import made_fit, made_study, made_table


@pytest.fixture(scope="module")
def crossed() -> xr.DataTree:
    return made_fit(made_study(sizes={"g00": 3, "g11": 9}), {"g00": 1.0}, draws=1000)


def _leans(table: pd.DataFrame, first: str = "near", second: str = "far") -> "pd.Series[float]":
    """Return the plain mean distance of each group to one list minus that to another."""
    means = table.groupby(["protected_group", "attribute_group"], observed=True)["cosine_distance"].mean().unstack()
    return means[first] - means[second]


def _row(frame: pd.DataFrame, **labels: str) -> "pd.Series[Any]":
    chosen = frame
    for column, value in labels.items():
        chosen = chosen[chosen[column] == value]
    assert len(chosen) == 1
    return chosen.iloc[0]


def test_effects_are_the_plain_linear_contrasts_of_cells(crossed: xr.DataTree) -> None:
    found = bb.factor_effects(crossed)
    plain = _leans(bb.models.fitted_table(crossed))
    a, b, c, d = (plain[f"g{cell}"] for cell in ("00", "01", "10", "11"))
    expected = {
        ("mean", "mean", ""): (a + b + c + d) / 4,
        ("f0", "l0 - l1", ""): (a + b - c - d) / 2,
        ("f1", "l0 - l1", ""): (a - b + c - d) / 2,
        ("f0 x f1", "(l0 - l1) x (l0 - l1)", ""): a - b - c + d,
        ("f0", "l0 - l1", "f1: l0"): a - c,
        ("f0", "l0 - l1", "f1: l1"): b - d,
        ("f1", "l0 - l1", "f0: l0"): a - b,
        ("f1", "l0 - l1", "f0: l1"): c - d,
    }
    assert len(found.effects) == len(expected)
    for (source, name, within), value in expected.items():
        name = "all cells" if source == "mean" else name
        row = _row(found.effects, source=source, effect=name, within=within)
        assert row["observed"] == pytest.approx(value)
        # Nothing is pooled: the posterior mean is the plain contrast within its Monte Carlo error.
        assert row["mean"] == pytest.approx(value, abs=5 * row["sd"] / np.sqrt(row["ess_bulk"]))
        assert row["these_words_low"] < value < row["these_words_high"]
    assert found.cells["observed"].tolist() == pytest.approx([a, b, c, d])
    assert found.cells["cell"].tolist() == ["l0, l0", "l0, l1", "l1, l0", "l1, l1"]
    assert found.cells["words"].tolist() == [3, 4, 4, 9]


def test_words_like_these_have_wider_intervals_than_these_words(crossed: xr.DataTree) -> None:
    frame = bb.factor_effects(crossed).effects
    wide = frame["hdi_high"] - frame["hdi_low"]
    assert (wide > 1.02 * (frame["these_words_high"] - frame["these_words_low"])).all()


def test_the_mean_of_all_cells_is_the_contrast_of_the_fit_in_both_scopes(crossed: xr.DataTree) -> None:
    """All groups are associated with the first list, so that the contrast of the fit is the mean lean, in any draws."""
    row = _row(bb.factor_effects(crossed).effects, kind="mean")
    population = bb.contrasts(crossed).iloc[0]
    these = bb.contrasts(crossed, scope="these_words").iloc[0]
    error = row["sd"] / np.sqrt(row["ess_bulk"])
    assert row["mean"] == pytest.approx(population["mean"], abs=5 * error)
    assert row["sd"] == pytest.approx(population["sd"], rel=0.06)
    assert row["these_words_low"] == pytest.approx(these["hdi_low"])
    assert row["these_words_high"] == pytest.approx(these["hdi_high"])


def test_an_interaction_is_the_draw_by_draw_difference_of_simple_effects(crossed: xr.DataTree) -> None:
    frame = bb.factor_effects(crossed).effects
    simple = [_row(frame, source="f0", within=f"f1: l{level}")["mean"] for level in (0, 1)]
    assert _row(frame, kind="interaction")["mean"] == pytest.approx(simple[0] - simple[1])
    assert _row(frame, source="f0", kind="main effect")["mean"] == pytest.approx(sum(simple) / 2)


def test_levels_weigh_as_the_study_says(crossed: xr.DataTree) -> None:
    study = made_study(sizes={"g00": 3, "g11": 9}, level_weights={"f1": {"l0": 3, "l1": 1}})
    frame = bb.factor_effects(made_fit(study, {"g00": 1.0})).effects
    plain = _leans(bb.models.fitted_table(crossed))
    expected = 0.75 * (plain["g00"] - plain["g10"]) + 0.25 * (plain["g01"] - plain["g11"])
    assert _row(frame, source="f0", kind="main effect")["observed"] == pytest.approx(expected)
    # The weights of a factor do not enter its own effect.
    own = (plain["g00"] - plain["g01"] + plain["g10"] - plain["g11"]) / 2
    assert _row(frame, source="f1", kind="main effect")["observed"] == pytest.approx(own)


def test_an_ordered_factor_has_the_slope_of_least_squares_times_the_range() -> None:
    numbers = {"l0": 20.0, "l1": 30.0, "l2": 70.0}
    fit = made_fit(made_study((3,), trends={"f0": numbers}), {"g0": 1.0, "g1": 0.5})
    plain = _leans(bb.models.fitted_table(fit))
    slope = np.polyfit(list(numbers.values()), [plain["g0"], plain["g1"], plain["g2"]], 1)[0]
    row = _row(bb.factor_effects(fit).effects, effect="linear trend from l0 to l2")
    assert row["observed"] == pytest.approx(50 * slope)
    # Another unit of the numbers changes nothing.
    table = bb.models.fitted_table(fit)
    table.attrs["bayesbias"]["factors"]["trends"]["f0"] = {name: 12 * number - 7 for name, number in numbers.items()}
    again = bb.factor_effects(bb.fit(table, draws=250, random_seed=1, progress=False)).effects
    assert again["mean"].tolist() == pytest.approx(bb.factor_effects(fit).effects["mean"].tolist())


def test_attribute_factors_give_contrasts_of_contrasts() -> None:
    lists = ("a", "b", "c", "d")
    crossing = {"valence": {"good": ["a", "b"], "bad": ["c", "d"]}, "topic": {"home": ["a", "c"], "work": ["b", "d"]}}
    fit = made_fit(made_study(lists=lists, attribute_factors=crossing), {"g00": 1.0})
    frame = bb.factor_effects(fit).effects
    assert list(dict.fromkeys(frame["lean"])) == ["good - bad", "home - work", "(good - bad) x (home - work)"]
    table = bb.models.fitted_table(fit)
    valence = (_leans(table, "a", "c") + _leans(table, "b", "d")) / 2
    both = _leans(table, "a", "c") - _leans(table, "b", "d")
    for lean, plain in (("good - bad", valence), ("(good - bad) x (home - work)", both)):
        row = _row(frame, lean=lean, source="f0", kind="main effect")
        assert row["observed"] == pytest.approx((plain["g00"] + plain["g01"] - plain["g10"] - plain["g11"]) / 2)


def test_without_attribute_factors_all_pairs_of_lists_are_compared() -> None:
    frame = bb.factor_effects(made_fit(made_study((2,), lists=("a", "b", "c")))).effects
    assert list(dict.fromkeys(frame["lean"])) == ["a - b", "a - c", "b - c"]
    assert _row(frame, lean="a - c", kind="main effect")["observed"] == pytest.approx(
        sum(_row(frame, lean=lean, kind="main effect")["observed"] for lean in ("a - b", "b - c"))
    )


def test_one_list_is_compared_by_its_distance_alone() -> None:
    study = replace(made_study((3,), lists=("only",)), neutral=["clock", "grass", "tomato"])
    frame = bb.factor_effects(made_fit(study)).effects
    assert set(frame["lean"]) == {"only"}
    assert set(frame["kind"]) == {"main effect"}


def test_a_group_in_no_level_changes_nothing_that_is_planned() -> None:
    study = made_study()
    more = replace(
        study,
        protected={**study.protected, "others": ["x", "y", "z"]},
        associated=[*study.associated, ("others", "near")],
    )
    frame = bb.factor_effects(made_fit(more)).effects
    assert (frame["words"] <= len(study.protected_words)).all()
    plain = _leans(made_table(more, {"g00": 1.0}))
    expected = (plain["g00"] + plain["g01"] - plain["g10"] - plain["g11"]) / 2
    assert _row(frame, source="f0", kind="main effect")["observed"] == pytest.approx(expected)


def test_a_cell_of_several_groups_gives_each_the_same_weight() -> None:
    study = made_study((2, 2), sizes={"g00": 2, "g01": 8})
    study = replace(study, factors={"f0": study.factors["f0"]})
    fit = made_fit(study)
    plain = _leans(bb.models.fitted_table(fit))
    row = _row(bb.factor_effects(fit).effects, kind="main effect")
    assert row["observed"] == pytest.approx((plain["g00"] + plain["g01"] - plain["g10"] - plain["g11"]) / 2)


def test_effects_are_those_of_the_table_in_any_unit() -> None:
    """Scores of another measure, a hundred times as large, have effects a hundred times as large."""
    table = made_table(made_study(), {"g00": 1.0})
    frames = []
    for factor in (1.0, 100.0):
        scores = table.drop(columns=["cosine_distance", "cosine_similarity"]).assign(
            score=factor * table["cosine_distance"]
        )
        measure = {"name": "score", "unit": "points", "column": "score", "nearer": "nearer", "farther": "farther"}
        scores.attrs["bayesbias"] = {**table.attrs["bayesbias"], "measure": measure}
        scores.attrs["bayesbias"].pop("hash")
        frames.append(bb.factor_effects(bb.fit(scores, draws=250, random_seed=1, progress=False)).effects)
    for column in ("mean", "sd", "hdi_low", "these_words_high"):
        assert frames[1][column].tolist() == pytest.approx((100 * frames[0][column]).tolist(), rel=1e-6)


def test_lost_pairs_leave_words_out_of_the_observed_lean_only() -> None:
    table = made_table(made_study(), {"g00": 1.0})
    lost = (table["protected_word"] == "g00w0") & (table["attribute_group"] == "far")
    attrs, table = table.attrs, table[~lost].reset_index(drop=True)
    table.attrs = attrs
    found = bb.factor_effects(bb.fit(table, draws=250, random_seed=1, progress=False))
    words = table[table["protected_word"] != "g00w0"]
    assert found.cells["observed"].iloc[0] == pytest.approx(_leans(words)["g00"])
    assert np.isfinite(found.effects["mean"]).all()


def test_the_same_seed_gives_the_same_numbers(crossed: xr.DataTree) -> None:
    first, second = (bb.factor_effects(crossed, rope=0.01).effects for _ in range(2))
    pd.testing.assert_frame_equal(pd.DataFrame(first), pd.DataFrame(second))
    assert first["probability_in_rope"].between(0, 1).all()
    assert first.settings["rope"] == [-0.01, 0.01]


def test_what_has_no_effects_is_refused(fit: xr.DataTree, crossed: xr.DataTree) -> None:
    with pytest.raises(ReportError, match=r"no factors.*\[factors\]"):
        bb.factor_effects(fit)
    table = bb.models.fitted_table(crossed)
    pooled = bb.fit(table, "hierarchical", draws=200, random_seed=1, progress=False)
    with pytest.raises(ReportError, match=r"'hierarchical' has no mean for each .*'multivariate'"):
        bb.factor_effects(pooled)
    with pytest.raises(ArgumentError, match="hdi_prob"):
        bb.factor_effects(crossed, hdi_prob=2)
    part = table[table["protected_group"] != "g11"].reset_index(drop=True)
    part.attrs = table.attrs
    with pytest.raises(ReportError, match="no protected group 'g11'"):
        bb.factor_effects(bb.fit(part, draws=200, random_seed=1, progress=False))
    damaged = table.copy()
    damaged.attrs["bayesbias"] = {**table.attrs["bayesbias"], "factors": {"factors": {"f0": 3}}}
    with pytest.raises(TableError, match="factor 'f0' must have levels"):
        bb.fit(damaged, draws=200, random_seed=1, progress=False)


def test_pairs_of_very_many_lists_are_refused(crossed: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesbias.reports.posterior.factor_effects._MOST_ROWS", 3)
    with pytest.raises(ReportError, match=r"The pairs of 2 attribute lists have more than 3 effects"):
        bb.factor_effects(crossed)


def test_the_report_of_a_fit_has_the_effects(crossed: xr.DataTree) -> None:
    report = bb.report(crossed, quick=True)
    contents = report.contents
    found = bb.factor_effects(crossed)
    pd.testing.assert_frame_equal(pd.DataFrame(contents.tables["factor_effects"].frame), pd.DataFrame(found.effects))
    assert {"factor_effects", "factor_means"} <= set(contents.data)
    assert "factors" in contents.figures
    assert {one.text for one in found.statements} <= {one.text for one in report.conclusions.shown}
    methods = bb.methods(crossed)
    assert "The protected groups cross the factors f0 (l0, l1) x f1 (l0, l1) in 4 cells." in methods
    assert report.study_of_table is not None
    assert report.study_of_table.factors == made_study().factors


def test_the_report_says_why_a_fit_has_no_effects(crossed: xr.DataTree) -> None:
    table = bb.models.fitted_table(crossed)
    pooled = bb.fit(table, "hierarchical", draws=200, random_seed=1, progress=False)
    assert "Effects of the study's factors are not computed. The model 'hierarchical'" in str(bb.conclusions(pooled))
    assert "cross the factors" not in bb.methods(pooled)
