"""What functions say of their parameters, against the functions themselves."""

from inspect import Parameter, signature
from operator import attrgetter

import pytest

import bayesbias as bb
from bayesbias.cli.base import app
from bayesbias.cli.called import called_parameters

CALLS = sorted({call for command in app.registered_commands for call in getattr(command.callback, "calls", ())})


@pytest.mark.parametrize("function", sorted({call.split()[0] for call in CALLS}))
def test_defaults_are_those_of_the_function_that_is_imported(function: str) -> None:
    parameters = signature(attrgetter(function.removeprefix("bb."))(bb)).parameters.values()
    named = [parameter for parameter in parameters if parameter.kind is not Parameter.VAR_POSITIONAL]
    expected = {one.name: None if one.default is Parameter.empty else one.default for one in named}
    assert {name: default for name, (default, _) in called_parameters(function).items()} == expected


@pytest.mark.parametrize("call", CALLS)
def test_every_option_of_a_call_is_a_parameter_of_the_function(call: str) -> None:
    function, *names = call.split()
    assert names
    assert called_parameters(function).keys() >= set(names)


def test_texts_are_those_of_the_docstring() -> None:
    texts = {name: text for name, (_, text) in called_parameters("bb.compare_embeddings").items()}
    assert texts["hdi_prob"] == "Probability inside the highest posterior density intervals."
    assert texts["draws"] == "Posterior draws of each of the 4 chains."


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(LookupError, match="no_such_function"):
        called_parameters("bb.no_such_function")
    with pytest.raises(TypeError, match="no function"):
        called_parameters("bb.base.checks.HDI_PROB")
