"""The samplers of our own: which model each fits, and what each draws."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.models.samplers.registry import SAMPLERS, sampler_for


def test_each_model_has_its_sampler() -> None:
    assert {name: sampler_for(bb.load_model(name)) for name in bb.list_models()} == {
        "crossed": "collapsed",
        "crossed_per_list": "collapsed",
        "hierarchical": "exact",
        "multivariate": "conjugate",
        "multivariate_robust": "conjugate",
        "no_pooling": "exact",
    }
    for model in ("hierarchical", "crossed"):
        assert sampler_for(bb.load_model(model, priors={"connection_mean": "StudentT(4, 1, 0.3)"})) == "nuts"


@pytest.mark.parametrize(
    ("name", "model"), [("exact", "hierarchical"), ("collapsed", "crossed"), ("conjugate", "multivariate")]
)
def test_a_seed_gives_as_many_draws_as_were_asked_for_and_gives_them_again(
    table: pd.DataFrame, name: str, model: str
) -> None:
    data, spec = model_data(table), bb.load_model(model)
    first, again = (SAMPLERS[name].draw(data, spec, 200, 3)[0]["connection_mean"] for _ in range(2))
    assert first.shape == (200, len(data.connections))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_model_that_a_sampler_cannot_fit_is_named_by_its_term(name: str) -> None:
    assert SAMPLERS[name].why_not(bb.load_model("crossed", priors={"connection_mean": "StudentT(4, 1, 0.3)"}))
