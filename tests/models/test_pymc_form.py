"""The PyMC model, checked without sampling."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.pymc_form import build_model
from tests import third_group


@pytest.fixture(autouse=True)
def _no_compiler() -> Iterator[None]:
    """Evaluate densities step by step: to compile them takes longer than all that is asked of them."""
    from pytensor.configdefaults import config

    with config.change_flags(mode="FAST_COMPILE"):
        yield


@pytest.fixture(scope="module")
def data(table: pd.DataFrame) -> ModelData:
    return model_data(table)


@pytest.fixture(scope="module")
def three_lists(table: pd.DataFrame) -> ModelData:
    """Two stereotype lists and one of controls, as few as have every term: a graph grows with the lists."""
    return model_data(table[table["connection"] != "human"])


@pytest.mark.parametrize("name", bb.list_models())
def test_value_and_gradient_are_finite_at_the_start(name: str, three_lists: ModelData) -> None:
    model = build_model(three_lists, bb.load_model(name))
    point = model.initial_point()
    assert np.isfinite(model.compile_logp()(point))
    assert np.isfinite(model.compile_dlogp()(point)).all()


def test_log_density_is_the_papers(data: ModelData) -> None:
    """The joint density of the model, written out with SciPy from the paper's equations."""
    model = build_model(data, bb.load_model("hierarchical"))
    rng = np.random.default_rng(5)
    words, connections = len(data.protected_words), len(data.connections)
    connection_mean = rng.normal(1, 0.3, connections)
    word_sd = rng.exponential(0.05, connections) + 0.01
    sigma = rng.exponential(0.1, connections) + 0.01
    offset = rng.normal(size=(words, connections))
    word_mean = connection_mean + word_sd * offset
    expected = (
        stats.norm(1, 0.3).logpdf(connection_mean).sum()
        + stats.expon(scale=0.5).logpdf(word_sd).sum()
        + stats.expon(scale=0.5).logpdf(sigma).sum()
        # The density of the paper's word means, and the change of variable to standardised offsets.
        + (stats.norm(connection_mean, word_sd).logpdf(word_mean) + np.log(word_sd)).sum()
        + stats.norm(word_mean[data.protected, data.connection], sigma[data.connection]).logpdf(data.distance).sum()
    )
    point = {
        "connection_mean": connection_mean,
        "word_sd_log__": np.log(word_sd),
        "sigma_log__": np.log(sigma),
        "word_offset": offset,
    }
    log_density = model.compile_logp(jacobian=False)(point)
    np.testing.assert_allclose(log_density, expected, rtol=1e-10)


def test_dims_are_those_of_the_schema(data: ModelData) -> None:
    model = build_model(data, bb.load_model("hierarchical"))
    dims = {name: model.named_vars_to_dims[name] for name in ("connection_mean", "word_sd", "sigma", "word_mean")}
    assert dims == {
        "connection_mean": ("connection",),
        "word_sd": ("connection",),
        "sigma": ("connection",),
        "word_mean": ("protected_word", "connection"),
    }


def test_a_model_of_rows_has_the_rows_of_groups_that_are_compared() -> None:
    for name in ("hierarchical", "crossed"):
        model, without = (bb.pymc_model(third_group.table(third), name) for third in ("none", ""))
        np.testing.assert_array_equal(model["distance"].get_value(), without["distance"].get_value())
        assert model.coords == without.coords
    assert "farmer" in bb.pymc_model(third_group.table("none")).coords["protected_word"]
