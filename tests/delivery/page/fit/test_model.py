"""The section on the model: its equations name every parameter that has a prior."""

import pytest

from bayesbias.delivery.page.fit.model import model_equations
from bayesbias.models.spec import list_models, load_model


@pytest.mark.parametrize("name", list_models())
def test_the_equations_name_the_parameters_with_priors(name: str) -> None:
    spec = load_model(name)
    text = " ".join(model_equations(spec))
    assert not {parameter for parameter in spec.priors if parameter not in text}
