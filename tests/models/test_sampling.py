"""Fitting: settings, seeds, convergence, and the published posteriors."""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ArgumentError, ConvergenceWarning, ModelError, NotEnoughMemoryError
from tests.models.agreement import worst_differences
from tests.models.tables import small


def test_the_fit_has_the_designed_form(fit: xr.DataTree, table: pd.DataFrame) -> None:
    assert set(fit.children) == {"posterior", "sample_stats", "observed_data", "constant_data"}
    posterior = fit["posterior"].to_dataset()
    assert set(posterior.data_vars) == {"connection_mean", "word_sd", "sigma", "word_mean"}
    assert posterior["connection_mean"].dims == ("chain", "draw", "connection")
    assert posterior["word_mean"].dims == ("chain", "draw", "protected_word", "connection")
    assert dict(posterior.sizes) == {"chain": 2, "draw": 3000, "connection": 4, "protected_word": 16}
    np.testing.assert_array_equal(fit["observed_data"]["cosine_distance"], table["cosine_distance"])
    assert all(isinstance(value, str) for value in fit.attrs.values())
    assert bb.models.fit_attribute(fit, "random_seed") == 3
    assert bb.models.fit_attribute(fit, "sampler") == "exact"
    assert bb.models.fit_attribute(fit, "model")["priors"]["sigma"] == "Exponential(rate=2)"
    assert bb.models.fit_attribute(fit, "versions")["bayesbias"] == bb.__version__
    assert bb.models.fit_attribute(fit, "table")["study"] == "weat7"


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"sampler": "gibbs"}, ArgumentError, "sampler=.gibbs.: .*auto, conjugate, exact"),
        ({"sampler": "nut"}, ArgumentError, "'nuts'"),
        ({"draws": 0}, ArgumentError, "draws=0"),
        ({"draws": True}, ArgumentError, "draws=True"),
        ({"chains": 2.5}, ArgumentError, "chains=2.5"),
        ({"random_seed": -1}, ArgumentError, "random_seed=-1"),
        ({"random_seed": "one"}, ArgumentError, "random_seed='one'"),
        ({"model": "hierachical"}, ModelError, "'hierarchical'"),
        ({"priors": {"sigma": "Normal(0, 1)"}}, ModelError, "sigma.*Normal"),
        ({"priors": {"group_mean": "Normal(0, 1)"}}, ModelError, "connection_mean"),
    ],
)
def test_mistakes_end_before_sampling(table: pd.DataFrame, settings: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        bb.fit(table, **settings)


@pytest.fixture(scope="module")
def few() -> Iterator[pd.DataFrame]:
    """One small table for all short runs of NUTS, whose model is compiled once."""
    import nutpie

    compile_model, compiled = nutpie.compile_pymc_model, dict[bytes, Any]()

    def compiled_once(model: Any, **settings: Any) -> Any:
        content = repr(model.free_RVs).encode() + model["distance"].get_value().tobytes()
        if content not in compiled:
            compiled[content] = compile_model(model, **settings)
        return compiled[content]

    with pytest.MonkeyPatch.context() as context:
        context.setattr(nutpie, "compile_pymc_model", compiled_once)
        yield small(4, 3, seed=3)


def test_a_short_fit_warns_once_and_names_parameters(few: pd.DataFrame) -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        short = bb.fit(few, "hierarchical", sampler="nuts", draws=20, tune=20, chains=2, random_seed=1)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "connection_mean" in message
    assert "Run longer" in message
    assert bb.models.fit_attribute(short, "convergence_problems")
    assert bb.conclusions(short).doubts[0].kind == "convergence"


def test_the_tree_depth_is_judged(few: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    import nutpie

    sample = nutpie.sample
    monkeypatch.setattr(nutpie, "sample", lambda *args, **settings: sample(*args, maxdepth=2, **settings))
    with pytest.warns(ConvergenceWarning, match="tree depth"):
        bb.fit(few, "hierarchical", sampler="nuts", draws=20, tune=50, chains=2, random_seed=1)


@pytest.mark.parametrize("cut", [{"draw": slice(0, 5)}, {"chain": slice(0, 1)}])
def test_half_a_posterior_is_none(few: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, cut: dict) -> None:
    """Interrupted, NUTS returns the draws that it has."""
    import nutpie

    sample = nutpie.sample
    monkeypatch.setattr(nutpie, "sample", lambda *args, **settings: sample(*args, **settings).isel(cut))
    with pytest.raises(KeyboardInterrupt):
        bb.fit(few, "hierarchical", sampler="nuts", draws=10, tune=20, chains=2, random_seed=1)


_REPEAT = """
import sys, hashlib, warnings, numpy as np, bayesbias as bb
warnings.simplefilter("ignore")
table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
table = table[table["connection"].isin(["associated", "different"])]
for sampler in sys.argv[1:]:
    model = "crossed" if sampler == "collapsed" else "hierarchical"
    fit = bb.fit(table, model, draws=50, tune=100, chains=2, random_seed=11, sampler=sampler)
    print(hashlib.sha256(np.ascontiguousarray(fit["posterior"]["word_mean"]).tobytes()).hexdigest())
"""


@pytest.mark.truth
@pytest.mark.slow
@pytest.mark.parametrize("samplers", [["exact", "collapsed"], ["nuts"]], ids=" ".join)
def test_a_seed_repeats_exactly_on_a_cold_and_on_a_warm_cache(samplers: list[str], tmp_path: Path) -> None:
    """Two processes share a compile cache that is empty at first."""
    environment = {
        **os.environ,
        "PYTENSOR_FLAGS": f"base_compiledir={tmp_path / 'pytensor'}",
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
    }
    command = [sys.executable, "-c", _REPEAT, *samplers]
    cold, warm = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout for _ in range(2)
    )
    assert cold == warm
    assert [len(line) for line in cold.split()] == [64] * len(samplers)


@pytest.mark.slow
def test_a_seed_repeats_exactly_in_another_process(capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-c", _REPEAT, "exact", "collapsed"]
    other = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    with pytest.MonkeyPatch.context() as context:
        context.setattr(sys, "argv", command[2:])
        with warnings.catch_warnings():
            exec(_REPEAT, {})
    assert capsys.readouterr().out == other
    assert [len(line) for line in other.split()] == [64, 64]


def test_nuts_is_compiled_without_fast_math(monkeypatch: pytest.MonkeyPatch) -> None:
    """With it a compile cache that is warm gives other draws than a cold one: see `make validate`."""
    from pytensor.configdefaults import config

    class StoppedError(Exception):
        pass

    def look(*_: object, **__: object) -> None:
        raise StoppedError(str(config.numba__fastmath))

    monkeypatch.setattr("nutpie.compile_pymc_model", look)
    with config.change_flags(numba__fastmath=True), pytest.raises(StoppedError, match="False"):
        bb.fit(small(2, 2), "hierarchical", sampler="nuts", draws=10, tune=10, chains=1, random_seed=1)


@pytest.mark.parametrize(
    "which",
    # The first is not among the slow ones: the tests beside it compiled the model.
    ["few rows", pytest.param("WEAT 7", marks=[pytest.mark.slow, pytest.mark.truth])],
)
def test_nuts_agrees_with_independent_draws_within_monte_carlo_error(
    which: str, table: pd.DataFrame, few: pd.DataFrame
) -> None:
    chosen = table if which == "WEAT 7" else few
    fit = bb.fit(chosen, "hierarchical", draws=3000, chains=2, random_seed=3)
    with warnings.catch_warnings(action="ignore"):
        other = bb.fit(chosen, "hierarchical", sampler="nuts", draws=2000, tune=1000, chains=2, random_seed=4)
    worst = worst_differences(fit, other)
    assert worst["mean"] < 4
    assert worst["sd"] < 4.5
    assert bb.models.fit_attribute(other, "sampler") == "nuts"
    assert set(other["sample_stats"].to_dataset()) >= {"diverging", "energy", "tree_depth", "step_size", "lp"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "which"), [("crossed", "few rows"), pytest.param("hierarchical", "WEAT 7", marks=pytest.mark.truth)]
)
def test_other_priors_than_normal_ones_are_sampled_by_nuts(
    name: str, which: str, table: pd.DataFrame, few: pd.DataFrame
) -> None:
    """A Student t of many degrees of freedom hardly differs from the Normal prior, with which draws are independent."""
    chosen = table if which == "WEAT 7" else few
    nearly_normal = {"connection_mean": "StudentT(1000, 1, 0.3)"}
    with warnings.catch_warnings(action="ignore"):
        fitted = bb.fit(chosen, name, priors=nearly_normal, draws=400, tune=400, chains=2, random_seed=1)
    assert bb.models.fit_attribute(fitted, "sampler") == "nuts"
    normal = bb.fit(chosen, name, draws=3000, chains=2, random_seed=1)
    assert worst_differences(normal, fitted)["mean"] < 5


@pytest.mark.slow
def test_priors_matter_as_they_should(table: pd.DataFrame, fit: xr.DataTree) -> None:
    """A prior that allows hardly any spread between words pools them completely."""
    pooled = bb.fit(table, "hierarchical", random_seed=2, priors={"word_sd": "HalfNormal(sigma=0.0001)"})
    spread = bb.summary(pooled, level="word").groupby("connection", observed=True)["mean"].std()
    assert spread.max() < 0.001 < bb.summary(fit, level="word").groupby("connection", observed=True)["mean"].std().min()
    assert bb.models.fit_attribute(pooled, "model_hash") != bb.models.fit_attribute(fit, "model_hash")


@pytest.mark.truth
@pytest.mark.shared
@pytest.mark.slow
def test_religion_agrees_with_the_published_posterior(shared: Path) -> None:
    """14,000 draws by the authors, of a centred parameterisation, are the independent source.

    The exact sampler is held to the same in every run, and to NUTS in small tables: `samplers/test_exact.py`.
    """
    table = bb.read_table(shared / "data" / "published" / "tables" / "religion_google.csv.gz")
    ours = bb.summary(bb.fit(table, "hierarchical", sampler="nuts", draws=4000, tune=2000, random_seed=1))
    published = pd.read_csv(shared / "data" / "published" / "posteriors" / "religion_google.csv", keep_default_na=False)
    published["connection"] = published["connection"].replace({"none": "neutral"})
    published["parameter"] = published["parameter"].replace({"group_mean": "connection_mean"})
    both = published.astype({"mean": float, "sd": float}).merge(
        ours, on=["parameter", "connection", "protected_word"], suffixes=("_published", ""), validate="one_to_one"
    )
    assert len(both) == len(published) == len(ours) == 72
    assert ((both["mean"] - both["mean_published"]).abs() / both["sd_published"]).max() <= 0.15
    assert (both["sd"] / both["sd_published"]).between(0.9, 1.1).all()


def test_without_a_seed_one_is_recorded_that_repeats_the_draws(few: pd.DataFrame) -> None:
    def drawn(seed: int | None) -> xr.DataTree:
        with pytest.warns(ConvergenceWarning):
            return bb.fit(few, "hierarchical", sampler="nuts", draws=10, tune=30, chains=2, random_seed=seed)

    first = drawn(None)
    seed = json.loads(first.attrs["random_seed"])
    again, other = drawn(seed), drawn(seed - 1 if seed else 1)
    assert first["posterior"].to_dataset().equals(again["posterior"].to_dataset())
    assert not first["posterior"].to_dataset().equals(other["posterior"].to_dataset())


def test_covariances_of_very_many_groups_are_refused_before_any_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand groups took hours, and 250 GB."""
    words = small(300, 4)
    words["protected_group"] = words["protected_word"]
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 1_000_000_000)
    monkeypatch.setattr("bayesbias.models.sampling._sample", None)  # nothing is drawn
    with pytest.raises(NotEnoughMemoryError, match=r"8,000 draws .* 300 protected groups in 4 lists .* 92\.2 GB"):
        bb.fit(words, random_seed=1, progress=False)
