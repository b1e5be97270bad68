"""What functions say of their parameters, against the functions themselves."""

from inspect import signature
from operator import attrgetter

import pytest

import bayesbias as bb
from bayesbias.cli.base import app
from bayesbias.cli.called import called_parameters

CALLS = sorted({call for command in app.registered_commands for call in getattr(command.callback, "calls", ())})


@pytest.mark.parametrize("call", CALLS)
def test_defaults_are_those_of_the_function_that_is_imported(call: str) -> None:
    function, *names = call.split()
    parameters = signature(attrgetter(function.removeprefix("bb."))(bb)).parameters
    expected = {name: parameters[name].default for name in names}
    assert names
    assert {name: default for name, (default, _) in called_parameters(call).items()} == expected


def test_texts_are_those_of_the_docstring() -> None:
    (_, inside), (_, draws) = called_parameters("bb.compare_embeddings hdi_prob draws").values()
    assert {inside, draws} == {
        "Probability inside the highest posterior density intervals.",
        "Posterior draws per chain, of 4 chains.",
    }


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(LookupError, match="no_such_function"):
        called_parameters("bb.no_such_function draws")
    with pytest.raises(TypeError, match="no function"):
        called_parameters("bb.base.checks.HDI_PROB")
