"""The groups for ArviZ: what its functions make of them, and that their numbers are those of the package."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ArgumentError, FitError, InputFileError, NotEnoughMemoryError
from bayesbias.models.densities import densities
from bayesbias.models.fits import ARVIZ_GROUPS, fitted_rows
from bayesbias.models.likelihood import psis_loo

# Short runs: how well they converged is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
MODELS = ("hierarchical", "crossed", "multivariate")
DRAWS = 150


@pytest.fixture(scope="module")
def small(table: pd.DataFrame) -> pd.DataFrame:
    stereotype_rows = table[table["connection"].isin(["associated", "different"])].reset_index(drop=True)
    stereotype_rows.attrs = {}
    return stereotype_rows


@pytest.fixture(scope="module", params=MODELS)
def whole(request: pytest.FixtureRequest, small: pd.DataFrame) -> xr.DataTree:
    return bb.fit(small, request.param, draws=DRAWS, random_seed=1, groups=ARVIZ_GROUPS, progress=False)


def test_the_fit_itself_is_the_same(whole: xr.DataTree, small: pd.DataFrame) -> None:
    alone = bb.fit(small, bb.models.fit_attribute(whole, "model")["name"], draws=DRAWS, random_seed=1, progress=False)
    xr.testing.assert_identical(alone["posterior"].to_dataset(), whole["posterior"].to_dataset())
    again = bb.models.add_groups(alone)
    for name in ARVIZ_GROUPS:
        xr.testing.assert_identical(again[name].to_dataset(), whole[name].to_dataset())
    assert set(alone.children) - {"covariances"} == {"posterior", "sample_stats", "observed_data", "constant_data"}
    assert ("covariances" in alone.children) == ("list_mean" in alone["posterior"])


@pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto")
def test_arviz_reads_the_groups(whole: xr.DataTree) -> None:
    import arviz as az
    import matplotlib.pyplot as plt

    data = fitted_rows(whole)
    elpd = az.loo(whole)
    density = whole["log_likelihood"]["cosine_distance"].stack(sample=("chain", "draw")).to_numpy()
    assert density == pytest.approx(densities(whole, data).of_rows(np.arange(len(data.distance))))
    ours, _ = psis_loo(density)
    assert float(elpd.elpd) == pytest.approx(ours.sum(), abs=0.5)  # ArviZ takes the draws' efficiency into account
    if bb.models.fit_attribute(whole, "model")["name"] != "multivariate":
        return  # the groups have the same variables in all models: the next test
    for draw in (az.plot_ppc_dist, az.plot_loo_pit):
        draw(whole, backend="matplotlib")
    for draw in (az.plot_prior_posterior, az.plot_forest):
        draw(whole, var_names=["connection_mean"], backend="matplotlib")
    plt.close("all")


@pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto")
def test_arviz_compares(small: pd.DataFrame) -> None:
    import arviz as az

    fits = {
        model: bb.fit(small, model, draws=DRAWS, random_seed=1, groups="log_likelihood", progress=False)
        for model in ("hierarchical", "crossed")
    }
    assert az.compare(fits).index.tolist() == ["crossed", "hierarchical"]


GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "tools.md"
TABLE = [line for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith("| `az.")]


@pytest.fixture(scope="module")
def nuts_fit(small: pd.DataFrame) -> xr.DataTree:
    settings: dict[str, Any] = {"draws": DRAWS, "tune": 300, "random_seed": 1, "progress": False}
    return bb.fit(small, "hierarchical", sampler="nuts", groups=ARVIZ_GROUPS, **settings)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto")
@pytest.mark.parametrize("line", TABLE, ids=lambda line: line.split("`")[1])
@pytest.mark.parametrize("sampler", ["own", "nuts"])
def test_arviz_takes_every_fit_as_the_guide_says(
    line: str, sampler: str, whole: xr.DataTree, nuts_fit: xr.DataTree
) -> None:
    import arviz as az
    import matplotlib.pyplot as plt

    functions, needed, of_which = ([*map(str.strip, cell.split("`"))] for cell in line.strip("| ").split("|"))
    fit = (whole if sampler == "own" else nuts_fit).copy()
    for group in set(ARVIZ_GROUPS) - set(needed):
        del fit[group]
    if "NUTS" in of_which[0] and sampler == "own":
        assert "energy" not in fit["sample_stats"]
        return
    for function in functions[1::2]:
        draw = getattr(az, function.removeprefix("az."))
        options: dict[str, Any] = {"backend": "matplotlib"} if "plot" in function else {}
        if "plot" in function and not any(part in function for part in ("ppc", "loo", "energy")):
            options["var_names"] = ["connection_mean"]
        assert draw({"one": fit, "other": fit} if "compare" in function else fit, **options) is not None
        plt.close("all")


def test_a_summary_of_arviz_has_a_row_for_each_number_that_is_reported(
    table: pd.DataFrame, small: pd.DataFrame
) -> None:
    """Covariances of protected words, a thousand numbers for 16 words, are in a group of their own."""
    import arviz as az

    assert len(az.summary(bb.fit(table, draws=DRAWS, random_seed=1, progress=False), kind="stats")) == 171  # CHANGELOG
    fit = bb.fit(small, draws=DRAWS, random_seed=1, progress=False)
    posterior, words = fit["posterior"].to_dataset(), fit["posterior"].sizes["protected_word"]
    assert len(az.summary(fit, kind="stats")) == sum(values[0, 0].size for values in posterior.values())
    assert fit["covariances"]["residual_covariance"].shape[-2:] == (words, words)
    assert all(values[0, 0].size < words**2 for values in posterior.values())


def test_predictions_look_like_the_data(whole: xr.DataTree) -> None:
    observed = whole["observed_data"]["cosine_distance"]
    predicted = whole["posterior_predictive"]["cosine_distance"]
    assert predicted.sizes == {"chain": 4, "draw": DRAWS, "pair": observed.size}
    assert float(predicted.mean()) == pytest.approx(float(observed.mean()), abs=0.05)
    assert float(predicted.std()) == pytest.approx(float(observed.std()), rel=0.3)
    prior = whole["prior"]["connection_mean"]
    assert float(prior.std()) > 3 * float(whole["posterior"]["connection_mean"].std())
    assert set(whole["prior"].data_vars) <= set(whole["posterior"].data_vars)
    assert whole["prior_predictive"]["cosine_distance"].shape == (1, 1000, observed.size)


def test_a_file_keeps_the_groups(whole: xr.DataTree, tmp_path: Path) -> None:
    path = bb.write_fit(whole, tmp_path / "fit.nc")
    read = bb.read_fit(path)
    for name in ARVIZ_GROUPS:
        xr.testing.assert_equal(read[name].to_dataset(), whole[name].to_dataset())
    assert read["posterior"].attrs["inference_library"] == "bayesbias"


def test_a_file_with_a_damaged_group_is_refused(small: pd.DataFrame, tmp_path: Path) -> None:
    damaged = bb.fit(small, "hierarchical", draws=20, random_seed=1, groups=ARVIZ_GROUPS, progress=False)
    damaged["log_likelihood"]["cosine_distance"].values[0, 0, 0] = np.nan
    broken = bb.write_fit(damaged, tmp_path / "broken.nc")
    with pytest.raises((FitError, InputFileError), match="log_likelihood/cosine_distance"):
        bb.read_fit(broken)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": "loglikelihood"}, "'log_likelihood'"),
        ({"groups": 5}, "groups=5"),
        ({"samples": 0}, "samples=0"),
        ({"random_seed": -1}, "random_seed=-1"),
    ],
)
def test_mistakes(short_fit: xr.DataTree, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        bb.models.add_groups(short_fit, **options)
    if "groups" in options:
        with pytest.raises(ArgumentError, match=message):
            bb.fit(bb.models.fitted_table(short_fit), "hierarchical", groups=options["groups"], progress=False)


def test_more_samples_of_the_prior_than_fit_are_refused_before_they_are_drawn(whole: xr.DataTree) -> None:
    with pytest.raises(NotEnoughMemoryError, match="prior"):
        bb.models.add_groups(whole, "prior", samples=10**9)


def test_arviz_has_our_intervals_by_its_names_and_equal_tails_by_default(whole: xr.DataTree) -> None:
    import arviz as az

    assert az.rcParams["stats.ci_kind"] == "eti"
    ours = bb.summary(whole, level="overall").query("parameter == 'connection_mean'")
    theirs = az.summary(whole, var_names=["connection_mean"], ci_kind="hdi", ci_prob=0.89, round_to="none")
    assert ours["hdi_low"].to_numpy() == pytest.approx(theirs["hdi89_lb"].to_numpy(dtype=float))
    assert ours["hdi_high"].to_numpy() == pytest.approx(theirs["hdi89_ub"].to_numpy(dtype=float))


def test_power_scaling_runs(whole: xr.DataTree) -> None:
    import arviz as az

    frame = az.psense_summary(whole, var_names=["connection_mean"])
    assert frame.index.tolist() == ["connection_mean[associated]", "connection_mean[different]"]
    assert np.isfinite(frame[["prior", "likelihood"]].to_numpy()).all()
    spec = bb.models.fit_attribute(whole, "model")
    assert set(whole["log_prior"].data_vars) == set(spec["priors"]) & set(whole["posterior"].data_vars)


@pytest.mark.parametrize(
    ("model", "parameter", "strong", "doubled", "power"),
    [
        # The power of a density that doubles its scale: Normal(m, s)^(1/4) is Normal(m, 2 s), up to a constant.
        ("hierarchical", "connection_mean", "Normal(0.6, 0.1)", "Normal(0.6, 0.2)", 1 / 4),
        ("no_pooling", "connection_mean", "Normal(0.6, 0.2)", "Normal(0.6, 0.4)", 1 / 4),
        ("crossed", "attribute_sd", "Exponential(300)", "Exponential(150)", 1 / 2),
        ("multivariate", "sigma", "Exponential(200)", "Exponential(100)", 1 / 2),
    ],
)
def test_weights_of_a_prior_of_twice_the_scale_lead_to_the_fit_with_it(
    small: pd.DataFrame, model: str, parameter: str, strong: str, doubled: str, power: float
) -> None:
    """The draws under one prior, with weights from `log_prior`, have the means of a fit with the other."""
    import arviz as az

    settings = {"draws": 1000, "chains": 2, "random_seed": 1, "progress": False}
    narrow, wide = (bb.fit(small, model, priors={parameter: prior}, **settings) for prior in (strong, doubled))
    narrow = bb.models.add_groups(narrow, "log_prior")
    dims, log_prior, draws = ("chain", "draw"), narrow["log_prior"][parameter], narrow["posterior"][parameter]
    log_weights = (power - 1) * log_prior.sum([dim for dim in log_prior.dims if dim not in dims])
    weights = np.exp(log_weights - log_weights.max())
    weights = weights / weights.sum()
    reweighted, refitted = (draws * weights).sum(dims), wide["posterior"][parameter].mean(dims)
    variance = (weights**2 * (draws - reweighted) ** 2).sum(dims) + wide["posterior"][parameter].var(dims) / 2000
    error = np.sqrt(variance)
    assert float((abs(reweighted - refitted) / error).max()) < 4
    assert float((abs(draws.mean(dims) - refitted) / error).max()) > 8, "the prior matters here, so that weights do"
    usual = bb.models.add_groups(bb.fit(small, model, **settings), "log_prior")
    strengths = [
        float(az.psense(fit, var_names=[parameter], group="prior", group_var_names=[parameter])[parameter].max())
        for fit in (narrow, usual)
    ]
    assert strengths[0] > 1.5 * strengths[1]
