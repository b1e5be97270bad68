"""Fits from draws that the user sampled: those of our own samplers stand for them, so that tests take no time."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import FitError, LostWordsWarning
from tests.models.tables import small

CHANGE = "a slope on word frequency"


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return small(8, 6)


@pytest.fixture(scope="module")
def drawn(table: pd.DataFrame) -> xr.DataTree:
    """Draws of the paper's model without what only a fit has, as from another program."""
    return as_drawn(bb.fit(table, "hierarchical", draws=1000, random_seed=1, progress=False))


def as_drawn(fit: xr.DataTree) -> xr.DataTree:
    groups = {name: fit[name].to_dataset() for name in ("posterior", "observed_data")}
    groups["posterior"] = groups["posterior"].assign_attrs(
        inference_library="sampler", inference_library_version="2", tuning_steps=500
    )
    return xr.DataTree.from_dict(groups)


def with_slope(drawn: xr.DataTree) -> xr.DataTree:
    changed = drawn.copy(deep=True)
    posterior = changed["posterior"].to_dataset()
    shape = posterior.sizes["chain"], posterior.sizes["draw"]
    slope = np.random.default_rng(1).normal(0.2, 0.01, shape)
    changed["posterior"] = xr.DataTree(posterior.assign(slope=(("chain", "draw"), slope)))
    return changed


def changed_posterior(drawn: xr.DataTree, change: Any) -> Any:
    groups = {name: group.to_dataset() for name, group in drawn.children.items()}
    return SimpleNamespace(**groups | {"posterior": change(groups["posterior"])})


def test_reports_are_those_of_the_same_draws(drawn: xr.DataTree, table: pd.DataFrame) -> None:
    fit = bb.as_fit(drawn, table, "hierarchical")
    ours = bb.fit(table, "hierarchical", draws=1000, random_seed=1, progress=False)
    columns = ["contrast", "mean", "sd", "hdi_low", "hdi_high"]
    pd.testing.assert_frame_equal(bb.contrasts(fit, level="all")[columns], bb.contrasts(ours, level="all")[columns])
    pd.testing.assert_series_equal(bb.summary(fit)["mean"], bb.summary(ours)["mean"])
    assert {"r_hat", "ess_bulk"} <= set(bb.contrasts(fit).columns)
    assert bb.models.fitted_table(fit)["cosine_distance"].tolist() == table["cosine_distance"].tolist()
    assert "outside of bayesbias, by sampler 2, 4 chains of 1,000 draws after 500 tuning steps" in bb.methods(fit)
    assert bb.check_posterior(fit, random_seed=1, progress=False).coverage["pairs"].iloc[0] == len(table)


def test_the_default_model_gets_its_words_like_these_from_the_means_of_lists(table: pd.DataFrame) -> None:
    ours = bb.fit(table, draws=1000, random_seed=1, progress=False)
    drawn = changed_posterior(
        as_drawn(ours),
        lambda posterior: posterior.drop_vars(
            [
                name
                for name in posterior
                if name in ("word_mean", "word_sd", "connection_mean", "effect_sd", "word_covariance")
            ]
        ),
    )
    fit = bb.as_fit(drawn, table)
    for scope in ("population", "these_words"):
        again, first = (bb.contrasts(each, scope=scope).set_index("contrast") for each in (fit, ours))
        error = first["sd"] / np.sqrt(500)
        assert (abs(again["mean"] - first["mean"]) < 4 * error).all()
        np.testing.assert_allclose(again["sd"], first["sd"], rtol=0.15)


def test_a_changed_model_is_reported_as_such(drawn: xr.DataTree, table: pd.DataFrame, tmp_path: Path) -> None:
    fit = bb.as_fit(with_slope(drawn), table, "hierarchical", change=f"{CHANGE}.", random_seed=7)
    assert bb.models.fit_attribute(fit, "random_seed") == 7
    slope = bb.summary(fit, level="overall").set_index("parameter").loc["slope"]
    assert slope["mean"] == pytest.approx(0.2, abs=0.002)
    assert slope["r_hat"] < 1.01
    assert f"The model was changed by hand: {CHANGE}." in bb.methods(fit)
    assert CHANGE in str(bb.conclusions(fit))
    with pytest.raises(FitError, match=CHANGE):
        bb.check_posterior(fit, random_seed=1, progress=False)
    with pytest.raises(FitError, match="density"):
        bb.models.add_groups(fit, ["log_likelihood"])
    read = bb.read_fit(bb.write_fit(fit, tmp_path / "fit.nc"))
    assert read.identical(fit)
    page = bb.write(fit, tmp_path / "page.html").read_text(encoding="utf-8")
    known = (
        f"from the model hierarchical (changed), whose change is: {CHANGE}. A fit stores draws and the change in words"
    )
    assert known in page  # below "How to repeat it"
    assert page.count("Not computed. The density of this fit") == 1  # predictions
    assert page.count("Not computed. The model was changed by hand") == 3  # priors, comparison, sensitivity
    assert "The user sampled 4,000 draws (1,000 in each of 4 chains), by sampler 2, with the seed 7." in page
    assert "Equations and priors before the change:" in page


def test_parameters_that_the_user_added_are_reported_with_their_labels(
    drawn: xr.DataTree, table: pd.DataFrame, tmp_path: Path
) -> None:
    """A slope for each group, an effect of each word, and degrees of freedom, which another model has too."""
    rng, words = np.random.default_rng(1), list(drawn["posterior"].coords["protected_word"].to_numpy())
    groups = list(dict.fromkeys(table["protected_group"]))

    def added(posterior: xr.Dataset) -> xr.Dataset:
        shape = posterior.sizes["chain"], posterior.sizes["draw"]
        slope = rng.normal([0.2, -0.1], 0.01, (*shape, 2))
        return posterior.assign(
            slope=(("chain", "draw", "protected_group"), slope),
            effect=(("chain", "draw", "protected_word"), rng.normal(0, 0.1, (*shape, len(words)))),
            bump=(("chain", "draw", "bin"), rng.normal(0, 0.1, (*shape, 2))),
            nu=(("chain", "draw"), rng.gamma(9, 2, shape)),
        ).assign_coords(protected_group=groups, bin=["short", "long"])

    changed = changed_posterior(drawn, added)
    with pytest.raises(FitError, match="has slope, effect, bump, nu, which the model 'hierarchical' has not"):
        bb.as_fit(changed, table, "hierarchical")
    fit = bb.as_fit(changed, table, "hierarchical", change=CHANGE)
    frame = bb.summary(fit)
    slopes = frame[frame["parameter"] == "slope"].set_index("protected_group")
    pairs = table.groupby("protected_group", observed=True).size()
    assert slopes["mean"].to_dict() == pytest.approx(dict(zip(groups, (0.2, -0.1), strict=True)), abs=0.002)
    assert slopes["pairs"].to_dict() == pairs.to_dict()
    effects = frame[frame["parameter"] == "effect"].set_index("protected_word")
    assert effects["pairs"].to_dict() == table.groupby("protected_word").size().to_dict()
    assert effects.loc[words[0], "protected_group"] == groups[0]
    assert frame.loc[frame["parameter"] == "bump", "bin"].tolist() == ["short", "long"]
    (statement,) = (item for item in bb.conclusions(fit).shown if item.kind == "added")
    assert f"slope [{groups[0]}] 0.2" in statement.text
    assert "The change added slope, effect, bump, nu." in bb.methods(fit)
    page = bb.write(bb.report(fit, quick=True), tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"Parameters added by hand ({CHANGE})" in page
    assert bb.read_fit(bb.write_fit(fit, tmp_path / "fit.nc")).identical(fit)


def test_a_list_that_was_dropped_from_a_table_has_no_lost_words() -> None:
    """Neither in the conclusions nor in the study that the page writes."""
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    with pytest.warns(LostWordsWarning):
        whole = bb.distance_table(vectors, "weat7")
    part = whole[whole["connection"].isin(["associated", "different"])].reset_index(drop=True)
    fit = bb.fit(part, "hierarchical", draws=50, random_seed=1, progress=False)
    assert {entry["list"] for entry in whole.attrs["bayesbias"]["lost_words"]} == {"neutral"}
    assert "No word was lost." in bb.conclusions(fit).about.text
    study = bb.report(fit).study_of_table
    assert study is not None
    assert (study.human, study.neutral) == ((), ())


def test_statistics_of_our_samplers_do_not_make_draws_of_the_user_independent(
    drawn: xr.DataTree, table: pd.DataFrame
) -> None:
    with_mass = drawn.copy(deep=True)
    with_mass["sample_stats"] = xr.DataTree(xr.Dataset({"edge_mass": 0.0}))
    fit = bb.as_fit(with_mass, table, "hierarchical")
    assert "outside of bayesbias" in bb.methods(fit)
    fit["sample_stats"] = with_mass["sample_stats"]  # as a file of someone else may have it
    assert "by another method (sampler `user`)" in bb.methods(fit)


def test_groups_of_the_user_are_kept(drawn: xr.DataTree, table: pd.DataFrame) -> None:
    sizes = drawn["posterior"].sizes
    shape = sizes["chain"], sizes["draw"], len(table)
    density = xr.Dataset({"cosine_distance": (("chain", "draw", "pair"), np.zeros(shape))})
    changed = drawn.copy()
    changed["log_likelihood"] = xr.DataTree(density)
    kept = bb.as_fit(changed, table, "hierarchical")["log_likelihood"]["cosine_distance"]
    assert kept.shape == shape


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda posterior: posterior.drop_vars("word_mean"), "has no word_mean; it has connection_mean, .*var_names"),
        (lambda posterior: posterior.rename(connection="group"), "connection_mean has the dims chain, draw, group"),
        (
            lambda posterior: posterior.assign(sigma=posterior["sigma"] * np.nan),
            "sigma has values that are not finite",
        ),
        (
            lambda posterior: posterior.assign_coords(protected_word=posterior["protected_word"].to_numpy()[::-1]),
            "protected_word has other labels",
        ),
        (lambda posterior: posterior.assign(slope=posterior["sigma"].isel(connection=0)), 'slope.*change="'),
        (lambda posterior: posterior.assign({"a/b": posterior["sigma"]}), "a/b has a slash"),
    ],
)
def test_faults_are_named(change: Any, named: str, drawn: xr.DataTree, table: pd.DataFrame) -> None:
    with pytest.raises(FitError, match=named):
        bb.as_fit(changed_posterior(drawn, change), table, "hierarchical")


def test_draws_of_another_table_are_refused(drawn: xr.DataTree, table: pd.DataFrame) -> None:
    moved = table.assign(cosine_distance=table["cosine_distance"] + 0.01)
    with pytest.raises(FitError, match=r"another table, .*pair 1 of the table, 'p0'"):
        bb.as_fit(drawn, moved, "hierarchical")
    with pytest.raises(FitError, match=f"for {len(table)} pairs, and the table has {len(table) - 1}"):
        bb.as_fit(drawn, table.iloc[1:], "hierarchical")
    with pytest.raises(FitError, match="group posterior"):
        bb.as_fit({"posterior": {}}, table, "hierarchical")


def test_problems_of_the_draws_are_warned_of(drawn: xr.DataTree, table: pd.DataFrame) -> None:
    short = drawn.copy()
    short["posterior"] = xr.DataTree(drawn["posterior"].to_dataset().isel(draw=slice(0, 20)))
    with pytest.warns(bb.errors.ConvergenceWarning, match="effective draws"):
        bb.as_fit(short, table, "hierarchical")


def test_the_same_draws_give_the_same_seed(drawn: xr.DataTree, table: pd.DataFrame) -> None:
    seeds = {bb.models.fit_attribute(bb.as_fit(drawn, table, "hierarchical"), "random_seed") for _ in range(2)}
    assert len(seeds) == 1


@pytest.mark.slow
def test_nuts_of_a_model_with_a_predictor_finds_its_slope(table: pd.DataFrame) -> None:
    """A slope that was added to the distances, by a model that was changed as the guide says."""
    import pymc as pm

    frequency = np.random.default_rng(2).normal(size=len(table))
    sloped = table.assign(cosine_distance=table["cosine_distance"] + 0.03 * frequency)
    with bb.pymc_model(sloped, "hierarchical", likelihood=False) as model:
        slope = pm.Normal("slope", 0, 0.1)
        mean, sd = model["pair_mean"] + slope * frequency, model["sigma"][model["connection_index"]]
        pm.Normal("cosine_distance", mean, sd, observed=model["distance"], dims="pair")
        idata = pm.sample(1000, tune=1000, chains=4, random_seed=1, progressbar=False, nuts={"target_accept": 0.95})
    fit = bb.as_fit(idata, sloped, "hierarchical", change=CHANGE)
    row = bb.summary(fit, level="overall").set_index("parameter").loc["slope"]
    assert abs(row["mean"] - 0.03) < 3 * row["sd"] < 0.03
    assert "pair_mean" not in fit["posterior"]
