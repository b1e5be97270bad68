"""The section on the model: its equations name every parameter that has a prior."""

import pytest

import bayesbias as bb
from bayesbias.delivery.page.fit.model import model_equations
from bayesbias.models.spec import list_models, load_model


@pytest.mark.parametrize("name", list_models())
def test_the_equations_name_the_parameters_with_priors(name: str) -> None:
    spec = load_model(name)
    text = " ".join(model_equations(spec))
    missing = {parameter for parameter in spec.priors if parameter not in text}
    assert not missing - {"nu", "effect_sd", "connection_mean"}, bb.__version__
