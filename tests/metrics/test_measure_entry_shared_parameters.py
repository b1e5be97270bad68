"""Every function that takes an embedding describes all of its parameters at run time, in the order of its signature."""

import inspect
import re

import pytest

from bayesbias import metrics
from bayesbias.metrics.measure_entry import SHARED, shared_parameters

MEASURES = [
    function
    for name in metrics.__all__
    if inspect.isfunction(function := getattr(metrics, name)) and "embedding" in inspect.signature(function).parameters
]


def described(function: object) -> list[str]:
    section = re.search(r"^Parameters\n-+\n(.*?)\n\n", inspect.getdoc(function) or "", re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^\S.*", section[1] if section else "", re.MULTILINE)
    return [name.strip(" *") for entry in entries for name in entry.partition(" : ")[0].split(",")]


@pytest.mark.parametrize("function", MEASURES, ids=lambda function: function.__name__)
def test_every_parameter_is_described(function: object) -> None:
    parameters = list(inspect.signature(function).parameters)  # type: ignore[arg-type]
    assert sorted(described(function)) == sorted(parameters)
    assert described(function)[0] == parameters[0]


def test_a_description_of_its_own_is_kept() -> None:
    @shared_parameters({"targets": "Names."})
    def measure(embedding: object, targets: object, *, c: float = 1.0, hdi_prob: float = 0.9) -> None:
        """Return nothing.

        Parameters
        ----------
        hdi_prob
            Share.
        c
            Power.

        Returns
        -------
        None
        """

    assert described(measure) == ["embedding", "targets", "c", "hdi_prob"]
    text = inspect.getdoc(measure) or ""
    assert "\n    Share.\n" in text
    assert SHARED["hdi_prob"] not in text
    assert "\n\nReturns\n-------\nNone" in text


def test_python_without_docstrings() -> None:
    def measure(embedding: object) -> None:
        pass

    assert shared_parameters()(measure).__doc__ is None
