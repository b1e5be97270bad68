"""Hostile inputs, in short: `make fuzz` reads 50,000."""

import pytest

from tests.fuzz.runner import OUTCOMES, count
from tests.fuzz.targets import TARGETS, shares

INPUTS = 2_000


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_hostile_inputs_are_read_or_refused(name: str) -> None:
    inputs = next(each for kind, _, each in shares(INPUTS) if kind == name)
    found = count(name, inputs, seed=3)
    assert sum(found.values()) == inputs
    assert {outcome: found[outcome] for outcome in OUTCOMES[2:]} == dict.fromkeys(OUTCOMES[2:], 0)
